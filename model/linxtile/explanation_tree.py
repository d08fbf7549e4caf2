"""One element of a reduction, node by node of the adjacent pairwise tree."""

from collections.abc import Sequence
from fractions import Fraction
from math import prod

from linxtile import exact, formats
from linxtile.describe import code_text, number_text, value_text
from linxtile.explanation import Explanation
from linxtile.flags import NO_FLAG
from linxtile.isa.operations import operation
from linxtile.isa.types import DataType
from linxtile.operations.kernels import KERNELS
from linxtile.rounding import round_to
from linxtile.values import Class, Value, decode

__all__ = ["explain_reduction"]

_SIGNS = {"add": "+", "multiply": "*", "maximum": "max", "minimum": "min"}


def explain_reduction(name: str, codes: Sequence[int], data_type: str | DataType) -> Explanation:
    """Explain the result of a row or column reduction.

    Parameters
    ----------
    codes : sequence of int
        Container codes of the elements of the row or column in the order of their index, at least one.
    """
    row = formats.get(data_type)
    if row.name not in (operation(name).source_types or ()):
        raise ValueError(f"{name} takes {', '.join(operation(name).source_types or ())}, not {row.name}")
    if not codes:
        raise ValueError(f"{name} takes at least one element, not none")
    leaves = [formats.checked_code(code, row) for code in codes]
    method = KERNELS[name]
    nodes: list[str] = []
    flags = NO_FLAG
    level = [(place, place, code) for place, code in enumerate(leaves)]
    if len(level) == 1:
        code, flags = exact.read(leaves[0], row)
        level = [(0, 0, code)]
    while len(level) > 1:
        pairs = list(zip(level[0::2], level[1::2], strict=False))
        merged = []
        for (first, _, left), (_, last, right) in pairs:
            code, raised = getattr(exact, method)(left, right, row)
            flags |= raised
            merged.append((first, last, code))
            told = f"{value_text(left, row)} {_SIGNS[method]} {value_text(right, row)} = {value_text(code, row)}"
            nodes.append(f"e{first}..e{last}: {told}")
        level = merged + level[2 * len(pairs) :]
    result = level[0][2]
    inputs = tuple(f"e{place}: {code_text(code, row)} = {value_text(code, row)}" for place, code in enumerate(leaves))
    told, rounding = _exact(method, [decode(code, row) for code in leaves], row, len(nodes), result)
    return Explanation(name, row, inputs, told, rounding, flags, result, tuple(nodes))


def _exact(method: str, values: Sequence[Value], row: DataType, nodes: int, result: int) -> tuple[str, str]:
    """Return the exact value, and how the tree's compares with it."""
    if any(value.kind is not Class.FINITE for value in values) or method in ("maximum", "minimum"):
        return "nothing to round" if method in ("maximum", "minimum") else "no number: special elements", ""
    total = sum((value.signed for value in values), Fraction(0)) if method == "add" else prod(v.signed for v in values)
    if row.is_integer:
        return number_text(Fraction(total)), f"modulo 2^{row.storage_bits}"
    once, _ = round_to(abs(Fraction(total)), total < 0, row)
    same = "the same" if decode(once, row).signed == decode(result, row).signed else value_text(once, row)
    return number_text(Fraction(total)), f"{nodes} nodes, each rounded to {row.name}; rounded once it would be {same}"
