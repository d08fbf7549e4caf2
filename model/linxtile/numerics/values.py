"""Exact values of arrays of codes: every value of every float type and of E8M0 is a binary64 number."""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes
from linxtile.isa.types import DataType, Kind
from linxtile.numerics.types import Floats, Integers, Truths
from linxtile.values import Class, decode


def to_floats(codes: Codes, data_type: DataType) -> Floats:
    """Return the values of a float type or of E8M0 in binary64; NaN and infinities as such."""
    if data_type.storage_bits <= 8:
        return _small_values(data_type).take(codes)
    if data_type.name == "FP64":
        return codes.view(np.float64)
    if data_type.name == "FP16":
        narrow: npt.NDArray[np.floating[Any]] = codes.view(np.float16)
    elif data_type.name == "BF16":
        # The upper half of binary32.
        narrow = (codes.astype(np.uint32) << np.uint32(16)).view(np.float32)
    else:
        alive = (
            codes & np.uint32(data_type.storage_mask & (-1 << data_type.dead_bits)) if data_type.dead_bits else codes
        )
        narrow = alive.view(np.float32)
    # The host reports signalling NaN.
    with np.errstate(invalid="ignore"):
        return narrow.astype(np.float64)


def to_integers(codes: Codes, data_type: DataType) -> Integers:
    """Return the values of an integer type in numpy's type of its width; four bits take a byte."""
    if data_type.kind is Kind.UNSIGNED:
        return codes & codes.dtype.type(data_type.storage_mask)
    signed = codes.view(np.dtype(f"i{codes.itemsize}"))
    # A nibble is moved to the top of its byte and back, which copies its sign.
    unused = signed.dtype.type(8 * codes.itemsize - data_type.storage_bits)
    return (signed << unused) >> unused if unused else signed


def is_signalling(codes: Codes, data_type: DataType) -> Truths:
    """Tell which codes are signalling NaN."""
    if not data_type.has_signalling_nan or data_type.positive_infinity is None:
        return np.zeros(codes.shape, np.bool_)
    alive: Any = codes.dtype.type((data_type.sign_bit - 1) & (-1 << data_type.dead_bits))
    magnitude = codes & alive
    quiet = data_type.positive_infinity | (1 << (data_type.mantissa_bits + data_type.dead_bits - 1))
    signalling: Truths = (magnitude > data_type.positive_infinity) & (magnitude < quiet)
    return signalling


@cache
def _small_values(data_type: DataType) -> npt.NDArray[np.float64]:
    """Return the value of every code of a byte; bits above the value are ignored."""
    values = [decode(code, data_type) for code in range(256)]
    table = [float(value.signed) if value.kind is Class.FINITE else float("inf") for value in values]
    signs = [-1.0 if value.negative else 1.0 for value in values]
    result = np.copysign(table, signs)
    result[[value.is_nan for value in values]] = np.nan
    return result
