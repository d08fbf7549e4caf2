"""Arithmetic on arrays of element codes, bit for bit that of `linxtile.exact`.

All methods take arrays of container codes (unsigned integers of the element's width, any shape that broadcasts) and
return a new array of codes together with the sticky flags raised by any element.
"""

from collections.abc import Callable
from functools import cache
from typing import Protocol

import numpy as np

from linxtile.arrays import Codes, Result
from linxtile.flags import NO_FLAG
from linxtile.floats import FloatArithmetic
from linxtile.integers import IntegerArithmetic
from linxtile.isa.types import DataType

Combine = Callable[[Codes, Codes], Result]


class Arithmetic(Protocol):
    """What an element type can do."""

    def read(self, codes: Codes) -> Result: ...
    def add(self, first: Codes, second: Codes) -> Result: ...
    def subtract(self, first: Codes, second: Codes) -> Result: ...
    def maximum(self, first: Codes, second: Codes) -> Result: ...
    def minimum(self, first: Codes, second: Codes) -> Result: ...
    def absolute(self, codes: Codes) -> Result: ...
    def negate(self, codes: Codes) -> Result: ...
    def relu(self, codes: Codes) -> Result: ...


@cache
def arithmetic(data_type: DataType) -> Arithmetic:
    """Return the arithmetic of an integer type or of a float type that operations compute in."""
    if data_type.is_integer and not data_type.is_packed:
        return IntegerArithmetic(data_type)
    if data_type.is_float and not data_type.tapered and data_type.has_nan:
        return FloatArithmetic(data_type)
    raise ValueError(f"no operation computes in {data_type.name}")


def tree_reduce(values: Codes, combine: Combine) -> Result:
    """Reduce each column by the adjacent pairwise tree: the one definition of the order.

    Parameters
    ----------
    values : ndarray, shape (elements, lanes)
        Leaves in index order, at least one a lane.
    combine : function
        One level of nodes: ``(left, right) -> (codes, flags)``.

    Returns
    -------
    (ndarray of shape (lanes,), Flag)
        Roots, and the flags of all nodes.
    """
    flags = NO_FLAG
    while (count := len(values)) > 1:
        paired = count - count % 2
        merged, raised = combine(values[0:paired:2], values[1:paired:2])
        flags |= raised
        values = np.concatenate((merged, values[paired:])) if count % 2 else merged
    return values[0], flags


def left_fold(values: Codes, combine: Combine) -> Result:
    """Reduce each column in index order, from element 0 on: ``((v0 op v1) op v2) ...``; like :func:`tree_reduce`."""
    flags = NO_FLAG
    folded = values[0]
    for row in values[1:]:
        folded, raised = combine(folded, row)
        flags |= raised
    return folded, flags
