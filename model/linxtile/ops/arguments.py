"""Checks that all operations share: what an argument must be, said in one sentence when it is not."""

from fractions import Fraction
from typing import Any

from linxtile import formats
from linxtile.isa.operations import operation
from linxtile.isa.types import DataType
from linxtile.mask import Mask
from linxtile.ops.flags import Flags
from linxtile.tile import Tile

Scalar = int | float | Fraction | Tile
"""A value that the element type holds exactly, or a 1 x 1 tile of the type."""


def require_tile(
    name: str, what: str, value: object, *, orders: tuple[str, ...] = ("ND",), empty: bool = False
) -> Tile:
    """Return a tile argument in one of the orders; only with ``empty`` may it be padding alone."""
    if not isinstance(value, Tile):
        raise TypeError(f"{name}: {what} must be a Tile, not {type(value).__name__}")
    if value.order not in orders:
        raise ValueError(f"{name}: {what} must be in order {' or '.join(orders)}, not {value.order}; TMOV changes it")
    if not empty and 0 in value.valid_shape:
        raise ValueError(f"{name}: {what} must have a valid element, not the valid_shape {value.valid_shape}")
    return value


def require_mask(name: str, value: object, like: Tile) -> Mask:
    """Return a mask argument of the same columns as a tile, with all bits of its valid area."""
    if not isinstance(value, Mask):
        raise TypeError(f"{name}: mask must be a Mask, not {type(value).__name__}")
    if value.shape[1] != like.shape[1] or value.shape[0] < like.valid_shape[0]:
        raise ValueError(f"{name}: mask must have the shape {like.shape} of the tile, not {value.shape}")
    return value


def require_flags(name: str, flags: object) -> Flags | None:
    """Return a collector of flags or None."""
    if flags is not None and not isinstance(flags, Flags):
        raise TypeError(f"{name}: flags must be an ops.Flags, not {type(flags).__name__}")
    return flags


def require_type(name: str, data_type: DataType) -> DataType:
    """Return an element type that the operation takes."""
    row = operation(name)
    if data_type.name not in (row.source_types or ()):
        raise ValueError(f"{name} takes {', '.join(row.source_types or ())}, not {data_type.name}")
    return data_type


def require_same(name: str, tiles: tuple[Tile, ...]) -> None:
    """Check that tiles agree in type, shape and valid shape."""
    first = tiles[0]
    for place, tile in enumerate(tiles[1:], 1):
        if (
            tile.data_type is first.data_type
            and tile.valid_shape == first.valid_shape
            and tile.codes.shape == first.codes.shape
        ):
            continue
        for what in ("data_type", "shape", "valid_shape"):
            wanted, got = getattr(first, what), getattr(tile, what)
            if wanted != got:
                raise ValueError(
                    f"{name}: operand {place} must have the {what} {_text(wanted)} of operand 0, not {_text(got)}"
                )


def _text(value: Any) -> str:
    return value.name if isinstance(value, DataType) else str(value)


def scalar_code(name: str, value: Scalar, data_type: DataType) -> int:
    """Return the code of a scalar operand, which the type must hold exactly."""
    if isinstance(value, Tile):
        if value.data_type is not data_type or value.shape != (1, 1):
            raise ValueError(
                f"{name}: scalar must be a 1 x 1 tile of {data_type.name}, not {value.shape} of {value.data_type.name}"
            )
        return int(value.codes[0, 0])
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise TypeError(f"{name}: scalar must be an int, a float or a 1 x 1 Tile, not {type(value).__name__}")
    if not formats.is_exact(value, data_type):
        raise ValueError(
            f"{name}: scalar must be a value of {data_type.name}, not {value!r}"
            + ("" if data_type.is_integer else f"; Tile.from_values([[x]], {data_type.name!r}) rounds")
        )
    return formats.encode(value, data_type)


def require_dimension(name: str, what: str, value: object) -> int:
    """Return a positive dimension."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: {what} must be an integer, not {value!r}")
    if value < 1:
        raise ValueError(f"{name}: {what} must be at least 1, not {value}")
    return value
