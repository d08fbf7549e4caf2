"""Explaining one element of a call."""

from collections.abc import Sequence

from linxtile.explanation import Explanation, explain_codes
from linxtile.explanation_tree import explain_reduction
from linxtile.isa.codes import CompareMode, RoundingMode
from linxtile.isa.operations import Shape, operation
from linxtile.isa.types import DataType
from linxtile.ops.arguments import Scalar, require_tile, scalar_code
from linxtile.tile import Tile

__all__ = ["explain"]

_VECTORS = {Shape.ROW_EXPAND_OP: 0, Shape.COLUMN_EXPAND_OP: 1}


def explain(
    name: str,
    inputs: Sequence[Tile | Scalar],
    element: tuple[int, int] = (0, 0),
    *,
    to: str | DataType | None = None,
    rounding: str | RoundingMode = "NONE",
    saturate: bool = False,
    mode: str | CompareMode = "EQ",
) -> Explanation:
    """Explain what an operation does to one element.

    Parameters
    ----------
    name : str
        An operation that computes on single elements, or a reduction.
    inputs : sequence of Tile or scalar
        Operands in the order of the call.
    element : (int, int)
        Row and column in the valid area; of a reduction that of any element that goes into the result.
    to, rounding, saturate, mode
        As in TCVT and TCMP.
    """
    entry = operation(name)
    wanted = entry.max_sources + entry.max_scalars
    if not isinstance(inputs, Sequence):
        raise TypeError(f"{name}: inputs must be a sequence of operands, not {type(inputs).__name__}")
    if len(inputs) != wanted:
        raise ValueError(f"{name}: inputs must be {wanted} operand{'s' * (wanted != 1)}, not {len(inputs)}")
    tiles = [require_tile(name, f"input {place}", value) for place, value in enumerate(inputs[: entry.max_sources])]
    if not tiles:
        raise ValueError(f"operation must be one that computes on single elements, not {name}")
    first, scalars = tiles[0], inputs[entry.max_sources :]
    row, column = _element(name, element, first)
    if entry.shape in (Shape.ROW_REDUCE, Shape.COLUMN_REDUCE):
        leaves = first.valid[row] if entry.shape is Shape.ROW_REDUCE else first.valid[:, column]
        return explain_reduction(name, [int(code) for code in leaves], first.data_type)
    codes = []
    for place, tile in enumerate(tiles):
        at = {None: (row, column), 0: (row, 0), 1: (0, column)}[_VECTORS.get(entry.shape) if place else None]
        if tile.data_type is not first.data_type or at[0] >= tile.shape[0] or at[1] >= tile.shape[1]:
            raise ValueError(f"{name}: input {place} must be {first.data_type.name} with element {at}, not {tile!r}")
        codes.append(int(tile.codes[at]))
    codes += [scalar_code(name, value, first.data_type) for value in scalars]
    return explain_codes(name, codes, first.data_type, to=to, rounding=rounding, saturate=saturate, mode=mode)


def _element(name: str, element: object, first: Tile) -> tuple[int, int]:
    if not isinstance(element, tuple) or len(element) != 2 or not all(isinstance(index, int) for index in element):
        raise TypeError(f"{name}: element must be a tuple of row and column, not {element!r}")
    row, column = element
    if not (0 <= row < first.valid_shape[0] and 0 <= column < first.valid_shape[1]):
        raise ValueError(f"{name}: element must lie in the valid area {first.valid_shape}, not {element!r}")
    return row, column
