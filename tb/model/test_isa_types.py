"""The type table against the printed limits of the manual and against other libraries of formats."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from linxtile.isa.types import DATA_TYPES, NO_TYPE, Kind, data_type, is_data_type

# Name, code, storage bits, value bits, bias, max, min, canonical NaN: the printed tables, typed by hand.
# fmt: off
PRINTED = [
    ("FP64",    0, 64, 64, 1023, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF, 0x7FF8000000000000),
    ("FP32",    1, 32, 32,  127, 0x7F7FFFFF, 0xFF7FFFFF, 0x7FC00000),
    ("TF32",    2, 32, 19,  127, 0x7F7FE000, 0xFF7FE000, 0x7FC00000),
    ("HF32",    3, 32, 20,  127, 0x7F7FF000, 0xFF7FF000, 0x7FC00000),
    ("FP16",    4, 16, 16,   15, 0x7BFF, 0xFBFF, 0x7E00),
    ("BF16",    5, 16, 16,  127, 0x7F7F, 0xFF7F, 0x7FC0),
    ("HiF8",    6,  8,  8,    0, 0x6E, 0xEE, 0x80),
    ("E4M3",    7,  8,  8,    7, 0x7E, 0xFE, 0x7F),
    ("E5M2",    8,  8,  8,   15, 0x7B, 0xFB, 0x7E),
    ("E3M2",    9,  8,  6,    3, 0x1F, 0x3F, None),
    ("E2M3",   10,  8,  6,    1, 0x1F, 0x3F, None),
    ("E2M1x2", 11,  4,  4,    1, 0x7, 0xF, None),
    ("E1M2x2", 12,  4,  4,    1, 0x7, 0xF, None),
    ("E8M0",   13,  8,  8,  127, 0xFE, 0x00, 0xFF),
    ("HiF4x2", 14,  4,  4,    1, 0x7, 0xF, None),
    ("S64",    16, 64, 64,    0, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, None),
    ("S32",    17, 32, 32,    0, 0x7FFFFFFF, 0x80000000, None),
    ("S16",    18, 16, 16,    0, 0x7FFF, 0x8000, None),
    ("S8",     19,  8,  8,    0, 0x7F, 0x80, None),
    ("S4x2",   20,  4,  4,    0, 0x7, 0x8, None),
    ("U64",    24, 64, 64,    0, 0xFFFFFFFFFFFFFFFF, 0, None),
    ("U32",    25, 32, 32,    0, 0xFFFFFFFF, 0, None),
    ("U16",    26, 16, 16,    0, 0xFFFF, 0, None),
    ("U8",     27,  8,  8,    0, 0xFF, 0, None),
    ("U4x2",   28,  4,  4,    0, 0xF, 0, None),
]
# fmt: on

LIBRARY = {
    "FP64": np.float64, "FP32": np.float32, "FP16": np.float16, "BF16": ml_dtypes.bfloat16, "E4M3": ml_dtypes.float8_e4m3fn,
    "E5M2": ml_dtypes.float8_e5m2, "E3M2": ml_dtypes.float6_e3m2fn, "E2M3": ml_dtypes.float6_e2m3fn,
    "E2M1x2": ml_dtypes.float4_e2m1fn,
}  # fmt: skip


def test_the_table_is_the_printed_one():
    rows = [
        (t.name, t.code, t.storage_bits, t.value_bits, t.bias, t.pad_max, t.pad_min, t.canonical_nan)
        for t in DATA_TYPES
    ]
    assert rows == PRINTED


@pytest.mark.parametrize("name", LIBRARY)
def test_limits_and_fields_agree_with_the_library(name):
    row, library = data_type(name), ml_dtypes.finfo(LIBRARY[name])
    as_integer = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[np.dtype(LIBRARY[name]).itemsize]
    assert int(np.asarray(library.max).view(as_integer)) == row.max_finite
    assert int(np.asarray(library.min).view(as_integer)) == row.min_finite
    assert library.nmant == row.mantissa_bits
    assert row.value_bits == 1 + row.exponent_bits + row.mantissa_bits
    has_infinity = bool(np.isinf(np.asarray(np.inf).astype(LIBRARY[name]).astype(np.float64)))
    assert has_infinity == row.has_infinity
    if has_infinity:
        assert int(np.asarray(np.inf).astype(LIBRARY[name]).view(as_integer)) == row.positive_infinity


def test_special_encodings_are_where_the_manual_puts_them():
    with_infinity = {"FP64", "FP32", "TF32", "HF32", "FP16", "BF16", "E5M2", "HiF8"}
    assert {t.name for t in DATA_TYPES if t.has_infinity} == with_infinity
    assert {t.name for t in DATA_TYPES if t.has_nan} == with_infinity | {"E4M3", "E8M0"}
    assert {t.name for t in DATA_TYPES if t.has_signalling_nan} == with_infinity - {"HiF8"}
    assert {t.name: t.dead_bits for t in DATA_TYPES if t.dead_bits} == {"TF32": 13, "HF32": 12}
    assert {t.name for t in DATA_TYPES if t.tapered} == {"HiF8"}
    assert {t.name for t in DATA_TYPES if t.is_packed} == {"E2M1x2", "E1M2x2", "HiF4x2", "S4x2", "U4x2"}
    assert data_type("HiF8").positive_infinity == 0x6F
    assert data_type("TF32").positive_infinity == 0x7F800000


def test_sign_bits():
    signs = {t.name: t.sign_bit for t in DATA_TYPES}
    assert signs["TF32"] == signs["FP32"] == signs["S32"] == 1 << 31
    assert (signs["E3M2"], signs["E2M1x2"], signs["E8M0"], signs["U8"]) == (0x20, 0x8, 0, 0)


def test_six_codes_are_reserved_and_31_is_no_type():
    assert [code for code in range(32) if not is_data_type(code)] == [15, 21, 22, 23, 29, 30, NO_TYPE]


@pytest.mark.parametrize("key", ["fp32", "FP32", 1])
def test_a_type_is_found_by_name_and_code(key):
    assert data_type(key).kind is Kind.FLOAT
    assert data_type(key).name == "FP32"


@pytest.mark.parametrize("key", ["FP33", 15, 31])
def test_an_unknown_type_is_refused(key):
    with pytest.raises(ValueError, match=f"data type {key!r} is not one of FP64, FP32"):
        data_type(key)


@pytest.mark.parametrize("row", DATA_TYPES, ids=lambda row: row.name)
def test_a_type_stays_one_object_through_copies_and_pickles(row):
    assert pickle.loads(pickle.dumps(row)) is row and copy.deepcopy(row) is row
