"""The slots of a line side by side and as a tree, at every width."""

import random

import cocotb
import numpy as np
import pytest
from cocotb.triggers import RisingEdge

from linxtile.config import PRESETS
from linxtile.isa.types import data_type
from linxtile_rtl.vector.control import LaneOperation, slot_control_layout
from linxtile_rtl.vector.lanes import Lanes, lanes_request_layout, tree_levels
from linxtile_rtl.vector.slot import Slot
from linxtile_sim.streams import pack, start
from linxtile_sim.unit import parameters, run_unit

INTEGERS = ["U8", "S16", "U32", "S64"]


def lines_of(rng, row, line_bytes):
    """One line of random elements that an FP16 or FP32 sum does not overflow."""
    count = line_bytes * 8 // row.storage_bits
    if row.is_float:
        values = np.array([rng.gauss(0, 10) for _ in range(count)], f"<f{row.storage_bits // 8}")
        return values, int.from_bytes(values.tobytes(), "little")
    values = [rng.getrandbits(row.storage_bits) for _ in range(count)]
    return values, sum(value << row.storage_bits * index for index, value in enumerate(values))


class Driver:
    """Sets the inputs of the lanes and moves on by enabled cycles."""

    def __init__(self, dut, config, row):
        self.dut = dut
        self.config = config
        self.shift = (row.storage_bits // 8).bit_length() - 1
        dut.shift.value = dut.result_shift.value = self.shift
        self.row = row

    def ask(self, a, b=0, *, operation=LaneOperation.ADD, present=None, binary=1):
        line = self.config.vector_bytes
        present = (1 << line) - 1 if present is None else present
        request = {"a": a, "b": b, "present": present, "binary": binary}
        self.dut.request.value = pack(lanes_request_layout(self.config), request)
        control = {"operation": operation, "data_type": self.row.code}
        self.dut.control.value = pack(slot_control_layout(), control)

    async def step(self, count=1):
        for _ in range(count):
            self.dut.enable.value = self.dut.tree_enable.value = 1
            await RisingEdge(self.dut.clk)


async def begin(dut, tree):
    for signal in (dut.request, dut.control, dut.merge, dut.shift, dut.result_shift):
        signal.value = 0
    dut.tree.value = int(tree)
    dut.enable.value = dut.tree_enable.value = 1
    await start(dut)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def side_by_side(dut):
    """Every element of a line meets its neighbour in the other line, and absent ones raise nothing."""
    config = PRESETS[parameters()["preset"]]
    rng = random.Random(cocotb.RANDOM_SEED)
    await begin(dut, tree=False)
    for name in INTEGERS:
        row = data_type(name)
        driver = Driver(dut, config, row)
        for _ in range(10):
            (a, a_bits), (b, b_bits) = (lines_of(rng, row, config.vector_bytes) for _ in range(2))
            driver.ask(a_bits, b_bits, operation=LaneOperation.SUB)
            await driver.step()
            driver.ask(rng.getrandbits(64), rng.getrandbits(64), present=0)
            await driver.step(Slot.LATENCY)
            expected = [(x - y) % (1 << row.storage_bits) for x, y in zip(a, b, strict=True)]
            bits = int(dut.value.value)
            got = [bits >> row.storage_bits * index & ((1 << row.storage_bits) - 1) for index in range(len(a))]
            assert got == expected, f"{name}: got {got}, expected {expected}"
    row = data_type("FP32")
    driver = Driver(dut, config, row)
    signalling = row.canonical_nan ^ 3 << row.mantissa_bits - 2
    for present, flags in (((1 << config.vector_bytes) - 1, 1), (0xF0, 0)):
        driver.ask(signalling, 0, present=present)
        await driver.step()
        driver.ask(0, present=0)
        await driver.step(Slot.LATENCY)
        assert int(dut.flags.value) == flags


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def as_a_tree(dut):
    """Sums of one line after the other, the last elements missing, in the adjacent pairwise order."""
    config = PRESETS[parameters()["preset"]]
    rng = random.Random(cocotb.RANDOM_SEED)
    await begin(dut, tree=True)
    for name in [*INTEGERS, "FP32", "FP16"]:
        row = data_type(name)
        levels = tree_levels(config.vector_bytes, (row.storage_bits // 8).bit_length() - 1)
        if not levels:
            continue
        driver = Driver(dut, config, row)
        expected = []
        size = row.storage_bits // 8
        for count in range(1, config.vector_bytes // size + 1):
            values, bits = lines_of(rng, row, config.vector_bytes)
            level = list(values[:count])
            while len(level) > 1:
                pairs = [x + y for x, y in zip(level[::2], level[1::2], strict=False)]
                level = pairs + level[2 * len(pairs) :]
            expected.append((count, bits, level[0]))
        results = []
        for cycle in range(len(expected) + levels * Slot.LATENCY + 1):
            if cycle < len(expected):
                count, bits, _ = expected[cycle]
                driver.ask(bits, present=(1 << count * size) - 1)
            else:
                driver.ask(0, present=0)
            await driver.step()
            results.append(int(dut.root.value) & ((1 << row.storage_bits) - 1))
        for index, (count, _, total) in enumerate(expected):
            got = results[index + levels * Slot.LATENCY]
            code = int(total.view(f"<u{size}")) if row.is_float else total % (1 << row.storage_bits)
            assert got == code, f"{name}, {count} elements: got {got:#x}, expected {code:#x}"


@pytest.mark.parametrize("preset", ["small", "default"])
def test_slots_are_a_line_or_a_tree(preset):
    run_unit(Lanes(config=PRESETS[preset]), __file__, parameters={"preset": preset})
