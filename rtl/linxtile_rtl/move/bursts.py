"""Cut chunks of rows into bursts."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..axi import burst_bytes
from ..layouts import byte_count_bits
from .chunks import chunk_layout, chunk_note_layout
from .rows import SKEW_BITS

__all__ = ["BurstCut", "store_burst_layout"]


def store_burst_layout(config: CoreConfig) -> data.StructLayout:
    """Part of a chunk that one burst carries, with the ``note`` of the chunk.

    ``address`` is its first needed byte, ``last`` the low bits of the address of its last one, which is in the same block of
    :func:`~linxtile_rtl.axi.burst_bytes`; ``length`` are AXI's beats minus one. ``skew`` are the low bits of the row's start.
    ``beyond`` marks an address at or above ``2**axi_address_bits``: no access. ``starts`` and ``chunk_end`` mark the first and
    the last burst of the chunk,
    and only there the note's ``row_goes_on``, ``block_goes_on``, ``half``, ``ends_tile`` and ``final`` count.
    """
    return data.StructLayout({
        "address": 64,
        "last": exact_log2(burst_bytes(config)),
        "length": 8,
        "skew": SKEW_BITS,
        "beyond": 1,
        "starts": 1,
        "chunk_end": 1,
        "note": chunk_note_layout(config),
    })  # fmt: skip


class BurstCut(wiring.Component):
    """Cut chunks into bursts that lie in one naturally aligned block of :func:`~linxtile_rtl.axi.burst_bytes`.

    A burst a cycle, the first one a cycle after its chunk. Bursts beyond the addresses of the bus are told like all others.

    Members
    -------
    chunks : In(stream of chunk_layout(config))
        From :class:`~linxtile_rtl.move.chunks.ChunkWalk`.
    bursts : Out(stream of store_burst_layout(config))
        In order, by ascending address inside a chunk.
    """

    chunks: stream.Interface
    bursts: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "chunks": In(stream.Signature(chunk_layout(config))),
            "bursts": Out(stream.Signature(store_burst_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the chunk under way; its address moves to the start of the next burst with each one."""
        m = Module()
        block_bits = exact_log2(burst_bytes(self._config))
        beat_bits = exact_log2(self._config.axi_data_bytes)
        chunk = Signal(chunk_layout(self._config))
        # Of the last byte of the chunk, from the start of the block on in which the burst is.
        end = Signal(max(block_bits, byte_count_bits(self._config)) + 1)
        active, starts, final = Signal(), Signal(), Signal()
        burst = self.bursts.p
        m.d.comb += [
            final.eq(~end[block_bits:].any()),
            self.bursts.valid.eq(active),
            burst.address.eq(chunk.address),
            burst.last.eq(Mux(final, end[:block_bits], -1)),
            burst.length.eq(burst.last[beat_bits:] - chunk.address[beat_bits:block_bits]),
            burst.skew.eq(chunk.skew),
            burst.beyond.eq(chunk.address[self._config.axi_address_bits :].any()),
            burst.starts.eq(starts),
            burst.chunk_end.eq(final),
            burst.note.eq(chunk.note),
            self.chunks.ready.eq(~active | (self.bursts.ready & final)),
        ]
        with m.If(active & self.bursts.ready):
            m.d.sync += [
                chunk.address.eq(Cat(Const(0, block_bits), chunk.address[block_bits:] + 1)),
                end[block_bits:].eq(end[block_bits:] - 1),
                starts.eq(0),
                active.eq(~final),
            ]
        with m.If(self.chunks.valid & self.chunks.ready):
            m.d.sync += [
                chunk.eq(self.chunks.payload),
                end.eq(self.chunks.p.address[:block_bits] + self.chunks.p.last_byte),
                active.eq(1),
                starts.eq(1),
            ]
        return m
