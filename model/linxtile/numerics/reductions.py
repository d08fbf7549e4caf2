"""The order of reductions."""

from collections.abc import Callable

import numpy as np

from linxtile.arrays import Codes, Result
from linxtile.flags import NO_FLAG

Combine = Callable[[Codes, Codes], Result]


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
    """Reduce each column in index order from element 0 on, ``((v0 op v1) op v2) ...``; else like :func:`tree_reduce`."""
    flags = NO_FLAG
    folded = values[0]
    for row in values[1:]:
        folded, raised = combine(folded, row)
        flags |= raised
    return folded, flags
