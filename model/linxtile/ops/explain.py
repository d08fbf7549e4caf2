"""Explaining one element of a call."""

from collections.abc import Sequence

from linxtile import formats
from linxtile.explanation import Explanation, explain_codes
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
        An operation that computes on single elements.
    inputs : sequence of Tile or scalar
        Operands in the order of the call.
    element : (int, int)
        Row and column in the valid area.
    to, rounding, saturate, mode
        As in TCVT and TCMP.
    """
    if not inputs:
        raise ValueError(f"{name}: inputs must hold at least one tile, not none")
    first = require_tile(name, "input 0", inputs[0])
    row, column = _element(name, element, first)
    codes = []
    for place, value in enumerate(inputs):
        if place and not (isinstance(value, Tile) and value.shape != (1, 1)):
            codes.append(scalar_code(name, value, first.data_type))
            continue
        tile = require_tile(name, f"input {place}", value)
        vector_axis = _VECTORS.get(operation(name).shape) if place else None
        at = {None: (row, column), 0: (row, 0), 1: (0, column)}[vector_axis]
        if tile.data_type is not first.data_type or at[0] >= tile.shape[0] or at[1] >= tile.shape[1]:
            raise ValueError(f"{name}: input {place} must be {first.data_type.name} with element {at}, not {tile!r}")
        codes.append(int(tile.codes[at]))
    target = None if to is None else formats.get(to)
    return explain_codes(name, codes, first.data_type, to=target, rounding=rounding, saturate=saturate, mode=mode)


def _element(name: str, element: object, first: Tile) -> tuple[int, int]:
    if not isinstance(element, tuple) or len(element) != 2 or not all(isinstance(index, int) for index in element):
        raise TypeError(f"{name}: element must be a tuple of row and column, not {element!r}")
    row, column = element
    if not (0 <= row < first.valid_shape[0] and 0 <= column < first.valid_shape[1]):
        raise ValueError(f"{name}: element must lie in the valid area {first.valid_shape}, not {element!r}")
    return row, column
