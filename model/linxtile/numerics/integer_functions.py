"""Truncated exponential, logarithm and root of integers, by the few places where their results change."""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile import exact
from linxtile.arrays import Codes
from linxtile.isa.types import DataType, data_type
from linxtile.numerics.types import Integers
from linxtile.values import decode

_LARGEST_ROOT = np.uint64((1 << 32) - 1)


def powers(values: Integers, data_type: DataType) -> Codes:
    """Return ``e**x`` truncated and held within the type; 0 for negative values."""
    table = _powers(data_type)
    # Entry 0 is for all negative values, the last one for all that exceed the type.
    return table[1 + np.clip(values, -1 if values.dtype.kind == "i" else 0, len(table) - 2).astype(np.intp)]


def logarithms(values: Integers, data_type: DataType) -> Codes:
    """Return ``ln x`` truncated; 0 for negative values, the smallest value of the type for 0."""
    # The logarithm reaches k at the first integer above e**k, which is irrational but for e**0.
    limits = _powers(data_type)[2:-1].view(values.dtype) + values.dtype.type(1)
    codes = np.searchsorted(limits, values, side="right").astype(f"u{values.itemsize}")
    codes[values == 0] = data_type.min_finite
    return codes


def floor_root(values: npt.NDArray[np.uint64], code_type: npt.DTypeLike) -> Codes:
    """Return square roots rounded down, as codes of a type."""
    # The root of the nearest binary64 value is off by one at most.
    root = np.minimum(np.sqrt(values.astype(np.float64)).astype(np.uint64), _LARGEST_ROOT)
    root -= root * root > values
    return root.astype(code_type)


@cache
def _powers(destination: DataType) -> npt.NDArray[Any]:
    """Return 0 and then ``e**0``, ``e**1`` ... truncated, up to the first that exceeds the type, which is clamped."""
    largest = int(decode(destination.max_finite, destination).magnitude)
    table = [0, 1]
    while table[-1] < largest:
        # In the widest type, so that a narrow type's largest value is not mistaken for a power.
        power, _ = exact.exponential(len(table) - 1, data_type("U64"))
        table.append(min(power, largest))
    return np.array(table, f"u{destination.storage_bits // 8}")
