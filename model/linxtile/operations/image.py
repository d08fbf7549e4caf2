"""Tile bytes as arrays of element codes, and back with their padding."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Bytes, Codes
from linxtile.isa.block import Block
from linxtile.isa.codes import PadValue
from linxtile.isa.types import DataType
from linxtile.operations.base import element_type
from linxtile.stored_tile import StoredTile, matrix_rows


def code_type(data_type: DataType) -> np.dtype[Any]:
    """Return the little-endian unsigned integer that holds one element code; packed types go by bytes."""
    return _CODE_TYPES[data_type.storage_bits]


_CODE_TYPES = {bits: np.dtype(f"<u{max(bits // 8, 1)}") for bits in (64, 32, 16, 8, 4)}


def pad_code(data_type: DataType, pad: PadValue) -> int:
    """Return the code that padding elements get; Null is executed as Zero."""
    if pad is PadValue.MAX:
        return data_type.pad_max
    return data_type.pad_min if pad is PadValue.MIN else 0


def read_matrix(tile: StoredTile, block: Block) -> Codes:
    """Return the valid area of a row-major tile, shape (valid_rows, valid_columns)."""
    codes = code_type(element_type(block))
    strides = (block.columns * codes.itemsize, codes.itemsize)
    return np.ndarray((block.valid_rows, block.valid_columns), codes, tile.data, 0, strides)


def read_vector(tile: StoredTile, block: Block) -> Codes:
    """Return the elements of a vector with one element a valid row, shape (valid_rows, 1)."""
    codes = code_type(element_type(block))
    return np.ndarray((block.valid_rows, 1), codes, tile.data)


def read_scalar(block: Block) -> Codes:
    """Return the first scalar operand as an element code, shape (1, 1)."""
    return np.array([[block.scalars[0] & element_type(block).storage_mask]], code_type(element_type(block)))


def write_matrix(size: int, block: Block, values: npt.NDArray[Any]) -> Bytes:
    """Return a row-major tile with ``values`` (broadcast to the valid area) on a background of padding."""
    codes = code_type(element_type(block))
    row_bytes = block.columns * codes.itemsize
    valid = (block.valid_rows, block.valid_columns)
    if values.nbytes == size and values.shape == valid and values.flags.c_contiguous:
        return values.reshape(-1).view(np.uint8)
    out = background(size, block.columns, element_type(block), block.pad)
    np.ndarray(valid, codes, out, 0, (row_bytes, codes.itemsize))[:] = values
    return out


def write_vector(size: int, block: Block, values: Codes) -> Bytes:
    """Return a tile that starts with ``values``; every element after them is padding."""
    out = background(size, 1, element_type(block), block.pad)
    out.view(code_type(element_type(block)))[: len(values)] = values
    return out


def background(size: int, columns: int, data_type: DataType, pad: PadValue) -> Bytes:
    """Return a tile whose whole rows are padding and whose tail is zero."""
    out = np.zeros(size, np.uint8)
    code = pad_code(data_type, pad)
    if code:
        elements = matrix_rows(size, columns, data_type.storage_bits) * columns
        if data_type.is_packed:
            out[: elements // 2] = code * 0x11
        else:
            out.view(code_type(data_type))[:elements] = code
    return out
