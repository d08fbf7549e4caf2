"""Properties of conversions that hold for every value: order is kept, what fits exactly comes back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linxtile import Tile, formats, ops
from linxtile.isa.codes import RoundingMode

FLOATS = ["FP64", "FP32", "TF32", "HF32", "FP16", "BF16", "HiF8", "E4M3", "E5M2", "E3M2", "E2M3", "E2M1x2", "E1M2x2"]
INTEGERS = ["S64", "S32", "S16", "S8", "S4x2", "U64", "U32", "U16", "U8", "U4x2"]
WIDER = [
    ("E4M3", "FP16"), ("E5M2", "FP16"), ("E3M2", "E4M3"), ("E2M3", "E4M3"), ("E2M1", "E3M2"), ("E1M2", "E2M3"), ("HiF8", "BF16"),
    ("FP16", "FP32"), ("BF16", "FP32"), ("TF32", "FP32"), ("HF32", "FP32"), ("FP32", "FP64"), ("E8M0", "FP64"), ("S4", "S8"),
    ("S8", "FP16"), ("U8", "S16"), ("S16", "FP32"), ("U32", "S64"), ("S32", "FP64"), ("U4", "E4M3"),
]  # fmt: skip


@pytest.mark.parametrize(
    "mode", [mode for mode in RoundingMode if mode is not RoundingMode.NONE], ids=lambda mode: mode.name
)
@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
@settings(max_examples=12, deadline=None)
@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=8, max_size=64))
def test_conversions_keep_the_order_of_values(name, mode, values):
    limit = 2.0 * max(abs(formats.number(formats.limits(name).max_finite, name)), 1)
    near = np.clip(values, -limit, limit)
    ordered = np.sort(np.concatenate([values, near, near / 2**40]))
    row = ordered[: len(ordered) // 2 * 2].reshape(1, -1)
    rounded = ops.TCVT(Tile.from_values(row, "FP64"), name, rounding=mode, saturate=True).values()[0]
    assert (rounded[1:] >= rounded[:-1]).all()


@pytest.mark.parametrize(("narrow", "wide"), WIDER)
@pytest.mark.parametrize("mode", ["RNE", "RTZ", "RDN", "RUP", "RNA", "RTO", "RHB"])
def test_a_value_that_fits_exactly_comes_back(narrow, wide, mode):
    row = formats.get(narrow)
    codes = np.arange(min(1 << row.storage_bits, 1 << 16), dtype=np.uint64)
    if row.storage_bits > 16:
        codes = np.random.default_rng(5).integers(0, row.storage_mask, 1 << 12, np.uint64, endpoint=True)
    codes &= np.uint64(row.storage_mask & (-1 << row.dead_bits) & ((1 << row.value_bits + row.dead_bits) - 1))
    tile = Tile(codes.reshape(1, -1), narrow)
    back = ops.TCVT(ops.TCVT(tile, wide, rounding=mode), narrow, rounding=mode)
    nan = np.isnan(np.asarray(tile.values(), np.float64))
    assert np.array_equal(back.codes[~nan], tile.codes[~nan])
    assert not nan.any() or set(back.codes[nan].tolist()) == {row.canonical_nan}


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS, "E8M0", "HiF4"])
def test_values_of_codes_become_the_same_codes(name):
    row = formats.get(name)
    codes = np.random.default_rng(6).integers(0, row.storage_mask, 4096, np.uint64, endpoint=True)
    codes &= np.uint64(row.storage_mask & (-1 << row.dead_bits) & ((1 << row.value_bits + row.dead_bits) - 1))
    tile = Tile(codes.reshape(1, -1), name)
    back = Tile.from_values(tile.values(), name)
    nan = np.isnan(np.asarray(tile.values(), np.float64))
    assert np.array_equal(back.codes[~nan], tile.codes[~nan])
