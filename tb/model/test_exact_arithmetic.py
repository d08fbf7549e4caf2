"""Sums, products and quotients of the definition against Berkeley SoftFloat, MPFR, numpy and integer formulas."""

import gmpy2
import ml_dtypes
import numpy as np
import pytest
from number_oracles import COMPUTING, FORMATS, INTEGERS, SOFT_KINDS, nearest, soft_operation, specials
from number_oracles import exact as exact_value
from number_samples import tuples

from linxtile import exact
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import data_type
from linxtile.values import Class, decode

SOFT_NAMES = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div"}
FORMULAS = {"add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y}


def is_finite(code, name):
    return decode(code, data_type(name)).kind is Class.FINITE


def is_negative(code, name):
    return bool(code & FORMATS[name].sign_bit)


@pytest.mark.parametrize("operation", SOFT_NAMES)
@pytest.mark.parametrize("name", SOFT_KINDS)
def test_arithmetic_of_two_operands_is_that_of_softfloat(name, operation):
    row, function = data_type(name), getattr(exact, operation)
    for first, second in tuples(name, 2, 2500):
        expected = soft_operation(SOFT_NAMES[operation], name, first, second)
        assert function(first, second, row) == expected, (hex(first), hex(second))


@pytest.mark.parametrize("name", SOFT_KINDS)
def test_a_product_and_sum_in_one_is_the_fused_one_of_softfloat(name):
    row = data_type(name)
    for codes in tuples(name, 3, 3000):
        assert exact.multiply_add(*codes, row) == soft_operation("mul_add", name, *codes), [hex(code) for code in codes]


@pytest.mark.parametrize("operation", [*FORMULAS, "divide"])
@pytest.mark.parametrize("name", [name for name in COMPUTING if name not in SOFT_KINDS])
def test_arithmetic_of_short_floats_is_the_exact_value_rounded_by_mpfr(name, operation):
    row, function = data_type(name), getattr(exact, operation)
    for first, second in tuples(name, 2, 2500):
        if not (is_finite(first, name) and is_finite(second, name)):
            continue
        x, y = exact_value(first, name), exact_value(second, name)
        signs_differ = is_negative(first, name) != is_negative(second, name)
        if operation == "divide" and y == 0:
            infinity = FORMATS[name].infinity
            quotient = FORMATS[name].nan if infinity is None else infinity | signs_differ * FORMATS[name].sign_bit
            expected = (FORMATS[name].nan, Flag.NV) if x == 0 else (quotient, Flag.DZ)
        elif operation == "divide":
            expected = nearest(x / y, name, signs_differ)
        elif operation == "multiply":
            expected = nearest(x * y, name, signs_differ)
        else:
            second_negative = is_negative(second, name) != (operation == "subtract")
            expected = nearest(FORMULAS[operation](x, y), name, is_negative(first, name) and second_negative)
        assert function(first, second, row) == expected, (hex(first), hex(second))


@pytest.mark.parametrize("operation", [*SOFT_NAMES, "fmod", "remainder"])
@pytest.mark.parametrize("name", COMPUTING)
def test_a_nan_operand_gives_the_canonical_nan_and_a_signalling_one_raises_nv(name, operation):
    row, function = data_type(name), getattr(exact, operation)
    for codes in tuples(name, 2, 0):
        expected = specials(name, *codes)
        if expected:
            assert function(*codes, row) == expected, [hex(code) for code in codes]


@pytest.mark.parametrize("name", [name for name in COMPUTING if FORMATS[name].infinity])
def test_infinities_follow_ieee_754(name):
    row, form = data_type(name), FORMATS[name]
    plus, minus, one, nan = (
        form.infinity,
        form.infinity | form.sign_bit,
        row.bias << row.mantissa_bits + row.dead_bits,
        form.nan,
    )
    zero, negative_zero = 0, form.sign_bit
    assert exact.add(plus, one, row) == (plus, NO_FLAG)
    assert exact.add(plus, minus, row) == (nan, Flag.NV)
    assert exact.subtract(plus, plus, row) == (nan, Flag.NV)
    assert exact.subtract(one, plus, row) == (minus, NO_FLAG)
    assert exact.multiply(plus, minus, row) == (minus, NO_FLAG)
    assert exact.multiply(negative_zero, plus, row) == (nan, Flag.NV)
    assert exact.divide(plus, minus, row) == (nan, Flag.NV)
    assert exact.divide(plus, negative_zero, row) == (minus, NO_FLAG)
    assert exact.divide(one, minus, row) == (negative_zero, NO_FLAG)
    assert exact.divide(one, zero, row) == (plus, Flag.DZ)
    assert exact.divide(zero, zero, row) == (nan, Flag.NV)


@pytest.mark.parametrize("operation", ["add_three", "subtract_add"])
@pytest.mark.parametrize("name", [name for name in COMPUTING if name not in ("E4M3", "E5M2")])
def test_a_sum_of_three_terms_is_rounded_once(name, operation):
    row, form, function = data_type(name), FORMATS[name], getattr(exact, operation)
    for codes in tuples(name, 3, 1500):
        signed = (codes[0], codes[1] ^ form.sign_bit if operation == "subtract_add" else codes[1], codes[2])
        values = [decode(code, row) for code in signed]
        infinite = {value.negative for value in values if value.kind is Class.INFINITY}
        if answer := specials(name, *codes):
            expected = answer
        elif infinite:
            sign = form.sign_bit if True in infinite else 0
            expected = (form.infinity | sign, NO_FLAG) if len(infinite) == 1 else (form.nan, Flag.NV)
        else:
            zeros_of_one_sign = all(value.negative for value in values)
            expected = nearest(sum(gmpy2.mpq(value.signed) for value in values), name, zeros_of_one_sign)
        assert function(*codes, row) == expected, [hex(code) for code in codes]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), [("E4M3", ml_dtypes.float8_e4m3fn), ("E5M2", ml_dtypes.float8_e5m2)])
@pytest.mark.parametrize("operation", FORMULAS)
def test_results_of_eight_bit_floats_are_those_of_ml_dtypes_for_every_pair(name, kind, operation):
    row, function = data_type(name), getattr(exact, operation)
    codes = np.arange(256, dtype=np.uint8)
    with np.errstate(all="ignore"):
        values = codes.view(kind).astype(np.float64)
        # Exact in binary64, so that the conversion rounds once.
        results = FORMULAS[operation](values[:, np.newaxis], values[np.newaxis, :])
        expected = np.where(np.isnan(results), FORMATS[name].nan, results.astype(kind).view(np.uint8))
    if name == "E4M3":
        # Overflow gives the NaN without a sign.
        expected = np.where(expected & 0x7F == 0x7F, 0x7F, expected)
    got = [[function(first, second, row)[0] for second in range(256)] for first in range(256)]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_are_kept_modulo_two_to_the_width(name):
    row = data_type(name)
    width = row.storage_bits
    for first, second, third in tuples(name, 3, 300):
        results = {
            exact.add: (first + second,), exact.subtract: (first - second,), exact.multiply: (first * second,),
        }  # fmt: skip
        for function, (value,) in results.items():
            assert function(first, second, row) == (value % (1 << width), NO_FLAG)
        assert exact.add_three(first, second, third, row) == ((first + second + third) % (1 << width), NO_FLAG)
        assert exact.subtract_add(first, second, third, row) == ((first - second + third) % (1 << width), NO_FLAG)
        assert exact.multiply_add(first, second, third, row) == ((first * second + third) % (1 << width), NO_FLAG)


@pytest.mark.parametrize(("name", "kind"), [("S8", np.int8), ("U8", np.uint8)])
def test_quotients_of_bytes_are_truncated_for_every_pair(name, kind):
    row = data_type(name)
    values = np.arange(256, dtype=np.uint8).view(kind).astype(np.float64)
    for first in range(256):
        for second in range(1, 256):
            # Exact enough: the quotient of two bytes is never nearer to an integer than 1/255, unless it is one.
            expected = int(np.trunc(values[first] / values[second])) % 256
            assert exact.divide(first, second, row) == (expected, NO_FLAG), (first, second)
        assert exact.divide(first, 0, row) == (0xFF, NO_FLAG)


@pytest.mark.parametrize("name", [name for name in INTEGERS if name[1:] != "8"])
def test_quotients_of_integers_are_those_of_gmp(name):
    row = data_type(name)
    for first, second in tuples(name, 2, 400):
        x, y = (int(decode(code, row).signed) for code in (first, second))
        expected = int(gmpy2.t_div(x, y)) if y else -1
        assert exact.divide(first, second, row) == (expected % (1 << row.storage_bits), NO_FLAG), (x, y)


@pytest.mark.parametrize("name", ["HiF8", "E3M2", "E2M3", "E2M1x2", "E8M0", "HiF4x2", "S4x2", "U4x2"])
def test_types_that_are_only_moved_and_converted_have_no_arithmetic(name):
    row = data_type(name)
    for function in (exact.add, exact.multiply, exact.divide, exact.maximum, exact.remainder):
        with pytest.raises(ValueError, match=f"no operation computes in {name}"):
            function(1, 1, row)
    for function in (exact.absolute, exact.negate, exact.relu, exact.square_root, exact.exponential):
        with pytest.raises(ValueError, match=f"no operation computes in {name}"):
            function(1, row)
