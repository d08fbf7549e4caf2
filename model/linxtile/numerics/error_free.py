"""Sums and products of binary64 without loss: what is needed to round an expression of several terms once.

The functions take arrays that broadcast and no overflow, unless they say otherwise. Rounding to odd keeps what a later
rounding to fewer bits must know: whether anything was lost, and on which side. Boldo and Melquiond, "Emulation of FMA
and correctly rounded sums: proved algorithms using rounding to odd", IEEE Transactions on Computers 57(4), 2008.
"""

from typing import Any

import numpy as np

from linxtile.numerics.types import Floats, Truths

_SPLITTER = np.float64((1 << 27) + 1)


def two_sum(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return the rounded sum and its error, which together are the exact sum."""
    total = first + second
    shadow = total - first
    return total, (first - (total - shadow)) + (second - shadow)


def two_product(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Return the rounded product and its error; exact from ``2**-960`` to ``2**1020`` if no factor exceeds ``2**990``."""
    product = first * second
    first_high, first_low = _split(first)
    second_high, second_low = _split(second)
    error = ((first_high * second_high - product) + first_high * second_low + first_low * second_high) + (
        first_low * second_low
    )
    return product, error


def odd_sum(first: Floats, second: Floats) -> Floats:
    """Return the sum rounded to odd; infinities and NaN are those of the ordinary sum."""
    odd: Floats = to_odd(*two_sum(first, second))
    return odd


def to_odd(rounded: Any, error: Floats) -> Any:
    """Turn fresh results rounded to nearest, binary64 or binary32, into results rounded to odd.

    ``error`` is what was lost, exactly or with its sign at least. The result is the truncated one with its last bit set if
    anything was lost.
    """
    # The error of an infinite result is NaN, which is not above zero.
    inexact = np.abs(error) > 0
    bits = rounded.view(np.dtype(f"i{rounded.itemsize}"))
    bits -= inexact & ((error < 0) != np.signbit(rounded))
    bits |= inexact
    return rounded


def odd_sum_of_three(first: Floats, second: Floats, third: Floats) -> Floats:
    """Return the sum of three terms rounded to odd, so that it can be rounded to 51 bits or fewer."""
    total, rest = _sum_and_rest(first, second, third)
    return np.where(_rest_matters(total, rest), odd_sum(total, rest), total)


def sum_of_three(first: Floats, second: Floats, third: Floats) -> Floats:
    """Return the sum of three terms rounded to nearest in binary64; not finite where a partial sum overflows."""
    total, rest = _sum_and_rest(first, second, third)
    return np.where(_rest_matters(total, rest), total + rest, total)


def odd_product_sum(first: Floats, second: Floats, third: Floats) -> Floats:
    """Return ``first * second + third`` rounded to odd, for factors whose product is exact."""
    return odd_sum(first * second, third)


def product_sum(first: Floats, second: Floats, third: Floats) -> Floats:
    """Return ``first * second + third`` rounded to nearest in binary64, under the conditions of :func:`two_product`."""
    product, error = two_product(first, second)
    middle, low = two_sum(third, error)
    high, rest = two_sum(product, middle)
    lost = odd_sum(rest, low)
    return np.where(_rest_matters(high, lost), high + lost, product + third)


def _rest_matters(total: Floats, rest: Floats) -> Truths:
    """Tell where something is to be added to a sum: a zero would change the sign of a negative zero sum."""
    matters: Truths = np.isfinite(total) & (rest != 0)
    return matters


def _sum_and_rest(first: Floats, second: Floats, third: Floats) -> tuple[Floats, Floats]:
    """Return a rounded sum of three terms and the rest, rounded to odd."""
    pair, pair_error = two_sum(second, third)
    total, total_error = two_sum(first, pair)
    return total, odd_sum(total_error, pair_error)


def _split(value: Floats) -> tuple[Floats, Floats]:
    """Return two halves of 26 bits, whose products are exact."""
    scaled = _SPLITTER * value
    high = scaled - (scaled - value)
    return high, value - high
