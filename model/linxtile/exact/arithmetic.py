"""Sums, products and quotients: the exact value of the whole expression, rounded once.

Integers are kept modulo ``2**w``. LinxISA v0.56, tile arithmetic; IEEE 754-2019, 6.3 for the signs of zeros.
"""

from linxtile.exact.operands import INVALID, first_nan, integer, operand, result
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import DataType
from linxtile.rounding import Outcome, overflow
from linxtile.values import Class, Value


def add(first: int, second: int, data_type: DataType) -> Outcome:
    """Sum."""
    return result(_total(operand(first, data_type), operand(second, data_type)), data_type)


def subtract(first: int, second: int, data_type: DataType) -> Outcome:
    """Difference."""
    return result(_total(operand(first, data_type), _opposite(operand(second, data_type))), data_type)


def add_three(first: int, second: int, third: int, data_type: DataType) -> Outcome:
    """``first + second + third`` with one rounding."""
    terms = operand(first, data_type), operand(second, data_type), operand(third, data_type)
    return result(_total(*terms), data_type)


def subtract_add(first: int, second: int, third: int, data_type: DataType) -> Outcome:
    """``first - second + third`` with one rounding."""
    terms = operand(first, data_type), _opposite(operand(second, data_type)), operand(third, data_type)
    return result(_total(*terms), data_type)


def multiply(first: int, second: int, data_type: DataType) -> Outcome:
    """Product; of integers the low half, the same for signed and unsigned."""
    return result(_product(operand(first, data_type), operand(second, data_type)), data_type)


def multiply_add(first: int, second: int, third: int, data_type: DataType) -> Outcome:
    """``first * second + third`` with one rounding. Infinity times zero is invalid even if ``third`` is a NaN."""
    product = _product(operand(first, data_type), operand(second, data_type))
    return result(_total(product, operand(third, data_type)), data_type)


def divide(first: int, second: int, data_type: DataType) -> Outcome:
    """Quotient; of integers truncated, ``x / 0`` all ones and the most negative value divided by -1 itself."""
    if data_type.is_integer:
        return _integer_quotient(
            integer(first, data_type), integer(second, data_type)
        ) & data_type.storage_mask, NO_FLAG
    return quotient(operand(first, data_type), operand(second, data_type), data_type)


def quotient(dividend: Value, divisor: Value, data_type: DataType) -> Outcome:
    """Round the quotient of two exact values of a float type; a finite value over zero is infinite and raises DZ."""
    if nan := first_nan(dividend, divisor):
        return result(nan, data_type)
    negative = dividend.negative != divisor.negative
    if dividend.kind is Class.INFINITY:
        return result(INVALID if divisor.kind is Class.INFINITY else Value(Class.INFINITY, negative), data_type)
    if divisor.kind is Class.INFINITY:
        return result(Value(Class.FINITE, negative), data_type)
    if divisor.magnitude == 0:
        return result(INVALID, data_type) if dividend.magnitude == 0 else (overflow(negative, data_type), Flag.DZ)
    return result(Value(Class.FINITE, negative, dividend.magnitude / divisor.magnitude), data_type)


def _integer_quotient(dividend: int, divisor: int) -> int:
    if divisor == 0:
        return -1
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def _opposite(value: Value) -> Value:
    return Value(value.kind, not value.negative, value.magnitude)


def _total(*terms: Value) -> Value:
    """Return the exact sum; a zero sum is +0 unless all terms are negative zeros."""
    if nan := first_nan(*terms):
        return nan
    infinite = [term for term in terms if term.kind is Class.INFINITY]
    if infinite:
        return infinite[0] if len({term.negative for term in infinite}) == 1 else INVALID
    total = sum((term.signed for term in terms[1:]), terms[0].signed)
    negative = total < 0 if total else all(term.negative for term in terms)
    return Value(Class.FINITE, negative, abs(total))


def _product(first: Value, second: Value) -> Value:
    if nan := first_nan(first, second):
        return nan
    negative = first.negative != second.negative
    if Class.INFINITY in (first.kind, second.kind):
        zero = any(factor.kind is Class.FINITE and factor.magnitude == 0 for factor in (first, second))
        return INVALID if zero else Value(Class.INFINITY, negative)
    return Value(Class.FINITE, negative, first.magnitude * second.magnitude)
