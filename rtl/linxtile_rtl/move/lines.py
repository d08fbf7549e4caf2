"""Asks the tile RAM for the lines that hold valid bytes, where the rows of memory lie along those of the tile."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import (
    CELL_BYTES,
    FRACTAL_ORDERS,
    byte_count_bits,
    cell_count_bits,
    fractal_layouts,
    lies_across,
    line_bits,
)

__all__ = ["LineWalk", "lies_in_cells", "row_lines_layout"]


def lies_in_cells(config: CoreConfig) -> bool:
    """Whether the configuration stores tiles whose cells lie along the rows of memory."""
    stores = (layout for layout in fractal_layouts(config) if layout.source_order in FRACTAL_ORDERS)
    return not all(lies_across(layout) for layout in stores)


def row_lines_layout(config: CoreConfig) -> data.StructLayout:
    """Lines with valid bytes of one row: from ``line`` on, ``lines`` + 1 of them, or only ``lines`` if it ``shares`` one.

    That one is the first, and the row before has it, too; ``line`` is the one after it then.
    """
    return data.StructLayout({
        "line": line_bits(config),
        "lines": byte_count_bits(config) - exact_log2(config.vector_bytes),
        "shares": 1,
    })  # fmt: skip


class LineWalk(wiring.Component):
    """Ask for every line that holds a valid byte once, row by row; a line a cycle, a row takes at least a cycle.

    Members
    -------
    by_cells : In(1), cell_step : In
        Of the command, while it has rows under way: rows are cut into cells of 32 bytes, so many cells apart.
    rows : In(stream of row_lines_layout(config))
        Rows, one after the other without a pause.
    requests : Out(stream of line numbers)
        For the tile RAM.
    """

    by_cells: Signal
    cell_step: Signal
    rows: stream.Interface
    requests: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "by_cells": In(1),
            "cell_step": In(cell_count_bits(config)),
            "rows": In(stream.Signature(row_lines_layout(config))),
            "requests": Out(stream.Signature(line_bits(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the next line and the number of those behind it."""
        m = Module()
        row = Signal(row_lines_layout(self._config))
        active, last = Signal(), Signal()
        m.d.comb += [
            last.eq(row.lines == row.shares),
            self.requests.valid.eq(active),
            self.requests.payload.eq(row.line),
            self.rows.ready.eq(~active | (self.requests.ready & last)),
        ]
        with m.If(active & self.requests.ready):
            m.d.sync += [row.line.eq(self._next(row.line)), row.lines.eq(row.lines - 1), active.eq(~last)]
        with m.If(self.rows.valid & self.rows.ready):
            m.d.sync += [row.eq(self.rows.payload), active.eq(self.rows.p.lines.any() | ~self.rows.p.shares)]
        return m

    def _next(self, line: Value) -> Value:
        """Return the line after ``line`` in its row."""
        if not lies_in_cells(self._config):
            return line + 1
        # A tile begins with a cell.
        bits = exact_log2(CELL_BYTES // self._config.vector_bytes)
        inside, cell = line[:bits], line[bits:]
        cells = Mux(inside.all(), Mux(self.by_cells, self.cell_step, 1), 0)
        return Cat((inside + 1)[:bits], (cell + cells)[: len(cell)])
