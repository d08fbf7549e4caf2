"""Puts pieces of rows together to whole tile lines."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import fractal_layouts
from .axi_reader import read_piece_layout
from .cells import CellPlace
from .images import image_layout
from .joiner import tile_line_layout
from .plan import CELL_BITS, PATTERN_BYTES, GapLines, in_first_half, plan_layout

__all__ = ["LineAssembler", "rotate_bytes"]


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
    images : In(stream of image_layout(config))
        Of the same tiles.
    pieces : In(stream of read_piece_layout(config))
        Valid bytes row by row; ``last`` ends the tile.
    lines : Out(stream of tile_line_layout(config))
        Every line that holds a valid byte, and gaps that hold ``SOME`` lines; once, row by row.
    """

    plan: stream.Interface
    images: stream.Interface
    pieces: stream.Interface
    lines: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "plan": In(stream.Signature(plan_layout(config))),
            "images": In(stream.Signature(image_layout(config))),
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
        row = Signal.like(plan.pitch_bytes)
        offset = Signal.like(row)
        piece = self.pieces.p.piece

        place, line = offset[:bits], offset[bits:]
        next_row = Signal.like(row)
        end = Signal(bits + 1)
        end_line = Signal.like(line)
        at_end, spans, other_line, ends_run, first_done = Signal(), Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            next_row.eq(row + plan.pitch_bytes),
            # Where the piece ends: ``end`` counts from the beginning of ``line``.
            end.eq(place + piece.count),
            end_line.eq(line + end[bits]),
            at_end.eq(end[:bits] == 0),
            spans.eq(end[bits] & ~at_end),
            # Without gap lines the next row begins in this line or in the next one, with some in the next one or behind it.
            other_line.eq(next_row[bits] != end_line[0]),
            # No more valid bytes follow in the line that holds the last byte of this row.
            ends_run.eq(piece.row_end & (piece.last | (plan.gap_lines != GapLines.NONE) | other_line)),
            first_done.eq(end[bits] | ends_run),
        ]

        # Bytes of the line that the next piece goes on with, and a whole line that only waits to leave.
        part = Signal(config.vector_bytes * 8)
        has_part, whole = Signal(), Signal()
        kept = Signal(tile_line_layout(config))
        # The line between two rows, if it is this unit's, follows the last line of the first row; it waits for that to leave.
        gap_follows, gap_waits = Signal(), Signal()
        m.d.comb += gap_follows.eq(
            (plan.gap_lines == GapLines.SOME) & piece.row_end & ~piece.last & (at_end | ~other_line)
        )

        low, high = self._merge(m, plan, Mux(has_part, part, self._padding(plan)), place, end, ~gap_waits)
        taken = Signal()
        after = Signal.like(line)
        m.d.comb += after.eq(Mux(gap_waits, kept.write.line[: len(line)], line) + 1)
        here, there = self._places(m, plan, line, after, taken & end[bits], taken & piece.row_end)

        # Only the last line with data can reach beyond the image.
        image = self.images.p
        closes, trims = Signal(), Signal()
        out = self.lines.p
        m.d.comb += [
            closes.eq(piece.last & ~gap_waits),
            trims.eq(closes & self.images.valid & ~at_end & (end_line == image.line)),
            out.write.tag.eq(Mux(whole, kept.write.tag, plan.tag)),
            # A tile begins with a line whose number is a multiple of its lines.
            out.write.line.eq(Mux(whole, kept.write.line, plan.tile_line | here)),
            out.write.data.eq(Mux(whole, kept.write.data, low)),
            out.kept.eq(Mux(whole, kept.kept, Mux(trims & ~spans, image.rest, config.vector_bytes))),
            out.closes.eq(Mux(whole, kept.closes, closes & ~spans)),
            out.absent.eq(0),
        ]

        present = Signal()
        keeps = Signal()
        # The image has to be known where the tile ends, and behind its first half.
        early = in_first_half(config, plan.tile_size, after) & ~piece.last
        m.d.comb += [
            present.eq(self.pieces.valid & loaded & (self.images.valid | early)),
            self.lines.valid.eq(whole | (present & first_done)),
            # While a whole line leaves, the piece may fill the place that it leaves, but not a second one.
            taken.eq(
                present
                & Mux(whole, self.lines.ready & ~(spans & ends_run) & ~gap_waits, self.lines.ready | ~first_done)
            ),
            keeps.eq(taken & Mux(whole, first_done, (spans & ends_run) | gap_follows)),
            self.pieces.ready.eq(taken),
        ]
        with m.If(whole & self.lines.ready):
            m.d.sync += [whole.eq(gap_waits), gap_waits.eq(0)]
        with m.If(keeps):
            m.d.sync += [whole.eq(1), gap_waits.eq(gap_follows & (whole | spans))]
        with m.If(keeps | (gap_waits & self.lines.ready)):
            # Either the first line, behind one that leaves; or the second line or a gap, in both of which nothing else is.
            first = whole & ~gap_waits
            m.d.sync += [
                kept.write.tag.eq(plan.tag),
                kept.write.line.eq(plan.tile_line | Mux(first, here, there)),
                kept.write.data.eq(Mux(first, low, high)),
                kept.kept.eq(Mux(trims, image.rest, config.vector_bytes)),
                kept.closes.eq(closes),
            ]
        with m.If(taken):
            m.d.sync += [
                part.eq(Mux(first_done, high, low)),
                has_part.eq(~first_done | (spans & ~ends_run)),
                offset.eq(Mux(piece.row_end, next_row, Cat(end[:bits], end_line))),
            ]
            with m.If(piece.row_end):
                m.d.sync += row.eq(next_row)

        m.d.comb += [self.plan.ready.eq(~loaded | (taken & piece.last)), self.images.ready.eq(taken & piece.last)]
        with m.If(self.plan.ready):
            m.d.sync += [loaded.eq(self.plan.valid), plan.eq(self.plan.payload), offset.eq(0), row.eq(0)]
        return m

    def _padding(self, plan: data.View) -> Value:
        return plan.pad_pattern.replicate(self._config.vector_bytes // PATTERN_BYTES)

    def _places(
        self, m: Module, plan: data.View, line: Value, after: Value, next_line: Value, next_row: Value
    ) -> tuple[Value, Value]:
        """Return the numbers in the tile of ``line``, which counts row by row, and of the line after it."""
        if not fractal_layouts(self._config):
            return line, after
        m.submodules.cells = cells = CellPlace(config=self._config)
        m.d.comb += [
            cells.start.eq(self.plan.ready),
            cells.row_cells.eq(plan.pitch_bytes >> CELL_BITS),
            cells.cell_step.eq(plan.cell_step),
            cells.line.eq(line),
            cells.next_line.eq(next_line),
            cells.next_row.eq(next_row),
        ]
        return Mux(plan.by_cells, cells.here, line), Mux(plan.by_cells, cells.after, after)

    def _merge(
        self, m: Module, plan: data.View, under: Value, place: Value, end: Value, enable: Value
    ) -> tuple[Value, Value]:
        """Return two lines with the piece's bytes laid over ``under`` and padding; into the second one only if ``enable``.

        The upper half of an odd nibble's byte stays padding.
        """
        vector_bytes = self._config.vector_bytes
        bits = len(place)
        piece = self.pieces.p.piece
        turned = Signal(vector_bytes * 8)
        merged = Signal(2 * vector_bytes * 8)
        half = Signal()
        reached = Signal(2 * vector_bytes)
        m.d.comb += [
            turned.eq(rotate_bytes(m, self.pieces.p.data, (place - piece.lane)[:bits])),
            merged.eq(Cat(under, self._padding(plan))),
            half.eq(plan.odd_nibble & piece.row_end),
        ]
        for byte in range(vector_bytes):
            m.d.comb += [
                reached[byte].eq(end[bits] | (end[:bits] > byte)),
                reached[vector_bytes + byte].eq(end[bits] & (end[:bits] > byte)),
            ]
        for byte in range(2 * vector_bytes):
            begun = place <= byte if byte < vector_bytes else enable
            whole = ~half if byte == 2 * vector_bytes - 1 else ~half | reached[byte + 1]
            new, old = turned.word_select(byte % vector_bytes, 8), merged.word_select(byte, 8)
            with m.If(begun & reached[byte]):
                m.d.comb += old[:4].eq(new[:4])
                with m.If(whole):
                    m.d.comb += old[4:].eq(new[4:])
        return merged[: vector_bytes * 8], merged[vector_bytes * 8 :]
