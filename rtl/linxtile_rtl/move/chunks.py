"""Walk over the rows of a store in memory, cut into chunks: whole rows, or what a block of the tile gives to each row."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES, FRACTAL_ORDERS, byte_count_bits, fractal_layouts, lies_across, width_code
from .rows import SKEW_BITS

__all__ = [
    "ChunkWalk",
    "block_bytes",
    "chunk_layout",
    "chunk_note_layout",
    "command_layout",
    "job_layout",
    "slot_bits",
    "transposes",
]

BLOCK_ELEMENTS = 8


def transposes(config: CoreConfig) -> bool:
    """Whether the configuration stores tiles whose cells lie across the rows of memory."""
    stores = (layout for layout in fractal_layouts(config) if layout.source_order in FRACTAL_ORDERS)
    return any(lies_across(layout) for layout in stores)


def slot_bits(config: CoreConfig) -> int:
    """Bits of the number of a row in its group: a line holds at most so many elements, those of half a byte."""
    return exact_log2(2 * config.vector_bytes)


def block_bytes(config: CoreConfig, width: Value) -> Value:
    """Bytes of a row that a block of the tile holds, elements of width code ``width``.

    The first beat leaves when a line has been read for each element that a row has in the block: so these are eight, for bursts that are
    not too short, but not less than a line, which is what a beat needs, and not more than a cell.
    """
    sizes = {bits: min(max(BLOCK_ELEMENTS * bits // 8, config.vector_bytes), CELL_BYTES) for bits in (4, 8, 16, 32)}
    value: Value = Const(CELL_BYTES)
    for bits, size in sizes.items():
        value = Mux(width == width_code(bits), size, value)
    return value


def command_layout(config: CoreConfig) -> data.StructLayout:
    """What all jobs of a command have in common.

    ``by_blocks``: a job has ``rows`` (at least 1), ``stride`` apart modulo ``2**64``, and groups of ``group_rows`` of them are
    written ``block_bytes`` of each row at a time. Otherwise a job is a row.
    """
    return data.StructLayout({
        "stride": 64,
        "rows": 16,
        "element_shift": 3,
        "by_blocks": 1,
        "group_rows": slot_bits(config) + 1,
        "block_bytes": bits_for(CELL_BYTES),
    })  # fmt: skip


def job_layout(config: CoreConfig) -> data.StructLayout:
    """What is written in one go: a row, or by blocks all rows of a tile; the first at ``base``, ``last_byte`` + 1 bytes each.

    The first byte is byte ``place`` of its tile line, one that no job before it has touched if it ``begins``. ``ends_tile``: the next job is
    of another tile, or of the next row when rows are written one after the other over all tiles. ``final`` marks the last job
    of its command.
    """
    return data.StructLayout({
        "base": 64,
        "last_byte": byte_count_bits(config),
        "odd_nibble": 1,
        "place": exact_log2(config.vector_bytes),
        "begins": 1,
        "ends_tile": 1,
        "final": 1,
    })  # fmt: skip


def chunk_note_layout(config: CoreConfig) -> data.StructLayout:
    """What a chunk has to do with others.

    ``slot`` is the number of its row in the group. Its bytes begin at ``place`` of a line, one that no chunk before it has
    touched if it ``begins``; or, ``kept``, they go on behind those of the same row in the block before. ``row_goes_on`` in a later block,
    ``block_goes_on`` with the next row. ``half``: of the last byte only the lower half is written. ``ends_tile`` and ``final``
    mark the last chunk of a job that has them.
    """
    return data.StructLayout({
        "slot": slot_bits(config),
        "begins": 1,
        "kept": 1,
        "place": exact_log2(config.vector_bytes),
        "row_goes_on": 1,
        "block_goes_on": 1,
        "half": 1,
        "ends_tile": 1,
        "final": 1,
    })  # fmt: skip


def chunk_layout(config: CoreConfig) -> data.StructLayout:
    """``last_byte`` + 1 bytes of a row from ``address`` on; ``skew`` are the low bits of the row's start."""
    return data.StructLayout({
        "address": 64,
        "last_byte": byte_count_bits(config),
        "skew": SKEW_BITS,
        "note": chunk_note_layout(config),
    })  # fmt: skip


class ChunkWalk(wiring.Component):
    """Go through the rows of a job; a chunk a cycle, the first a cycle after its job, the next job without a pause.

    By blocks, it goes group of rows by group, block by block, row by row. Block g gives its row the bytes up to the beat that
    holds byte ``block_bytes * (g + 1)`` of the row, so each beat is written once, by the block that has its last byte. Without layouts
    that are written by blocks each job is a chunk, in the same cycle.

    Parameters
    ----------
    config : CoreConfig
        ``axi_data_bytes`` (at most ``block_bytes`` where rows are written by blocks), ``tile_max_bytes`` and ``move_layouts`` matter.

    Members
    -------
    move : In(command_layout(config))
        Of the command; holds still while it has jobs under way.
    jobs : In(stream of job_layout(config))
        Rows to walk.
    chunks : Out(stream of chunk_layout(config))
        Every byte of the rows once.
    """

    move: data.View
    jobs: stream.Interface
    chunks: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "move": In(command_layout(config)),
            "jobs": In(stream.Signature(job_layout(config))),
            "chunks": Out(stream.Signature(chunk_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep where in the row its block begins; addresses are only added to."""
        m = Module()
        if not transposes(self._config):
            self._pass_on(m)
            return m
        beat_bits = exact_log2(self._config.axi_data_bytes)
        move, chunk = self.move, self.chunks.p
        by_blocks = move.by_blocks
        job = Signal(job_layout(self._config))
        active, first_block = Signal(), Signal()
        # The block's first byte in this row, and in the first row of the group; the first row of the group behind.
        point, block_point, group_point = Signal(64), Signal(64), Signal(64)
        rest = Signal.like(job.last_byte)
        rows_left, slot = Signal(16), Signal(slot_bits(self._config))

        lane = point[:beat_bits]
        last_slot, last_block, last_chunk = Signal(), Signal(), Signal()
        m.d.comb += [
            last_slot.eq(~by_blocks | (slot + 1 == move.group_rows) | (slot + 1 == rows_left)),
            last_block.eq(~by_blocks | (rest < move.block_bytes)),
            last_chunk.eq(last_block & (~by_blocks | (slot + 1 == rows_left))),
            self.chunks.valid.eq(active),
            chunk.address.eq(Mux(first_block, point, Cat(Const(0, beat_bits), point[beat_bits:]))),
            chunk.last_byte.eq(
                Mux(last_block, rest, move.block_bytes - 1)
                + Mux(first_block, Mux(last_block, 0, -lane), Mux(last_block, lane, 0))
            ),
            chunk.skew.eq(point[:SKEW_BITS]),
            chunk.note.slot.eq(slot),
            chunk.note.begins.eq(by_blocks | job.begins),
            chunk.note.kept.eq(~first_block),
            chunk.note.place.eq(job.place),
            chunk.note.row_goes_on.eq(~last_block),
            chunk.note.block_goes_on.eq(~last_slot),
            chunk.note.half.eq(job.odd_nibble & last_block),
            chunk.note.ends_tile.eq(job.ends_tile & last_chunk),
            chunk.note.final.eq(job.final & last_chunk),
            self.jobs.ready.eq(~active | (self.chunks.ready & last_chunk)),
        ]
        next_row, next_point = Signal(64), Signal(64)
        m.d.comb += next_row.eq(point + move.stride)
        with m.If(~last_slot | (last_block & first_block)):
            m.d.comb += next_point.eq(next_row)
        with m.Elif(last_block):
            m.d.comb += next_point.eq(group_point)
        with m.Else():
            m.d.comb += next_point.eq(block_point + move.block_bytes)
        with m.If(active & self.chunks.ready):
            m.d.sync += [point.eq(next_point), slot.eq(slot + 1)]
            with m.If(last_slot):
                m.d.sync += [block_point.eq(next_point), slot.eq(0)]
                with m.If(first_block):
                    m.d.sync += group_point.eq(next_row)
                with m.If(last_block):
                    m.d.sync += [first_block.eq(1), rest.eq(job.last_byte), rows_left.eq(rows_left - slot - 1)]
                with m.Else():
                    m.d.sync += [first_block.eq(0), rest.eq(rest - move.block_bytes)]
            with m.If(last_chunk):
                m.d.sync += active.eq(0)
        with m.If(self.jobs.valid & self.jobs.ready):
            m.d.sync += [
                job.eq(self.jobs.payload),
                active.eq(1),
                first_block.eq(1),
                point.eq(self.jobs.p.base),
                block_point.eq(self.jobs.p.base),
                rest.eq(self.jobs.p.last_byte),
                rows_left.eq(move.rows),
                slot.eq(0),
            ]
        return m

    def _pass_on(self, m: Module) -> None:
        """Make a chunk of each job."""
        job, chunk = self.jobs.p, self.chunks.p
        m.d.comb += [
            self.chunks.valid.eq(self.jobs.valid),
            self.jobs.ready.eq(self.chunks.ready),
            chunk.address.eq(job.base),
            chunk.last_byte.eq(job.last_byte),
            chunk.skew.eq(job.base[:SKEW_BITS]),
            chunk.note.half.eq(job.odd_nibble),
        ]
        for name in ("begins", "place", "ends_tile", "final"):
            m.d.comb += chunk.note[name].eq(job[name])
