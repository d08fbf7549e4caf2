"""Rounding of exact values that no source type holds: every destination, mode and saturation."""

import random
from fractions import Fraction

import pytest
from number_conversions import HIF8_CODES, HIF8_VALUES, converted
from number_oracles import FORMATS
from number_samples import edges

from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import DATA_TYPES, Kind, data_type
from linxtile.rounding import overflow, round_to, round_value
from linxtile.values import Class, Value, decode

NAMES = [row.name for row in DATA_TYPES]
SPECIALS = [
    Value(Class.INFINITY), Value(Class.INFINITY, True), Value(Class.NAN), Value(Class.SIGNALLING_NAN), Value(Class.FINITE),
    Value(Class.FINITE, True),
]  # fmt: skip


def rationals(name, count):
    """Return exact values around the codes of a type: beside one, beside the middle of two, and beyond the limits."""
    row, source = data_type(name), random.Random(name)
    values = [decode(code, row) for code in source.choices(edges(name), k=count)]
    for value in values:
        if value.kind is not Class.FINITE:
            continue
        magnitude, gap = (
            value.magnitude or Fraction(1, 1 << 40),
            value.magnitude / (1 << row.mantissa_bits) or Fraction(1),
        )
        for offset in (Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1, 1 << 70)):
            yield Value(Class.FINITE, bool(source.randrange(2)), magnitude + offset * gap)
        yield Value(Class.FINITE, value.negative, magnitude * 5 / 3)


@pytest.mark.parametrize("name", NAMES)
def test_values_of_any_precision_are_rounded_once(name):
    row = data_type(name)
    for value in [*rationals(name, 12), *SPECIALS]:
        for rounding in RoundingMode:
            for saturate in (False, True):
                expected = converted(value, False, name, rounding, saturate)
                assert round_value(value, row, rounding, saturate) == expected, (str(value), rounding.name, saturate)


@pytest.mark.parametrize("name", [*FORMATS, "HiF8"])
def test_results_of_operations_are_rounded_to_nearest_even(name):
    row = data_type(name)
    for value in rationals(name, 20):
        expected = converted(value, False, name, RoundingMode.RNE, False)
        assert round_to(value.magnitude, value.negative, row) == expected, str(value)


def test_of_two_neighbours_in_hif8_one_has_an_even_code():
    assert len(HIF8_VALUES) == 128
    assert [HIF8_CODES[value] % 2 for value in HIF8_VALUES] == [0, 1] * 64


@pytest.mark.parametrize("name", NAMES)
def test_rounding_never_goes_down_when_the_value_goes_up(name):
    row = data_type(name)
    values = sorted({value.magnitude for value in rationals(name, 30)})
    for rounding in RoundingMode:
        codes = [round_value(Value(Class.FINITE, False, magnitude), row, rounding, True)[0] for magnitude in values]
        rounded = [decode(code, row).magnitude for code in codes]
        assert rounded == sorted(rounded)


@pytest.mark.parametrize("name", NAMES)
def test_values_that_a_type_has_are_kept_in_every_mode(name):
    row = data_type(name)
    for code in edges(name):
        value = decode(code, row)
        if value.kind is Class.FINITE:
            for rounding in RoundingMode:
                assert round_value(value, row, rounding) == (code >> row.dead_bits << row.dead_bits, NO_FLAG), hex(code)


def test_without_a_mode_integers_truncate_and_all_other_types_round_to_nearest():
    value = Value(Class.FINITE, False, Fraction(7, 4))
    for row in DATA_TYPES:
        mode = RoundingMode.RTZ if row.is_integer else RoundingMode.RNE
        assert round_value(value, row, RoundingMode.NONE) == round_value(value, row, mode)
    assert round_value(value, data_type("S8"), RoundingMode.NONE) == (1, NO_FLAG)
    assert round_value(value, data_type("E8M0"), RoundingMode.NONE) == (128, NO_FLAG)


@pytest.mark.parametrize("row", [row for row in DATA_TYPES if row.kind is Kind.FLOAT], ids=lambda row: row.name)
def test_a_sign_is_kept_by_overflow_but_not_by_the_nan_of_e4m3(row):
    huge = Fraction(1 << 2000)
    plus, minus = round_to(huge, False, row), round_to(huge, True, row)
    assert plus == (overflow(False, row), Flag.OF)
    assert minus == (overflow(True, row), Flag.OF)
    assert minus[0] == (plus[0] if row.name == "E4M3" else plus[0] | row.sign_bit)


def test_an_unknown_mode_is_refused():
    with pytest.raises(ValueError, match="rounding mode must be RNE to RHB where a value is rounded, not 8"):
        round_value(Value(Class.FINITE, False, Fraction(1, 3)), data_type("FP16"), 8)
