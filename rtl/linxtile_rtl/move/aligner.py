"""Turns tile lines into beats for the bus."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from linxtile.config import CoreConfig

from ..axi import write_data_layout
from ..layouts import byte_count_bits
from .assembler import rotate_bytes
from .pieces import piece_layout

__all__ = ["BeatAligner"]


class BeatAligner(wiring.Component):
    """Move the bytes of each piece from their place in the tile to their lanes; strobe exactly these.

    A beat a cycle; one more cycle when a row begins in the middle of a line that no row before it touched and its first
    piece needs two lines. ``start`` puts it at the start of a tile.

    Members
    -------
    start : In(1)
        Forget the tile before.
    pitch_bytes : In
        From row to row in the tile.
    odd_nibble, nibble : In(1), In(4)
        The last byte of each row is written with ``nibble`` in its upper half.
    pieces : In(stream of piece_layout(config))
        What each beat has to hold.
    lines : In(stream of lines)
        Every line with valid bytes, once, in ascending order.
    beats : Out(stream of write_data_layout(config))
        W.
    """

    start: Signal
    pitch_bytes: Signal
    odd_nibble: Signal
    nibble: Signal
    pieces: stream.Interface
    lines: stream.Interface
    beats: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "start": In(1),
            "pitch_bytes": In(byte_count_bits(config)),
            "odd_nibble": In(1),
            "nibble": In(4),
            "pieces": In(stream.Signature(piece_layout(config))),
            "lines": In(stream.Signature(config.vector_bytes * 8)),
            "beats": Out(stream.Signature(write_data_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the last line taken; a piece uses it, the next line, or both."""
        m = Module()
        vector_bytes = self._config.vector_bytes
        bits = exact_log2(vector_bytes)
        piece = self.pieces.p
        offset = Signal(len(self.pitch_bytes) + 1)
        next_row = Signal.like(offset)
        held = Signal(vector_bytes * 8)
        held_line = Signal(len(offset) - bits)
        holds = Signal()

        place = offset[:bits]
        line = offset[bits:]
        spans = Signal()
        here = Signal()
        needs_line = Signal()
        sends = Signal()
        m.d.comb += [
            spans.eq(place + piece.count > vector_bytes),
            here.eq(holds & (held_line == line)),
            needs_line.eq(~here | spans),
            # A piece of two new lines takes the first one without sending anything.
            sends.eq(here | ~spans),
            self.beats.valid.eq(self.pieces.valid & sends & (self.lines.valid | ~needs_line)),
            self.pieces.ready.eq(self.beats.ready & sends & (self.lines.valid | ~needs_line)),
            self.lines.ready.eq(self.pieces.valid & needs_line & (self.beats.ready | ~sends)),
            self.beats.p.last.eq(piece.burst_end),
        ]
        with m.If(self.lines.valid & self.lines.ready):
            m.d.sync += [held.eq(self.lines.payload), held_line.eq(line + here), holds.eq(1)]
        with m.If(self.pieces.valid & self.pieces.ready):
            m.d.sync += offset.eq(offset + piece.count)
            with m.If(piece.row_end):
                m.d.sync += [offset.eq(next_row), next_row.eq(next_row + self.pitch_bytes)]
        with m.If(self.start):
            m.d.sync += [offset.eq(0), next_row.eq(self.pitch_bytes), holds.eq(0)]

        merged = Signal(vector_bytes * 8)
        first = Signal(vector_bytes * 8)
        m.d.comb += [
            first.eq(Mux(here, held, self.lines.payload)),
            merged.eq(Cat(
                # Bytes that are not strobed must hold still, too: the next line is used only when it has to be there.
                Mux(spans & (place > byte), self.lines.payload.word_select(byte, 8), first.word_select(byte, 8))
                for byte in range(vector_bytes)
            )),
        ]  # fmt: skip
        turned = Signal(vector_bytes * 8)
        end = Signal(bits_for(vector_bytes))
        m.d.comb += [
            turned.eq(rotate_bytes(m, merged, (piece.lane - place)[:bits])),
            end.eq(piece.lane + piece.count),
        ]
        for byte in range(vector_bytes):
            content = turned.word_select(byte, 8)
            half = self.odd_nibble & piece.row_end & (end == byte + 1)
            m.d.comb += [
                self.beats.p.data.word_select(byte, 8).eq(Cat(content[:4], Mux(half, self.nibble, content[4:]))),
                self.beats.p.strb[byte].eq((piece.lane <= byte) & (end > byte)),
            ]
        return m
