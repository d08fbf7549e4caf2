"""The tables of element types, against independent libraries and the formula of the format."""

import re

import ml_dtypes
import numpy as np
import pytest

from linxtile.isa.types import DATA_TYPES
from linxtile_docs.type_tables import four_bit_values, limits, overview, pads, small_values

LIBRARY = {
    "E4M3": ml_dtypes.float8_e4m3fn,
    "E5M2": ml_dtypes.float8_e5m2,
    "E3M2": ml_dtypes.float6_e3m2fn,
    "E2M3": ml_dtypes.float6_e2m3fn,
    "E8M0": ml_dtypes.float8_e8m0fnu,
    "FP16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "FP32": np.float32,
    "FP64": np.float64,
}


def _cells(text):
    return [[cell.strip() for cell in row.strip("|\n ").split(" | ")] for row in text.strip().split("\n")[2:]]


def _number(text):
    """Read a value as the tables write it: digits, or products and powers of two."""
    text = text.strip("-") if text.startswith("-") else text
    if text in ("inf", "NaN"):
        return float(text)
    return float(eval(text.replace("^", "**")))


@pytest.mark.parametrize("name", ["E3M2", "E2M3", "E4M3", "E5M2", "E8M0"])
def test_the_values_of_small_types_are_those_of_ml_dtypes(name):
    shown = [_number(cell) for row in _cells(small_values(name)) for cell in row[1:]]
    codes = np.arange(len(shown), dtype=np.uint8)
    wanted = codes.view(LIBRARY[name]).astype(np.float64)
    assert np.array_equal(shown, wanted, equal_nan=True)


def test_hif8_counts_its_values_as_the_format_does():
    shown = [cell for row in _cells(small_values("HiF8")) for cell in row[1:]]
    # 0, seven powers of two, and tapers of 8, 16, 32, 32 and 32 codes of which the last one is infinity.
    assert len(shown) == 128
    assert (shown[0x00], shown[0x01], shown[0x07], shown[0x08], shown[0x6E], shown[0x6F]) == (
        "0", "2^-22", "2^-16", "1", "32768", "inf",
    )  # fmt: skip
    assert len({_number(cell) for cell in shown}) == 128


def test_the_values_of_four_bits_are_their_formula():
    rows = _cells(four_bit_values())
    e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    e1m2 = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]
    assert [_number(row[1]) for row in rows] == e2m1 * 2
    assert [_number(row[2]) for row in rows] == [_number(row[3]) for row in rows] == e1m2 * 2
    assert [row[4] for row in rows] == [str(code - 16 * (code > 7)) for code in range(16)]
    assert [row[5] for row in rows] == [str(code) for code in range(16)]


@pytest.mark.parametrize("name", ["E4M3", "E5M2", "E3M2", "E2M3", "FP16", "BF16", "FP32", "FP64"])
def test_the_limits_are_those_of_the_library(name):
    row = next(row for row in _cells(limits()) if row[0] == f"`{name}`")
    info = ml_dtypes.finfo(LIBRARY[name]) if name != "FP64" else np.finfo(np.float64)
    shown = [_number(re.sub(r"^`\w+` ", "", cell)) for cell in row[1:5]]
    assert shown[0] == float(info.max)
    assert shown[1] == float(info.smallest_normal)
    assert shown[2] == float(info.smallest_normal) - float(info.smallest_subnormal)
    assert shown[3] == float(info.smallest_subnormal)


def test_every_type_is_in_the_overview_and_among_the_pads():
    assert [row[1] for row in _cells(overview())] == [f"`{row.name}`" for row in DATA_TYPES]
    assert [row[0] for row in _cells(pads())] == [f"`{row.name}`" for row in DATA_TYPES]
