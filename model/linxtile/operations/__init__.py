"""What blocks do: one implementation a shape family, one kernel an operation.

An operation is executed by the implementation of its :class:`~linxtile.isa.operations.Shape`; where a family computes,
`KERNELS` names the method of `linxtile.numerics` that does it.
"""

from collections.abc import Mapping
from types import MappingProxyType

from linxtile.isa.operations import Operation, Shape
from linxtile.isa.support import MODEL_OPERATIONS
from linxtile.operations.acc_convert import AccConvert
from linxtile.operations.base import Context, Implementation, Outcome
from linxtile.operations.elementwise import Convert, Elementwise, ScalarExpand
from linxtile.operations.histogram import Histogram
from linxtile.operations.kernels import KERNELS
from linxtile.operations.masks import Compare, Select
from linxtile.operations.matrix import Product
from linxtile.operations.move import Load, Move, Store
from linxtile.operations.vectors import Along, Expand, ExpandOp, Reduce

__all__ = ["IMPLEMENTATIONS", "KERNELS", "Context", "Implementation", "Outcome", "implementation"]

_PRODUCT = Product()

IMPLEMENTATIONS: Mapping[Shape, Implementation] = MappingProxyType(
    {
        Shape.ELEMENTWISE: Elementwise(),
        Shape.SCALAR_EXPAND: ScalarExpand(),
        Shape.MASK_RESULT: Compare(),
        Shape.SELECT: Select(),
        Shape.CONVERT: Convert(),
        Shape.ROW_REDUCE: Reduce(Along.ROWS),
        Shape.COLUMN_REDUCE: Reduce(Along.COLUMNS),
        Shape.ROW_EXPAND: Expand(Along.ROWS),
        Shape.ROW_EXPAND_OP: ExpandOp(Along.ROWS),
        Shape.COLUMN_EXPAND: Expand(Along.COLUMNS),
        Shape.COLUMN_EXPAND_OP: ExpandOp(Along.COLUMNS),
        Shape.HISTOGRAM: Histogram(),
        Shape.LOAD: Load(),
        Shape.STORE: Store(),
        Shape.MOVE: Move(),
        Shape.MATMUL: _PRODUCT,
        Shape.GEMV: _PRODUCT,
        Shape.ACC_CONVERT: AccConvert(),
    }
)
"""The families that the model executes."""


def implementation(operation: Operation) -> Implementation | None:
    """Return what executes an operation, None if the model does not."""
    return IMPLEMENTATIONS[operation.shape] if operation.name in MODEL_OPERATIONS else None
