"""Operations between a matrix and a vector with one element a row or one a column."""

from collections.abc import Sequence
from enum import Enum

import numpy as np

from linxtile.accumulator import Accumulator
from linxtile.arrays import Codes
from linxtile.isa.block import Block
from linxtile.numerics import arithmetic
from linxtile.operations.base import Context, Outcome, check_shapes, element_type
from linxtile.operations.image import read_matrix, read_vector, write_matrix, write_vector
from linxtile.operations.kernels import KERNELS, kernel
from linxtile.stored_tile import StoredTile


class Along(Enum):
    """What a vector has one element of."""

    ROWS = "one element a valid row"
    COLUMNS = "one element a valid column"

    def count(self, block: Block) -> int:
        """Return the elements of the vector."""
        return block.valid_rows if self is Along.ROWS else block.valid_columns

    def bits(self, block: Block) -> int:
        """Return the bits of the vector."""
        return self.count(block) * element_type(block).storage_bits

    def read(self, tile: StoredTile, block: Block) -> Codes:
        """Return the vector, shaped so that it broadcasts over the valid area."""
        vector = read_vector(tile, self.count(block), element_type(block))
        return vector[:, np.newaxis] if self is Along.ROWS else vector[np.newaxis, :]


class Reduce:
    """``dst[i] = src[i,0] op src[i,1] op ...`` over the valid elements, in the order of the adjacent pairwise tree."""

    def __init__(self, along: Along):
        self._along = along

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """A matrix in, a vector out."""
        matrix = (sources[0].size, element_type(block).storage_bits)
        check_shapes(block, [matrix], [(block.destinations[0].size_bytes, self._along.bits(block))])

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Reduce each row or column, pad after the last result."""
        data_type = element_type(block)
        leaves = read_matrix(sources[0], block)
        # Lanes are columns of the array; a transposed view serves, for the levels are computed in the order of memory.
        lanes = leaves.T if self._along is Along.ROWS else leaves
        engine = arithmetic(data_type, context.track_flags)
        # Every leaf is read by a node, unless it is the only one.
        roots, flags = engine.reduce(KERNELS[block.operation.name], lanes) if len(lanes) > 1 else engine.read(lanes[0])
        data = write_vector(block.destinations[0].size_bytes, roots, data_type, block.pad)
        return Outcome([data], flags)


class Expand:
    """``dst[r,c] = vector[r]`` or ``vector[c]``, a raw copy."""

    def __init__(self, along: Along):
        self._along = along

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """A vector in, a matrix out."""
        matrix = (block.destinations[0].size_bytes, element_type(block).storage_bits)
        check_shapes(block, [matrix], [(sources[0].size, self._along.bits(block))])

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Repeat each element along its row or column, pad the rest."""
        return Outcome([write_matrix(block.destinations[0].size_bytes, block, self._along.read(sources[0], block))])


class ExpandOp:
    """``dst[r,c] = src0[r,c] op vector[r]`` or ``vector[c]``."""

    def __init__(self, along: Along):
        self._along = along

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """A matrix and a vector in, a matrix out."""
        element_bits = element_type(block).storage_bits
        matrices = [(sources[0].size, element_bits), (block.destinations[0].size_bytes, element_bits)]
        check_shapes(block, matrices, [(sources[1].size, self._along.bits(block))])

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Apply the kernel to the valid area, pad the rest."""
        operands = read_matrix(sources[0], block), self._along.read(sources[1], block)
        values, flags = kernel(block.operation.name, element_type(block), context.track_flags)(*operands)
        return Outcome([write_matrix(block.destinations[0].size_bytes, block, values)], flags)
