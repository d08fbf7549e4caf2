"""Integer bounds of exponentials and logarithms: the value lies between them, and they are close."""

import random
from fractions import Fraction

import gmpy2
import pytest

from linxtile.exact.enclosures import exponential_bounds, logarithm_bounds, natural_log_of_two, root, round_between

PRECISIONS = (8, 30, 47, 64, 113, 400)


def arguments(count):
    """Return positive dyadic values of all sizes, whole numbers and neighbours of one among them."""
    source = random.Random(5)
    for _ in range(count):
        yield Fraction(source.getrandbits(24) + 1) * Fraction(2) ** source.randrange(-60, -15)
    yield from (Fraction(value) for value in (1, 2, 3, 10, 700))
    yield from (1 + Fraction(sign, 1 << bits) for sign in (-1, 1) for bits in (1, 7, 24, 52))


def as_mpfr(value):
    return gmpy2.mpfr(gmpy2.mpq(value))


@pytest.mark.parametrize("bits", PRECISIONS)
def test_exponentials_lie_between_their_bounds(bits):
    for magnitude in arguments(150):
        for argument in (magnitude, -magnitude):
            lower, upper = exponential_bounds(argument, bits)
            with gmpy2.context(precision=3000):
                value = gmpy2.exp(as_mpfr(argument))
                assert as_mpfr(lower) < value < as_mpfr(upper), argument
            # Relative to the value; the error of a series grows with its steps.
            assert (upper - lower) / upper < Fraction(16 * (bits + 8), 1 << bits)


@pytest.mark.parametrize("bits", PRECISIONS)
def test_logarithms_lie_between_their_bounds(bits):
    for magnitude in arguments(150):
        if magnitude != 1:
            for argument in (magnitude, 1 / magnitude):
                lower, upper = logarithm_bounds(argument, bits)
                with gmpy2.context(precision=3000):
                    value = gmpy2.log(as_mpfr(argument))
                    assert as_mpfr(lower) < value < as_mpfr(upper), argument
                assert upper - lower < Fraction(16 * (bits + 8), 1 << bits)


@pytest.mark.parametrize("bits", [1, 2, 3, 10, 64, 500, 2000])
def test_the_logarithm_of_two_is_right_to_its_last_bits(bits):
    with gmpy2.context(precision=3000):
        assert abs(natural_log_of_two(bits) - gmpy2.log(gmpy2.mpfr(2)) * 2**bits) < 2


def test_a_root_is_cut_and_marked_when_it_is_not_exact():
    assert root(Fraction(9, 4), 10) == Fraction(3, 2)
    # 1.0110101 is the root of two, cut; the bit after the last says that something follows.
    got = root(Fraction(2), 7)
    with gmpy2.context(precision=200):
        assert abs(as_mpfr(got) - gmpy2.sqrt(gmpy2.mpfr(2))) < 2**-7
    assert got.numerator % 2 == 1
    assert got.denominator == 1 << 8


def test_bounds_are_widened_until_both_round_alike():
    asked = []

    def bounds(bits):
        asked.append(bits)
        return Fraction(1, 3) - Fraction(1, 1 << bits), Fraction(1, 3) + Fraction(1, 1 << bits)

    assert round_between(bounds, lambda value: int(value * 1000), 4) == 333
    assert asked == [4, 8, 16]
