"""What people may give for a tile or a mask: shapes, pads, bytes, numbers and codes, checked and as arrays."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Bytes, Codes
from linxtile.isa.codes import PadValue
from linxtile.isa.types import DataType
from linxtile.operations.image import code_type

__all__ = ["Shape", "checked_codes", "checked_shape", "numbers", "pad_value", "raw_bytes"]

Shape = tuple[int, int]

_PADS = {pad.text: pad for pad in PadValue}
"""The usual spelling of each pad."""


def pad_value(pad: str | PadValue) -> PadValue:
    """Return a pad by its name in assembly: Zero, Max, Min or Null."""
    if isinstance(pad, PadValue):
        return pad
    if not isinstance(pad, str):
        raise TypeError(f"pad must be a name such as 'Zero', not {pad!r}")
    if pad in _PADS:
        return _PADS[pad]
    if pad.upper() not in PadValue.__members__:
        raise ValueError(f"pad must be one of {', '.join(entry.text for entry in PadValue)}, not {pad!r}")
    return PadValue[pad.upper()]


def checked_shape(name: str, shape: Any, smallest: int = 1) -> Shape:
    """Return two dimensions as plain integers."""
    if not isinstance(shape, tuple) or len(shape) != 2 or not all(_is_integer(entry) for entry in shape):
        raise TypeError(f"{name} must be a tuple of two integers, not {shape!r}")
    if min(shape) < smallest:
        raise ValueError(f"{name} must be at least {(smallest, smallest)}, not {shape!r}")
    return int(shape[0]), int(shape[1])


def _is_integer(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def raw_bytes(what: str, data: object) -> Bytes:
    """Return bytes, or a contiguous one-dimensional array of uint8, as an array without a copy."""
    if isinstance(data, (bytes, bytearray)) or (isinstance(data, memoryview) and data.contiguous):
        return np.frombuffer(data, np.uint8)
    if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.ndim != 1 or not data.flags.c_contiguous:
        raise TypeError(
            f"{what} must be bytes or a contiguous one-dimensional array of uint8, not {type(data).__name__}"
        )
    return data


def numbers(what: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return numbers as an array; of lists, in which numpy would turn integers to floats, none may change by that."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{what} must be an array without a mask, not {type(values).__name__}")
    if isinstance(values, np.ndarray):
        return values
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{what} must be rows of one length") from None
    if array.dtype.kind == "f":
        for value in np.asarray(values, object).reshape(-1):
            if isinstance(value, int) and int(float(value)) != value:
                raise ValueError(
                    f"{what} that hold floats cannot hold the integer {value}, which no float64 is equal to"
                )
    return array


def checked_codes(codes: npt.ArrayLike, row: DataType) -> Codes:
    try:
        array = np.asarray(codes)
    except ValueError:
        raise ValueError("codes must be rows of one length") from None
    if not isinstance(codes, np.ndarray) and array.dtype.kind in "fO":
        # A list of large and small integers, of which numpy makes floats.
        plain = np.asarray(codes, object)
        if all(isinstance(code, int) and 0 <= code <= row.storage_mask for code in plain.reshape(-1)):
            array = plain.astype(np.uint64)
    if array.ndim != 2 or not array.size:
        raise ValueError(f"codes must have two dimensions and at least one element, not shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"codes must be integers, not {array.dtype}")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high > row.storage_mask:
        raise ValueError(f"codes of {row.name} must be 0 to {row.storage_mask:#x}, not {low if low < 0 else hex(high)}")
    return np.array(array, code_type(row), order="C")
