"""Tables and coefficients of the FP64 exponential and logarithm against MPFR, and the bounds that their widths rest on."""

from fractions import Fraction

import gmpy2
import pytest

from linxtile.explog64 import constants


@pytest.fixture(autouse=True)
def precision():
    """Let MPFR work with many more bits than the constants have."""
    with gmpy2.context(precision=240):
        yield


def fixed(value, fraction):
    """Round an MPFR number to the nearest integer number of ``2**-fraction``."""
    return int(gmpy2.rint(gmpy2.mul_2exp(value, fraction)))


def test_the_table_of_the_exponential_is_rounded_to_nearest():
    expected = [fixed(gmpy2.exp2(gmpy2.mpfr(index) / 256) - 1, 62) for index in range(256)]
    assert list(constants.exp_table()) == expected


def test_the_table_step_of_the_exponential_is_rounded_to_nearest():
    assert constants.exp_step() == fixed(gmpy2.const_log2() / 256, 88)
    assert constants.exp_steps_per_unit() == fixed(256 / gmpy2.const_log2(), 18)


def test_the_coefficients_of_the_exponential_are_rounded_to_nearest():
    expected = {3: round(Fraction(2**38, 6)), 4: round(Fraction(2**30, 24)), 5: round(Fraction(2**22, 120))}
    assert constants.exp_coefficients() == expected


def test_the_coefficients_of_the_logarithm_are_rounded_to_nearest():
    fractions = {1: 62, 2: 58, 3: 50, 4: 42, 5: 34, 6: 26, 7: 18}
    assert constants.log_coefficients() == {n: round(Fraction(2**bits, n)) for n, bits in fractions.items()}


def test_reciprocals_are_those_of_the_middles_but_exact_around_one():
    middles = [Fraction(513 + 2 * index, 512) for index in range(256)]
    expected = [round(1024 / middle) for middle in middles]
    expected[0], expected[254], expected[255] = 1024, 512, 512
    assert list(constants.log_reciprocals()) == expected


def test_the_table_of_the_logarithm_is_rounded_to_nearest():
    factors = [reciprocal * (2 if index >= 106 else 1) for index, reciprocal in enumerate(constants.log_reciprocals())]
    expected = [fixed(-gmpy2.log(gmpy2.mpfr(factor) / 1024), 70) for factor in factors]
    assert list(constants.log_table()) == expected
    assert constants.log_of_two() == fixed(gmpy2.const_log2(), 70)


def test_significand_times_reciprocal_is_within_2_to_the_minus_8_of_one():
    for index, reciprocal in enumerate(constants.log_reciprocals()):
        for border in (Fraction(256 + index, 256), Fraction(257 + index, 256)):
            product = border * Fraction(reciprocal, 1024)
            assert abs(product - 1) <= Fraction(1, 256)


def test_constants_fit_the_widths_of_the_documentation():
    assert max(constants.exp_table()) < 1 << 62
    assert constants.exp_step() < 1 << 80
    assert constants.exp_steps_per_unit() < 1 << 27
    assert max(constants.log_reciprocals()) == 1 << 10
    assert max(abs(entry) for entry in constants.log_table()) < 1 << 69
    assert constants.log_of_two() < 1 << 70
