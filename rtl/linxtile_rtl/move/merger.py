"""Makes the lines of a moved tile from runs, padding and zeros."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import line_write_layout
from .move_plan import write_plan_layout
from .plan import PATTERN_BYTES
from .rotate import rotate_parts
from .runs import run_layout

__all__ = ["LineMerger", "moved_line_layout"]


def moved_line_layout(config: CoreConfig) -> data.StructLayout:
    """A line for the tile RAM; ``closes`` marks the last one of its tile."""
    return data.StructLayout({"write": line_write_layout(config), "closes": 1})


class LineMerger(wiring.Component):
    """Lay runs over a background of padding; lines in order, one a cycle or one run a cycle.

    A line leaves in the cycle of its last run, one without runs takes a cycle.

    Members
    -------
    plan : In(stream of write_plan_layout(config))
        Destinations; the next one is taken together with the last line.
    runs : In(stream of run_layout(config))
        The valid area of each, by ascending place.
    source : In(stream of lines)
        The line of each ``fresh`` run.
    lines : Out(stream of moved_line_layout(config))
        Every line of the destination.
    """

    plan: stream.Interface
    runs: stream.Interface
    source: stream.Interface
    lines: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "plan": In(stream.Signature(write_plan_layout(config))),
            "runs": In(stream.Signature(run_layout(config))),
            "source": In(stream.Signature(config.vector_bytes * 8)),
            "lines": Out(stream.Signature(moved_line_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Decide whether the line under way gets a run, and whether it is complete then."""
        m = Module()
        plan = Signal(write_plan_layout(self._config))
        active = Signal()
        data_left = Signal()
        line = Signal.like(plan.lines)
        run = self.runs.p

        has_run = Signal()
        has_source = Signal()
        merges = Signal()
        emits = Signal()
        is_last = Signal()
        m.d.comb += [
            has_run.eq(data_left & (run.line == line)),
            has_source.eq(~run.fresh | self.source.valid),
            # While data is left, a run says whether the line is one without runs.
            self.lines.valid.eq(active & (~data_left | (self.runs.valid & (~has_run | (run.closes & has_source))))),
            self.lines.p.write.tag.eq(plan.tag),
            self.lines.p.write.line.eq(plan.tile_line + line),
            self.lines.p.closes.eq(is_last),
            emits.eq(self.lines.valid & self.lines.ready),
            merges.eq(active & has_run & self.runs.valid & has_source & (~run.closes | self.lines.ready)),
            is_last.eq(line + 1 == plan.lines),
            self.runs.ready.eq(merges),
            self.source.ready.eq(merges & run.fresh),
            self.plan.ready.eq(~active | (emits & is_last)),
        ]
        m.d.comb += self.lines.p.write.data.eq(self._content(m, plan, line, has_run, merges, emits))
        with m.If(merges & run.last):
            m.d.sync += data_left.eq(0)
        with m.If(emits):
            m.d.sync += line.eq(line + 1)
            with m.If(is_last):
                m.d.sync += active.eq(0)
        with m.If(self.plan.valid & self.plan.ready):
            m.d.sync += [plan.eq(self.plan.payload), active.eq(1), data_left.eq(1), line.eq(0)]
        return m

    def _content(
        self, m: Module, plan: data.View, line: Signal, has_run: Signal, merges: Signal, emits: Signal
    ) -> Signal:
        """Return the line under way, with the run if it gets one; keep it and the source line for the next run."""
        line_bits = self._config.vector_bytes * 8
        run = self.runs.p
        begun = Signal()
        under_way, content = Signal(line_bits), Signal(line_bits)
        kept, source = Signal(line_bits), Signal(line_bits)
        turned = Signal(line_bits)
        padding = self._padding(m, plan, line)
        end = Signal(len(run.count) + 1)
        m.d.comb += [
            source.eq(Mux(run.fresh, self.source.payload, kept)),
            turned.eq(rotate_parts(m, source, run.turn, 4)),
            end.eq(run.place + run.count),
            content.eq(Mux(begun, under_way, padding)),
        ]
        for place in range(2 * self._config.vector_bytes):
            with m.If(has_run & (run.place <= place) & (end > place)):
                m.d.comb += content.word_select(place, 4).eq(turned.word_select(place, 4))
        with m.If(merges):
            m.d.sync += [begun.eq(1), under_way.eq(content), kept.eq(source)]
        with m.If(emits):
            m.d.sync += begun.eq(0)
        return content

    def _padding(self, m: Module, plan: data.View, line: Value) -> Signal:
        """Return the padding of ``line`` (counted in the tile): the pattern in the bytes of the image, zero beyond them."""
        offset_bits = exact_log2(self._config.vector_bytes)
        image_line, image_rest = plan.image[offset_bits:], plan.image[:offset_bits]
        padding_inside = Signal()
        padding_across = Signal()
        padding = Signal(self._config.vector_bytes * 8)
        m.d.comb += [padding_inside.eq(line < image_line), padding_across.eq(line == image_line)]
        for byte in range(self._config.vector_bytes):
            with m.If(padding_inside | (padding_across & (image_rest > byte))):
                m.d.comb += padding.word_select(byte, 8).eq(plan.pad_pattern.word_select(byte % PATTERN_BYTES, 8))
        return padding
