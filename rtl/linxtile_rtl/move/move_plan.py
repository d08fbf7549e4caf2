"""What the engine that moves tile to tile has to know before it begins a tile.

Places and distances in tiles are counted in half bytes, so that 4-bit elements are nothing special. ``Row`` here means a
line of the matrix in the direction in which the destination goes: a row, or a column when it goes by columns.
"""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig
from linxtile.isa.codes import DIMENSION_BITS

from ..layouts import CELL_BYTES, byte_count_bits, line_bits, move_layout, tag_bits

__all__ = ["CELL_PLACES", "MovePlan", "place_bits", "target_layout", "walk_layout"]

CELL_PLACES = exact_log2(2 * CELL_BYTES)
"""Log2 of the half bytes of a cell."""


def place_bits(config: CoreConfig) -> int:
    """Bits of a place in a tile, in half bytes, and of the place behind its end."""
    return byte_count_bits(config) + 1


def walk_layout(config: CoreConfig) -> data.StructLayout:
    """Both tiles as the walk sees them: ``rows`` with ``row_places`` valid half bytes each, ``element`` half bytes an element.

    ``pitch`` is the distance of two rows; in a tile by cells that of two cells. Cells of one row are a whole band apart:
    ``destination_band`` half bytes, ``source_cells`` cells. ``turns``: a row of the destination is a column of the source; then
    ``source_pitch`` is the distance of two elements of a row, and ``source_band`` that of two cells of a row.
    """
    places = place_bits(config)
    return data.StructLayout({
        "rows": DIMENSION_BITS,
        "row_places": places,
        "element": 5,
        "turns": 1,
        "source_line": line_bits(config),
        "source_by_cells": 1,
        "source_pitch": places,
        "source_cells": DIMENSION_BITS,
        "source_band": places,
        "destination_by_cells": 1,
        "destination_pitch": places,
        "destination_band": places,
    })  # fmt: skip


def target_layout(config: CoreConfig) -> data.StructLayout:
    """Destination: ``lines`` from ``tile_line`` on, padding in the first ``image`` bytes, zero in the others."""
    return data.StructLayout({
        "tag": tag_bits(config),
        "tile_line": line_bits(config),
        "lines": byte_count_bits(config) - exact_log2(config.vector_bytes),
        "image": byte_count_bits(config),
        "pad_pattern": 64,
    })  # fmt: skip


class MovePlan(wiring.Component):
    """Count the physical rows of both tiles; derive the distances that the walk adds up.

    The quotient of a power of two comes from doubling, a step a cycle: one pass goes by the smaller tile on its way to the
    larger. The plan is there 2 cycles after the command when a row's bytes are a power of two, otherwise at most
    ``3 + log2`` of the rows of the larger tile.

    Parameters
    ----------
    config : CoreConfig
        Everything that concerns tiles.

    Members
    -------
    command : In(stream of move_layout(config))
        A row fits into both tiles. The next one is taken when both halves of the plan are.
    walk : Out(stream of walk_layout(config))
        For the walk.
    target : Out(stream of target_layout(config))
        For the merger.
    """

    command: stream.Interface
    walk: stream.Interface
    target: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(move_layout(config))),
            "walk": Out(stream.Signature(walk_layout(config))),
            "target": Out(stream.Signature(target_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the command, count, then show both halves of the plan until they are taken."""
        m = Module()
        move = Signal(move_layout(self._config))
        begins = Signal()
        counts = Signal()
        start = self.command.valid & self.command.ready
        with m.If(start):
            m.d.sync += move.eq(self.command.payload)
        m.d.sync += begins.eq(start)
        counted, source_rows, destination_rows, image = self._count_rows(m, move, begins, counts)

        m.d.comb += self.command.ready.eq(~begins & ~counts & ~self.walk.valid & ~self.target.valid)
        m.d.sync += counts.eq((begins | counts) & ~counted)
        with m.If(counted):
            m.d.sync += [self.walk.valid.eq(1), self.target.valid.eq(1)]
        with m.If(self.walk.valid & self.walk.ready):
            m.d.sync += self.walk.valid.eq(0)
        with m.If(self.target.valid & self.target.ready):
            m.d.sync += self.target.valid.eq(0)

        self._plan_walk(m, move, source_rows, destination_rows)
        m.d.comb += [
            self.target.p.tag.eq(move.tag),
            self.target.p.tile_line.eq(move.destination_line),
            self.target.p.lines.eq(move.destination_bytes >> exact_log2(self._config.vector_bytes)),
            self.target.p.image.eq(image),
            self.target.p.pad_pattern.eq(move.pad_pattern),
        ]
        return m

    def _count_rows(
        self, m: Module, move: data.View, begins: Signal, counts: Signal
    ) -> tuple[Value, Signal, Signal, Signal]:
        """Return whether the count ends in this cycle, and for the next ones: rows of both tiles, image bytes."""
        pitch = Signal(byte_count_bits(self._config))
        highest = Signal.like(pitch)
        source_share, destination_share = Signal.like(pitch), Signal.like(pitch)
        m.d.comb += pitch.eq((move.columns << move.width) >> 1)
        for bit in range(len(pitch)):
            with m.If(pitch[bit]):
                m.d.comb += [
                    highest.eq(1 << bit),
                    source_share.eq(move.source_bytes >> bit),
                    destination_share.eq(move.destination_bytes >> bit),
                ]

        # A power of two, how many times it holds a row, and what is left over then.
        power, quotient, remainder = Signal.like(pitch), Signal.like(pitch), Signal.like(pitch)
        source_rows, destination_rows, image = Signal.like(pitch), Signal.like(pitch), Signal.like(pitch)
        larger = Signal.like(pitch)
        is_power = highest == pitch
        source_larger = move.source_bytes > move.destination_bytes
        doubled = Signal(len(pitch) + 1)
        fits = Signal()
        m.d.comb += [doubled.eq(remainder << 1), fits.eq(doubled >= pitch)]
        with m.If(begins):
            # The shares are right when the pitch is that power of two; otherwise the pass replaces them.
            m.d.sync += [
                power.eq(highest),
                quotient.eq(0),
                remainder.eq(highest),
                source_rows.eq(source_share),
                destination_rows.eq(destination_share),
                image.eq(move.destination_bytes),
                larger.eq(Mux(source_larger, move.source_bytes, move.destination_bytes)),
            ]
        with m.Elif(counts):
            m.d.sync += [
                power.eq(power << 1),
                quotient.eq((quotient << 1) | fits),
                remainder.eq(Mux(fits, doubled - pitch, doubled)),
            ]
            with m.If(power == move.source_bytes):
                m.d.sync += source_rows.eq(quotient)
            with m.If(power == move.destination_bytes):
                m.d.sync += [destination_rows.eq(quotient), image.eq(move.destination_bytes - remainder)]
        counted = Mux(begins, is_power, counts & (power == larger))
        return counted, source_rows, destination_rows, image

    def _plan_walk(self, m: Module, move: data.View, source_rows: Value, destination_rows: Value) -> None:
        """Derive the distances; all of them are shifts, except the area of rows without a gap."""
        walk = self.walk.p
        places = place_bits(self._config)
        pitch, source_pitch, destination_pitch = Signal(places), Signal(places), Signal(places)
        cell = 1 << CELL_PLACES
        turns = Signal()
        one_row = Signal()
        valid = Mux(move.destination_by_columns, move.valid_rows, move.valid_columns)
        rows = Mux(move.destination_by_columns, move.valid_columns, move.valid_rows)
        by_cells = move.source_by_cells | move.destination_by_cells
        for tile_pitch, cells, by_columns, tile_rows in (
            (source_pitch, move.source_by_cells, move.source_by_columns, source_rows),
            (destination_pitch, move.destination_by_cells, move.destination_by_columns, destination_rows),
        ):
            m.d.comb += tile_pitch.eq(Mux(cells, cell, Mux(by_columns, tile_rows << move.width, pitch)))
        m.d.comb += [
            pitch.eq(move.columns << move.width),
            turns.eq(move.source_by_columns ^ move.destination_by_columns),
            # Whole rows of two row-major tiles follow each other without a gap: they are one row.
            one_row.eq(~turns & ~by_cells & ~move.source_by_columns & (move.valid_columns == move.columns)),
            walk.rows.eq(Mux(one_row, 1, rows)),
            walk.row_places.eq(Mux(one_row, move.valid_rows * pitch, valid << move.width)),
            walk.element.eq(1 << move.width),
            walk.turns.eq(turns),
            walk.source_line.eq(move.source_line),
            walk.source_by_cells.eq(move.source_by_cells),
            walk.source_pitch.eq(source_pitch),
            walk.source_cells.eq(Mux(move.source_by_columns, move.columns, source_rows)),
            walk.source_band.eq(Mux(turns, (source_pitch << CELL_PLACES) >> move.width, cell)),
            walk.destination_by_cells.eq(move.destination_by_cells),
            walk.destination_pitch.eq(destination_pitch),
            walk.destination_band.eq(Mux(move.destination_by_columns, move.columns, destination_rows) << CELL_PLACES),
        ]
