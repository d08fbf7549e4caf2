"""Results of narrow types from tables: all pairs of codes of a byte, all codes of 16 bits."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes
from linxtile.numerics.types import Block


class TableElements:
    """Look results up that another implementation has computed for every operand, on first use of the operation.

    Parameters
    ----------
    function : function
        One operation: codes in, new codes and the flags of each element out.
    code_bits : int
        Width of a code.
    operands : int
        One or two; the first operand is the upper half of the index.
    track_flags : bool
        Whether to look the flags up.
    """

    def __init__(self, function: Callable[..., Block], code_bits: int, operands: int, track_flags: bool):
        self._function = function
        self._code_bits = code_bits
        self._operands = operands
        self._track_flags = track_flags
        self._table: Block | None = None

    def __call__(self, *operands: Codes) -> Block:
        """Return results and flags of each element."""
        codes, flags = self._table = self._table or self._build()
        index: npt.NDArray[np.intp] = operands[0].astype(np.intp)
        for operand in operands[1:]:
            index <<= self._code_bits
            index = index | operand
        return codes.take(index), flags.take(index) if self._track_flags and flags is not None else None

    def _build(self) -> Block:
        codes = np.arange(1 << self._code_bits).astype(f"u{self._code_bits // 8}")
        if self._operands == 1:
            return self._function(codes)
        results, flags = self._function(codes[:, np.newaxis], codes[np.newaxis, :])
        return results.ravel(), None if flags is None else flags.ravel()
