"""Element-wise operations of tiles and scalars, and the expansion of a scalar."""

from collections.abc import Sequence

from linxtile.isa.block import Block
from linxtile.memory import Memory
from linxtile.operations.base import Outcome, Role, check_shapes, element_type
from linxtile.operations.image import read_matrix, read_scalar, write_matrix
from linxtile.operations.kernels import kernel
from linxtile.stored_tile import StoredTile


def _check(block: Block, sources: Sequence[StoredTile]) -> None:
    sizes = [source.size for source in sources] + [block.destinations[0].size_bytes]
    check_shapes(block, [(Role.MATRIX, size) for size in sizes])


class Elementwise:
    """``dst[r,c] = f(src0[r,c], ...)``; a scalar is the last operand."""

    needs_kernel = True

    def check(self, block: Block, sources: Sequence[StoredTile]) -> None:
        """Sources and destination are matrices of one geometry."""
        _check(block, sources)

    def execute(self, block: Block, sources: Sequence[StoredTile], memory: Memory) -> Outcome:
        """Apply the kernel to the valid area, pad the rest."""
        operands = [read_matrix(source, block) for source in sources]
        if block.scalars:
            operands.append(read_scalar(block))
        values, flags = kernel(block.operation.name, element_type(block))(*operands)
        return Outcome([write_matrix(block.destinations[0].size_bytes, block, values)], flags)


class ScalarExpand:
    """``dst[r,c] = scalar``, a raw copy."""

    needs_kernel = False

    def check(self, block: Block, sources: Sequence[StoredTile]) -> None:
        """The destination is a matrix."""
        _check(block, sources)

    def execute(self, block: Block, sources: Sequence[StoredTile], memory: Memory) -> Outcome:
        """Fill the valid area, pad the rest."""
        return Outcome([write_matrix(block.destinations[0].size_bytes, block, read_scalar(block))])
