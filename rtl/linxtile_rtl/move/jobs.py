"""Cuts a store into jobs, the rows of its tiles, in an order in which the last write wins."""

from amaranth.hdl import Const, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES, byte_count_bits, line_bits, store_layout
from .chunks import command_layout, job_layout, slot_bits, transposes
from .parts import PartWalk
from .transposer import ROW_BITS

__all__ = ["JobWalk", "tile_job_layout"]


def tile_job_layout(config: CoreConfig) -> data.StructLayout:
    """A job for the bus (``rows``), and where the tile has its first row if it ``begins``.

    That row begins in line ``tile_line``; when cells lie across rows, it is row ``band_row`` of the cells that begin there.
    """
    return data.StructLayout({"rows": job_layout(config), "tile_line": line_bits(config), "band_row": ROW_BITS})


class JobWalk(wiring.Component):
    """Keep a command and give its jobs: tile by tile, or row by row where the order of writing matters.

    A job is a row of a tile; contiguous rows are one, and where cells lie across the rows all rows of a tile are one job.

    Elements are written row by row over all tiles, and the last write wins. That can be seen only when rows overlap in memory. Then
    each row is written alone where tiles would otherwise write several at a time, or after each other: when there are several, or
    when cells lie across the rows. An odd last nibble asks for that order, too. A tile without valid bytes costs a cycle.

    Parameters
    ----------
    config : CoreConfig
        ``move_tiles``, ``move_layouts`` and ``tile_max_bytes`` matter.

    Members
    -------
    command : In(stream of store_layout(config))
        Stores; the next one is taken when the last job of this one has been.
    again : In(1)
        Give the jobs of the command under way from the first one on.
    kept : Out(store_layout(config))
        The command under way.
    move : Out(command_layout(config))
        What its jobs have in common.
    pitch_bytes : Out
        From row to row in the tile, where rows lie along those of the tile.
    jobs : Out(stream of tile_job_layout(config))
        From the cycle after the command on.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(store_layout(config))),
            "again": In(1),
            "kept": Out(store_layout(config)),
            "move": Out(command_layout(config)),
            "pitch_bytes": Out(byte_count_bits(config)),
            "jobs": Out(stream.Signature(tile_job_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Two walks, one inside the other: over the tiles, and over the rows, by base and place, from those of the command on."""
        m = Module()
        config = self._config
        bits = exact_log2(config.vector_bytes)
        parts = PartWalk(config=config, command=store_layout(config))
        m.submodules.parts = ResetInserter(self.again)(parts)
        part, job = parts.parts.p, self.jobs.p
        kept = self.kept
        active = Signal()
        transposed = kept.transposed if transposes(config) else Const(0)
        by_rows = self._by_rows(m, transposed)
        # Place of the row in the tile: its first byte, or the band of rows that lie in the same cells and the row in it.
        offset, step = Signal(byte_count_bits(config)), Signal(byte_count_bits(config))
        band_row = Signal(ROW_BITS)
        band_end = transposed & (band_row + 1 == Const(2 * CELL_BYTES) >> kept.width)
        with m.If(transposed):
            m.d.comb += step.eq(Mux(band_end, kept.cell_step << exact_log2(CELL_BYTES), 0))
        with m.Else():
            m.d.comb += step.eq(Mux(kept.by_cells, CELL_BYTES, kept.pitch_bytes))

        # Rows behind the first one have their base and their number in registers.
        begun = Signal()
        next_base, rows_left = Signal.like(kept.base), Signal.like(kept.valid_rows)
        base, rows = Signal.like(kept.base), Signal.like(kept.valid_rows)
        last_row, row_over, over = Signal(), Signal(), Signal()
        m.d.comb += [
            base.eq(Mux(begun, next_base, kept.base)),
            rows.eq(Mux(begun, rows_left, kept.valid_rows)),
            last_row.eq((rows == 1) | kept.contiguous | (transposed & ~by_rows)),
            over.eq(parts.command.valid & parts.command.ready & (~by_rows | last_row)),
        ]
        with m.If(by_rows):
            m.d.comb += row_over.eq(parts.command.valid & parts.command.ready)
        with m.Else():
            m.d.comb += row_over.eq(self.jobs.valid & self.jobs.ready)
        m.d.comb += [
            self.pitch_bytes.eq(Mux(kept.by_cells, kept.row_cells << exact_log2(CELL_BYTES), kept.pitch_bytes)),
            self.move.stride.eq(kept.stride),
            # Rows without a gap are one row.
            self.move.rows.eq(Mux(by_rows | kept.contiguous, 1, kept.valid_rows)),
            self.move.element_shift.eq(part.element_shift),
            self.move.by_blocks.eq(transposed),
            self.move.group_rows.eq(Const(1 << slot_bits(config)) >> kept.width),
            parts.command.valid.eq(active),
            parts.command.payload.eq(kept),
            parts.command.p.base.eq(base),
            parts.parts.ready.eq((self.jobs.ready & (by_rows | last_row)) | part.empty),
            self.jobs.valid.eq(parts.parts.valid & ~part.empty),
            job.rows.base.eq(part.base),
            job.rows.last_byte.eq(Mux(kept.contiguous, kept.area_bytes, part.row_bytes) - 1),
            job.rows.odd_nibble.eq(part.odd_nibble),
            job.rows.place.eq(offset[:bits]),
            job.rows.begins.eq(by_rows | ~begun),
            job.rows.ends_tile.eq(by_rows | last_row),
            job.rows.final.eq(part.ends_rows & last_row),
            job.tile_line.eq(part.tile_line + offset[bits:]),
            job.band_row.eq(band_row),
            self.command.ready.eq(~active),
        ]
        with m.If(row_over):
            m.d.sync += [begun.eq(~last_row), next_base.eq(base + kept.stride), rows_left.eq(rows - 1)]
            with m.If(by_rows):
                m.d.sync += [offset.eq(offset + step), band_row.eq(Mux(band_end, 0, band_row + 1))]
        with m.If(over):
            m.d.sync += active.eq(0)
        starts = self.command.valid & self.command.ready
        with m.If(starts):
            m.d.sync += kept.eq(self.command.payload)
        with m.If(starts | self.again):
            m.d.sync += [active.eq(1), begun.eq(0), offset.eq(0), band_row.eq(0)]
        return m

    def _by_rows(self, m: Module, transposed: Value) -> Value:
        """Return whether each row has to be written alone."""
        if self._config.move_tiles == 1 and not transposes(self._config):
            return Const(0)
        kept = self.kept
        bits = len(kept.row_bytes)
        overlap, several, by_rows = Signal(), Signal(), Signal()
        upper, lower = kept.stride[bits:], kept.stride[:bits]
        m.d.comb += [
            overlap.eq(
                (~upper.any() & (lower < kept.row_bytes))
                | (upper.all() & ((-lower)[:bits] < kept.row_bytes) & lower.any())
            ),
            several.eq((kept.tile_count != 1) & (kept.row_bytes > kept.part_bytes)),
            by_rows.eq((overlap & (several | transposed)) | (transposed & kept.odd_nibble)),
        ]
        return by_rows
