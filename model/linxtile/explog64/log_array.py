"""The FP64 logarithm of arrays, bit for bit that of `linxtile.explog64.element`."""

import numpy as np

from linxtile.arrays import Codes, Result
from linxtile.explog64 import constants, element
from linxtile.explog64.element import FP64, HIDDEN_BIT, INFINITY, MANTISSA_BITS, NAN, ONE
from linxtile.explog64.vectors import Integers, bit_length, in_chunks, parts, product, signalling
from linxtile.flags import NO_FLAG, Flag

RECIPROCALS = np.array(element.LOG_RECIPROCALS)

LOW_BITS = 38
"""Bits of the low one of the two words that hold the sum."""
LOW_MASK = (1 << LOW_BITS) - 1
TABLE_HIGH = np.array([entry >> LOW_BITS for entry in element.LOG_TABLE])
TABLE_LOW = np.array([entry & LOW_MASK for entry in element.LOG_TABLE])
LN2_HIGH, LN2_LOW = divmod(element.LOG_OF_TWO, 1 << LOW_BITS)

AROUND_ONE = ONE - (1 << MANTISSA_BITS - constants.INDEX_BITS + 1)
AROUND_ONE_CODES = 3 << MANTISSA_BITS - constants.INDEX_BITS
"""The codes from 1 - 2**-8 to 1 + 2**-8, where the reduced argument is normalised."""


def log64_array(codes: Codes) -> Result:
    """Return the natural logarithm of each FP64 code.

    Parameters
    ----------
    codes : ndarray of uint64, any shape

    Returns
    -------
    (ndarray of uint64, same shape; Flag)
        Result codes, and NV and DZ raised by any element.
    """
    return in_chunks(_chunk, codes)


def _chunk(codes: Codes) -> Result:
    # Positive normal numbers other than one are the codes that need nothing special.
    special = (codes - np.uint64(HIDDEN_BIT) >= np.uint64(INFINITY - HIDDEN_BIT)) | (codes == np.uint64(ONE))
    if not special.any():
        return _normal(codes, 0), NO_FLAG
    results = _normal(np.where(special, np.uint64(ONE + 1), codes), 0)
    results[special], flags = _specials(codes[special])
    return results, flags


def _specials(codes: Codes) -> Result:
    """Return the logarithms of all codes but positive normal numbers, and of one."""
    magnitudes = codes & np.uint64(FP64.sign_bit - 1)
    results = np.full(codes.shape, NAN, np.uint64)
    subnormal = codes - np.uint64(1) < np.uint64(HIDDEN_BIT - 1)
    if subnormal.any():
        # Times 2**54 a subnormal number is normal, and the product is exact.
        scaled = codes[subnormal].view(np.float64) * float(1 << 54)
        results[subnormal] = _normal(scaled.view(np.uint64), -54)
    results[codes == np.uint64(ONE)] = 0
    results[codes == np.uint64(INFINITY)] = INFINITY
    zero, nan = magnitudes == 0, magnitudes > np.uint64(INFINITY)
    results[zero] = INFINITY | FP64.sign_bit
    flags = signalling(magnitudes[nan]) | (Flag.DZ if zero.any() else NO_FLAG)
    negative = (codes > np.uint64(FP64.sign_bit)) & ~nan
    return results, flags | (Flag.NV if negative.any() else NO_FLAG)


def _normal(codes: Codes, scale: int) -> Codes:
    """Return the logarithms of positive normal numbers other than one, each times ``2**scale``."""
    bits = codes.view(np.int64)
    significand = (bits & (HIDDEN_BIT - 1)) | HIDDEN_BIT
    index = (bits >> MANTISSA_BITS - constants.INDEX_BITS) & (constants.ENTRIES - 1)
    exponent = (bits >> MANTISSA_BITS) + (index >= constants.HALVED_FROM)
    exponent += scale - FP64.bias

    reduced = significand * RECIPROCALS[index] - (1 << constants.REDUCED_FRACTION)
    short = reduced >> 23
    series = element.LOG_COEFFICIENTS[7] - (short >> 24)
    for power in (6, 5, 4):
        series = element.LOG_COEFFICIENTS[power] - (short * series >> 31)
    high, low = parts(reduced)
    for power in (3, 2):
        series = element.LOG_COEFFICIENTS[power] - product(high, low, *parts(series))
    series = element.LOG_COEFFICIENTS[1] - (product(high, low, *parts(series)) >> 4)

    around_one = np.flatnonzero(codes - np.uint64(AROUND_ONE) < np.uint64(AROUND_ONE_CODES))
    normalised = np.zeros(codes.shape, np.int64)
    if around_one.size:
        near = reduced[around_one]
        normalised[around_one] = np.maximum(54 - bit_length(np.abs(near)), 0)
        high, low = parts(reduced << normalised)
    tail = product(high, low, *parts(series))

    low = exponent * LN2_LOW + TABLE_LOW[index] + (tail & LOW_MASK)
    high = exponent * LN2_HIGH + TABLE_HIGH[index] + (tail >> LOW_BITS) + (low >> LOW_BITS)
    low &= LOW_MASK
    return round_sum(high, low, normalised)


def round_sum(high: Integers, low: Integers, normalised: Integers) -> Codes:
    """Round ``(high * 2**38 + low) / 2**(70 + normalised)`` to FP64."""
    sign = high >> 63
    # The magnitude of a negative number is its complement plus one.
    low = (low ^ (sign & LOW_MASK)) - sign
    high = (high ^ sign) + (low >> LOW_BITS)
    low &= LOW_MASK
    shift = bit_length(high) + (LOW_BITS - MANTISSA_BITS - 1)
    half = np.int64(1) << (shift - 1)
    low += half - 1 + ((low >> shift) & 1)
    significand = (high << (LOW_BITS - shift)) + (low >> shift)
    field = shift - normalised + (FP64.bias + MANTISSA_BITS - constants.LOG_FRACTION - 1)
    result: Codes = ((field << MANTISSA_BITS) + significand | (sign << 63)).view(np.uint64)
    return result
