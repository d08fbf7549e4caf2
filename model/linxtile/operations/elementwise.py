"""Element-wise operations of tiles and scalars, the expansion of a scalar, and conversion."""

from collections.abc import Sequence

from linxtile.accumulator import Accumulator
from linxtile.conversion import convert
from linxtile.isa.block import Block
from linxtile.operations.base import Context, Outcome, check_shapes, element_type, second_type
from linxtile.operations.image import read_matrix, read_scalar, write_matrix
from linxtile.operations.kernels import kernel
from linxtile.stored_tile import StoredTile


def _check(block: Block, sources: Sequence[StoredTile]) -> None:
    element_bits = element_type(block).storage_bits
    sizes = [source.size for source in sources] + [block.destinations[0].size_bytes]
    check_shapes(block, [(size, element_bits) for size in sizes])


class Elementwise:
    """``dst[r,c] = f(src0[r,c], ...)``; a scalar is the second operand, as in ``src0 - scalar + src1``."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """Sources and destination are matrices of one geometry."""
        _check(block, sources)

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Apply the kernel to the valid area, pad the rest."""
        operands = [read_matrix(source, block) for source in sources]
        if block.scalars:
            operands.insert(1, read_scalar(block))
        values, flags = kernel(block.operation.name, element_type(block), context.track_flags)(*operands)
        return Outcome([write_matrix(block.destinations[0].size_bytes, block, values)], flags)


class ScalarExpand:
    """``dst[r,c] = scalar``, a raw copy."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """The destination is a matrix."""
        _check(block, sources)

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Fill the valid area, pad the rest."""
        return Outcome([write_matrix(block.destinations[0].size_bytes, block, read_scalar(block))])


class Convert:
    """``dst[r,c] = Convert(src0[r,c])``; source and destination have the same geometry in elements."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """Two matrices, each with its own element width."""
        check_shapes(
            block,
            [
                (sources[0].size, element_type(block).storage_bits),
                (block.destinations[0].size_bytes, second_type(block).storage_bits),
            ],
        )

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Convert the valid area, pad the rest in the type of the destination."""
        destination = second_type(block)
        values, flags = convert(
            read_matrix(sources[0], block), element_type(block), destination, block.rounding, block.saturate,
            context.track_flags,
        )  # fmt: skip
        data = write_matrix(block.destinations[0].size_bytes, block, values, destination)
        return Outcome([data], flags, element_bits=[destination.storage_bits])
