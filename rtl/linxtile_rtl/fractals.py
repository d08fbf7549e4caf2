"""Fractals of a tile in NZ or ZN order."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig
from linxtile.isa.codes import SIZE_CODE_BITS, size_code

from .geometry import DIMENSION_BITS
from .layouts import CELL_BYTES, FRACTAL_BYTES, FRACTAL_CELLS, cell_count_bits

__all__ = ["FractalGrid"]

CELL_PLACES = exact_log2(2 * CELL_BYTES)
"""Log2 of the half bytes of a cell."""
FRACTAL_PLACES = exact_log2(FRACTAL_CELLS)
ONE_FRACTAL = size_code(FRACTAL_BYTES)
"""Size code of a tile of one fractal."""


class FractalGrid(wiring.Component):
    """Rows and columns of fractals; whether a tile consists of whole ones.

    With ``across`` fractals beside each other, ``down = 2**f // across`` are one upon the other, f the logarithm of the
    tile's fractals. The quotient of a power of two comes from doubling, a step a cycle, none when ``across`` is a power of
    two: the answer is there two to ``f + 1`` cycles after ``start``.

    Parameters
    ----------
    config : CoreConfig
        ``tile_max_bytes`` matters.

    Members
    -------
    start : In(1)
        Begin; the other inputs hold still until ``done`` has been seen.
    columns, width, size_code : In
        Physical columns, at least 1; width code of the type; size code of the tile, of an implemented size.
    by_columns : In(1)
        ZN order, in which a cell is part of a column; otherwise NZ.
    done : Out(1)
        The answer is there, until the next ``start``.
    misaligned : Out(1)
        Physical rows or columns are no multiple of those of a fractal; says nothing about a tile of less than one row.
    row_cells, cell_step : Out
        As in :func:`~linxtile_rtl.layouts.load_layout`; for tiles that are not misaligned.
    """

    def __init__(self, *, config: CoreConfig):
        self._fractals = config.tile_max_bytes // FRACTAL_BYTES
        cells = cell_count_bits(config)
        super().__init__({
            "start": In(1),
            "columns": In(DIMENSION_BITS),
            "width": In(3),
            "size_code": In(SIZE_CODE_BITS),
            "by_columns": In(1),
            "done": Out(1),
            "misaligned": Out(1),
            "row_cells": Out(cells),
            "cell_step": Out(cells),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Divide the tile's fractals by those beside each other."""
        m = Module()
        half_bytes = self.columns << self.width
        counted = Mux(self.by_columns, self.columns << CELL_PLACES, half_bytes << FRACTAL_PLACES)
        across = Signal(DIMENSION_BITS)
        odd_columns = Signal()
        begun, divides, known = Signal(), Signal(), Signal()

        # The highest power of two in ``across``, and how many of it the tile's fractals are; none when it is too large.
        fractals = (1 << self.size_code) >> ONE_FRACTAL
        highest, share = Signal(range(self._fractals + 1)), Signal(range(self._fractals + 1))
        for bit in range(len(across)):
            with m.If(across[bit]):
                m.d.comb += [highest.eq(1 << bit), share.eq(fractals >> bit)]
        is_power = highest == across

        left, down, remainder = Signal.like(share), Signal.like(share), Signal.like(share)
        doubled = remainder << 1
        fits = doubled >= across
        with m.If(divides):
            m.d.sync += [
                left.eq(left >> 1),
                down.eq((down << 1) | fits),
                remainder.eq(Mux(fits, doubled - across, doubled)),
            ]
            with m.If(left == 2):
                m.d.sync += [divides.eq(0), known.eq(1)]
        with m.If(begun):
            m.d.sync += [
                left.eq(share),
                down.eq(Mux(is_power, share, 0)),
                remainder.eq(Mux(is_power, 0, highest)),
                divides.eq(~is_power & (share > 1)),
                known.eq(is_power | (share <= 1)),
            ]
        m.d.sync += begun.eq(self.start)
        with m.If(self.start):
            m.d.sync += [
                across.eq(counted >> (CELL_PLACES + FRACTAL_PLACES)),
                odd_columns.eq(counted[: CELL_PLACES + FRACTAL_PLACES].any()),
                divides.eq(0),
                known.eq(0),
            ]

        # The cells that are left over must not make another row of elements.
        row_rest = Mux(self.by_columns, (remainder << CELL_PLACES) >> self.width, remainder << FRACTAL_PLACES)
        m.d.comb += [
            self.done.eq(known & ~self.start),
            self.misaligned.eq(odd_columns | (down == 0) | (row_rest >= across)),
            self.row_cells.eq(Mux(self.by_columns, down, across)),
            self.cell_step.eq(Mux(self.by_columns, across, down) << FRACTAL_PLACES),
        ]
        return m
