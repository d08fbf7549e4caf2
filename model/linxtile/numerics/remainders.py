"""Remainders in binary64."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linxtile.numerics.types import Floats

_QUOTIENT_BITS = 28


def truncated_remainder(dividend: Floats, divisor: Floats) -> Floats:
    """Return ``x - y * trunc(x / y)`` of numbers of up to 24 bits: exact, with the sign of ``x``, zeros too.

    NaN for an infinite ``x`` or a zero ``y``; ``x`` for an infinite ``y``. The host's own remainder takes a step for every
    bit of the quotient.
    """
    # Any number above all dividends does for an infinite divisor.
    unit = np.minimum(np.abs(divisor), 2.0**1000)
    rest = _nearest_remainder(np.abs(dividend), unit)
    return np.copysign(np.where(rest < 0, rest + unit, rest), dividend)


def floored_remainder(truncated: Callable[[Floats, Floats], Floats], dividend: Floats, divisor: Floats) -> Floats:
    """Return ``x - y * floor(x / y)``, rounded once, by way of a truncated remainder; a zero has the sign of ``y``."""
    rest = truncated(dividend, divisor)
    other_sign = (np.signbit(rest) != np.signbit(divisor)) & (rest != 0)
    return np.where(other_sign, rest + divisor, np.copysign(rest, np.where(rest == 0, divisor, rest)))


def _nearest_remainder(dividend: Floats, unit: Floats) -> Floats:
    """Return what is left of a dividend after the nearest multiple of the unit, at most half a unit on either side.

    A quotient of 29 bits times a unit of 24 is exact, and so is what is left: it has 25 bits. Longer quotients are taken
    in pieces, from the top, as multiples of the unit times a power of two.
    """
    places = np.maximum(_exponent(dividend) - _exponent(unit) - _QUOTIENT_BITS, 0)
    scaled = unit * ((places + 1023) << 52).view(np.float64)
    rest: Floats = dividend - np.rint(dividend / scaled) * scaled
    more = (places > 0) & np.isfinite(rest)
    if more.any():
        rest[more] = _nearest_remainder(rest[more], np.broadcast_to(unit, rest.shape)[more])
    return rest


def _exponent(values: Floats) -> Any:
    """Return the exponent fields."""
    return (values.view(np.int64) >> 52) & 0x7FF
