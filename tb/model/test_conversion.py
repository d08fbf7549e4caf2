"""Conversion of arrays against the definition, for all pairs of types, rounding modes and both kinds of overflow."""

import itertools

import numpy as np
import pytest
from number_samples import edges, tuples

from linxtile import exact
from linxtile.conversion import convert, from_values, to_values
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import DATA_TYPES, data_type
from linxtile.values import Class, decode

NAMES = [row.name for row in DATA_TYPES]
NARROW = [row.name for row in DATA_TYPES if row.storage_bits <= 8]
SIXTEEN = [row.name for row in DATA_TYPES if row.storage_bits == 16]
WIDE = [row.name for row in DATA_TYPES if row.storage_bits > 16]
WAYS = list(itertools.product(RoundingMode, (False, True)))


def codes_of(row, codes):
    """Return container codes as an array; four bits take a byte each."""
    return np.array(codes, f"u{max(row.storage_bits // 8, 1)}")


def close_to_rungs(row):
    """Return codes of a wide type that other types round: few leading bits, and one bit far below them."""
    rng = np.random.default_rng(row.code)
    if row.is_float:
        top, codes = row.mantissa_bits + row.dead_bits, []
        for exponent in rng.integers(-27, 67, 120).tolist():
            leading = int(rng.integers(0, 32)) << (top - 5)
            far = (1 << int(rng.integers(row.dead_bits, top - 5))) * int(rng.integers(0, 2))
            codes.append(((exponent + row.bias) << top) | leading | far | row.sign_bit * int(rng.integers(0, 2)))
        return codes
    lengths = rng.integers(1, row.storage_bits + 1, 80).tolist()
    magnitudes = [(int(rng.integers(8, 16)) << length >> 4) + int(rng.integers(-1, 2)) for length in lengths]
    return [sign * magnitude & row.storage_mask for sign, magnitude in zip(itertools.cycle((1, -1)), magnitudes)]


def check(source, destination, codes):
    """Compare codes, flags of all elements that raise the same, and flags of some of them alone, in every mode."""
    for rounding, saturate in WAYS:
        outcomes = [exact.convert(code, source, destination, rounding, saturate) for code in codes]
        array = codes_of(source, codes)
        got, _ = convert(array, source, destination, rounding, saturate)
        expected = codes_of(destination, [code for code, _ in outcomes])
        np.testing.assert_array_equal(got, expected, f"{rounding.name} {saturate}")
        raised = np.array([flags for _, flags in outcomes])
        for flags in set(raised.tolist()):
            alike = array[raised == flags]
            assert convert(alike, source, destination, rounding, saturate)[1] == flags
            if flags:
                for at in range(0, alike.size, 9):
                    assert convert(alike[at : at + 1], source, destination, rounding, saturate)[1] == flags


@pytest.mark.parametrize("destination", NAMES)
@pytest.mark.parametrize("source", NARROW)
def test_every_code_of_a_narrow_type_converts_as_defined(source, destination):
    row = data_type(source)
    check(row, data_type(destination), range(1 << row.storage_bits))


@pytest.mark.parametrize("destination", NAMES)
@pytest.mark.parametrize("source", SIXTEEN)
def test_codes_of_sixteen_bits_convert_as_defined(source, destination):
    row = data_type(source)
    check(row, data_type(destination), [*edges(source), *range(0x155, 1 << 16, 0x3FB)])


@pytest.mark.slow
@pytest.mark.parametrize("destination", NAMES)
@pytest.mark.parametrize("source", SIXTEEN)
def test_all_codes_of_sixteen_bits_convert_as_defined(source, destination):
    check(data_type(source), data_type(destination), range(1 << 16))


@pytest.mark.parametrize("destination", NAMES)
@pytest.mark.parametrize("source", WIDE)
def test_codes_of_wide_types_convert_as_defined(source, destination):
    row = data_type(source)
    check(row, data_type(destination), [*edges(source), *close_to_rungs(row)])


@pytest.mark.parametrize("source", [name for name in WIDE if data_type(name).is_float])
@pytest.mark.parametrize("rounding", RoundingMode)
def test_random_floats_convert_as_defined_where_types_are_close(source, rounding):
    row = data_type(source)
    codes = [code for (code,) in tuples(source, 1, 400, seed=5)]
    for destination in map(data_type, ("FP64", "FP32", "TF32", "HF32", "FP16", "BF16", "S64", "U64", "E8M0")):
        expected = [exact.convert(code, row, destination, rounding)[0] for code in codes]
        assert convert(codes_of(row, codes), row, destination, rounding)[0].tolist() == expected


@pytest.mark.parametrize("name", NAMES)
def test_values_are_those_of_the_codes(name):
    row = data_type(name)
    codes = edges(name)
    for code, value in zip(codes, to_values(codes_of(row, codes), row).tolist(), strict=True):
        exact_value = decode(code, row)
        if exact_value.kind is Class.FINITE:
            assert value == exact_value.signed
            assert not row.is_float or np.signbit(value) == exact_value.negative
        else:
            assert np.isnan(value) if exact_value.is_nan else value == (-1) ** exact_value.negative * np.inf


@pytest.mark.parametrize("name", [name for name in NAMES if data_type(name).is_float])
def test_values_become_the_codes_they_came_from(name):
    row = data_type(name)
    codes = [code for code in edges(name) if not decode(code, row).is_nan and not code & ((1 << row.dead_bits) - 1)]
    got, raised = from_values(to_values(codes_of(row, codes), row), row)
    assert (got.tolist(), raised) == (codes, NO_FLAG)


def test_numpy_values_of_any_kind_are_rounded_once():
    row = data_type("FP16")
    for values, expected in [
        (np.array([65519.0, 65520.0, 2.0**-25, -0.0]), [0x7BFF, 0x7C00, 0x0000, 0x8000]),
        (np.array([1.5, np.nan], np.float32), [0x3E00, 0x7E00]),
        (np.array([0.1], np.float16), [0x2E66]),
        (np.array([-3, 127], np.int8), [0xC200, 0x57F0]),
        (np.array([1 << 63], np.uint64), [0x7C00]),
        (np.array([1.5, -2.0], ">f8"), [0x3E00, 0xC000]),
    ]:
        assert from_values(values, row)[0].tolist() == expected
    assert from_values(np.array([70000.0]), row, RoundingMode.RTZ)[0].tolist() == [0x7BFF]
    assert from_values(np.array([70000.0]), row, saturate=True) == (np.array([0x7BFF]), Flag.OF)
    signalling = np.array([0x7FA00000], np.uint32).view(np.float32)
    assert from_values(signalling, row) == (np.array([0x7E00]), Flag.NV)


def test_a_conversion_gives_a_new_array_of_the_same_shape_and_can_leave_the_flags_out():
    codes = np.full((3, 5), 0x7FA00000, np.uint32)
    before = codes.copy()
    got, raised = convert(codes, data_type("FP32"), data_type("FP32"))
    assert (got.shape, raised, got.flags.c_contiguous) == ((3, 5), Flag.NV, True)
    assert convert(codes, data_type("FP32"), data_type("E4M3"), track_flags=False)[1] == NO_FLAG
    assert not np.shares_memory(to_values(codes, data_type("U32")), codes)
    np.testing.assert_array_equal(codes, before)


def test_large_arrays_are_converted_like_small_ones():
    codes = np.arange(3 * 8192 + 5, dtype=np.uint32).reshape(-1, 1) * np.uint32(174763)
    whole, raised = convert(codes, data_type("FP32"), data_type("E5M2"))
    parts = [convert(part, data_type("FP32"), data_type("E5M2")) for part in np.array_split(codes, 10)]
    np.testing.assert_array_equal(whole, np.concatenate([part for part, _ in parts]))
    assert raised == np.bitwise_or.reduce([int(flags) for _, flags in parts])


def test_codes_in_another_width_and_values_of_another_kind_are_refused():
    with pytest.raises(TypeError, match="codes of FP16 must be an array of uint16, not of int16"):
        convert(np.zeros(1, np.int16), data_type("FP16"), data_type("FP32"))
    with pytest.raises(ValueError, match="8 is not a valid RoundingMode"):
        convert(np.zeros(1, np.uint16), data_type("FP16"), data_type("FP32"), 8)
    with pytest.raises(TypeError, match="values must be floats of up to 64 bits or integers, not complex128"):
        from_values(np.zeros(1, np.complex128), data_type("FP16"))
