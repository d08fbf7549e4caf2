"""How every operation of the definition begins and ends: codes to exact values, the exact result to a code."""

from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import DataType
from linxtile.rounding import Outcome, round_value
from linxtile.values import Class, Value, decode

INVALID = Value(Class.SIGNALLING_NAN)
"""The result of an operation that has no value: like a signalling NaN it becomes the canonical NaN and raises NV."""


def computes(data_type: DataType) -> bool:
    """Whether operations compute in a type; all others are only moved and converted."""
    if data_type.is_float:
        return data_type.has_nan and not data_type.tapered
    return data_type.is_integer and not data_type.is_packed


def operand(code: int, data_type: DataType) -> Value:
    """Return the exact value of an operand.

    Raises
    ------
    ValueError
        No operation computes in the type.
    """
    if not computes(data_type):
        raise ValueError(f"no operation computes in {data_type.name}")
    return decode(code, data_type)


def integer(code: int, data_type: DataType) -> int:
    """Return the value of an operand of an integer type."""
    return int(operand(code, data_type).signed)


def result(value: Value, data_type: DataType) -> Outcome:
    """Return the code of an exact result: floats rounded to nearest, ties to even, integers modulo ``2**w``."""
    if data_type.is_integer:
        return int(value.signed) & data_type.storage_mask, NO_FLAG
    return round_value(value, data_type)


def first_nan(*operands: Value) -> Value | None:
    """Return the NaN that answers NaN operands, a signalling one if any is, or None without NaN."""
    kinds = [value.kind for value in operands]
    if Class.SIGNALLING_NAN in kinds:
        return INVALID
    return Value(Class.NAN) if Class.NAN in kinds else None


def signalling(*operands: Value) -> Flag:
    """Return NV if an operand is a signalling NaN."""
    return Flag.NV if any(value.kind is Class.SIGNALLING_NAN for value in operands) else NO_FLAG
