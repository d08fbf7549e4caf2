"""Eight-bit floats: every pair of codes through every binary operation, every code through every unary one."""

import gmpy2
import numpy as np
import pytest
from number_ladders import Ladder
from number_oracles import finished, mpfr_context

from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import CompareMode
from linxtile.isa.types import data_type
from linxtile.numerics import arithmetic

TYPES = ("E4M3", "E5M2")
LADDERS = {name: Ladder(name) for name in TYPES}


def floored(first, second):
    """Remainder with the sign of the divisor: fmod, and the divisor added once if the signs differ."""
    rest = np.fmod(first, second)
    shifted = np.where((rest != 0) & (np.signbit(rest) != np.signbit(second)), rest + second, rest)
    return np.where(rest == 0, np.copysign(0.0, second), shifted)


def larger(first, second):
    """Maximum of numbers: a number wins against NaN, +0 against -0."""
    best = np.fmax(first, second)
    return np.where((first == 0) & (second == 0), np.copysign(0.0, np.where(np.signbit(first), second, first)), best)


RESULTS = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "fmod": np.fmod,
    "remainder": floored, "maximum": larger, "minimum": lambda first, second: -larger(-first, -second),
    "leaky_relu": lambda first, second: np.where(first > 0, first, first * second),
}  # fmt: skip
"""Results in binary64: exact, but for quotients and sums of a remainder, which binary64 rounds far from any midpoint."""


def flags_of(raised, condition):
    """Return NV where a condition holds."""
    return np.where(condition, int(raised), 0)


def expected(name, operation):
    """Return codes and flags of all pairs, by numeric_rules 5, 7, 9 and 12 of the ISA's pages."""
    ladder = LADDERS[name]
    first, second = ladder.values[:, np.newaxis], ladder.values[np.newaxis, :]
    with np.errstate(all="ignore"):
        results = RESULTS[operation](first, second)
    codes, overflow = ladder.round(results)
    finite = np.isfinite(first) & np.isfinite(second)
    signalling = ladder.signalling[:, np.newaxis] | ladder.signalling[np.newaxis, :]
    if operation in ("maximum", "minimum"):
        return codes, flags_of(Flag.NV, signalling)
    used = np.isnan(second) & ~(first > 0) if operation == "leaky_relu" else np.isnan(second)
    if operation == "leaky_relu":
        signalling &= np.isnan(first) | ~(first > 0)
    invalid = np.isnan(results) & ~np.isnan(first) & ~used
    flags = flags_of(Flag.NV, invalid | signalling) | flags_of(Flag.OF, overflow)
    return codes, flags | flags_of(Flag.DZ, finite & (operation == "divide") & (second == 0) & (first != 0))


@pytest.mark.parametrize("operation", RESULTS)
@pytest.mark.parametrize("name", TYPES)
def test_every_pair_gives_the_rounded_result_and_its_flags(name, operation):
    codes = LADDERS[name].codes
    results, flags = expected(name, operation)
    function = getattr(arithmetic(data_type(name)), operation)
    got, raised = function(codes[:, np.newaxis], codes[np.newaxis, :])
    np.testing.assert_array_equal(got, results)
    assert raised == np.bitwise_or.reduce(flags, axis=None)
    for row in range(codes.size):
        for value in np.unique(flags[row]):
            assert function(codes[row : row + 1], codes[flags[row] == value])[1] == value, hex(row)


@pytest.mark.parametrize("mode", CompareMode)
@pytest.mark.parametrize("name", TYPES)
def test_every_pair_compares_by_value(name, mode):
    ladder = LADDERS[name]
    compare = {
        "EQ": np.equal, "NE": np.not_equal, "LT": np.less, "GT": np.greater, "LE": np.less_equal, "GE": np.greater_equal
    }[mode.name]  # fmt: skip
    got, raised = arithmetic(data_type(name)).compare(ladder.codes[:, np.newaxis], ladder.codes[np.newaxis, :], mode)
    np.testing.assert_array_equal(got, compare(ladder.values[:, np.newaxis], ladder.values[np.newaxis, :]))
    assert raised == (Flag.NV if ladder.signalling.any() else NO_FLAG)


FUNCTIONS = {
    "exponential": gmpy2.exp, "logarithm": gmpy2.log, "square_root": gmpy2.sqrt, "reciprocal_root": gmpy2.rec_sqrt,
    "reciprocal": lambda value: 1 / value,
}  # fmt: skip


def function_of(name, operation, code):
    """Return code and flags of one function by MPFR, and by the table of special operands of the ISA's pages."""
    form, value = LADDERS[name].form, LADDERS[name].values[code]
    negative = bool(np.signbit(value))
    infinity = form.nan if form.infinity is None else form.infinity | (form.sign_bit if negative else 0)
    if np.isnan(value):
        return form.nan, Flag.NV if LADDERS[name].signalling[code] else NO_FLAG
    if value == 0 and operation != "exponential":
        if operation == "square_root":
            return code, NO_FLAG
        pole = infinity if operation != "logarithm" or form.infinity is None else form.infinity | form.sign_bit
        return pole, Flag.DZ
    if negative and operation not in ("exponential", "reciprocal"):
        return form.nan, Flag.NV
    if np.isinf(value):
        zero = operation in ("reciprocal", "reciprocal_root") or (operation == "exponential" and negative)
        keeps_sign = operation == "reciprocal" and negative
        return (form.sign_bit * keeps_sign if zero else infinity), NO_FLAG
    if value == 1 and operation == "logarithm":
        return 0, NO_FLAG
    with mpfr_context(name):
        return finished(FUNCTIONS[operation](gmpy2.mpfr(float(value))), name)


@pytest.mark.parametrize("operation", FUNCTIONS)
@pytest.mark.parametrize("name", TYPES)
def test_every_code_gives_the_rounded_function_and_its_flags(name, operation):
    codes = LADDERS[name].codes
    outcomes = [function_of(name, operation, code) for code in codes.tolist()]
    function = getattr(arithmetic(data_type(name)), operation)
    assert function(codes)[0].tolist() == [code for code, _ in outcomes]
    for code, (_, flags) in enumerate(outcomes):
        assert function(codes[code : code + 1])[1] == flags, hex(code)


@pytest.mark.parametrize("name", TYPES)
def test_every_code_keeps_its_bits_under_changes_of_sign(name):
    codes, row = LADDERS[name].codes, arithmetic(data_type(name))
    np.testing.assert_array_equal(row.absolute(codes)[0], codes & 0x7F)
    np.testing.assert_array_equal(row.negate(codes)[0], codes ^ 0x80)
    read = np.where(LADDERS[name].nan, LADDERS[name].form.nan, codes)
    np.testing.assert_array_equal(row.read(codes)[0], read)
    np.testing.assert_array_equal(row.relu(codes)[0], np.where(read < 0x80, read, 0))


@pytest.mark.parametrize("name", TYPES)
def test_sums_of_three_terms_are_rounded_once(name):
    ladder, rng = LADDERS[name], np.random.default_rng(8)
    codes = [rng.integers(0, 256, 100000).astype(np.uint8) for _ in range(3)]
    with np.errstate(invalid="ignore"):
        # Exact in binary64: fixed-point numbers of at most 35 bits.
        first, second, third = (ladder.values[part] for part in codes)
        results, fused = ladder.round(first + second + third)[0], ladder.round(first * second + third)[0]
    np.testing.assert_array_equal(arithmetic(data_type(name)).add_three(*codes)[0], results)
    np.testing.assert_array_equal(arithmetic(data_type(name)).multiply_add(*codes)[0], fused)
