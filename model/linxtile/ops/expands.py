"""Broadcasting a scalar, a vector of one element a row, or one of an element a column. LinxISA v0.56, TEPL block, mode 2.

A row vector operand has one column and at least the valid rows, a column vector one row and at least the valid columns.
"""

from linxtile import formats
from linxtile.isa.types import DataType
from linxtile.ops.arguments import (
    Scalar,
    require_dimension,
    require_flags,
    require_tile,
    require_type,
    scalar_code,
)
from linxtile.ops.blocks import Call, image_bytes, result, stored
from linxtile.ops.elementwise import Pad
from linxtile.ops.flags import Flags
from linxtile.tile import Tile
from linxtile.tile_arguments import checked_shape, pad_value


def TEXPANDS(
    scalar: Scalar,
    data_type: str | DataType,
    shape: tuple[int, int],
    *,
    valid_shape: tuple[int, int] | None = None,
    pad: Pad = "Null",
) -> Tile:
    """Fill the valid area with a scalar."""
    row = require_type("TEXPANDS", formats.get(data_type))
    return _fill("TEXPANDS", row, (), (scalar_code("TEXPANDS", scalar, row),), shape, valid_shape, pad)


def TROWEXPAND(vector: Tile, columns: int, *, valid_columns: int | None = None, pad: Pad = "Null") -> Tile:
    """Repeat element r of the vector along row r; the bits are copied."""
    require_tile("TROWEXPAND", "vector", vector)
    _require_vector("TROWEXPAND", vector, by_row=True)
    width = require_dimension("TROWEXPAND", "columns", columns)
    valid = width if valid_columns is None else require_dimension("TROWEXPAND", "valid_columns", valid_columns)
    rows = vector.valid_shape[0]
    return _fill("TROWEXPAND", vector.data_type, (vector,), (), (rows, width), (rows, valid), pad)


def TCOLEXPAND(vector: Tile, rows: int, *, valid_rows: int | None = None, pad: Pad = "Null") -> Tile:
    """Repeat the vector as each row; the bits are copied."""
    require_tile("TCOLEXPAND", "vector", vector)
    _require_vector("TCOLEXPAND", vector, by_row=False)
    height = require_dimension("TCOLEXPAND", "rows", rows)
    valid = height if valid_rows is None else require_dimension("TCOLEXPAND", "valid_rows", valid_rows)
    shape = (height, vector.shape[1])
    return _fill("TCOLEXPAND", vector.data_type, (vector,), (), shape, (valid, vector.valid_shape[1]), pad)


def _fill(
    name: str,
    row: DataType,
    tiles: tuple[Tile, ...],
    scalars: tuple[int, ...],
    shape: tuple[int, int],
    valid_shape: tuple[int, int] | None,
    pad: Pad,
) -> Tile:
    require_type(name, row)
    whole = checked_shape("shape", shape)
    valid = whole if valid_shape is None else checked_shape("valid_shape", valid_shape)
    call = Call(
        name, row, (valid[1], valid[0], whole[1]), (image_bytes(whole, row),), scalars=scalars, pad=pad_value(pad)
    )
    return result(call.run([stored(tile) for tile in tiles]), 0, row, whole, valid)


def _require_vector(name: str, vector: Tile, *, by_row: bool) -> None:
    if vector.shape[1 if by_row else 0] != 1:
        what = "one column" if by_row else "one row"
        raise ValueError(f"{name}: vector must have {what}, not shape {vector.shape}")


def _apply(name: str, first: Tile, vector: Tile, pad: Pad, flags: Flags | None) -> Tile:
    """Combine a matrix with a vector; the direction is in the name of the operation."""
    require_tile(name, "first", first)
    require_tile(name, "vector", vector)
    row = require_type(name, first.data_type)
    if vector.data_type is not row:
        raise ValueError(f"{name}: vector must have the data_type {row.name} of first, not {vector.data_type.name}")
    by_row = name.startswith("TROW")
    _require_vector(name, vector, by_row=by_row)
    axis = 0 if by_row else 1
    if vector.valid_shape[axis] < first.valid_shape[axis]:
        needed, given = first.valid_shape[axis], vector.valid_shape[axis]
        raise ValueError(f"{name}: vector must hold {needed} elements, not {given}")
    call = Call(
        name, row, (first.valid_shape[1], first.valid_shape[0], first.shape[1]), (image_bytes(first.shape, row),),
        pad=pad_value(pad), flags=require_flags(name, flags),
    )  # fmt: skip
    return result(call.run([stored(first), stored(vector)]), 0, row, first.shape, first.valid_shape)


def TROWEXPANDADD(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first[r,c] + vector[r]``."""
    return _apply("TROWEXPANDADD", first, vector, pad, flags)


def TROWEXPANDSUB(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first[r,c] - vector[r]``."""
    return _apply("TROWEXPANDSUB", first, vector, pad, flags)


def TROWEXPANDMUL(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first[r,c] * vector[r]``."""
    return _apply("TROWEXPANDMUL", first, vector, pad, flags)


def TROWEXPANDDIV(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first[r,c] / vector[r]``."""
    return _apply("TROWEXPANDDIV", first, vector, pad, flags)


def TROWEXPANDMAX(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Larger of ``first[r,c]`` and ``vector[r]``."""
    return _apply("TROWEXPANDMAX", first, vector, pad, flags)


def TROWEXPANDMIN(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Smaller of ``first[r,c]`` and ``vector[r]``."""
    return _apply("TROWEXPANDMIN", first, vector, pad, flags)


def TROWEXPANDEXPDIF(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``e**(first[r,c] - vector[r])``; the difference is rounded first."""
    return _apply("TROWEXPANDEXPDIF", first, vector, pad, flags)


def TCOLEXPANDADD(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first[r,c] + vector[c]``."""
    return _apply("TCOLEXPANDADD", first, vector, pad, flags)


def TCOLEXPANDSUB(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first[r,c] - vector[c]``."""
    return _apply("TCOLEXPANDSUB", first, vector, pad, flags)


def TCOLEXPANDMUL(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first[r,c] * vector[c]``."""
    return _apply("TCOLEXPANDMUL", first, vector, pad, flags)


def TCOLEXPANDDIV(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first[r,c] / vector[c]``."""
    return _apply("TCOLEXPANDDIV", first, vector, pad, flags)


def TCOLEXPANDMAX(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Larger of ``first[r,c]`` and ``vector[c]``."""
    return _apply("TCOLEXPANDMAX", first, vector, pad, flags)


def TCOLEXPANDMIN(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Smaller of ``first[r,c]`` and ``vector[c]``."""
    return _apply("TCOLEXPANDMIN", first, vector, pad, flags)


def TCOLEXPANDEXPDIF(first: Tile, vector: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``e**(first[r,c] - vector[c])``; the difference is rounded first."""
    return _apply("TCOLEXPANDEXPDIF", first, vector, pad, flags)
