"""Packed masks: comparisons that make them and selections that use them.

Element (r, c) of a mask is bit ``k % 8`` of byte ``k // 8`` with ``k = r * Col + c``: padding columns occupy bits, rows are
not aligned to bytes, the least significant bit comes first. LinxISA v0.56, TEPL block, TCMP.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from linxtile.accumulator import Accumulator
from linxtile.arrays import Bytes
from linxtile.isa.block import Block
from linxtile.isa.codes import CompareMode, PadValue
from linxtile.numerics import Arithmetic, arithmetic
from linxtile.operations.base import Context, Outcome, check_shapes, element_type
from linxtile.operations.image import read_matrix, read_scalar, write_matrix
from linxtile.stored_tile import MASK_BITS, StoredTile, matrix_rows

Bits = npt.NDArray[np.bool_]


def read_mask(data: Bytes, rows: int, columns: int, valid_columns: int) -> Bits:
    """Return the bits of the valid area, shape (rows, valid_columns), of a mask with ``columns`` bits a row."""
    bits = np.unpackbits(data, count=rows * columns, bitorder="little")
    return bits.reshape(rows, columns)[:, :valid_columns].view(np.bool_)


def write_mask(size: int, rows: int, columns: int, valid: Bits, pad: PadValue) -> Bytes:
    """Return a mask of ``size`` bytes with ``rows`` x ``columns`` bits: ``valid`` on padding, zero behind them.

    Padding bits are 1 for Max and 0 for every other pad.
    """
    image = np.full((rows, columns), pad is PadValue.MAX)
    image[: valid.shape[0], : valid.shape[1]] = valid
    packed = np.packbits(image, bitorder="little")
    out = np.zeros(size, np.uint8)
    out[: len(packed)] = packed
    return out


def _source_rows(block: Block, source: StoredTile) -> int:
    return matrix_rows(source.size, block.columns, element_type(block).storage_bits)


class Compare:
    """``mask bit(r,c) = src0[r,c] CMode src1[r,c]``; the mask has the geometry of src0."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """Matrices in; the destination holds a bit for each element of the whole first source."""
        element_bits = element_type(block).storage_bits
        bits = _source_rows(block, sources[0]) * block.columns
        check_shapes(
            block, [(source.size, element_bits) for source in sources], [(block.destinations[0].size_bytes, bits)]
        )

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Compare the valid area, pad the rest."""
        first = read_matrix(sources[0], block)
        second = read_scalar(block) if block.scalars else read_matrix(sources[1], block)
        kind: Arithmetic = arithmetic(element_type(block), context.track_flags)
        bits, flags = kind.compare(first, second, CompareMode(block.compare))
        rows = _source_rows(block, sources[0])
        data = write_mask(block.destinations[0].size_bytes, rows, block.columns, bits, block.pad)
        return Outcome([data], flags, element_bits=[MASK_BITS])


class Select:
    """``dst[r,c] = src0[r,c] if mask bit(r,c) else src1[r,c]``, a raw copy; any tile may be the mask."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """A mask and matrices in, a matrix out; the mask holds at least the bits of the valid area."""
        element_bits = element_type(block).storage_bits
        sizes = [source.size for source in sources[1:]] + [block.destinations[0].size_bytes]
        bits = (block.valid_rows - 1) * block.columns + block.valid_columns
        check_shapes(block, [(size, element_bits) for size in sizes], [(sources[0].size, bits)])

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Take each valid element from the first or the second operand, pad the rest."""
        mask = read_mask(sources[0].data, block.valid_rows, block.columns, block.valid_columns)
        first = read_matrix(sources[1], block)
        second = read_scalar(block) if block.scalars else read_matrix(sources[2], block)
        return Outcome([write_matrix(block.destinations[0].size_bytes, block, np.where(mask, first, second))])
