"""What the exponential and the logarithm of arrays share: chunks, rounding and products of more than 64 bits.

Wide products are put together from parts of 27 bits; every intermediate fits a signed 64-bit integer.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes, Result
from linxtile.explog64.element import FP64, MANTISSA_BITS, QUIET_BIT
from linxtile.flags import NO_FLAG, Flag

Integers: TypeAlias = npt.NDArray[np.int64]

CHUNK = 8192
"""Elements done at a time, so that the temporaries of one chunk stay in the cache."""

PART = 27
PART_MASK = (1 << PART) - 1


def in_chunks(function: Callable[[Codes], Result], codes: Codes) -> Result:
    """Apply a function of one-dimensional codes to an array of any shape.

    Raises
    ------
    TypeError
        The codes are not an array of uint64.
    """
    if not isinstance(codes, np.ndarray) or codes.dtype != np.uint64:
        kind = codes.dtype if isinstance(codes, np.ndarray) else type(codes).__name__
        raise TypeError(f"FP64 codes must be an array of uint64, not {kind}")
    flat = codes.reshape(-1)
    results = np.empty(flat.shape, np.uint64)
    flags = NO_FLAG
    for start in range(0, flat.size, CHUNK):
        results[start : start + CHUNK], raised = function(flat[start : start + CHUNK])
        flags |= raised
    return results.reshape(codes.shape), flags


def parts(values: Integers) -> tuple[Integers, Integers]:
    """Split into a signed part above the last 27 bits and those bits."""
    return values >> PART, values & PART_MASK


def product(first_high: Integers, first_low: Integers, second_high: Integers, second_low: Integers) -> Integers:
    """Return ``(first * second) >> 54``, exactly."""
    middle = first_high * second_low + first_low * second_high + (first_low * second_low >> PART)
    result: Integers = first_high * second_high + (middle >> PART)
    return result


def bit_length(values: Integers) -> Integers:
    """Return the bit length of positive values that FP64 holds exactly."""
    length: Integers = (values.astype(np.float64).view(np.int64) >> MANTISSA_BITS) - (FP64.bias - 1)
    return length


def round_off(values: Codes, bits: Codes | np.uint64) -> Codes:
    """Drop the last bits, one or more: to nearest, ties to even."""
    one = np.uint64(1)
    rounded: Codes = (values + ((one << (bits - one)) - one) + ((values >> bits) & one)) >> bits
    return rounded


def signalling(nans: Codes) -> Flag:
    """Return NV if one of the NaN codes is signalling."""
    return Flag.NV if (nans & np.uint64(QUIET_BIT) == 0).any() else NO_FLAG
