"""Cuts the bursts of a store into pieces: the bytes of one beat, and where the tile has them."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from .bursts import chunk_burst_layout
from .chunks import slot_bits
from .pieces import PieceWalk, piece_layout
from .rows import burst_layout

__all__ = ["StorePieces", "store_piece_layout"]

BURSTS_AHEAD = 4
"""Addresses that may be ahead of the data."""


def _place_layout(config: CoreConfig) -> data.StructLayout:
    """What is the same for all pieces of a burst but ``begins``, which is that of the first one."""
    return data.StructLayout({
        "begins": 1,
        "kept": 1,
        "slot": slot_bits(config),
        "place": exact_log2(config.vector_bytes),
        "half": 1,
        "beyond": 1,
    })  # fmt: skip


def store_piece_layout(config: CoreConfig) -> data.StructLayout:
    """Piece of a store: :func:`~linxtile_rtl.move.pieces.piece_layout` and its place in the tile.

    ``row_end`` ends the chunk. ``begins``, ``kept``, ``slot``, ``place``: as in
    :func:`~linxtile_rtl.move.chunks.chunk_note_layout`. ``half``: of the last byte of the row only the lower half is written.
    """
    every = {**dict(piece_layout(config)), **dict(_place_layout(config))}
    return data.StructLayout({name: field.shape for name, field in every.items()})


class StorePieces(wiring.Component):
    """Cut bursts into pieces, a piece a cycle, the first one two cycles after its burst.

    Members
    -------
    bursts : In(stream of chunk_burst_layout(config))
        Bursts that the bus has accepted, or that are ``beyond``.
    pieces : Out(stream of store_piece_layout(config))
        One a beat, in bus order.
    """

    bursts: stream.Interface
    pieces: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "bursts": In(stream.Signature(chunk_burst_layout(config))),
            "pieces": Out(stream.Signature(store_piece_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the place beside the walk that cuts."""
        m = Module()
        config = self._config
        places = _place_layout(config)
        entry = data.StructLayout({"burst": burst_layout(config), "place": places})
        m.submodules.waiting = waiting = SyncFIFO(width=entry.size, depth=BURSTS_AHEAD)
        m.submodules.walk = walk = PieceWalk(config=config)
        given, taken = Signal(entry), data.View(entry, waiting.r_data)
        burst, note = self.bursts.p, self.bursts.p.note
        for name, _ in burst_layout(config):
            m.d.comb += given.burst[name].eq(burst[name])
        m.d.comb += [
            # The walk ends at a burst that is beyond; here all bytes are gone through, so that those behind find theirs.
            given.burst.beyond.eq(0),
            given.burst.row_end.eq(burst.chunk_end),
            given.place.begins.eq(note.begins),
            given.place.kept.eq(note.kept),
            given.place.slot.eq(note.slot),
            given.place.place.eq(note.place),
            given.place.half.eq(note.odd_nibble & burst.row_end),
            given.place.beyond.eq(burst.beyond),
            waiting.w_en.eq(self.bursts.valid),
            waiting.w_data.eq(given),
            self.bursts.ready.eq(waiting.w_rdy),
            walk.bursts.valid.eq(waiting.r_rdy),
            walk.bursts.payload.eq(taken.burst),
            waiting.r_en.eq(walk.bursts.ready),
            self.pieces.valid.eq(walk.pieces.valid),
            walk.pieces.ready.eq(self.pieces.ready),
        ]
        place = Signal(places)
        with m.If(self.pieces.valid & self.pieces.ready):
            m.d.sync += place.begins.eq(0)
        with m.If(walk.bursts.valid & walk.bursts.ready):
            m.d.sync += place.eq(taken.place)
        for name, _ in piece_layout(config):
            m.d.comb += self.pieces.p[name].eq(walk.pieces.p[name])
        for name, _ in places:
            m.d.comb += self.pieces.p[name].eq(place[name])
        m.d.comb += self.pieces.p.half.eq(place.half & walk.pieces.p.row_end)
        return m
