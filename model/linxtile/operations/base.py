"""What every implementation of a block offers, and the checks that they share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from linxtile.arrays import Bytes
from linxtile.faults import BlockFault
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.block import Block
from linxtile.isa.faults import Rule
from linxtile.isa.types import DataType
from linxtile.memory import Memory
from linxtile.stored_tile import StoredTile, matrix_rows


@dataclass(slots=True)
class Outcome:
    """What a block did, before it commits.

    Attributes
    ----------
    outputs : list of ndarray
        Bytes of the destinations, in header order.
    flags : Flag
        Sticky flags raised by elements of the valid area.
    writes : list of (int, bytes)
        Bytes stored to memory, in order; runs that follow each other without a gap are one.
    element_bits : int or None
        Element width of the destinations where it is not that of the block's type.
    """

    outputs: list[Bytes] = field(default_factory=list)
    flags: Flag = NO_FLAG
    writes: list[tuple[int, bytes]] = field(default_factory=list)
    element_bits: int | None = None


class Implementation(Protocol):
    """A shape family."""

    needs_kernel: bool
    """Whether each operation of the family has a row in `KERNELS`."""

    def check(self, block: Block, sources: Sequence[StoredTile]) -> None:
        """Apply the bind rules on shapes and sizes, in their order.

        Raises
        ------
        BlockFault
            One of PARM_SPLIT ... PARM_CAPACITY.
        """

    def execute(self, block: Block, sources: Sequence[StoredTile], memory: Memory) -> Outcome:
        """Do the work; memory changes only when nothing can fail any more.

        Raises
        ------
        BlockFault
            MEM_READ or MEM_WRITE.
        """


def element_type(block: Block) -> DataType:
    """Return the type of a block's elements; only for operations that have one."""
    if block.data_type is None:
        raise ValueError(f"{block.operation.name} has no element type")
    return block.data_type


class Role(Enum):
    """Shape of an operand."""

    MATRIX = "row-major image of Row x Col elements"
    PER_ROW = "contiguous vector, one element a valid row"


def check_shapes(block: Block, operands: Sequence[tuple[Role, int]]) -> None:
    """Check that the valid area lies inside every operand.

    ``operands`` are roles and sizes in bytes: sources, then destinations.
    """
    element_bits = element_type(block).storage_bits
    if block.valid_columns > block.columns:
        raise BlockFault(Rule.PARM_VALID_COL)
    for role, size in operands:
        if role is Role.MATRIX and block.valid_rows > matrix_rows(size, block.columns, element_bits):
            raise BlockFault(Rule.PARM_VALID_ROW)
    if element_bits < 8 and block.columns % 2:
        raise BlockFault(Rule.PARM_ALIGN)
    for role, size in operands:
        if role is Role.PER_ROW and block.valid_rows * element_bits > size * 8:
            raise BlockFault(Rule.PARM_CAPACITY)
