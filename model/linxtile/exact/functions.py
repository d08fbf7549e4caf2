"""Exponential, logarithm, reciprocal and roots: correctly rounded, but for TEXP and TLOG in FP64.

Those two are defined by the integer algorithm of `linxtile.explog64`, within one unit in the last place.
LinxISA v0.56, TEXP, TLOG, TRECIP, TSQRT, TRSQRT and EXPDIF; IEEE 754-2019, 9.2.1 for special operands.
"""

from fractions import Fraction

from linxtile import explog64
from linxtile.exact.arithmetic import quotient, subtract
from linxtile.exact.enclosures import exponential_bounds, logarithm_bounds, root, round_between
from linxtile.exact.integer_functions import integer_function
from linxtile.exact.operands import INVALID, operand, result
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import DataType
from linxtile.rounding import Outcome, overflow, round_to
from linxtile.values import Class, Value, floor_log2

_SPARE_BITS = 24
"""Bits beyond those of the result in the first attempt; fewer than one operand in 10 000 needs a second one."""


def exponential(code: int, data_type: DataType) -> Outcome:
    """``e**x``; OF where it exceeds the type."""
    if data_type.is_integer:
        return integer_function("exponential", code, data_type)
    value = operand(code, data_type)
    if data_type.storage_bits == 64:
        return explog64.exp64(code)
    if value.is_nan:
        return result(value, data_type)
    if value.kind is Class.INFINITY:
        return result(Value(Class.FINITE) if value.negative else value, data_type)
    if value.magnitude == 0:
        return result(_ONE, data_type)
    # Beyond this limit every argument overflows or gives zero.
    limit = Fraction(4 << data_type.exponent_bits)
    argument = max(-limit, min(value.signed, limit))
    return round_between(
        lambda bits: exponential_bounds(argument, bits),
        lambda bound: round_to(bound, False, data_type),
        # A small argument moves the result away from one by as little as itself.
        data_type.mantissa_bits + _SPARE_BITS + max(-floor_log2(value.magnitude), 0),
    )


def logarithm(code: int, data_type: DataType) -> Outcome:
    """``ln x``; of a zero minus infinity with DZ, of a negative value NaN with NV."""
    if data_type.is_integer:
        return integer_function("logarithm", code, data_type)
    value = operand(code, data_type)
    if data_type.storage_bits == 64:
        return explog64.log64(code)
    if value.kind is Class.FINITE and value.magnitude == 0:
        return overflow(True, data_type), Flag.DZ
    if value.is_nan or value.negative or value.kind is Class.INFINITY:
        return result(INVALID if value.negative else value, data_type)
    if value.magnitude == 1:
        return 0, NO_FLAG
    return round_between(
        lambda bits: logarithm_bounds(value.magnitude, bits),
        lambda bound: round_to(abs(bound), bound < 0, data_type),
        # The logarithm of a neighbour of one begins as many bits below one as the mantissa has.
        2 * data_type.mantissa_bits + _SPARE_BITS,
    )


def reciprocal(code: int, data_type: DataType) -> Outcome:
    """``1 / x``; of a zero infinity with DZ."""
    if data_type.is_integer:
        return integer_function("reciprocal", code, data_type)
    return quotient(_ONE, operand(code, data_type), data_type)


def square_root(code: int, data_type: DataType) -> Outcome:
    """Square root; of -0 it is -0, of a negative value NaN with NV."""
    if data_type.is_integer:
        return integer_function("square_root", code, data_type)
    value = operand(code, data_type)
    if value.is_nan or (value.kind is Class.FINITE and value.magnitude == 0):
        return result(value, data_type)
    if value.negative or value.kind is Class.INFINITY:
        return result(INVALID if value.negative else value, data_type)
    return round_to(root(value.magnitude, data_type.mantissa_bits + 2), False, data_type)


def reciprocal_root(code: int, data_type: DataType) -> Outcome:
    """``1 / sqrt(x)`` with one rounding; of a zero infinity of its sign with DZ, of a negative value NaN with NV."""
    if data_type.is_integer:
        return integer_function("reciprocal_root", code, data_type)
    value = operand(code, data_type)
    if value.is_nan:
        return result(value, data_type)
    if value.kind is Class.FINITE and value.magnitude == 0:
        return overflow(value.negative, data_type), Flag.DZ
    if value.negative or value.kind is Class.INFINITY:
        return result(INVALID if value.negative else Value(Class.FINITE), data_type)
    return round_to(root(1 / value.magnitude, data_type.mantissa_bits + 2), False, data_type)


def exponential_difference(first: int, second: int, data_type: DataType) -> Outcome:
    """``e**(x - y)`` in two steps, each rounded to the type; the flags of both."""
    difference, raised = subtract(first, second, data_type)
    power, flags = exponential(difference, data_type)
    return power, raised | flags


_ONE = Value(Class.FINITE, magnitude=Fraction(1))
