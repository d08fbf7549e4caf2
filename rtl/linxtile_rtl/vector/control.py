"""What a slot can be asked to do, and how each tile operation uses it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from amaranth.hdl import unsigned
from amaranth.lib import data, enum

from linxtile.isa.types import TYPE_CODE_BITS

__all__ = ["BINARY", "LANE_PROGRAMS", "LaneOperation", "LaneProgram", "Operand", "slot_control_layout"]


class LaneOperation(enum.Enum, shape=unsigned(4)):
    """Operation of a slot on its operands ``a`` and ``b``."""

    ADD = 0
    SUB = 1
    MAX = 2
    MIN = 3
    AND = 4
    OR = 5
    XOR = 6
    SHL = 7
    SHR = 8
    """Arithmetic for signed types, logical for unsigned ones."""
    NOT = 9
    ABS = 10
    NEG = 11
    RELU = 12
    COPY = 13
    """All bits of ``a``, uninterpreted."""


BINARY = frozenset({
    LaneOperation.ADD, LaneOperation.SUB, LaneOperation.MAX, LaneOperation.MIN, LaneOperation.AND, LaneOperation.OR,
    LaneOperation.XOR, LaneOperation.SHL, LaneOperation.SHR,
})  # fmt: skip
"""Operations that use ``b``; the others ignore it, present or not."""


class Operand(Enum):
    """Where an operand of a slot comes from."""

    NONE = "none"
    FIRST_TILE = "element of source tile 0"
    SECOND_TILE = "element of source tile 1"
    SCALAR = "first scalar input"
    FIRST_ROW_VECTOR = "element r of source tile 0, for row r"
    SECOND_ROW_VECTOR = "element r of source tile 1, for row r"
    ROW_TREE = "neighbours in the tree over a row of source tile 0"


@dataclass(frozen=True)
class LaneProgram:
    """Operation of every slot for one tile operation, and the origin of both operands."""

    operation: LaneOperation
    a: Operand
    b: Operand = Operand.NONE

    @property
    def is_reduction(self) -> bool:
        """Whether the lanes work as the tree over a row."""
        return self.a is Operand.ROW_TREE


def _programs() -> dict[str, LaneProgram]:
    programs: dict[str, LaneProgram] = {}
    for operation in LaneOperation:
        if operation in BINARY:
            programs[f"T{operation.name}"] = LaneProgram(operation, Operand.FIRST_TILE, Operand.SECOND_TILE)
            programs[f"T{operation.name}S"] = LaneProgram(operation, Operand.FIRST_TILE, Operand.SCALAR)
        elif operation is not LaneOperation.COPY:
            programs[f"T{operation.name}"] = LaneProgram(operation, Operand.FIRST_TILE)
    programs["TEXPANDS"] = LaneProgram(LaneOperation.COPY, Operand.SCALAR)
    programs["TROWEXPAND"] = LaneProgram(LaneOperation.COPY, Operand.FIRST_ROW_VECTOR)
    programs["TROWEXPANDSUB"] = LaneProgram(LaneOperation.SUB, Operand.FIRST_TILE, Operand.SECOND_ROW_VECTOR)
    for name, operation in (("SUM", LaneOperation.ADD), ("MAX", LaneOperation.MAX), ("MIN", LaneOperation.MIN)):
        programs[f"TROW{name}"] = LaneProgram(operation, Operand.ROW_TREE, Operand.ROW_TREE)
    return programs


LANE_PROGRAMS: Mapping[str, LaneProgram] = MappingProxyType(_programs())
"""Name of a tile operation to what the slots do for it; exactly the operations that the vector engine runs."""


def slot_control_layout() -> data.StructLayout:
    """Control word of a slot: its operation and the code of the element type."""
    return data.StructLayout({"operation": LaneOperation, "data_type": TYPE_CODE_BITS})
