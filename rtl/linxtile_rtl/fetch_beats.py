"""Beats of a program: requested ahead, kept in order, read in chunks of two parcels."""

from amaranth import Module, ResetInserter, Signal
from amaranth.lib import data, fifo, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from linxtile.config import CoreConfig

__all__ = [
    "CHUNK_BYTES", "LENGTH_BITS", "PARCEL_BITS", "PARCEL_BYTES", "BeatRequester", "ChunkReader", "beat_layout",
    "chunk_layout",
]  # fmt: skip

PARCEL_BITS = 16
"""The unit of a program: every word is one parcel, or two when bit 0 of the first is set."""

PARCEL_BYTES = PARCEL_BITS // 8
CHUNK_BYTES = 2 * PARCEL_BYTES
LENGTH_BITS = 32


def beat_layout(config: CoreConfig) -> data.StructLayout:
    """One memory beat, little-endian; ``error`` when the bus refused it."""
    return data.StructLayout({"data": config.axi_data_bytes * 8, "error": 1})


def chunk_layout() -> data.StructLayout:
    """Two neighbouring parcels of a beat."""
    return data.StructLayout({"low": PARCEL_BITS, "high": PARCEL_BITS, "error": 1})


class BeatRequester(wiring.Component):
    """Requests the beats of a program and keeps the answers in order until they are taken.

    Members
    -------
    start, address, length_bytes : In
        Begin with the program described; only while ``idle``.
    request, response
        As in :class:`linxtile_rtl.fetch.WordAligner`.
    o : Out(stream of beat_layout(config))
        Beats of the program in order.
    flush : In(1)
        Forget the program; answers that are still to come are dropped before the requester is idle again. A memory that never
        gives them leaves it busy until reset.
    idle : Out(1)
    """

    def __init__(self, config: CoreConfig, *, beats: int):
        self._config = config
        self._beats = beats
        super().__init__({
            "start": In(1),
            "address": In(64),
            "length_bytes": In(LENGTH_BITS),
            "request": Out(stream.Signature(64)),
            "response": In(stream.Signature(beat_layout(config))),
            "o": Out(stream.Signature(beat_layout(config))),
            "flush": In(1),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        beat_bytes = self._config.axi_data_bytes
        shift = ceil_log2(beat_bytes)
        layout = beat_layout(self._config)
        answers = fifo.SyncFIFOBuffered(width=layout.size, depth=self._beats)
        m.submodules.answers = ResetInserter(self.flush)(answers)

        beat = Signal(64 - shift)
        left = Signal(LENGTH_BITS - shift + 1)
        """Beats that have not been requested."""
        waiting = Signal(range(self._beats + 1))
        """Answers outstanding."""
        reserved = Signal(range(self._beats + 1))
        """Beats requested and not taken: each has its place among the answers."""
        draining = Signal()

        reachable, refused, issue, take, answer = Signal(), Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            reachable.eq(~beat[self._config.axi_address_bits - shift :].any()),
            # Addresses ascend, so once one is out of reach all are, and those before it have been answered.
            refused.eq(left.any() & ~reachable & (reserved == 0)),
            issue.eq((~self.request.valid | self.request.ready) & left.any() & reachable
                     & (reserved != self._beats) & ~self.flush & ~draining),
            answer.eq(self.response.valid),
            self.response.ready.eq(1),
            answers.w_data.eq(self.response.payload),
            answers.w_en.eq(answer & ~draining),
            self.o.valid.eq(answers.r_rdy | refused),
            self.o.payload.eq(answers.r_data),
            take.eq(self.o.valid & self.o.ready),
            answers.r_en.eq(self.o.ready),
            self.idle.eq(~left.any() & ~self.request.valid & (waiting == 0) & ~draining),
        ]  # fmt: skip
        with m.If(refused):
            m.d.comb += self.o.p.error.eq(1)

        with m.If(self.request.ready):
            m.d.sync += self.request.valid.eq(0)
        with m.If(issue):
            m.d.sync += [self.request.valid.eq(1), self.request.payload.eq(beat << shift)]
        with m.If(issue | (refused & take)):
            m.d.sync += [beat.eq(beat + 1), left.eq(left - 1)]
        m.d.sync += [
            waiting.eq(waiting + issue - answer),
            reserved.eq(reserved + issue - (take & ~refused)),
        ]
        with m.If(self.start):
            m.d.sync += [
                beat.eq(self.address >> shift),
                left.eq((self.address[:shift] + self.length_bytes + beat_bytes - 1) >> shift),
            ]
        with m.If(draining & (waiting == 0)):
            m.d.sync += draining.eq(0)
        with m.If(self.flush):
            m.d.sync += [left.eq(0), reserved.eq(0), draining.eq(1)]
        return m


class ChunkReader(wiring.Component):
    """Cuts beats into chunks of two parcels, in the same cycle; ``start`` sets the chunk of the next beat to begin with."""

    def __init__(self, config: CoreConfig):
        self._chunks = config.axi_data_bytes // CHUNK_BYTES
        super().__init__({
            "start": In(1),
            "first": In(range(self._chunks)),
            "i": In(stream.Signature(beat_layout(config))),
            "o": Out(stream.Signature(chunk_layout())),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        place = Signal(range(self._chunks))
        parcels = self.i.p.data.word_select(place, CHUNK_BYTES * 8)
        m.d.comb += [
            self.o.p.low.eq(parcels[:PARCEL_BITS]),
            self.o.p.high.eq(parcels[PARCEL_BITS:]),
            self.o.p.error.eq(self.i.p.error),
            self.o.valid.eq(self.i.valid),
            self.i.ready.eq(self.o.ready & place.all()),
        ]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += place.eq(place + 1)
        with m.If(self.start):
            m.d.sync += place.eq(self.first)
        return m
