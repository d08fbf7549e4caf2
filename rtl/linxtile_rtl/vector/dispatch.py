"""Commands of the vector engine: operand requests and the context of the block."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import line_bits, vector_layout
from .fetch import LineWalk, line_count_bits
from .plan import OperandSource, context_layout, decode_plan, element_shift

__all__ = ["Dispatch"]

WAITING_CONTEXTS = 2
"""Blocks whose operands may be on their way while an older block is still in the pipeline."""


class Dispatch(wiring.Component):
    """Starts the operand requests of a command at once, and hands its context on; both from the next cycle on.

    Members
    -------
    command : In(stream of vector_layout(config))
        Commands; taken when every read port has been asked for the last line of the one before.
    requests : Out(stream of line numbers).array(3)
        Source lines of operand ``a``, of operand ``b``, and of the row vector.
    context : Out(stream of context_layout(config))
        Blocks in order.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(vector_layout(config))),
            "requests": Out(stream.Signature(line_bits(config))).array(3),
            "context": Out(stream.Signature(context_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Decode the operation; count the lines of each operand."""
        m = Module()
        command = self.command.p
        plan = decode_plan(m, command.operation, self._config)
        shift = element_shift(m, command.data_type)
        m.submodules.contexts = contexts = SyncFIFO(width=context_layout(self._config).size, depth=WAITING_CONTEXTS)
        walks = [LineWalk(config=self._config) for _ in self.requests]
        for index, walk in enumerate(walks):
            m.submodules[f"walk_{index}"] = walk
            wiring.connect(m, walk.request, wiring.flipped(self.requests[index]))

        accept = Signal()
        context = Signal(context_layout(self._config))
        shared = set(dict(context_layout(self._config))) & set(dict(vector_layout(self._config)))
        m.d.comb += [
            self.command.ready.eq(
                contexts.w_rdy & walks[0].command.ready & walks[1].command.ready & walks[2].command.ready
            ),
            accept.eq(self.command.valid & self.command.ready),
            *(context[member].eq(command[member]) for member in sorted(shared)),
            context.control.operation.eq(plan.operation),
            context.control.data_type.eq(command.data_type),
            context.a.eq(plan.a),
            context.b.eq(plan.b),
            context.reduction.eq(plan.reduction),
            context.shift.eq(shift),
            contexts.w_en.eq(accept),
            contexts.w_data.eq(context),
            self.context.valid.eq(contexts.r_rdy),
            self.context.payload.eq(contexts.r_data),
            contexts.r_en.eq(self.context.ready),
        ]

        # Rows are read up to the last valid element, so a reduction need not look at the end of its last row.
        matrix_bytes = Mux(
            plan.reduction, command.valid_bytes - command.pitch_bytes + command.row_bytes, command.valid_bytes
        )
        matrix_lines = self._lines(matrix_bytes[: len(command.valid_bytes)])
        vector_lines = self._lines(command.valid_rows << shift)
        uses_vector = (plan.a == OperandSource.ROW_VECTOR) | (plan.b == OperandSource.ROW_VECTOR)
        m.d.comb += [walk.command.valid.eq(accept) for walk in walks]
        m.d.comb += [
            walks[0].command.p.first.eq(command.source_lines[0]),
            walks[0].command.p.count.eq(Mux(plan.a == OperandSource.LINE, matrix_lines, 0)),
            walks[1].command.p.first.eq(command.source_lines[1]),
            walks[1].command.p.count.eq(Mux(plan.b == OperandSource.LINE, matrix_lines, 0)),
            walks[2].command.p.first.eq(Mux(plan.second_vector, command.source_lines[1], command.source_lines[0])),
            walks[2].command.p.count.eq(Mux(uses_vector, vector_lines, 0)),
        ]
        return m

    def _lines(self, byte_count: Value) -> Value:
        """Return the lines that hold ``byte_count`` bytes."""
        line = self._config.vector_bytes
        return ((byte_count + (line - 1)) >> exact_log2(line))[: line_count_bits(self._config)]
