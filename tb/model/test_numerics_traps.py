"""Places where arithmetic of this kind is known to have gone wrong, on arrays; the values are those of the ISA's pages."""

import struct

import numpy as np
import pytest

from linxtile.conversion import convert
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import data_type
from linxtile.numerics import arithmetic

RNE, RTZ, RUP = RoundingMode.RNE, RoundingMode.RTZ, RoundingMode.RUP
INF, NAN = float("inf"), float("nan")


def code_of(value, name):
    """Return the code of a number in a type of Python's or of an integer type."""
    if name in ("FP64", "FP32", "FP16"):
        letters, size = {"FP64": ("d", 8), "FP32": ("f", 4), "FP16": ("e", 2)}[name]
        return int.from_bytes(struct.pack("<" + letters, value), "little"), size
    size = data_type(name).storage_bits // 8
    return value & ((1 << 8 * size) - 1), size


def codes_of(values, name):
    """Return an array of codes; integers above zero in a float type are taken as values too."""
    codes = [code_of(value, name) for value in values]
    return np.array([code for code, _ in codes], f"u{codes[0][1]}")


# Source, destination, rounding, values, results without and with saturation.
CONVERSIONS = [
    ("FP32", "FP16", RNE, [65519, 65520, 2.0**-25], [0x7BFF, 0x7C00, 0], [0x7BFF, 0x7BFF, 0]),
    ("FP32", "BF16", RNE, [1 + 2.0**-8, 3.4028234663852886e38], [0x3F80, 0x7F80], [0x3F80, 0x7F7F]),
    ("FP32", "E4M3", RNE, [448, 449, 464, 465, 1000, INF, -INF, NAN],
     [0x7E, 0x7E, 0x7E, 0x7F, 0x7F, 0x7F, 0x7F, 0x7F], [0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x7F]),
    ("FP32", "E4M3", RNE, [1.1875], [0x3A], [0x3A]),
    ("FP32", "E4M3", RUP, [1.03125], [0x39], [0x39]),
    ("FP32", "E5M2", RNE, [61439, 61440], [0x7B, 0x7C], [0x7B, 0x7B]),
    ("FP32", "E2M1x2", RNE, [5, 100], [0x6, 0x7], [0x6, 0x7]),
    ("FP32", "S8", RNE, [127.5, 127.6, -128.5, -129], [0x80, 0x80, 0x80, 0x80], [0x7F, 0x7F, 0x80, 0x80]),
    ("FP32", "U8", RNE, [255.5, -0.5, -1, NAN], [0xFF, 0, 0xFF, 0xFF], [0xFF, 0, 0, 0]),
    ("FP64", "S32", RTZ, [-2147483648.5, 2147483647.5], [0x80000000, 0x7FFFFFFF], [0x80000000, 0x7FFFFFFF]),
    ("FP32", "S32", RNE, [NAN], [0x80000000], [0]),
    ("S32", "S8", RNE, [300], [0x2C], [0x7F]),
    ("S32", "U8", RNE, [-1], [0xFF], [0]),
    ("S32", "FP16", RNE, [65535], [0x7C00], [0x7BFF]),
    ("U32", "FP32", RNE, [0xFFFFFFFF], [0x4F800000], [0x4F800000]),
    ("FP64", "BF16", RNE, [1 + 2.0**-8 + 2.0**-40], [0x3F81], [0x3F81]),
    ("S64", "BF16", RNE, [16973823], [0x4B81], [0x4B81]),
    ("FP32", "TF32", RNE, [1 + 2.0**-11], [0x3F800000], [0x3F800000]),
    ("FP32", "HF32", RNE, [1 + 2.0**-12], [0x3F800000], [0x3F800000]),
    ("FP32", "E8M0", RNE, [1.4, 1.5], [0x7F, 0x80], [0x7F, 0x80]),
    ("FP32", "HiF8", RNE, [2.0**-23, 1.5 * 2.0**-22, 1.5 * 2.0**-16, 0.96875, 15.5, 36, 44, 40960, 40961, -(2.0**-23)],
     [0x00, 0x02, 0x7E, 0x08, 0x40, 0x44, 0x46, 0x6E, 0x6F, 0x00],
     [0x00, 0x02, 0x7E, 0x08, 0x40, 0x44, 0x46, 0x6E, 0x6E, 0x00]),
]  # fmt: skip


@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("case", CONVERSIONS, ids=lambda case: "-".join(map(str, case[:3])))
def test_conversions_round_once_before_they_check_the_range(case, saturate):
    source, destination, rounding, values, plain, saturated = case
    got, _ = convert(codes_of(values, source), data_type(source), data_type(destination), rounding, saturate)
    assert got.tolist() == (saturated if saturate else plain)


@pytest.mark.parametrize(("value", "flags"), [
    (-INF, Flag.NV), (INF, NO_FLAG), (NAN, Flag.NV), (-1.0, Flag.NV), (0.0, Flag.NV), (-0.0, Flag.NV), (2.0**-127, NO_FLAG),
    (2.0**-149, NO_FLAG), (1.5 * 2.0**127, Flag.OF), (2.0**127, NO_FLAG),
])  # fmt: skip
def test_a_scale_is_made_of_positive_numbers_only(value, flags):
    for saturate in (False, True):
        assert convert(codes_of([value], "FP32"), data_type("FP32"), data_type("E8M0"), RNE, saturate)[1] == flags


@pytest.mark.parametrize(("rounding", "results"), [
    (RoundingMode.NONE, [2, -2, 3, 2, -1]), (RoundingMode.RNE, [2, -2, 4, 2, -1]), (RoundingMode.RTZ, [2, -2, 3, 2, -1]),
    (RoundingMode.RDN, [2, -3, 3, 2, -2]), (RoundingMode.RUP, [3, -2, 4, 3, -1]), (RoundingMode.RNA, [3, -3, 4, 2, -1]),
    (RoundingMode.RTO, [3, -3, 3, 3, -1]), (RoundingMode.RHB, [3, -2, 4, 2, -1]),
])  # fmt: skip
@pytest.mark.parametrize("source", ["FP64", "FP32", "FP16"])
def test_the_modes_round_to_integers_as_the_page_shows(source, rounding, results):
    codes = codes_of([2.5, -2.5, 3.5, 2.25, -1.25], source)
    got, _ = convert(codes, data_type(source), data_type("S32"), rounding)
    assert got.view(np.int32).tolist() == results


def binary(operation, name, first, second):
    """Apply an operation to arrays of values and return codes."""
    return getattr(arithmetic(data_type(name)), operation)(codes_of(first, name), codes_of(second, name))[0].tolist()


def test_a_floored_remainder_takes_the_sign_of_the_divisor_and_never_becomes_the_divisor_for_zero():
    dividends, divisors = [-0.0, -1.0, 5.5, 4.0, -(2.0**-60), 0.0], [2.0, 3.0, -2.0, -2.0, 1.0, -INF]
    expected = codes_of([0.0, 2.0, -0.5, -0.0, 1.0, -0.0], "FP32").tolist()
    assert binary("remainder", "FP32", dividends, divisors) == expected


def test_an_infinite_divisor_leaves_the_dividend_or_takes_its_place():
    dividends, divisors = [1.0, 1.0, -1.0, -0.0], [INF, -INF, INF, INF]
    assert binary("fmod", "FP64", dividends, divisors) == codes_of(dividends, "FP64").tolist()
    assert binary("remainder", "FP64", dividends, divisors) == codes_of([1.0, -INF, INF, 0.0], "FP64").tolist()


@pytest.mark.parametrize("name", ["FP64", "FP32", "FP16"])
def test_a_number_wins_against_any_nan_and_zeros_are_ordered(name):
    row, one = data_type(name), codes_of([1.0], name)
    signalling = np.array([row.positive_infinity + 1], one.dtype)
    for operation in ("maximum", "minimum"):
        function = getattr(arithmetic(row), operation)
        assert function(signalling, one)[0] == one
        assert function(one, signalling | one.dtype.type(row.sign_bit))[0] == one
        assert function(signalling, signalling)[0] == row.canonical_nan
    # Many times, as the host treats most of a long array otherwise than its end.
    first, second = [0.0, -0.0, -0.0, 0.0] * 9, [-0.0, 0.0, -0.0, 0.0] * 9
    assert binary("maximum", name, first, second) == codes_of([0.0, 0.0, -0.0, 0.0] * 9, name).tolist()
    assert binary("minimum", name, first, second) == codes_of([-0.0, -0.0, -0.0, 0.0] * 9, name).tolist()


@pytest.mark.parametrize("count", range(16, 64))
def test_wide_shifts_take_counts_of_sixteen_and_more(count):
    row = arithmetic(data_type("S64"))
    code, counts = np.array([0x8000000000000001], np.uint64), np.array([count], np.uint64)
    assert row.shift_left(code, counts)[0].tolist() == [(0x8000000000000001 << count) & ((1 << 64) - 1)]
    assert row.shift_right(code, counts)[0].view(np.int64).tolist() == [(0x8000000000000001 - (1 << 64)) >> count]
