"""Element-wise work in blocks that stay in cache, however large the arrays are."""

from collections.abc import Callable
from math import prod

import numpy as np

from linxtile.arrays import Codes, Result
from linxtile.flags import NO_FLAG, Flag
from linxtile.numerics.types import Block, ElementFlags

BLOCK = 1 << 15
"""Elements that are worked on at a time: few enough that the temporaries stay in cache, enough that calls cost little."""

WHOLE = 1 << 62
"""A block that holds every array, for functions of a pass or two, to which copies of blocks would be a cost."""

# The GNU C library returns freed memory to the system as soon as there is more of it than twice the largest array freed so
# far, at first 128 KiB. The temporaries of a block are more, and would be fetched anew, page by page, for every block: up to
# four times the time of the work itself. After one large array they stay.
np.empty(1 << 23, np.uint8)


def in_blocks(function: Callable[..., Block], *operands: Codes, block: int = BLOCK) -> Result:
    """Apply an element-wise function to operands that broadcast, a block at a time.

    Parameters
    ----------
    function : function
        Takes one array an operand and returns a fresh array of results and their flags.
    block : int
        Elements in a block.

    Returns
    -------
    (ndarray, Flag)
        Results in the shape that the operands broadcast to, and the flags raised by any element.
    """
    if block == WHOLE and operands[0].shape:
        results, flags = function(*operands)
        return results, _any(flags)
    shape, alike = operands[0].shape, True
    for operand in operands[1:]:
        alike = alike and operand.shape == shape
    if not alike:
        shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    size = prod(shape)
    if not shape:
        results, raised = in_blocks(function, *(operand.reshape(1) for operand in operands))
        return results.reshape(()), raised
    if size <= block:
        results, flags = function(*operands)
        return results, _any(flags)
    if alike and all(operand.flags.c_contiguous for operand in operands):
        results, raised = _along_first(function, [operand.reshape(-1) for operand in operands], size, block)
        return results.reshape(shape), raised
    spread = [np.broadcast_to(operand, shape) for operand in operands]
    return _along_first(function, spread, shape[0], max(1, block * shape[0] // size))


def _along_first(function: Callable[..., Block], operands: list[Codes], count: int, step: int) -> Result:
    """Apply the function to ``step`` items of the first axis at a time."""
    part, flags = function(*(operand[:step] for operand in operands))
    results = np.empty((count, *part.shape[1:]), part.dtype)
    results[:step] = part
    raised = _any(flags)
    for start in range(step, count, step):
        results[start : start + step], flags = function(*(operand[start : start + step] for operand in operands))
        raised |= _any(flags)
    return results, raised


def _any(flags: ElementFlags | None) -> Flag:
    return NO_FLAG if flags is None else Flag(int(np.bitwise_or.reduce(flags, axis=None)))
