"""The FP64 exponential and logarithm of arrays: bit for bit the definition on one element."""

import re

import numpy as np
import pytest
from explog64_samples import exponential_samples, logarithm_samples

from linxtile.explog64 import exp64, exp64_array, log64, log64_array
from linxtile.explog64.log_array import LOW_BITS, round_sum
from linxtile.explog64.vectors import CHUNK
from linxtile.flags import NO_FLAG, Flag

FUNCTIONS = [(exp64, exp64_array), (log64, log64_array)]
INFINITY = 0x7FF0_0000_0000_0000


def random_codes():
    """Return codes of all kinds: any bits, subnormal numbers, NaN, and magnitudes that the exponential tells apart."""
    rng = np.random.default_rng(3)
    edges = [0, 1, INFINITY - 1, INFINITY, INFINITY + 1, INFINITY + (1 << 51), (1 << 52) - 1, 1 << 52, 1023 << 52]
    edges += [(exponent + 1023 << 52) + step for exponent in range(-70, 12) for step in (-1, 0, 1)]
    return {
        "edges": np.array([*edges, *(edge | 1 << 63 for edge in edges)], np.uint64),
        "any bits": rng.integers(0, 1 << 64, 5000, dtype=np.uint64, endpoint=False),
        "subnormal": rng.integers(0, 1 << 52, 2000, dtype=np.uint64) >> rng.integers(0, 52, 2000, dtype=np.uint64),
        "about to overflow": rng.uniform(709, 711, 2000).view(np.uint64),
        "about to vanish": rng.uniform(-747, -707, 4000).view(np.uint64),
        "small": (rng.uniform(-1, 1, 5000) * np.exp2(rng.integers(-70, 3, 5000))).view(np.uint64),
        "next to one": np.uint64((1023 << 52) - 1000) + np.arange(2000, dtype=np.uint64),
    }


SAMPLES = random_codes()
SAMPLES |= {f"exponential, {name}": np.array(codes, np.uint64) for name, codes in exponential_samples().items()}
SAMPLES |= {f"logarithm, {name}": np.array(codes, np.uint64) for name, codes in logarithm_samples().items()}


@pytest.mark.parametrize(("function", "array_function"), FUNCTIONS)
@pytest.mark.parametrize("name", SAMPLES)
def test_arrays_give_the_bits_and_flags_of_the_definition(function, array_function, name):
    codes = SAMPLES[name][:5000]
    outcomes = [function(int(code)) for code in codes]
    flags = NO_FLAG
    for _, raised in outcomes:
        flags |= raised
    results, raised = array_function(codes)
    assert results.dtype == np.uint64
    assert results.tolist() == [result for result, _ in outcomes]
    assert raised == flags


@pytest.mark.parametrize(("function", "array_function"), FUNCTIONS)
def test_arrays_of_any_shape_keep_it_and_stay_as_they_are(function, array_function):
    codes = SAMPLES["any bits"][:120].reshape(4, 5, 6)[:, ::2]
    before = codes.copy()
    results, _ = array_function(codes)
    assert results.shape == codes.shape
    assert (codes == before).all()
    assert results.ravel().tolist() == [function(int(code))[0] for code in codes.ravel()]
    assert array_function(codes[0, 0, 0:1].reshape(()))[0].shape == ()
    empty, flags = array_function(codes[:0])
    assert empty.shape == (0, *codes.shape[1:])
    assert flags == NO_FLAG


@pytest.mark.parametrize(("function", "array_function"), FUNCTIONS)
@pytest.mark.parametrize("place", [0, CHUNK - 1, CHUNK, 2 * CHUNK])
def test_a_flag_of_any_chunk_is_raised(function, array_function, place):
    codes = np.full(2 * CHUNK + 1, 0x4000_0000_0000_0000, np.uint64)
    usual = function(0x4000_0000_0000_0000)[0]
    assert array_function(codes) == (pytest.approx(usual, abs=0), NO_FLAG)
    codes[place] = INFINITY + 1
    results, flags = array_function(codes)
    assert flags == Flag.NV
    assert results[place] == INFINITY + (1 << 51)
    assert (np.delete(results, place) == usual).all()


def test_a_sum_of_two_words_is_rounded_like_an_integer_quotient():
    rng = np.random.default_rng(9)
    high = rng.integers(1 << 22, 1 << 42, 4000) >> rng.integers(0, 20, 4000)
    high = np.maximum(high, 1 << 22) * rng.choice([-1, 1], 4000)
    # Ties, carries into the high word and the negation of an empty low word are in words of few ones or few zeros.
    low = rng.choice([0, (1 << LOW_BITS) - 1, 1 << 37, 1 << 20, 3 << 8, 1], 4000)
    low[::2] = rng.integers(0, 1 << LOW_BITS, 2000)
    normalised = rng.integers(0, 45, 4000)
    # The quotient of two Python integers is rounded to nearest, ties to even.
    words = zip(high.tolist(), low.tolist(), normalised.tolist(), strict=True)
    expected = [(left * 2**LOW_BITS + right) / 2 ** (70 + shift) for left, right, shift in words]
    assert round_sum(high, low, normalised).view(np.float64).tolist() == expected


@pytest.mark.parametrize("array_function", [exp64_array, log64_array])
@pytest.mark.parametrize(
    ("codes", "kind"), [(np.zeros(2), "float64"), (np.zeros(2, np.int64), "int64"), ([0, 1], "list"), (1.0, "float")]
)
def test_anything_but_an_array_of_uint64_is_refused(array_function, codes, kind):
    with pytest.raises(TypeError, match=re.escape(f"FP64 codes must be an array of uint64, not {kind}")):
        array_function(codes)
