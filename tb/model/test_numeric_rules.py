"""Every table, example and known trap of the numeric rules, typed from the pages of LinxISA v0.56."""

import struct
from fractions import Fraction

import pytest
from number_oracles import FORMATS

from linxtile import exact
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import CompareMode, RoundingMode
from linxtile.isa.types import DATA_TYPES, data_type
from linxtile.rounding import round_value
from linxtile.values import Class, Value, decode

FP32, FP16, E4M3, S8, U8, S32, U32, S64 = map(data_type, ("FP32", "FP16", "E4M3", "S8", "U8", "S32", "U32", "S64"))
NONE, RNE, RTZ, RDN, RUP, RNA, RTO, RHB = RoundingMode
INFINITY, MINUS_INFINITY, NAN, QUIET, SIGNALLING = 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001
ONE, TWO, ZERO, MINUS_ZERO = 0x3F800000, 0x40000000, 0, 1 << 31


def fp32(value):
    """Return the FP32 code of a Python float that FP32 holds."""
    code = struct.unpack("<I", struct.pack("<f", value))[0]
    assert struct.unpack("<f", struct.pack("<f", value))[0] == value or value != value
    return code


def finite(value):
    return Value(Class.FINITE, value < 0, abs(Fraction(value)))


# Rounding modes.

MODES = [
    (2.5, (2, 2, 2, 3, 3, 3, 3)), (-2.5, (-2, -2, -3, -2, -3, -3, -2)), (3.5, (4, 3, 3, 4, 4, 3, 4)),
    (2.25, (2, 2, 2, 3, 2, 3, 2)), (-1.25, (-1, -1, -2, -1, -1, -1, -1)),
]  # fmt: skip


@pytest.mark.parametrize(("value", "results"), MODES)
def test_the_table_of_rounding_modes_holds_for_integers(value, results):
    for rounding, result in zip((RNE, RTZ, RDN, RUP, RNA, RTO, RHB), results, strict=True):
        expected = result & 0xFF, NO_FLAG
        assert exact.convert(fp32(value), FP32, S8, rounding) == expected, rounding.name
    assert exact.convert(fp32(value), FP32, S8) == exact.convert(fp32(value), FP32, S8, RTZ)


@pytest.mark.parametrize("name", ["FP32", "TF32", "HF32", "FP16", "BF16", "E5M2", "HiF8"])
def test_overflow_without_saturation_is_infinity_or_the_largest_value_by_the_mode(name):
    row = data_type(name)
    infinity = {"HiF8": 0x6F}.get(name) or FORMATS[name].infinity
    largest = row.max_finite
    for negative in (False, True):
        sign = row.sign_bit if negative else 0
        value = Value(Class.FINITE, negative, Fraction(1 << 200))
        for rounding in (RNE, RNA, RHB, RDN if negative else RUP):
            assert round_value(value, row, rounding) == (infinity | sign, Flag.OF), rounding.name
        for rounding in (RTZ, RTO, RUP if negative else RDN):
            assert round_value(value, row, rounding) == (largest | sign, Flag.OF), rounding.name
        for rounding in RoundingMode:
            assert round_value(value, row, rounding, True) == (largest | sign, Flag.OF), rounding.name


def test_overflow_of_e4m3_is_nan_where_others_have_infinity():
    for negative in (False, True):
        value = Value(Class.FINITE, negative, Fraction(1000))
        for rounding in (RNE, RNA, RHB, RDN if negative else RUP):
            assert round_value(value, E4M3, rounding) == (0x7F, Flag.OF)
        for rounding in (RTZ, RTO, RUP if negative else RDN):
            assert round_value(value, E4M3, rounding) == (0xFE if negative else 0x7E, Flag.OF)


@pytest.mark.parametrize("name", ["E3M2", "E2M3", "E2M1x2", "E1M2x2", "HiF4x2"])
def test_a_type_of_finite_values_only_takes_the_largest_and_gives_zero_for_nan(name):
    row = data_type(name)
    for rounding in RoundingMode:
        for saturate in (False, True):
            for negative, limit in ((False, row.max_finite), (True, row.min_finite)):
                assert round_value(Value(Class.FINITE, negative, Fraction(99)), row, rounding, saturate) == (
                    limit,
                    Flag.OF,
                )
                assert round_value(Value(Class.INFINITY, negative), row, rounding, saturate) == (limit, NO_FLAG)
            for code in (NAN, QUIET, SIGNALLING, 0xFFFFFFFF):
                assert exact.convert(code, FP32, row, rounding, saturate) == (0, Flag.NV)


# Integers.


def test_the_most_negative_integer_has_no_opposite_and_no_absolute_value():
    assert exact.negate(0x80, S8) == exact.absolute(0x80, S8) == (0x80, NO_FLAG)
    assert exact.negate(1, U8) == (0xFF, NO_FLAG)
    assert exact.absolute(0x80, U8) == (0x80, NO_FLAG)


def test_shifts_count_modulo_the_width():
    assert exact.shift_left(0x81, 9, S8) == (0x02, NO_FLAG)
    assert exact.shift_right(0x81, 9, S8) == (0xC0, NO_FLAG)
    assert exact.shift_right(0x81, 9, U8) == (0x40, NO_FLAG)
    assert exact.shift_left(0x81, 0xFF, S8) == (0x80, NO_FLAG)


@pytest.mark.parametrize(
    ("x", "y", "quotient", "floored", "truncated"),
    [
        (7, 2, 3, 1, 1),
        (-7, 2, -3, 1, -1),
        (7, -2, -3, -1, 1),
        (-7, -2, 3, -1, -1),
        (5, 0, -1, 5, 5),
        (-128, -1, -128, 0, 0),
    ],
)
def test_the_integer_examples_of_division_hold(x, y, quotient, floored, truncated):
    for row in (S8, S32, S64):
        if x == -128 and row is not S8:
            continue
        mask = row.storage_mask
        assert exact.divide(x & mask, y & mask, row) == (quotient & mask, NO_FLAG)
        assert exact.remainder(x & mask, y & mask, row) == (floored & mask, NO_FLAG)
        assert exact.fmod(x & mask, y & mask, row) == (truncated & mask, NO_FLAG)


# Float division and remainders.


@pytest.mark.parametrize(("x", "y", "result"), [(-1.0, 3.0, 2.0), (5.5, -2.0, -0.5), (4.0, -2.0, -0.0)])
def test_the_float_examples_of_trem_hold(x, y, result):
    assert exact.remainder(fp32(x), fp32(y), FP32) == (fp32(result), NO_FLAG)


def test_division_by_zero_raises_dz_and_gives_nan_in_e4m3():
    assert exact.divide(ONE, MINUS_ZERO, FP32) == (MINUS_INFINITY, Flag.DZ)
    assert exact.divide(0x38, 0x00, E4M3) == (0x7F, Flag.DZ)
    assert exact.divide(0xB8, 0x00, E4M3) == (0x7F, Flag.DZ)
    assert exact.divide(0x00, 0x80, E4M3) == (0x7F, Flag.NV)
    assert exact.divide(INFINITY, ZERO, FP32) == (INFINITY, NO_FLAG)


# Exponential, logarithm, roots, reciprocal.

FUNCTION_TABLE = [
    ("exponential", ZERO, ONE, NO_FLAG), ("exponential", MINUS_ZERO, ONE, NO_FLAG),
    ("exponential", INFINITY, INFINITY, NO_FLAG), ("exponential", MINUS_INFINITY, ZERO, NO_FLAG),
    ("exponential", 0x42C80000, INFINITY, Flag.OF), ("exponential", 0xC3000000, ZERO, NO_FLAG),
    ("logarithm", ONE, ZERO, NO_FLAG), ("logarithm", ZERO, MINUS_INFINITY, Flag.DZ),
    ("logarithm", MINUS_ZERO, MINUS_INFINITY, Flag.DZ), ("logarithm", 0xBF800000, NAN, Flag.NV),
    ("logarithm", MINUS_INFINITY, NAN, Flag.NV), ("logarithm", INFINITY, INFINITY, NO_FLAG),
    ("reciprocal", ZERO, INFINITY, Flag.DZ), ("reciprocal", MINUS_ZERO, MINUS_INFINITY, Flag.DZ),
    ("reciprocal", INFINITY, ZERO, NO_FLAG), ("reciprocal", MINUS_INFINITY, MINUS_ZERO, NO_FLAG),
    ("square_root", MINUS_ZERO, MINUS_ZERO, NO_FLAG), ("square_root", 0xBF800000, NAN, Flag.NV),
    ("square_root", INFINITY, INFINITY, NO_FLAG), ("square_root", MINUS_INFINITY, NAN, Flag.NV),
    ("reciprocal_root", ZERO, INFINITY, Flag.DZ), ("reciprocal_root", MINUS_ZERO, MINUS_INFINITY, Flag.DZ),
    ("reciprocal_root", INFINITY, ZERO, NO_FLAG), ("reciprocal_root", 0xBF800000, NAN, Flag.NV),
]  # fmt: skip
FUNCTIONS = ("exponential", "logarithm", "reciprocal", "square_root", "reciprocal_root")


@pytest.mark.parametrize(("name", "code", "result", "flags"), FUNCTION_TABLE)
def test_the_table_of_special_operands_holds(name, code, result, flags):
    assert getattr(exact, name)(code, FP32) == (result, flags)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_nan_give_the_canonical_nan(name):
    assert getattr(exact, name)(QUIET, FP32) == (NAN, NO_FLAG)
    assert getattr(exact, name)(SIGNALLING, FP32) == (NAN, Flag.NV)


@pytest.mark.parametrize("name", ["logarithm", "reciprocal", "reciprocal_root"])
def test_a_pole_of_e4m3_is_nan_with_dz(name):
    for zero in (0x00, 0x80):
        assert getattr(exact, name)(zero, E4M3) == (0x7F, Flag.DZ)


def test_an_exponential_beyond_e4m3_is_nan_with_of():
    assert exact.exponential(0x7E, E4M3) == (0x7F, Flag.OF)


INTEGER_TABLE = [
    ("exponential", S8, 5, 127), ("exponential", S8, 4, 54), ("exponential", S8, -1, 0), ("exponential", S8, 0, 1),
    ("exponential", U8, 6, 255), ("exponential", S64, 43, 4727839468229346561), ("logarithm", S8, 0, -128),
    ("logarithm", U8, 0, 0), ("logarithm", S8, -3, 0), ("logarithm", S8, 100, 4), ("logarithm", U8, 1, 0),
    ("reciprocal", S8, 1, 1), ("reciprocal", S8, -1, -1), ("reciprocal", S8, 0, -1), ("reciprocal", U8, 0, 255),
    ("reciprocal", S8, 2, 0), ("reciprocal", S8, -128, 0), ("square_root", S8, 99, 9), ("square_root", S8, 100, 10),
    ("square_root", S8, -4, 0), ("square_root", U8, 255, 15), ("reciprocal_root", S8, 1, 1), ("reciprocal_root", S8, 2, 0),
    ("reciprocal_root", S8, 0, 127), ("reciprocal_root", U8, 0, 255), ("reciprocal_root", S8, -1, 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "row", "value", "result"), INTEGER_TABLE)
def test_integer_functions_truncate_and_saturate(name, row, value, result):
    assert getattr(exact, name)(value & row.storage_mask, row) == (result & row.storage_mask, NO_FLAG)


# Maximum, minimum, comparison, ReLU, signs.


def test_maximum_and_minimum_prefer_the_number():
    for function in (exact.maximum, exact.minimum):
        assert function(SIGNALLING, ONE, FP32) == (ONE, Flag.NV)
        assert function(ONE, QUIET, FP32) == (ONE, NO_FLAG)
        assert function(QUIET, QUIET, FP32) == (NAN, NO_FLAG)
        assert function(SIGNALLING, QUIET, FP32) == (NAN, Flag.NV)
    for pair in ((ZERO, MINUS_ZERO), (MINUS_ZERO, ZERO)):
        assert exact.maximum(*pair, FP32) == (ZERO, NO_FLAG)
        assert exact.minimum(*pair, FP32) == (MINUS_ZERO, NO_FLAG)


def test_comparisons_are_quiet():
    for mode in CompareMode:
        assert exact.compare(QUIET, ONE, FP32, mode) == (mode is CompareMode.NE, NO_FLAG)
        assert exact.compare(ONE, SIGNALLING, FP32, mode) == (mode is CompareMode.NE, Flag.NV)
        equal = mode in (CompareMode.EQ, CompareMode.LE, CompareMode.GE)
        assert exact.compare(ZERO, MINUS_ZERO, FP32, mode) == (equal, NO_FLAG)
        assert exact.compare(0x3F800001, 0x3F800FFF, data_type("HF32"), mode) == (equal, NO_FLAG)


def test_the_relu_family_holds():
    assert exact.relu(ONE, FP32) == (ONE, NO_FLAG)
    for code in (MINUS_ZERO, ZERO, 0xBF800000, MINUS_INFINITY):
        assert exact.relu(code, FP32) == (ZERO, NO_FLAG)
    assert exact.relu(QUIET, FP32) == (NAN, NO_FLAG)
    assert exact.relu(SIGNALLING, FP32) == (NAN, Flag.NV)
    assert exact.relu(0x80, S8) == (0, NO_FLAG)
    assert exact.leaky_relu(ONE, SIGNALLING, FP32) == (ONE, NO_FLAG)
    assert exact.leaky_relu(QUIET, TWO, FP32) == (NAN, NO_FLAG)
    assert exact.leaky_relu(ZERO, 0xBF800000, FP32) == (MINUS_ZERO, NO_FLAG)
    assert exact.leaky_relu(0xBF800000, TWO, FP32) == (0xC0000000, NO_FLAG)


def test_signs_change_without_a_look_at_the_value():
    assert exact.absolute(0xFF800001, FP32) == (SIGNALLING, NO_FLAG)
    assert exact.negate(SIGNALLING, FP32) == (0xFF800001, NO_FLAG)
    assert exact.absolute(0xBF800FFF, data_type("TF32")) == (0x3F800FFF, NO_FLAG)


def test_three_terms_are_rounded_once():
    tiny = fp32(2.0**-60)
    assert exact.add_three(ONE, tiny, 0xBF800000, FP32) == (tiny, NO_FLAG)
    assert exact.subtract_add(ONE, ONE, tiny, FP32) == (tiny, NO_FLAG)
    assert exact.add_three(INFINITY, ONE, MINUS_INFINITY, FP32) == (NAN, Flag.NV)
    assert exact.add_three(MINUS_ZERO, MINUS_ZERO, MINUS_ZERO, FP32) == (MINUS_ZERO, NO_FLAG)
    assert exact.add_three(MINUS_ZERO, MINUS_ZERO, ZERO, FP32) == (ZERO, NO_FLAG)
    assert exact.subtract_add(MINUS_ZERO, ZERO, MINUS_ZERO, FP32) == (MINUS_ZERO, NO_FLAG)
    assert exact.subtract_add(ONE, ONE, MINUS_ZERO, FP32) == (ZERO, NO_FLAG)


def test_the_exponential_of_a_difference_collects_the_flags_of_both_steps():
    largest = 0x7F7FFFFF
    assert exact.exponential_difference(largest, largest | MINUS_ZERO, FP32) == (INFINITY, Flag.OF)
    assert exact.exponential_difference(INFINITY, INFINITY, FP32) == (NAN, Flag.NV)
    assert exact.exponential_difference(fp32(200.0), fp32(100.0), FP32) == (INFINITY, Flag.OF)
    # 8 + 0.0035 is rounded to 8 before the exponential is taken: 2980, where one rounding would give 2992.
    assert exact.exponential_difference(0x4800, 0x9B2B, FP16) == (0x69D2, NO_FLAG)
    assert exact.exponential_difference(0x3C00, 0x3C00, FP16) == (0x3C00, NO_FLAG)


# Conversions.

HIF8_EXAMPLES = [
    (Fraction(1, 1 << 23), 0x00), (Fraction(3, 1 << 23), 0x02), (Fraction(3, 1 << 17), 0x7E), (Fraction(31, 32), 0x08),
    (Fraction(31, 2), 0x40), (Fraction(36), 0x44), (Fraction(44), 0x46), (Fraction(40960), 0x6E),
]  # fmt: skip


@pytest.mark.parametrize(("value", "code"), HIF8_EXAMPLES)
def test_the_hif8_examples_hold(value, code):
    row = data_type("HiF8")
    assert round_value(Value(Class.FINITE, False, value), row) == (code, NO_FLAG)
    assert round_value(Value(Class.FINITE, True, value), row) == (code | 0x80 if code else 0, NO_FLAG)


def test_hif8_overflows_just_above_its_last_tie():
    row = data_type("HiF8")
    assert exact.convert(fp32(40961.0), FP32, row) == (0x6F, Flag.OF)
    assert exact.convert(fp32(-40961.0), FP32, row) == (0xEF, Flag.OF)
    assert exact.convert(fp32(40961.0), FP32, row, RNE, True) == (0x6E, Flag.OF)
    assert exact.convert(MINUS_ZERO, FP32, row) == (0x00, NO_FLAG)


E8M0_TABLE = [
    (1.0, RNE, 0x7F), (2.0**-127, RNE, 0x00), (2.0**127, RNE, 0xFE), (1.5, RTZ, 0x7F), (1.5, RDN, 0x7F), (1.5, RUP, 0x80),
    (1.25, RUP, 0x80), (1.4140625, RNE, 0x7F), (1.4150390625, RNE, 0x80), (1.5, RNA, 0x80), (1.5, RHB, 0x80),
    (1.5, NONE, 0x80), (1.5, RTO, 0x7F), (3.0, RTO, 0x81), (0.75, RTZ, 0x7E), (0.75, RDN, 0x7E), (0.75, RTO, 0x7F),
]  # fmt: skip


@pytest.mark.parametrize(("value", "rounding", "code"), E8M0_TABLE)
def test_the_exponent_is_rounded_to_e8m0(value, rounding, code):
    assert exact.convert(fp32(value), FP32, data_type("E8M0"), rounding) == (code, NO_FLAG)


def test_e8m0_has_nothing_for_zero_negative_and_nan():
    row = data_type("E8M0")
    for saturate in (False, True):
        for code in (ZERO, MINUS_ZERO, 0xBF800000, MINUS_INFINITY, NAN, SIGNALLING):
            assert exact.convert(code, FP32, row, RNE, saturate) == (0xFF, Flag.NV)
        for value in (0, -1):
            assert exact.convert(value & 0xFF, S8, row, RNE, saturate) == (0xFF, Flag.NV)
    assert exact.convert(INFINITY, FP32, row) == (0xFF, NO_FLAG)
    assert exact.convert(INFINITY, FP32, row, RNE, True) == (0xFE, NO_FLAG)
    assert exact.convert(0x7F7FFFFF, FP32, row) == (0xFF, Flag.OF)
    assert exact.convert(0x7F7FFFFF, FP32, row, RNE, True) == (0xFE, Flag.OF)
    assert exact.convert(0x7F7FFFFF, FP32, row, RTZ) == (0xFE, NO_FLAG)
    assert exact.convert(0x00200000, FP32, row) == (0xFF, NO_FLAG)
    assert exact.convert(0x00200000, FP32, row, RNE, True) == (0x00, NO_FLAG)


def test_e8m0_is_read_as_a_power_of_two_or_nan():
    row = data_type("E8M0")
    assert exact.convert(0x80, row, FP32) == (TWO, NO_FLAG)
    assert exact.convert(0x00, row, FP32) == (0x00400000, NO_FLAG)
    assert exact.convert(0xFF, row, FP32) == (NAN, NO_FLAG)
    assert exact.convert(0xFF, row, S32) == (0x80000000, Flag.NV)
    assert exact.convert(0xFF, row, S32, RNE, True) == (0, Flag.NV)


# The table of test vectors: destination, source type, source code, results without and with saturation, their flags.
# A value that does not fit raises its flag with and without saturation.
VECTORS = [
    ("FP16", "FP32", fp32(65519.0), 0x7BFF, 0x7BFF, NO_FLAG), ("FP16", "FP32", fp32(65520.0), 0x7C00, 0x7BFF, Flag.OF),
    ("FP16", "FP32", fp32(2.0**-25), 0x0000, 0x0000, NO_FLAG), ("FP16", "FP32", 0x33000001, 0x0001, 0x0001, NO_FLAG),
    ("BF16", "FP32", 0x3F808000, 0x3F80, 0x3F80, NO_FLAG), ("BF16", "FP32", 0x7F7FFFFF, 0x7F80, 0x7F7F, Flag.OF),
    ("E4M3", "FP32", fp32(464.0), 0x7E, 0x7E, NO_FLAG), ("E4M3", "FP32", fp32(465.0), 0x7F, 0x7E, Flag.OF),
    ("E4M3", "FP32", MINUS_INFINITY, 0x7F, 0xFE, NO_FLAG), ("E5M2", "FP32", fp32(61439.0), 0x7B, 0x7B, NO_FLAG),
    ("E5M2", "FP32", fp32(61440.0), 0x7C, 0x7B, Flag.OF), ("E2M1x2", "FP32", fp32(5.0), 0x6, 0x6, NO_FLAG),
    ("E2M1x2", "FP32", fp32(100.0), 0x7, 0x7, Flag.OF), ("S8", "FP32", 0x42FF3333, 0x80, 0x7F, Flag.NV),
    ("S8", "FP32", fp32(-128.5), 0x80, 0x80, NO_FLAG), ("U8", "FP32", fp32(-0.5), 0x00, 0x00, NO_FLAG),
    ("U8", "FP32", fp32(-1.0), 0xFF, 0x00, Flag.NV), ("S32", "FP32", NAN, 0x80000000, 0, Flag.NV),
    ("S8", "S32", 300, 0x2C, 0x7F, NO_FLAG), ("U8", "S32", 0xFFFFFFFF, 0xFF, 0x00, NO_FLAG),
    ("FP16", "S32", 65535, 0x7C00, 0x7BFF, Flag.OF), ("FP32", "U32", 0xFFFFFFFF, 0x4F800000, 0x4F800000, NO_FLAG),
    ("TF32", "FP32", 0x3F801000, 0x3F800000, 0x3F800000, NO_FLAG), ("HF32", "FP32", 0x3F800800, 0x3F800000, 0x3F800000, NO_FLAG),
    ("E8M0", "FP32", 0x3FB33333, 0x7F, 0x7F, NO_FLAG), ("E8M0", "FP32", fp32(1.5), 0x80, 0x80, NO_FLAG),
]  # fmt: skip


@pytest.mark.parametrize(("destination", "source", "code", "wrapped", "saturated", "flags"), VECTORS)
def test_the_table_of_conversions_holds(destination, source, code, wrapped, saturated, flags):
    types = data_type(source), data_type(destination)
    assert exact.convert(code, *types, RNE) == (wrapped, flags)
    assert exact.convert(code, *types, RNE, True) == (saturated, flags)


# Known traps: what has gone wrong in other machines.


def test_saturation_looks_at_the_rounded_value():
    assert exact.convert(fp32(127.5), FP32, S8, RNE, True) == (0x7F, Flag.NV)
    assert exact.convert(fp32(-128.5), FP32, S8, RNE, True) == (0x80, NO_FLAG)
    assert exact.convert(fp32(255.5), FP32, U8, RNE, True) == (0xFF, Flag.NV)
    assert exact.convert(fp32(255.25), FP32, U8, RNE, True) == (0xFF, NO_FLAG)


def test_a_value_that_rounds_to_the_most_negative_integer_fits():
    code = struct.unpack("<Q", struct.pack("<d", -2147483648.5))[0]
    assert exact.convert(code, data_type("FP64"), S32, RTZ) == (0x80000000, NO_FLAG)
    assert exact.convert(code, data_type("FP64"), S32, RDN) == (0x80000000, Flag.NV)


def test_narrow_floats_honour_the_rounding_mode():
    assert exact.convert(fp32(1.1875), FP32, E4M3, RNE) == (0x3A, NO_FLAG)
    assert exact.convert(fp32(1.03125), FP32, E4M3, RUP) == (0x39, NO_FLAG)


E4M3_LIMITS = [
    (448.0, 0x7E, 0x7E, NO_FLAG), (449.0, 0x7E, 0x7E, NO_FLAG), (464.0, 0x7E, 0x7E, NO_FLAG), (465.0, 0x7F, 0x7E, Flag.OF),
    (1000.0, 0x7F, 0x7E, Flag.OF), (float("inf"), 0x7F, 0x7E, NO_FLAG), (float("-inf"), 0x7F, 0xFE, NO_FLAG),
]  # fmt: skip


@pytest.mark.parametrize(("value", "wrapped", "saturated", "flags"), E4M3_LIMITS)
def test_the_range_of_e4m3_is_checked_after_rounding(value, wrapped, saturated, flags):
    assert exact.convert(fp32(value), FP32, E4M3) == (wrapped, flags)
    assert exact.convert(fp32(value), FP32, E4M3, RNE, True) == (saturated, flags)


def test_wide_sources_are_not_rounded_twice():
    code = struct.unpack("<Q", struct.pack("<d", 1 + 2.0**-8 + 2.0**-40))[0]
    assert exact.convert(code, data_type("FP64"), data_type("BF16"), RNE) == (0x3F81, NO_FLAG)
    # 16973823 lies just below the middle of 0x4B81 and 0x4B82: as FP32 it would be the middle, and go to the even 0x4B82.
    assert exact.convert(16973823, S64, data_type("BF16"), RNE) == (0x4B81, NO_FLAG)


def test_the_floored_remainder_of_minus_zero_is_plus_zero():
    assert exact.remainder(MINUS_ZERO, TWO, FP32) == (ZERO, NO_FLAG)


@pytest.mark.parametrize(("divisor", "quotient"), [(0x00200001, -1023), (2, -(1 << 30)), (3, -715827882)])
def test_the_most_negative_dividend_is_not_taken_for_a_positive_one(divisor, quotient):
    assert exact.divide(0x80000000, divisor, S32) == (quotient & 0xFFFFFFFF, NO_FLAG)


def test_shift_counts_are_not_sign_extended():
    for count in range(16, 64):
        assert exact.shift_left(3, count, S64) == ((3 << count) % (1 << 64), NO_FLAG)
        assert exact.shift_right(1 << 63, count, S64) == ((-1 << (63 - count)) % (1 << 64), NO_FLAG)
    assert exact.shift_left(3, 7, S8) == (0x80, NO_FLAG)
    assert exact.shift_right(0x80, 7, S8) == (0xFF, NO_FLAG)


# Element types.

LIMITS = [
    ("FP64", 0x7FEFFFFFFFFFFFFF, 9007199254740991 << 971), ("FP32", 0x7F7FFFFF, 16777215 << 104),
    ("TF32", 0x7F7FE000, 2047 << 117), ("HF32", 0x7F7FF000, 4095 << 116), ("FP16", 0x7BFF, 65504), ("BF16", 0x7F7F, 255 << 120),
    ("HiF8", 0x6E, 32768), ("E4M3", 0x7E, 448), ("E5M2", 0x7B, 57344), ("E3M2", 0x1F, 28), ("E2M3", 0x1F, Fraction(15, 2)),
    ("E2M1x2", 0x7, 6), ("E1M2x2", 0x7, Fraction(7, 4)), ("HiF4x2", 0x7, Fraction(7, 4)), ("E8M0", 0xFE, 1 << 127),
]  # fmt: skip


@pytest.mark.parametrize(("name", "code", "value"), LIMITS)
def test_the_largest_finite_value_is_that_of_the_page(name, code, value):
    row = data_type(name)
    assert row.max_finite == code
    assert decode(code, row).signed == value


@pytest.mark.parametrize(("name", "least_normal", "normal", "least", "subnormal"), [
    ("FP64", 0x0010000000000000, -1022, 1, -1074), ("FP32", 0x00800000, -126, 1, -149), ("TF32", 0x00800000, -126, 0x2000, -136),
    ("HF32", 0x00800000, -126, 0x1000, -137), ("FP16", 0x0400, -14, 1, -24), ("BF16", 0x0080, -126, 1, -133),
    ("E4M3", 0x08, -6, 1, -9), ("E5M2", 0x04, -14, 1, -16), ("E3M2", 0x04, -2, 1, -4), ("E2M3", 0x08, 0, 1, -3),
    ("E2M1x2", 0x2, 0, 1, -1), ("E1M2x2", 0x4, 0, 1, -2), ("HiF4x2", 0x4, 0, 1, -2), ("HiF8", 0x7E, -15, 1, -22),
])  # fmt: skip
def test_the_least_values_are_those_of_the_page(name, least_normal, normal, least, subnormal):
    row = data_type(name)
    assert decode(least_normal, row).signed == Fraction(2) ** normal
    assert decode(least, row).signed == Fraction(2) ** subnormal


def test_four_bit_floats_have_the_values_of_the_page():
    e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    e1m2 = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]
    for name, values in (("E2M1x2", e2m1), ("E1M2x2", e1m2), ("HiF4x2", e1m2)):
        row = data_type(name)
        assert [decode(code, row).signed for code in range(16)] == [*values, *(-value for value in values)]


def test_bits_outside_the_value_are_ignored_when_read_and_zero_when_written():
    for name in ("TF32", "HF32"):
        row = data_type(name)
        dirty = ONE | ((1 << row.dead_bits) - 1)
        assert exact.read(dirty, row) == exact.add(dirty, ZERO, row) == exact.convert(dirty, row, row) == (ONE, NO_FLAG)
        assert exact.read(INFINITY | 1, row) == (INFINITY, NO_FLAG)
    for name in ("E3M2", "E2M3"):
        row = data_type(name)
        for code in range(64):
            for high in (0x40, 0x80, 0xC0):
                assert exact.convert(code | high, row, row) == (code, NO_FLAG)


def test_the_canonical_nan_comes_back_from_every_type_that_has_one():
    for row in DATA_TYPES:
        if row.has_nan and row.name != "E8M0":
            assert exact.convert(NAN, FP32, row) == (row.canonical_nan, NO_FLAG)
            assert exact.convert(SIGNALLING, FP32, row) == (row.canonical_nan, Flag.NV)
