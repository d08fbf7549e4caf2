"""FP64 exponential and logarithm: one integer algorithm, at most 0.51 ULP from the exact result, the same bits in hardware."""

from linxtile.explog64.element import exp64, log64

__all__ = ["exp64", "log64"]
