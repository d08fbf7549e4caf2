"""The vector engine's parts put together: commands in, lines out."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import done_layout, line_write_layout, vector_layout
from ..tile_ram import line_read_signature
from .dispatch import Dispatch
from .fetch import line_count_bits
from .lanes import Lanes
from .plan import OperandSource
from .reduction import Reduction
from .row_vector import RowVector
from .writeback import WriteBack

__all__ = ["VectorPipeline"]


class VectorPipeline(wiring.Component):
    """Vector engine without flush; the members are those of :class:`linxtile_rtl.vector.engine.VectorEngine`.

    Blocks follow each other without a gap, except that the block behind a reduction starts when the reduction's last line
    has left. Where one element fills the line, there is no tree between the window and slot 0, and a reduction waits until the
    slots are empty.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(vector_layout(config))),
            "done": Out(stream.Signature(done_layout(config))),
            "reads": Out(line_read_signature(config)).array(3),
            "write": Out(stream.Signature(line_write_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Make the parts and wire the streams between them."""
        m = Module()
        config = self._config
        m.submodules.dispatch = dispatch = Dispatch(config=config)
        m.submodules.row_vector = row_vector = RowVector(config=config)
        m.submodules.lanes = lanes = Lanes(config=config)
        m.submodules.reduction = reduction = Reduction(config=config)
        m.submodules.write_back = write_back = WriteBack(config=config)
        wiring.connect(m, wiring.flipped(self.command), dispatch.command)
        for port in range(3):
            wiring.connect(m, dispatch.requests[port], wiring.flipped(self.reads[port].request))
        wiring.connect(m, dispatch.context, row_vector.command)
        wiring.connect(m, wiring.flipped(self.reads[2].response), row_vector.elements)
        wiring.connect(m, write_back.write, wiring.flipped(self.write))
        wiring.connect(m, write_back.done, wiring.flipped(self.done))

        launch = self._launch(m, row_vector, write_back, lanes)
        self._share_lanes(m, row_vector, lanes, reduction, write_back, launch)
        return m

    def _launch(self, m: Module, row_vector: RowVector, write_back: WriteBack, lanes: Lanes) -> Signal:
        """Send the next destination line into the slots when its operands are there; return when that is.

        Lines beyond the valid rows have no source lines.
        """
        lines = row_vector.lines
        context = lines.p.context
        line_index = Signal(line_count_bits(self._config))
        launch, has_sources, needs_first, needs_second, operands_there = (Signal() for _ in range(5))
        first, second = self.reads[0].response, self.reads[1].response
        m.d.comb += [
            has_sources.eq((line_index << exact_log2(self._config.vector_bytes)) < context.valid_bytes),
            needs_first.eq(has_sources & (context.a == OperandSource.LINE)),
            needs_second.eq(has_sources & (context.b == OperandSource.LINE)),
            operands_there.eq((~needs_first | first.valid) & (~needs_second | second.valid)),
            launch.eq(lines.valid & ~context.reduction & operands_there & write_back.enable),
            first.ready.eq(launch & needs_first),
            second.ready.eq(launch & needs_second),
            lines.ready.eq(launch),
            write_back.pending_valid.eq(launch),
            write_back.pending.valid.eq(lines.p.valid),
            write_back.pending.image.eq(lines.p.image),
            write_back.pending.pad_pattern.eq(context.pad_pattern),
            write_back.pending.shift.eq(context.shift),
            write_back.pending.line.eq(context.destination_line + line_index),
            write_back.pending.tag.eq(context.tag),
            write_back.pending.last.eq(lines.p.last),
        ]
        with m.If(launch):
            m.d.sync += line_index.eq(Mux(lines.p.last, 0, line_index + 1))

        scalar = self._scalar_line(m, context)
        for operand, source, line in (("a", context.a, first.payload), ("b", context.b, second.payload)):
            with m.Switch(source):
                with m.Case(OperandSource.SCALAR):
                    m.d.comb += lanes.request[operand].eq(scalar)
                with m.Case(OperandSource.ROW_VECTOR):
                    m.d.comb += lanes.request[operand].eq(lines.p.vector)
                with m.Default():
                    m.d.comb += lanes.request[operand].eq(line)
        m.d.comb += [
            lanes.request.binary.eq(context.b != OperandSource.NONE),
            lanes.request.present.eq(Mux(launch, lines.p.valid, 0)),
        ]
        return launch

    def _share_lanes(
        self,
        m: Module,
        row_vector: RowVector,
        lanes: Lanes,
        reduction: Reduction,
        write_back: WriteBack,
        launch: Signal,
    ) -> None:
        """Give slots, write-back and the first read port to the reduction while one is active."""
        lines = row_vector.lines
        context = lines.p.context
        whole_line = exact_log2(self._config.vector_bytes)
        m.d.comb += [
            lanes.enable.eq(write_back.enable),
            lanes.tree_enable.eq(reduction.tree_enable),
            lanes.control.eq(context.control),
            lanes.shift.eq(context.shift),
            lanes.result_shift.eq(write_back.shift),
            lanes.tree.eq(reduction.active),
            lanes.merge.eq(reduction.merge),
            reduction.enable.eq(write_back.enable),
            reduction.begin.eq(lines.valid & context.reduction & (write_back.empty | (context.shift != whole_line))),
            reduction.occupied.eq(write_back.showing),
            reduction.context.eq(context),
            reduction.lines.valid.eq(self.reads[0].response.valid),
            reduction.lines.payload.eq(self.reads[0].response.payload),
            reduction.root.eq(lanes.root),
            reduction.merged.eq(lanes.merged),
            write_back.value.eq(lanes.value),
            write_back.flags.eq(lanes.flags),
            write_back.collect.eq(reduction.active),
            write_back.line.eq(reduction.line),
            write_back.line_data.eq(reduction.line_data),
            write_back.line_valid.eq(reduction.line_valid),
            write_back.line_last.eq(reduction.line_last),
            write_back.tag.eq(context.tag),
        ]
        with m.If(reduction.active):
            m.d.comb += [
                lanes.request.a.eq(reduction.window.data),
                lanes.request.present.eq(Mux(reduction.window_valid, reduction.window.present, 0)),
                self.reads[0].response.ready.eq(reduction.lines.ready),
                lines.ready.eq(reduction.finished),
            ]

    def _scalar_line(self, m: Module, context: data.View) -> Value:
        """Return the low bits of the scalar in every element of a line."""
        repeated = Signal(64)
        with m.Switch(context.shift):
            for shift in range(4):
                with m.Case(shift):
                    m.d.comb += repeated.eq(Cat(*[context.scalar[: 8 << shift]] * (8 >> shift)))
        return Cat(*[repeated] * (self._config.vector_bytes // 8))
