"""The tiles of one load or store: parts of a whole matrix, each a tile in its own order.

Memory in row order (ND) cuts the whole into vertical slices, memory in column order (DN) into horizontal ones.
LinxISA v0.56, TMA block, TLOAD.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from linxtile.faults import BlockFault
from linxtile.isa.block import Block
from linxtile.isa.codes import Layout
from linxtile.isa.faults import Rule
from linxtile.operations.base import element_type
from linxtile.operations.layout import TileLayout, is_fractal, tile_layout
from linxtile.stored_tile import matrix_rows


@dataclass(frozen=True, slots=True)
class Part:
    """One tile of a load or store.

    Attributes
    ----------
    layout : TileLayout
        Its own size and order.
    row, column : int
        Place of its first element in the whole.
    valid_rows, valid_columns : int
        Size of its valid area; one of them is 0 in a part that is padding only.
    """

    layout: TileLayout
    row: int
    column: int
    valid_rows: int
    valid_columns: int

    @property
    def area(self) -> tuple[slice, slice]:
        """Place of its valid area in the valid area of the whole."""
        return slice(self.row, self.row + self.valid_rows), slice(self.column, self.column + self.valid_columns)


def memory_is_transposed(block: Block) -> bool:
    """Whether the lines of a load or store in memory are columns (DN)."""
    return _TRANSPOSED[block.layout]


def tile_order(block: Block) -> str:
    """Return the order of the tiles of a load or store: ND, NZ or ZN."""
    return _TILE_ORDERS[block.layout]


_TRANSPOSED = {layout: "DN" in (layout.source_order, layout.destination_order) for layout in Layout}
_TILE_ORDERS = {
    layout: next((order for order in (layout.source_order, layout.destination_order) if is_fractal(order)), "ND")
    for layout in Layout
}


def check_parts(block: Block, sizes: Sequence[int]) -> None:
    """Apply the bind rules of loads and stores to tiles of these sizes, in their order.

    Raises
    ------
    BlockFault
        PARM_SPLIT, PARM_VALID_COL, PARM_VALID_ROW or PARM_ALIGN.
    """
    data_type, count = element_type(block), len(sizes)
    rows = matrix_rows(sum(sizes), block.columns, data_type.storage_bits)
    split = rows if memory_is_transposed(block) else block.columns
    if count > 1 and (any(size != sizes[0] for size in sizes) or split % count):
        raise BlockFault(Rule.PARM_SPLIT)
    if block.valid_columns > block.columns:
        raise BlockFault(Rule.PARM_VALID_COL)
    if block.valid_rows > rows:
        raise BlockFault(Rule.PARM_VALID_ROW)
    layout = _part_layout(block, rows, count)
    if data_type.is_packed and layout.columns % 2 or is_fractal(tile_order(block)) and not layout.is_aligned:
        raise BlockFault(Rule.PARM_ALIGN)


def _part_layout(block: Block, rows: int, count: int) -> TileLayout:
    """Return the layout of each of ``count`` parts of a whole with so many rows."""
    if memory_is_transposed(block):
        return tile_layout(tile_order(block), rows // count, block.columns, element_type(block))
    return tile_layout(tile_order(block), rows, block.columns // count, element_type(block))


def parts(block: Block, sizes: Sequence[int]) -> list[Part]:
    """Return the parts of a load or store, in header order of their tiles."""
    rows = matrix_rows(sum(sizes), block.columns, element_type(block).storage_bits)
    layout = _part_layout(block, rows, len(sizes))
    if len(sizes) == 1:
        return [Part(layout, 0, 0, block.valid_rows, block.valid_columns)]
    result = []
    for place in range(len(sizes)):
        row, column = (place * layout.rows, 0) if memory_is_transposed(block) else (0, place * layout.columns)
        valid_rows = min(max(block.valid_rows - row, 0), layout.rows)
        valid_columns = min(max(block.valid_columns - column, 0), layout.columns)
        result.append(Part(layout, row, column, valid_rows, valid_columns))
    return result
