"""The FP64 exponential and logarithm against MPFR, after and before rounding. The bounds are proven in docs/explog64.md."""

import math

import gmpy2
import numpy as np
import pytest
from explog64_samples import ONE, code_of, codes_of, exponential_samples, logarithm_samples, value_of

from linxtile.explog64 import element, exp64, log64
from linxtile.flags import NO_FLAG

EXPONENTIALS, LOGARITHMS = exponential_samples(), logarithm_samples()
EXPONENTIAL_BOUND, LOGARITHM_BOUND = 0.5046, 0.5073
LEAST_ULP = -1074
"""Exponent of the distance of subnormal numbers."""


@pytest.fixture(autouse=True)
def precision():
    """Let MPFR work with many more bits than the results have."""
    with gmpy2.context(precision=160):
        yield


def ulps(difference, exact, least=LEAST_ULP):
    """Return a difference in units of the last place of FP64 at the exact value."""
    return abs(float(gmpy2.mul_2exp(difference, -max(gmpy2.get_exp(exact) - 53, least)))) if difference else 0.0


def exact_exponential(code):
    """Return the exponential as MPFR has it."""
    return gmpy2.exp(gmpy2.mpfr(value_of(code)))


def exact_logarithm(code):
    """Return the logarithm as MPFR has it."""
    return gmpy2.log(gmpy2.mpfr(value_of(code)))


def unrounded_exponential(code):
    """Return the exponential as it is before rounding."""
    exponent, significand = element.exp_fixed(value_of(code) < 0, code_of(abs(value_of(code))))
    return gmpy2.mul_2exp(gmpy2.mpfr(significand), exponent - 62)


def unrounded_logarithm(code):
    """Return the logarithm as it is before rounding."""
    total, fraction = element.log_fixed(code)
    return gmpy2.mul_2exp(gmpy2.mpfr(total), -fraction)


def worst_error(codes, function, exact):
    """Return the largest error in ULP, and assert that no flag is raised."""
    worst = 0.0
    for code in codes:
        result, flags = function(code)
        assert flags == NO_FLAG
        truth = exact(code)
        worst = max(worst, ulps(value_of(result) - truth, truth))
    return worst


def worst_unrounded_error(codes, unrounded, exact):
    """Return the largest error before rounding, in ULP of a normal result."""
    worst = 0.0
    for code in codes:
        truth = exact(code)
        worst = max(worst, ulps(unrounded(code) - truth, truth, least=-(1 << 20)))
    return worst


def hardest(codes, unrounded, steps):
    """Return the codes whose result is undecided before rounding: next to the middle of two numbers."""
    chosen = []
    for code in codes:
        mantissa = gmpy2.get_exp(unrounded(code))
        fraction = gmpy2.frac(gmpy2.mul_2exp(unrounded(code), 53 - mantissa))
        if abs(abs(float(fraction)) - 0.5) < steps:
            chosen.append(code)
    return chosen


@pytest.mark.parametrize("name", EXPONENTIALS)
def test_exponentials_are_within_the_bound(name):
    assert worst_error(EXPONENTIALS[name], exp64, exact_exponential) <= EXPONENTIAL_BOUND


@pytest.mark.parametrize("name", LOGARITHMS)
def test_logarithms_are_within_the_bound(name):
    assert worst_error(LOGARITHMS[name], log64, exact_logarithm) <= LOGARITHM_BOUND


@pytest.mark.parametrize("name", EXPONENTIALS)
def test_exponentials_keep_their_budget_before_rounding(name):
    codes = EXPONENTIALS[name][::4]
    assert worst_unrounded_error(codes, unrounded_exponential, exact_exponential) <= EXPONENTIAL_BOUND - 0.5


@pytest.mark.parametrize("name", LOGARITHMS)
def test_logarithms_keep_their_budget_before_rounding(name):
    codes = LOGARITHMS[name][::4]
    assert worst_unrounded_error(codes, unrounded_logarithm, exact_logarithm) <= LOGARITHM_BOUND - 0.5


def test_exponentials_next_to_the_middle_of_two_numbers_are_within_the_bound():
    rng = np.random.default_rng(5)
    codes = hardest(codes_of(rng.uniform(-708, 709, 60000)), unrounded_exponential, 2.0**-8)
    assert len(codes) > 200
    assert worst_error(codes, exp64, exact_exponential) <= EXPONENTIAL_BOUND


def test_logarithms_next_to_the_middle_of_two_numbers_are_within_the_bound():
    rng = np.random.default_rng(6)
    values = np.concatenate((rng.uniform(0.5, 2, 30000), 1 - np.exp2(rng.uniform(-50, -8, 30000))))
    codes = hardest(codes_of(values), unrounded_logarithm, 2.0**-8)
    assert len(codes) > 200
    assert worst_error(codes, log64, exact_logarithm) <= LOGARITHM_BOUND


def test_the_constructed_hard_cases_are_hard():
    for codes, exact in (
        (EXPONENTIALS["hard cases next to one"], exact_exponential),
        (LOGARITHMS["hard cases next to one"], exact_logarithm),
    ):
        distances = []
        for code in codes:
            fraction = gmpy2.frac(gmpy2.mul_2exp(exact(code), 53 - gmpy2.get_exp(exact(code))))
            distances.append(abs(abs(float(fraction)) - 0.5))
        assert max(distances) < 2.0**-10
        assert min(distances) < 2.0**-40


@pytest.mark.slow
def test_a_million_exponentials_are_within_the_bound():
    rng = np.random.default_rng(7)
    values = np.concatenate((rng.uniform(-745, 709.7, 500000), rng.uniform(-1, 1, 500000)))
    assert worst_error(codes_of(values), exp64, exact_exponential) <= EXPONENTIAL_BOUND


@pytest.mark.slow
def test_a_million_logarithms_are_within_the_bound():
    rng = np.random.default_rng(8)
    values = np.concatenate((np.exp(rng.uniform(-708, 709, 500000)), 1 + rng.uniform(-(2.0**-7), 2.0**-7, 500000)))
    assert worst_error(codes_of(values), log64, exact_logarithm) <= LOGARITHM_BOUND


def in_order(codes, function):
    """Return whether the results of FP64 codes, sorted by value, never decrease."""
    values = sorted({value_of(code) for code in codes})
    results = [value_of(function(code_of(value))[0]) for value in values]
    return results == sorted(results)


def test_exponentials_never_decrease_from_one_operand_to_the_next():
    middles = (np.arange(-600, 600) + 0.5) * (math.log(2) / 256)
    for border in codes_of(middles):
        assert in_order(range(border - 4, border + 5), exp64)
    for start in codes_of([-(2.0**-12), -(2.0**-20), 2.0**-20, -0.001]):
        assert in_order(range(start, start + 3000), exp64)


@pytest.mark.parametrize("sign", [0, 1 << 63])
def test_exponentials_never_decrease_where_the_first_table_entry_ends(sign):
    # The step of the operands is below the error there; 2**-9 is beyond the end, ln(2) / 512.
    low, high = sign, code_of(2.0**-9) | sign
    while high - low > 1:
        middle = (low + high) // 2
        coarse = int(value_of(middle) * 2**16)
        first_entry = (coarse * element.EXP_STEPS_PER_UNIT + (1 << 33)) >> 34 == 0
        low, high = (middle, high) if first_entry else (low, middle)
    assert abs(value_of(high)) == pytest.approx(math.log(2) / 512, rel=0.01)
    assert in_order(range(high - 500, high + 500), exp64)


def test_logarithms_never_decrease_from_one_operand_to_the_next():
    borders = (1 + np.arange(256) / 256)[:, np.newaxis] * [1, 2.0**1000]
    for border in codes_of([*borders.ravel(), 0.5, 2.0**-1022, 1 - 2.0**-8]):
        assert in_order(range(border - 4, border + 5), log64)
    assert in_order(range(ONE - 2000, ONE + 2000), log64)
