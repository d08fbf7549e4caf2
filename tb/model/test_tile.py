"""Tiles for people: codes, values, bytes, and arrays of other libraries."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linxtile import Mask, Tile, formats, ops
from linxtile.tile import ORDERS

RNG_SEED = 20


def test_values_become_codes_rounded_once():
    tile = Tile.from_values([[1.0, 0.1], [-2.5, 1e9]], "FP16")
    expected = np.array([[1.0, 0.1], [-2.5, np.inf]], np.float16)
    assert np.array_equal(tile.codes, expected.view(np.uint16))
    assert np.array_equal(tile.values(), expected.astype(np.float64))
    assert tile.shape == tile.valid_shape == (2, 2) and tile.order == "ND"


def test_values_take_rounding_saturation_shape_and_padding():
    tile = Tile.from_values([[2.5, 1000]], "S8", shape=(2, 4), pad="Max", rounding="RUP", saturate=True)
    assert tile.codes.tolist() == [[3, 127, 127, 127], [127, 127, 127, 127]]
    assert tile.valid_shape == (1, 2) and tile.values().tolist() == [[3, 127]]


def test_large_integers_are_taken_exactly():
    assert Tile.from_values(np.array([[2**63 + 1]], np.uint64), "U64").values().tolist() == [[2**63 + 1]]
    assert Tile.from_values([[2**53 + 1]], "S64").values().tolist() == [[2**53 + 1]]


@pytest.mark.parametrize(
    "dtype",
    [np.float64, np.float32, np.float16, np.int64, np.uint8, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn,
     ml_dtypes.float8_e5m2, ml_dtypes.float6_e3m2fn, ml_dtypes.float6_e2m3fn, ml_dtypes.float4_e2m1fn,
     ml_dtypes.float8_e8m0fnu, ml_dtypes.int4, ml_dtypes.uint4],
    ids=lambda dtype: np.dtype(dtype).name,
)  # fmt: skip
def test_arrays_of_libraries_keep_their_bits(dtype):
    raw = np.random.default_rng(RNG_SEED).integers(0, 256, (3, 8 * np.dtype(dtype).itemsize), np.uint8)
    bits = {"float6_e3m2fn": 0x3F, "float6_e2m3fn": 0x3F, "float4_e2m1fn": 0xF, "int4": 0xF, "uint4": 0xF}
    array = (raw & bits.get(np.dtype(dtype).name, 0xFF)).view(dtype)
    back = Tile.from_array(array).array()
    assert back.dtype == array.dtype
    assert np.array_equal(back.view(np.uint8) & bits.get(back.dtype.name, 0xFF), array.view(np.uint8))


@pytest.mark.parametrize("dtype", [">f4", ">i4", ">u8", ">f2"])
def test_arrays_of_the_other_byte_order_keep_their_values(dtype):
    array = np.array([[1, 2], [3, 100]], dtype)
    assert Tile.from_array(array).values().tolist() == [[1, 2], [3, 100]]
    assert Tile.from_values(array, "FP64").values().tolist() == [[1, 2], [3, 100]]


def test_lists_of_large_and_small_integers_are_codes():
    assert Tile([[2**63, 1]], "U64").codes.tolist() == [[2**63, 1]]


def test_values_agree_with_ml_dtypes():
    codes = np.arange(256, dtype=np.uint8).reshape(16, 16)
    for name, dtype in (
        ("E4M3", ml_dtypes.float8_e4m3fn),
        ("E5M2", ml_dtypes.float8_e5m2),
        ("E8M0", ml_dtypes.float8_e8m0fnu),
    ):
        assert np.array_equal(Tile(codes, name).values(), codes.view(dtype).astype(np.float64), equal_nan=True)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["FP64", "FP32", "FP16", "E4M3", "E2M1x2"])
def test_bytes_go_there_and_back_in_every_order(order, name):
    row = formats.get(name)
    band = 256 // row.storage_bits
    shape = (max(band, 16), max(band, 16) * 2)
    codes = np.random.default_rng(RNG_SEED).integers(0, row.storage_mask, shape, np.uint64, endpoint=True)
    tile = Tile(codes, name, (shape[0] - 3, shape[1] - 1), order)
    assert Tile.from_bytes(tile.to_bytes(), name, shape[1], tile.valid_shape, order) == tile


def test_nz_bytes_follow_the_address_formula():
    codes = np.arange(32 * 32, dtype=np.uint16).reshape(32, 32)
    data = np.frombuffer(Tile(codes, "FP16", order="NZ").to_bytes(), np.uint16)
    assert data[1572 // 2] == codes[17, 18]
    data = np.frombuffer(Tile(codes, "FP16", order="ZN").to_bytes(), np.uint16)
    assert data[1602 // 2] == codes[17, 18]


def test_two_elements_share_a_byte_the_even_one_low():
    assert Tile([[1, 2, 3, 4]], "U4").to_bytes() == bytes([0x21, 0x43])


def test_a_tile_cannot_be_changed_and_does_not_follow_its_source():
    source = np.array([[1, 2]], np.uint8)
    tile = Tile(source, "U8")
    source[0, 0] = 9
    assert tile.codes.tolist() == [[1, 2]]
    with pytest.raises(ValueError, match="read-only"):
        tile.codes[0, 0] = 5
    with pytest.raises(AttributeError):
        tile.order = "NZ"


def test_a_loaded_tile_can_be_copied_and_pickled_before_and_after_it_is_looked_at():
    content = np.random.default_rng(RNG_SEED).integers(0, 256, 4096, np.uint8).tobytes()
    loaded = ops.TLOAD(content, "U16", (32, 64), layout="ND2NZ")
    before, shallow = pickle.loads(pickle.dumps(loaded)), copy.copy(loaded)
    assert np.array_equal(loaded.codes, np.frombuffer(content, np.uint16).reshape(32, 64))
    assert before == loaded and shallow == loaded and copy.deepcopy(loaded) == loaded
    assert not loaded.codes.flags.writeable and loaded.shape == (32, 64)
    with pytest.raises(AttributeError, match="Tile has no attribute 'missing'"):
        loaded.missing  # noqa: B018


def test_tiles_are_equal_by_content():
    tile = Tile([[1, 2]], "U8")
    assert tile == Tile([[1, 2]], "U8") and tile != Tile([[1, 3]], "U8") and tile != Tile([[1, 2]], "S8")
    assert tile != Tile([[1, 2]], "U8", (1, 1)) and tile != 5


def test_the_text_of_a_tile_says_type_shape_and_values():
    assert repr(Tile.from_values([[1.5, -2]], "FP16", shape=(2, 4))) == "Tile FP16 1 x 2 in 2 x 4\n[[ 1.5 -2. ]]"
    assert repr(Mask([[True, False]])) == "Mask 1 x 2\n[[1 0]]"


@given(st.integers(1, 9), st.integers(1, 9), st.data())
@settings(max_examples=60, deadline=None)
def test_masks_pack_a_flat_index_least_significant_bit_first(rows, columns, data):
    bits = np.array(data.draw(st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns)))
    mask = Mask(bits.reshape(rows, columns))
    packed = mask.to_bytes()
    for row in range(rows):
        for column in range(columns):
            k = row * columns + column
            assert bool(packed[k // 8] >> (k % 8) & 1) == mask.bits[row, column]
    assert Mask.from_bytes(packed, (rows, columns)) == mask


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: Tile([[1]], "FP99"), ValueError, "data type 'FP99' is not one of "),
        (lambda: Tile([1], "U8"), ValueError, "codes must have two dimensions and at least one element, not shape (1,)"),
        (lambda: Tile([[1.0]], "U8"), TypeError, "codes must be integers, not float64"),
        (lambda: Tile([[256]], "U8"), ValueError, "codes of U8 must be 0 to 0xff, not 0x100"),
        (lambda: Tile([[-1]], "S8"), ValueError, "codes of S8 must be 0 to 0xff, not -1"),
        (lambda: Tile([[1, 2, 3]], "U4"), ValueError, "columns of U4x2 must be even, two share a byte, not 3"),
        (lambda: Tile([[1]], "U8", (2, 1)), ValueError, "valid_shape must lie inside the 1 x 1 codes, not 2 x 1"),
        (lambda: Tile([[1]], "U8", 1), TypeError, "valid_shape must be a tuple of two integers, not 1"),
        (lambda: Tile([[1]], "U8", (-1, 1)), ValueError, "valid_shape must be at least (0, 0), not (-1, 1)"),
        (lambda: Tile([[1]], "U8", order="XX"), ValueError, "order must be one of ND, DN, NZ, ZN, not 'XX'"),
        (lambda: Tile([[1]], "U8", order="NZ"), ValueError, "shape of U8 in order NZ must be whole fractals of 512 bytes, not 1 x 1"),
        (lambda: Tile.from_values([1.0], "FP16"), ValueError, "values must have two dimensions and at least one element, not shape (1,)"),
        (lambda: Tile.from_values([[2**53 + 1, 0.5]], "S64"), ValueError, "values that hold floats cannot hold the integer 9007199254740993, which no float64 is equal to"),
        (lambda: Tile.from_values([[2**63 + 1, -1]], "U64"), ValueError, "values that hold floats cannot hold the integer 9223372036854775809, "),
        (lambda: Tile.from_values([[1, 2], [3]], "S8"), ValueError, "values must be rows of one length"),
        (lambda: Tile([[1, 2], [3]], "S8"), ValueError, "codes must be rows of one length"),
        (lambda: Mask([[True], []]), ValueError, "bits must be rows of one length"),
        (lambda: Tile.from_values([[1.0]], "FP16", shape=()), TypeError, "shape must be a tuple of two integers, not ()"),
        (lambda: Tile.from_values([[1.0]], "E4M3", saturate="no"), TypeError, "saturate must be True or False, not 'no'"),
        (lambda: Tile.from_values(np.ma.array([[1.0]]), "E4M3"), TypeError, "values must be an array without a mask, not MaskedArray"),
        (lambda: Tile.from_array(np.ma.array([[1.0]])), TypeError, "array must be a numpy array of "),
        (lambda: Tile.from_bytes(memoryview(b"1234")[::2], "U8", 1), TypeError, "data must be bytes or a contiguous one-dimensional array of uint8, not memoryview"),
        (lambda: Mask.from_bytes(np.array([1.0]), (1, 8)), TypeError, "data must be bytes or a contiguous one-dimensional array of uint8, not ndarray"),
        (lambda: Mask.from_bytes(b"a", (-1, -8)), ValueError, "shape must be at least (1, 1), not (-1, -8)"),
        (lambda: Mask.from_bytes(b"a", 8), TypeError, "shape must be a tuple of two integers, not 8"),
        (lambda: Tile.from_values([[1j]], "FP16"), TypeError, "values must be integers or floats of up to 64 bits, not complex128"),
        (lambda: Tile.from_values([["1"]], "FP16"), TypeError, "values must be integers or floats of up to 64 bits, not <U1"),
        (lambda: Tile.from_values([[True]], "FP16"), TypeError, "values must be integers or floats of up to 64 bits, not bool"),
        (lambda: Tile.from_values([[1, 2]], "FP16", shape=(1, 1)), ValueError, "shape must hold the 1 x 2 values, not 1 x 1"),
        (lambda: Tile.from_values([[1]], "FP16", pad="zeros"), ValueError, "pad must be one of Zero, Max, Min, Null, not 'zeros'"),
        (lambda: Tile.from_values([[1]], "FP16", pad=0), TypeError, "pad must be a name such as 'Zero', not 0"),
        (lambda: Tile.from_array([[1]]), TypeError, "array must be a numpy array of float64, float32, "),
        (lambda: Tile.from_array(np.zeros((1, 1), np.complex64)), TypeError, "array must be a numpy array of "),
        (lambda: Tile.from_bytes(b"", "U8", 1), ValueError, "data must be whole rows of 1 U8 elements, not 0 bytes"),
        (lambda: Tile.from_bytes(b"abc", "U8", 2), ValueError, "data must be whole rows of 2 U8 elements, not 3 bytes"),
        (lambda: Tile([[1]], "HiF8").array(), ValueError, "HiF8 has no numpy or ml_dtypes type; use values()"),
        (lambda: Mask([[1]]), TypeError, "bits must be bool, not int64"),
        (lambda: Mask([True]), ValueError, "bits must have two dimensions and at least one element, not shape (1,)"),
        (lambda: Mask.from_bytes(b"", (1, 1)), ValueError, "data must hold 1 bits, not 0 bytes"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(sentence)
