"""Puts words of rows together to tile lines that lie across the rows."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES
from .axi_reader import read_step_layout
from .joiner import tile_line_layout
from .plan import PATTERN_BYTES, plan_layout
from .strips import square_bits
from .transposer import Transposer

__all__ = ["LineTurner"]


class LineTurner(wiring.Component):
    """Turn squares of elements around, and lay their columns on padding: each is a line of a cell.

    A step a cycle and a line a cycle at the same time; the first line of a square two cycles after its last word.

    Members
    -------
    plan : In(stream of plan_layout(config))
        Destination of the next lines.
    steps : In(stream of read_step_layout(config))
        Words of the tile, square by square; ``last`` ends it.
    lines : Out(stream of tile_line_layout(config))
        Every line that holds a valid byte, once; strip by strip, in a strip column by column.
    """

    plan: stream.Interface
    steps: stream.Interface
    lines: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "plan": In(stream.Signature(plan_layout(config))),
            "steps": In(stream.Signature(read_step_layout(config))),
            "lines": Out(stream.Signature(tile_line_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Align the words, turn them, count the lines that come out."""
        m = Module()
        m.submodules.transposer = transposer = Transposer(config=self._config)
        step = self.steps.p.step
        words = transposer.words
        m.d.comb += [
            words.valid.eq(self.steps.valid & step.word),
            words.p.row.eq(step.index),
            words.p.word.eq(0),
            words.p.data.eq(self._word(m)),
            words.p.last.eq(step.square_end),
            words.p.width.eq(step.width),
            words.p.first_row.eq(0),
            words.p.last_row.eq(step.last_column),
            words.p.last_word.eq(0),
            self.steps.ready.eq(words.ready | ~step.word),
        ]
        self._number_lines(m, transposer.turned)
        return m

    def _word(self, m: Module) -> Value:
        """Return the word of the step at hand: the end of the beat before in its row and the beginning of its own."""
        beat_bits = 8 * self._config.axi_data_bytes
        step, beat = self.steps.p.step, self.steps.p.data
        m.submodules.kept = kept = Memory(shape=beat_bits, depth=1 << square_bits(self._config), init=[])
        into, out = kept.write_port(), kept.read_port(domain="comb")
        m.d.comb += [
            into.addr.eq(step.beat_index),
            into.data.eq(beat),
            into.en.eq(self.steps.valid & self.steps.ready & step.beat),
            out.addr.eq(step.index),
        ]
        word = Signal(beat_bits)
        m.d.comb += word.eq(Mux(step.aligned, beat, Cat(out.data, beat) >> (step.shift << 3)))
        return word

    def _number_lines(self, m: Module, turned: stream.Interface) -> None:
        """Keep the strip, its first line and the line at hand."""
        config = self._config
        vector_bytes = config.vector_bytes
        lines_per_cell = CELL_BYTES // vector_bytes
        plan = Signal(plan_layout(config))
        loaded = Signal()
        # Half bytes of a column in this strip and below.
        left = Signal(len(plan.row_bytes) + 1)
        line, strip_line = Signal.like(plan.tile_line), Signal.like(plan.tile_line)
        line_of_cell = Signal(max(1, exact_log2(lines_per_cell)))
        columns_left = Signal.like(plan.rows)
        taken, last_column, last_strip = Signal(), Signal(), Signal()
        next_strip = Signal.like(strip_line)
        out = self.lines.p
        m.d.comb += [
            last_column.eq(columns_left == 1),
            last_strip.eq(left <= 2 * vector_bytes),
            self.lines.valid.eq(loaded & turned.valid),
            turned.ready.eq(loaded & self.lines.ready),
            taken.eq(self.lines.valid & self.lines.ready),
            out.write.tag.eq(plan.tag),
            out.write.line.eq(line),
            out.kept.eq(vector_bytes),
            out.closes.eq(last_column & last_strip),
            out.absent.eq(0),
            next_strip.eq(strip_line + 1),
            self.plan.ready.eq(~loaded | (taken & out.closes)),
        ]
        for half in range(2 * vector_bytes):
            pattern = plan.pad_pattern.word_select(half % (2 * PATTERN_BYTES), 4)
            m.d.comb += out.write.data.word_select(half, 4).eq(
                Mux(left > half, turned.p.data.word_select(half, 4), pattern)
            )
        with m.If(line_of_cell == lines_per_cell - 1):
            m.d.comb += next_strip.eq(strip_line + plan.cell_step * lines_per_cell - (lines_per_cell - 1))
        with m.If(taken):
            m.d.sync += [line.eq(line + lines_per_cell), columns_left.eq(columns_left - 1)]
            with m.If(last_column):
                m.d.sync += [
                    line.eq(next_strip),
                    strip_line.eq(next_strip),
                    line_of_cell.eq(Mux(line_of_cell == lines_per_cell - 1, 0, line_of_cell + 1)),
                    columns_left.eq(plan.rows),
                    left.eq(left - 2 * vector_bytes),
                ]
        with m.If(self.plan.ready):
            m.d.sync += [
                loaded.eq(self.plan.valid),
                plan.eq(self.plan.payload),
                line.eq(self.plan.p.tile_line),
                strip_line.eq(self.plan.p.tile_line),
                line_of_cell.eq(0),
                columns_left.eq(self.plan.p.rows),
                left.eq((self.plan.p.row_bytes << 1) - self.plan.p.odd_nibble),
            ]
