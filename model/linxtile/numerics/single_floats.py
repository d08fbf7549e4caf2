"""Types inside binary32: TF32, HF32, BF16 and FP16."""

from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes
from linxtile.numerics.error_free import to_odd
from linxtile.numerics.floats import FloatElements
from linxtile.numerics.types import Floats, HostFloats

# FP16 has 15, binary32 has 127.
_BIAS_OF_BINARY32 = np.float32(2.0**112)


class SingleElements(FloatElements):
    """TF32 and HF32, which have the exponents of binary32 and fewer bits: binary64 is rounded by way of binary32.

    Rounding to odd first keeps what the second rounding must know, as binary32 has more than two bits to spare.
    """

    def round_wide(self, values: Floats) -> Codes:
        """Round to odd in binary32, then to nearest even."""
        # An overflow becomes the largest finite value, whose last bit is one, and overflows in the second rounding.
        single = values.astype(np.float32)
        return self.round_single(to_odd(single, values - single))

    def round_single(self, values: Any) -> Codes:
        """Round binary32 values to nearest even on the bits: the carry out of the mantissa goes to the exponent."""
        codes: Codes = _upper_bits(values, self.data_type.dead_bits)
        codes <<= np.uint32(self.data_type.dead_bits)
        return self.with_canonical_nan(codes, values)


class HalfElements(SingleElements):
    """FP16: elementary operations in binary32, which has ``24 = 2 * 11 + 2`` bits and a far wider range."""

    def values(self, codes: Codes) -> HostFloats:
        """Exact in binary32."""
        if np.maximum.reduce(codes & self.magnitude, axis=None, initial=0) > self.max_finite:
            values: HostFloats = codes.view(np.float16).astype(np.float32)
            return values
        # The fields in their places in binary32, the copies of the sign above them removed; then the bias is made good.
        bits = codes.view(np.int16).astype(np.int32)
        bits <<= 13
        bits &= ~0x70000000
        values = bits.view(np.float32)
        values *= _BIAS_OF_BINARY32
        return values

    def round(self, values: Any) -> Codes:
        """Elementary operations have their results in binary32."""
        return self.round_single(values)

    def round_single(self, values: Any) -> Codes:
        """One rounding by the host."""
        return self.with_canonical_nan(values.astype(np.float16).view(np.uint16), values)


class BrainElements(SingleElements):
    """BF16, the upper half of binary32: elementary operations in binary32, which has more than ``2 * 8 + 2`` bits.

    The ranges are the same. Where results are subnormal in binary32 too, sums are exact, and so are products but for
    those below half of the smallest number, which go to zero on either path. A quotient is at least ``2**-142`` away
    from what lies halfway between two numbers, and binary32 rounds in steps of ``2**-149``.
    """

    def values(self, codes: Codes) -> HostFloats:
        """Exact in binary32."""
        values: HostFloats = (codes.astype(np.uint32) << np.uint32(16)).view(np.float32)
        return values

    def round(self, values: Any) -> Codes:
        """Elementary operations have their results in binary32."""
        return self.round_single(values)

    def round_single(self, values: Any) -> Codes:
        """Round to the upper half."""
        return self.with_canonical_nan(_upper_bits(values, 16).astype(np.uint16), values)


def _upper_bits(values: HostFloats, count: int) -> npt.NDArray[np.uint32]:
    """Return the bits of binary32 values without the lowest ``count``, rounded to nearest even."""
    bits = values.view(np.uint32)
    rounded = bits >> np.uint32(count)
    rounded &= np.uint32(1)
    rounded += np.uint32((1 << (count - 1)) - 1)
    rounded += bits
    rounded >>= np.uint32(count)
    return rounded
