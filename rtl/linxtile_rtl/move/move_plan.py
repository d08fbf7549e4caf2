"""What the engine that moves tile to tile has to know before it begins a tile.

Places and distances in tiles are counted in half bytes, so that 4-bit elements are nothing special. ``Row`` here means a
line of the matrix in the direction in which the destination goes: a row, or a column when it goes by columns.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig
from linxtile.isa.codes import DIMENSION_BITS

from ..layouts import CELL_BYTES, byte_count_bits, line_bits, move_layout, tag_bits
from .row_count import RowCount

__all__ = ["CELL_PLACES", "MovePlan", "advance", "place_bits", "turner_lanes", "walk_layout", "write_plan_layout"]

CELL_PLACES = exact_log2(2 * CELL_BYTES)
"""Log2 of the half bytes of a cell."""

MAX_LANES = 32


def place_bits(config: CoreConfig) -> int:
    """Bits of a place in a tile, in half bytes, and of the place behind its end."""
    return byte_count_bits(config) + 1


def turner_lanes(config: CoreConfig) -> int:
    """Parts of a line that turned elements consist of; half bytes up to 16 bytes a line, larger ones in longer lines."""
    return min(2 * config.vector_bytes, MAX_LANES)


def advance(place: Value, step: Value, in_cells: Value, cells: Value) -> Value:
    """Return ``place + step``; with ``in_cells`` the place behind a cell is in the next band, ``cells`` cells on."""
    leaves = in_cells & ((place[:CELL_PLACES] + step)[: CELL_PLACES + 1] == 1 << CELL_PLACES)
    next_cell = Cat(Const(0, CELL_PLACES), (place[CELL_PLACES:] + cells)[: len(place) - CELL_PLACES])
    return Mux(leaves, next_cell, place + step)


def _tile_members(config: CoreConfig) -> dict[str, object]:
    """Valid ``rows`` of ``row_places`` half bytes, an element of ``element`` half bytes.

    ``pitch`` is the distance of two rows of the tile; in a tile by cells it is that of two cells, and cells of one row are a
    band of ``cells`` cells apart.
    """
    places = place_bits(config)
    return {
        "rows": DIMENSION_BITS,
        "row_places": places,
        "element": 5,
        "by_cells": 1,
        "pitch": places,
        "cells": DIMENSION_BITS,
    }  # fmt: skip


def walk_layout(config: CoreConfig) -> data.StructLayout:
    """What the walks that ask for source lines go by; ``pitch`` and ``cells`` are those of the source.

    With ``turns`` a row of the destination is a column of the source: ``pitch`` is the distance of two elements of a row,
    ``band`` that of two cells of a row, ``strip`` that of two lines of a row, and ``column_places`` half bytes of a line of the
    source are valid.
    """
    places = place_bits(config)
    return data.StructLayout({
        **_tile_members(config),
        "turns": 1,
        "source_line": line_bits(config),
        "band": places,
        "strip": places,
        "column_places": places,
        "target_by_cells": 1,
        "target_pitch": places,
        "target_band": places,
    })  # fmt: skip


def write_plan_layout(config: CoreConfig) -> data.StructLayout:
    """What the writers of a tile go by; ``pitch`` and ``cells`` are those of the destination.

    It has ``lines`` from ``tile_line`` on, padding in the first ``image`` bytes, zero in the others; ``image_rows`` rows of
    ``image_places`` half bytes with padding.
    """
    places = place_bits(config)
    return data.StructLayout({
        **_tile_members(config),
        "tag": tag_bits(config),
        "tile_line": line_bits(config),
        "lines": byte_count_bits(config) - exact_log2(config.vector_bytes),
        "image": byte_count_bits(config),
        "image_rows": byte_count_bits(config),
        "image_places": places,
        "pad_pattern": 64,
    })  # fmt: skip


class MovePlan(wiring.Component):
    """Count the physical rows of both tiles; derive the distances that the walks add up.

    The plan is there two cycles after the command when the bytes of a row are a power of two, otherwise after at most four
    more than ``log2`` of the rows of the larger tile.

    Parameters
    ----------
    config : CoreConfig
        Everything that concerns tiles.

    Members
    -------
    command : In(stream of move_layout(config))
        A row fits into both tiles. The next one is taken when both halves of the plan are.
    by_blocks : Out(1)
        The tile can be moved block by block: rows become columns, and all of them begin with a line.
    walk : Out(stream of walk_layout(config))
        For the walk over the source.
    write : Out(stream of write_plan_layout(config))
        For the writer of the destination.
    """

    command: stream.Interface
    by_blocks: Signal
    walk: stream.Interface
    write: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(move_layout(config))),
            "by_blocks": Out(1),
            "walk": Out(stream.Signature(walk_layout(config))),
            "write": Out(stream.Signature(write_plan_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the command, count, then show both halves of the plan until they are taken."""
        m = Module()
        m.submodules.count = count = RowCount(config=self._config)
        move = Signal(move_layout(self._config))
        working = Signal()
        start = self.command.valid & self.command.ready
        m.d.comb += [
            self.command.ready.eq(~working & ~self.walk.valid & ~self.write.valid),
            count.row_bytes.eq((move.columns << move.width) >> 1),
            count.source_bytes.eq(move.source_bytes),
            count.destination_bytes.eq(move.destination_bytes),
        ]
        m.d.sync += count.start.eq(start)
        with m.If(start):
            m.d.sync += [move.eq(self.command.payload), working.eq(1)]
        with m.If(count.done):
            m.d.sync += [working.eq(0), self.walk.valid.eq(1), self.write.valid.eq(1)]
        for half in (self.walk, self.write):
            with m.If(half.valid & half.ready):
                m.d.sync += half.valid.eq(0)
        self._plan(m, move, count)
        return m

    def _plan(self, m: Module, move: data.View, count: RowCount) -> None:
        """Derive the distances; all of them are shifts, except the area of rows without a gap."""
        places = place_bits(self._config)
        line_places = 2 * self._config.vector_bytes
        cell = 1 << CELL_PLACES
        pitch, source_pitch, target_pitch = Signal(places), Signal(places), Signal(places)
        turns, one_row = Signal(), Signal()
        rows, row_places = Signal(DIMENSION_BITS), Signal(places)
        by_columns = move.destination_by_columns
        m.d.comb += [
            pitch.eq(move.columns << move.width),
            turns.eq(move.source_by_columns ^ by_columns),
            # Whole rows of two row-major tiles follow each other without a gap: they are one row.
            one_row.eq(
                ~(turns | by_columns | move.source_by_cells | move.destination_by_cells)
                & (move.valid_columns == move.columns)
            ),
            rows.eq(Mux(one_row, 1, Mux(by_columns, move.valid_columns, move.valid_rows))),
            row_places.eq(
                Mux(
                    one_row,
                    move.valid_rows * pitch,
                    Mux(by_columns, move.valid_rows, move.valid_columns) << move.width,
                )
            ),
        ]
        for tile_pitch, by_cells, goes_by_columns, tile_rows in (
            (source_pitch, move.source_by_cells, move.source_by_columns, count.source_rows),
            (target_pitch, move.destination_by_cells, by_columns, count.destination_rows),
        ):
            m.d.comb += tile_pitch.eq(Mux(by_cells, cell, Mux(goes_by_columns, tile_rows << move.width, pitch)))
        for half in (self.walk.p, self.write.p):
            m.d.comb += [half.rows.eq(rows), half.row_places.eq(row_places), half.element.eq(1 << move.width)]

        walk, write = self.walk.p, self.write.p
        target_cells = Mux(by_columns, move.columns, count.destination_rows)
        low = exact_log2(line_places)
        lane = line_places // turner_lanes(self._config)
        element = 1 << move.width
        m.d.comb += [
            self.by_blocks.eq(
                turns & ~(source_pitch | target_pitch)[:low].any() & (element >= lane) & (element < line_places)
            ),
            walk.turns.eq(turns),
            walk.source_line.eq(move.source_line),
            walk.by_cells.eq(move.source_by_cells),
            walk.pitch.eq(source_pitch),
            walk.cells.eq(Mux(move.source_by_columns, move.columns, count.source_rows)),
            walk.band.eq(Mux(turns, (source_pitch << CELL_PLACES) >> move.width, cell)),
            walk.strip.eq((source_pitch << low) >> move.width),
            walk.column_places.eq(rows << move.width),
            walk.target_by_cells.eq(move.destination_by_cells),
            walk.target_pitch.eq(target_pitch),
            walk.target_band.eq(target_cells << CELL_PLACES),
            write.by_cells.eq(move.destination_by_cells),
            write.pitch.eq(target_pitch),
            write.cells.eq(target_cells),
            write.tag.eq(move.tag),
            write.tile_line.eq(move.destination_line),
            write.lines.eq(move.destination_bytes >> exact_log2(self._config.vector_bytes)),
            write.image.eq(count.image),
            write.image_rows.eq(Mux(by_columns, move.columns, count.destination_rows)),
            write.image_places.eq(Mux(by_columns, count.destination_rows << move.width, pitch)),
            write.pad_pattern.eq(move.pad_pattern),
        ]
