"""What the module of types tells people, against other libraries of formats."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from gfloat.formats import format_info_ocp_e2m1, format_info_ocp_e2m3, format_info_ocp_e3m2

from linxtile import formats
from linxtile.flags import Flag
from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import data_type

LIBRARY = {
    "FP64": np.float64, "FP32": np.float32, "FP16": np.float16, "BF16": ml_dtypes.bfloat16,
    "E4M3": ml_dtypes.float8_e4m3fn, "E5M2": ml_dtypes.float8_e5m2, "E3M2": ml_dtypes.float6_e3m2fn,
    "E2M3": ml_dtypes.float6_e2m3fn, "E2M1x2": ml_dtypes.float4_e2m1fn,
}  # fmt: skip


@pytest.mark.parametrize("name", LIBRARY)
def test_limits_are_those_of_the_library_type(name):
    info, limits = ml_dtypes.finfo(LIBRARY[name]), formats.limits(name)
    assert formats.number(limits.max_finite, name) == float(info.max)
    assert formats.number(limits.min_finite, name) == float(info.min)
    assert formats.number(limits.min_normal, name) == float(info.smallest_normal)
    assert formats.number(limits.min_subnormal, name) == float(info.smallest_subnormal)


@pytest.mark.parametrize(
    "info", [format_info_ocp_e2m1, format_info_ocp_e2m3, format_info_ocp_e3m2], ids=lambda info: info.name
)
def test_small_types_have_no_special_codes(info):
    name = info.name.removeprefix("ocp_").upper()
    limits = formats.limits(name)
    assert formats.number(limits.max_finite, name) == info.max
    assert limits.infinity is None and limits.nan is None and info.num_nans == 0 and info.num_infs == 0


def test_hif8_is_subnormal_below_two_to_the_minus_15():
    limits = formats.limits("HiF8")
    assert [formats.number(code, "HiF8") for code in (limits.min_subnormal, limits.max_subnormal, limits.min_normal)] == [
        2.0**-22, 2.0**-16, 2.0**-15,
    ]  # fmt: skip
    assert (limits.infinity, limits.nan) == (0x6F, 0x80)


@pytest.mark.parametrize("name", ["FP16", "BF16", "E4M3", "E5M2"])
def test_neighbours_are_the_next_values_of_the_library_type(name):
    row, library = data_type(name), LIBRARY[name]
    codes = np.arange(1 << row.storage_bits, dtype=f"u{row.storage_bits // 8}")
    with np.errstate(invalid="ignore"):
        values = codes.view(library).astype(np.float64)
    numbers = ~np.isnan(values)
    ordered = np.unique(values[numbers])
    for code in codes[numbers][:: 1 if row.storage_bits == 8 else 37]:
        place = int(np.searchsorted(ordered, values[code]))
        below, above = formats.neighbours(int(code), name)
        assert (None if below is None else formats.number(below, name)) == (ordered[place - 1] if place else None)
        top = place + 1 == len(ordered)
        assert (None if above is None else formats.number(above, name)) == (None if top else ordered[place + 1])


def test_neighbours_of_hif8_follow_the_values_not_the_codes():
    assert formats.neighbours(0x08, "HiF8") == (0x1F, 0x09)
    assert formats.neighbours(0x00, "HiF8") == (0x81, 0x01)
    assert formats.neighbours(0x6F, "HiF8") == (0x6E, None)
    assert formats.neighbours(0xEF, "HiF8") == (None, 0xEE)


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        (0x7F, "S8", (0x7E, None)), (0x80, "S8", (None, 0x81)), (0x00, "U16", (None, 1)), (0xFE, "E8M0", (0xFD, None)),
        (0x80000000, "FP32", (0x80000001, 1)), (0x00002000, "TF32", (0, 0x4000)), (0x7, "E2M1", (6, None)),
    ],
)  # fmt: skip
def test_neighbours_at_the_ends(code, name, expected):
    assert formats.neighbours(code, name) == expected


def test_codes_of_numbers_round_as_a_conversion():
    assert formats.encode(0.1, "FP16") == int(np.float16(0.1).view(np.uint16))
    assert formats.encode(Fraction(1, 3), "FP64") == int(np.float64(1 / 3).view(np.uint64))
    assert formats.encode(465, "E4M3") == 0x7F and formats.encode(465, "E4M3", saturate=True) == 0x7E
    assert formats.encode(2.5, "S8") == 2 and formats.encode(2.5, "S8", rounding="rup") == 3
    assert formats.encode(-0.0, "FP32") == 0x80000000 and formats.encode(float("nan"), "BF16") == 0x7FC0
    assert formats.encode(2**63, "U64") == 1 << 63
    assert formats.round_number(float("inf"), "S8") == (0x80, Flag.NV)
    assert formats.round_number(1e9, "FP16") == (0x7C00, Flag.OF)


def test_exactness_of_numbers():
    exact = [
        (0.5, "FP16"),
        (-0.0, "FP16"),
        (float("inf"), "E5M2"),
        (float("nan"), "FP32"),
        (-8, "S4"),
        (448, "E4M3"),
        (0, "HiF8"),
    ]
    inexact = [
        (0.1, "FP64x"),
        (0.1, "FP16"),
        (float("inf"), "E4M3"),
        (float("nan"), "E2M1"),
        (8, "S4"),
        (449, "E4M3"),
        (0, "E8M0"),
    ]
    assert all(formats.is_exact(value, name) for value, name in exact)
    assert not any(formats.is_exact(value, name.rstrip("x")) for value, name in inexact if name != "FP64x")
    assert formats.is_exact(0.1, "FP64") and not formats.is_exact(Fraction(1, 10), "FP64")


def test_numbers_of_codes():
    assert formats.decode(0x3C00, "fp16").signed == 1
    assert formats.number(0xFF, "S8") == -1 and isinstance(formats.number(0xFF, "S8"), int)
    assert math.copysign(1, formats.number(0x8000, "FP16")) == -1
    assert math.isnan(formats.number(0xFF, "E8M0")) and formats.number(0xEF, "HiF8") == -math.inf
    assert formats.is_nan(0x7F, "E4M3") and not formats.is_nan(0x7E, "E4M3")


@pytest.mark.parametrize("name", ["e4m3", "E4M3", "E2M1", "e2m1X2", "s4", "HiF4"])
def test_types_are_found_in_any_spelling(name):
    assert formats.get(name).name.upper().startswith(name.upper().removesuffix("X2"))
    assert formats.get(formats.get(name)) is formats.get(name)


def test_explanations_name_value_fields_role_and_neighbours():
    assert formats.explain(0x7E, "E4M3") == (
        "E4M3 0x7e = 448\n"
        "  sign 0, exponent 1111 (2^8), mantissa 110 (1 + 6/8)\n"
        "  largest finite value\n"
        "  next below 0x7d = 416, next above none"
    )
    assert formats.explain(0x0001, "FP16") == (
        "FP16 0x0001 = 0.000000059604644775390625\n"
        "  sign 0, exponent 00000 (2^-14, subnormal), mantissa 0000000001 (0 + 1/1024)\n"
        "  smallest subnormal value\n"
        "  next below 0x0000 = 0, next above 0x0002 = 0.00000011920928955078125"
    )
    assert formats.explain(0x7FA00000, "FP32").splitlines()[0] == "FP32 0x7fa00000 = signalling NaN"
    assert "the low 13 bits are not zero; arithmetic ignores them" in formats.explain(0x3F800001, "TF32")
    assert formats.explain(1, "FP64").splitlines()[0] == (
        "FP64 0x0000000000000001 = 0x1.0p-1074 (about 4.9406564584124654e-324)"
    )
    assert formats.explain(0x80, "S8").splitlines()[1] == "  8 bits, two's complement"
    assert formats.explain(0x7F7FFFFF, "FP32").splitlines()[0] == (
        "FP32 0x7f7fffff = 0x1.fffffep+127 (about 3.4028234663852886e+38)"
    )
    assert formats.explain(0xFE, "E8M0").splitlines()[0] == "E8M0 0xfe = 0x1.0p+127 (about 1.7014118346046923e+38)"
    assert "= -0x1.9bca29e9031ep-12 (about -3.9271326255699117e-4)" in formats.explain(0xBF39BCA29E9031E0, "FP64")
    assert "  smallest value" in formats.explain(0, "E8M0") and "  smallest value" in formats.explain(0, "U8")
    assert "the upper 2 bits are not zero; they are ignored" in formats.explain(0xFF, "E3M2")
    assert formats.explain(0x8000, "FP16").startswith("FP16 0x8000 = -0\n")
    assert "-inf" in formats.explain(0xEF, "HiF8") and "power of two" in formats.explain(3, "E8M0")


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: formats.get(4), TypeError, "element type must be a name such as 'FP16', not 4"),
        (lambda: formats.get("FP8"), ValueError, "data type 'FP8' is not one of FP64, FP32"),
        (lambda: formats.rounding_mode("NEAR"), ValueError, "rounding must be one of NONE, RNE, RTZ, RDN, RUP, RNA, RTO, RHB, not 'NEAR'"),
        (lambda: formats.rounding_mode(3), TypeError, "rounding must be a name such as 'RNE', not 3"),
        (lambda: formats.number(256, "S8"), ValueError, "code of S8 must be 0 to 0xff, not 0x100"),
        (lambda: formats.number(1.5, "S8"), TypeError, "code must be an integer, not 1.5"),
        (lambda: formats.neighbours(0x7E00, "FP16"), ValueError, "a NaN has no neighbours, and code 0x7e00 of FP16 is one"),
        (lambda: formats.encode("1", "FP16"), TypeError, "value must be an int, a float or a Fraction, not '1'"),
        (lambda: formats.encode(1e9, "FP16", saturate="no"), TypeError, "saturate must be True or False, not 'no'"),
        (lambda: formats.decode(-1, "FP16"), ValueError, "code of FP16 must be 0 to 0xffff, not -0x1"),
        (lambda: formats.encode(True, "FP16"), TypeError, "value must be an int, a float or a Fraction, not True"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(sentence)


def test_modes_are_found_by_name():
    assert formats.rounding_mode("rto") is RoundingMode.RTO
    assert formats.rounding_mode(RoundingMode.RHB) is RoundingMode.RHB
