"""What blocks do: one implementation a shape family, one kernel an operation.

An operation is executed by the implementation of its :class:`~linxtile.isa.operations.Shape`; where a family computes,
`KERNELS` names the method of `linxtile.numerics` that does it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from linxtile.isa.operations import Operation, Shape
from linxtile.operations.base import Implementation, Outcome
from linxtile.operations.elementwise import Elementwise, ScalarExpand
from linxtile.operations.kernels import KERNELS
from linxtile.operations.move import Load, Store
from linxtile.operations.rows import RowExpand, RowExpandOp, RowReduce

__all__ = ["IMPLEMENTATIONS", "KERNELS", "Implementation", "Outcome", "implementation"]

IMPLEMENTATIONS: Mapping[Shape, Implementation] = MappingProxyType(
    {
        Shape.ELEMENTWISE: Elementwise(),
        Shape.SCALAR_EXPAND: ScalarExpand(),
        Shape.ROW_REDUCE: RowReduce(),
        Shape.ROW_EXPAND: RowExpand(),
        Shape.ROW_EXPAND_OP: RowExpandOp(),
        Shape.LOAD: Load(),
        Shape.STORE: Store(),
    }
)
"""The families that the model executes."""


def implementation(operation: Operation) -> Implementation | None:
    """Return what executes an operation, None if the model does not."""
    found = IMPLEMENTATIONS.get(operation.shape)
    return None if found is not None and found.needs_kernel and operation.name not in KERNELS else found
