"""Floating-point arithmetic on arrays of element codes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile import exact
from linxtile.arrays import Codes, Result
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import DataType


class FloatArithmetic:
    """Fixed-field floats with a NaN: IEEE-like types and E4M3. Everything but the sum works on the codes alone."""

    def __init__(self, data_type: DataType):
        self.data_type = data_type
        width = data_type.storage_bits
        self._code_type = np.dtype(f"u{width // 8}")
        self._signed_type = np.dtype(f"i{width // 8}")
        code = self._code_type.type
        self._live = code(data_type.storage_mask & (-1 << data_type.dead_bits))
        self._sign = code(data_type.sign_bit)
        self._magnitude = code(data_type.sign_bit - 1)
        self._signed_magnitude = self._signed_type.type(data_type.sign_bit - 1)
        self._sign_place = self._signed_type.type(width - 1)
        self._max_finite = code(data_type.max_finite)
        self._canonical_nan = code(data_type.canonical_nan or 0)
        has_infinity = data_type.positive_infinity is not None
        # Every magnitude above the largest number is NaN; the quiet bit is the top bit of the mantissa.
        self._largest_number = code(data_type.positive_infinity if has_infinity else data_type.max_finite)
        top = data_type.mantissa_bits + data_type.dead_bits - 1
        self._quiet = code(1 << top if data_type.has_signalling_nan else 0)
        self._sum = _SUMS.get(data_type.name)

    def read(self, codes: Codes) -> Result:
        """Operands with dead bits dropped and NaN made canonical; NV for a signalling NaN."""
        codes = self._alive(codes)
        nan = self._is_nan(codes)
        if not nan.any():
            return codes, NO_FLAG
        return np.where(nan, self._canonical_nan, codes), self._signalling(codes[nan])

    def add(self, first: Codes, second: Codes) -> Result:
        """Sum, rounded to nearest even."""
        if self._sum is None:
            return self._add_exactly(first, second)
        first, second = self._alive(first), self._alive(second)
        with np.errstate(all="ignore"):
            total = self._sum(first, second)
        # A finite sum has no special operand, raises nothing and is final.
        beyond = (total & self._magnitude) > self._max_finite
        return self._special_sums(total, beyond, first, second) if beyond.any() else (total, NO_FLAG)

    def subtract(self, first: Codes, second: Codes) -> Result:
        """Difference, rounded to nearest even."""
        return self.add(first, second ^ self._sign)

    def maximum(self, first: Codes, second: Codes) -> Result:
        """Larger operand: a number wins against NaN, +0 against -0."""
        return self._select(first, second, np.maximum)

    def minimum(self, first: Codes, second: Codes) -> Result:
        """Smaller operand: a number wins against NaN, -0 against +0."""
        return self._select(first, second, np.minimum)

    def absolute(self, codes: Codes) -> Result:
        """Sign bit cleared, all other bits kept."""
        return codes & self._magnitude, NO_FLAG

    def negate(self, codes: Codes) -> Result:
        """Sign bit flipped, all other bits kept."""
        return codes ^ self._sign, NO_FLAG

    def relu(self, codes: Codes) -> Result:
        """The value if it is above zero, else +0; NaN gives the canonical NaN."""
        codes, flags = self.read(codes)
        return np.where(codes > self._magnitude, self._code_type.type(0), codes), flags

    def _alive(self, codes: Codes) -> Codes:
        return codes & self._live if self.data_type.dead_bits else codes

    def _is_nan(self, codes: Codes) -> npt.NDArray[np.bool_]:
        nan: npt.NDArray[np.bool_] = (codes & self._magnitude) > self._largest_number
        return nan

    def _signalling(self, nans: Codes) -> Flag:
        """Return NV if one of the NaN codes is signalling."""
        return Flag.NV if self._quiet and (nans & self._quiet == 0).any() else NO_FLAG

    def _select(self, first: Codes, second: Codes, choose: Callable[..., npt.NDArray[Any]]) -> Result:
        first, second = self._alive(first), self._alive(second)
        first_nan, second_nan = self._is_nan(first), self._is_nan(second)
        flags = NO_FLAG
        if first_nan.any() or second_nan.any():
            flags = self._signalling(first[first_nan]) | self._signalling(second[second_nan])
            first, second = np.where(first_nan, second, first), np.where(second_nan, first, second)
            first = np.where(first_nan & second_nan, self._canonical_nan, first)
            second = np.where(first_nan & second_nan, self._canonical_nan, second)
        chosen = choose(self._ordered(first), self._ordered(second))
        return self._ordered(chosen).view(self._code_type), flags

    def _ordered(self, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Map sign and magnitude to integers that sort like the values, -0 below +0; its own inverse."""
        signed = codes.view(self._signed_type)
        ordered: npt.NDArray[Any] = signed ^ ((signed >> self._sign_place) & self._signed_magnitude)
        return ordered

    def _special_sums(self, total: Codes, beyond: npt.NDArray[np.bool_], first: Codes, second: Codes) -> Result:
        """Make NaN results canonical and find out which flags the sums that are not finite raise."""
        shape = total.shape
        left, right = np.broadcast_to(first, shape)[beyond], np.broadcast_to(second, shape)[beyond]
        result = total[beyond]
        left_nan, right_nan, result_nan = self._is_nan(left), self._is_nan(right), self._is_nan(result)
        flags = self._signalling(left[left_nan]) | self._signalling(right[right_nan])
        if (result_nan & ~left_nan & ~right_nan).any():
            flags |= Flag.NV
        finite = ((left & self._magnitude) <= self._max_finite) & ((right & self._magnitude) <= self._max_finite)
        if finite.any():
            flags |= Flag.OF
        total[beyond] = np.where(result_nan, self._canonical_nan, result)
        return total, flags

    def _add_exactly(self, first: Codes, second: Codes) -> Result:
        first, second = np.broadcast_arrays(first, second)
        flags = NO_FLAG
        total = np.empty(first.shape, self._code_type)
        for at in np.ndindex(first.shape):
            total[at], raised = exact.add(int(first[at]), int(second[at]), self.data_type)
            flags |= raised
        return total, flags


# IEEE 754 addition of the host, rounded to nearest even: for numbers it is exactly the sum of binary64 and binary32.
def _sum_64(first: Codes, second: Codes) -> Codes:
    total: Codes = (first.view(np.float64) + second.view(np.float64)).view(np.uint64)
    return total


def _sum_32(first: Codes, second: Codes) -> Codes:
    total: Codes = (first.view(np.float32) + second.view(np.float32)).view(np.uint32)
    return total


def _sum_16(first: Codes, second: Codes) -> Codes:
    # Rounded twice, to 24 bits and to 11. That equals rounding once because 24 >= 2 * 11 + 2 (Figueroa), and sums in the
    # subnormal range are multiples of 2^-24, exact in both. An overflow to infinity in binary16 is finite in binary32.
    wide = first.view(np.float16).astype(np.float32) + second.view(np.float16).astype(np.float32)
    total: Codes = wide.astype(np.float16).view(np.uint16)
    return total


_SUMS: dict[str, Callable[[Codes, Codes], Codes]] = {"FP64": _sum_64, "FP32": _sum_32, "FP16": _sum_16}
