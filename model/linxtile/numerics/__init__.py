"""Arithmetic on arrays of element codes, and the order of reductions: `linxtile.exact`, many elements at a time."""

from linxtile.numerics.arithmetic import Arithmetic, arithmetic
from linxtile.numerics.reductions import Combine, left_fold, tree_reduce

__all__ = ["Arithmetic", "Combine", "arithmetic", "left_fold", "tree_reduce"]
