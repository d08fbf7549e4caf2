"""Arithmetic on arrays of element codes, bit for bit that of `linxtile.exact`."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from linxtile.arrays import Codes, Result
from linxtile.exact import computes
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import CompareMode
from linxtile.isa.types import DataType
from linxtile.numerics.binary64 import Binary64Elements
from linxtile.numerics.blocks import BLOCK, WHOLE, in_blocks
from linxtile.numerics.floats import FloatElements
from linxtile.numerics.integers import IntegerElements
from linxtile.numerics.native_floats import Binary32Elements, NativeElements
from linxtile.numerics.reductions import tree_reduce
from linxtile.numerics.single_floats import BrainElements, HalfElements, SingleElements
from linxtile.numerics.tables import TableElements
from linxtile.numerics.types import Block, Truths, code_type

Unary = Callable[[Codes], Result]
Binary = Callable[[Codes, Codes], Result]
Ternary = Callable[[Codes, Codes, Codes], Result]


def _operation(name: str, meaning: str) -> Any:
    """Return the method that applies an element function, block by block."""

    def method(self: "Arithmetic", *operands: Codes) -> Result:
        self._check(*operands)
        function, block = self._functions(name)
        return in_blocks(function, *operands, block=block)

    method.__name__ = name
    method.__doc__ = meaning
    return method


class Arithmetic:
    """What an element type can do.

    All methods take arrays of container codes (unsigned integers of the element's width, shapes that broadcast), change
    none of them, and return a new contiguous array of codes, in rows or columns like the operands, with the sticky flags
    raised by any element. With flags switched off no work is done for them and none are returned.

    Raises
    ------
    TypeError
        An operand is not in the unsigned integer type of the element's width.
    ValueError
        The operation has no meaning in the type: bitwise operations and shifts of floats.
    """

    read: Unary = _operation("read", "Operands with dead bits dropped and NaN made canonical.")
    absolute: Unary = _operation("absolute", "Magnitude; of floats the sign bit cleared.")
    negate: Unary = _operation("negate", "Opposite; of floats the sign bit flipped.")
    bit_not: Unary = _operation("bit_not", "Bitwise complement.")
    relu: Unary = _operation("relu", "The value if it is above zero, else +0.")
    exponential: Unary = _operation("exponential", "``e**x``.")
    logarithm: Unary = _operation("logarithm", "``ln x``.")
    reciprocal: Unary = _operation("reciprocal", "``1 / x``.")
    square_root: Unary = _operation("square_root", "Square root.")
    reciprocal_root: Unary = _operation("reciprocal_root", "``1 / sqrt(x)``, rounded once.")
    add: Binary = _operation("add", "Sum.")
    subtract: Binary = _operation("subtract", "Difference.")
    multiply: Binary = _operation("multiply", "Product.")
    divide: Binary = _operation("divide", "Quotient; of integers truncated.")
    remainder: Binary = _operation("remainder", "Remainder with the sign of the divisor.")
    fmod: Binary = _operation("fmod", "Remainder with the sign of the dividend.")
    maximum: Binary = _operation("maximum", "Larger operand; a number wins against NaN.")
    minimum: Binary = _operation("minimum", "Smaller operand; a number wins against NaN.")
    bit_and: Binary = _operation("bit_and", "Bitwise AND.")
    bit_or: Binary = _operation("bit_or", "Bitwise OR.")
    bit_xor: Binary = _operation("bit_xor", "Bitwise exclusive OR.")
    shift_left: Binary = _operation("shift_left", "Shift by the counts modulo the width.")
    shift_right: Binary = _operation(
        "shift_right", "Shift by the counts modulo the width, signed values with their sign."
    )
    leaky_relu: Binary = _operation("leaky_relu", "The value if it is above zero, else its product with the slope.")
    add_three: Ternary = _operation("add_three", "``first + second + third``, rounded once.")
    multiply_add: Ternary = _operation("multiply_add", "``first * second + third``, rounded once.")

    def __init__(self, data_type: DataType, track_flags: bool):
        self.data_type = data_type
        self._elements = _elements(data_type, track_flags)
        self._functions = _functions(self._elements, track_flags)
        self._code_type = code_type(data_type)

    def subtract_add(self, first: Codes, second: Codes, third: Codes) -> Result:
        """``first - second + third``, rounded once."""
        return self.add_three(first, self.negate(second)[0], third)

    def exponential_difference(self, first: Codes, second: Codes) -> Result:
        """``e**(first - second)`` in two steps, each rounded to the type; the flags of both."""
        difference, raised = self.subtract(first, second)
        power, flags = self.exponential(difference)
        return power, raised | flags

    def reduce(self, name: str, values: Codes) -> Result:
        """Combine the rows of ``values``, two at least, by the tree with the operation ``name``: roots, flags of all nodes."""
        if isinstance(self._elements, NativeElements):
            self._check(values)
            roots = self._elements.tree(name, values)
            if roots is not None:
                return roots, NO_FLAG
        return tree_reduce(values, getattr(self, name))

    def compare(self, first: Codes, second: Codes, mode: CompareMode) -> tuple[Truths, Flag]:
        """Compare by value; zeros are equal, a NaN is unequal to all and in no other relation. NV: a signalling NaN."""
        self._check(first, second)
        truths: Any
        function, block = self._functions("compare")
        truths, flags = in_blocks(partial(function, mode=mode), first, second, block=block)
        return truths, flags

    def _check(self, *operands: Codes) -> None:
        for codes in operands:
            if codes.dtype != self._code_type:
                raise TypeError(
                    f"codes of {self.data_type.name} must be an array of {self._code_type}, not of {codes.dtype}"
                )


@cache
def arithmetic(data_type: DataType, track_flags: bool = True) -> Arithmetic:
    """Return the arithmetic of an integer type or of a float type that operations compute in.

    Parameters
    ----------
    track_flags : bool
        Whether to find out the flags; without, they are returned as none.

    Raises
    ------
    ValueError
        No operation computes in the type.
    """
    return Arithmetic(data_type, track_flags)


def _functions(
    elements: FloatElements | IntegerElements, track_flags: bool
) -> Callable[[str], tuple[Callable[..., Block], int]]:
    """Return what gives the element function of an operation and the size of its blocks.

    The function takes codes and returns new codes and the flags of each element.
    """
    data_type = elements.data_type
    tables = _TABLES.get(data_type.storage_bits, {}) if data_type.is_float else {}

    @cache
    def function(name: str) -> tuple[Callable[..., Block], int]:
        compute: Callable[..., Any] | None = getattr(elements, name, None)
        if compute is None:
            raise ValueError(f"{name} has no meaning in the float type {data_type.name}")
        block = WHOLE if name in elements.light else BLOCK
        if isinstance(elements, IntegerElements):
            return lambda *operands, **options: (compute(*operands, **options), None), block
        if name in tables:
            return TableElements(compute, data_type.storage_bits, tables[name], track_flags), block
        return compute, block

    return function


def _elements(data_type: DataType, track_flags: bool) -> FloatElements | IntegerElements:
    if not computes(data_type):
        raise ValueError(f"no operation computes in {data_type.name}")
    if data_type.is_integer:
        return IntegerElements(data_type)
    return _FLOATS.get(data_type.name, FloatElements)(data_type, track_flags)


_FLOATS: dict[str, type[FloatElements]] = {
    "FP64": Binary64Elements,
    "FP32": Binary32Elements,
    "TF32": SingleElements,
    "HF32": SingleElements,
    "FP16": HalfElements,
    "BF16": BrainElements,
}

_UNARY = dict.fromkeys(("exponential", "logarithm", "reciprocal", "square_root", "reciprocal_root"), 1)
_SIGNS = dict.fromkeys(("read", "relu"), 1)
_BINARY = dict.fromkeys(("add", "subtract", "multiply", "divide", "remainder", "fmod", "leaky_relu"), 2)
_TABLES = {8: _SIGNS | _UNARY | _BINARY, 16: _UNARY}
"""Operations that are looked up, by the width of a float type, with their number of operands."""
