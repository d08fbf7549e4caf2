"""Row reductions: windows to the tree of lanes, their values to the combiner, row results to lines."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import line_bits
from .combiner import Combiner
from .fetch import line_count_bits
from .gather import ResultGather
from .lanes import MAX_SHIFT, merge_request_layout, tree_levels
from .plan import context_layout
from .slot import Slot
from .window import WindowReader, window_layout

__all__ = ["Reduction"]


class Reduction(wiring.Component):
    """Runs one row reduction at a time on the lanes; fixed delays between its parts, nothing of another block among them.

    Members
    -------
    enable : In(1)
        The pipeline may go on.
    begin : In(1)
        Start the reduction of ``context``, when none is ``active``; the context stays until ``finished``.
    context : In(context_layout(config))
        The block.
    occupied : In(1)
        The slots show a line of the block before: no line can be handed over.
    active : Out(1)
        The slots are a tree.
    finished : Out(1)
        The last line is being handed over; ``active`` ends.
    lines : In(stream of lines)
        The source tile.
    window, window_valid : Out(window_layout(config)), Out(1)
        Line for the tree.
    tree_enable : Out(1)
        Lets the slots of the tree go on.
    root, merged : In(64)
        Results of the tree and of slot 0.
    merge : Out(merge_request_layout())
        Request for slot 0.
    line, line_data, line_valid, line_last : Out
        As in ``ResultGather``.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "enable": In(1),
            "begin": In(1),
            "occupied": In(1),
            "context": In(context_layout(config)),
            "active": Out(1),
            "finished": Out(1),
            "lines": In(stream.Signature(8 * config.vector_bytes)),
            "window": Out(window_layout(config)),
            "window_valid": Out(1),
            "tree_enable": Out(1),
            "root": In(64),
            "merged": In(64),
            "merge": Out(merge_request_layout()),
            "line": Out(line_bits(config)),
            "line_data": Out(8 * config.vector_bytes),
            "line_valid": Out(1),
            "line_last": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Follow the windows through the tree with one bit a stage; a value that the combiner refuses stops the tree."""
        m = Module()
        config = self._config
        line_shift = exact_log2(config.vector_bytes)
        m.submodules.reader = reader = WindowReader(config=config)
        m.submodules.combiner = combiner = Combiner(config=config)
        m.submodules.gather = gather = ResultGather(config=config)
        context = self.context
        start = Signal()

        last_byte = context.valid_bytes - context.pitch_bytes + context.row_bytes - 1
        m.d.comb += [
            start.eq(self.begin & ~self.active),
            reader.command.valid.eq(start),
            reader.command.p.rows.eq(context.valid_rows),
            reader.command.p.row_bytes.eq(context.row_bytes),
            reader.command.p.pitch_bytes.eq(context.pitch_bytes),
            reader.command.p.lines.eq((last_byte >> line_shift)[: line_count_bits(config)] + 1),
            reader.lines.valid.eq(self.lines.valid & self.active),
            reader.lines.payload.eq(self.lines.payload),
            self.lines.ready.eq(reader.lines.ready & self.active),
        ]

        values_valid = self._follow_tree(m, reader, line_shift)
        m.d.comb += [
            self.tree_enable.eq(self.enable & (~values_valid | combiner.window_ready)),
            self.window.eq(reader.windows.payload),
            self.window_valid.eq(reader.windows.valid & self.active),
            reader.windows.ready.eq(self.tree_enable & self.active),
            combiner.enable.eq(self.enable),
            combiner.last_index.eq((context.row_bytes - 1) >> line_shift),
            combiner.restart.eq(start),
            combiner.window_valid.eq(values_valid),
            combiner.merged.eq(self.merged),
            self.merge.eq(combiner.merge),
            gather.enable.eq(self.enable & ~self.occupied),
            gather.start.eq(start),
            gather.context.eq(context),
            gather.value.eq(self.merged),
            gather.value_valid.eq(combiner.row_valid),
            self.line.eq(gather.line),
            self.line_data.eq(gather.line_data),
            self.line_valid.eq(gather.line_valid & self.active & ~self.occupied),
            self.line_last.eq(gather.line_last),
            self.finished.eq(self.line_valid & self.line_last & self.enable),
        ]
        # An element as wide as the line is the value of its window.
        if line_shift == MAX_SHIFT:
            m.d.comb += combiner.window.eq(Mux(context.shift == MAX_SHIFT, reader.windows.p.data, self.root))
        else:
            m.d.comb += combiner.window.eq(self.root)
        with m.If(start):
            m.d.sync += self.active.eq(1)
        with m.If(self.finished):
            m.d.sync += self.active.eq(0)
        return m

    def _follow_tree(self, m: Module, reader: WindowReader, line_shift: int) -> Signal:
        """Return whether the tree shows the value of a window, after the delay of its levels."""
        inside = Signal(line_shift * Slot.LATENCY)
        with m.If(self.tree_enable):
            m.d.sync += inside.eq(Cat(self.window_valid, inside[:-1]))
        delays = [Slot.LATENCY * tree_levels(1 << line_shift, shift) for shift in range(MAX_SHIFT + 1)]
        shown = Array(inside[delay - 1] if delay else self.window_valid for delay in delays)
        # Behind the tap of its own type a window travels on: it must not show at the tap of the next block's type.
        with m.If(~self.active):
            m.d.sync += inside.eq(0)
        values_valid = Signal()
        m.d.comb += values_valid.eq(shown[self.context.shift] & self.active)
        return values_valid
