"""Float arithmetic: the exact definition against Berkeley SoftFloat, the array path against both."""

import ml_dtypes
import numpy as np
import pytest
import softfloatpy as softfloat

from linxtile import exact
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import data_type
from linxtile.numerics import arithmetic
from linxtile.values import Class, decode

SOFTFLOAT = {
    "FP16": (softfloat.Float16, softfloat.f16_add, softfloat.f16_sub, softfloat.f16_lt_quiet),
    "FP32": (softfloat.Float32, softfloat.f32_add, softfloat.f32_sub, softfloat.f32_lt_quiet),
    "FP64": (softfloat.Float64, softfloat.f64_add, softfloat.f64_sub, softfloat.f64_lt_quiet),
}
FLAGS = {
    softfloat.ExceptionFlag.INVALID: Flag.NV,
    softfloat.ExceptionFlag.INFINITE: Flag.DZ,
    softfloat.ExceptionFlag.OVERFLOW: Flag.OF,
}
COMPUTING = ("FP64", "FP32", "TF32", "HF32", "FP16", "BF16", "E4M3", "E5M2")
BINARY = ("add", "subtract", "maximum", "minimum")
UNARY = ("read", "absolute", "negate", "relu")


def edges(row):
    """Return codes at which something changes: zeros, subnormal and normal limits, one and its neighbours, specials."""
    top = row.mantissa_bits + row.dead_bits
    one, unit = row.bias << top, 1 << row.dead_bits
    codes = [0, unit, 2 * unit, 3 * unit, (1 << top) - unit, 1 << top, (1 << top) + unit, one - unit, one, one + unit]
    codes += [one + (row.mantissa_bits << top), one + ((row.mantissa_bits + 1) << top), 3 << (top - 1)]
    codes += [row.max_finite, row.max_finite - unit, row.max_finite - (1 << top), row.canonical_nan]
    if row.has_infinity:
        infinity = row.positive_infinity
        codes += [infinity, infinity + unit, infinity + (1 << (top - 1)) - unit, row.canonical_nan + unit]
    if row.dead_bits:
        codes += [1, one + 1, row.positive_infinity + 1]
    return sorted({code & row.storage_mask for code in codes} | {code | row.sign_bit for code in codes})


def samples(row, count, seed):
    """Return random code pairs: half of them anything, half with exponents close enough to interact."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, row.storage_mask, count, dtype=np.uint64, endpoint=True)
    second = rng.integers(0, row.storage_mask, count, dtype=np.uint64, endpoint=True)
    top = row.mantissa_bits + row.dead_bits
    near = np.arange(count) % 2 == 1
    exponent_mask = ((1 << row.exponent_bits) - 1) << top
    shift = rng.integers(0, row.mantissa_bits + 4, count, dtype=np.uint64) << np.uint64(top)
    moved = (first & np.uint64(exponent_mask)) - shift & np.uint64(exponent_mask)
    second[near] = ((second & ~np.uint64(exponent_mask)) | moved)[near]
    kind = np.dtype(f"u{row.storage_bits // 8}")
    return first.astype(kind), second.astype(kind)


def pairs(row, count=3000):
    """Return the grid of all edges with all edges, then random pairs."""
    corners = np.array(edges(row), np.dtype(f"u{row.storage_bits // 8}"))
    grid = np.meshgrid(corners, corners)
    first, second = samples(row, count, row.code)
    return np.concatenate((grid[0].ravel(), first)), np.concatenate((grid[1].ravel(), second))


def soft(name, function, first, second):
    """Run a SoftFloat function on codes and return code and flags, NaN as the canonical one."""
    kind, size = SOFTFLOAT[name][0], data_type(name).storage_bits // 8
    softfloat.set_exception_flags(softfloat.ExceptionFlag(0))
    result = function(kind.from_bytes(first.to_bytes(size, "big")), kind.from_bytes(second.to_bytes(size, "big")))
    raised = softfloat.get_exception_flags()
    flags = NO_FLAG
    for bit, flag in FLAGS.items():
        flags |= flag if raised & bit else NO_FLAG
    if isinstance(result, bool):
        return result, flags
    return data_type(name).canonical_nan if result.is_nan() else int.from_bytes(result.to_bytes(), "big"), flags


def soft_select(name, first, second, better):
    """Maximum or minimum from SoftFloat's comparison and the rules for NaN and zeros."""
    row = data_type(name)
    values = decode(first, row), decode(second, row)
    flags = Flag.NV if any(value.kind is Class.SIGNALLING_NAN for value in values) else NO_FLAG
    if values[0].is_nan or values[1].is_nan:
        numbers = [code for code, value in zip((first, second), values, strict=True) if not value.is_nan]
        return (numbers or [row.canonical_nan])[0], flags
    less = soft(name, SOFTFLOAT[name][3], first, second)[0]
    more = soft(name, SOFTFLOAT[name][3], second, first)[0]
    if not less and not more:
        # Equal values differ at most by the sign of a zero, and -0 is below +0.
        return (min if better == "maximum" else max)(first, second), flags
    return (second if less == (better == "maximum") else first), flags


@pytest.mark.parametrize("name", SOFTFLOAT)
@pytest.mark.parametrize("operation", BINARY)
def test_the_definition_agrees_with_softfloat(name, operation):
    row = data_type(name)
    first, second = pairs(row, 1500)
    for left, right in zip(first.tolist(), second.tolist(), strict=True):
        if operation in ("add", "subtract"):
            expected = soft(name, SOFTFLOAT[name][1 if operation == "add" else 2], left, right)
        else:
            expected = soft_select(name, left, right, operation)
        assert getattr(exact, operation)(left, right, row) == expected, (hex(left), hex(right))


@pytest.mark.parametrize("name", COMPUTING)
@pytest.mark.parametrize("operation", BINARY)
def test_the_array_path_agrees_with_the_definition(name, operation):
    row = data_type(name)
    first, second = pairs(row)
    got, raised = getattr(arithmetic(row), operation)(first, second)
    all_flags = NO_FLAG
    for left, right, code in zip(first.tolist(), second.tolist(), got.tolist(), strict=True):
        expected, flags = getattr(exact, operation)(left, right, row)
        assert code == expected, (hex(left), hex(right))
        all_flags |= flags
    assert raised == all_flags


@pytest.mark.parametrize("name", COMPUTING)
@pytest.mark.parametrize("operation", BINARY)
def test_the_array_path_raises_the_flags_of_each_single_pair(name, operation):
    row = data_type(name)
    corners = edges(row)
    function = getattr(arithmetic(row), operation)
    kind = np.dtype(f"u{row.storage_bits // 8}")
    for left in corners[::2]:
        for right in corners:
            _, raised = function(np.array([left], kind), np.array([right], kind))
            assert raised == getattr(exact, operation)(left, right, row)[1], (hex(left), hex(right))


@pytest.mark.parametrize("operation", ["add", "subtract"])
def test_sums_of_fp16_agree_with_softfloat_on_many_pairs(operation):
    row = data_type("FP16")
    first, second = pairs(row, 40000)
    got, _ = getattr(arithmetic(row), operation)(first, second)
    function = SOFTFLOAT["FP16"][1 if operation == "add" else 2]
    for left, right, code in zip(first.tolist(), second.tolist(), got.tolist(), strict=True):
        assert code == soft("FP16", function, left, right)[0], (hex(left), hex(right))


@pytest.mark.parametrize("operation", UNARY)
def test_unary_operations_on_every_fp16_code_agree_with_numpy(operation):
    codes = np.arange(1 << 16, dtype=np.uint16)
    values = codes.view(np.float16)
    got, raised = getattr(arithmetic(data_type("FP16")), operation)(codes)
    nan = np.isnan(values)
    expected = {
        "read": np.where(nan, 0x7E00, codes),
        "absolute": np.abs(values).view(np.uint16),
        "negate": np.negative(values).view(np.uint16),
        "relu": np.where(nan, 0x7E00, np.where(values > 0, codes, 0)),
    }[operation]
    np.testing.assert_array_equal(got, expected)
    assert raised == (Flag.NV if operation in ("read", "relu") else NO_FLAG)


@pytest.mark.parametrize("name", COMPUTING)
@pytest.mark.parametrize("operation", UNARY)
def test_unary_operations_agree_with_the_definition(name, operation):
    row = data_type(name)
    if row.storage_bits == 8:
        codes = np.arange(256, dtype=np.uint8)
    else:
        codes = pairs(row)[0]
    got, raised = getattr(arithmetic(row), operation)(codes)
    outcomes = [getattr(exact, operation)(code, row) for code in codes.tolist()]
    assert got.tolist() == [code for code, _ in outcomes]
    assert raised == np.bitwise_or.reduce([int(flags) for _, flags in outcomes])


@pytest.mark.parametrize("operation", ["relu", "read"])
def test_a_quiet_nan_raises_nothing_and_a_signalling_one_raises_nv(operation):
    function = getattr(arithmetic(data_type("FP32")), operation)
    assert function(np.array([0xFFC00001], np.uint32)) == (np.array([0x7FC00000]), NO_FLAG)
    assert function(np.array([0xFF800001], np.uint32)) == (np.array([0x7FC00000]), Flag.NV)


@pytest.mark.parametrize("operation", BINARY)
def test_a_scalar_operand_is_spread_over_a_tile_with_specials(operation):
    row = data_type("FP32")
    tile = np.array(edges(row), np.uint32).reshape(2, -1)
    for scalar in edges(row):
        one = np.array([[scalar]], np.uint32)
        function = getattr(arithmetic(row), operation)
        got, raised = function(tile, one)
        expected, flags = function(tile, np.full(tile.shape, scalar, np.uint32))
        np.testing.assert_array_equal(got, expected)
        assert raised == flags


@pytest.mark.parametrize("operation", [*BINARY, *UNARY])
def test_operands_are_left_as_they_were(operation):
    first, second = pairs(data_type("FP16"), 10)
    before = first.copy(), second.copy()
    getattr(arithmetic(data_type("FP16")), operation)(*(first, second)[: 2 if operation in BINARY else 1])
    assert all(map(np.array_equal, before, (first, second)))


def test_arithmetic_is_refused_for_types_that_only_move():
    for name in ("HiF8", "E3M2", "E2M1x2", "E8M0", "S4x2", "U4x2"):
        with pytest.raises(ValueError, match=f"no operation computes in {name}"):
            arithmetic(data_type(name))


def test_the_sum_of_two_eight_bit_floats_is_the_rounded_sum_for_every_pair():
    row = data_type("E5M2")
    codes = np.arange(256, dtype=np.uint8)
    with np.errstate(all="ignore"):
        values = codes.view(ml_dtypes.float8_e5m2).astype(np.float32)
        # Exact in binary32: exponents differ by at most 31, significands have 3 bits.
        exact_sums = values[:, np.newaxis] + values[np.newaxis, :]
        expected = exact_sums.astype(ml_dtypes.float8_e5m2).view(np.uint8)
    expected = np.where(np.isnan(exact_sums), np.uint8(0x7E), expected)
    got, raised = arithmetic(row).add(codes[:, np.newaxis], codes[np.newaxis, :])
    np.testing.assert_array_equal(got, expected)
    assert raised == Flag.NV | Flag.OF
