"""Exponentials, logarithms and roots by integer arithmetic, as closely as a rounding needs them.

A sum in fixed point carries an integer bound of its error, in units of its last bit: each step of a series truncates
at most twice, which the bounds below count as four.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import TypeVar

from linxtile.values import floor_log2, scaled

Bounds = tuple[Fraction, Fraction]
Rounded = TypeVar("Rounded")


def round_between(bounds: Callable[[int], Bounds], rounding: Callable[[Fraction], Rounded], bits: int) -> Rounded:
    """Round an irrational value: add bits until its lower and upper bound round alike (Ziv's method).

    Parameters
    ----------
    bounds : function
        From the bits of the fixed point to a lower and an upper bound of the value.
    rounding : function
        Monotonic. Its steps are at rational values, so that some precision is always enough.
    bits : int
        Precision of the first attempt.
    """
    while True:
        lower, upper = bounds(bits)
        rounded = rounding(lower)
        if rounded == rounding(upper):
            return rounded
        bits *= 2


def exponential_bounds(argument: Fraction, bits: int) -> Bounds:
    """Enclose ``e**argument``: a power of two times the series of ``e**rest``, ``|rest| <= ln(2) / 2``."""
    # The error of ln 2 counts as often as it is taken: these bits make it less than one.
    extra = max(argument.numerator.bit_length() - argument.denominator.bit_length(), 0) + 3
    fixed = (argument.numerator << (bits + extra)) // argument.denominator
    one = natural_log_of_two(bits + extra)
    power = (2 * fixed + one) // (2 * one)
    rest = (fixed - power * one) >> extra
    total = term = 1 << bits
    steps = 0
    while term not in (0, -1):
        steps += 1
        term = ((term * rest) >> bits) // steps
        total += term
    error = 4 * steps + 8
    return scaled(total - error, power - bits), scaled(total + error, power - bits)


def logarithm_bounds(argument: Fraction, bits: int) -> Bounds:
    """Enclose ``ln argument``: a multiple of ln 2 plus ``2 * artanh((m - 1) / (m + 1))``, ``2/3 < m <= 4/3``."""
    power = floor_log2(argument * Fraction(3, 2))
    mantissa = argument * scaled(1, -power)
    numerator, denominator = mantissa.numerator, mantissa.denominator
    series, error = _twice_artanh(numerator - denominator, numerator + denominator, bits)
    extra = power.bit_length()
    total = ((power * natural_log_of_two(bits + extra)) >> extra) + series
    error += 4
    return scaled(total - error, -bits), scaled(total + error, -bits)


@cache
def natural_log_of_two(bits: int) -> int:
    """Return ``ln 2 * 2**bits`` with an error of less than two."""
    extra = bits.bit_length() + 4
    return _twice_artanh(1, 3, bits + extra)[0] >> extra


def _twice_artanh(numerator: int, denominator: int, bits: int) -> tuple[int, int]:
    """Return ``2 * artanh(numerator / denominator)`` in fixed point and a bound of its error; the ratio is below 1/2."""
    power = (numerator << bits) // denominator
    square = (power * power) >> bits
    total, steps = 0, 0
    while power not in (0, -1):
        total += power // (2 * steps + 1)
        power = (power * square) >> bits
        steps += 1
    return 2 * total, 4 * steps + 8


def root(radicand: Fraction, bits: int) -> Fraction:
    """Return what rounds as the square root: its leading bits, more than ``bits``, and half of the last if inexact."""
    shift = 2 * bits - floor_log2(radicand)
    shift += shift % 2
    shifted = radicand * scaled(1, shift)
    leading = isqrt(int(shifted))
    inexact = leading * leading != shifted
    return scaled(2 * leading + inexact, -shift // 2 - 1)
