"""FP32 and FP64, which the host computes in itself, and FP16 and BF16, which fit binary32."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes
from linxtile.explog64 import exp64_array, log64_array
from linxtile.numerics.error_free import product_sum, sum_of_three, two_product
from linxtile.numerics.float_codes import Block
from linxtile.numerics.floats import FloatElements, HostFloats
from linxtile.numerics.unpacked import Floats, Truths
from linxtile.numerics.values import to_floats

# FP16 has 15, binary32 has 127.
_BIAS_OF_BINARY32 = np.float32(2.0**112)


class NativeElements(FloatElements):
    """Operations of a type that is one of the host's: its results are rounded already. Addition is IEEE 754's."""

    host: Any
    light = frozenset("absolute negate add subtract multiply divide reciprocal square_root maximum minimum".split())

    def values(self, codes: Codes) -> HostFloats:
        """The same bits."""
        values: HostFloats = codes.view(self.host)
        return values

    def round(self, values: Any) -> Codes:
        """The same bits, but for NaN."""
        codes: Codes = values.view(self.max_finite.dtype)
        if has_nan(values):
            codes[np.isnan(values)] = self.canonical_nan
        return codes

    def maximum(self, first: Codes, second: Codes) -> Block:
        """Larger operand."""
        # The host may give either of two zeros, and NaN wins. A result of -0 is right only if both operands are -0.
        chosen = np.maximum(*self._numbers(first, second))
        if has_nan(chosen) or np.minimum.reduce(chosen.view(self._signed_type), axis=None, initial=0) == self._lowest:
            return super().maximum(first, second)
        return chosen.view(first.dtype), None

    def minimum(self, first: Codes, second: Codes) -> Block:
        """Smaller operand."""
        # As for the maximum; here +0 is the doubtful result, and the smallest of all codes.
        chosen = np.minimum(*self._numbers(first, second))
        codes: Codes = chosen.view(first.dtype)
        if has_nan(chosen) or np.minimum.reduce(codes, axis=None, initial=self.max_finite) == 0:
            return super().minimum(first, second)
        return codes, None

    @property
    def _lowest(self) -> int:
        return -self.data_type.sign_bit

    def _numbers(self, *operands: Codes) -> list[HostFloats]:
        return [self.alive(codes).view(self.host) for codes in operands]


class Binary32Elements(NativeElements):
    """FP32."""

    host = np.float32

    def round_wide(self, values: Floats) -> Codes:
        """One rounding by the host."""
        return self.round(values.astype(np.float32))


class Binary64Elements(NativeElements):
    """FP64: what needs more than binary64 is computed in pairs of numbers, the rest of it by the definition."""

    host = np.float64

    def add_three(self, first: Codes, second: Codes, third: Codes) -> Block:
        """``first + second + third``, rounded once."""
        terms = [self._floats(codes) for codes in (first, second, third)]
        with np.errstate(all="ignore"):
            values = sum_of_three(*terms)
            values = _with_specials(values, lambda first, second, third: first + second + third, terms)
        return self._decided("add_three", values, ~np.isfinite(values), (first, second, third))

    def multiply_add(self, first: Codes, second: Codes, third: Codes) -> Block:
        """``first * second + third``, rounded once."""
        terms = [self._floats(codes) for codes in (first, second, third)]
        with np.errstate(all="ignore"):
            values = product_sum(*terms)
            values = _with_specials(values, lambda first, second, third: first * second + third, terms)
            zero = (terms[0] == 0) | (terms[1] == 0)
            product = np.abs(terms[0] * terms[1])
            large = np.maximum(np.abs(terms[0]), np.abs(terms[1])) > 2.0**990
        undecided = (product < 2.0**-960) & ~zero | (product > 2.0**995) | large | ~np.isfinite(values)
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


class SingleElements(FloatElements):
    """TF32 and HF32, which have the exponents of binary32 and fewer bits: binary64 is rounded by way of binary32.

    Rounding to odd first keeps what the second rounding must know, as binary32 has more than two bits to spare.
    """

    def round_wide(self, values: Floats) -> Codes:
        """Round to odd in binary32, then to nearest even."""
        return self.round_single(odd_single(values))

    def round_single(self, values: Any) -> Codes:
        """Round binary32 values to nearest even on the bits: the carry out of the mantissa goes to the exponent."""
        codes: Codes = _upper_bits(values, self.data_type.dead_bits)
        codes <<= np.uint32(self.data_type.dead_bits)
        if has_nan(values):
            codes[np.isnan(values)] = self.canonical_nan
        return codes


class HalfElements(SingleElements):
    """FP16: elementary operations in binary32, which has ``24 = 2 * 11 + 2`` bits and a far wider range."""

    def values(self, codes: Codes) -> HostFloats:
        """Exact in binary32."""
        if np.maximum.reduce(codes & self.magnitude, axis=None, initial=0) > self.max_finite:
            values: HostFloats = codes.view(np.float16).astype(np.float32)
            return values
        # The fields in their places in binary32, the copies of the sign above them removed; then the bias is made good.
        bits = codes.view(np.int16).astype(np.int32)
        bits <<= 13
        bits &= ~0x70000000
        values = bits.view(np.float32)
        values *= _BIAS_OF_BINARY32
        return values

    def round(self, values: Any) -> Codes:
        """Elementary operations have their results in binary32."""
        return self.round_single(values)

    def round_single(self, values: Any) -> Codes:
        """One rounding by the host."""
        codes: Codes = values.astype(np.float16).view(np.uint16)
        if has_nan(values):
            codes[np.isnan(values)] = self.canonical_nan
        return codes


class BrainElements(SingleElements):
    """BF16, the upper half of binary32: elementary operations in binary32, which has more than ``2 * 8 + 2`` bits.

    The ranges are the same. Where results are subnormal in binary32 too, sums are exact, and so are products but for
    those below half of the smallest number, which go to zero on either path. A quotient is at least ``2**-142`` away
    from what lies halfway between two numbers, and binary32 rounds in steps of ``2**-149``.
    """

    def values(self, codes: Codes) -> HostFloats:
        """Exact in binary32."""
        values: HostFloats = (codes.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return values

    def round(self, values: Any) -> Codes:
        """Elementary operations have their results in binary32."""
        return self.round_single(values)

    def round_single(self, values: Any) -> Codes:
        """Round to the upper half."""
        codes: Codes = _upper_bits(values, 16).astype(np.uint16)
        if has_nan(values):
            codes[np.isnan(values)] = self.canonical_nan
        return codes


def _with_specials(values: Floats, function: Callable[..., Floats], terms: list[Floats]) -> Floats:
    """Replace the results of operands that are not finite by those of the plain expression, kept from overflowing."""
    special = ~np.isfinite(terms[0]) | ~np.isfinite(terms[1]) | ~np.isfinite(terms[2])
    if not special.any():
        return values
    return np.where(special, function(*(np.where(np.isfinite(term), np.sign(term), term) for term in terms)), values)


def odd_single(values: Floats) -> HostFloats:
    """Round binary64 values to odd in binary32; an overflow gives the largest finite value, whose last bit is one."""
    single = values.astype(np.float32)
    error = values - single
    inexact = np.abs(error) > 0
    bits = single.view(np.int32)
    bits -= inexact & ((error < 0) != (values < 0))
    bits |= inexact
    return single


def _upper_bits(values: HostFloats, count: int) -> npt.NDArray[np.uint32]:
    """Return the bits of binary32 values without the lowest ``count``, rounded to nearest even."""
    bits = values.view(np.uint32)
    rounded = bits >> np.uint32(count)
    rounded &= np.uint32(1)
    rounded += np.uint32((1 << (count - 1)) - 1)
    rounded += bits
    rounded >>= np.uint32(count)
    return rounded


def has_nan(values: HostFloats) -> bool:
    """Tell whether there is a NaN in an array, in one pass."""
    smallest = np.minimum.reduce(values, axis=None, initial=0)
    return bool(smallest != smallest)
