"""Integer arithmetic on arrays of element codes."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes, Result
from linxtile.flags import NO_FLAG
from linxtile.isa.types import DataType, Kind


class IntegerArithmetic:
    """Two's complement or unsigned integers modulo ``2**w``; never raises a flag."""

    def __init__(self, data_type: DataType):
        self._signed = data_type.kind is Kind.SIGNED
        self._code_type = np.dtype(f"u{data_type.storage_bits // 8}")
        self._value_type = np.dtype(f"{'i' if self._signed else 'u'}{data_type.storage_bits // 8}")
        self._count_mask = self._code_type.type(data_type.storage_bits - 1)

    def read(self, codes: Codes) -> Result:
        """Operands as they are."""
        return codes, NO_FLAG

    def add(self, first: Codes, second: Codes) -> Result:
        """Sum modulo ``2**w``."""
        return first + second, NO_FLAG

    def subtract(self, first: Codes, second: Codes) -> Result:
        """Difference modulo ``2**w``."""
        return first - second, NO_FLAG

    def maximum(self, first: Codes, second: Codes) -> Result:
        """Larger value, by the signedness of the type."""
        return np.maximum(self._values(first), self._values(second)).view(self._code_type), NO_FLAG

    def minimum(self, first: Codes, second: Codes) -> Result:
        """Smaller value, by the signedness of the type."""
        return np.minimum(self._values(first), self._values(second)).view(self._code_type), NO_FLAG

    def absolute(self, codes: Codes) -> Result:
        """Magnitude; the most negative value and all unsigned values stay."""
        return np.where(self._values(codes) < 0, np.negative(codes), codes) if self._signed else codes.copy(), NO_FLAG

    def negate(self, codes: Codes) -> Result:
        """``2**w - x`` modulo ``2**w``, for unsigned types too."""
        return np.negative(codes), NO_FLAG

    def relu(self, codes: Codes) -> Result:
        """The larger of the value and 0."""
        return np.maximum(self._values(codes), 0).view(self._code_type), NO_FLAG

    def bit_and(self, first: Codes, second: Codes) -> Result:
        """Bitwise AND."""
        return first & second, NO_FLAG

    def bit_or(self, first: Codes, second: Codes) -> Result:
        """Bitwise OR."""
        return first | second, NO_FLAG

    def bit_xor(self, first: Codes, second: Codes) -> Result:
        """Bitwise exclusive OR."""
        return first ^ second, NO_FLAG

    def bit_not(self, codes: Codes) -> Result:
        """Bitwise complement."""
        return ~codes, NO_FLAG

    def shift_left(self, codes: Codes, counts: Codes) -> Result:
        """Shift by the counts modulo the width."""
        return codes << (counts & self._count_mask), NO_FLAG

    def shift_right(self, codes: Codes, counts: Codes) -> Result:
        """Shift by the counts modulo the width; signed types keep their sign."""
        places = (counts & self._count_mask).view(self._value_type)
        return (self._values(codes) >> places).view(self._code_type), NO_FLAG

    def _values(self, codes: Codes) -> npt.NDArray[Any]:
        return codes.view(self._value_type)
