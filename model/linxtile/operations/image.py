"""Tile bytes as arrays of element codes, one code an element also where two share a byte, and back with their padding."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Bytes, Codes
from linxtile.isa.block import Block
from linxtile.isa.codes import PadValue
from linxtile.isa.types import DataType
from linxtile.operations.base import element_type
from linxtile.operations.layout import TileLayout
from linxtile.stored_tile import StoredTile, matrix_rows

_CODE_TYPES = {bits: np.dtype(f"<u{max(bits // 8, 1)}") for bits in (64, 32, 16, 8, 4)}

# Byte -> its two nibbles, the even element in the low byte.
_NIBBLES = (np.arange(256, dtype="<u2") & 0x0F) | (np.arange(256, dtype="<u2") >> 4 << 8)


def code_type(data_type: DataType) -> np.dtype[Any]:
    """Return the little-endian unsigned integer that holds one element code."""
    return _CODE_TYPES[data_type.storage_bits]


def pad_code(data_type: DataType, pad: PadValue) -> int:
    """Return the code that padding elements get; Null is executed as Zero."""
    if pad is PadValue.MAX:
        return data_type.pad_max
    return data_type.pad_min if pad is PadValue.MIN else 0


def elements(data: Bytes, data_type: DataType) -> Codes:
    """Return the codes of all elements in ``data`` by place; the last axis of ``data`` is contiguous."""
    if data_type.is_packed:
        return _NIBBLES[data].view(np.uint8)
    return data.view(code_type(data_type))


def packed_bytes(codes: Codes, data_type: DataType) -> Bytes:
    """Return the bytes of elements; of two that share a byte both must be there. The inverse of `elements`."""
    if data_type.is_packed:
        pairs = np.ascontiguousarray(codes).view("<u2")
        joined: Bytes = (pairs | pairs >> 4).astype(np.uint8)
        return joined
    return np.ascontiguousarray(codes).view(np.uint8)


def background(size: int, count: int, data_type: DataType, pad: PadValue) -> Codes:
    """Return the elements of a tile of ``size`` bytes: the first ``count`` are padding, the tail is zero."""
    out: Codes = np.zeros(size * 8 // data_type.storage_bits, code_type(data_type))
    code = pad_code(data_type, pad)
    if code:
        out[:count] = code
    return out


def write_tile(size: int, layout: TileLayout, data_type: DataType, pad: PadValue, values: Codes) -> Bytes:
    """Return a tile that holds ``values``, the elements of its valid area, on a background of padding."""
    out = background(size, layout.rows * layout.columns, data_type, pad)
    layout.write(out, values)
    return packed_bytes(out, data_type)


def read_matrix(tile: StoredTile, block: Block) -> Codes:
    """Return the valid area of a row-major tile, shape (valid_rows, valid_columns)."""
    data_type = element_type(block)
    valid_columns, valid_rows, columns = block.lb
    if data_type.is_packed:
        used = tile.data[: valid_rows * columns // 2]
        return TileLayout(valid_rows, columns, columns).read(elements(used, data_type), valid_rows, valid_columns)
    codes = code_type(data_type)
    strides = (columns * codes.itemsize, codes.itemsize)
    return np.ndarray((valid_rows, valid_columns), codes, tile.data, 0, strides)


def read_vector(tile: StoredTile, count: int, data_type: DataType) -> Codes:
    """Return the first ``count`` elements of a contiguous vector."""
    used = tile.data[: (count * data_type.storage_bits + 7) // 8]
    return elements(used, data_type)[:count]


def read_scalar(block: Block) -> Codes:
    """Return the first scalar operand as an element code, shape (1, 1)."""
    return np.array([[block.scalars[0] & element_type(block).storage_mask]], code_type(element_type(block)))


def write_matrix(size: int, block: Block, values: npt.NDArray[Any], data_type: DataType | None = None) -> Bytes:
    """Return a row-major tile with ``values`` (broadcast to the valid area) on a background of padding.

    ``data_type`` is the type of the destination where it is not that of the block.
    """
    row_type = data_type or element_type(block)
    valid_columns, valid_rows, columns = block.lb
    whole = values.nbytes == size and values.shape == (valid_rows, valid_columns) and values.flags.c_contiguous
    if whole and not row_type.is_packed:
        return values.reshape(-1).view(np.uint8)
    count = matrix_rows(size, columns, row_type.storage_bits) * columns
    out = background(size, count, row_type, block.pad)
    out[:count].reshape(-1, columns)[:valid_rows, :valid_columns] = values
    return packed_bytes(out, row_type)


def write_vector(size: int, values: Codes, data_type: DataType, pad: PadValue) -> Bytes:
    """Return a tile that starts with ``values``; every element after them is padding."""
    out = background(size, size * 8 // data_type.storage_bits, data_type, pad)
    out[: len(values)] = values
    return packed_bytes(out, data_type)
