"""The FP64 exponential of arrays, bit for bit that of `linxtile.explog64.element`."""

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes, Result
from linxtile.explog64 import constants, element
from linxtile.explog64.element import FP64, INFINITY, LEAST_EXPONENT, MANTISSA_BITS, NAN
from linxtile.explog64.vectors import PART, Integers, in_chunks, parts, product, round_off, signalling
from linxtile.flags import NO_FLAG, Flag

TABLE = np.array(element.EXP_TABLE)
STEP_HIGH, STEP_LOW = divmod(element.EXP_STEP, 1 << constants.STEP_GUARD)


def exp64_array(codes: Codes) -> Result:
    """Return the exponential of each FP64 code.

    Parameters
    ----------
    codes : ndarray of uint64, any shape

    Returns
    -------
    (ndarray of uint64, same shape; Flag)
        Result codes, and NV and OF raised by any element.
    """
    return in_chunks(_chunk, codes)


def _chunk(codes: Codes) -> Result:
    magnitudes = codes & np.uint64(FP64.sign_bit - 1)
    beyond = magnitudes >= np.uint64(element.OUT_OF_RANGE)
    special = bool(beyond.any())
    exponents, significands = _fixed(np.where(beyond, np.uint64(0), codes) if special else codes)

    results = _pack(exponents, significands)
    flags = NO_FLAG
    overflowed = results >= np.uint64(INFINITY)
    if overflowed.any():
        results[overflowed] = INFINITY
        flags |= Flag.OF
    if special:
        flags |= _specials(codes, magnitudes, beyond, results)
    return results, flags


def _pack(exponents: Integers, significands: Integers) -> Codes:
    """Round ``significands * 2**(exponents - 62)``; codes of infinity and above stand for an overflow."""
    above_least = exponents - LEAST_EXPONENT
    unsigned = significands.view(np.uint64)
    if above_least.min() >= 0:
        return (above_least << MANTISSA_BITS).view(np.uint64) + round_off(unsigned, np.uint64(10))
    dropped = np.maximum(10 - above_least, 10)
    # More than 63 bits dropped leave less than half of the least subnormal number.
    unsigned[dropped > 63] = 0
    rounded = round_off(unsigned, np.minimum(dropped, 63).view(np.uint64))
    return (np.maximum(above_least, 0) << MANTISSA_BITS).view(np.uint64) + rounded


def _specials(codes: Codes, magnitudes: Codes, beyond: npt.NDArray[np.bool_], results: Codes) -> Flag:
    """Write the results of magnitudes from 1024 on, infinity and NaN, and return their flags."""
    negative = codes[beyond] >> np.uint64(63) != 0
    outliers = magnitudes[beyond]
    nan = outliers > np.uint64(INFINITY)
    results[beyond] = np.where(nan, np.uint64(NAN), np.where(negative, np.uint64(0), np.uint64(INFINITY)))
    overflow = (~negative & (outliers < np.uint64(INFINITY))).any()
    return signalling(outliers[nan]) | (Flag.OF if overflow else NO_FLAG)


def _fixed(codes: Codes) -> tuple[Integers, Integers]:
    """Do the same as `element.exp_fixed` on codes of magnitude below 1024."""
    # Scaling by a power of two, cutting to an integer and the difference of the two are exact in FP64.
    scaled = codes.view(np.float64) * float(1 << constants.COARSE_FRACTION)
    coarse = scaled.astype(np.int64)
    scaled -= coarse
    scaled *= float(1 << constants.ARGUMENT_FRACTION - constants.COARSE_FRACTION)
    fine = scaled.astype(np.int64)

    step = (coarse * element.EXP_STEPS_PER_UNIT + (1 << 33)) >> 34
    # Modulo 2**64: the reduced argument has 56 bits.
    reduced = (coarse << constants.ARGUMENT_FRACTION - constants.COARSE_FRACTION) + fine
    reduced -= step * STEP_HIGH + (step * STEP_LOW >> constants.STEP_GUARD)
    short = reduced >> 28
    reduced_high, reduced_low = parts(reduced)
    square = product(reduced_high, reduced_low, reduced_high, reduced_low) >> 10
    series = element.EXP_COEFFICIENTS[4] + (short * element.EXP_COEFFICIENTS[5] >> 28)
    series = element.EXP_COEFFICIENTS[3] + (short * series >> 28)
    series = (reduced_high * series + (reduced_low * series >> PART)) >> PART
    square_high, square_low = parts(square)
    cube = (square_high * series + (square_low * series >> PART)) >> 21
    growth = (2 * (reduced + cube) + square) >> 2

    fraction = TABLE[step & (constants.ENTRIES - 1)]
    # table = 2**62 + fraction, so (table * growth) >> 63 takes growth itself and the product with the fraction.
    increase = (product(*parts(fraction), *parts(growth)) + (growth << 8)) >> 9
    result = fraction + increase + (1 << constants.SIGNIFICAND_FRACTION)
    below = result < 1 << constants.SIGNIFICAND_FRACTION
    return (step >> constants.INDEX_BITS) - below, result << below
