"""Rounding of arrays of exact values to element codes, in all modes: the vectorised counterpart of `linxtile.rounding`.

The codes of a type are a ladder: a value lies on a rung or between two. Rungs count away from zero, go on above the largest
finite value, and are odd where their codes are odd, so that ties to even and rounding to odd need no special case.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes
from linxtile.flags import Flag
from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import DataType
from linxtile.numerics.types import ElementFlags, code_type
from linxtile.numerics.unpacked import Unpacked
from linxtile.rounding import largest, overflow
from linxtile.values import Class, decode, floor_log2

Rounded = tuple[Codes, ElementFlags]

_ONE = np.uint64(1)
_SCALE_NAN = 0xFF
_LARGEST_SHIFT = 63
# The significand of the square root of two, as a binary64 significand, rounded down: the root itself is irrational.
_ROOT_OF_TWO = np.uint64(6369051672525772)


def round_to_float(values: Unpacked, data_type: DataType, rounding: RoundingMode, saturate: bool = False) -> Rounded:
    """Round finite values to a float type; OF where the rounded value exceeds the largest finite one."""
    ladder = _ladder(data_type)
    at = np.clip(values.leading, ladder.least, ladder.most)
    index = at - ladder.least
    rung = _round(values, at - ladder.mantissa_bits[index], ladder.base[index], rounding)
    beyond = (rung > ladder.top) | (values.leading > ladder.most)
    if ladder.codes is None:
        code = rung << np.uint64(data_type.dead_bits)
    else:
        code = ladder.codes.take(np.where(beyond, 0, rung).astype(np.intp))
    negative = values.negative if data_type.has_signed_zero else values.negative & (rung > 0)
    code |= np.where(negative, np.uint64(data_type.sign_bit), np.uint64(0))
    if beyond.any():
        limits = [_beyond(sign, data_type, rounding, saturate) for sign in (False, True)]
        code = np.where(beyond, np.where(values.negative, *map(np.uint64, reversed(limits))), code)
    return code.astype(code_type(data_type)), beyond * np.uint8(Flag.OF)


def round_to_integer(values: Unpacked, data_type: DataType, rounding: RoundingMode, saturate: bool = False) -> Rounded:
    """Round values to an integer type; NV where the rounded value is out of range."""
    unit = np.zeros(values.leading.shape, np.int64)
    magnitude = _round(values, unit, np.uint64(0), rounding)
    limits = [int(decode(largest(sign, data_type), data_type).magnitude) for sign in (True, False)]
    outside = (magnitude > np.where(values.negative, *map(np.uint64, limits))) | (values.leading > _LARGEST_SHIFT)
    code = np.where(values.negative, np.negative(magnitude), magnitude) & np.uint64(data_type.storage_mask)
    if outside.any():
        # The "indefinite" integer: the sign bit alone, or all ones where there is no sign.
        indefinite = data_type.sign_bit or data_type.max_finite
        lowest, highest = (largest(sign, data_type) if saturate else indefinite for sign in (True, False))
        code = np.where(outside, np.where(values.negative, np.uint64(lowest), np.uint64(highest)), code)
    return code.astype(code_type(data_type)), outside * np.uint8(Flag.NV)


def round_to_scale(values: Unpacked, data_type: DataType, rounding: RoundingMode, saturate: bool = False) -> Rounded:
    """Round positive values to a power of two. The exponent is what is rounded, so "nearest" is meant of the logarithm.

    Significands have their leading one at bit 52 or, of integers, anywhere. NV for values that are not positive.
    """
    wide = values.leading - values.scale > 52
    # Bits below the 53rd only tell whether there is anything: the lowest bit stands for them.
    places = np.abs(values.leading - values.scale - 52).clip(max=_LARGEST_SHIFT).astype(np.uint64)
    kept = values.significand >> places
    lost = (kept << places) != values.significand
    aligned = np.where(wide, kept | lost, values.significand << places)
    code = values.leading + data_type.bias
    above = aligned != 1 << 52
    match rounding:
        case RoundingMode.RTZ | RoundingMode.RDN:
            upper = np.zeros_like(above)
        case RoundingMode.RUP:
            upper = above
        case RoundingMode.RTO:
            upper = above & (code % 2 == 0)
        case _:
            upper = aligned > _ROOT_OF_TWO
    code += upper
    low, high = code < 0, code > data_type.max_finite
    limits = (data_type.min_finite, data_type.max_finite) if saturate else (_SCALE_NAN, _SCALE_NAN)
    code = np.where(low, limits[0], np.where(high, limits[1], code))
    invalid = values.negative | (values.significand == 0)
    code = np.where(invalid, _SCALE_NAN, code)
    flags = np.where(invalid, np.uint8(Flag.NV), (high & ~invalid) * np.uint8(Flag.OF))
    return code.astype(code_type(data_type)), flags


def resolve(rounding: RoundingMode, data_type: DataType) -> RoundingMode:
    """Return the mode that NONE stands for in a conversion from float: RTZ to integers, RNE to all others."""
    if rounding is not RoundingMode.NONE:
        return rounding
    return RoundingMode.RTZ if data_type.is_integer else RoundingMode.RNE


class _Ladder(NamedTuple):
    """Rungs of a float type by the exponent of the leading one, from ``least`` to ``most``.

    The value ``k * 2**(exponent - mantissa_bits)`` stands on rung ``base + k``.
    """

    least: int
    most: int
    mantissa_bits: npt.NDArray[np.int64]
    base: npt.NDArray[np.uint64]
    top: int
    codes: npt.NDArray[np.uint64] | None


@cache
def _ladder(data_type: DataType) -> _Ladder:
    if data_type.tapered:
        return _tapered_ladder(data_type)
    least = 1 - data_type.bias
    top = data_type.max_finite >> data_type.dead_bits
    # One exponent above the largest: all that is beyond comes out on a rung above the top.
    most = least + (top >> data_type.mantissa_bits) + 1
    exponents = np.arange(most - least + 1, dtype=np.uint64)
    mantissa_bits = np.full(exponents.shape, data_type.mantissa_bits, np.int64)
    return _Ladder(least, most, mantissa_bits, exponents << np.uint64(data_type.mantissa_bits), top, None)


def _tapered_ladder(data_type: DataType) -> _Ladder:
    finite = [code for code in range(data_type.sign_bit) if decode(code, data_type).kind is Class.FINITE]
    finite.sort(key=lambda code: decode(code, data_type).magnitude)
    exponents = [floor_log2(decode(code, data_type).magnitude) for code in finite[1:]]
    least, most = exponents[0], exponents[-1] + 1
    counts = [exponents.count(exponent) for exponent in range(least, most + 1)]
    # The top exponent lacks its upper half, whose code is infinity; nothing is finite beyond.
    counts[-2:] = [2, 2]
    mantissa_bits = np.array([count.bit_length() - 1 for count in counts])
    first_rung = 1 + np.cumsum([0, *counts[:-1]])
    base = (first_rung - counts).astype(np.uint64)
    return _Ladder(least, most, mantissa_bits, base, len(finite) - 1, np.array(finite, np.uint64))


def _round(
    values: Unpacked, unit: npt.NDArray[np.int64], base: npt.NDArray[np.uint64] | np.uint64, rounding: RoundingMode
) -> npt.NDArray[np.uint64]:
    """Return ``base`` plus the value in steps of ``2**unit``, rounded by the mode; exact where the step divides it."""
    shift = unit - values.scale
    right = np.clip(shift, 0, _LARGEST_SHIFT).astype(np.uint64)
    left = np.clip(-shift, 0, _LARGEST_SHIFT).astype(np.uint64)
    kept = values.significand >> right
    rest = values.significand - (kept << right)
    rung: npt.NDArray[np.uint64] = base + (kept << left)
    step = _ONE << right
    upper: npt.NDArray[np.bool_]
    match rounding:
        case RoundingMode.RNE:
            upper = (rest << _ONE) + (rung & _ONE) > step
        case RoundingMode.RDN:
            upper = (rest > 0) & values.negative
        case RoundingMode.RUP:
            upper = (rest > 0) & ~values.negative
        case RoundingMode.RNA:
            upper = rest << _ONE >= step
        case RoundingMode.RTO:
            upper = (rest > 0) & (rung & _ONE == 0)
        case RoundingMode.RHB:
            upper = (rest << _ONE) + ~values.negative > step
        case _:
            return rung
    rung += upper
    return rung


def _beyond(negative: bool, data_type: DataType, rounding: RoundingMode, saturate: bool) -> int:
    """Return the code that a value beyond the largest finite one becomes."""
    toward_zero = (RoundingMode.RTZ, RoundingMode.RTO, RoundingMode.RUP if negative else RoundingMode.RDN)
    if saturate or rounding in toward_zero:
        return largest(negative, data_type)
    return overflow(negative, data_type)
