"""Integer arithmetic against Python's integers, and the order of reductions."""

from functools import cache
from math import isqrt

import gmpy2
import numpy as np
import pytest

from linxtile import exact
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import CompareMode
from linxtile.isa.types import data_type
from linxtile.numerics import arithmetic, left_fold, tree_reduce

INTEGERS = ("S8", "U8", "S16", "U16", "S32", "U32", "S64", "U64")


def value(code, row):
    """Return the number that a code stands for."""
    return code - (1 << row.storage_bits) if row.name[0] == "S" and code >> (row.storage_bits - 1) else code


def wrapped(number, row):
    """Return a number modulo ``2**w``, as the type reads it."""
    return value(number & row.storage_mask, row)


def limits(row):
    """Return the smallest and the largest number of a type."""
    bits = row.storage_bits
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if row.name[0] == "S" else (0, (1 << bits) - 1)


def quotient(a, b):
    """Divide, truncated; all ones for a divisor of 0."""
    return (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) if b else -1


@cache
def power(a, row):
    """Return e**a truncated and held within the type."""
    with gmpy2.context(precision=300):
        return min(int(gmpy2.floor(gmpy2.exp(min(a, 100)))), limits(row)[1]) if a >= 0 else 0


def logarithm(a, row):
    """Return ln a truncated; the smallest number for 0, 0 below."""
    with gmpy2.context(precision=300):
        return int(gmpy2.floor(gmpy2.log(a))) if a > 0 else (limits(row)[0] if a == 0 else 0)


EXPECTED = {
    "add": lambda a, b, row: a + b,
    "subtract": lambda a, b, row: a - b,
    "multiply": lambda a, b, row: a * b,
    "divide": lambda a, b, row: quotient(a, b),
    "remainder": lambda a, b, row: a % b if b else a,
    "fmod": lambda a, b, row: a - b * quotient(a, b) if b else a,
    "leaky_relu": lambda a, b, row: a if a > 0 else a * b,
    "exponential_difference": lambda a, b, row: power(wrapped(a - b, row), row),
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
    "exponential": power,
    "logarithm": logarithm,
    "reciprocal": lambda a, row: quotient(1, a),
    "square_root": lambda a, row: isqrt(a) if a > 0 else 0,
    "reciprocal_root": lambda a, row: {0: limits(row)[1], 1: 1}.get(a, 0),
}
"""What each operation computes on Python integers, before it is taken modulo ``2**w``."""

UNARY = (
    "absolute", "negate", "relu", "bit_not", "read", "exponential", "logarithm", "reciprocal", "square_root",
    "reciprocal_root",
)  # fmt: skip


def operands(row):
    """Return all codes of a byte, corners and seeded samples of wider types."""
    if row.storage_bits == 8:
        return np.arange(256, dtype=np.uint8)
    top = 1 << (row.storage_bits - 1)
    corners = {0, 1, 2, 3, 7, 8, row.storage_bits - 1, row.storage_bits, row.storage_bits + 1, top - 1, top, top + 1}
    corners |= {row.storage_mask, row.storage_mask - 1, 0x5555555555555555 & row.storage_mask}
    # Squares, powers of e and their neighbours; binary64 rounds the largest squares.
    roots = (5, isqrt(top), isqrt(row.storage_mask), (1 << row.storage_bits // 2) - 1)
    corners |= {root * root + near for root in roots for near in (-1, 0, 1)}
    corners |= {power(exponent, row) + near for exponent in (1, 4, 5, 10, 21, 22, 43, 44) for near in (0, 1)}
    corners = {code & row.storage_mask for code in corners}
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
@pytest.mark.parametrize(("operation", "result"), [
    ("add_three", lambda a, b, c: a + b + c),
    ("subtract_add", lambda a, b, c: a - b + c),
    ("multiply_add", lambda a, b, c: a * b + c),
])  # fmt: skip
def test_operations_on_three_operands_wrap_like_python_integers(name, operation, result):
    row = data_type(name)
    codes = operands(row)
    terms = codes, codes[::-1], np.roll(codes, 7)
    got, raised = getattr(arithmetic(row), operation)(*terms)
    numbers = [[value(code, row) for code in term.tolist()] for term in terms]
    assert got.tolist() == [result(*values) & row.storage_mask for values in zip(*numbers, strict=True)]
    assert (got.dtype, raised) == (codes.dtype, NO_FLAG)


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize(("mode", "holds"), [
    (CompareMode.EQ, lambda a, b: a == b), (CompareMode.NE, lambda a, b: a != b), (CompareMode.LT, lambda a, b: a < b),
    (CompareMode.GT, lambda a, b: a > b), (CompareMode.LE, lambda a, b: a <= b), (CompareMode.GE, lambda a, b: a >= b),
])  # fmt: skip
def test_comparisons_are_those_of_python_integers(name, mode, holds):
    row = data_type(name)
    codes = operands(row)[::3]
    got, raised = arithmetic(row).compare(codes[:, np.newaxis], codes[np.newaxis, :], mode)
    numbers = [value(code, row) for code in codes.tolist()]
    assert (got.tolist(), raised) == ([[holds(a, b) for b in numbers] for a in numbers], NO_FLAG)


@pytest.mark.parametrize(("name", "dividend", "divisor", "results"), [
    ("S8", 7, 2, (3, 1, 1)), ("S8", -7, 2, (-3, 1, -1)), ("S8", 7, -2, (-3, -1, 1)), ("S8", -7, -2, (3, -1, -1)),
    ("S8", 5, 0, (-1, 5, 5)), ("S8", -128, -1, (-128, 0, 0)), ("U8", 5, 0, (255, 5, 5)),
    ("S32", -(1 << 31), 0x00200001, (-1023, 1024, -2096129)),
    ("S32", -(1 << 31), 2, (-(1 << 30), 0, 0)), ("S32", -(1 << 31), 3, (-715827882, 1, -2)),
])  # fmt: skip
def test_quotients_and_remainders_are_those_of_the_page(name, dividend, divisor, results):
    row = data_type(name)
    first, second = (
        np.array([number & row.storage_mask], f"u{row.storage_bits // 8}") for number in (dividend, divisor)
    )
    for operation, result in zip(("divide", "remainder", "fmod"), results, strict=True):
        assert getattr(arithmetic(row), operation)(first, second)[0].tolist() == [result & row.storage_mask]


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


def test_a_fold_goes_from_the_first_element_to_the_last():
    leaves = np.array([list("abcd"), list("ABCD")], object).T
    folded, _ = left_fold(leaves, lambda left, right: ("(" + left + right + ")", NO_FLAG))
    assert folded.tolist() == ["(((ab)c)d)", "(((AB)C)D)"]


@pytest.mark.parametrize("reduce", [tree_reduce, left_fold])
def test_a_reduction_collects_the_flags_of_all_nodes(reduce):
    row = data_type("FP16")
    maximum, nan = row.max_finite, row.canonical_nan + 1
    leaves = np.array([[maximum, 0], [maximum, 0], [0, row.positive_infinity + 1], [0, nan]], np.uint16)
    roots, raised = reduce(leaves, arithmetic(row).add)
    assert (roots.tolist(), raised) == ([row.positive_infinity, row.canonical_nan], Flag.OF | Flag.NV)
