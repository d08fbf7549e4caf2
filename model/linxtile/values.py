"""Exact values of element codes.

Slow and plain on purpose: this is the definition that faster arithmetic is tested against.
"""

import enum
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from operator import index

from linxtile.isa.types import DataType, Kind
from linxtile.isa.types import data_type as row_of


class Class(enum.Enum):
    """What a code stands for."""

    FINITE = "finite"
    INFINITY = "infinity"
    NAN = "NaN"
    SIGNALLING_NAN = "signalling NaN"


@dataclass(frozen=True)
class Value:
    """An exact value: ``magnitude`` matters for finite values, ``negative`` for all but NaN."""

    kind: Class
    negative: bool = False
    magnitude: Fraction = Fraction(0)

    @property
    def is_nan(self) -> bool:
        """Quiet or signalling NaN."""
        return self.kind in (Class.NAN, Class.SIGNALLING_NAN)

    @property
    def signed(self) -> Fraction:
        """The finite value with its sign; both zeros are 0."""
        return -self.magnitude if self.negative else self.magnitude

    def __str__(self) -> str:
        if self.is_nan:
            return self.kind.value
        sign = "-" if self.negative else ""
        return sign + ("inf" if self.kind is Class.INFINITY else _decimal(self.magnitude))


def decode(code: int, data_type: DataType) -> Value:
    """Return the exact value of a container code; bits outside the value (dead, or above it) are ignored."""
    # Integers of numpy would be remembered as they are, and overflow later.
    code = (index(code) & data_type.storage_mask) >> data_type.dead_bits
    return _decode(code & ((1 << data_type.value_bits) - 1), data_type.code)


# Narrow types meet the same codes again and again.
@lru_cache(maxsize=1 << 16)
def _decode(code: int, type_code: int) -> Value:
    """Return the value of the value bits ``code``. The cache is the reason for the type's code in place of its row."""
    data_type = row_of(type_code)
    if data_type.kind is Kind.UNSIGNED:
        return Value(Class.FINITE, False, Fraction(code))
    if data_type.kind is Kind.SIGNED:
        negative = bool(code >> (data_type.value_bits - 1))
        return Value(Class.FINITE, negative, Fraction(abs(code - (negative << data_type.value_bits))))
    if data_type.kind is Kind.SCALE:
        if code == data_type.canonical_nan:
            return Value(Class.NAN)
        return Value(Class.FINITE, False, scaled(1, code - data_type.bias))
    negative = bool(code >> (data_type.value_bits - 1))
    fraction = code & ((1 << (data_type.value_bits - 1)) - 1)
    return _decode_tapered(negative, fraction) if data_type.tapered else _decode_fixed(negative, fraction, data_type)


def _decode_fixed(negative: bool, code: int, data_type: DataType) -> Value:
    """Return the value of the exponent and mantissa fields ``code``."""
    mantissa_bits = data_type.mantissa_bits
    exponent, mantissa = code >> mantissa_bits, code & ((1 << mantissa_bits) - 1)
    if code << data_type.dead_bits > data_type.max_finite:
        if data_type.has_infinity and mantissa == 0:
            return Value(Class.INFINITY, negative)
        quiet = not data_type.has_signalling_nan or mantissa >> (mantissa_bits - 1)
        return Value(Class.NAN if quiet else Class.SIGNALLING_NAN)
    significand = mantissa | (bool(exponent) << mantissa_bits)
    scale = max(exponent, 1) - data_type.bias - mantissa_bits
    return Value(Class.FINITE, negative, scaled(significand, scale))


def _decode_tapered(negative: bool, code: int) -> Value:
    """Return the HiF8 value of the seven bits ``code``: the leading bits say how many exponent bits follow."""
    if code >> 3 == 0:
        if code == 0:
            return Value(Class.NAN) if negative else Value(Class.FINITE)
        return Value(Class.FINITE, negative, scaled(1, code - 23))
    if code == 0b11_0_111_1:
        return Value(Class.INFINITY, negative)
    # Prefix 11, 10, 01, 001, 0001: 4, 3, 2, 1, 0 exponent bits, of which the first is the sign.
    exponent_bits = {3: 4, 2: 3, 1: 2}.get(code >> 5, code >> 4)
    prefix_bits = 2 if code >> 5 else 4 - exponent_bits
    mantissa_bits = 7 - prefix_bits - exponent_bits
    mantissa = code & ((1 << mantissa_bits) - 1)
    exponent = 0
    if exponent_bits:
        field = (code >> mantissa_bits) & ((1 << exponent_bits) - 1)
        hidden = 1 << (exponent_bits - 1)
        exponent = hidden | (field & (hidden - 1))
        exponent = -exponent if field & hidden else exponent
    significand = (1 << mantissa_bits) | mantissa
    return Value(Class.FINITE, negative, scaled(significand, exponent - mantissa_bits))


def scaled(significand: int, exponent: int) -> Fraction:
    """Return ``significand * 2**exponent`` exactly."""
    return Fraction(significand << exponent) if exponent >= 0 else Fraction(significand, 1 << -exponent)


def power_of_two(exponent: int) -> Fraction:
    """Return ``2**exponent`` exactly."""
    return scaled(1, exponent)


def floor_log2(magnitude: Fraction) -> int:
    """Return the exponent of the leading one of a positive value."""
    numerator, denominator = magnitude.numerator, magnitude.denominator
    exponent = numerator.bit_length() - denominator.bit_length()
    reached = numerator >= denominator << exponent if exponent >= 0 else numerator << -exponent >= denominator
    return exponent if reached else exponent - 1


def _decimal(magnitude: Fraction) -> str:
    """Write a value in the shortest decimal form that double precision tells apart, integers in full."""
    if magnitude.denominator == 1 and magnitude < 1 << 64:
        return str(magnitude.numerator)
    return repr(float(magnitude))
