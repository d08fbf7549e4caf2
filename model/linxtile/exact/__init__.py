"""The definition of arithmetic on single elements: exact values, rounded once.

Each function takes container codes and the element type and returns a container code with the flags it raises. It works
in integers and fractions only. `linxtile.numerics` does the same on arrays and is tested against this.
"""

from linxtile.exact.arithmetic import add, add_three, divide, multiply, multiply_add, subtract, subtract_add
from linxtile.exact.bits import bit_and, bit_not, bit_or, bit_xor, shift_left, shift_right
from linxtile.exact.conversion import convert
from linxtile.exact.functions import (
    exponential,
    exponential_difference,
    logarithm,
    reciprocal,
    reciprocal_root,
    square_root,
)
from linxtile.exact.operands import computes
from linxtile.exact.remainders import fmod, remainder
from linxtile.exact.selection import absolute, compare, leaky_relu, maximum, minimum, negate, read, relu
from linxtile.rounding import Outcome

__all__ = [
    "Outcome", "absolute", "add", "add_three", "bit_and", "bit_not", "bit_or", "bit_xor", "compare", "computes", "convert",
    "divide", "exponential", "exponential_difference", "fmod", "leaky_relu", "logarithm", "maximum", "minimum", "multiply",
    "multiply_add", "negate", "read", "reciprocal", "reciprocal_root", "relu", "remainder", "shift_left", "shift_right",
    "square_root", "subtract", "subtract_add",
]  # fmt: skip
