# amaranth: UnusedElaboratable=no
"""Verilog without initial values: registers and memories wake up random, tables and kept modules do not."""

from pathlib import Path

import cocotb
import pytest
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from cocotb.triggers import RisingEdge

from linxtile.config import PRESETS
from linxtile_rtl.verilog import emit
from linxtile_sim.cosim import run_scenarios
from linxtile_sim.power_up import POWER_UP_ARGUMENTS, power_up_plusargs, without_initial_values
from linxtile_sim.runner import simulate
from linxtile_sim.streams import start
from linxtile_sim.unit import parameters

TABLE = [3, 1, 4, 1, 5, 9, 2, 6]
NAMES = ("reset", "plain", "stored", "known")


class Part(wiring.Component):
    """One of each: a register with reset, one without, a memory and a table."""

    write: In(1)
    address: In(3)
    value: In(64)
    reset: Out(64)
    plain: Out(64)
    stored: Out(64)
    known: Out(64)

    def elaborate(self, platform):
        m = Module()
        m.submodules.storage = storage = Memory(shape=64, depth=8, init=[])
        m.submodules.table = table = Memory(shape=64, depth=8, init=TABLE)
        into, out, fixed = storage.write_port(), storage.read_port(domain="comb"), table.read_port(domain="comb")
        plain = Signal(64, reset_less=True)
        m.d.comb += [
            into.addr.eq(self.address), into.data.eq(self.value), into.en.eq(self.write),
            out.addr.eq(self.address), self.stored.eq(out.data),
            fixed.addr.eq(self.address), self.known.eq(fixed.data), self.plain.eq(plain),
        ]  # fmt: skip
        with m.If(self.write):
            m.d.sync += [self.reset.eq(self.value), plain.eq(self.value)]
        return m


class Whole(wiring.Component):
    """Two parts, one of which can be kept as it is."""

    def __init__(self):
        inputs = {"write": In(1), "address": In(3), "value": In(64)}
        super().__init__(inputs | {f"{part}_{name}": Out(64) for part in ("lost", "kept") for name in NAMES})

    def elaborate(self, platform):
        m = Module()
        for name in ("lost", "kept"):
            m.submodules[name] = part = Part()
            m.d.comb += [getattr(part, port).eq(getattr(self, port)) for port in ("write", "address", "value")]
            m.d.comb += [getattr(self, f"{name}_{port}").eq(getattr(part, port)) for port in NAMES]
        return m


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def after_power_up(dut):
    for name in ("write", "address", "value"):
        getattr(dut, name).value = 0
    await start(dut)
    values = {name: set() for name in NAMES}
    for address, known in enumerate(TABLE):
        dut.address.value = address
        await RisingEdge(dut.clk)
        await RisingEdge(dut.clk)
        for name in NAMES:
            values[name].add(getattr(dut, f"lost_{name}").value.to_unsigned())
            initial = known if name == "known" else 0
            assert getattr(dut, f"kept_{name}").value == initial, f"kept_{name}"
    assert values["reset"] == {0} and values["known"] == set(TABLE)
    # Verilator gives all places of a memory the same random word.
    assert values["plain"] != {0} and 0 not in values["stored"], "they must be random"
    dut.value.value = parameters()["seed"]
    dut.write.value = 1
    await RisingEdge(dut.clk)
    dut.write.value = 0
    await RisingEdge(dut.clk)
    await RisingEdge(dut.clk)
    for name in ("reset", "plain", "stored"):
        assert getattr(dut, f"lost_{name}").value == parameters()["seed"], name


def test_what_is_not_reset_wakes_up_random():
    text = without_initial_values(emit(Whole(), "whole"), keep=("whole.kept",))
    for seed in (1, 2):
        simulate(
            "verilator", "whole", {"whole.v": text}, Path(__file__).stem, name=f"power_up-{seed}",
            search_path=[Path(__file__).parent], environment={"LINXTILE_UNIT": f'{{"seed": {seed}}}'},
            arguments=POWER_UP_ARGUMENTS, plusargs=power_up_plusargs(seed),
        )  # fmt: skip


def test_only_verilator_wakes_up_random():
    with pytest.raises(ValueError, match=r"^power_up needs the simulator verilator, not 'icarus'$"):
        run_scenarios([], PRESETS["small"], simulator="icarus", power_up=1)
