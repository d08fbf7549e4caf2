"""Integer arithmetic against Python's integers, and the order of reductions."""

import numpy as np
import pytest

from linxtile import exact
from linxtile.flags import NO_FLAG
from linxtile.isa.types import data_type
from linxtile.numerics import arithmetic, tree_reduce

INTEGERS = ("S8", "U8", "S16", "U16", "S32", "U32", "S64", "U64")


def value(code, row):
    """Return the number that a code stands for."""
    return code - (1 << row.storage_bits) if row.name[0] == "S" and code >> (row.storage_bits - 1) else code


EXPECTED = {
    "add": lambda a, b, row: a + b,
    "subtract": lambda a, b, row: a - b,
    "maximum": lambda a, b, row: max(a, b),
    "minimum": lambda a, b, row: min(a, b),
    "bit_and": lambda a, b, row: a & b,
    "bit_or": lambda a, b, row: a | b,
    "bit_xor": lambda a, b, row: a ^ b,
    "shift_left": lambda a, b, row: a << (b % row.storage_bits),
    "shift_right": lambda a, b, row: a >> (b % row.storage_bits),
    "absolute": lambda a, row: abs(a),
    "negate": lambda a, row: -a,
    "relu": lambda a, row: max(a, 0),
    "bit_not": lambda a, row: ~a,
    "read": lambda a, row: a,
}
"""What each operation computes on Python integers, before it is taken modulo ``2**w``."""

UNARY = ("absolute", "negate", "relu", "bit_not", "read")


def operands(row):
    """Return all codes of a byte, corners and seeded samples of wider types."""
    if row.storage_bits == 8:
        return np.arange(256, dtype=np.uint8)
    top = 1 << (row.storage_bits - 1)
    corners = {0, 1, 2, 3, 7, 8, row.storage_bits - 1, row.storage_bits, row.storage_bits + 1, top - 1, top, top + 1}
    corners |= {row.storage_mask, row.storage_mask - 1, 0x5555555555555555 & row.storage_mask}
    rng = np.random.default_rng(row.code)
    samples = rng.integers(0, row.storage_mask, 150, dtype=np.uint64, endpoint=True).tolist()
    return np.array(sorted(corners | set(samples)), f"u{row.storage_bits // 8}")


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("operation", [name for name in EXPECTED if name not in UNARY])
def test_binary_operations_wrap_like_python_integers(name, operation):
    row = data_type(name)
    codes = operands(row)
    got, raised = getattr(arithmetic(row), operation)(codes[:, np.newaxis], codes[np.newaxis, :])
    numbers = [value(code, row) for code in codes.tolist()]
    expected = [[EXPECTED[operation](a, b, row) & row.storage_mask for b in numbers] for a in numbers]
    assert got.tolist() == expected
    assert got.dtype == codes.dtype
    assert raised == NO_FLAG


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("operation", UNARY)
def test_unary_operations_wrap_like_python_integers(name, operation):
    row = data_type(name)
    codes = operands(row)
    got, raised = getattr(arithmetic(row), operation)(codes)
    assert got.tolist() == [EXPECTED[operation](value(code, row), row) & row.storage_mask for code in codes.tolist()]
    assert (got.dtype, raised) == (codes.dtype, NO_FLAG)


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("operation", EXPECTED)
def test_the_definition_wraps_like_python_integers(name, operation):
    row = data_type(name)
    codes = operands(row).tolist()[::7]
    for first in codes:
        if operation in UNARY:
            expected = EXPECTED[operation](value(first, row), row) & row.storage_mask
            assert getattr(exact, operation)(first, row) == (expected, NO_FLAG)
            continue
        for second in codes:
            expected = EXPECTED[operation](value(first, row), value(second, row), row) & row.storage_mask
            assert getattr(exact, operation)(first, second, row) == (expected, NO_FLAG)


@pytest.mark.parametrize(("name", "operation", "count", "result"), [
    ("S8", "shift_left", 9, 0x02), ("S8", "shift_right", 9, 0xC0), ("U8", "shift_right", 9, 0x40),
])  # fmt: skip
def test_shift_counts_are_taken_modulo_the_width(name, operation, count, result):
    got, _ = getattr(arithmetic(data_type(name)), operation)(np.array([0x81], np.uint8), np.array([count], np.uint8))
    assert got.tolist() == [result]


@pytest.mark.parametrize(("count", "tree"), [
    (1, "a"), (2, "(ab)"), (3, "((ab)c)"), (4, "((ab)(cd))"), (5, "(((ab)(cd))e)"), (6, "(((ab)(cd))(ef))"),
    (7, "(((ab)(cd))((ef)g))"), (8, "(((ab)(cd))((ef)(gh)))"), (9, "((((ab)(cd))((ef)(gh)))i)"),
])  # fmt: skip
def test_a_reduction_is_the_adjacent_pairwise_tree(count, tree):
    leaves = np.array([list("abcdefghi"[:count]), list("ABCDEFGHI"[:count])], object).T
    roots, _ = tree_reduce(leaves, lambda left, right: ("(" + left + right + ")", NO_FLAG))
    assert roots.tolist() == [tree, tree.upper()]
