"""The ways of accumulating a product, each against MPFR's fused multiply-add in 24 bits or Python's integers."""

import gmpy2
import numpy as np
import pytest

from linxtile import Flag
from linxtile.isa.types import data_type
from linxtile.operations import products
from linxtile.operations.products import accumulate

FP32 = data_type("FP32")
BINARY32 = gmpy2.context(precision=24, emin=-148, emax=128, subnormalize=True)


def codes_of(rng, shape, mantissa_bits, exponents):
    """Return FP32 codes of random sign whose mantissa has so many bits, exponents in the range."""
    mantissas = rng.integers(0, 1 << mantissa_bits, shape, np.uint32) << np.uint32(23 - mantissa_bits)
    fields = rng.integers(exponents[0] + 127, exponents[1] + 128, shape, np.uint32)
    return rng.integers(0, 2, shape, np.uint32) << np.uint32(31) | fields << np.uint32(23) | mantissas


def fused(a, b, start):
    """Return codes of the sum: k after k, one rounding each."""
    a, b, start = (codes.view(np.float32).astype(float) for codes in (a, b, start))
    out = np.empty(start.shape, np.float32)
    with gmpy2.context(BINARY32):
        for i, j in np.ndindex(start.shape):
            total = gmpy2.mpfr(start[i, j])
            for k in range(a.shape[1]):
                total = gmpy2.fma(gmpy2.mpfr(a[i, k]), gmpy2.mpfr(b[k, j]), total)
            out[i, j] = float(total)
    return out.view(np.uint32)


# Bits of the mantissas and exponents of both operands and of the start, and the way that is open to them.
WAYS = {
    "short mantissas": (11, (-14, 14), 11, (-14, 14), "exact"),
    "a short and a shorter mantissa, wide exponents": (15, (-40, 40), 7, (-60, 30), "exact"),
    "mantissas of 13 bits": (12, (-2, 2), 12, (-2, 2), "binary64"),
    "mantissas of 24 bits": (23, (-10, 10), 23, (-10, 10), "binary64"),
    "products of many magnitudes": (23, (-30, 20), 20, (-30, 20), "binary64"),
    "short mantissas of subnormal products": (3, (-70, -60), 3, (-70, -60), "exact"),
    "products below the smallest number": (23, (-80, -60), 23, (-80, -60), "fused"),
}


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("with_start", [False, True])
def test_each_way_gives_the_bits_of_the_fused_multiply_add(name, with_start, monkeypatch):
    a_bits, a_exponents, b_bits, b_exponents, way = WAYS[name]
    rng = np.random.default_rng(len(name) + with_start)
    taken = set()
    for function, label in (("_through_binary64", "binary64"), ("_fused", "fused")):
        monkeypatch.setattr(products, function, _noted(getattr(products, function), label, taken))
    a, b = codes_of(rng, (9, 30), a_bits, a_exponents), codes_of(rng, (30, 11), b_bits, b_exponents)
    low, high = a_exponents[0] + b_exponents[0], a_exponents[1] + b_exponents[1]
    start = codes_of(rng, (9, 11), 23, (max(low, -126), high)) if with_start else np.zeros((9, 11), np.uint32)
    total, flags = accumulate(a, b, start if with_start else None, FP32)
    np.testing.assert_array_equal(total, fused(a, b, start))
    assert flags == Flag(0)
    assert (taken or {"exact"}) == {way}


def _noted(function, label, taken):
    def call(*arguments):
        taken.add(label)
        return function(*arguments)

    return call


@pytest.mark.parametrize("sign", [0, 1 << 31])
def test_a_sum_that_binary64_rounds_halfway_is_rounded_by_what_it_lost(sign):
    # 1 + 2**-24 * (1 + 2**-36): binary64 keeps 1 + 2**-24, a tie that goes to the even 1.
    one, factor, other = 0x3F800000, 0x3F800800, 0x337FF001
    assert float(np.uint32(factor).view(np.float32)) * float(np.uint32(other).view(np.float32)) == 2**-24 + 2**-60
    a, b = np.array([[one, factor]], np.uint32), np.array([[one | sign], [other | sign]], np.uint32)
    assert accumulate(a, b, None, FP32)[0].tolist() == [[0x3F800001 | sign]]


def test_the_largest_numbers_round_to_infinity_only_from_halfway_on():
    largest, half, below = 0x7F7FFFFF, 0x73000000, 0x72FFFFFF
    one = np.array([[0x3F800000]], np.uint32)
    for addend, code, flags in ((below, largest, Flag(0)), (half, 0x7F800000, Flag.OF)):
        total, raised = accumulate(one, np.array([[addend]], np.uint32), np.array([[largest]], np.uint32), FP32)
        assert (total.tolist(), raised) == ([[code]], flags)


def test_an_exact_zero_keeps_the_sign_that_addition_gives_it():
    zero, minus_zero, one, minus_one = 0, 0x80000000, 0x3F800000, 0xBF800000
    for start, a, b, code in ((minus_zero, minus_zero, one, minus_zero), (zero, minus_zero, one, zero),
                              (one, minus_one, one, zero), (minus_zero, minus_one, zero, minus_zero)):  # fmt: skip
        operands = (np.array([[value]], np.uint32) for value in (a, b, start))
        assert accumulate(*operands, FP32)[0].tolist() == [[code]]


@pytest.mark.parametrize("kind", ["S32", "U32"])
def test_integers_wrap(kind):
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 1 << 32, shape, np.uint32) for shape in ((5, 40), (40, 7)))
    start = rng.integers(0, 1 << 32, (5, 7), np.uint32)
    expected = (start.astype(object) + a.astype(object) @ b.astype(object)) % (1 << 32)
    np.testing.assert_array_equal(accumulate(a, b, start, data_type(kind))[0], expected.astype(np.uint32))
