"""Matrix products and the conversion of their results. LinxISA v0.56, CUBE block.

The accumulator is a tile of 32-bit elements: FP32 for float inputs, S32 or U32 for integers. Operands may lie in any order;
their valid shapes give M, N and K. Sums run over k in increasing order from 0, or from the accumulator, by fused
multiply-add; a bias is added at the end.
"""

from collections.abc import Sequence
from typing import Literal, overload

import numpy as np

from linxtile import formats
from linxtile.accumulator import Accumulator
from linxtile.arrays import Codes
from linxtile.isa.codes import Layout, RoundingMode
from linxtile.isa.operations import operation
from linxtile.isa.types import DataType
from linxtile.operations.image import packed_bytes
from linxtile.operations.layout import FRACTAL_ROWS, band_elements, tile_layout
from linxtile.operations.matrix import result_type, rounded_up
from linxtile.ops.arguments import Scalar, require_flags, require_tile, require_type, scalar_code
from linxtile.ops.blocks import Call, image_bytes, result, stored
from linxtile.ops.flags import Flags
from linxtile.stored_tile import StoredTile
from linxtile.tile import ORDERS, Tile


def TMATMUL(a: Tile, b: Tile, *, flags: Flags | None = None) -> Tile:
    """Product of an M x K and a K x N tile."""
    return _product("TMATMUL", a, b, flags)


def TMATMUL_BIAS(a: Tile, b: Tile, bias: Tile, *, flags: Flags | None = None) -> Tile:
    """Product plus a bias for each column, 1 x N in the result type, added last."""
    return _product("TMATMUL.BIAS", a, b, flags, bias=require_tile("TMATMUL.BIAS", "bias", bias))


def TMATMUL_ACC(accumulator: Tile, a: Tile, b: Tile, *, flags: Flags | None = None) -> Tile:
    """Product summed onto an accumulator."""
    held = require_tile("TMATMUL.ACC", "accumulator", accumulator)
    return _product("TMATMUL.ACC", a, b, flags, accumulator=held)


def TGEMV(a: Tile, b: Tile, *, flags: Flags | None = None) -> Tile:
    """Product of a row of K elements and a K x N tile."""
    return _product("TGEMV", a, b, flags)


def TGEMV_BIAS(a: Tile, b: Tile, bias: Tile, *, flags: Flags | None = None) -> Tile:
    """Product of a row and a tile plus a bias for each column."""
    return _product("TGEMV.BIAS", a, b, flags, bias=require_tile("TGEMV.BIAS", "bias", bias))


def TGEMV_ACC(accumulator: Tile, a: Tile, b: Tile, *, flags: Flags | None = None) -> Tile:
    """Product of a row and a tile summed onto an accumulator."""
    held = require_tile("TGEMV.ACC", "accumulator", accumulator)
    return _product("TGEMV.ACC", a, b, flags, accumulator=held)


def _product(
    name: str, a: Tile, b: Tile, flags: Flags | None, *, bias: Tile | None = None, accumulator: Tile | None = None
) -> Tile:
    for what, tile in (("a", a), ("b", b)):
        require_tile(name, what, tile, orders=ORDERS)
    first, second = require_type(name, a.data_type), b.data_type
    if not operation(name).takes_pair(first.name, second.name):
        raise ValueError(f"{name} does not multiply {first.name} by {second.name}")
    (m, k), (k_of_b, n) = a.valid_shape, b.valid_shape
    if k != k_of_b:
        raise ValueError(f"{name}: b must have the {k} valid rows of a's columns, not {k_of_b}")
    if name.startswith("TGEMV") and m != 1:
        raise ValueError(f"{name}: a must have one valid row, not {m}")
    target = result_type(first)
    left = _vector(a) if name.startswith("TGEMV") else _fractals(a, "NZ")
    sources = [left, _fractals(b, "ZN")]
    if bias is not None:
        sources.append(_bias(name, bias, target, n))
    call = Call(
        name, first, (m, n, k), (rounded_up(m, FRACTAL_ROWS) * rounded_up(n, FRACTAL_ROWS) * target.storage_bits // 8,), second_type=second,
        flags=require_flags(name, flags), accumulator=_held(name, accumulator, target, (m, n)),
    )  # fmt: skip
    outcome = call.run(sources)
    if outcome.accumulator is None:
        raise ValueError(f"{name} left no accumulator")
    return Tile(outcome.accumulator.codes, target)


def _vector(tile: Tile) -> StoredTile:
    """Return one row of elements."""
    return _bytes_of(tile.valid, tile.data_type, "ND", (1, rounded_up(tile.valid_shape[1], 2)))


def _fractals(tile: Tile, order: str) -> StoredTile:
    """Return the valid area in whole fractals."""
    band = band_elements(tile.data_type)
    steps = (FRACTAL_ROWS, band) if order == "NZ" else (band, FRACTAL_ROWS)
    shape = (rounded_up(tile.valid_shape[0], steps[0]), rounded_up(tile.valid_shape[1], steps[1]))
    return _bytes_of(tile.valid, tile.data_type, order, shape)


def _bytes_of(valid: Codes, row: DataType, order: str, shape: tuple[int, int]) -> StoredTile:
    by_place = np.zeros(shape[0] * shape[1], valid.dtype)
    tile_layout(order, *shape, row).write(by_place, valid)
    return StoredTile(packed_bytes(by_place, row), row.storage_bits, 0)


def _bias(name: str, bias: Tile, target: DataType, n: int) -> StoredTile:
    if bias.data_type is not target or bias.valid_shape != (1, n):
        raise ValueError(f"{name}: bias must be 1 x {n} {target.name}, not {bias.valid_shape} {bias.data_type.name}")
    return stored(bias)


def _held(name: str, accumulator: Tile | None, target: DataType, shape: tuple[int, int]) -> Accumulator | None:
    if accumulator is None:
        return None
    if accumulator.data_type is not target or accumulator.valid_shape != shape:
        wanted, got = f"{shape} {target.name}", f"{accumulator.valid_shape} {accumulator.data_type.name}"
        raise ValueError(f"{name}: accumulator must be {wanted}, not {got}")
    return Accumulator(np.ascontiguousarray(accumulator.valid))


@overload
def ACCCVT(
    accumulator: Tile, data_type: str | DataType, *, scale: Scalar | None = None, layout: str | Layout = "NZ2ND",
    rounding: str | RoundingMode = "NONE", saturate: bool = False, row_maximum: Literal[False] = False,
    flags: Flags | None = None,
) -> Tile: ...  # fmt: skip
@overload
def ACCCVT(
    accumulator: Tile, data_type: str | DataType, *, scale: Scalar | None = None, layout: str | Layout = "NZ2ND",
    rounding: str | RoundingMode = "NONE", saturate: bool = False, row_maximum: Literal[True],
    flags: Flags | None = None,
) -> tuple[Tile, Tile]: ...  # fmt: skip
def ACCCVT(
    accumulator: Tile, data_type: str | DataType, *, scale: Scalar | None = None, layout: str | Layout = "NZ2ND",
    rounding: str | RoundingMode = "NONE", saturate: bool = False, row_maximum: bool = False,
    flags: Flags | None = None,
) -> Tile | tuple[Tile, Tile]:  # fmt: skip
    """Scale, round, convert: two roundings, and another order.

    Parameters
    ----------
    accumulator : Tile
        FP32, S32 or U32.
    data_type : str or DataType
        Type of the result.
    scale : scalar, optional
        In the type of the accumulator; the product is rounded to it.
    layout : str or Layout
        NZ2ND or NZ2DN, or NORM for an NZ tile of 512-byte fractals (the canonical form).
    rounding, saturate
        As in TCVT.
    row_maximum : bool
        Also return the maximum of each row, before scale and conversion, as a column. Not with NORM.
    """
    name = "ACCCVT"
    require_tile(name, "accumulator", accumulator)
    source, target = require_type(name, accumulator.data_type), formats.get(data_type)
    if not operation(name).takes_pair(source.name, target.name):
        raise ValueError(f"{name} does not convert {source.name} to {target.name}")
    order = _converted_layout(layout)
    if formats.truth("row_maximum", row_maximum) and order is Layout.NORM:
        raise ValueError(f"{name}: row_maximum must be False with layout NORM, not True")
    rows, columns = accumulator.valid_shape
    if target.is_packed and columns % 2 and order is not Layout.NORM:
        raise ValueError(f"{name}: columns must be even for {target.name}, two share a byte, not {columns}")
    shape = (rows, columns)
    if order is Layout.NORM:
        shape = (rounded_up(rows, FRACTAL_ROWS), rounded_up(columns, band_elements(target)))
    sizes: Sequence[int] = (image_bytes(shape, target), *([image_bytes((rows, 1), source)] if row_maximum else []))
    call = Call(
        name, source, (rows, columns, 1), sizes, second_type=target,
        scalars=() if scale is None else (scalar_code(name, scale, source),), layout=order, canonical=True,
        rounding=formats.rounding_mode(rounding), saturate=formats.truth("saturate", saturate), flags=require_flags(name, flags),
        accumulator=Accumulator(np.ascontiguousarray(accumulator.valid)),
    )  # fmt: skip
    outcome = call.run([])
    tile_order = "NZ" if order is Layout.NORM else order.destination_order
    main = result(outcome, 0, target, shape, (rows, columns), tile_order)
    return (main, result(outcome, 1, source, (rows, 1), (rows, 1))) if row_maximum else main


def _converted_layout(layout: str | Layout) -> Layout:
    allowed = operation("ACCCVT").layouts or ()
    found = layout if isinstance(layout, Layout) else Layout.__members__.get(str(layout).upper())
    if found not in allowed:
        raise ValueError(f"ACCCVT: layout must be one of {', '.join(entry.name for entry in allowed)}, not {layout!r}")
    return found
