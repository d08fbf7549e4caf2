"""Pad patterns of every type and pad, element by element."""

import cocotb
from cocotb.triggers import Timer

from linxtile.isa.codes import PadValue
from linxtile.isa.types import DATA_TYPES
from linxtile_rtl.padding import PATTERN_BITS, PadPattern
from linxtile_sim.unit import run_unit

LITERALS = {
    ("FP32", PadValue.MAX): 0x7F7FFFFF7F7FFFFF,
    ("S8", PadValue.MIN): 0x8080808080808080,
    ("U4x2", PadValue.MAX): 2**64 - 1,
}
"""Some by hand, so that a wrong table does not agree with itself."""


@cocotb.test()
async def every_pattern(dut):
    """Each element of the pattern is the pad code of its type; Null is Zero."""
    for row in DATA_TYPES:
        for pad in PadValue:
            dut.data_type.value, dut.pad.value = row.code, pad
            await Timer(1, "ns")
            pattern = dut.pattern.value.to_unsigned()
            code = {PadValue.MAX: row.pad_max, PadValue.MIN: row.pad_min}.get(pad, 0)
            elements = {pattern >> at & row.storage_mask for at in range(0, PATTERN_BITS, row.storage_bits)}
            assert elements == {code}, f"{row.name} {pad.name}: {pattern:#018x}"
            assert pattern == LITERALS.get((row.name, pad), pattern)


def test_padding_is_the_pad_value_in_every_element():
    run_unit(PadPattern(), __file__)
