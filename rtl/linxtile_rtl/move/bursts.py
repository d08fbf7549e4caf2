"""Cut chunks of rows into bursts."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..axi import burst_bytes
from .chunks import chunk_layout, chunk_note_layout
from .rows import SKEW_BITS, burst_layout

__all__ = ["BurstCut", "chunk_burst_layout"]


def chunk_burst_layout(config: CoreConfig) -> data.StructLayout:
    """A burst, its ``last`` that of its job, with the ``note`` of its chunk; ``chunk_end`` marks the last one of the chunk."""
    return data.StructLayout({
        **{name: field.shape for name, field in burst_layout(config)},
        "chunk_end": 1,
        "note": chunk_note_layout(config),
    })  # fmt: skip


class BurstCut(wiring.Component):
    """Cut chunks into bursts that lie in one naturally aligned block of :func:`~linxtile_rtl.axi.burst_bytes`.

    A burst a cycle, the first one a cycle after its chunk. Bursts beyond the addresses of the bus are told like all others.

    Members
    -------
    element_shift : In(3)
        Of the command; holds still while it has chunks under way.
    chunks : In(stream of chunk_layout(config))
        From :class:`~linxtile_rtl.move.chunks.ChunkWalk`.
    bursts : Out(stream of chunk_burst_layout(config))
        In order, by ascending address inside a chunk.
    """

    element_shift: Signal
    chunks: stream.Interface
    bursts: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "element_shift": In(3),
            "chunks": In(stream.Signature(chunk_layout(config))),
            "bursts": Out(stream.Signature(chunk_burst_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the chunk under way; its address moves to the start of the next burst with each one."""
        m = Module()
        block_bytes = burst_bytes(self._config)
        block_bits = exact_log2(block_bytes)
        beat_bits = exact_log2(self._config.axi_data_bytes)
        chunk = Signal(chunk_layout(self._config))
        active = Signal()
        burst = self.bursts.p

        room, count = Signal(block_bits + 1), Signal(block_bits + 1)
        final = Signal()
        m.d.comb += [
            room.eq(block_bytes - chunk.address[:block_bits]),
            final.eq(chunk.bytes <= room),
            count.eq(Mux(final, chunk.bytes, room)),
            self.bursts.valid.eq(active),
            burst.address.eq(chunk.address),
            burst.bytes.eq(count),
            burst.length.eq((chunk.address[:beat_bits] + count - 1) >> beat_bits),
            burst.skew.eq(chunk.skew),
            burst.element_mask.eq(Cat(self.element_shift > bit for bit in range(SKEW_BITS))),
            burst.row_start.eq(chunk.row_start),
            burst.row_end.eq(final & chunk.row_end),
            burst.last.eq(final & chunk.last),
            burst.beyond.eq(chunk.address[self._config.axi_address_bits :].any()),
            burst.chunk_end.eq(final),
            burst.note.eq(chunk.note),
            self.chunks.ready.eq(~active | (self.bursts.ready & final)),
        ]
        with m.If(active & self.bursts.ready):
            m.d.sync += [
                chunk.address.eq(Cat(Const(0, block_bits), chunk.address[block_bits:] + 1)),
                chunk.bytes.eq(chunk.bytes - room),
                chunk.row_start.eq(0),
                chunk.note.begins.eq(0),
                active.eq(~final),
            ]
        with m.If(self.chunks.valid & self.chunks.ready):
            m.d.sync += [chunk.eq(self.chunks.payload), active.eq(1)]
        return m
