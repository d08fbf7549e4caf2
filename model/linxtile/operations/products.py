"""Accumulation of a matrix product: one fused multiply-add a step, k increasing."""

import numpy as np

from linxtile.arrays import Codes, Result
from linxtile.flags import NO_FLAG
from linxtile.isa.types import DataType
from linxtile.numerics import arithmetic


def accumulate(a: Codes, b: Codes, start: Codes | None, result: DataType) -> Result:
    """Return ``start + sum over k of a[i,k] * b[k,j]`` and the flags of every step.

    Parameters
    ----------
    a, b : ndarray of uint32, shapes (m, k) and (k, n)
        Codes in the result type.
    start : ndarray of uint32, shape (m, n), or None
        What the sum starts from; None for zero.
    result : DataType
        FP32, S32 or U32.
    """
    fused = arithmetic(result).multiply_add
    total = np.zeros((len(a), b.shape[1]), np.uint32) if start is None else start
    flags = NO_FLAG
    for column, row in zip(np.ascontiguousarray(a.T), b, strict=True):
        total, raised = fused(column[:, np.newaxis], row[np.newaxis, :], total)
        flags |= raised
    return total, flags
