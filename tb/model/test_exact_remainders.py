"""Remainders of the definition: floats against C's fmod and exact fractions, integers against GMP."""

import math
from fractions import Fraction

import gmpy2
import numpy as np
import pytest
from number_oracles import COMPUTING, FORMATS, INTEGERS, nearest, specials
from number_samples import tuples

from linxtile import exact
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import data_type
from linxtile.values import Class, decode

C_FMOD = {
    "FP64": (np.uint64, np.float64), "FP32": (np.uint32, np.float32), "FP16": (np.uint16, np.float16),
}  # fmt: skip


@pytest.mark.parametrize("name", C_FMOD)
def test_the_truncated_remainder_is_that_of_c(name):
    row, (unsigned, kind) = data_type(name), C_FMOD[name]
    operands = np.array(tuples(name, 2, 2000), unsigned)
    with np.errstate(all="ignore"):
        results = np.fmod(operands[:, 0].view(kind), operands[:, 1].view(kind)).view(unsigned)
    for (first, second), result in zip(operands.tolist(), results.tolist(), strict=True):
        values = decode(first, row), decode(second, row)
        if answer := specials(name, first, second):
            expected = answer
        elif values[0].kind is Class.INFINITY or (values[1].kind is Class.FINITE and values[1].magnitude == 0):
            expected = FORMATS[name].nan, Flag.NV
        else:
            expected = result, NO_FLAG
        assert exact.fmod(first, second, row) == expected, (hex(first), hex(second))


@pytest.mark.parametrize("name", COMPUTING)
def test_floored_and_truncated_remainders_are_their_formulas_rounded_once(name):
    row, form = data_type(name), FORMATS[name]
    for first, second in tuples(name, 2, 1500):
        values = decode(first, row), decode(second, row)
        if any(value.kind is not Class.FINITE for value in values) or values[1].magnitude == 0:
            continue
        x, y = (value.signed for value in values)
        # Fractions are exact, whatever the distance of the exponents.
        floored, truncated = x - y * math.floor(x / y), x - y * math.trunc(x / y)
        assert exact.remainder(first, second, row) == nearest(gmpy2.mpq(floored), name, values[1].negative)
        code, flags = exact.fmod(first, second, row)
        assert (decode(code, row).signed, bool(code & form.sign_bit), flags) == (truncated, values[0].negative, NO_FLAG)


@pytest.mark.parametrize("name", [name for name in COMPUTING if FORMATS[name].infinity])
def test_an_infinite_divisor_leaves_the_dividend_or_corrects_it_to_infinity(name):
    row, form = data_type(name), FORMATS[name]
    minus, one = form.sign_bit, form.bias << (form.precision - 1) << form.dead_bits
    for first in (0, one):
        for dividend_sign in (0, minus):
            for divisor_sign in (0, minus):
                dividend, divisor = first | dividend_sign, form.infinity | divisor_sign
                assert exact.fmod(dividend, divisor, row) == (dividend, NO_FLAG)
                corrected = divisor if dividend_sign != divisor_sign else dividend
                expected = divisor_sign if first == 0 else corrected
                assert exact.remainder(dividend, divisor, row) == (expected, NO_FLAG)


@pytest.mark.parametrize("function", [exact.fmod, exact.remainder])
@pytest.mark.parametrize("name", COMPUTING)
def test_no_remainder_exists_by_zero_or_of_infinity(name, function):
    row, form = data_type(name), FORMATS[name]
    for code in (0, 1 << form.dead_bits, row.max_finite):
        for zero in (0, form.sign_bit):
            assert function(code, zero, row) == (form.nan, Flag.NV)
    if form.infinity:
        assert function(form.infinity, row.max_finite, row) == (form.nan, Flag.NV)
        assert function(form.infinity | form.sign_bit, form.infinity, row) == (form.nan, Flag.NV)


@pytest.mark.parametrize("name", INTEGERS)
def test_remainders_of_integers_are_those_of_gmp(name):
    row = data_type(name)
    for first, second in tuples(name, 2, 500):
        x, y = (int(decode(code, row).signed) for code in (first, second))
        modulus = 1 << row.storage_bits
        assert exact.remainder(first, second, row) == (int(gmpy2.f_mod(x, y)) % modulus if y else first, NO_FLAG)
        assert exact.fmod(first, second, row) == (int(gmpy2.t_mod(x, y)) % modulus if y else first, NO_FLAG)


def test_the_correction_of_a_small_negative_dividend_rounds_up_to_the_divisor():
    row = data_type("FP32")
    minus_tiny = (1 << 31) | ((127 - 60) << 23)
    assert decode(minus_tiny, row).signed == -Fraction(1, 1 << 60)
    assert exact.remainder(minus_tiny, 0x3F800000, row) == (0x3F800000, NO_FLAG)
