"""What a command means for the parts of the vector engine."""

from amaranth.hdl import Const, Module, Signal, Value, unsigned
from amaranth.lib import data, enum

from linxtile.config import CoreConfig
from linxtile.isa.operations import OPERATIONS
from linxtile.isa.types import DATA_TYPES, TYPE_CODE_BITS

from ..layouts import byte_count_bits, line_bits, tag_bits
from .control import LANE_PROGRAMS, LaneOperation, LaneProgram, Operand, slot_control_layout

__all__ = ["OperandSource", "context_layout", "decode_plan", "element_shift", "plan_layout"]


class OperandSource(enum.Enum, shape=unsigned(2)):
    """Where an operand of the lanes comes from."""

    NONE = 0
    LINE = 1
    """The line of the operand's own tile."""
    SCALAR = 2
    ROW_VECTOR = 3
    """The element of a row vector that belongs to the row of each byte."""


_SOURCES = {
    Operand.NONE: OperandSource.NONE,
    Operand.FIRST_TILE: OperandSource.LINE,
    Operand.SECOND_TILE: OperandSource.LINE,
    Operand.SCALAR: OperandSource.SCALAR,
    Operand.FIRST_ROW_VECTOR: OperandSource.ROW_VECTOR,
    Operand.SECOND_ROW_VECTOR: OperandSource.ROW_VECTOR,
    Operand.ROW_TREE: OperandSource.LINE,
}


def plan_layout() -> data.StructLayout:
    """How a tile operation runs.

    ``operation`` of the slots; where ``a`` and ``b`` come from; ``reduction``: the slots are the tree over rows;
    ``second_vector``: the row vector is source 1, not source 0.
    """
    return data.StructLayout({
        "operation": LaneOperation,
        "a": OperandSource,
        "b": OperandSource,
        "reduction": 1,
        "second_vector": 1,
    })  # fmt: skip


def context_layout(config: CoreConfig) -> data.StructLayout:
    """What goes with the lines of a block through the engine; members as in ``vector_layout``, ``shift`` log2 of the element bytes."""
    byte_count = byte_count_bits(config)
    return data.StructLayout({
        "tag": tag_bits(config),
        "control": slot_control_layout(),
        "a": OperandSource,
        "b": OperandSource,
        "reduction": 1,
        "shift": 2,
        "scalar": 64,
        "pad_pattern": 64,
        "valid_rows": 16,
        "row_bytes": byte_count,
        "pitch_bytes": byte_count,
        "valid_bytes": byte_count,
        "destination_line": line_bits(config),
        "destination_bytes": byte_count,
    })  # fmt: skip


def _plan(program: LaneProgram) -> dict[str, object]:
    operands = (program.a, program.b)
    return {
        "operation": program.operation,
        "a": _SOURCES[program.a],
        "b": OperandSource.NONE if program.is_reduction else _SOURCES[program.b],
        "reduction": int(program.is_reduction),
        "second_vector": int(Operand.SECOND_ROW_VECTOR in operands),
    }


def decode_plan(m: Module, operation: Value, config: CoreConfig) -> data.View:
    """Return the plan of an operation number, among the operations of ``config``."""
    plan = Signal(plan_layout())
    with m.Switch(operation):
        for row in OPERATIONS:
            if row.name in config.operations and row.name in LANE_PROGRAMS:
                with m.Case(row.number):
                    m.d.comb += plan.eq(plan_layout().const(_plan(LANE_PROGRAMS[row.name])))
        with m.Default():  # the binder lets nothing else through
            m.d.comb += plan.eq(0)
    return plan


def element_shift(m: Module, code: Value) -> Signal:
    """Return log2 of the bytes of an element of type ``code``."""
    shift = Signal(2)
    with m.Switch(code):
        for row in DATA_TYPES:
            if row.storage_bits >= 8:
                with m.Case(Const(row.code, TYPE_CODE_BITS)):
                    m.d.comb += shift.eq((row.storage_bits // 8).bit_length() - 1)
        with m.Default():  # four-bit types have no arithmetic
            m.d.comb += shift.eq(0)
    return shift
