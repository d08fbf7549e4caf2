"""Types that are the host's own: FP32, and what FP64 shares with it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from linxtile.arrays import Codes
from linxtile.flags import NO_FLAG
from linxtile.isa.types import DataType
from linxtile.numerics.floats import FloatElements, has_nan
from linxtile.numerics.reductions import tree_reduce
from linxtile.numerics.types import Block, Floats, HostFloats

_HOST_NODES: dict[str, Any] = {"add": np.add, "multiply": np.multiply}


class NativeElements(FloatElements):
    """Operations of a type that is one of the host's: its results are rounded already. Addition is IEEE 754's."""

    host: Any
    """Its dtype; such a type has no dead bits."""

    light = frozenset("absolute negate add subtract multiply divide reciprocal square_root maximum minimum".split())

    def __init__(self, data_type: DataType, track_flags: bool = True):
        super().__init__(data_type, track_flags)
        # The smallest of all codes, taken as signed integers.
        self._minus_zero = -data_type.sign_bit

    def values(self, codes: Codes) -> HostFloats:
        """The same bits."""
        values: HostFloats = codes.view(self.host)
        return values

    def round(self, values: Any) -> Codes:
        """The same bits, but for NaN."""
        return self.with_canonical_nan(values.view(self.max_finite.dtype), values)

    def _calculate(self, function: Callable[..., Any], *operands: Codes, pole: int | None = None) -> Block:
        """Apply a function of the host; finite results are final, and raise nothing."""
        if not self.track_flags:
            return super()._calculate(function, *operands, pole=pole)
        with np.errstate(all="ignore"):
            values = function(*[codes.view(self.host) for codes in operands])
        if np.logical_and.reduce(np.isfinite(values), axis=None):
            return values.view(self.max_finite.dtype), None
        return self._finished(values, operands, pole)

    def tree(self, name: str, values: Codes) -> Codes | None:
        """Combine the rows of ``values`` by the tree in the host's floats; None where a node does more than the host."""
        function = _HOST_NODES.get(name)
        if function is None or self.track_flags:
            return None
        with np.errstate(all="ignore"):
            # A NaN stays a NaN down to the root, and is made canonical there.
            roots, _ = tree_reduce(values.view(self.host), lambda left, right: (function(left, right), NO_FLAG))
        return self.round(roots)

    def maximum(self, first: Codes, second: Codes) -> Block:
        """Larger operand."""
        # The host may give either of two zeros, and NaN wins. A result of -0 is right only if both operands are -0.
        chosen = np.maximum(first.view(self.host), second.view(self.host))
        if (
            has_nan(chosen)
            or np.minimum.reduce(chosen.view(self._signed_type), axis=None, initial=0) == self._minus_zero
        ):
            return super().maximum(first, second)
        return chosen.view(first.dtype), None

    def minimum(self, first: Codes, second: Codes) -> Block:
        """Smaller operand."""
        # As for the maximum; here +0 is the doubtful result, and the smallest of all codes.
        chosen = np.minimum(first.view(self.host), second.view(self.host))
        codes: Codes = chosen.view(first.dtype)
        if has_nan(chosen) or np.minimum.reduce(codes, axis=None, initial=self.max_finite) == 0:
            return super().minimum(first, second)
        return codes, None


class Binary32Elements(NativeElements):
    """FP32."""

    host = np.float32

    def round_wide(self, values: Floats) -> Codes:
        """One rounding by the host."""
        return self.round(values.astype(np.float32))
