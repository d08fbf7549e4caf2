"""How a move of several tiles shares its matrix among them."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig
from linxtile.isa.codes import DIMENSION_BITS, SIZE_CODE_BITS

from .geometry import CODE_ZERO_HALF_BYTES
from .layouts import tile_count_bits

__all__ = ["PartSplit"]

DIVISOR_BITS = DIMENSION_BITS + 4
"""Half bytes of a row of the matrix: 65535 elements of 8 bytes."""


class PartSplit(wiring.Component):
    """Columns of each part, or its rows where memory is in column order (DN).

    One division, a bit a cycle: of the columns by the number of tiles, or of a tile by a row of the matrix. A whole of
    ``n`` tiles has ``floor(n * size / row)`` rows, which is ``n`` times those of a part and what ``n`` remainders make together:
    so it is a multiple of ``n`` exactly when these make no row. A single tile is not divided: its answer is there at once.

    Parameters
    ----------
    config : CoreConfig
        ``move_tiles`` bounds the number of tiles.

    Members
    -------
    start : In(1)
        Begin; the other inputs hold still until ``done`` has been seen.
    columns, width, size_code, tile_count : In
        Of the whole; width code of its type; size code of each tile.
    by_rows : In(1)
        Its rows are shared, not its columns.
    done : Out(1)
        The answer is there, until the next ``start``; for a single tile always.
    part_columns : Out
        Columns of a part.
    whole_rows : Out
        Rows of the whole, when ``by_rows`` and not ``uneven``.
    uneven : Out(1)
        Columns, or rows, are no multiple of the number of tiles.
    """

    def __init__(self, *, config: CoreConfig):
        count = tile_count_bits(config)
        super().__init__({
            "start": In(1),
            "columns": In(DIMENSION_BITS),
            "width": In(3),
            "size_code": In(SIZE_CODE_BITS),
            "tile_count": In(count),
            "by_rows": In(1),
            "done": Out(1),
            "part_columns": Out(DIMENSION_BITS),
            "whole_rows": Out(DIVISOR_BITS + count),
            "uneven": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Take a bit of the dividend a cycle, from the top; the quotient moves in behind it."""
        m = Module()
        row = Signal(DIVISOR_BITS)
        divisor = Signal(DIVISOR_BITS)
        dividend = Signal(DIVISOR_BITS)
        remainder = Signal(DIVISOR_BITS)
        steps = Signal(range(DIVISOR_BITS + 1))
        known = Signal()
        next_remainder = Signal(DIVISOR_BITS + 1)
        fits = Signal()
        single = self.tile_count == 1
        m.d.comb += [
            row.eq(self.columns << self.width),
            next_remainder.eq(Cat(dividend[-1], remainder)),
            fits.eq(next_remainder >= divisor),
            self.done.eq(single | (known & ~self.start)),
            self.part_columns.eq(Mux(single | self.by_rows, self.columns, dividend)),
            self.whole_rows.eq(dividend * self.tile_count),
            self.uneven.eq(~single & Mux(self.by_rows, remainder * self.tile_count >= divisor, remainder != 0)),
        ]
        with m.If(steps != 0):
            m.d.sync += [
                dividend.eq(Cat(fits, dividend)),
                remainder.eq(Mux(fits, next_remainder - divisor, next_remainder)),
                steps.eq(steps - 1),
                known.eq(steps == 1),
            ]
        with m.If(self.start):
            m.d.sync += [
                divisor.eq(Mux(self.by_rows, row, self.tile_count)),
                dividend.eq(Mux(self.by_rows, 1 << (self.size_code + CODE_ZERO_HALF_BYTES), self.columns)),
                remainder.eq(0),
                steps.eq(DIVISOR_BITS),
                known.eq(0),
            ]
        return m
