"""Rounding to nearest in narrow floats by their values alone: an oracle for many results at once.

The values come from numpy and ml_dtypes. A result lies between two midpoints of neighbouring values; ties go to the even
code. Above the largest value, the next one that the format would have with a larger exponent is where overflow begins.
"""

import ml_dtypes
import numpy as np
from number_oracles import FORMATS

HOST_TYPES = {
    "FP16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "E4M3": ml_dtypes.float8_e4m3fn,
    "E5M2": ml_dtypes.float8_e5m2,
}


class Ladder:
    """All values of a format, and the rounding of binary64 results to them."""

    def __init__(self, name):
        self.form = FORMATS[name]
        self.code_type = np.dtype(f"u{np.dtype(HOST_TYPES[name]).itemsize}")
        self.codes = np.arange(1 << 8 * self.code_type.itemsize).astype(self.code_type)
        with np.errstate(all="ignore"):
            self.values = self.codes.view(HOST_TYPES[name]).astype(np.float64)
        positive = self.values[: self.codes.size // 2]
        finite = positive[np.isfinite(positive)]
        steps = np.append(finite, 2 * finite[-1] - finite[-2])
        self.midpoints = (steps[1:] + steps[:-1]) / 2
        self.nan = np.isnan(self.values)
        mantissa_bits = self.form.precision - 1
        quiet = (self.codes >> self.code_type.type(mantissa_bits - 1)) & self.code_type.type(1)
        self.signalling = self.nan & (quiet == 0) & (self.form.infinity is not None)

    def round(self, results):
        """Return the codes of results, NaN as the canonical one, and where finite results overflow."""
        magnitude = np.abs(np.where(np.isnan(results), 0, results))
        rung = np.searchsorted(self.midpoints, magnitude)
        tie = magnitude == self.midpoints[np.minimum(rung, self.midpoints.size - 1)]
        rung += tie & (rung % 2 == 1)
        overflow = rung == self.midpoints.size
        codes = np.where(np.signbit(results), rung | self.form.sign_bit, rung)
        if self.form.infinity is None:
            codes[overflow] = self.form.nan
        else:
            codes[overflow] = (self.form.infinity | np.where(results < 0, self.form.sign_bit, 0))[overflow]
        codes[np.isnan(results)] = self.form.nan
        return codes.astype(self.code_type), overflow & np.isfinite(results)

    def undecided(self, results, error):
        """Tell which results are within a relative error of a midpoint."""
        magnitude = np.abs(np.where(np.isfinite(results), results, 0))
        low = np.searchsorted(self.midpoints, magnitude * (1 - error))
        return low != np.searchsorted(self.midpoints, magnitude * (1 + error), side="right")
