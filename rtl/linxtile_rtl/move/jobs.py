"""Cuts a store into jobs, each the rows of one tile, in an order in which the last write wins."""

from amaranth.hdl import Const, Module, Mux, Signal, Value
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
    """A job for the bus (``rows``), and where the tile has its rows.

    Its first row begins in line ``tile_line``; when cells lie across rows, it is row ``band_row`` of the cells that begin
    there.
    """
    return data.StructLayout({"rows": job_layout(config), "tile_line": line_bits(config), "band_row": ROW_BITS})


class JobWalk(wiring.Component):
    """Keep a command and give its jobs: tile by tile, or row by row where the order of writing matters.

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
    kept : Out(store_layout(config))
        The command under way; what is not changed from row to row holds still until the next one.
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
            "kept": Out(store_layout(config)),
            "move": Out(command_layout(config)),
            "pitch_bytes": Out(byte_count_bits(config)),
            "jobs": Out(stream.Signature(tile_job_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Give the kept command to the walk over tiles, once or once a row; base and place move on from row to row."""
        m = Module()
        config = self._config
        bits = exact_log2(config.vector_bytes)
        m.submodules.parts = parts = PartWalk(config=config, command=store_layout(config))
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

        rows_over = Signal()
        m.d.comb += [
            self.pitch_bytes.eq(Mux(kept.by_cells, kept.row_cells << exact_log2(CELL_BYTES), kept.pitch_bytes)),
            rows_over.eq(~by_rows | (kept.valid_rows == 1)),
            self.move.stride.eq(kept.stride),
            # Rows without a gap are one row.
            self.move.rows.eq(Mux(by_rows | kept.contiguous, 1, kept.valid_rows)),
            self.move.element_shift.eq(part.element_shift),
            self.move.by_blocks.eq(transposed),
            self.move.group_rows.eq(Const(1 << slot_bits(config)) >> kept.width),
            parts.command.valid.eq(active),
            parts.command.payload.eq(kept),
            parts.parts.ready.eq(self.jobs.ready | part.empty),
            self.jobs.valid.eq(parts.parts.valid & ~part.empty),
            job.rows.base.eq(part.base),
            job.rows.row_bytes.eq(Mux(kept.contiguous, kept.area_bytes, part.row_bytes)),
            job.rows.odd_nibble.eq(part.odd_nibble),
            job.rows.place.eq(offset[:bits]),
            job.rows.final.eq(part.ends_rows & rows_over),
            job.tile_line.eq(part.tile_line + offset[bits:]),
            job.band_row.eq(band_row),
            self.command.ready.eq(~active),
        ]
        with m.If(parts.command.valid & parts.command.ready):
            m.d.sync += active.eq(~rows_over)
            with m.If(by_rows):
                m.d.sync += [
                    kept.base.eq(kept.base + kept.stride),
                    kept.valid_rows.eq(kept.valid_rows - 1),
                    offset.eq(offset + step),
                    band_row.eq(Mux(band_end, 0, band_row + 1)),
                ]
        with m.If(self.command.valid & self.command.ready):
            m.d.sync += [kept.eq(self.command.payload), active.eq(1), offset.eq(0), band_row.eq(0)]
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
