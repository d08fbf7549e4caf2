"""Integer operations on arrays of element codes."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes
from linxtile.isa.codes import CompareMode
from linxtile.isa.types import DataType, Kind
from linxtile.numerics.float_codes import COMPARISONS
from linxtile.numerics.integer_functions import floor_root, logarithms, powers
from linxtile.numerics.types import Truths


class IntegerElements:
    """Two's complement or unsigned integers modulo ``2**w``; no operation raises a flag.

    Attributes
    ----------
    light : set of str
        Operations of a pass or two.
    """

    light = frozenset(
        "read add subtract multiply add_three multiply_add maximum minimum compare negate relu bit_and bit_or bit_xor bit_not "
        "shift_left shift_right".split()
    )

    def __init__(self, data_type: DataType):
        self.data_type = data_type
        self._signed = data_type.kind is Kind.SIGNED
        self._code_type = np.dtype(f"u{data_type.storage_bits // 8}")
        self._value_type = np.dtype(f"{'i' if self._signed else 'u'}{data_type.storage_bits // 8}")
        self._count_mask = self._code_type.type(data_type.storage_bits - 1)

    def read(self, codes: Codes) -> Codes:
        """Operands as they are."""
        return codes.copy()

    def add(self, first: Codes, second: Codes) -> Codes:
        """Sum modulo ``2**w``."""
        return first + second

    def subtract(self, first: Codes, second: Codes) -> Codes:
        """Difference modulo ``2**w``."""
        return first - second

    def multiply(self, first: Codes, second: Codes) -> Codes:
        """Low half of the product, the same for signed and unsigned."""
        return first * second

    def add_three(self, first: Codes, second: Codes, third: Codes) -> Codes:
        """``first + second + third`` modulo ``2**w``."""
        return first + second + third

    def multiply_add(self, first: Codes, second: Codes, third: Codes) -> Codes:
        """``first * second + third`` modulo ``2**w``."""
        return first * second + third

    def divide(self, first: Codes, second: Codes) -> Codes:
        """Truncated quotient; ``x / 0`` is all ones, the most negative value divided by -1 itself."""
        dividend, divisor, plain = self._division(first, second)
        quotient = dividend // divisor
        if self._signed:
            rest = dividend - quotient * divisor
            quotient += (rest != 0) & ((dividend < 0) != (divisor < 0))
            quotient = np.where(self._values(second) == -1, np.negative(dividend), quotient)
        all_ones = self._code_type.type(self.data_type.storage_mask)
        return np.where(plain, self._codes(quotient), all_ones)

    def remainder(self, first: Codes, second: Codes) -> Codes:
        """Remainder with the sign of the divisor; ``x`` for a divisor of 0."""
        dividend, divisor, plain = self._division(first, second)
        rest = dividend - dividend // divisor * divisor
        return self._codes(np.where(plain, rest, dividend))

    def fmod(self, first: Codes, second: Codes) -> Codes:
        """Remainder with the sign of the dividend; ``x`` for a divisor of 0."""
        dividend, divisor, plain = self._division(first, second)
        rest = dividend - dividend // divisor * divisor
        if self._signed:
            rest -= np.where((rest != 0) & ((dividend < 0) != (divisor < 0)), divisor, self._value_type.type(0))
        return self._codes(np.where(plain, rest, dividend))

    def maximum(self, first: Codes, second: Codes) -> Codes:
        """Larger value, by the signedness of the type."""
        return self._codes(np.maximum(self._values(first), self._values(second)))

    def minimum(self, first: Codes, second: Codes) -> Codes:
        """Smaller value, by the signedness of the type."""
        return self._codes(np.minimum(self._values(first), self._values(second)))

    def compare(self, first: Codes, second: Codes, mode: CompareMode) -> Truths:
        """Compare by the signedness of the type."""
        truths: Truths = COMPARISONS[mode](self._values(first), self._values(second))
        return truths

    def absolute(self, codes: Codes) -> Codes:
        """Magnitude; the most negative value and all unsigned values stay."""
        return np.where(self._values(codes) < 0, np.negative(codes), codes) if self._signed else codes.copy()

    def negate(self, codes: Codes) -> Codes:
        """``2**w - x`` modulo ``2**w``, for unsigned types too."""
        return np.negative(codes)

    def relu(self, codes: Codes) -> Codes:
        """The larger of the value and 0."""
        return self._codes(np.maximum(self._values(codes), 0))

    def leaky_relu(self, codes: Codes, slopes: Codes) -> Codes:
        """The value if it is above zero, else its product with the slope."""
        return codes * np.where(self._values(codes) > 0, self._code_type.type(1), slopes)

    def exponential(self, codes: Codes) -> Codes:
        """``e**x`` truncated, held within the type; 0 below zero."""
        return powers(self._values(codes), self.data_type)

    def logarithm(self, codes: Codes) -> Codes:
        """``ln x`` truncated; the smallest value of the type for 0, 0 below zero."""
        return logarithms(self._values(codes), self.data_type)

    def reciprocal(self, codes: Codes) -> Codes:
        """``1 / x`` truncated; all ones for 0."""
        values = self._values(codes)
        # Only 1 and, where there is one, -1 have a reciprocal that is not truncated to 0.
        unit = (values == 1) | ((values == -1) & self._signed)
        return np.where(
            values == 0, self._code_type.type(self.data_type.storage_mask), np.where(unit, codes, 0 * codes)
        )

    def square_root(self, codes: Codes) -> Codes:
        """Root rounded down; 0 below zero."""
        values = self._values(codes)
        magnitude = np.maximum(values, 0).astype(np.uint64)
        return floor_root(magnitude, self._code_type)

    def reciprocal_root(self, codes: Codes) -> Codes:
        """1 for 1, the largest value for 0, 0 for all others."""
        largest = self._code_type.type(self.data_type.max_finite)
        return self._codes(np.where(codes == 0, largest, self._code_type.type(1) * (codes == 1)))

    def bit_and(self, first: Codes, second: Codes) -> Codes:
        """Bitwise AND."""
        return first & second

    def bit_or(self, first: Codes, second: Codes) -> Codes:
        """Bitwise OR."""
        return first | second

    def bit_xor(self, first: Codes, second: Codes) -> Codes:
        """Bitwise exclusive OR."""
        return first ^ second

    def bit_not(self, codes: Codes) -> Codes:
        """Bitwise complement."""
        return np.invert(codes)

    def shift_left(self, codes: Codes, counts: Codes) -> Codes:
        """Shift by the counts modulo the width."""
        return self._codes(np.left_shift(codes, counts & self._count_mask))

    def shift_right(self, codes: Codes, counts: Codes) -> Codes:
        """Shift by the counts modulo the width; signed types keep their sign."""
        places = (counts & self._count_mask).view(self._value_type)
        return self._codes(self._values(codes) >> places)

    def _values(self, codes: Codes) -> npt.NDArray[Any]:
        return codes.view(self._value_type)

    def _codes(self, values: npt.NDArray[Any]) -> Codes:
        codes: Codes = values.view(self._code_type)
        return codes

    def _division(self, first: Codes, second: Codes) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Truths]:
        """Return dividends, divisors that the host divides by without complaint, and where the divisor is not 0.

        Both 0 and -1 are replaced by 1: the remainder by -1 is that by 1, and its quotient is a negation.
        """
        divisor = self._values(second)
        harmless = (divisor == 0) | ((divisor == -1) & self._signed)
        return self._values(first), np.where(harmless, self._value_type.type(1), divisor), divisor != 0
