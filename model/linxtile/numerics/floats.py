"""Floating-point operations that compute: in the host's floats, with one rounding to the type."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from linxtile import exact
from linxtile.arrays import Codes
from linxtile.flags import Flag
from linxtile.isa.codes import RoundingMode
from linxtile.numerics.error_free import odd_product_sum, odd_sum_of_three
from linxtile.numerics.float_codes import FloatCodes
from linxtile.numerics.remainders import floored_remainder, truncated_remainder
from linxtile.numerics.rounding import round_to_float
from linxtile.numerics.types import Block, ElementFlags, Floats, HostFloats, Truths
from linxtile.numerics.unpacked import unpack_floats
from linxtile.numerics.values import to_floats

# numpy's exponential and logarithm of binary64 are within a few units of 2**-53; this allows for very much more.
_ERROR = 2.0**-46


class FloatElements(FloatCodes):
    """Operations computed in binary64, for types of up to 25 bits of precision.

    Why a result that binary64 rounds can be rounded again, to ``p`` bits: the two roundings of a sum, product, quotient
    or square root of numbers of ``p`` bits equal one if the first keeps at least ``2p + 2`` (Figueroa, "When is double
    rounding innocuous?", 1995). Products are exact, results in the subnormal range keep even fewer of the ``p`` bits,
    and binary64 has no subnormals where these types have theirs. Sums with three terms are rounded to odd first.
    """

    def add(self, first: Codes, second: Codes) -> Block:
        """Sum."""
        return self._calculate(np.add, first, second)

    def subtract(self, first: Codes, second: Codes) -> Block:
        """Difference."""
        return self._calculate(np.subtract, first, second)

    def multiply(self, first: Codes, second: Codes) -> Block:
        """Product."""
        return self._calculate(np.multiply, first, second)

    def divide(self, first: Codes, second: Codes) -> Block:
        """Quotient; DZ for a finite number over zero."""
        return self._calculate(np.divide, first, second, pole=1)

    def fmod(self, first: Codes, second: Codes) -> Block:
        """Remainder of the truncated quotient, always exact."""
        return self._calculate_wide(truncated_remainder, first, second)

    def remainder(self, first: Codes, second: Codes) -> Block:
        """Remainder with the sign of the divisor."""
        return self._calculate_wide(partial(floored_remainder, truncated_remainder), first, second)

    def leaky_relu(self, codes: Codes, slopes: Codes) -> Block:
        """The value if it is above zero, else its product with the slope."""
        return self.multiply(codes, self.positive_as_one(codes, slopes))

    def reciprocal(self, codes: Codes) -> Block:
        """``1 / x``; DZ for zero."""
        return self._calculate(_reciprocal, codes, pole=0)

    def square_root(self, codes: Codes) -> Block:
        """Square root."""
        return self._calculate(np.sqrt, codes)

    def add_three(self, first: Codes, second: Codes, third: Codes) -> Block:
        """``first + second + third``, rounded once."""
        return self._calculate_wide(odd_sum_of_three, first, second, third)

    def multiply_add(self, first: Codes, second: Codes, third: Codes) -> Block:
        """``first * second + third``, rounded once."""
        codes, flags = self._calculate_wide(odd_product_sum, first, second, third)
        return codes, self._with_invalid_products(flags, first, second)

    def exponential(self, codes: Codes) -> Block:
        """``e**x``."""
        return self._enclose(np.exp, "exponential", codes)

    def logarithm(self, codes: Codes) -> Block:
        """``ln x``; DZ for zero."""
        return self._enclose(np.log, "logarithm", codes)

    def reciprocal_root(self, codes: Codes) -> Block:
        """``1 / sqrt(x)``; DZ for zero."""
        return self._enclose(_reciprocal_root, "reciprocal_root", codes)

    def values(self, codes: Codes) -> HostFloats:
        """Return the values in the host's type that the elementary operations are computed in."""
        return to_floats(codes, self.data_type)

    def round(self, values: Any) -> Codes:
        """Round fresh results in that type to codes; NaN to the canonical one."""
        return self.round_wide(values)

    def round_wide(self, values: Floats) -> Codes:
        """Round binary64 values to codes; NaN to the canonical one."""
        codes, _ = round_to_float(unpack_floats(values), self.data_type, RoundingMode.RNE)
        return self.with_canonical_nan(codes, values)

    def with_canonical_nan(self, codes: Codes, values: HostFloats) -> Codes:
        """Put the canonical NaN where a value is NaN."""
        if has_nan(values):
            codes[np.isnan(values)] = self.canonical_nan
        return codes

    def _calculate(self, function: Callable[..., Any], *operands: Codes, pole: int | None = None) -> Block:
        """Apply a function of the host; a zero operand number ``pole`` makes infinite results."""
        with np.errstate(all="ignore"):
            return self._finished(function(*map(self.values, operands)), operands, pole)

    def _finished(self, values: Any, operands: tuple[Codes, ...], pole: int | None) -> Block:
        """Round fresh results of the host and find their flags."""
        codes = self.round(values)
        return codes, self._flags(codes, values, operands, pole)

    def _calculate_wide(self, function: Callable[..., Floats], *operands: Codes) -> Block:
        with np.errstate(all="ignore"):
            values = function(*(to_floats(codes, self.data_type) for codes in operands))
            codes = self.round_wide(values)
        return codes, self._flags(codes, values, operands)

    def _enclose(self, function: Callable[[Floats], Floats], name: str, operands: Codes) -> Block:
        """Round both ends of an interval around the result; where they differ, the definition decides."""
        with np.errstate(all="ignore"):
            values = function(to_floats(operands, self.data_type))
            codes = self.round_wide(values * (1 - _ERROR))
            undecided = codes != self.round_wide(values * (1 + _ERROR))
        if undecided.any():
            self._settle(name, codes, undecided, operands)
        return codes, self._flags(codes, values, (operands,), pole=0)

    def _settle(self, name: str, codes: Codes, undecided: Truths, *operands: Codes) -> None:
        """Let the definition compute the undecided elements."""
        function = getattr(exact, name)
        for at in np.argwhere(undecided):
            place = tuple(at)
            arguments = (int(np.broadcast_to(operand, codes.shape)[place]) for operand in operands)
            codes[place] = function(*arguments, self.data_type)[0]

    def _flags(
        self, codes: Codes, values: HostFloats, operands: tuple[Codes, ...], pole: int | None = None
    ) -> ElementFlags | None:
        """Return the flags of each element. A finite result raises none, so only the others are looked at."""
        if not self.track_flags:
            return None
        beyond = (codes & self.magnitude) > self.max_finite
        if not beyond.any():
            return None
        parts = [np.broadcast_to(operand, codes.shape)[beyond] for operand in operands]
        inputs = [to_floats(part, self.data_type) for part in parts]
        invalid = np.isnan(values[beyond])
        finite = ~invalid
        for numbers in inputs:
            invalid &= ~np.isnan(numbers)
            finite &= np.isfinite(numbers)
        at_pole = np.zeros_like(finite) if pole is None else inputs[pole] == 0
        signalling = self.signalling(*parts)
        raised = (invalid * Flag.NV + finite * np.where(at_pole, Flag.DZ, Flag.OF)).astype(np.uint8)
        flags = np.zeros(codes.shape, np.uint8)
        flags[beyond] = raised if signalling is None else raised | signalling
        return flags

    def _with_invalid_products(self, flags: ElementFlags | None, first: Codes, second: Codes) -> ElementFlags | None:
        """Add NV where infinity is multiplied by zero, which a NaN addend does not hide."""
        if flags is None:
            return None
        factors = to_floats(first, self.data_type), to_floats(second, self.data_type)
        with np.errstate(all="ignore"):
            invalid = np.isnan(factors[0] * factors[1]) & ~np.isnan(factors[0]) & ~np.isnan(factors[1])
        return flags | invalid * np.uint8(Flag.NV)


def has_nan(values: HostFloats) -> bool:
    """Tell whether there is a NaN in an array, in one pass."""
    smallest = np.minimum.reduce(values, axis=None, initial=0)
    return bool(smallest != smallest)


def _reciprocal(values: HostFloats) -> HostFloats:
    return np.divide(values.dtype.type(1), values)


def _reciprocal_root(values: Floats) -> Floats:
    return 1 / np.sqrt(values)
