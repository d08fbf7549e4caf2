"""Comparison, selection by a mask, conversion, and the histogram. LinxISA v0.56, TEPL block."""

import numpy as np

from linxtile import formats
from linxtile.isa.codes import CompareMode, RoundingMode
from linxtile.isa.operations import operation
from linxtile.isa.types import DataType
from linxtile.mask import Mask
from linxtile.operations.histogram import BINS
from linxtile.ops.arguments import (
    Scalar,
    require_flags,
    require_mask,
    require_same,
    require_tile,
    require_type,
    scalar_code,
)
from linxtile.ops.blocks import Call, image_bytes, result, stored
from linxtile.ops.elementwise import Pad
from linxtile.ops.flags import Flags
from linxtile.stored_tile import MASK_BITS, StoredTile
from linxtile.tile import Tile
from linxtile.tile_arguments import pad_value


def TCMP(first: Tile, second: Tile, mode: str | CompareMode, *, pad: Pad = "Null", flags: Flags | None = None) -> Mask:
    """Compare elements: EQ, NE, LT, GT, LE or GE. NaN is unequal to everything, and -0 equals +0."""
    return _compare("TCMP", (first, second), mode, pad, flags)


def TCMPS(
    first: Tile, scalar: Scalar, mode: str | CompareMode, *, pad: Pad = "Null", flags: Flags | None = None
) -> Mask:
    """Compare elements with a scalar, as TCMP."""
    return _compare("TCMPS", (first,), mode, pad, flags, scalar)


def _compare(
    name: str,
    tiles: tuple[Tile, ...],
    mode: str | CompareMode,
    pad: Pad,
    flags: Flags | None,
    *scalar: Scalar,
) -> Mask:
    for place, tile in enumerate(tiles):
        require_tile(name, f"operand {place}", tile)
    require_same(name, tiles)
    first = tiles[0]
    row = require_type(name, first.data_type)
    scalars = tuple([scalar_code(name, value, row) for value in scalar])
    size = -(-first.shape[0] * first.shape[1] // 8)
    call = Call(
        name, row, (first.valid_shape[1], first.valid_shape[0], first.shape[1]), (size,), scalars=scalars,
        pad=pad_value(pad), compare=formats.compare_mode(mode), flags=require_flags(name, flags),
    )  # fmt: skip
    return Mask.from_bytes(call.run([stored(tile) for tile in tiles]).outputs[0], first.shape)


def TSEL(mask: Mask, first: Tile, second: Tile, *, pad: Pad = "Null") -> Tile:
    """Copy the bits of ``first`` where the mask is set, else those of ``second``."""
    return _select("TSEL", mask, (first, second), pad)


def TSELS(mask: Mask, first: Tile, scalar: Scalar, *, pad: Pad = "Null") -> Tile:
    """Copy the bits of ``first`` where the mask is set, else the scalar."""
    return _select("TSELS", mask, (first,), pad, scalar)


def _select(name: str, mask: Mask, tiles: tuple[Tile, ...], pad: Pad, *scalar: Scalar) -> Tile:
    for place, tile in enumerate(tiles):
        require_tile(name, f"operand {place}", tile)
    require_same(name, tiles)
    first = tiles[0]
    row = require_type(name, first.data_type)
    scalars = tuple([scalar_code(name, value, row) for value in scalar])
    bits = np.frombuffer(require_mask(name, mask, first).to_bytes(), np.uint8)
    call = Call(
        name, row, (first.valid_shape[1], first.valid_shape[0], first.shape[1]), (image_bytes(first.shape, row),),
        scalars=scalars, pad=pad_value(pad),
    )  # fmt: skip
    sources = [StoredTile(bits, MASK_BITS, 0), *(stored(tile) for tile in tiles)]
    return result(call.run(sources), 0, row, first.shape, first.valid_shape)


def TCVT(
    first: Tile,
    data_type: str | DataType,
    *,
    rounding: str | RoundingMode = "NONE",
    saturate: bool = False,
    pad: Pad = "Null",
    flags: Flags | None = None,
) -> Tile:
    """Convert to another type. NONE truncates from floats to integers and otherwise rounds to nearest even."""
    require_tile("TCVT", "first", first)
    row, second = require_type("TCVT", first.data_type), formats.get(data_type)
    if second.is_packed and first.shape[1] % 2:
        raise ValueError(f"TCVT: columns must be even for {second.name}, two share a byte, not {first.shape[1]}")
    call = Call(
        "TCVT", row, (first.valid_shape[1], first.valid_shape[0], first.shape[1]), (image_bytes(first.shape, second),),
        second_type=second, rounding=formats.rounding_mode(rounding), saturate=formats.truth("saturate", saturate),
        pad=pad_value(pad), flags=require_flags("TCVT", flags),
    )  # fmt: skip
    return result(call.run([stored(first)]), 0, second, first.shape, first.valid_shape)


def THISTOGRAM(first: Tile, filters: Tile | None = None, *, byte: int, counter: str | DataType = "U32") -> Tile:
    """Count, for each row and each k from 0 to 255, the elements whose byte ``byte`` is at most k.

    Parameters
    ----------
    first : Tile
        U16 or U32.
    filters : Tile, optional
        U8, one column: what the bytes above ``byte`` must equal. For U16 an element a row, for U32 an element a byte.
        Only needed below the topmost byte.
    byte : int
        0 is the lowest byte of an element.
    counter : str or DataType
        U8, U16, U32 or U64; counts wrap.

    Returns
    -------
    Tile
        Shape (valid_rows, 256).
    """
    name = "THISTOGRAM"
    require_tile(name, "first", first)
    row, second = require_type(name, first.data_type), formats.get(counter)
    allowed = operation(name).second_types or ()
    if second.name not in allowed:
        raise ValueError(f"{name}: counter must be one of {', '.join(allowed)}, not {second.name}")
    top = row.storage_bits // 8 - 1
    if isinstance(byte, bool) or not isinstance(byte, int):
        raise TypeError(f"{name}: byte must be an integer, not {byte!r}")
    if not 0 <= byte <= top:
        raise ValueError(f"{name}: byte of {row.name} must be 0 to {top}, not {byte}")
    shape = (first.valid_shape[0], BINS)
    call = Call(
        name, row, (first.valid_shape[1], first.valid_shape[0], first.shape[1]), (image_bytes(shape, second),),
        second_type=second, byte_id=byte,
    )  # fmt: skip
    return result(call.run([stored(first), _filter(name, filters, byte == top)]), 0, second, shape, shape)


def _filter(name: str, filters: Tile | None, unused: bool) -> StoredTile:
    if filters is None:
        if not unused:
            raise ValueError(f"{name}: filters must be given below the topmost byte, not None")
        return StoredTile(np.zeros(1, np.uint8), 8, 0)
    require_tile(name, "filters", filters)
    if filters.data_type.name != "U8" or filters.shape[1] != 1:
        raise ValueError(f"{name}: filters must be one column of U8, not {filters.shape} of {filters.data_type.name}")
    return stored(filters)
