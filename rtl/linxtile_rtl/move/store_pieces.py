"""Cuts the bursts of a store into pieces: the bytes of one beat, and where the tile has them."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from .bursts import store_burst_layout
from .chunks import slot_bits

__all__ = ["StorePieces", "store_piece_layout"]

BURSTS_AHEAD = 4
"""Addresses that may be ahead of the data."""


def _place_layout(config: CoreConfig) -> data.StructLayout:
    """What is the same for all pieces of a burst but ``starts``, which is that of the first one."""
    return data.StructLayout({
        "starts": 1,
        "begins": 1,
        "kept": 1,
        "slot": slot_bits(config),
        "place": exact_log2(config.vector_bytes),
        "beyond": 1,
    })  # fmt: skip


def store_piece_layout(config: CoreConfig) -> data.StructLayout:
    """Bytes of one beat, from ``lane`` to ``last_lane``, and their place in the tile.

    ``burst_end`` marks the last piece of its burst, ``chunk_end`` of its chunk, ``starts`` the first one. ``begins``, ``kept``, ``slot``, ``place``: as in
    :func:`~linxtile_rtl.move.chunks.chunk_note_layout`. ``half``: of the last byte only the lower half is written. ``beyond``
    stands for an access that may not be made.
    """
    lane = exact_log2(config.axi_data_bytes)
    return data.StructLayout({
        "lane": lane,
        "last_lane": lane,
        "burst_end": 1,
        "chunk_end": 1,
        "half": 1,
        **{name: field.shape for name, field in _place_layout(config)},
    })  # fmt: skip


class StorePieces(wiring.Component):
    """Cut bursts into pieces, a piece a cycle, the first one the cycle after its burst.

    Members
    -------
    bursts : In(stream of store_burst_layout(config))
        Bursts that the bus has accepted, or that are ``beyond``.
    pieces : Out(stream of store_piece_layout(config))
        One a beat, in bus order.
    """

    bursts: stream.Interface
    pieces: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "bursts": In(stream.Signature(store_burst_layout(config))),
            "pieces": Out(stream.Signature(store_piece_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Count the beats of the oldest burst, which waits until its last piece has been taken."""
        m = Module()
        config = self._config
        beat_bits = exact_log2(config.axi_data_bytes)
        places = _place_layout(config)
        entry = data.StructLayout({
            "lane": beat_bits, "last_lane": beat_bits, "length": 8, "chunk_end": 1, "half": 1, "place": places,
        })  # fmt: skip
        m.submodules.waiting = waiting = SyncFIFO(width=entry.size, depth=BURSTS_AHEAD)
        given, oldest = Signal(entry), data.View(entry, waiting.r_data)
        burst, note, piece = self.bursts.p, self.bursts.p.note, self.pieces.p
        beat = Signal.like(burst.length)
        first, final = Signal(), Signal()
        m.d.comb += [
            given.lane.eq(burst.address[:beat_bits]),
            given.last_lane.eq(burst.last[:beat_bits]),
            given.length.eq(burst.length),
            given.chunk_end.eq(burst.chunk_end),
            given.half.eq(note.half & burst.chunk_end),
            given.place.starts.eq(burst.starts),
            given.place.beyond.eq(burst.beyond),
            waiting.w_en.eq(self.bursts.valid),
            waiting.w_data.eq(given),
            self.bursts.ready.eq(waiting.w_rdy),
            first.eq(~beat.any()),
            final.eq(beat == oldest.length),
            self.pieces.valid.eq(waiting.r_rdy),
            waiting.r_en.eq(self.pieces.ready & final),
            piece.lane.eq(Mux(first, oldest.lane, 0)),
            piece.last_lane.eq(Mux(final, oldest.last_lane, -1)),
            piece.burst_end.eq(final),
            piece.chunk_end.eq(final & oldest.chunk_end),
            piece.half.eq(final & oldest.half),
        ]
        for name in ("begins", "kept", "slot", "place"):
            m.d.comb += given.place[name].eq(note[name])
        for name, _ in places:
            m.d.comb += piece[name].eq(oldest.place[name])
        m.d.comb += piece.starts.eq(oldest.place.starts & first)
        with m.If(self.pieces.valid & self.pieces.ready):
            m.d.sync += beat.eq(Mux(final, 0, beat + 1))
        return m
