"""Fetch: memory beats in, header words out, one word a cycle."""

from amaranth import Cat, Module, Mux, ResetInserter, Signal
from amaranth.hdl import unsigned
from amaranth.lib import data, enum, fifo, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from linxtile.config import CoreConfig
from linxtile_rtl.layouts import WordStatus, word_layout

__all__ = ["PARCEL_BITS", "WordAligner", "beat_layout", "program_layout"]

PARCEL_BITS = 16
"""The unit of a program: every word is one parcel, or two when bit 0 of the first is set."""

PARCEL_BYTES = PARCEL_BITS // 8
CHUNK_BYTES = 2 * PARCEL_BYTES
LENGTH_BITS = 32


def program_layout() -> data.StructLayout:
    """Where a program is: byte ``address`` and ``length_bytes``, both even."""
    return data.StructLayout({"address": 64, "length_bytes": LENGTH_BITS})


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
        As in :class:`WordAligner`.
    o : Out(stream of beat_layout(config))
        Beats of the program in order.
    flush : In(1)
        Forget the program; answers that are still to come are dropped before the requester is idle again.
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


class State(enum.Enum, shape=unsigned(2)):
    """What the aligner does."""

    IDLE = 0
    SKIP = 1
    """The program starts in the upper parcel of a chunk: the lower one is dropped."""
    RUN = 2


class WordAligner(wiring.Component):
    """Cuts a program into words.

    Beats are requested ahead, one address each, as far as there is room for the answers. A beat is read in chunks of two
    parcels. A parcel of a chunk that no word has taken yet is kept; together with the next chunk it is enough to give a
    word in every cycle. Memory outside the program is requested only where it shares a beat with it, and decides nothing:
    a word is BUS_ERROR only when the beat of one of its own parcels was refused.

    An empty program gives one ``C.BSTOP``, so that the reader sees an end.

    Parameters
    ----------
    config : CoreConfig
        ``axi_data_bytes`` is the size of a beat; a beat at or above ``2**axi_address_bits`` is never requested, it counts
        as refused.
    beats : int
        Beats requested ahead, a power of two.

    Members
    -------
    start : In(stream of program_layout())
        Taken while idle.
    request : Out(stream of 64)
        Beat addresses, ascending.
    response : In(stream of beat_layout(config))
        Beats in the order of their requests. Always taken at once.
    o : Out(stream of word_layout())
        Words in order, two cycles after the beat that completes them when nothing stalls. ``bits`` above the low half are zero for a short or
        truncated word.
    flush : In(1)
        Give up the program, ``o`` included, and drop what has been requested.
    idle : Out(1)
        No program, and no answer outstanding.
    """

    def __init__(self, config: CoreConfig, *, beats: int = 16):
        if beats < 2 or beats & (beats - 1):
            raise ValueError(f"beats must be a power of two from 2, not {beats!r}")
        self._config = config
        self._beats = beats
        super().__init__({
            "start": In(stream.Signature(program_layout())),
            "request": Out(stream.Signature(64)),
            "response": In(stream.Signature(beat_layout(config))),
            "o": Out(stream.Signature(word_layout())),
            "flush": In(1),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.requester = requester = BeatRequester(self._config, beats=self._beats)
        m.submodules.chunks = chunks = ChunkReader(self._config)

        state = Signal(State)
        address = Signal(64)
        parcels = Signal(LENGTH_BITS)
        """Parcels of the program that no word has taken."""
        kept = Signal(PARCEL_BITS)
        kept_error = Signal()
        has_kept = Signal()
        done = Signal()

        wiring.connect(m, requester.o, chunks.i)
        wiring.connect(m, wiring.flipped(self.request), requester.request)
        wiring.connect(m, requester.response, wiring.flipped(self.response))
        starting = Signal()
        m.d.comb += [
            self.start.ready.eq((state == State.IDLE) & requester.idle & ~self.flush & ~self.o.valid),
            starting.eq(self.start.valid & self.start.ready),
            self.idle.eq((state == State.IDLE) & requester.idle & ~self.o.valid),
            requester.start.eq(starting & self.start.p.length_bytes.any()),
            requester.address.eq(self.start.p.address),
            requester.length_bytes.eq(self.start.p.length_bytes),
            requester.flush.eq(self.flush | done),
            chunks.start.eq(starting),
            chunks.first.eq(self.start.p.address[ceil_log2(CHUNK_BYTES) :]),
        ]

        # A word: its first parcel is the kept one if there is one, its second follows.
        chunk = chunks.o.p
        low, high, low_error, high_error = Signal(PARCEL_BITS), Signal(PARCEL_BITS), Signal(), Signal()
        with m.If(has_kept):
            m.d.comb += [low.eq(kept), low_error.eq(kept_error), high.eq(chunk.low), high_error.eq(chunk.error)]
        with m.Else():
            m.d.comb += [low.eq(chunk.low), low_error.eq(chunk.error), high.eq(chunk.high), high_error.eq(chunk.error)]
        is_long, is_cut, needs_chunk = Signal(), Signal(), Signal()
        m.d.comb += [
            # The length of a word that was not read is unknown, and nobody asks.
            is_long.eq(low[0] & ~low_error),
            is_cut.eq(is_long & (parcels == 1)),
            needs_chunk.eq(~has_kept | (is_long & ~is_cut)),
        ]
        word = Signal(word_layout())
        m.d.comb += [
            word.bits.eq(Cat(low, Mux(is_long & ~is_cut, high, 0))),
            word.is_long.eq(is_long),
            word.address.eq(address),
            word.last.eq(Mux(is_long, parcels <= 2, parcels == 1)),
        ]
        with m.If(low_error | (is_long & ~is_cut & high_error)):
            m.d.comb += word.status.eq(WordStatus.BUS_ERROR)
        with m.Elif(is_cut):
            m.d.comb += word.status.eq(WordStatus.TRUNCATED)

        with m.If(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        with m.Switch(state):
            with m.Case(State.IDLE):
                with m.If(starting):
                    m.d.sync += [
                        address.eq(self.start.p.address),
                        parcels.eq(self.start.p.length_bytes >> 1),
                        has_kept.eq(0),
                        state.eq(Mux(self.start.p.address[1], State.SKIP, State.RUN)),
                    ]
                    with m.If(~self.start.p.length_bytes.any()):
                        # C.BSTOP is the all-zero parcel.
                        m.d.sync += [
                            self.o.valid.eq(1),
                            self.o.p.eq(0),
                            self.o.p.address.eq(self.start.p.address),
                            self.o.p.last.eq(1),
                            state.eq(State.IDLE),
                        ]
            with m.Case(State.SKIP):
                m.d.comb += chunks.o.ready.eq(1)
                with m.If(chunks.o.valid):
                    m.d.sync += [kept.eq(chunk.high), kept_error.eq(chunk.error), has_kept.eq(1), state.eq(State.RUN)]
            with m.Case(State.RUN):
                room = ~self.o.valid | self.o.ready
                m.d.comb += chunks.o.ready.eq(room & needs_chunk)
                with m.If(room & (chunks.o.valid | ~needs_chunk)):
                    m.d.sync += [
                        self.o.valid.eq(1),
                        self.o.p.eq(word),
                        address.eq(address + Mux(is_long, 2 * PARCEL_BYTES, PARCEL_BYTES)),
                        parcels.eq(parcels - Mux(is_long, 2, 1)),
                        has_kept.eq(~has_kept ^ is_long),
                        kept.eq(chunk.high),
                        kept_error.eq(chunk.error),
                    ]
                    with m.If(word.last):
                        m.d.comb += done.eq(1)
                        m.d.sync += state.eq(State.IDLE)
        with m.If(self.flush):
            m.d.sync += [self.o.valid.eq(0), state.eq(State.IDLE)]
        return m
