"""What every implementation of a block offers, and the checks that they share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from linxtile.accumulator import Accumulator
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
        Bytes of the destination tiles, in header order.
    flags : Flag
        Sticky flags raised by elements of the valid area.
    writes : list of (int, bytes)
        Bytes stored to memory, in order; runs that follow each other without a gap are one.
    element_bits : list of int or None
        Element widths of the destinations where they are not that of the block's type.
    accumulator : Accumulator or None
        What an operation that reads or writes the ACC leaves in it; None releases it.
    """

    outputs: list[Bytes] = field(default_factory=list)
    flags: Flag = NO_FLAG
    writes: list[tuple[int, bytes]] = field(default_factory=list)
    element_bits: list[int] | None = None
    accumulator: Accumulator | None = None


@dataclass(slots=True)
class Context:
    """What a block works on besides its tiles.

    Attributes
    ----------
    accumulator : Accumulator or None
        The ACC, for an operation that reads it.
    track_flags : bool
        Whether status flags are worked out; a machine always does.
    """

    memory: Memory
    accumulator: Accumulator | None = None
    track_flags: bool = True


class Implementation(Protocol):
    """A shape family."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """Apply the bind rules on shapes and sizes, in their order.

        Raises
        ------
        BlockFault
            One of PARM_SPLIT ... PARM_CAPACITY.
        """

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
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


def second_type(block: Block) -> DataType:
    """Return the second type of a block, its default filled in; only for operations that have one."""
    if block.second_type is None:
        raise ValueError(f"{block.operation.name} has no second type")
    return block.second_type


def check_shapes(block: Block, matrices: Sequence[tuple[int, int]], contents: Sequence[tuple[int, int]] = ()) -> None:
    """Check that the valid area lies inside every row-major operand and that all other contents fit.

    LB0 to LB2 are the valid columns, the valid rows and the columns, as in all TEPL blocks and moves.

    Parameters
    ----------
    matrices : sequence of (int, int)
        Size in bytes and element width in bits of each row-major matrix: sources, then destinations.
    contents : sequence of (int, int)
        Size in bytes of a tile that is no matrix (a vector, a mask, a histogram) and bits that it must hold.
    """
    valid_columns, valid_rows, columns = block.lb
    if valid_columns > columns:
        raise BlockFault(Rule.PARM_VALID_COL)
    for size, element_bits in matrices:
        if valid_rows > matrix_rows(size, columns, element_bits):
            raise BlockFault(Rule.PARM_VALID_ROW)
    if columns % 2 and any(element_bits < 8 for _, element_bits in matrices):
        raise BlockFault(Rule.PARM_ALIGN)
    check_contents(contents)


def check_contents(contents: Sequence[tuple[int, int]]) -> None:
    """Check that each tile holds what it must: size in bytes, bits needed."""
    for size, needed_bits in contents:
        if needed_bits > size * 8:
            raise BlockFault(Rule.PARM_CAPACITY)
