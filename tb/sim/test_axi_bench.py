"""A memory port under cocotbext-axi's memory and the protocol checker, in both simulators."""

import random

import cocotb
import pytest
from amaranth import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from cocotbext.axi import AxiBus, AxiRam

from linxtile_rtl.verilog import axi_names
from linxtile_sim.axi_check import AxiChecker, Burst
from linxtile_sim.runner import SimulationFailed
from linxtile_sim.streams import cycles, start
from linxtile_sim.unit import parameters, run_unit

ADDRESS = data.StructLayout({"id": 1, "addr": 16, "len": 8, "size": 3, "burst": 2})
READ_DATA = data.StructLayout({"id": 1, "data": 64, "resp": 2, "last": 1})
WRITE_DATA = data.StructLayout({"data": 64, "strb": 8, "last": 1})
ANSWER = data.StructLayout({"id": 1, "resp": 2})

PORT = wiring.Signature(
    {
        "ar": Out(stream.Signature(ADDRESS)),
        "r": In(stream.Signature(READ_DATA)),
        "aw": Out(stream.Signature(ADDRESS)),
        "w": Out(stream.Signature(WRITE_DATA)),
        "b": In(stream.Signature(ANSWER)),
    }
)


class Copier(wiring.Component):
    """Copy four words from 0x100 to ``target``, once."""

    mem: Out(PORT)
    done: Out(1)

    def __init__(self, *, target):
        super().__init__()
        self._target = target

    def elaborate(self, platform):
        m = Module()
        mem = self.mem
        for channel, addr in ((mem.ar, 0x100), (mem.aw, self._target)):
            sent = Signal()
            with m.If(channel.ready):
                m.d.sync += sent.eq(1)
            m.d.comb += [
                channel.valid.eq(~sent),
                channel.payload.eq(ADDRESS.const({"addr": addr, "len": 3, "size": 3, "burst": 1})),
            ]
        m.d.comb += [
            mem.w.valid.eq(mem.r.valid),
            mem.r.ready.eq(mem.w.ready),
            mem.w.p.data.eq(mem.r.p.data),
            mem.w.p.last.eq(mem.r.p.last),
            mem.w.p.strb.eq(0xFF),
            mem.b.ready.eq(1),
        ]
        with m.If(mem.b.valid):
            m.d.sync += self.done.eq(1)
        return m


@cocotb.test(timeout_time=100, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.5])
async def four_words_arrive(dut, stall):
    ram = AxiRam(AxiBus.from_prefix(dut, "m_axi_mem"), dut.clk, dut.rst, size=1 << 16)
    checker = AxiChecker(dut, "m_axi_mem", data_bytes=8)
    rng = random.Random(cocotb.RANDOM_SEED)
    for channel in (
        ram.read_if.ar_channel,
        ram.read_if.r_channel,
        ram.write_if.aw_channel,
        ram.write_if.w_channel,
        ram.write_if.b_channel,
    ):
        channel.set_pause_generator(iter(lambda: rng.random() < stall, None))
    words = rng.randbytes(32)
    ram.write(0x100, words)
    await start(dut)
    while dut.done.value == 0:
        await cycles(dut)
    target = parameters()["target"]
    assert ram.read(target, 32) == words
    assert checker.reads == [Burst(0, 0x100, 4, 8)] and checker.writes == [Burst(0, target, 4, 8)]
    checker.assert_idle()


@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_a_copy_through_the_bus_is_watched(simulator):
    run_unit(
        Copier(target=0x800),
        __file__,
        simulator=simulator,
        names=axi_names("mem", "m_axi_mem"),
        parameters={"target": 0x800},
    )


def test_a_burst_across_4_kib_fails_the_test():
    with pytest.raises(SimulationFailed, match="aw: a burst must not cross 4 KiB, but 0xff0 to 0x100f does"):
        run_unit(Copier(target=0xFF0), __file__, names=axi_names("mem", "m_axi_mem"), parameters={"target": 0xFF0})
