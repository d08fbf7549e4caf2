"""Asks the tile RAM for the lines that hold valid bytes, where the rows of memory lie along those of the tile."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import byte_count_bits, cell_count_bits, line_bits
from .cells import CellPlace

__all__ = ["LineWalk", "lies_in_cells", "source_layout", "source_rows_layout"]


def lies_in_cells(config: CoreConfig) -> bool:
    """Whether the configuration stores tiles whose cells lie along the rows of memory."""
    return not config.move_layouts.isdisjoint({"NZ2ND", "ZN2DN"})


def source_layout(config: CoreConfig) -> data.StructLayout:
    """Where all tiles of a command have their rows.

    There are ``rows`` of them, ``pitch_bytes`` apart. Tiles ``by_cells`` have them in cells, ``row_cells`` a row, as in
    :func:`~linxtile_rtl.layouts.load_layout`; the pitch is then that of ``row_cells``.
    """
    return data.StructLayout({
        "rows": 16,
        "pitch_bytes": byte_count_bits(config),
        "by_cells": 1,
        "row_cells": cell_count_bits(config),
        "cell_step": cell_count_bits(config),
    })  # fmt: skip


def source_rows_layout(config: CoreConfig) -> data.StructLayout:
    """Valid part of one tile: ``row_bytes`` of each row; the first row begins at byte ``place`` of line ``tile_line``."""
    return data.StructLayout({
        "row_bytes": byte_count_bits(config),
        "tile_line": line_bits(config),
        "place": exact_log2(config.vector_bytes),
    })  # fmt: skip


class LineWalk(wiring.Component):
    """Ask for every line that holds a valid byte once, row by row; a line a cycle, a row takes at least a cycle.

    Members
    -------
    source : In(source_layout(config))
        Of the command; holds still while it has tiles under way.
    tiles : In(stream of source_rows_layout(config))
        Tiles, one after the other without a pause.
    requests : Out(stream of line numbers)
        For the tile RAM.
    """

    source: data.View
    tiles: stream.Interface
    requests: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "source": In(source_layout(config)),
            "tiles": In(stream.Signature(source_rows_layout(config))),
            "requests": Out(stream.Signature(line_bits(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the line and the last line of the row; a row begins after the last line of the row before."""
        m = Module()
        bits = exact_log2(self._config.vector_bytes)
        pitch = self.source.pitch_bytes
        tile_line = Signal.like(self.tiles.p.tile_line)
        rows = Signal.like(self.source.rows)
        active = Signal()
        row_start = Signal(len(pitch) + 1)
        row_last = Signal.like(row_start)
        line = Signal(len(row_start) - bits)

        last_line = row_last[bits:]
        next_start = (row_start + pitch)[: len(row_start)]
        empty = Signal()
        row_done = Signal()
        starts = self.tiles.valid & self.tiles.ready
        steps = self.requests.valid & self.requests.ready
        m.d.comb += [
            empty.eq(line > last_line),
            self.requests.valid.eq(active & ~empty),
            self.requests.payload.eq(
                tile_line + self._place(m, line, start=starts, next_line=steps, next_row=row_done)
            ),
            row_done.eq(active & (empty | (self.requests.ready & (line == last_line)))),
            self.tiles.ready.eq(~active | (row_done & (rows == 1))),
        ]
        with m.If(steps):
            m.d.sync += line.eq(line + 1)
        with m.If(row_done):
            next_line = next_start[bits:]
            m.d.sync += [
                line.eq(Mux(next_line > last_line, next_line, last_line + 1)),
                row_start.eq(next_start),
                row_last.eq(row_last + pitch),
                rows.eq(rows - 1),
                active.eq(rows != 1),
            ]
        with m.If(starts):
            m.d.sync += [
                tile_line.eq(self.tiles.p.tile_line),
                rows.eq(self.source.rows),
                active.eq(1),
                line.eq(0),
                row_start.eq(self.tiles.p.place),
                row_last.eq(self.tiles.p.place + self.tiles.p.row_bytes - 1),
            ]
        return m

    def _place(self, m: Module, line: Signal, *, start: Value, next_line: Value, next_row: Value) -> Value:
        """Return where the tile has ``line``, which the walk counts row by row."""
        if not lies_in_cells(self._config):
            return line
        m.submodules.cells = cells = CellPlace(config=self._config)
        m.d.comb += [
            cells.row_cells.eq(self.source.row_cells),
            cells.cell_step.eq(self.source.cell_step),
            cells.start.eq(start),
            cells.line.eq(line),
            cells.next_line.eq(next_line),
            cells.next_row.eq(next_row),
        ]
        return Mux(self.source.by_cells, cells.here, line)
