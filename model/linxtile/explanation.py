"""One element of an operation, step by step: inputs, exact value, rounding, flags, result."""

import decimal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from linxtile import exact, formats
from linxtile.describe import code_text, number_text, rounded_text, value_text
from linxtile.flags import Flag
from linxtile.isa.codes import CompareMode, RoundingMode
from linxtile.isa.operations import Shape, operation
from linxtile.isa.types import DataType, Kind
from linxtile.operations.kernels import KERNELS
from linxtile.rounding import round_value
from linxtile.values import Class, Value, decode

__all__ = ["Explanation", "explain_codes"]

_SHAPES = (Shape.ELEMENTWISE, Shape.MASK_RESULT, Shape.CONVERT, Shape.ROW_EXPAND_OP, Shape.COLUMN_EXPAND_OP)

_DIGITS = 80
"""Decimal digits of exponentials, logarithms and roots: far beyond the rounding of any type."""


@dataclass(frozen=True)
class Explanation:
    """What happens to one element.

    Attributes
    ----------
    operation : str
        Name of the operation.
    data_type : DataType
        Type of the result.
    inputs : tuple of str
        One line an operand: code and exact value.
    exact : str
        The exact result before rounding, or why there is none.
    rounding : str
        Between which values it lies and which one is taken; empty where nothing is rounded.
    flags : Flag
        Status flags of this element.
    code : int
        The result; 0 or 1 for a comparison.
    nodes : tuple of str
        The nodes of a reduction, level by level.
    """

    operation: str
    data_type: DataType | None
    inputs: tuple[str, ...]
    exact: str
    rounding: str
    flags: Flag
    code: int
    nodes: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.data_type is None:
            result = str(bool(self.code)).lower()
        else:
            result = f"{code_text(self.code, self.data_type)} = {value_text(self.code, self.data_type)}"
        rows = [("operand", line) for line in self.inputs] + [("node", line) for line in self.nodes]
        rows += [("exact", self.exact)]
        rows += [("rounding", self.rounding)] if self.rounding else []
        rows += [("flags", ", ".join(str(flag.name) for flag in self.flags) or "none"), ("result", result)]
        title = self.operation if self.data_type is None else f"{self.operation} {self.data_type.name}"
        return "\n".join([title, *(f"  {name:9} {text}" for name, text in rows)])


_SHOWN_DIGITS = 30

_LARGEST_EXPONENT = 1000
"""Exponentials of more lie above every type, or below half of the smallest number of each."""

Exact = Callable[..., Fraction]


def _irrational(function: Callable[[decimal.Context, decimal.Decimal], decimal.Decimal]) -> Exact:
    """Return a function on fractions that is right to `_DIGITS` digits."""

    def evaluate(value: Fraction) -> Fraction:
        # Wide enough to hold any value of any type exactly: 2^-1074 has 1074 decimals.
        wide = decimal.Context(prec=2200, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
        operand = wide.divide(decimal.Decimal(value.numerator), decimal.Decimal(value.denominator))
        context = decimal.Context(prec=_DIGITS, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
        return Fraction(function(context, operand))

    return evaluate


_EXACT: Mapping[str, Exact] = MappingProxyType(
    {
        "add": lambda x, y: x + y,
        "subtract": lambda x, y: x - y,
        "multiply": lambda x, y: x * y,
        "divide": lambda x, y: x / y,
        "remainder": lambda x, y: x % y,
        "fmod": lambda x, y: x - y * int(x / y),
        "add_three": lambda x, y, z: x + y + z,
        "subtract_add": lambda x, y, z: x - y + z,
        "leaky_relu": lambda x, slope: x if x > 0 else x * slope,
        "reciprocal": lambda x: 1 / x,
        "square_root": _irrational(lambda context, x: context.sqrt(x)),
        "reciprocal_root": _irrational(lambda context, x: context.divide(decimal.Decimal(1), context.sqrt(x))),
        "exponential": _irrational(lambda context, x: context.exp(x)),
        "logarithm": _irrational(lambda context, x: context.ln(x)),
    }
)
"""Exact results on finite operands, where the operation rounds."""

_HARDLY = Fraction(1, 10**5)

_TRUNCATED = frozenset({"divide", "reciprocal", "square_root", "reciprocal_root", "exponential", "logarithm"})
"""Operations whose results in integer types are cut toward zero and clamped."""

_IRRATIONAL = frozenset({"square_root", "reciprocal_root", "exponential", "logarithm"})


def explain_codes(
    name: str,
    codes: Sequence[int],
    data_type: str | DataType,
    *,
    to: str | DataType | None = None,
    rounding: str | RoundingMode = "NONE",
    saturate: bool = False,
    mode: str | CompareMode = "EQ",
) -> Explanation:
    """Explain an operation on element codes.

    Parameters
    ----------
    name : str
        An operation that computes on elements: TADD, TEXP, TCVT, TCMP ...
    codes : sequence of int
        One container code an operand, in the order of the operands; a scalar comes last.
    data_type : str or DataType
        Type of the operands.
    to, rounding, saturate
        Second type and modes of TCVT.
    mode : str or CompareMode
        Relation of TCMP and TCMPS.

    Raises
    ------
    ValueError
        The operation does not compute on elements, does not take the type, or takes another number of operands.
    """
    row, entry = formats.get(data_type), operation(name)
    _check(name, codes, row)
    inputs = tuple(f"{code_text(code, row)} = {value_text(code, row)}" for code in codes)
    values = [decode(formats.checked_code(code, row), row) for code in codes]
    if entry.shape is Shape.MASK_RESULT:
        relation = formats.compare_mode(mode)
        holds, flags = exact.compare(codes[0], codes[1], row, relation)
        return Explanation(name, None, inputs, f"{values[0]} {relation.name} {values[1]}", "", flags, int(holds))
    if entry.shape is Shape.CONVERT:
        target, how = row if to is None else formats.get(to), formats.rounding_mode(rounding)
        code, flags = exact.convert(codes[0], row, target, how, formats.truth("saturate", saturate))
        steps = _rounding_text(values[0], target, how, code, flags)
        return Explanation(name, target, inputs, _value(values[0]), steps, flags, code)
    method = KERNELS[entry.name]
    if entry.max_scalars:
        # The scalar is the second operand of the formula, as in src0 - scalar + src1.
        codes, values = [codes[0], codes[-1], *codes[1:-1]], [values[0], values[-1], *values[1:-1]]
    code, flags = getattr(exact, method)(*codes, row)
    if method == "exponential_difference":
        difference, _ = exact.subtract(codes[0], codes[1], row)
        values, method = [decode(difference, row)], "exponential"
        inputs += (f"difference, rounded: {code_text(difference, row)} = {value_text(difference, row)}",)
    value = _exact_result(method, values)
    if value is None:
        why = _no_number(method, values)
        return Explanation(name, row, inputs, why, "", flags, code)
    told = number_text(value)
    if method in _IRRATIONAL and "/" in told:
        told = f"about {rounded_text(value, _SHOWN_DIGITS)}"
    if row.is_integer:
        return Explanation(name, row, inputs, told, _integer_text(method, value, row), flags, code)
    steps = _rounding_text(Value(Class.FINITE, value < 0, abs(value)), row, RoundingMode.RNE, code, flags)
    if row.name == "FP64" and method in ("exponential", "logarithm"):
        steps = steps.replace(RoundingMode.RNE.name, "the integer algorithm")
    return Explanation(name, row, inputs, told, steps, flags, code)


def _check(name: str, codes: Sequence[int], row: DataType) -> None:
    if not isinstance(name, str):
        raise TypeError(f"operation must be a name such as 'TADD', not {name!r}")
    entry = operation(name)
    if entry.shape not in _SHAPES:
        raise ValueError(f"operation must be one that computes on single elements, not {name}")
    if row.name not in (entry.source_types or ()):
        raise ValueError(f"{name} takes {', '.join(entry.source_types or ())}, not {row.name}")
    wanted = entry.max_sources + entry.max_scalars
    if len(codes) != wanted:
        raise ValueError(f"{name} takes {wanted} operand{'s' * (wanted != 1)}, not {len(codes)}")


def _value(value: Value) -> str:
    return number_text(value.signed) if value.kind is Class.FINITE else str(value)


def _no_number(method: str, values: Sequence[Value]) -> str:
    if method == "exponential" and all(value.kind is Class.FINITE for value in values):
        return f"beyond every type {'below' if values[0].negative else 'above'}"
    return "no number to round: a special operand, or a pole" if method in _EXACT else "nothing to round"


def _exact_result(method: str, values: Sequence[Value]) -> Fraction | None:
    """Return the exact result of a rounding operation on finite operands, None where there is no such number."""
    function = _EXACT.get(method)
    if function is None or any(value.kind is not Class.FINITE for value in values):
        return None
    if method == "exponential" and values[0].magnitude > _LARGEST_EXPONENT:
        return None
    try:
        return function(*(value.signed for value in values))
    except (ArithmeticError, ValueError):
        # A pole, or outside the domain: the result is special, and the flags say so.
        return None


def _integer_text(method: str, value: Fraction, row: DataType) -> str:
    """Say what becomes of an exact result in an integer type."""
    low, high = (int(decode(limit, row).signed) for limit in (row.min_finite, row.max_finite))
    if method in _TRUNCATED:
        return "cut toward zero" if low <= int(value) <= high else "cut toward zero and clamped to the range"
    return "exact" if low <= value <= high else f"modulo 2^{row.storage_bits}"


def _rounding_text(value: Value, row: DataType, rounding: RoundingMode, code: int, flags: Flag) -> str:
    """Say between which values of the type a finite value lies, how far, and which of them was taken."""
    if value.kind is not Class.FINITE:
        return ""
    if rounding is RoundingMode.NONE:
        rounding = RoundingMode.RTZ if row.is_integer else RoundingMode.RNE
    lower, upper = (round_value(value, row, way)[0] for way in (RoundingMode.RDN, RoundingMode.RUP))
    if lower == upper and decode(lower, row).signed == value.signed:
        return "exact"
    low, high = (decode(end, row) for end in (lower, upper))
    if row.is_float and (lower == upper or Class.FINITE is not low.kind or Class.FINITE is not high.kind):
        return _above_text(value, row, rounding, code, flags)
    if not low.signed < value.signed < high.signed:
        return "beyond the range of the type"
    taken = {lower: "lower", upper: "upper"}.get(code, "other")
    if row.kind is Kind.SCALE:
        return f"between {_end(lower, row)} and {_end(upper, row)}, compared by their logarithms; {rounding.name} takes the {taken}"
    way = _way(value.signed, low.signed, high.signed)
    return f"{way} from {_end(lower, row)} to {_end(upper, row)}; {rounding.name} takes the {taken}"


def _above_text(value: Value, row: DataType, rounding: RoundingMode, code: int, flags: Flag) -> str:
    """Say how far a value lies above the largest finite magnitude, towards the next one that the type does not have."""
    limit = row.min_finite if value.negative else row.max_finite
    largest = decode(limit, row).magnitude
    step = largest - decode(formats.neighbours(row.max_finite, row)[0] or 0, row).magnitude
    # The largest HiF8 value is a power of two, above which steps are twice as large.
    beyond = largest + (2 * step if row.tapered else step)
    if value.magnitude >= beyond:
        return f"beyond the largest finite value {value_text(limit, row)}"
    way, sign = _way(value.magnitude, largest, beyond), "-" if value.negative else ""
    taken = "takes the former"
    if Flag.OF in flags:
        taken = "overflows and is clamped" if code == limit else "overflows"
    return (
        f"{way} from {_end(limit, row)} to {sign}{number_text(beyond)}, which the type lacks; {rounding.name} {taken}"
    )


def _way(value: Fraction, low: Fraction, high: Fraction) -> str:
    share = (value - low) / (high - low)
    if share < _HARDLY or share > 1 - _HARDLY:
        return "hardly any of the way" if share < _HARDLY else "nearly all of the way"
    return "half way" if share == Fraction(1, 2) else f"{float(share):.6g} of the way"


def _end(code: int, row: DataType) -> str:
    return f"{code_text(code, row)} = {value_text(code, row)}"
