"""FP64 exponential and logarithm, at most 0.51 ULP from the exact result.

One integer algorithm, so that hardware can have the same bits: `element` defines it, the others do the same on arrays.
"""

from linxtile.explog64.element import exp64, log64
from linxtile.explog64.exp_array import exp64_array
from linxtile.explog64.log_array import log64_array

__all__ = ["exp64", "exp64_array", "log64", "log64_array"]
