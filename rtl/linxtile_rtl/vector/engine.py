"""The vector engine: everything that computes on tiles."""

from amaranth.hdl import Module, Mux, ResetInserter, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..layouts import done_layout, line_write_layout, vector_layout
from ..tile_ram import line_read_signature
from .pipeline import VectorPipeline
from .slot import Slot

__all__ = ["VectorEngine"]

MAX_OUTSTANDING = 15
"""Lines that one read port may have asked for and not got; more than any tile RAM buffers."""

MAX_COMMANDS = 7
"""Commands between acceptance and report; more than the pipeline holds."""


class VectorEngine(wiring.Component):
    """Runs element-wise, scalar, expand and row reduction blocks, a line a cycle; see docs/vector.md.

    The first line of an element-wise block is written nine cycles after its command when sources come at once.

    Members
    -------
    command : In(stream of vector_layout(config))
        Blocks in order.
    done : Out(stream of done_layout(config))
        One report a block, after its last write was accepted; never a fault.
    reads : Out(line_read_signature(config)).array(3)
        Operand ``a``, operand ``b``, row vector. Answers in request order.
    write : Out(stream of line_write_layout(config))
        Every line of the destination once.
    flush : In(1)
        Drops everything under way, also what the output streams show; held until ``idle``.
    idle : Out(1)
        Nothing is under way, no answer of the tile RAM is missing.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(vector_layout(config))),
            "done": Out(stream.Signature(done_layout(config))),
            "reads": Out(line_read_signature(config)).array(3),
            "write": Out(stream.Signature(line_write_layout(config))),
            "flush": In(1),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Hold the pipeline in reset during a flush and swallow the lines that still come."""
        m = Module()
        pipeline = VectorPipeline(config=self._config)
        m.submodules.pipeline = ResetInserter(self.flush)(pipeline)
        go = ~self.flush

        commands = Signal(range(MAX_COMMANDS + 1))
        accepted, reported = Signal(), Signal()
        m.d.comb += [
            pipeline.command.payload.eq(self.command.payload),
            pipeline.command.valid.eq(self.command.valid & go),
            self.command.ready.eq(pipeline.command.ready & go),
            self.done.payload.eq(pipeline.done.payload),
            self.done.valid.eq(pipeline.done.valid & go),
            pipeline.done.ready.eq(self.done.ready & go),
            self.write.payload.eq(pipeline.write.payload),
            self.write.valid.eq(pipeline.write.valid & go),
            pipeline.write.ready.eq(self.write.ready & go),
            accepted.eq(self.command.valid & self.command.ready),
            reported.eq(self.done.valid & self.done.ready),
        ]
        m.d.sync += commands.eq(Mux(self.flush, 0, commands + accepted - reported))

        outstanding = [self._guard_reads(m, pipeline, port) for port in range(len(self.reads))]
        # The slots have no reset of their own: what is in them has to come out.
        draining = Signal(range(Slot.LATENCY + 2))
        with m.If(~self.flush):
            m.d.sync += draining.eq(Slot.LATENCY + 1)
        with m.Elif(draining != 0):
            m.d.sync += draining.eq(draining - 1)
        nothing_read = ~(outstanding[0].any() | outstanding[1].any() | outstanding[2].any())
        m.d.comb += self.idle.eq(nothing_read & Mux(self.flush, draining == 0, commands == 0))
        return m

    def _guard_reads(self, m: Module, pipeline: VectorPipeline, port: int) -> Signal:
        """Pass a read port through, drain it during a flush; return the lines that it still owes."""
        inner, outer = pipeline.reads[port], self.reads[port]
        outstanding = Signal(range(MAX_OUTSTANDING + 1), name=f"outstanding_{port}")
        room = Signal(name=f"room_{port}")
        m.d.comb += [
            room.eq((outstanding != MAX_OUTSTANDING) & ~self.flush),
            outer.request.payload.eq(inner.request.payload),
            outer.request.valid.eq(inner.request.valid & room),
            inner.request.ready.eq(outer.request.ready & room),
            inner.response.payload.eq(outer.response.payload),
            inner.response.valid.eq(outer.response.valid & ~self.flush),
            outer.response.ready.eq(inner.response.ready | self.flush),
        ]
        asked = outer.request.valid & outer.request.ready
        answered = outer.response.valid & outer.response.ready
        m.d.sync += outstanding.eq(outstanding + asked - answered)
        return outstanding
