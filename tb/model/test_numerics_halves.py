"""Sixteen-bit floats: every code through every unary operation, many pairs through the binary ones."""

import gmpy2
import numpy as np
import pytest
from number_ladders import Ladder
from number_oracles import finished, mpfr_context

from linxtile.flags import Flag
from linxtile.isa.types import data_type
from linxtile.numerics import arithmetic

TYPES = ("FP16", "BF16")
LADDERS = {name: Ladder(name) for name in TYPES}
ERROR = 2.0**-45
"""Relative error that numpy's functions of binary64 stay below; what is closer to a midpoint goes to MPFR."""

FUNCTIONS = {
    "exponential": (np.exp, gmpy2.exp),
    "logarithm": (np.log, gmpy2.log),
    "square_root": (np.sqrt, gmpy2.sqrt),
    "reciprocal": (np.reciprocal, lambda value: 1 / value),
    "reciprocal_root": (lambda values: 1 / np.sqrt(values), gmpy2.rec_sqrt),
}


def truth(name, operation):
    """Return the correctly rounded codes of a function for all codes, and where results overflow."""
    ladder = LADDERS[name]
    by_numpy, by_mpfr = FUNCTIONS[operation]
    with np.errstate(all="ignore"):
        results = by_numpy(ladder.values)
    # Infinite results of finite operands are overflows of the exponential, or poles.
    codes, overflow = ladder.round(results)
    ordinary = np.isfinite(ladder.values) & np.isfinite(results) & (results != 0)
    with mpfr_context(name):
        for at in np.flatnonzero(ordinary & ladder.undecided(results, ERROR)):
            codes[at] = finished(by_mpfr(gmpy2.mpfr(float(ladder.values[at]))), name)[0]
    if operation == "exponential":
        overflow |= np.isinf(results) & np.isfinite(ladder.values)
    return codes, overflow


@pytest.mark.parametrize("operation", FUNCTIONS)
@pytest.mark.parametrize("name", TYPES)
def test_every_code_gives_the_correctly_rounded_function(name, operation):
    ladder = LADDERS[name]
    results, overflow = truth(name, operation)
    function = getattr(arithmetic(data_type(name)), operation)
    np.testing.assert_array_equal(function(ladder.codes)[0], results)
    zero = ladder.values == 0
    below = ladder.values < 0
    poles = zero if operation in ("logarithm", "reciprocal", "reciprocal_root") else np.zeros_like(zero)
    roots = ("logarithm", "square_root", "reciprocal_root")
    invalid = ladder.signalling | (below if operation in roots else np.zeros_like(below))
    flags = np.select([invalid, poles, overflow], [int(Flag.NV), int(Flag.DZ), int(Flag.OF)])
    for value in range(8):
        if (flags == value).any():
            assert function(ladder.codes[flags == value])[1] == value
    for at in np.flatnonzero(flags)[::97]:
        assert function(ladder.codes[at : at + 1])[1] == flags[at]


@pytest.mark.parametrize("name", TYPES)
def test_every_code_keeps_its_bits_under_changes_of_sign(name):
    codes, row = LADDERS[name].codes, arithmetic(data_type(name))
    read = np.where(LADDERS[name].nan, LADDERS[name].form.nan, codes)
    np.testing.assert_array_equal(row.absolute(codes)[0], codes & 0x7FFF)
    np.testing.assert_array_equal(row.negate(codes)[0], codes ^ 0x8000)
    np.testing.assert_array_equal(row.read(codes)[0], read)
    np.testing.assert_array_equal(row.relu(codes)[0], np.where(read < 0x8000, read, 0))


BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "fmod": np.fmod}


def operands(name):
    """Return all codes of the subnormal range and around it with chosen codes, then random pairs of any codes."""
    ladder, rng = LADDERS[name], np.random.default_rng(16)
    mantissa_bits = ladder.form.precision - 1
    low = np.arange(4 << mantissa_bits)
    chosen = rng.integers(0, 1 << 16, 60)
    first = np.concatenate((np.repeat(low, 60), rng.integers(0, 1 << 16, 400000)))
    second = np.concatenate((np.tile(chosen, low.size), rng.integers(0, 1 << 16, 400000)))
    return first.astype(np.uint16), second.astype(np.uint16)


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("name", TYPES)
def test_many_pairs_give_the_rounded_result(name, operation):
    ladder = LADDERS[name]
    first, second = operands(name)
    with np.errstate(all="ignore"):
        # Rounded to 53 bits, which is innocuous for 11 and 8; products are exact.
        results, _ = ladder.round(BINARY[operation](ladder.values[first], ladder.values[second]))
    got, _ = getattr(arithmetic(data_type(name)), operation)(first, second)
    np.testing.assert_array_equal(got, results)


def test_every_product_and_quotient_of_bf16_significands_near_the_smallest_numbers_is_rounded_once():
    ladder, row = LADDERS["BF16"], arithmetic(data_type("BF16"))
    significands = np.arange(128, dtype=np.uint16)
    for exponent in range(53, 66):
        first = (significands + np.uint16(60 << 7))[:, np.newaxis]
        second = (significands + np.uint16(exponent << 7))[np.newaxis, :]
        divisor = (significands + np.uint16((248 - exponent) << 7))[np.newaxis, :]
        for got, result in [
            (row.multiply(first, second)[0], ladder.values[first] * ladder.values[second]),
            (row.divide(first, divisor)[0], ladder.values[first] / ladder.values[divisor]),
        ]:
            np.testing.assert_array_equal(got, ladder.round(result)[0])
