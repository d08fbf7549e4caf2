"""Fetch: memory beats in, header words out, one word a cycle."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.hdl import unsigned
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from linxtile.config import CoreConfig
from linxtile_rtl.fetch_beats import (
    CHUNK_BYTES,
    LENGTH_BITS,
    PARCEL_BITS,
    PARCEL_BYTES,
    BeatRequester,
    ChunkReader,
    beat_layout,
)
from linxtile_rtl.layouts import WordStatus, word_layout

__all__ = ["WordAligner", "beat_layout", "program_layout"]


def program_layout() -> data.StructLayout:
    """Where a program is: byte ``address`` and ``length_bytes``, both even."""
    return data.StructLayout({"address": 64, "length_bytes": LENGTH_BITS})


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
