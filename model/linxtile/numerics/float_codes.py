"""What can be done with the codes of a float type without computing: classes, order and signs."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes
from linxtile.flags import Flag
from linxtile.isa.codes import CompareMode
from linxtile.isa.types import DataType
from linxtile.numerics.types import Block, ElementFlags, Truths

NV = np.uint8(Flag.NV)


class FloatCodes:
    """Fixed-field floats with a NaN: IEEE-like types and E4M3.

    All methods take arrays of codes and return new ones with the flags of each element.

    Parameters
    ----------
    track_flags : bool
        Whether to find out the flags.

    Attributes
    ----------
    light : set of str
        Operations of a pass or two.
    """

    light = frozenset(("absolute", "negate"))

    def __init__(self, data_type: DataType, track_flags: bool = True):
        self.data_type = data_type
        self.track_flags = track_flags
        width = data_type.storage_bits
        code = np.dtype(f"u{width // 8}").type
        self._signed_type = np.dtype(f"i{width // 8}")
        self._live = code(data_type.storage_mask & (-1 << data_type.dead_bits))
        self.sign = code(data_type.sign_bit)
        self.magnitude = code(data_type.sign_bit - 1)
        self.max_finite = code(data_type.max_finite)
        self.canonical_nan = code(data_type.canonical_nan or 0)
        self._one = code(data_type.bias << (data_type.mantissa_bits + data_type.dead_bits))
        # Every magnitude above the largest number is NaN; the quiet bit is the top bit of the mantissa.
        infinity = data_type.positive_infinity
        self._largest_number = code(data_type.max_finite if infinity is None else infinity)
        top = data_type.mantissa_bits + data_type.dead_bits - 1
        self._quiet = code(1 << top if data_type.has_signalling_nan else 0)

    def read(self, codes: Codes) -> Block:
        """Drop dead bits, make NaN canonical."""
        codes = self.alive(codes)
        nan = self.is_nan(codes)
        if not nan.any():
            return codes.copy(), None
        return np.where(nan, self.canonical_nan, codes), self.signalling(codes)

    def absolute(self, codes: Codes) -> Block:
        """Clear the sign bit, keep all others."""
        return codes & self.magnitude, None

    def negate(self, codes: Codes) -> Block:
        """Flip the sign bit, keep all others."""
        return codes ^ self.sign, None

    def relu(self, codes: Codes) -> Block:
        """Values above zero as they are, all other numbers +0."""
        codes, flags = self.read(codes)
        codes *= codes <= self.magnitude
        return codes, flags

    def maximum(self, first: Codes, second: Codes) -> Block:
        """Larger operand: a number wins against NaN, +0 against -0."""
        return self._select(first, second, np.maximum)

    def minimum(self, first: Codes, second: Codes) -> Block:
        """Smaller operand: a number wins against NaN, -0 against +0."""
        return self._select(first, second, np.minimum)

    def compare(self, first: Codes, second: Codes, mode: CompareMode) -> tuple[Truths, ElementFlags | None]:
        """Compare by value; NaN is unequal to all and in no other relation."""
        first, second = self.alive(first), self.alive(second)
        left, right = self._ordered(first), self._ordered(second)
        # Below plus zero in the order of codes, minus zero is equal to it in value.
        left, right = left + (first == self.sign), right + (second == self.sign)
        truths = COMPARISONS[mode](left, right)
        nan = self.is_nan(first) | self.is_nan(second)
        if not nan.any():
            return truths, None
        truths[nan] = mode is CompareMode.NE
        return truths, self.signalling(first, second)

    def positive_as_one(self, codes: Codes, others: Codes) -> Codes:
        """Return one where a code is above zero, else the other code: the factor of the leaky operations."""
        alive = self.alive(codes)
        return np.where((alive > 0) & (alive <= self._largest_number), self._one, others)

    def alive(self, codes: Codes) -> Codes:
        """Drop dead bits."""
        return codes & self._live if self.data_type.dead_bits else codes

    def is_nan(self, codes: Codes) -> Truths:
        """Tell which codes without dead bits are NaN."""
        nan: Truths = (codes & self.magnitude) > self._largest_number
        return nan

    def signalling(self, *operands: Codes) -> ElementFlags | None:
        """Return NV for the elements that have a signalling NaN as one of their operands."""
        if not self.track_flags or not self._quiet:
            return None
        invalid = np.zeros(np.broadcast_shapes(*(codes.shape for codes in operands)), np.bool_)
        for codes in map(self.alive, operands):
            invalid |= self.is_nan(codes) & (codes & self._quiet == 0)
        return invalid * NV

    def _select(self, first: Codes, second: Codes, choose: np.ufunc) -> Block:
        left, right = self._ordered(self.alive(first)), self._ordered(self.alive(second))
        high, low = np.maximum(left, right), np.minimum(left, right)
        if self._above_infinity(high) or self._below_infinity(low):
            return self._select_numbers(first, second, choose)
        return self._ordered(high if choose is np.maximum else low).view(first.dtype), None

    def _select_numbers(self, first: Codes, second: Codes, choose: np.ufunc) -> Block:
        """Choose where there are NaN: the other operand, or the canonical NaN if there are two."""
        left, right = self.alive(first), self.alive(second)
        left_nan, right_nan = self.is_nan(left), self.is_nan(right)
        left, right = np.where(left_nan, self.canonical_nan, left), np.where(right_nan, self.canonical_nan, right)
        left, right = np.where(left_nan, right, left), np.where(right_nan, left, right)
        chosen = self._ordered(choose(self._ordered(left), self._ordered(right))).view(first.dtype)
        return chosen, self.signalling(first, second)

    def _above_infinity(self, ordered: npt.NDArray[Any]) -> bool:
        return bool(np.maximum.reduce(ordered, axis=None, initial=0) > self._largest_number)

    def _below_infinity(self, ordered: npt.NDArray[Any]) -> bool:
        return bool(np.minimum.reduce(ordered, axis=None, initial=0) < ~self._signed_type.type(self._largest_number))

    def _ordered(self, codes: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Map sign and magnitude to integers that sort like the values, -0 below +0; its own inverse."""
        signed = codes.view(self._signed_type)
        place, magnitude = map(self._signed_type.type, (self.data_type.storage_bits - 1, self.data_type.sign_bit - 1))
        ordered: npt.NDArray[Any] = signed >> place
        ordered &= magnitude
        ordered ^= signed
        return ordered


COMPARISONS = {
    CompareMode.EQ: np.equal,
    CompareMode.NE: np.not_equal,
    CompareMode.LT: np.less,
    CompareMode.GT: np.greater,
    CompareMode.LE: np.less_equal,
    CompareMode.GE: np.greater_equal,
}
