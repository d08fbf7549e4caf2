"""TEXP, TLOG, TRECIP, TSQRT and TRSQRT of integers: the real result truncated, and held within the type.

The ISA lists integer types for these operations without saying what they compute. This table is the only place that
says so: without an entry the operation has no meaning in integer types.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import isqrt

from linxtile.exact.enclosures import exponential_bounds, logarithm_bounds, round_between
from linxtile.exact.operands import integer
from linxtile.flags import NO_FLAG
from linxtile.isa.types import DataType
from linxtile.rounding import Outcome
from linxtile.values import decode

_FIRST_BITS = 100
"""Enough for the integer part of 64 bits and, nearly always, for its truncation."""


def integer_function(name: str, code: int, data_type: DataType) -> Outcome:
    """Apply an entry of the table to a code.

    Raises
    ------
    ValueError
        The operation is not in the table.
    """
    if name not in INTEGER_FUNCTIONS:
        raise ValueError(f"{name} has no meaning in the integer type {data_type.name}")
    lowest = int(decode(data_type.min_finite, data_type).signed)
    highest = int(decode(data_type.max_finite, data_type).signed)
    value = INTEGER_FUNCTIONS[name](integer(code, data_type), lowest, highest)
    return min(value, highest) & data_type.storage_mask, NO_FLAG


def _exponential(value: int, lowest: int, highest: int) -> int:
    if value <= 0:
        return 1 if value == 0 else 0
    argument = Fraction(min(value, highest.bit_length()))
    return round_between(lambda bits: exponential_bounds(argument, bits), int, _FIRST_BITS)


def _logarithm(value: int, lowest: int, highest: int) -> int:
    if value == 0:
        return lowest
    if value <= 1:
        return 0
    return round_between(lambda bits: logarithm_bounds(Fraction(value), bits), int, _FIRST_BITS)


def _reciprocal(value: int, lowest: int, highest: int) -> int:
    return {0: -1, 1: 1, -1: -1}.get(value, 0)


def _square_root(value: int, lowest: int, highest: int) -> int:
    return isqrt(value) if value > 0 else 0


def _reciprocal_root(value: int, lowest: int, highest: int) -> int:
    return {0: highest, 1: 1}.get(value, 0)


INTEGER_FUNCTIONS: Mapping[str, Callable[[int, int, int], int]] = {
    "exponential": _exponential,
    "logarithm": _logarithm,
    "reciprocal": _reciprocal,
    "square_root": _square_root,
    "reciprocal_root": _reciprocal_root,
}
"""From the operand and the limits of its type to the result, which may exceed the type upward."""
