"""Exact decoding and rounding against other implementations of the formats."""

import dataclasses
from fractions import Fraction

import gfloat
import gfloat.formats
import ml_dtypes
import numpy as np
import pytest
from gfloat import Domain, FormatInfo, Signedness
from number_conversions import HIF8_PAGE, hif8_value

from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import DATA_TYPES, data_type
from linxtile.rounding import round_to
from linxtile.values import Class, decode, floor_log2, power_of_two

ML_DTYPES = {
    "FP16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "E4M3": ml_dtypes.float8_e4m3fn,
    "E5M2": ml_dtypes.float8_e5m2,
    "E3M2": ml_dtypes.float6_e3m2fn,
    "E2M3": ml_dtypes.float6_e2m3fn,
    "E2M1x2": ml_dtypes.float4_e2m1fn,
    "E8M0": ml_dtypes.float8_e8m0fnu,
}


def other_format(name):
    """Return a gfloat description of a fixed-field type, built from the ISA's field widths typed here."""
    bits, precision, bias, special = {
        "FP64": (64, 53, 1023, "ieee"), "FP32": (32, 24, 127, "ieee"), "TF32": (19, 11, 127, "ieee"),
        "HF32": (20, 12, 127, "ieee"), "FP16": (16, 11, 15, "ieee"), "BF16": (16, 8, 127, "ieee"),
        "E4M3": (8, 4, 7, "one nan"), "E5M2": (8, 3, 15, "ieee"), "E3M2": (6, 3, 3, "none"), "E2M3": (6, 4, 1, "none"),
        "E2M1x2": (4, 2, 1, "none"), "E1M2x2": (4, 3, 1, "none"), "HiF4x2": (4, 3, 1, "none"),
    }[name]  # fmt: skip
    nans = {"ieee": 2 ** (precision - 1) - 1, "one nan": 1, "none": 0}[special]
    return FormatInfo(
        name=name, k=bits, precision=precision, bias=bias, has_nz=True, num_high_nans=nans, has_subnormals=True,
        domain=Domain.Extended if special == "ieee" else Domain.Finite, is_signed=Signedness.Signed,
        is_twos_complement=False,
    )  # fmt: skip


FIXED = [row.name for row in DATA_TYPES if row.is_float and not row.tapered]


@pytest.mark.parametrize("name", ML_DTYPES)
def test_every_code_of_a_small_float_has_the_value_of_ml_dtypes(name):
    row = data_type(name)
    bits = row.value_bits
    codes = np.arange(1 << bits, dtype=np.uint16 if bits > 8 else np.uint8)
    with np.errstate(invalid="ignore"):
        expected = codes.view(ML_DTYPES[name]).astype(np.float64)
    for code, value in zip(codes.tolist(), expected.tolist(), strict=True):
        got = decode(code, row)
        if np.isnan(value):
            assert got.is_nan, hex(code)
        elif np.isinf(value):
            assert (got.kind, got.negative) == (Class.INFINITY, value < 0), hex(code)
        else:
            assert got.kind is Class.FINITE, hex(code)
            assert got.signed == Fraction(value), hex(code)
            assert got.negative == bool(np.signbit(value)), hex(code)


def test_every_hif8_code_has_the_value_of_the_manuals_table():
    row = data_type("HiF8")
    for code, text in enumerate(HIF8_PAGE):
        for negative in (False, True):
            got = decode(code | negative << 7, row)
            if code == 0:
                assert got.is_nan if negative else (got.kind is Class.FINITE and got.signed == 0)
            elif text == "inf":
                assert (got.kind, got.negative) == (Class.INFINITY, negative)
            else:
                value = hif8_value(text)
                assert got.signed == (-value if negative else value), hex(code)


@pytest.mark.parametrize("name", FIXED)
def test_codes_of_fixed_field_floats_have_the_value_of_gfloat(name):
    row, other = data_type(name), other_format(name)
    rng = np.random.default_rng(1)
    bits = row.value_bits
    codes = (
        range(1 << bits) if bits <= 8 else rng.integers(0, 1 << bits, 3000, dtype=np.uint64, endpoint=False).tolist()
    )
    for code in codes:
        expected = gfloat.decode_float(other, code).fval
        got = decode(code << row.dead_bits, row)
        if np.isnan(expected):
            assert got.is_nan, hex(code)
        elif np.isinf(expected):
            assert (got.kind, got.negative) == (Class.INFINITY, expected < 0), hex(code)
        else:
            assert got.signed == Fraction(expected), hex(code)


@pytest.mark.parametrize("name", [row.name for row in DATA_TYPES if row.has_signalling_nan])
def test_a_nan_is_signalling_when_the_top_mantissa_bit_is_clear(name):
    row = data_type(name)
    quiet_bit = 1 << (row.dead_bits + row.mantissa_bits - 1)
    infinity = row.positive_infinity
    assert decode(infinity | quiet_bit, row).kind is Class.NAN
    assert decode(infinity | quiet_bit >> 1, row).kind is Class.SIGNALLING_NAN
    assert decode(row.canonical_nan, row).kind is Class.NAN


@pytest.mark.parametrize("name", [row.name for row in DATA_TYPES if row.dead_bits])
def test_dead_bits_do_not_change_the_value(name):
    row = data_type(name)
    dead = (1 << row.dead_bits) - 1
    assert decode(0x3F800000 | dead, row) == decode(0x3F800000, row)
    assert decode(0x7F800000 | dead, row).kind is Class.INFINITY


@pytest.mark.parametrize(
    ("name", "code", "value"),
    [
        ("S8", 0x80, -128),
        ("S64", (1 << 64) - 1, -1),
        ("U8", 0x80, 128),
        ("S4x2", 0x8, -8),
        ("U4x2", 0xF, 15),
        ("U64", 1 << 63, 1 << 63),
    ],
)
def test_integer_codes_are_twos_complement_or_unsigned(name, code, value):
    assert decode(code, data_type(name)).signed == value


@pytest.mark.parametrize("name", FIXED)
def test_rounding_agrees_with_gfloat_on_samples_ties_and_the_edges(name):
    row, other = data_type(name), other_format(name)
    rng = np.random.default_rng(2)
    least, most = 1 - row.bias - row.mantissa_bits, (1 << row.exponent_bits) - row.bias
    exponents = rng.integers(max(least - 2, -1070), min(most + 1, 1022), 1500)
    values = [float(np.ldexp(1 + rng.random(), int(exponent))) for exponent in exponents]
    # Ties: half way between two neighbours, and values at the limits.
    values += [float(np.ldexp(2 * n + 1, max(least - 1, -1074))) for n in range(1 << min(row.mantissa_bits + 2, 6))]
    largest = decode(row.max_finite, row).magnitude
    values += [float(largest), float(power_of_two(floor_log2(largest)))]
    if name != "FP64":
        step = power_of_two(floor_log2(largest) - row.mantissa_bits)
        values += [float(largest + step / 2), float(largest + step / 2 - step / 64), float(largest + step)]
    # The same format with one more exponent bit shows what the value rounds to before the range is checked.
    roomy = other if name == "FP64" else dataclasses.replace(other, k=other.k + 1)
    for value in values:
        code, flags = round_to(Fraction(value), False, row)
        rounded = gfloat.round_float(roomy, value)
        if rounded <= largest:
            assert (decode(code, row).signed, flags) == (Fraction(rounded), NO_FLAG), value
        else:
            assert flags is Flag.OF, value


@pytest.mark.parametrize(("name", "value", "code", "flags"), [
    ("FP16", 65519, 0x7BFF, NO_FLAG), ("FP16", 65520, 0x7C00, Flag.OF),
    ("FP16", Fraction(1, 1 << 25), 0x0000, NO_FLAG), ("FP16", Fraction(0x800001, 1 << 48), 0x0001, NO_FLAG),
    ("BF16", 1 + Fraction(1, 256), 0x3F80, NO_FLAG), ("BF16", Fraction(0xFFFFFF << 104), 0x7F80, Flag.OF),
    ("E4M3", 464, 0x7E, NO_FLAG), ("E4M3", 465, 0x7F, Flag.OF), ("E5M2", 61439, 0x7B, NO_FLAG),
    ("E5M2", 61440, 0x7C, Flag.OF), ("E2M1x2", 5, 0x6, NO_FLAG), ("E2M1x2", 100, 0x7, Flag.OF),
    ("TF32", 1 + Fraction(1, 2048), 0x3F800000, NO_FLAG), ("HF32", 1 + Fraction(1, 4096), 0x3F800000, NO_FLAG),
])  # fmt: skip
def test_rounding_gives_the_documented_vectors(name, value, code, flags):
    row = data_type(name)
    assert round_to(Fraction(value), False, row) == (code, flags)


def test_a_sign_is_kept_by_zero_and_by_overflow():
    row = data_type("FP16")
    assert round_to(Fraction(0), True, row) == (0x8000, NO_FLAG)
    assert round_to(Fraction(1, 1 << 30), True, row) == (0x8000, NO_FLAG)
    assert round_to(Fraction(1 << 20), True, row) == (0xFC00, Flag.OF)


@pytest.mark.parametrize("name", ["S8", "E8M0"])
def test_a_result_is_rounded_to_float_types_only(name):
    with pytest.raises(ValueError, match=f"a result is rounded to a float type, not {name}"):
        round_to(Fraction(1), False, data_type(name))


@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        ("FP16", 0xBE00, "-1.5"),
        ("FP32", 0x7FC00000, "NaN"),
        ("FP32", 0x7F800001, "signalling NaN"),
        ("FP16", 0xFC00, "-inf"),
        ("FP16", 0x8000, "-0"),
        ("U64", (1 << 64) - 1, "18446744073709551615"),
    ],
)
def test_a_value_prints_as_a_person_would_write_it(name, code, text):
    assert str(decode(code, data_type(name))) == text


def test_integers_of_numpy_are_read_as_pythons_own_and_other_numbers_refused():
    for code in (np.uint8(0x85), np.int64(0x85)):
        value = decode(code, data_type("S8"))
        assert value.signed == -123
        assert type(value.magnitude.numerator) is int
    with pytest.raises(TypeError, match="float"):
        decode(1.0, data_type("FP32"))
