"""Reductions of rows and columns. LinxISA v0.56, TEPL block, mode 2.

A row reduction gives a tile of one column with an element for each valid row, a column reduction one row with an element
for each valid column. Elements are combined in the adjacent pairwise tree over the index, ``((e0+e1)+(e2+e3))+e4``, each
node rounded to the type; NaN elements of a maximum or minimum lose against numbers.
"""

from linxtile.numerics import arithmetic, left_fold
from linxtile.operations.kernels import KERNELS
from linxtile.ops.arguments import require_flags, require_tile, require_type
from linxtile.ops.blocks import Call, image_bytes, result, stored
from linxtile.ops.flags import Flags
from linxtile.tile import Tile

TREE = "tree"
LEFT_FOLD = "left_fold"


def _reduce(name: str, tile: Tile, order: str, flags: Flags | None, *, by_row: bool) -> Tile:
    """Run a reduction; the left fold is no operation of the ISA, so it runs beside the machine's code."""
    require_tile(name, "operand 0", tile)
    row = require_type(name, tile.data_type)
    shape = (tile.valid_shape[0], 1) if by_row else (1, tile.valid_shape[1])
    collector = require_flags(name, flags)
    if order == LEFT_FOLD:
        return _fold(name, tile, shape, collector, by_row=by_row)
    if order != TREE:
        raise ValueError(f"{name}: order must be {TREE!r} or {LEFT_FOLD!r}, not {order!r}")
    dimensions = (tile.valid_shape[1], tile.valid_shape[0], tile.shape[1])
    call = Call(name, row, dimensions, (image_bytes(shape, row),), flags=collector)
    return result(call.run([stored(tile)]), 0, row, shape, shape)


def _fold(name: str, tile: Tile, shape: tuple[int, int], flags: Flags | None, *, by_row: bool) -> Tile:
    """Combine in index order from element 0, for comparison with models that do."""
    engine = arithmetic(tile.data_type, flags is not None)
    leaves, leaf_flags = engine.read(tile.valid.T if by_row else tile.valid)
    totals, node_flags = left_fold(leaves, getattr(engine, KERNELS[name]))
    if flags is not None:
        flags.raised |= leaf_flags | node_flags
    return Tile(totals.reshape(shape), tile.data_type)


def TROWSUM(first: Tile, *, order: str = TREE, flags: Flags | None = None) -> Tile:
    """Sum of each row."""
    return _reduce("TROWSUM", first, order, flags, by_row=True)


def TROWMAX(first: Tile, *, order: str = TREE, flags: Flags | None = None) -> Tile:
    """Largest element of each row."""
    return _reduce("TROWMAX", first, order, flags, by_row=True)


def TROWMIN(first: Tile, *, order: str = TREE, flags: Flags | None = None) -> Tile:
    """Smallest element of each row."""
    return _reduce("TROWMIN", first, order, flags, by_row=True)


def TROWPROD(first: Tile, *, order: str = TREE, flags: Flags | None = None) -> Tile:
    """Product of each row."""
    return _reduce("TROWPROD", first, order, flags, by_row=True)


def TCOLSUM(first: Tile, *, order: str = TREE, flags: Flags | None = None) -> Tile:
    """Sum of each column."""
    return _reduce("TCOLSUM", first, order, flags, by_row=False)


def TCOLMAX(first: Tile, *, order: str = TREE, flags: Flags | None = None) -> Tile:
    """Largest element of each column."""
    return _reduce("TCOLMAX", first, order, flags, by_row=False)


def TCOLMIN(first: Tile, *, order: str = TREE, flags: Flags | None = None) -> Tile:
    """Smallest element of each column."""
    return _reduce("TCOLMIN", first, order, flags, by_row=False)


def TCOLPROD(first: Tile, *, order: str = TREE, flags: Flags | None = None) -> Tile:
    """Product of each column."""
    return _reduce("TCOLPROD", first, order, flags, by_row=False)
