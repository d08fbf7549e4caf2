"""Where the lines of a row lie in a tile in NZ or ZN order."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES, byte_count_bits, cell_count_bits

__all__ = ["CellPlace"]


class CellPlace(wiring.Component):
    """Follow a walk over the lines of a tile that goes row by row, and tell where these lines are.

    A row is cut into cells of 32 bytes; cell g of row i is cell ``g * cell_step + i`` of the tile. Each step adds one term
    of that, so nothing is multiplied. A row may go on into the next one without an end.

    Parameters
    ----------
    config : CoreConfig
        ``vector_bytes`` at most the bytes of a cell; ``tile_max_bytes``.

    Members
    -------
    row_cells, cell_step : In
        As in :func:`~linxtile_rtl.layouts.load_layout`.
    start : In(1)
        The first line of the first row is next.
    line : In
        Line of the walk, counted row by row.
    next_line, next_row : In(1)
        The line after it is next; the first line of the next row is, which counts more.
    here, after : Out
        Place of ``line`` and of the line after it, counted from the tile's first line.
    """

    def __init__(self, *, config: CoreConfig):
        self._bits = exact_log2(CELL_BYTES // config.vector_bytes)
        cells = cell_count_bits(config)
        lines = byte_count_bits(config) - exact_log2(config.vector_bytes)
        super().__init__({
            "row_cells": In(cells),
            "cell_step": In(cells),
            "start": In(1),
            "line": In(lines),
            "next_line": In(1),
            "next_row": In(1),
            "here": Out(lines),
            "after": Out(lines),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the cell, its number in the row, and the first cell of the row."""
        m = Module()
        cell, number, row = Signal.like(self.cell_step), Signal.like(self.row_cells), Signal.like(self.cell_step)
        last_line, last_cell = Signal(), Signal()
        next_row, next_cell = Signal.like(row), Signal.like(cell)
        inside = self.line[: self._bits]
        m.d.comb += [
            last_line.eq(inside.all()),
            last_cell.eq(number + 1 == self.row_cells),
            next_row.eq(row + 1),
            next_cell.eq(Mux(last_cell, next_row, cell + self.cell_step)),
            self.here.eq(Cat(inside, cell)),
            self.after.eq(Cat((inside + 1)[: self._bits], Mux(last_line, next_cell, cell))),
        ]
        with m.If(self.next_row):
            m.d.sync += [cell.eq(next_row), row.eq(next_row), number.eq(0)]
        with m.Elif(self.next_line & last_line):
            m.d.sync += [
                cell.eq(next_cell),
                row.eq(Mux(last_cell, next_row, row)),
                number.eq(Mux(last_cell, 0, number + 1)),
            ]
        with m.If(self.start):
            m.d.sync += [cell.eq(0), row.eq(0), number.eq(0)]
        return m
