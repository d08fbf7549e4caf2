"""Maximum, minimum, comparison, sign and ReLU operations, bits and shifts of the definition."""

import itertools

import numpy as np
import pytest
from number_oracles import COMPUTING, FORMATS, INTEGERS, SOFT_KINDS, soft_operation, specials
from number_samples import edges, tuples

from linxtile import exact
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import CompareMode
from linxtile.isa.types import data_type
from linxtile.values import Class, decode


@pytest.mark.parametrize("name", SOFT_KINDS)
def test_comparisons_are_the_quiet_ones_of_softfloat(name):
    row = data_type(name)
    for first, second in tuples(name, 2, 1000):
        less, flags = soft_operation("lt_quiet", name, first, second)
        greater, _ = soft_operation("lt_quiet", name, second, first)
        equal, _ = soft_operation("eq", name, first, second)
        expected = {
            CompareMode.EQ: equal, CompareMode.NE: not equal, CompareMode.LT: less, CompareMode.GT: greater,
            CompareMode.LE: less or equal, CompareMode.GE: greater or equal,
        }  # fmt: skip
        for mode, holds in expected.items():
            assert exact.compare(first, second, row, mode) == (holds, flags), (hex(first), hex(second), mode.name)


@pytest.mark.parametrize("name", COMPUTING)
def test_a_comparison_of_short_floats_is_that_of_their_fp64_values(name):
    row = data_type(name)
    for first, second in tuples(name, 2, 300):
        x, y = (as_double(code, name) for code in (first, second))
        flags = (specials(name, first, second) or (0, NO_FLAG))[1]
        expected = (x == y, x != y, x < y, x > y, x <= y, x >= y)
        for mode in CompareMode:
            assert exact.compare(first, second, row, mode) == (expected[mode], flags), (hex(first), hex(second))


def as_double(code, name):
    """Return a code as a Python float, which holds the values of all formats."""
    value = decode(code, data_type(name))
    if value.is_nan:
        return float("nan")
    magnitude = float("inf") if value.kind is Class.INFINITY else float(value.magnitude)
    return -magnitude if value.negative else magnitude


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_compare_by_the_sign_of_their_type(name):
    row, bits = data_type(name), int(name[1:])
    for first, second in tuples(name, 2, 100):
        x, y = first, second
        if name[0] == "S":
            x, y = x - (x >> bits - 1 << bits), y - (y >> bits - 1 << bits)
        expected = (x == y, x != y, x < y, x > y, x <= y, x >= y)
        for mode in CompareMode:
            assert exact.compare(first, second, row, mode) == (expected[mode], NO_FLAG)
        assert exact.maximum(first, second, row) == (max(x, y) % (1 << bits), NO_FLAG)
        assert exact.minimum(first, second, row) == (min(x, y) % (1 << bits), NO_FLAG)
        assert exact.relu(first, row) == (max(x, 0), NO_FLAG)
        assert exact.absolute(first, row) == (abs(x) % (1 << bits), NO_FLAG)
        assert exact.negate(first, row) == (-x % (1 << bits), NO_FLAG)
        assert exact.leaky_relu(first, second, row) == ((x if x > 0 else x * y) % (1 << bits), NO_FLAG)


@pytest.mark.parametrize("name", COMPUTING)
def test_a_number_wins_against_nan_and_zeros_are_ordered_by_their_sign(name):
    row, form = data_type(name), FORMATS[name]
    for first, second in itertools.product(edges(name), repeat=2):
        x, y = as_double(first, name), as_double(second, name)
        flags = (specials(name, first, second) or (0, NO_FLAG))[1]
        clean = [code >> form.dead_bits << form.dead_bits for code in (first, second)]
        if np.isnan(x) or np.isnan(y):
            number = form.nan if np.isnan(x) and np.isnan(y) else clean[bool(np.isnan(x))]
            larger = smaller = number
        else:
            # The sign decides between two zeros.
            swapped = (x, not first & form.sign_bit) < (y, not second & form.sign_bit)
            larger, smaller = (clean[1], clean[0]) if swapped else (clean[0], clean[1])
        assert exact.maximum(first, second, row) == (larger, flags), (hex(first), hex(second))
        assert exact.minimum(first, second, row) == (smaller, flags), (hex(first), hex(second))


@pytest.mark.parametrize("name", COMPUTING)
def test_absolute_value_and_negation_change_the_sign_bit_and_nothing_else(name):
    row, form = data_type(name), FORMATS[name]
    for code in edges(name):
        assert exact.absolute(code, row) == (code & (form.sign_bit - 1), NO_FLAG)
        assert exact.negate(code, row) == (code ^ form.sign_bit, NO_FLAG)


@pytest.mark.parametrize("name", COMPUTING)
def test_relu_gives_plus_zero_below_zero_and_answers_nan(name):
    row, form = data_type(name), FORMATS[name]
    for code in edges(name):
        positive = code >> form.dead_bits << form.dead_bits if as_double(code, name) > 0 else 0
        assert exact.relu(code, row) == (specials(name, code) or (positive, NO_FLAG)), hex(code)


@pytest.mark.parametrize("name", COMPUTING)
def test_the_slope_counts_only_at_and_below_zero(name):
    row, form = data_type(name), FORMATS[name]
    for code, slope in itertools.product(edges(name), repeat=2):
        if as_double(code, name) > 0:
            expected = code >> form.dead_bits << form.dead_bits, NO_FLAG
        else:
            expected = exact.multiply(code, slope, row)
        assert exact.leaky_relu(code, slope, row) == expected, (hex(code), hex(slope))


def test_a_signalling_slope_is_not_read_above_zero():
    row = data_type("FP32")
    assert exact.leaky_relu(0x3F800000, 0x7F800001, row) == (0x3F800000, NO_FLAG)
    assert exact.leaky_relu(0xBF800000, 0x7F800001, row) == (0x7FC00000, Flag.NV)
    assert exact.leaky_relu(0x80000000, 0x40000000, row) == (0x80000000, NO_FLAG)


@pytest.mark.parametrize("name", INTEGERS)
def test_bitwise_operations_and_shifts_are_those_of_numpy(name):
    row, bits = data_type(name), int(name[1:])
    kind = np.dtype(("i" if name[0] == "S" else "u") + str(bits // 8))
    for first, second in tuples(name, 2, 200):
        assert exact.bit_and(first, second, row) == (first & second, NO_FLAG)
        assert exact.bit_or(first, second, row) == (first | second, NO_FLAG)
        assert exact.bit_xor(first, second, row) == (first ^ second, NO_FLAG)
        assert exact.bit_not(first, row) == ((1 << bits) - 1 - first, NO_FLAG)
        value = np.array([first], f"u{bits // 8}").view(kind)
        count = second % bits
        for function, shifted in ((exact.shift_left, value << count), (exact.shift_right, value >> count)):
            assert function(first, second, row) == (int(shifted.view(f"u{bits // 8}")[0]), NO_FLAG), (first, second)


@pytest.mark.parametrize("name", ["FP32", "E4M3", "S4x2", "U4x2", "E8M0"])
def test_bits_are_those_of_whole_integers(name):
    row = data_type(name)
    for function in (exact.bit_and, exact.bit_or, exact.bit_xor, exact.shift_left):
        with pytest.raises(ValueError, match=f"need an integer type of 8 to 64 bits, not {name}"):
            function(1, 1, row)
    with pytest.raises(ValueError, match=f"need an integer type of 8 to 64 bits, not {name}"):
        exact.bit_not(1, row)
    with pytest.raises(ValueError, match=name):
        exact.shift_right(1, 1, row)
