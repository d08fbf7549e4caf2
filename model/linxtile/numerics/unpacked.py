"""Arrays of exact values as sign, significand and power of two: what rounding starts from."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linxtile.numerics.types import Floats, Integers, Truths

_MANTISSA = np.uint64((1 << 52) - 1)
_HIDDEN = np.uint64(1 << 52)
_EXPONENT = np.uint64(0x7FF)
_BELOW_ALL = -4096


class Unpacked(NamedTuple):
    """Finite values ``(-1)**negative * significand * 2**scale``.

    Attributes
    ----------
    negative : ndarray of bool
        Sign, of a zero too.
    significand : ndarray of uint64
        Any 64 bits.
    scale, leading : ndarray of int64
        Weight of the lowest bit of the significand and of its leading one. Where the value is zero or a subnormal of
        binary64, ``leading`` is only an upper bound, below the normal range of every other type.
    """

    negative: Truths
    significand: npt.NDArray[np.uint64]
    scale: npt.NDArray[np.int64]
    leading: npt.NDArray[np.int64]


def unpack_floats(values: Floats) -> Unpacked:
    """Take binary64 values apart; infinities and NaN come out as powers of two beyond the range of binary64."""
    bits = values.view(np.uint64)
    field = ((bits >> np.uint64(52)) & _EXPONENT).view(np.int64)
    significand = (bits & _MANTISSA) | (field > 0) * _HIDDEN
    exponent = np.maximum(field, 1)
    return Unpacked(np.signbit(values), significand, exponent - 1075, exponent - 1023)


def unpack_integers(values: Integers) -> Unpacked:
    """Take integers of any signed or unsigned numpy type apart."""
    negative = values < 0
    wide = values.astype(np.int64 if values.dtype.kind == "i" else np.uint64).view(np.uint64)
    magnitude = np.where(negative, np.negative(wide), wide)
    # binary64 rounds large integers, perhaps up to the next power of two.
    exponent = np.frexp(magnitude.astype(np.float64))[1].astype(np.int64) - 1
    exponent -= (magnitude >> np.maximum(exponent, 1).astype(np.uint64) - np.uint64(1)) < 2 * (exponent > 0)
    leading = np.where(magnitude == 0, _BELOW_ALL, exponent)
    return Unpacked(negative, magnitude, np.zeros(values.shape, np.int64), leading)
