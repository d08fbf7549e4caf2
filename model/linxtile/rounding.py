"""Rounding of an exact value to an element code: the one place where the definition rounds.

Every type is a ladder of codes. An exact value lies on a rung or between two; which of the two is taken depends on the
rounding mode, on which rung is nearer and on which has the odd code. The ladder goes on above the largest finite value,
so that the range is checked on the rounded value. LinxISA v0.56, rounding modes and conversion.
"""

from bisect import bisect_right
from fractions import Fraction
from typing import NamedTuple

from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import DATA_TYPES, DataType, Kind
from linxtile.values import Class, Value, decode, floor_log2, scaled

Outcome = tuple[int, Flag]
"""A container code and the flags that its computation raises."""


class _Position(NamedTuple):
    """Where a magnitude lies on the ladder of its type.

    ``rung`` is the rung at or below it, ``above`` whether it lies above that rung, and ``half`` is negative, zero or
    positive when the lower rung, neither or the upper one is nearer.
    """

    rung: int
    above: bool
    half: int


def round_value(
    value: Value, data_type: DataType, rounding: RoundingMode = RoundingMode.RNE, saturate: bool = False
) -> Outcome:
    """Round an exact value to any type, by the rules of a conversion from a float.

    Parameters
    ----------
    value : Value
        Finite, infinite or NaN.
    rounding : RoundingMode
        NONE means RTZ to integers and RNE to all others.
    saturate : bool
        Give the nearest limit of the type instead of what overflow gives otherwise.

    Returns
    -------
    (int, Flag)
        Container code. NV: a signalling NaN, a NaN in a type that has none, no integer to give, no power of two to
        give. OF: a finite value beyond the largest finite one of a float type or E8M0 after rounding.
    """
    if rounding == RoundingMode.NONE:
        rounding = RoundingMode.RTZ if data_type.is_integer else RoundingMode.RNE
    if data_type.is_integer:
        return _to_integer(value, data_type, rounding, saturate)
    if data_type.kind is Kind.SCALE:
        return _to_scale(value, data_type, rounding, saturate)
    if value.is_nan:
        return _to_nan(value, data_type)
    if value.kind is Class.INFINITY:
        return largest(value.negative, data_type) if saturate else overflow(value.negative, data_type), NO_FLAG
    return _to_float(value.magnitude, value.negative, data_type, rounding, saturate)


def round_to(magnitude: Fraction, negative: bool, data_type: DataType) -> Outcome:
    """Round the finite result of an operation: to nearest, ties to even, in a float type.

    Parameters
    ----------
    magnitude : Fraction
        Exact absolute value.
    negative : bool
        Sign of the result, of a zero too.

    Returns
    -------
    (int, Flag)
        Container code, and OF if the rounded value exceeds the largest finite one. Overflow gives infinity,
        in E4M3 the NaN, in finite-only types the largest finite value.
    """
    if not data_type.is_float:
        raise ValueError(f"a result is rounded to a float type, not {data_type.name}")
    return _to_float(magnitude, negative, data_type, RoundingMode.RNE, False)


def overflow(negative: bool, data_type: DataType) -> int:
    """Return the code that stands for a value beyond the largest finite one, or for infinity itself."""
    if data_type.positive_infinity is not None:
        return data_type.positive_infinity | (data_type.sign_bit if negative else 0)
    if data_type.canonical_nan is not None:
        return data_type.canonical_nan
    return largest(negative, data_type)


def largest(negative: bool, data_type: DataType) -> int:
    """Return the limit of the type on the side of a sign."""
    return data_type.min_finite if negative else data_type.max_finite


def _to_float(
    magnitude: Fraction, negative: bool, data_type: DataType, rounding: RoundingMode, saturate: bool
) -> Outcome:
    if data_type.tapered:
        code = _TAPERED_CODES[_choose(_tapered_position(magnitude), negative, rounding)]
        in_range = code != data_type.positive_infinity
    else:
        code = _choose(_fixed_position(magnitude, data_type), negative, rounding) << data_type.dead_bits
        in_range = code <= data_type.max_finite
    if in_range:
        # HiF8 has one zero; the sign bit alone is its NaN.
        signed = negative and (code or data_type.has_signed_zero)
        return code | data_type.sign_bit if signed else code, NO_FLAG
    toward_zero = (RoundingMode.RTZ, RoundingMode.RTO, RoundingMode.RUP if negative else RoundingMode.RDN)
    if saturate or rounding in toward_zero:
        return largest(negative, data_type), Flag.OF
    return overflow(negative, data_type), Flag.OF


def _to_nan(value: Value, data_type: DataType) -> Outcome:
    """Return the canonical NaN, or +0 where a float type has none."""
    if data_type.canonical_nan is None:
        return 0, Flag.NV
    return data_type.canonical_nan, Flag.NV if value.kind is Class.SIGNALLING_NAN else NO_FLAG


def _to_integer(value: Value, data_type: DataType, rounding: RoundingMode, saturate: bool) -> Outcome:
    if value.kind is Class.FINITE:
        steps, rest = divmod(value.magnitude.numerator, value.magnitude.denominator)
        half = 2 * rest - value.magnitude.denominator
        magnitude = _choose(_Position(steps, rest != 0, half), value.negative, rounding)
        limit = int(decode(largest(value.negative, data_type), data_type).magnitude)
        if magnitude <= limit:
            return (-magnitude if value.negative else magnitude) & data_type.storage_mask, NO_FLAG
    if saturate:
        return 0 if value.is_nan else largest(value.negative, data_type), Flag.NV
    # The "indefinite" integer: the sign bit alone, or all ones where there is no sign.
    return data_type.sign_bit or data_type.max_finite, Flag.NV


def _to_scale(value: Value, data_type: DataType, rounding: RoundingMode, saturate: bool) -> Outcome:
    """Round to a power of two. The exponent is what is rounded, so "nearest" is meant of the logarithm."""
    not_a_number = overflow(False, data_type)
    if value.is_nan or value.negative or (value.kind is Class.FINITE and value.magnitude == 0):
        return not_a_number, Flag.NV
    if value.kind is Class.INFINITY:
        return data_type.max_finite if saturate else not_a_number, NO_FLAG
    exponent = floor_log2(value.magnitude)
    significand = value.magnitude * scaled(1, -exponent)
    half = 1 if significand * significand > 2 else -1
    code = _choose(_Position(exponent + data_type.bias, significand != 1, half), False, rounding)
    if data_type.min_finite <= code <= data_type.max_finite:
        return code, NO_FLAG
    flags = Flag.OF if code > data_type.max_finite else NO_FLAG
    return largest(code < data_type.min_finite, data_type) if saturate else not_a_number, flags


def _choose(position: _Position, negative: bool, rounding: RoundingMode) -> int:
    """Return the rung that a rounding mode takes. Rungs count away from zero and are odd where their codes are."""
    rung, above, half = position
    if not above:
        return rung
    match rounding:
        case RoundingMode.RNE:
            upper = half > 0 or (half == 0 and rung % 2 == 1)
        case RoundingMode.RTZ:
            upper = False
        case RoundingMode.RDN:
            upper = negative
        case RoundingMode.RUP:
            upper = not negative
        case RoundingMode.RNA:
            upper = half >= 0
        case RoundingMode.RTO:
            upper = rung % 2 == 0
        case RoundingMode.RHB:
            upper = half > 0 or (half == 0 and not negative)
        case _:
            raise ValueError(f"rounding mode must be RNE to RHB where a value is rounded, not {rounding!r}")
    return rung + upper


def _fixed_position(magnitude: Fraction, data_type: DataType) -> _Position:
    """Return the position among codes without dead bits: steps of the last mantissa bit, carries go to the exponent."""
    mantissa_bits = data_type.mantissa_bits
    least = 1 - data_type.bias
    exponent = max(floor_log2(magnitude), least) if magnitude else least
    numerator, denominator = magnitude.numerator, magnitude.denominator
    shift = exponent - mantissa_bits
    if shift >= 0:
        denominator <<= shift
    else:
        numerator <<= -shift
    steps, rest = divmod(numerator, denominator)
    return _Position(((exponent - least) << mantissa_bits) + steps, rest != 0, 2 * rest - denominator)


def _tapered_position(magnitude: Fraction) -> _Position:
    rung = bisect_right(_TAPERED_LADDER, magnitude) - 1
    if rung + 1 == len(_TAPERED_LADDER):
        return _Position(rung, False, -1)
    lower, upper = _TAPERED_LADDER[rung : rung + 2]
    middle = (lower + upper) / 2
    return _Position(rung, magnitude != lower, (magnitude > middle) - (magnitude < middle))


def _tapered_ladder(data_type: DataType) -> list[tuple[Fraction, int]]:
    """Return magnitudes and codes in order; infinity's code stands where its exponent and mantissa would put it."""
    infinity = data_type.max_finite + 1
    codes = [code for code in range(data_type.sign_bit) if code != infinity]
    beyond = decode(data_type.max_finite, data_type).magnitude * Fraction(3, 2)
    return sorted([(decode(code, data_type).magnitude, code) for code in codes] + [(beyond, infinity)])


_TAPERED_LADDER, _TAPERED_CODES = zip(*_tapered_ladder(next(row for row in DATA_TYPES if row.tapered)), strict=True)
