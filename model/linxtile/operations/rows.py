"""Operations between a matrix and a vector with one element a row."""

from collections.abc import Sequence

import numpy as np

from linxtile.isa.block import Block
from linxtile.memory import Memory
from linxtile.numerics import arithmetic, tree_reduce
from linxtile.operations.base import Outcome, Role, check_shapes, element_type
from linxtile.operations.image import read_matrix, read_vector, write_matrix, write_vector
from linxtile.operations.kernels import kernel
from linxtile.stored_tile import StoredTile


def _check(block: Block, sources: Sequence[StoredTile], roles: Sequence[Role]) -> None:
    sizes = [source.size for source in sources] + [block.destinations[0].size_bytes]
    check_shapes(block, list(zip(roles, sizes, strict=True)))


class RowReduce:
    """``dst[r] = src[r,0] op src[r,1] op ...`` over the valid columns, in the order of the adjacent pairwise tree."""

    needs_kernel = True

    def check(self, block: Block, sources: Sequence[StoredTile]) -> None:
        """A matrix in, a vector out."""
        _check(block, sources, (Role.MATRIX, Role.PER_ROW))

    def execute(self, block: Block, sources: Sequence[StoredTile], memory: Memory) -> Outcome:
        """Read the leaves, reduce each row, pad after the last result."""
        leaves, leaf_flags = arithmetic(element_type(block)).read(read_matrix(sources[0], block))
        # Transposed in memory, so that every level works on contiguous runs.
        lanes = np.ascontiguousarray(leaves.T)
        roots, node_flags = tree_reduce(lanes, kernel(block.operation.name, element_type(block)))
        return Outcome([write_vector(block.destinations[0].size_bytes, block, roots)], leaf_flags | node_flags)


class RowExpand:
    """``dst[r,c] = src[r]``, a raw copy."""

    needs_kernel = False

    def check(self, block: Block, sources: Sequence[StoredTile]) -> None:
        """A vector in, a matrix out."""
        _check(block, sources, (Role.PER_ROW, Role.MATRIX))

    def execute(self, block: Block, sources: Sequence[StoredTile], memory: Memory) -> Outcome:
        """Repeat each element along its row, pad the rest."""
        return Outcome([write_matrix(block.destinations[0].size_bytes, block, read_vector(sources[0], block))])


class RowExpandOp:
    """``dst[r,c] = src0[r,c] op src1[r]``."""

    needs_kernel = True

    def check(self, block: Block, sources: Sequence[StoredTile]) -> None:
        """A matrix and a vector in, a matrix out."""
        _check(block, sources, (Role.MATRIX, Role.PER_ROW, Role.MATRIX))

    def execute(self, block: Block, sources: Sequence[StoredTile], memory: Memory) -> Outcome:
        """Apply the kernel to the valid area, pad the rest."""
        operands = read_matrix(sources[0], block), read_vector(sources[1], block)
        values, flags = kernel(block.operation.name, element_type(block))(*operands)
        return Outcome([write_matrix(block.destinations[0].size_bytes, block, values)], flags)
