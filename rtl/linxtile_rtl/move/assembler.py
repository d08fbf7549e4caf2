"""Puts pieces of rows together to whole tile lines."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from linxtile.config import CoreConfig

from ..layouts import fractal_layouts, line_write_layout
from .axi_reader import read_piece_layout
from .cells import CellPlace
from .plan import PATTERN_BYTES, GapLines, background, image_bytes, plan_layout

__all__ = ["LineAssembler", "rotate_bytes", "tile_line_layout"]


def tile_line_layout(config: CoreConfig) -> data.StructLayout:
    """A finished line; ``closes`` marks the last one of its sender for this tile, ``absent`` a mark without a line."""
    return data.StructLayout({"write": line_write_layout(config), "closes": 1, "absent": 1})


def rotate_bytes(m: Module, value: Value, count: Value, byte_bits: int = 8) -> Value:
    """Return ``value`` rotated towards its high end by ``count`` bytes, or units of ``byte_bits``."""
    for bit in range(len(count)):
        turned = Signal(len(value), name=f"rotated_{bit}")
        m.d.comb += turned.eq(Mux(count[bit], value.rotate_left(byte_bits << bit), value))
        value = turned
    return value


class LineAssembler(wiring.Component):
    """Move pieces from their lanes to their place in the tile, on a background of padding.

    A piece touches one line or two. A line leaves in the cycle of the piece that completes it; what else the piece
    completes, a second line or the line of padding after its row, follows in the next cycles. A piece a cycle unless more
    lines than pieces come out. Into NZ and ZN order the walk is the same; only the lines' numbers differ.

    Members
    -------
    plan : In(stream of plan_layout(config))
        Destination of the next pieces.
    pieces : In(stream of read_piece_layout(config))
        Valid bytes row by row; ``last`` ends the tile.
    lines : Out(stream of tile_line_layout(config))
        Every line that holds a valid byte, and gaps that hold ``SOME`` lines; once, row by row.
    """

    plan: stream.Interface
    pieces: stream.Interface
    lines: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "plan": In(stream.Signature(plan_layout(config))),
            "pieces": In(stream.Signature(read_piece_layout(config))),
            "lines": Out(stream.Signature(tile_line_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Follow the offset in the tile; decide which of the two lines are complete."""
        m = Module()
        config = self._config
        bits = exact_log2(config.vector_bytes)
        plan = Signal(plan_layout(config))
        loaded = Signal()
        offset = Signal.like(plan.tile_bytes)
        next_row = Signal(len(offset) + 1)
        piece = self.pieces.p.piece

        place = offset[:bits]
        line = offset[bits:]
        end = Signal(bits_for(2 * config.vector_bytes))
        spans = Signal()
        ends_run = Signal()
        first_done = Signal()
        m.d.comb += [
            end.eq(place + piece.count),
            spans.eq(end > config.vector_bytes),
            # No more valid bytes follow in the line that holds the last byte of this row.
            ends_run.eq(piece.row_end & (piece.last | (next_row[bits:] != line + spans))),
            first_done.eq((end >= config.vector_bytes) | ends_run),
        ]

        # Bytes of the line that the next piece goes on with, and a whole line that only waits to leave.
        part = Signal(config.vector_bytes * 8)
        has_part = Signal()
        kept = Signal(tile_line_layout(config))
        whole = Signal()
        first = Signal(tile_line_layout(config))
        second = Signal(tile_line_layout(config))
        under = Signal(2 * config.vector_bytes * 8)
        known, image = image_bytes(m, self.plan.ready, self.plan.p.image_pitch, self.plan.p.tile_bytes)
        fresh = background(m, plan, image, line, config.vector_bytes, "first_background")
        beyond = background(m, plan, image, line + 1, config.vector_bytes, "second_background")
        m.d.comb += under.eq(Cat(Mux(has_part, part, fresh), beyond))
        low, high = self._merge(m, under, place, end, plan.odd_nibble)
        taken = Signal()
        here, after = self._places(m, plan, line, taken & (end >= config.vector_bytes), taken & piece.row_end)
        for which, number, content, closes in (
            (first, here, low, piece.last & ~spans),
            (second, after, high, piece.last),
        ):
            m.d.comb += [
                which.write.tag.eq(plan.tag),
                which.write.line.eq(plan.tile_line + number),
                which.write.data.eq(content),
                which.closes.eq(closes),
                which.absent.eq(0),
            ]

        # The line between two rows, if it is this unit's: it follows the last line of the first row.
        gap_follows = Signal()
        m.d.comb += gap_follows.eq(
            (plan.gap_lines == GapLines.SOME) & piece.row_end & ~piece.last & (next_row[bits:] == line + spans + 2)
        )
        gap_waits = Signal()
        gap = Signal(tile_line_layout(config))
        m.d.comb += [
            gap.write.tag.eq(plan.tag),
            gap.write.line.eq(Mux(whole, kept.write.line, plan.tile_line + line) + 1),
            gap.write.data.eq(plan.pad_pattern.replicate(config.vector_bytes // PATTERN_BYTES)),
            gap.closes.eq(0),
            gap.absent.eq(0),
        ]

        present = self.pieces.valid & loaded & (known | (line + 1 < plan.tile_bytes[bits + 1 :]))
        m.d.comb += [
            self.lines.valid.eq(whole | (present & first_done)),
            self.lines.payload.eq(Mux(whole, kept, first)),
            # While a whole line leaves, the piece may fill the place that it leaves, but not a second one.
            taken.eq(
                present
                & Mux(whole, self.lines.ready & ~(spans & ends_run) & ~gap_waits, self.lines.ready | ~first_done)
            ),
            self.pieces.ready.eq(taken),
        ]
        with m.If(whole & self.lines.ready):
            m.d.sync += [kept.eq(gap), whole.eq(gap_waits), gap_waits.eq(0)]
        with m.If(taken):
            m.d.sync += [part.eq(Mux(spans, high, low)), has_part.eq(~first_done | (spans & ~ends_run))]
            with m.If(whole & first_done):
                m.d.sync += [kept.eq(first), whole.eq(1), gap_waits.eq(gap_follows)]
            with m.Elif(~whole & spans & ends_run):
                m.d.sync += [kept.eq(second), whole.eq(1), gap_waits.eq(gap_follows)]
            with m.Elif(~whole & gap_follows):
                m.d.sync += [kept.eq(gap), whole.eq(1)]
            m.d.sync += offset.eq(offset + piece.count)
            with m.If(piece.row_end):
                m.d.sync += [offset.eq(next_row), next_row.eq(next_row + plan.pitch_bytes)]

        m.d.comb += self.plan.ready.eq(~loaded | (taken & piece.last))
        with m.If(self.plan.ready):
            m.d.sync += [
                loaded.eq(self.plan.valid),
                plan.eq(self.plan.payload),
                offset.eq(0),
                next_row.eq(self.plan.p.pitch_bytes),
            ]
        return m

    def _places(
        self, m: Module, plan: data.View, line: Value, next_line: Value, next_row: Value
    ) -> tuple[Value, Value]:
        """Return the numbers in the tile of ``line``, which counts row by row, and of the line after it."""
        if not fractal_layouts(self._config):
            return line, line + 1
        m.submodules.cells = cells = CellPlace(config=self._config)
        m.d.comb += [
            cells.start.eq(self.plan.ready),
            cells.row_cells.eq(plan.row_cells),
            cells.cell_step.eq(plan.cell_step),
            cells.line.eq(line),
            cells.next_line.eq(next_line),
            cells.next_row.eq(next_row),
        ]
        return Mux(plan.by_cells, cells.here, line), Mux(plan.by_cells, cells.after, line + 1)

    def _merge(self, m: Module, under: Value, place: Value, end: Value, odd_nibble: Value) -> tuple[Value, Value]:
        """Return two lines with the piece's bytes laid over them; the upper half of an odd nibble's byte stays padding."""
        vector_bytes = self._config.vector_bytes
        piece = self.pieces.p.piece
        turned = Signal(vector_bytes * 8)
        merged = Signal(2 * vector_bytes * 8)
        m.d.comb += [
            turned.eq(rotate_bytes(m, self.pieces.p.data, (place - piece.lane)[: len(place)])),
            merged.eq(under),
        ]
        for byte in range(2 * vector_bytes):
            inside = (place <= byte) & (end > byte) if byte < vector_bytes else end > byte
            half = odd_nibble & piece.row_end & (end == byte + 1)
            new, old = turned.word_select(byte % vector_bytes, 8), merged.word_select(byte, 8)
            with m.If(inside):
                m.d.comb += old[:4].eq(new[:4])
                with m.If(~half):
                    m.d.comb += old[4:].eq(new[4:])
        return merged[: vector_bytes * 8], merged[vector_bytes * 8 :]
