"""Cut bursts into pieces: the needed bytes of one beat."""

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from linxtile.config import CoreConfig

from ..axi import PAGE_BYTES
from .rows import burst_layout, element_start

__all__ = ["PieceWalk", "piece_layout"]

PAGE_BITS = exact_log2(PAGE_BYTES)


def piece_layout(config: CoreConfig) -> data.StructLayout:
    """Needed bytes of one beat: ``count`` (at least 1) from ``lane`` on.

    ``element_address`` belongs to the element of the first of them. ``burst_end``, ``row_end`` and ``last`` (of the command)
    mark the last piece of each; ``beyond`` stands for an access that may not be made and ends all three. ``rows_left`` counts
    the rows from this one on.
    """
    return data.StructLayout({
        "lane": exact_log2(config.axi_data_bytes),
        "count": bits_for(config.axi_data_bytes),
        "element_address": 64,
        "rows_left": 16,
        "burst_end": 1,
        "row_end": 1,
        "last": 1,
        "beyond": 1,
    })  # fmt: skip


class PieceWalk(wiring.Component):
    """Cut bursts into pieces, a piece a cycle, the first one a cycle after its burst.

    Members
    -------
    bursts : In(stream of burst_layout(config))
        From :class:`BurstWalk`.
    pieces : Out(stream of piece_layout(config))
        One a beat, in bus order.
    """

    bursts: stream.Interface
    pieces: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "bursts": In(stream.Signature(burst_layout(config))),
            "pieces": Out(stream.Signature(piece_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the burst under way; its address moves to the start of the next beat with each piece."""
        m = Module()
        beat_bytes = self._config.axi_data_bytes
        beat_bits = exact_log2(beat_bytes)
        burst = Signal(burst_layout(self._config))
        active = Signal()

        room = Signal(beat_bits + 1)
        fits = Signal()
        final = Signal()
        m.d.comb += [
            room.eq(beat_bytes - burst.address[:beat_bits]),
            fits.eq(burst.bytes <= room),
            final.eq(fits | burst.beyond),
            self.pieces.valid.eq(active),
            self.pieces.p.lane.eq(burst.address[:beat_bits]),
            self.pieces.p.count.eq(Mux(fits, burst.bytes, room)),
            self.pieces.p.element_address.eq(element_start(burst.address, burst.skew, burst.element_mask)),
            self.pieces.p.rows_left.eq(burst.rows_left),
            self.pieces.p.burst_end.eq(final),
            self.pieces.p.row_end.eq(final & (burst.row_end | burst.beyond)),
            self.pieces.p.last.eq(final & burst.last),
            self.pieces.p.beyond.eq(burst.beyond),
            self.bursts.ready.eq(~active | (self.pieces.ready & final)),
        ]
        with m.If(active & self.pieces.ready):
            # A burst stays in its page, so the upper bits of its address never change.
            m.d.sync += [
                burst.address[:beat_bits].eq(Const(0, beat_bits)),
                burst.address[beat_bits:PAGE_BITS].eq(burst.address[beat_bits:PAGE_BITS] + 1),
                burst.bytes.eq(burst.bytes - room),
            ]
            with m.If(final):
                m.d.sync += active.eq(0)
        with m.If(self.bursts.valid & self.bursts.ready):
            m.d.sync += [burst.eq(self.bursts.payload), active.eq(1)]
        return m
