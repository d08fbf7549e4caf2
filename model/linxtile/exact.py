"""The definition of arithmetic on single elements: exact values, rounded once.

Each function takes container codes and the element type and returns a container code with the flags it raises.
`linxtile.numerics` does the same on arrays and is tested against this.
"""

from collections.abc import Callable
from fractions import Fraction

from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import DataType
from linxtile.rounding import overflow, round_to
from linxtile.values import Class, Value, decode

Outcome = tuple[int, Flag]
Function = Callable[..., Outcome]


def read(code: int, data_type: DataType) -> Outcome:
    """Read an operand: dead bits dropped, NaN replaced by the canonical one, NV for a signalling NaN."""
    value = decode(code, data_type)
    if value.is_nan:
        return _nan(data_type, value)
    if data_type.dead_bits:
        code &= -1 << data_type.dead_bits
    return code & data_type.storage_mask, NO_FLAG


def add(first: int, second: int, data_type: DataType) -> Outcome:
    """Sum; integers modulo ``2**w``."""
    if data_type.is_integer:
        return (first + second) & data_type.storage_mask, NO_FLAG
    return _add_values(decode(first, data_type), decode(second, data_type), data_type)


def subtract(first: int, second: int, data_type: DataType) -> Outcome:
    """Difference; integers modulo ``2**w``."""
    if data_type.is_integer:
        return (first - second) & data_type.storage_mask, NO_FLAG
    taken = decode(second, data_type)
    return _add_values(decode(first, data_type), Value(taken.kind, not taken.negative, taken.magnitude), data_type)


def maximum(first: int, second: int, data_type: DataType) -> Outcome:
    """Larger operand: a number wins against NaN, +0 against -0."""
    return _select(first, second, data_type, larger=True)


def minimum(first: int, second: int, data_type: DataType) -> Outcome:
    """Smaller operand: a number wins against NaN, -0 against +0."""
    return _select(first, second, data_type, larger=False)


def absolute(code: int, data_type: DataType) -> Outcome:
    """Floats: sign bit cleared, all other bits kept. Integers: the most negative value stays."""
    if data_type.is_float:
        return code & ~data_type.sign_bit & data_type.storage_mask, NO_FLAG
    return int(decode(code, data_type).magnitude) & data_type.storage_mask, NO_FLAG


def negate(code: int, data_type: DataType) -> Outcome:
    """Floats: sign bit flipped, all other bits kept. Integers, unsigned too: modulo ``2**w``."""
    if data_type.is_float:
        return code ^ data_type.sign_bit, NO_FLAG
    return -code & data_type.storage_mask, NO_FLAG


def relu(code: int, data_type: DataType) -> Outcome:
    """The value if it is above zero, else +0; NaN gives the canonical NaN."""
    value = decode(code, data_type)
    if value.is_nan:
        return _nan(data_type, value)
    positive = not value.negative and (value.kind is Class.INFINITY or value.magnitude > 0)
    return read(code, data_type) if positive else (0, NO_FLAG)


def bit_and(first: int, second: int, data_type: DataType) -> Outcome:
    """Bitwise AND."""
    return first & second, NO_FLAG


def bit_or(first: int, second: int, data_type: DataType) -> Outcome:
    """Bitwise OR."""
    return first | second, NO_FLAG


def bit_xor(first: int, second: int, data_type: DataType) -> Outcome:
    """Bitwise exclusive OR."""
    return first ^ second, NO_FLAG


def bit_not(code: int, data_type: DataType) -> Outcome:
    """Bitwise complement."""
    return ~code & data_type.storage_mask, NO_FLAG


def shift_left(code: int, count: int, data_type: DataType) -> Outcome:
    """Shift by the count modulo the element width."""
    return (code << (count % data_type.storage_bits)) & data_type.storage_mask, NO_FLAG


def shift_right(code: int, count: int, data_type: DataType) -> Outcome:
    """Shift by the count modulo the element width; signed types keep their sign."""
    value = int(decode(code, data_type).signed)
    return (value >> (count % data_type.storage_bits)) & data_type.storage_mask, NO_FLAG


def _nan(data_type: DataType, *operands: Value) -> Outcome:
    """Return the canonical NaN, NV if an operand is a signalling NaN."""
    code = data_type.canonical_nan
    if code is None:
        raise ValueError(f"{data_type.name} has no NaN")
    signalling = any(operand.kind is Class.SIGNALLING_NAN for operand in operands)
    return code, Flag.NV if signalling else NO_FLAG


def _add_values(first: Value, second: Value, data_type: DataType) -> Outcome:
    if first.is_nan or second.is_nan:
        return _nan(data_type, first, second)
    infinite = [value for value in (first, second) if value.kind is Class.INFINITY]
    if infinite:
        if len(infinite) == 2 and first.negative != second.negative:
            return _nan(data_type)[0], Flag.NV
        return overflow(infinite[0].negative, data_type), NO_FLAG
    total = first.signed + second.signed
    # An exact zero is +0 in round-to-nearest, unless both operands are negative zeros.
    negative = total < 0 if total else first.negative and second.negative
    return round_to(abs(total), negative, data_type)


def _select(first: int, second: int, data_type: DataType, *, larger: bool) -> Outcome:
    values = decode(first, data_type), decode(second, data_type)
    flags = Flag.NV if any(value.kind is Class.SIGNALLING_NAN for value in values) else NO_FLAG
    if values[0].is_nan or values[1].is_nan:
        chosen = second if values[0].is_nan else first
        return read(chosen, data_type)[0], flags
    prefer_first = _order(values[0], data_type) >= _order(values[1], data_type)
    return read(first if prefer_first == larger else second, data_type)[0], flags


def _order(value: Value, data_type: DataType) -> tuple[bool, bool, Fraction, bool]:
    """Return a sort key: -infinity, finite values with -0 below +0, +infinity."""
    infinite = value.kind is Class.INFINITY
    positive_zero = not value.negative and data_type.is_float
    return (infinite and not value.negative, not (infinite and value.negative), value.signed, positive_zero)
