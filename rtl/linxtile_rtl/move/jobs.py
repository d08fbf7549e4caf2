"""Cuts a store into jobs, the rows of its tiles, in an order in which the last write wins."""

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES, byte_count_bits, store_layout
from .chunks import block_bytes, command_layout, job_layout, slot_bits, transposes
from .lines import lies_in_cells, row_lines_layout
from .transposer import ROW_BITS

__all__ = ["JobWalk", "tile_job_layout"]


def tile_job_layout(config: CoreConfig) -> data.StructLayout:
    """A job for the bus (``rows``), and its ``lines`` in the tile; one that ``joins`` is on the bus with the job before.

    When cells lie across rows, the first row is row ``band_row`` of the cells that begin with the first line.
    """
    return data.StructLayout(
        {"rows": job_layout(config), "joins": 1, "lines": row_lines_layout(config), "band_row": ROW_BITS}
    )


class JobWalk(wiring.Component):
    """Keep a command and give its jobs: tile by tile, or row by row where the order of writing matters.

    A job is a row of a tile. Contiguous rows are one, on the bus only if they lie in cells; where cells lie across the rows all rows
    of a tile are one job.

    Elements are written row by row over all tiles, and the last write wins. That can be seen only when rows overlap in memory. Then
    each row is written alone where tiles would otherwise write several at a time, or after each other: when there are several, or
    when cells lie across the rows.

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
            "jobs": Out(stream.Signature(tile_job_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Two walks, one inside the other: over the tiles of a row and over the rows of a tile."""
        m = Module()
        config = self._config
        bits = exact_log2(config.vector_bytes)
        job, kept = self.jobs.p, self.kept
        transposed = kept.transposed if transposes(config) else Const(0)
        by_cells = kept.by_cells if lies_in_cells(config) else Const(0)
        active, by_rows, last_row, last_tile = Signal(), Signal(), Signal(), Signal()
        starts = (self.command.valid & self.command.ready) | self.again
        taken = self.jobs.valid & self.jobs.ready
        tile_over, row_over = taken & (by_rows | last_row), taken & (~by_rows | last_tile)

        # The first row has its number in the command.
        row_begun, rows_left = Signal(), Signal.like(kept.valid_rows)
        rows = Mux(row_begun, rows_left, kept.valid_rows)
        m.d.comb += last_row.eq((rows == 1) | (kept.contiguous & ~by_cells) | (transposed & ~by_rows))
        number, row_bytes = self._tiles(m, last_tile, tile_over, starts)
        if config.move_tiles > 1 or transposes(config):
            several = (number != 0) | ~last_tile
            m.d.comb += by_rows.eq(self._overlap(m) & (several | transposed))

        inner_begins, inner_ends = Mux(by_rows, number == 0, ~row_begun), Mux(by_rows, last_tile, last_row)
        base = self._base(m, taken, starts, inner_begins, inner_ends, inner_ends == by_rows)

        # Place of the row in the tile: its first byte, or the band of rows that lie in the same cells and the row in it.
        place, line, band_row = Signal(bits), Signal(byte_count_bits(config) - bits), Signal(ROW_BITS)
        step = Signal(byte_count_bits(config))
        band_end = transposed & (band_row + 1 == Const(2 * CELL_BYTES) >> kept.width)
        with m.If(transposed):
            m.d.comb += step.eq(Mux(band_end, kept.cell_step << exact_log2(CELL_BYTES), 0))
        with m.Else():
            m.d.comb += step.eq(Mux(by_cells, CELL_BYTES, kept.pitch_bytes))

        # From the start of the row's first line on: its last byte, and where the next row begins.
        last_byte, next_place = Signal.like(step), Signal.like(step)
        row_last, area_last = Signal.like(step), Signal.like(step)
        shares = Signal()
        m.d.comb += [
            row_last.eq(row_bytes - 1),
            area_last.eq(kept.area_bytes - 1),
            last_byte.eq(place + Mux(kept.contiguous & ~by_cells, area_last, row_last)),
            next_place.eq(place + step),
            self.move.stride.eq(kept.stride),
            self.move.rows.eq(Mux(by_rows, 1, kept.valid_rows)),
            self.move.element_shift.eq(Mux(kept.width == 0, 0, kept.width - 1)),
            self.move.by_blocks.eq(transposed),
            self.move.group_rows.eq(Const(1 << slot_bits(config)) >> kept.width),
            self.move.block_bytes.eq(block_bytes(config, kept.width)),
            self.command.ready.eq(~active),
            self.jobs.valid.eq(active),
            job.rows.base.eq(base),
            job.rows.last_byte.eq(Mux(kept.contiguous, area_last, row_last)),
            job.rows.odd_nibble.eq(kept.odd_nibble & last_tile),
            job.rows.place.eq(place),
            job.rows.begins.eq(~job.lines.shares),
            job.rows.ends_tile.eq(by_rows | last_row),
            job.rows.final.eq(last_tile & (last_row | kept.contiguous)),
            job.joins.eq(kept.contiguous & row_begun),
            job.lines.line.eq(kept.tile_lines[number] + line + job.lines.shares),
            job.lines.lines.eq(last_byte[bits:]),
            job.lines.shares.eq(shares & row_begun & ~by_rows & ~by_cells),
            job.band_row.eq(band_row),
        ]
        with m.If(row_over):
            m.d.sync += [
                row_begun.eq(~last_row),
                rows_left.eq(rows - 1),
                place.eq(next_place[:bits]),
                line.eq(line + next_place[bits:]),
                shares.eq(next_place[bits:] == last_byte[bits:]),
                band_row.eq(Mux(band_end, 0, band_row + 1)),
            ]
        with m.If(starts | (row_over & last_row)):
            m.d.sync += [place.eq(0), line.eq(0), band_row.eq(0)]
        with m.If(self.command.valid & self.command.ready):
            m.d.sync += kept.eq(self.command.payload)
        with m.If(starts):
            m.d.sync += [active.eq(1), row_begun.eq(0)]
        with m.Elif(taken & last_row & last_tile):
            m.d.sync += active.eq(0)
        return m

    def _tiles(self, m: Module, last: Signal, over: Value, starts: Value) -> tuple[Signal, Value]:
        """Go through the tiles with valid bytes; return the number of this one and its bytes of a row, and drive ``last``."""
        kept = self.kept
        number, rest = Signal(range(max(2, self._config.move_tiles))), Signal.like(kept.row_bytes)
        left = Mux(number == 0, kept.row_bytes, rest)
        behind = Signal(len(rest) + 1)
        m.d.comb += [
            behind.eq(left - kept.part_bytes),
            # A single tile takes its row whole; of several the last one never has more than its share.
            last.eq((kept.tile_count == 1) | behind[-1] | (behind == 0)),
        ]
        with m.If(over):
            m.d.sync += [number.eq(Mux(last, 0, number + 1)), rest.eq(behind)]
        with m.If(starts):
            m.d.sync += number.eq(0)
        return number, Mux(last, left, kept.part_bytes)

    def _base(
        self, m: Module, taken: Value, starts: Value, inner_begins: Value, inner_ends: Value, to_next_row: Value
    ) -> Value:
        """Return the address of the job; the next one is a step from it or, after the inner walk, from that walk's first one."""
        kept = self.kept
        base, next_base, first_base = Signal(64), Signal(64), Signal(64)
        begun = Signal()
        m.d.comb += base.eq(Mux(begun, next_base, kept.base))
        with m.If(taken):
            m.d.sync += next_base.eq(
                Mux(inner_ends & ~inner_begins, first_base, base) + Mux(to_next_row, kept.stride, kept.part_bytes)
            )
            with m.If(inner_begins):
                m.d.sync += first_base.eq(base)
        with m.If(taken | starts):
            m.d.sync += begun.eq(~starts)
        return base

    def _overlap(self, m: Module) -> Value:
        """Return whether rows share bytes in memory."""
        kept = self.kept
        bits = len(kept.row_bytes)
        overlap = Signal()
        upper, lower = kept.stride[bits:], kept.stride[:bits]
        m.d.comb += overlap.eq(
            (~upper.any() & (lower < kept.row_bytes)) | (upper.all() & ((-lower)[:bits] < kept.row_bytes) & lower.any())
        )
        return overlap
