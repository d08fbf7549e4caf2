"""FP64 exponential and logarithm of one element, in integers: the definition, which hardware follows bit for bit.

All quantities are fixed-point integers; ``>>`` rounds toward minus infinity. At most 0.51 ULP from the exact result:
`docs/explog64.md` has the widths and the proof.
"""

from linxtile.explog64 import constants
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import data_type

Outcome = tuple[int, Flag]

FP64 = data_type("FP64")
MANTISSA_BITS = FP64.mantissa_bits
HIDDEN_BIT = 1 << MANTISSA_BITS
QUIET_BIT = HIDDEN_BIT >> 1
INFINITY = FP64.storage_mask ^ FP64.sign_bit ^ (HIDDEN_BIT - 1)
NAN = INFINITY | QUIET_BIT
ONE = FP64.bias << MANTISSA_BITS
LEAST_EXPONENT = 1 - FP64.bias

OUT_OF_RANGE = (FP64.bias + 10) << MANTISSA_BITS
"""Code of 1024: exponentials of larger magnitudes overflow or vanish."""

EXP_TABLE = constants.exp_table()
EXP_STEP = constants.exp_step()
EXP_STEPS_PER_UNIT = constants.exp_steps_per_unit()
EXP_COEFFICIENTS = constants.exp_coefficients()
LOG_RECIPROCALS = constants.log_reciprocals()
LOG_TABLE = constants.log_table()
LOG_OF_TWO = constants.log_of_two()
LOG_COEFFICIENTS = constants.log_coefficients()


def exp64(code: int) -> Outcome:
    """Return the exponential of an FP64 code: NV for a signalling NaN, OF if it overflows."""
    negative, magnitude = _fields(code)
    if magnitude > INFINITY:
        return _nan(magnitude)
    if magnitude >= OUT_OF_RANGE:
        if negative:
            return 0, NO_FLAG
        return INFINITY, NO_FLAG if magnitude == INFINITY else Flag.OF
    exponent, significand = exp_fixed(negative, magnitude)
    shift = max(10, LEAST_EXPONENT + 10 - exponent)
    result = (max(exponent - LEAST_EXPONENT, 0) << MANTISSA_BITS) + _round_off(significand, shift)
    return (result, NO_FLAG) if result < INFINITY else (INFINITY, Flag.OF)


def log64(code: int) -> Outcome:
    """Return the natural logarithm of an FP64 code: NV for a signalling NaN or below zero, DZ for a zero."""
    negative, magnitude = _fields(code)
    if magnitude > INFINITY:
        return _nan(magnitude)
    if magnitude == 0:
        return INFINITY | FP64.sign_bit, Flag.DZ
    if negative:
        return NAN, Flag.NV
    if magnitude in (ONE, INFINITY):
        return magnitude if magnitude == INFINITY else 0, NO_FLAG
    total, fraction = log_fixed(magnitude)
    shift = abs(total).bit_length() - (MANTISSA_BITS + 1)
    exponent_field = FP64.bias + MANTISSA_BITS + shift - fraction
    # The hidden bit of the significand adds the last one to the exponent field.
    result = ((exponent_field - 1) << MANTISSA_BITS) + _round_off(abs(total), shift)
    return result | (FP64.sign_bit if total < 0 else 0), NO_FLAG


def exp_fixed(negative: bool, magnitude: int) -> tuple[int, int]:
    """Return exponent and significand of an exponential before it is rounded.

    Parameters
    ----------
    negative : bool
        Sign of the argument.
    magnitude : int
        Code of the argument's absolute value, below 1024.

    Returns
    -------
    (int, int)
        ``exponent`` and ``significand``: the value is ``significand * 2**(exponent - 62)``, and the significand has
        63 bits.
    """
    exponent = (magnitude >> MANTISSA_BITS) - FP64.bias
    significand = magnitude & (HIDDEN_BIT - 1) | HIDDEN_BIT
    shift = exponent + constants.ARGUMENT_FRACTION - MANTISSA_BITS
    argument = significand << shift if shift >= 0 else significand >> -shift
    argument = -argument if negative else argument
    coarse = abs(argument) >> (constants.ARGUMENT_FRACTION - constants.COARSE_FRACTION)
    coarse = -coarse if negative else coarse

    # Fraction bits on the right. Table step nearest to the argument, and what is left of the argument.
    step = (coarse * EXP_STEPS_PER_UNIT + (1 << 33)) >> 34  # 0
    reduced = argument - (step * EXP_STEP >> constants.STEP_GUARD)  # 64
    # growth = exp(reduced) - 1 = reduced + reduced**2 / 2 + reduced**3 * (1/6 + reduced/24 + reduced**2 / 120).
    short = reduced >> 28  # 36
    square = reduced * reduced >> 64  # 64
    series = EXP_COEFFICIENTS[4] + (short * EXP_COEFFICIENTS[5] >> 28)  # 30
    series = EXP_COEFFICIENTS[3] + (short * series >> 28)  # 38
    cube = square * (reduced * series >> 54) >> 48  # 48, then 64
    growth = (2 * (reduced + cube) + square) >> 2  # 63

    table = (1 << constants.SIGNIFICAND_FRACTION) + EXP_TABLE[step % constants.ENTRIES]
    result = table + (table * growth >> 63)  # 62
    exponent = step >> constants.INDEX_BITS
    if result >> constants.SIGNIFICAND_FRACTION:
        return exponent, result
    return exponent - 1, 2 * result


def log_fixed(magnitude: int) -> tuple[int, int]:
    """Return a logarithm before it is rounded.

    Parameters
    ----------
    magnitude : int
        Code of a positive finite argument other than one.

    Returns
    -------
    (int, int)
        ``total`` and ``fraction``: the value is ``total / 2**fraction``, and ``total`` has at least 61 bits.
    """
    exponent, significand = magnitude >> MANTISSA_BITS, magnitude & (HIDDEN_BIT - 1) | HIDDEN_BIT
    if exponent == 0:
        shift = MANTISSA_BITS + 1 - magnitude.bit_length()
        exponent, significand = 1 - shift, magnitude << shift
    index = (significand - HIDDEN_BIT) >> (MANTISSA_BITS - constants.INDEX_BITS)
    exponent += (index >= constants.HALVED_FROM) - FP64.bias

    # Fraction bits on the right. The reduced argument is exact and at most 2**-8: each power needs 8 bits less.
    reduced = significand * LOG_RECIPROCALS[index] - (1 << constants.REDUCED_FRACTION)  # 62
    # series = log(1 + reduced) / reduced = 1 - reduced * (1/2 - reduced * (1/3 - ...)).
    short = reduced >> 23  # 39
    series = LOG_COEFFICIENTS[7] - (short >> 24)  # 18
    for power in (6, 5, 4):
        series = LOG_COEFFICIENTS[power] - (short * series >> 31)  # 26, 34, 42
    for power in (3, 2):
        series = LOG_COEFFICIENTS[power] - (reduced * series >> 54)  # 50, 58
    series = LOG_COEFFICIENTS[1] - (reduced * series >> 58)  # 62

    offset = exponent * LOG_OF_TWO + LOG_TABLE[index]  # 70
    # Around one there is no offset, and results are small: the reduced argument is normalised to keep their precision.
    normalised = 0 if offset else max(54 - abs(reduced).bit_length(), 0)
    total = offset + ((reduced << normalised) * series >> 54)  # 70
    return total, constants.LOG_FRACTION + normalised


def _fields(code: int) -> tuple[bool, int]:
    """Return sign and magnitude of a code."""
    if not 0 <= code <= FP64.storage_mask:
        raise ValueError(f"an FP64 code must be from 0 to {FP64.storage_mask:#x}, not {code:#x}")
    return bool(code & FP64.sign_bit), code & ~FP64.sign_bit


def _nan(magnitude: int) -> Outcome:
    return NAN, NO_FLAG if magnitude & QUIET_BIT else Flag.NV


def _round_off(value: int, bits: int) -> int:
    """Drop the last bits, one or more: to nearest, ties to even."""
    return (value + (1 << bits - 1) - 1 + (value >> bits & 1)) >> bits
