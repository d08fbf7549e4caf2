"""Accumulation of a matrix product: one fused multiply-add a step, k increasing.

Integers are taken modulo 2**32, so their order does not matter. Floats take one of three ways that give the same bits;
which one is open depends on the operands as a whole:

- Products that FP32 holds exactly are added by the FP32 addition of the host.
- Products of ordinary magnitude are exact in binary64, where a sum is rounded on the way to FP32. Rounding twice differs from
  rounding once only if the first result is halfway between two FP32 numbers; a step that meets one is done the third way.
- Everything else, above all what raises a flag, takes the fused multiply-add of `linxtile.numerics`.
"""

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes, Result
from linxtile.flags import NO_FLAG
from linxtile.isa.types import DataType
from linxtile.numerics import Arithmetic, arithmetic

_MANTISSA_BITS = 23
_SMALLEST_EXPONENT = -149
"""All FP32 numbers are multiples of 2**-149."""

# The bits of a binary64 mantissa that FP32 has no room for, and their value halfway between two FP32 numbers.
_BEYOND = np.uint64((1 << 29) - 1)
_HALFWAY = np.uint64(1 << 28)


def accumulate(a: Codes, b: Codes, start: Codes | None, result: DataType, track_flags: bool = True) -> Result:
    """Return ``start + sum over k of a[i,k] * b[k,j]`` and the flags of every step.

    Parameters
    ----------
    a, b : ndarray of uint32, shapes (m, k) and (k, n)
        Codes in the result type.
    start : ndarray of uint32, shape (m, n), or None
        What the sum starts from; None for zero.
    result : DataType
        FP32, S32 or U32.
    """
    begin: Codes = np.zeros((len(a), b.shape[1]), np.uint32) if start is None else start
    if result.is_integer:
        return begin + a @ b, NO_FLAG
    total = _ordinary(a, b, begin, result)
    if total is not None:
        return total, NO_FLAG
    return _fused(a, b, begin, result, track_flags)


def _fused(a: Codes, b: Codes, total: Codes, result: DataType, track_flags: bool) -> Result:
    """Accumulate with the fused multiply-add of the result type."""
    kind: Arithmetic = arithmetic(result, track_flags)
    flags = NO_FLAG
    for column, row in zip(np.ascontiguousarray(a.T), b, strict=True):
        total, raised = kind.multiply_add(column[:, np.newaxis], row[np.newaxis, :], total)
        flags |= raised
    return total, flags


def _ordinary(a: Codes, b: Codes, begin: Codes, result: DataType) -> Codes | None:
    """Accumulate finite numbers that are not very small; None if that cannot be done, or overflows."""
    left, right, total = (np.ascontiguousarray(codes).view(np.float32) for codes in (a, b, begin))
    if not all(np.isfinite(values).all() for values in (left, right, total)):
        return None
    (left_bits, left_unit), (right_bits, right_unit) = _significance(a), _significance(b)
    # Every product, and so every sum, is a multiple of the smallest FP32 number: nothing is lost below it.
    if left_unit + right_unit < _SMALLEST_EXPONENT:
        return None
    columns = np.ascontiguousarray(left.T)
    with np.errstate(over="ignore", invalid="ignore"):
        if left_bits + right_bits <= _MANTISSA_BITS + 1:
            sums = total.copy()
            for column, row in zip(columns, right, strict=True):
                sums += column[:, np.newaxis] * row
        else:
            sums = _through_binary64(columns.astype(np.float64), right.astype(np.float64), total, result)
    # Once a sum has overflowed it stays infinite or becomes NaN.
    return sums.view(np.uint32) if np.isfinite(sums).all() else None


def _through_binary64(
    columns: npt.NDArray[np.float64],
    rows: npt.NDArray[np.float64],
    total: npt.NDArray[np.float32],
    result: DataType,
) -> npt.NDArray[np.float32]:
    """Accumulate products that binary64 holds exactly."""
    kind: Arithmetic = arithmetic(result, False)
    for column, row in zip(columns, rows, strict=True):
        sums = column[:, np.newaxis] * row
        sums += total
        halfway = (sums.view(np.uint64) & _BEYOND) == _HALFWAY
        before, total = total, sums.astype(np.float32)
        if halfway.any():
            i, j = np.nonzero(halfway)
            left, right = (values.astype(np.float32).view(np.uint32) for values in (column[i], row[j]))
            codes, _ = kind.multiply_add(left, right, before[halfway].view(np.uint32))
            total[halfway] = codes.view(np.float32)
    return total


def _significance(codes: Codes) -> tuple[int, int]:
    """Return the most significant bits that a finite FP32 operand needs, and the exponent of its unit in the last place.

    Every element is an integer of at most so many bits times ``2**unit`` or a power of two times that.
    """
    magnitudes = codes & np.uint32(0x7FFFFFFF)
    mantissas = int(np.bitwise_or.reduce(magnitudes, axis=None)) | 1 << _MANTISSA_BITS
    trailing = (mantissas & -mantissas).bit_length() - 1
    smallest = int(np.where(magnitudes, magnitudes, np.uint32(0x7F800000)).min(initial=0x7F800000))
    exponent = max(smallest >> _MANTISSA_BITS, 1) - 127
    return _MANTISSA_BITS + 1 - trailing, exponent - _MANTISSA_BITS + trailing
