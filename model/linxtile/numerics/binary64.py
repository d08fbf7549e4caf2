"""FP64: what needs more than binary64 is computed in pairs of numbers, and what those leave open by the definition."""

from collections.abc import Callable
from functools import partial

import numpy as np

from linxtile.arrays import Codes
from linxtile.explog64 import exp64_array, log64_array
from linxtile.numerics.error_free import product_sum, sum_of_three, two_product
from linxtile.numerics.native_floats import NativeElements
from linxtile.numerics.remainders import floored_remainder
from linxtile.numerics.types import Block, Floats, Truths
from linxtile.numerics.values import to_floats


class Binary64Elements(NativeElements):
    """FP64."""

    host = np.float64

    def fmod(self, first: Codes, second: Codes) -> Block:
        """Remainder of the truncated quotient, the host's."""
        return self._calculate(np.fmod, first, second)

    def remainder(self, first: Codes, second: Codes) -> Block:
        """Remainder with the sign of the divisor."""
        return self._calculate(partial(floored_remainder, np.fmod), first, second)

    def add_three(self, first: Codes, second: Codes, third: Codes) -> Block:
        """``first + second + third``, rounded once."""
        terms = [self._floats(codes) for codes in (first, second, third)]
        with np.errstate(all="ignore"):
            values = sum_of_three(*terms)
            values = _with_specials(values, lambda first, second, third: first + second + third, terms)
        return self._decided("add_three", values, ~np.isfinite(values), (first, second, third))

    def multiply_add(self, first: Codes, second: Codes, third: Codes) -> Block:
        """``first * second + third``, rounded once; by the definition where pairs do not hold the product."""
        terms = [self._floats(codes) for codes in (first, second, third)]
        with np.errstate(all="ignore"):
            values = product_sum(*terms)
            values = _with_specials(values, lambda first, second, third: first * second + third, terms)
            zero = (terms[0] == 0) | (terms[1] == 0)
            product = np.abs(terms[0] * terms[1])
            large = np.maximum(np.abs(terms[0]), np.abs(terms[1])) > 2.0**990
        undecided = (product < 2.0**-960) & ~zero | (product > 2.0**1020) | large | ~np.isfinite(values)
        codes, flags = self._decided("multiply_add", values, undecided, (first, second, third))
        return codes, self._with_invalid_products(flags, first, second)

    def exponential(self, codes: Codes) -> Block:
        """``e**x``, by its own definition."""
        powers, _ = exp64_array(codes)
        return powers, self._flags(powers, powers.view(np.float64), (codes,))

    def logarithm(self, codes: Codes) -> Block:
        """``ln x``, by its own definition."""
        logarithms, _ = log64_array(codes)
        return logarithms, self._flags(logarithms, logarithms.view(np.float64), (codes,), pole=0)

    def reciprocal_root(self, codes: Codes) -> Block:
        """``1 / sqrt(x)``, rounded once."""
        with np.errstate(all="ignore"):
            values = self._floats(codes)
            mantissa, exponent = np.frexp(values)
            odd = exponent & 1
            mantissa = np.ldexp(mantissa, odd)
            root = 1 / np.sqrt(mantissa)
            # One step of Newton's iteration, in pairs: the correction is good to 2**-50 of itself.
            square, square_error = two_product(root, root)
            product, product_error = two_product(square, mantissa)
            correction = root / 2 * ((1 - product) - product_error - square_error * mantissa)
            lower, upper = root + correction * (1 - 2.0**-40), root + correction * (1 + 2.0**-40)
            ordinary = np.isfinite(values) & (values > 0)
            result = np.where(ordinary, np.ldexp(lower, (odd - exponent) // 2), 1 / np.sqrt(values))
        return self._decided("reciprocal_root", result, ordinary & (lower != upper), (codes,), pole=0)

    def round_wide(self, values: Floats) -> Codes:
        """Nothing is left to round."""
        return self.round(values)

    def _floats(self, codes: Codes) -> Floats:
        return to_floats(codes, self.data_type)

    def _decided(
        self, name: str, values: Floats, undecided: Truths, operands: tuple[Codes, ...], pole: int | None = None
    ) -> Block:
        """Round, and let the definition compute what is undecided; operands that are not finite are always decided."""
        for operand in operands:
            undecided = undecided & np.isfinite(self._floats(operand))
        codes = self.round(values)
        self._settle(name, codes, undecided, *operands)
        return codes, self._flags(codes, codes.view(np.float64), operands, pole)


def _with_specials(values: Floats, function: Callable[..., Floats], terms: list[Floats]) -> Floats:
    """Replace the results of operands that are not finite by those of the plain expression, kept from overflowing."""
    special = ~np.isfinite(terms[0]) | ~np.isfinite(terms[1]) | ~np.isfinite(terms[2])
    if not special.any():
        return values
    return np.where(special, function(*(np.where(np.isfinite(term), np.sign(term), term) for term in terms)), values)
