"""Remainders: TREM takes the sign of the divisor, TFMOD that of the dividend.

LinxISA v0.56, TREM and TFMOD. Without a quotient (divisor zero) integers give the dividend, floats the NaN.
"""

from linxtile.exact.operands import INVALID, first_nan, integer, operand, result
from linxtile.flags import NO_FLAG
from linxtile.isa.types import DataType
from linxtile.rounding import Outcome
from linxtile.values import Class, Value


def remainder(first: int, second: int, data_type: DataType) -> Outcome:
    """``x - y * floor(x / y)``: the truncated remainder, plus the divisor where their signs differ."""
    if data_type.is_integer:
        return _floored_integer(integer(first, data_type), integer(second, data_type)) & data_type.storage_mask, NO_FLAG
    divisor = operand(second, data_type)
    truncated = _truncated(operand(first, data_type), divisor)
    if truncated.is_nan:
        return result(truncated, data_type)
    if truncated.magnitude == 0:
        return result(Value(Class.FINITE, divisor.negative), data_type)
    if truncated.negative == divisor.negative:
        return result(truncated, data_type)
    if divisor.kind is Class.INFINITY:
        return result(divisor, data_type)
    # The sum lies between zero and the divisor, with the divisor's sign.
    corrected = Value(Class.FINITE, divisor.negative, divisor.magnitude - truncated.magnitude)
    return result(corrected, data_type)


def fmod(first: int, second: int, data_type: DataType) -> Outcome:
    """``x - y * trunc(x / y)``: always exact."""
    if data_type.is_integer:
        return _truncated_integer(
            integer(first, data_type), integer(second, data_type)
        ) & data_type.storage_mask, NO_FLAG
    return result(_truncated(operand(first, data_type), operand(second, data_type)), data_type)


def _floored_integer(dividend: int, divisor: int) -> int:
    return dividend % divisor if divisor else dividend


def _truncated_integer(dividend: int, divisor: int) -> int:
    magnitude = abs(dividend) % abs(divisor) if divisor else abs(dividend)
    return -magnitude if dividend < 0 else magnitude


def _truncated(dividend: Value, divisor: Value) -> Value:
    """Return the remainder of the truncated quotient, with the sign of the dividend."""
    if nan := first_nan(dividend, divisor):
        return nan
    if dividend.kind is Class.INFINITY or (divisor.kind is Class.FINITE and divisor.magnitude == 0):
        return INVALID
    if divisor.kind is Class.INFINITY:
        return dividend
    return Value(Class.FINITE, dividend.negative, dividend.magnitude % divisor.magnitude)
