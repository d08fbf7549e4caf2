"""Operations that choose, compare or change a sign: none of them rounds, but for the slope of the leaky forms.

LinxISA v0.56, TMAX, TMIN, TCMP, TRELU, TPRELU, TLRELU, TABS and TNEG; IEEE 754-2019, 9.6 for the order of NaN and zeros.
"""

from fractions import Fraction

from linxtile.exact.arithmetic import multiply
from linxtile.exact.operands import operand, signalling
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import CompareMode
from linxtile.isa.types import DataType
from linxtile.rounding import Outcome
from linxtile.values import Class, Value, decode


def read(code: int, data_type: DataType) -> Outcome:
    """Read an operand: dead bits dropped, NaN replaced by the canonical one, NV for a signalling NaN."""
    value = decode(code, data_type)
    if value.is_nan and data_type.canonical_nan is not None:
        return data_type.canonical_nan, signalling(value)
    return code & data_type.storage_mask & (-1 << data_type.dead_bits), NO_FLAG


def absolute(code: int, data_type: DataType) -> Outcome:
    """Floats: sign bit cleared, all other bits kept. Integers: the most negative value stays."""
    value = operand(code, data_type)
    if data_type.is_float:
        return code & ~data_type.sign_bit & data_type.storage_mask, NO_FLAG
    return int(value.magnitude) & data_type.storage_mask, NO_FLAG


def negate(code: int, data_type: DataType) -> Outcome:
    """Floats: sign bit flipped, all other bits kept. Integers, unsigned too: modulo ``2**w``."""
    value = operand(code, data_type)
    if data_type.is_float:
        return code ^ data_type.sign_bit, NO_FLAG
    return int(-value.signed) & data_type.storage_mask, NO_FLAG


def maximum(first: int, second: int, data_type: DataType) -> Outcome:
    """Larger operand: a number wins against NaN, +0 against -0."""
    return _select(first, second, data_type, larger=True)


def minimum(first: int, second: int, data_type: DataType) -> Outcome:
    """Smaller operand: a number wins against NaN, -0 against +0."""
    return _select(first, second, data_type, larger=False)


def relu(code: int, data_type: DataType) -> Outcome:
    """The value if it is above zero, else +0; NaN gives the canonical NaN."""
    value = operand(code, data_type)
    return read(code, data_type) if value.is_nan or _above_zero(value) else (0, NO_FLAG)


def leaky_relu(code: int, slope: int, data_type: DataType) -> Outcome:
    """The value if it is above zero, whatever the slope, else its product with the slope."""
    if _above_zero(operand(code, data_type)):
        return read(code, data_type)
    return multiply(code, slope, data_type)


def compare(first: int, second: int, data_type: DataType, mode: CompareMode) -> tuple[bool, Flag]:
    """Compare by value; zeros are equal, a NaN is unequal to all and in no other relation. NV: a signalling NaN."""
    left, right = operand(first, data_type), operand(second, data_type)
    if left.is_nan or right.is_nan:
        return mode == CompareMode.NE, signalling(left, right)
    smaller, larger = _order(left) < _order(right), _order(left) > _order(right)
    holds = {
        CompareMode.EQ: not smaller and not larger,
        CompareMode.NE: smaller or larger,
        CompareMode.LT: smaller,
        CompareMode.GT: larger,
        CompareMode.LE: not larger,
        CompareMode.GE: not smaller,
    }
    return holds[mode], NO_FLAG


def _above_zero(value: Value) -> bool:
    return not value.is_nan and not value.negative and (value.kind is Class.INFINITY or value.magnitude > 0)


def _select(first: int, second: int, data_type: DataType, *, larger: bool) -> Outcome:
    values = operand(first, data_type), operand(second, data_type)
    flags = signalling(*values)
    if values[0].is_nan or values[1].is_nan:
        return read(second if values[0].is_nan else first, data_type)[0], flags
    # Equal values differ at most by the sign of a zero.
    keys = [(_order(value), not value.negative) for value in values]
    return read(first if (keys[0] >= keys[1]) == larger else second, data_type)[0], flags


def _order(value: Value) -> tuple[int, Fraction]:
    """Return a sort key of a number: infinities below and above all finite values."""
    if value.kind is Class.INFINITY:
        return (-1 if value.negative else 1), Fraction(0)
    return 0, value.signed
