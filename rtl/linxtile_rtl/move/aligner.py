"""Turns tile lines into beats for the bus."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..axi import write_data_layout
from .assembler import rotate_bytes
from .chunks import slot_bits, transposes
from .store_pieces import store_piece_layout

__all__ = ["BeatAligner"]


class BeatAligner(wiring.Component):
    """Move the bytes of each piece from their place in the tile to their lanes; strobe exactly these.

    A beat a cycle; one more cycle when a row begins in the middle of a line that no row before it touched and its first
    piece needs two lines. By blocks, what a chunk leaves of its last line is kept for the chunk of the same row in the next
    block.

    Members
    -------
    nibble : In(4)
        Upper half of the last byte of a piece that is ``half``.
    pieces : In(stream of store_piece_layout(config))
        What each beat has to hold.
    lines : In(stream of lines)
        Every line with valid bytes, once, in the order in which pieces need them.
    beats : Out(stream of write_data_layout(config))
        W.
    """

    nibble: Signal
    pieces: stream.Interface
    lines: stream.Interface
    beats: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "nibble": In(4),
            "pieces": In(stream.Signature(store_piece_layout(config))),
            "lines": In(stream.Signature(config.vector_bytes * 8)),
            "beats": Out(stream.Signature(write_data_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the last line taken; a piece uses it, the next line, or both."""
        m = Module()
        vector_bytes = self._config.vector_bytes
        bits = exact_log2(vector_bytes)
        piece = self.pieces.p
        last_place = Signal(bits)
        last_held = Signal(vector_bytes * 8)
        last_holds = Signal()

        # A chunk begins at its own place, in the line held if it does not begin a new one; a rest that is kept takes its place.
        # ``opened``: the piece has already taken the first of its two lines.
        opened = Signal()
        place = Signal(bits)
        held, here = Signal.like(last_held), Signal()
        end = Signal(bits + 1)
        rest = Signal(self._rest_layout())
        kept = self._keep_rests(m, rest)
        m.d.comb += [
            place.eq(Mux(piece.starts, Mux(piece.kept, kept.place, piece.place), last_place)),
            held.eq(Mux(piece.starts & piece.kept & ~opened, kept.line, last_held)),
            here.eq(opened | Mux(piece.starts, ~piece.begins | (piece.kept & (kept.place != 0)), last_holds)),
            # Of the last byte.
            end.eq(place + (piece.last_lane - piece.lane)[:bits]),
        ]
        spans = Signal()
        needs_line = Signal()
        sends = Signal()
        skips = piece.beyond
        able = sends & (self.lines.valid | ~needs_line)
        m.d.comb += [
            spans.eq(end[bits]),
            needs_line.eq(~here | spans),
            # A piece of two new lines takes the first one without sending anything.
            sends.eq(here | ~spans),
            self.beats.valid.eq(self.pieces.valid & able & ~skips),
            self.pieces.ready.eq((self.beats.ready | skips) & able),
            self.lines.ready.eq(self.pieces.valid & needs_line & (self.beats.ready | skips | ~sends)),
            self.beats.p.last.eq(piece.burst_end),
            rest.place.eq(end + 1),
            rest.line.eq(Mux(needs_line, self.lines.payload, held)),
        ]
        takes_line = self.lines.valid & self.lines.ready
        sent = self.pieces.valid & self.pieces.ready
        with m.If(sent):
            m.d.sync += [last_held.eq(held), last_place.eq(rest.place), last_holds.eq(rest.place.any())]
        with m.If(takes_line):
            m.d.sync += last_held.eq(self.lines.payload)
        with m.If(takes_line | sent):
            m.d.sync += opened.eq(~sent)
        self._turn(m, place, here, spans, held)
        return m

    def _rest_layout(self) -> data.StructLayout:
        """What a chunk leaves: the last line it needed, and the first byte of it that it did not need."""
        return data.StructLayout(
            {"place": exact_log2(self._config.vector_bytes), "line": self._config.vector_bytes * 8}
        )

    def _keep_rests(self, m: Module, rest: data.View) -> data.View:
        """Keep what each chunk leaves; return what the chunk in the slot of this piece has left before."""
        if not transposes(self._config):
            return data.Const(self._rest_layout(), 0)
        piece = self.pieces.p
        m.submodules.rests = rests = Memory(shape=self._rest_layout(), depth=1 << slot_bits(self._config), init=[])
        write, read = rests.write_port(), rests.read_port(domain="comb")
        m.d.comb += [
            write.en.eq(self.pieces.valid & self.pieces.ready & piece.chunk_end),
            write.addr.eq(piece.slot),
            write.data.eq(rest),
            read.addr.eq(piece.slot),
        ]
        return read.data

    def _turn(self, m: Module, place: Value, here: Value, spans: Value, held: Value) -> None:
        """Make the beat of the line held, from ``place`` on, and the next one; of that alone if the line is not ``here``."""
        vector_bytes = self._config.vector_bytes
        bits = exact_log2(vector_bytes)
        piece = self.pieces.p
        merged = Signal(vector_bytes * 8)
        turned = Signal(vector_bytes * 8)
        m.d.comb += [
            merged.eq(Cat(
                # Bytes that are not strobed must hold still, too: the next line is used only when it has to be there.
                Mux(~here | (spans & (place > byte)), self.lines.payload.word_select(byte, 8), held.word_select(byte, 8))
                for byte in range(vector_bytes)
            )),
            turned.eq(rotate_bytes(m, merged, (piece.lane - place)[:bits])),
        ]  # fmt: skip
        for byte in range(vector_bytes):
            content = turned.word_select(byte, 8)
            half = piece.half & (piece.last_lane == byte)
            reached = piece.last_lane >= byte if byte else Const(1)
            m.d.comb += [
                self.beats.p.data.word_select(byte, 8).eq(Cat(content[:4], Mux(half, self.nibble, content[4:]))),
                self.beats.p.strb[byte].eq((piece.lane <= byte) & reached),
            ]
