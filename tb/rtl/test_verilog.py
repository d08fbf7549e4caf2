# amaranth: UnusedElaboratable=no
"""Verilog emission and the testbench library, on a component small enough to read; also the example of a unit bench."""

import random
import re

import cocotb
import pytest
from amaranth import Module, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile_rtl.verilog import Shared, emit
from linxtile_sim.runner import SimulationFailed
from linxtile_sim.streams import Sink, Source, start
from linxtile_sim.unit import parameters, run_unit

REQUEST = data.StructLayout({"base": 8, "offset": signed(3)})
RESULT = signed(10)


class Adder(wiring.Component):
    """Add a signed offset to a base; latency one cycle."""

    i: In(stream.Signature(REQUEST))
    o: Out(stream.Signature(RESULT))

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.i.ready.eq(~self.o.valid | self.o.ready)
        with m.If(self.i.ready):
            m.d.sync += self.o.valid.eq(self.i.valid)
            m.d.sync += self.o.payload.eq(self.i.p.base + self.i.p.offset)
        return m


class Fidget(wiring.Component):
    """An adder that breaks the rule of streams: its result changes while it waits."""

    i: In(stream.Signature(REQUEST))
    o: Out(stream.Signature(RESULT))

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [self.i.ready.eq(self.o.ready), self.o.valid.eq(1)]
        m.d.sync += self.o.payload.eq(self.o.payload + 1)
        return m


class Pair(wiring.Component):
    """Two adders in a row, shared or not."""

    i: In(stream.Signature(REQUEST))
    o: Out(stream.Signature(RESULT))

    def __init__(self, *, shared):
        super().__init__()
        self._wrap = (lambda adder: Shared(adder, key="adder_unit")) if shared else (lambda adder: adder)

    def elaborate(self, platform):
        m = Module()
        m.submodules.first = first = self._wrap(Adder())
        m.submodules.second = second = self._wrap(Adder())
        wiring.connect(m, wiring.flipped(self.i), first.i)
        m.d.comb += [
            second.i.valid.eq(first.o.valid),
            second.i.p.base.eq(first.o.payload),
            second.i.p.offset.eq(-1),
            first.o.ready.eq(second.i.ready),
        ]
        wiring.connect(m, second.o, wiring.flipped(self.o))
        return m


# The cocotb side: runs in the simulator, once per stall.
@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.5])
async def results_in_request_order(dut, stall):
    shift = parameters()["shift"]
    rng = random.Random(cocotb.RANDOM_SEED)
    requests = [{"base": rng.randrange(8, 200), "offset": rng.randrange(-4, 4)} for _ in range(100)]
    source = Source(dut, "i", shape=REQUEST, stall=stall)
    sink = Sink(dut, "o", shape=RESULT, stall=stall)
    await start(dut)
    source.put(*requests)
    assert await sink.wait(100) == [request["base"] + request["offset"] + shift for request in requests]


# The pytest side: one call.
@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_an_adder_answers_in_order_under_stalls(simulator):
    assert run_unit(Adder(), __file__, simulator=simulator, parameters={"shift": 0}).tests == 2


@pytest.mark.parametrize("shared", [False, True])
def test_shared_and_plain_forms_give_the_same_results(shared):
    run_unit(Pair(shared=shared), __file__, parameters={"shift": -1})


def test_a_wrong_result_fails_the_test():
    with pytest.raises(SimulationFailed, match="2 of 2 tests failed"):
        run_unit(Adder(), __file__, parameters={"shift": 1})


def test_a_payload_that_moves_in_a_stall_fails_the_test():
    with pytest.raises(SimulationFailed, match="o: changed from -?[0-9]+ to -?[0-9]+ in a stall"):
        run_unit(Fidget(), __file__, parameters={"shift": 0})


def test_a_name_that_matches_no_test_is_an_error():
    with pytest.raises(SimulationFailed, match="no test was found"):
        run_unit(Adder(), __file__, testcase="results_in_another_order")


def modules(text):
    return re.findall(r"^module (\S+)\s*\(", text, re.MULTILINE)


def test_a_shared_component_is_written_once():
    assert modules(emit(Pair(shared=True), "pair")) == ["pair", "adder_unit"]
    assert modules(emit(Pair(shared=False), "pair")) == ["pair", "\\pair.first", "\\pair.second"]


def test_both_forms_have_the_same_ports():
    ports = [
        set(
            re.findall(
                r"^  (?:input|output) .*;$", emit(Pair(shared=shared), "pair").split("endmodule")[0], re.MULTILINE
            )
        )
        for shared in (False, True)
    ]
    assert ports[0] == ports[1]
    assert "  output [9:0] o_payload;" in ports[0]


def test_the_text_is_the_same_each_time_and_names_no_folder():
    text = emit(Pair(shared=True), "pair")
    assert text == emit(Pair(shared=True), "pair")
    assert ".py" not in text and "/home" not in text and "(* src" not in text


def test_a_structure_is_split_into_a_port_per_field():
    text = emit(Adder(), "adder", names={"i.payload": "s_axi_a*", "i.valid": "s_axi_avalid"})
    for port in ("input [7:0] s_axi_abase;", "input [2:0] s_axi_aoffset;", "input s_axi_avalid;", "output i_ready;"):
        assert port in text


def test_a_field_of_no_width_leaves_no_wire():
    class Narrow(wiring.Component):
        i: In(data.StructLayout({"nothing": 0, "all": 4}))
        o: Out(4)

        def elaborate(self, platform):
            m = Module()
            m.d.comb += self.o.eq(self.i.all)
            return m

    text = emit(Narrow(), "narrow")
    assert "i.all" in text and "nothing" not in text and "[-1:0]" not in text


def test_a_name_for_no_member_is_refused():
    with pytest.raises(ValueError, match=r"names must be members of the component, not \['i.nothing'\]"):
        emit(Adder(), "adder", names={"i.nothing": "x"})


def test_two_ports_of_one_name_are_refused():
    with pytest.raises(ValueError, match="port names must be unique, two ports are called 'i_valid'"):
        emit(Adder(), "adder", names={"o.valid": "i_valid"})


def test_one_key_for_two_components_is_refused():
    class Mixed(Pair):
        def elaborate(self, platform):
            m = Module()
            m.submodules.first = Shared(Adder(), key="unit")
            m.submodules.second = Shared(Fidget(), key="unit")
            return m

    with pytest.raises(ValueError, match="shared module 'unit' stands for one component"):
        emit(Mixed(shared=True), "mixed")
