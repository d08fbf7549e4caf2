"""Bytes that fill a tile outside its valid area."""

from collections.abc import Mapping
from types import MappingProxyType

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from linxtile.isa.codes import PadValue
from linxtile.isa.types import DATA_TYPES, TYPE_CODE_BITS, DataType

__all__ = ["PATTERN_BITS", "PadPattern"]

PATTERN_BITS = 64
"""A pattern holds a whole number of elements of every type."""


def _patterns(row: DataType) -> Mapping[PadValue, int]:
    """Patterns of a type that are not zero."""
    repeats = sum(1 << place for place in range(0, PATTERN_BITS, row.storage_bits))
    return MappingProxyType({PadValue.MAX: row.pad_max * repeats, PadValue.MIN: row.pad_min * repeats})


class PadPattern(wiring.Component):
    """Eight bytes of padding for a type and a pad code, in the same cycle; Null is executed as Zero (4.3)."""

    data_type: In(TYPE_CODE_BITS)
    pad: In(bits_for(max(PadValue)))
    pattern: Out(PATTERN_BITS)

    def elaborate(self, platform: object) -> Module:
        """Look the pattern up."""
        m = Module()
        maximum, minimum = Signal(PATTERN_BITS), Signal(PATTERN_BITS)
        with m.Switch(self.data_type):
            for row in DATA_TYPES:
                patterns = _patterns(row)
                with m.Case(row.code):
                    m.d.comb += [maximum.eq(patterns[PadValue.MAX]), minimum.eq(patterns[PadValue.MIN])]
        with m.Switch(self.pad):
            with m.Case(PadValue.MAX):
                m.d.comb += self.pattern.eq(maximum)
            with m.Case(PadValue.MIN):
                m.d.comb += self.pattern.eq(minimum)
        return m
