"""The order in which the windows of a row are merged, seen through an operation that is neither commutative nor associative."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from linxtile.config import PRESETS
from linxtile_rtl.vector.combiner import Combiner
from linxtile_rtl.vector.slot import Slot
from linxtile_sim.streams import start
from linxtile_sim.unit import run_unit

MASK = (1 << 64) - 1


def merge(left, right):
    return (left * 0x9E3779B97F4A7C15 + right * 0xC2B2AE3D27D4EB4F + 1) & MASK


def canonical(values):
    while len(values) > 1:
        pairs = [merge(left, right) for left, right in zip(values[::2], values[1::2], strict=False)]
        values = pairs + values[2 * len(pairs) :]
    return values[0]


class SlotModel:
    """Slot 0: the merge of the request, some enabled cycles later. Feeds windows and collects rows."""

    def __init__(self, dut, windows, stall):
        self.dut = dut
        self.windows = windows
        self.random = random.Random(cocotb.RANDOM_SEED)
        self.stall = stall
        self.stages = [0] * Slot.LATENCY
        self.rows = []
        self.cycles = 0
        self.fed = 0

    def _request(self):
        bits = int(self.dut.merge.value)
        left, right, present = bits & MASK, bits >> 64 & MASK, bits >> 128
        return {0: self.random.getrandbits(64), 1: left, 3: merge(left, right)}[present]

    async def run(self, rows):
        """Go on until ``rows`` results have come; fail when they do not."""
        dut = self.dut
        while len(self.rows) < rows:
            assert self.cycles < 100 * len(self.windows) + 10_000, (
                f"{len(self.rows)} of {rows} rows after {self.cycles} cycles"
            )
            there = self.fed < len(self.windows) and self.random.random() >= self.stall
            dut.enable.value = int(self.random.random() >= self.stall)
            dut.window_valid.value = int(there)
            dut.window.value = self.windows[self.fed] if there else self.random.getrandbits(64)
            dut.merged.value = self.stages[-1]
            await RisingEdge(dut.clk)
            self.cycles += 1
            if dut.enable.value == 1:
                if dut.row_valid.value == 1:
                    self.rows.append(self.stages[-1])
                self.stages = [self._request(), *self.stages[:-1]]
                self.fed += int(there and dut.window_ready.value == 1)


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.3])
async def rows_of_every_length(dut, stall):
    rng = random.Random(cocotb.RANDOM_SEED)
    for signal in (dut.enable, dut.window_valid, dut.window, dut.merged, dut.last_index):
        signal.value = 0
    dut.restart.value = 1
    await start(dut)
    for windows_a_row in [*range(1, 41), 63, 64, 65, 100, 127, 128, 129, 255]:
        rows = 12 if windows_a_row < 60 else 3
        values = [[rng.getrandbits(64) for _ in range(windows_a_row)] for _ in range(rows)]
        dut.last_index.value = windows_a_row - 1
        dut.enable.value = 0
        dut.window_valid.value = 0
        dut.restart.value = 1
        await RisingEdge(dut.clk)
        dut.restart.value = 0
        slot = SlotModel(dut, [value for row in values for value in row], stall)
        await slot.run(rows)
        assert slot.rows == [canonical(row) for row in values], f"{windows_a_row} windows a row"
        if not stall:
            # The last merges of the last row, and the cycles in which two merges met.
            levels = (windows_a_row - 1).bit_length()
            allowed = rows * windows_a_row + Slot.LATENCY * (levels + 1) + 4
            assert slot.cycles <= allowed, f"{windows_a_row} windows a row: {slot.cycles} cycles, at most {allowed}"


@pytest.mark.parametrize("preset", ["small", pytest.param("default", marks=pytest.mark.slow)])
def test_windows_are_merged_in_the_canonical_order(preset):
    run_unit(Combiner(config=PRESETS[preset]), __file__)
