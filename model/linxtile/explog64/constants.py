"""Constants of the FP64 exponential and logarithm: fixed-point integers, computed from their definitions.

The hardware reads the same tables. Scales are written as the number of fraction bits: ``FRACTION = 62`` means steps of
``2**-62``. `docs/explog64.md` says why each is as wide as it is.
"""

from functools import cache
from math import isqrt

INDEX_BITS = 8
"""Index of both tables."""

ENTRIES = 1 << INDEX_BITS

SIGNIFICAND_FRACTION = 62
"""Fraction bits of a result of the exponential before it is rounded."""

ARGUMENT_FRACTION = 64
"""Fraction bits of the argument of the exponential and of its reduced argument."""

COARSE_FRACTION = 16
"""Fraction bits of the argument that choose the table step."""

STEP_GUARD = 24
"""Fraction bits of the table step beyond those of the argument."""

STEPS_PER_UNIT_FRACTION = 18
"""Fraction bits of the number of table steps that make an argument of one."""

EXP_FRACTIONS = {3: 38, 4: 30, 5: 22}
"""Fraction bits of the coefficient 1/n! of each power of the reduced argument."""

RECIPROCAL_FRACTION = 10
"""Fraction bits of the reciprocals of the logarithm."""

REDUCED_FRACTION = 52 + RECIPROCAL_FRACTION
"""Fraction bits of significand times reciprocal."""

LOG_FRACTION = 70
"""Fraction bits of the sum that is the logarithm."""

LOG_FRACTIONS = {1: 62, 2: 58, 3: 50, 4: 42, 5: 34, 6: 26, 7: 18}
"""Fraction bits of the coefficient 1/n of each power of the reduced argument."""

HALVED_FROM = 106
"""First index of the logarithm (significand about 1.414) whose significand is halved and whose exponent is one more."""

_WORKING = 160
"""Fraction bits that constants are computed with: errors of some 2**-150 cannot move any of them by a step."""


def exp_table() -> tuple[int, ...]:
    """Return ``2**(i/256) - 1`` for each index, `SIGNIFICAND_FRACTION` fraction bits."""
    root = 2 << _WORKING
    for _ in range(INDEX_BITS):
        root = isqrt(root << _WORKING)
    table, power = [], 1 << _WORKING
    for _ in range(ENTRIES):
        table.append(_rounded(power - (1 << _WORKING), SIGNIFICAND_FRACTION))
        power = power * root >> _WORKING
    return tuple(table)


def exp_step() -> int:
    """Return ``ln(2) / 256``, the distance of table entries, `ARGUMENT_FRACTION` + `STEP_GUARD` fraction bits."""
    return _rounded(_log_of_two(), ARGUMENT_FRACTION + STEP_GUARD - INDEX_BITS)


def exp_steps_per_unit() -> int:
    """Return ``256 / ln(2)``, `STEPS_PER_UNIT_FRACTION` fraction bits."""
    return _rounded((1 << 2 * _WORKING + INDEX_BITS) // _log_of_two(), STEPS_PER_UNIT_FRACTION)


def exp_coefficients() -> dict[int, int]:
    """Return ``1 / n!`` for each power of `EXP_FRACTIONS`."""
    factorials = {3: 6, 4: 24, 5: 120}
    return {n: _ratio(1, factorials[n], fraction) for n, fraction in EXP_FRACTIONS.items()}


def log_reciprocals() -> tuple[int, ...]:
    """Return the reciprocal of the middle of each interval of significands, `RECIPROCAL_FRACTION` fraction bits.

    Interval ``i`` begins at ``1 + i/256``. Around one the reciprocal is exactly 1 or 1/2, so that the reduced argument is
    the distance from one and the table adds nothing.
    """
    one = 1 << RECIPROCAL_FRACTION
    table = [_ratio(2 * ENTRIES, 2 * (ENTRIES + index) + 1, RECIPROCAL_FRACTION) for index in range(ENTRIES)]
    table[0] = one
    table[-2:] = [one >> 1] * 2
    return tuple(table)


def log_table() -> tuple[int, ...]:
    """Return minus the logarithm of each reciprocal, doubled from `HALVED_FROM` on, `LOG_FRACTION` fraction bits."""
    # logarithms[n] = ln(n / 1024), from ln(n / (n + 1)) = -2 atanh(1 / (2 n + 1)).
    logarithms = {1 << RECIPROCAL_FRACTION: 0}
    for n in range((1 << RECIPROCAL_FRACTION) - 1, (1 << RECIPROCAL_FRACTION - 1) - 1, -1):
        logarithms[n] = logarithms[n + 1] - _twice_atanh_of_inverse(2 * n + 1)
    doubled = -logarithms[1 << RECIPROCAL_FRACTION - 1]
    return tuple(
        -_rounded(logarithms[reciprocal] + (doubled if index >= HALVED_FROM else 0), LOG_FRACTION)
        for index, reciprocal in enumerate(log_reciprocals())
    )


def log_of_two() -> int:
    """Return ``ln(2)``, `LOG_FRACTION` fraction bits."""
    return _rounded(_log_of_two(), LOG_FRACTION)


def log_coefficients() -> dict[int, int]:
    """Return ``1 / n`` for each power of `LOG_FRACTIONS`."""
    return {n: _ratio(1, n, fraction) for n, fraction in LOG_FRACTIONS.items()}


@cache
def _log_of_two() -> int:
    return _twice_atanh_of_inverse(3)


def _twice_atanh_of_inverse(divisor: int) -> int:
    """Return ``2 * atanh(1 / divisor)``, `_WORKING` fraction bits."""
    total, n = 0, 1
    power = (2 << _WORKING) // divisor
    while power:
        total += power // n
        power //= divisor * divisor
        n += 2
    return total


def _rounded(value: int, fraction: int) -> int:
    """Round a value of `_WORKING` fraction bits to the nearest of ``fraction`` fraction bits."""
    shift = _WORKING - fraction
    return (value + (1 << shift - 1)) >> shift


def _ratio(numerator: int, denominator: int, fraction: int) -> int:
    """Return a quotient rounded to the nearest of ``fraction`` fraction bits."""
    return ((numerator << fraction + 1) + denominator) // (2 * denominator)
