"""Matrix products into the ACC. LinxISA v0.56, CUBE block, TMATMUL and TGEMV."""

from collections.abc import Sequence

from linxtile.accumulator import Accumulator
from linxtile.arrays import Codes
from linxtile.conversion import convert
from linxtile.faults import BlockFault
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.block import Block
from linxtile.isa.faults import Rule
from linxtile.isa.operations import Shape
from linxtile.isa.types import DataType, Kind, data_type
from linxtile.numerics import arithmetic
from linxtile.operations.base import Context, Outcome, check_contents, element_type, second_type
from linxtile.operations.image import elements, read_vector
from linxtile.operations.layout import FRACTAL_ROWS, TileLayout, band_elements
from linxtile.operations.products import accumulate
from linxtile.stored_tile import StoredTile, matrix_rows

ACC_BITS = 32
_RESULT_TYPES = {Kind.FLOAT: "FP32", Kind.SIGNED: "S32", Kind.UNSIGNED: "U32"}


def result_type(element: DataType) -> DataType:
    """Return the type in which elements are multiplied and summed: that of the ACC elements."""
    return data_type(_RESULT_TYPES[element.kind])


def rounded_up(value: int, step: int) -> int:
    """Return the smallest multiple of ``step`` that is not below ``value``."""
    return -(-value // step) * step


def _left_layout(tile: StoredTile, depth: int, element: DataType) -> TileLayout:
    """Return the layout of a left operand: NZ, its rows follow from the tile size."""
    columns = rounded_up(depth, band_elements(element))
    rows = matrix_rows(tile.size, columns, element.storage_bits)
    return TileLayout(rows, columns, band_elements(element))


def _right_layout(tile: StoredTile, depth: int, element: DataType) -> TileLayout:
    """Return the layout of a right operand: ZN, its columns follow from the tile size."""
    rows = rounded_up(depth, band_elements(element))
    columns = matrix_rows(tile.size, rows, element.storage_bits)
    return TileLayout(rows, columns, band_elements(element), True)


class Product:
    """``ACC[i,j] = (0, bias[j] or ACC[i,j]) + sum over k of a[i,k] * b[k,j]``; of TGEMV the left operand is one row."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """Operands in whole fractals that hold M x K and K x N elements; an ACC for M x N."""
        m, n, k = block.lb
        first, second = element_type(block), second_type(block)
        right = _right_layout(sources[1], k, second)
        aligned, large_enough = right.is_aligned, right.columns >= n
        contents = [
            (block.destinations[0].size_bytes, rounded_up(m, FRACTAL_ROWS) * rounded_up(n, FRACTAL_ROWS) * ACC_BITS)
        ]
        if block.operation.shape is Shape.GEMV:
            large_enough &= m == 1
            contents.append((sources[0].size, k * first.storage_bits))
        else:
            left = _left_layout(sources[0], k, first)
            aligned &= left.is_aligned
            large_enough &= left.rows >= m
        if len(sources) > 2:
            contents.append((sources[2].size, n * ACC_BITS))
        if not aligned:
            raise BlockFault(Rule.PARM_ALIGN)
        if not large_enough or accumulator is not None and accumulator.shape != (m, n):
            raise BlockFault(Rule.PARM_CAPACITY)
        check_contents(contents)

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Convert the operands to the result type, accumulate k after k, add the bias last."""
        result, track_flags = result_type(element_type(block)), context.track_flags
        (a, b), flags = _operands(block, sources, track_flags)
        start = None if context.accumulator is None else context.accumulator.codes
        total, raised = accumulate(a, b, start, result, track_flags)
        flags |= raised
        if len(sources) > 2:
            bias = read_vector(sources[2], block.lb[1], result)
            total, raised = arithmetic(result, track_flags).add(total, bias)
            flags |= raised
        return Outcome(flags=flags, accumulator=Accumulator(total))


def _operands(block: Block, sources: Sequence[StoredTile], track_flags: bool) -> tuple[tuple[Codes, Codes], Flag]:
    """Return A (M x K) and B (K x N) in the result type, and the flags of their conversion."""
    m, n, k = block.lb
    first, second = element_type(block), second_type(block)
    if block.operation.shape is Shape.GEMV:
        left = read_vector(sources[0], k, first)[None, :]
    else:
        left = _left_layout(sources[0], k, first).read(elements(sources[0].data, first), m, k)
    right = _right_layout(sources[1], k, second).read(elements(sources[1].data, second), k, n)
    flags = NO_FLAG
    converted = []
    for codes, element in ((left, first), (right, second)):
        values, raised = convert(codes, element, result_type(first), track_flags=track_flags)
        converted.append(values)
        flags |= raised
    return (converted[0], converted[1]), flags
