"""Moves and matrix products of `linxtile.ops`: against address formulas and exact sums written out here."""

from fractions import Fraction

import numpy as np
import pytest

from linxtile import Tile, formats, ops
from linxtile.isa.operations import operation

MEMORY = np.random.default_rng(1).integers(0, 256, 40000, np.uint8)


def element(memory, address, name, nibble=0):
    """Return the code of the element at an address."""
    row = formats.get(name)
    if row.is_packed:
        return int(memory[address]) >> (4 * nibble) & 0xF
    return int.from_bytes(memory[address : address + row.storage_bits // 8].tobytes(), "little")


@pytest.mark.parametrize("layout", [entry.name for entry in operation("TLOAD").layouts])
@pytest.mark.parametrize("name", ["FP64", "FP32", "BF16", "S8", "E2M1x2"])
def test_loads_take_each_element_from_its_address(layout, name):
    bits = formats.get(name).storage_bits
    base, stride, valid = 1003, 333 if "DN" not in layout else 301, (33, 29)
    tile = ops.TLOAD(MEMORY, name, (64, 64), base=base, stride=stride, valid_shape=valid, layout=layout, pad="Max")
    assert tile.order == (layout[3:] if "2" in layout else "ND") and tile.valid_shape == valid
    for i in range(64):
        for j in range(64):
            if i >= valid[0] or j >= valid[1]:
                assert tile.codes[i, j] == formats.get(name).pad_max
                continue
            line, place = (j, i) if "DN" in layout else (i, j)
            address = base + line * stride + place * bits // 8
            assert tile.codes[i, j] == element(MEMORY, address, name, place % 2)


@pytest.mark.parametrize(("layout", "axis"), [("ND2NZ", 1), ("NORM", 1), ("DN2ZN", 0)])
@pytest.mark.parametrize("outputs", [1, 2, 4, 8])
def test_several_outputs_are_slices_of_the_whole(layout, axis, outputs):
    whole = ops.TLOAD(MEMORY, "U8", (256, 256)[:2] if axis else (256, 32), valid_shape=(100, 30), layout=layout)
    parts = ops.TLOAD(MEMORY, "U8", whole.shape, valid_shape=(100, 30), layout=layout, outputs=outputs)
    assert len(parts) == outputs
    assert np.array_equal(np.concatenate([part.codes for part in parts], axis=axis), whole.codes)
    assert sum(part.valid_shape[axis] for part in parts) == whole.valid_shape[axis]


@pytest.mark.parametrize("layout", [entry.name for entry in operation("TSTORE").layouts])
@pytest.mark.parametrize("name", ["FP64", "FP32", "BF16", "S8", "E2M1x2"])
def test_stores_put_back_what_loads_took_and_touch_nothing_else(layout, name):
    load = {"NORM": "NORM", "NZ2ND": "ND2NZ", "ZN2ND": "ND2ZN", "NZ2DN": "DN2NZ", "ZN2DN": "DN2ZN"}[layout]
    tile = ops.TLOAD(MEMORY, name, (64, 64), base=1003, stride=333, valid_shape=(33, 29), layout=load)
    target = np.zeros_like(MEMORY)
    ops.TSTORE(tile, target, base=1003, stride=333, layout=layout)
    bits = formats.get(name).storage_bits
    lines, length = (29, 33) if "DN" in layout else (33, 29)
    expected = np.zeros_like(MEMORY)
    for line in range(lines):
        start, count = 1003 + line * 333, length * bits // 8
        expected[start : start + count] = MEMORY[start : start + count]
        if length * bits % 8:
            expected[start + count] = MEMORY[start + count] & 0x0F
    assert np.array_equal(target, expected)


def test_a_negative_stride_walks_backwards():
    tile = ops.TLOAD(MEMORY, "U8", (3, 4), base=20, stride=-8)
    assert np.array_equal(tile.codes, np.stack([MEMORY[start : start + 4] for start in (20, 12, 4)]))


@pytest.mark.parametrize("layout", [entry.name for entry in operation("TMOV").layouts])
def test_moves_keep_the_elements(layout):
    source = layout[:2] if "2" in layout else "ND"
    tile = Tile(np.arange(32 * 64).reshape(32, 64), "U16", (17, 33), source)
    moved = ops.TMOV(tile, layout, pad="Max")
    assert np.array_equal(moved.valid, tile.valid) and moved.order == (layout[3:] if "2" in layout else "ND")
    assert (moved.codes[17:] == 0xFFFF).all() and (moved.codes[:, 33:] == 0xFFFF).all()


def fused(sum_code, a, b):
    """Return FP32 a*b + sum rounded once, for small exact operands."""
    exact = Fraction(a) * Fraction(b) + Fraction(float(np.uint32(sum_code).view(np.float32)))
    return formats.encode(exact, "FP32")


def test_a_product_is_a_chain_of_fused_additions():
    rng = np.random.default_rng(2)
    a = Tile.from_values(rng.normal(size=(3, 7)), "BF16", shape=(4, 8), pad="Max")
    b = Tile.from_values(rng.normal(size=(7, 5)), "FP16", shape=(8, 6), pad="Min")
    got = ops.TMATMUL(a, b)
    assert got.data_type.name == "FP32" and got.shape == (3, 5)
    for i in range(3):
        for j in range(5):
            code = 0
            for k in range(7):
                code = fused(code, a.values()[i, k], b.values()[k, j])
            assert got.codes[i, j] == code
    again = ops.TMATMUL_ACC(got, a, b)
    assert np.allclose(again.values(), 2 * got.values(), rtol=1e-5)
    bias = Tile.from_values([[1.0, 2.0, 3.0, 4.0, 5.0]], "FP32")
    with_bias = ops.TMATMUL_BIAS(a, b, bias)
    expected = got.codes.view(np.float32) + bias.codes.view(np.float32)
    assert np.array_equal(with_bias.codes, expected.view(np.uint32))


@pytest.mark.parametrize(("name", "result"), [("S8", "S32"), ("U4", "U32"), ("S64", "S32")])
def test_integer_products_wrap_in_32_bits(name, result):
    rng = np.random.default_rng(3)
    row = formats.get(name)
    a = Tile(rng.integers(0, row.storage_mask, (5, 40), np.uint64, endpoint=True), name)
    b = Tile(rng.integers(0, row.storage_mask, (40, 6), np.uint64, endpoint=True), name)
    got = ops.TMATMUL(a, b)
    exact = a.values().astype(object) @ b.values().astype(object)
    assert got.data_type.name == result and got.codes.tolist() == (exact % (1 << 32)).tolist()
    row_vector = Tile(a.codes[:1], name)
    assert ops.TGEMV(row_vector, b).codes.tolist() == got.codes[:1].tolist()


def test_the_accumulator_is_scaled_rounded_and_converted():
    accumulator = Tile.from_values([[1.0, -300.0, 0.1], [70000.0, 2.5, -0.0]], "FP32")
    main, maxima = ops.ACCCVT(accumulator, "FP16", scale=3.0, row_maximum=True)
    scaled = accumulator.codes.view(np.float32) * np.float32(3)
    with np.errstate(over="ignore"):
        assert np.array_equal(main.codes, scaled.astype(np.float16).view(np.uint16))
    assert maxima.values().tolist() == [[1.0], [70000.0]] and maxima.data_type.name == "FP32"
    assert ops.ACCCVT(accumulator, "S8", saturate=True, rounding="RUP").values().tolist() == [[1, -128, 1], [127, 3, 0]]
    transposed = ops.ACCCVT(accumulator, "FP32", layout="NZ2DN")
    assert transposed.order == "DN" and np.array_equal(transposed.codes, accumulator.codes)
    fractals = ops.ACCCVT(accumulator, "E4M3", layout="NORM")
    assert fractals.order == "NZ" and fractals.shape == (16, 32) and fractals.valid_shape == (2, 3)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: ops.TLOAD("x", "U8", (1, 1)), TypeError, "memory must be bytes or a contiguous one-dimensional array of uint8, not str"),
        (lambda: ops.TLOAD(b"x", "E3M2", (1, 1)), ValueError, "TLOAD takes FP64, "),
        (lambda: ops.TLOAD(b"x", "U8", (1, 1), base=-1), ValueError, "TLOAD: base must be at least 0, not -1"),
        (lambda: ops.TLOAD(b"x", "U8", (1, 1), base=1.0), TypeError, "TLOAD: base must be an integer, not 1.0"),
        (lambda: ops.TLOAD(b"x", "U8", (1, 1), stride="1"), TypeError, "TLOAD: stride must be an integer, not '1'"),
        (lambda: ops.TLOAD(b"x", "U8", (1, 1), layout="NZ2ND"), ValueError, "TLOAD: layout must be one of NORM, ND2ZN, ND2NZ, DN2ZN, DN2NZ, not 'NZ2ND'"),
        (lambda: ops.TLOAD(b"x" * 64, "U8", (1, 10), outputs=4), ValueError, "TLOAD: outputs must be at most 8 and divide the 10 columns, not 4"),
        (lambda: ops.TLOAD(b"x", "U8", (1, 2)), ValueError, "TLOAD: every element must lie in memory, and the one at 0x1 does not"),
        (lambda: ops.TLOAD(b"x" * 64, "U8", (1, 2), valid_shape=(1, 3)), ValueError, "TLOAD breaks the rule PARM_VALID_COL: "),
        (lambda: ops.TSTORE(Tile([[1]], "U8"), b"x"), ValueError, "TSTORE: memory must be writable, and bytes is not"),
        (lambda: ops.TLOAD(b"", "U8", (1, 1)), ValueError, "TLOAD: base must lie in the 0 bytes of memory, not at 0"),
        (lambda: ops.TLOAD(b"12", "U8", (1, 2), base=2**64), ValueError, "TLOAD: base must lie in the 2 bytes of memory, not at 18446744073709551616"),
        (lambda: ops.TLOAD(memoryview(b"1234")[::2], "U8", (1, 2)), TypeError, "memory must be bytes or a contiguous one-dimensional array of uint8, not memoryview"),
        (lambda: ops.TSTORE(Tile([[1]], "U8"), bytearray(4), base=2**64), ValueError, "TSTORE: base must lie in the 4 bytes of memory, not at "),
        (lambda: ops.TSTORE(Tile([[1, 2]], "U8"), bytearray(4), base=3), ValueError, "TSTORE: every element must lie in memory, and the one at 0x4 does not"),
        (lambda: ops.TSTORE(3, bytearray(4)), TypeError, "TSTORE: tiles must be a Tile or a sequence of them, not int"),
        (lambda: ops.TMATMUL_ACC(None, Tile([[1]], "U8"), Tile([[1]], "U8")), TypeError, "TMATMUL.ACC: accumulator must be a Tile, not NoneType"),
        (lambda: ops.TGEMV_BIAS(Tile([[1]], "U8"), Tile([[1]], "U8"), None), TypeError, "TGEMV.BIAS: bias must be a Tile, not NoneType"),
        (lambda: ops.ACCCVT(Tile([[1]], "FP32"), "FP16", saturate=""), TypeError, "saturate must be True or False, not ''"),
        (lambda: ops.ACCCVT(Tile([[1]], "FP32"), "FP16", row_maximum=3), TypeError, "row_maximum must be True or False, not 3"),
        (lambda: ops.TSTORE([], bytearray(4)), ValueError, "TSTORE: tiles must be 1 to 8, not 0"),
        (lambda: ops.TMOV(Tile([[1]], "U8"), "NZ2ND"), ValueError, "TMOV: first must be in order NZ, not ND; TMOV changes it"),
        (lambda: ops.TMATMUL(Tile([[1]], "U8"), Tile([[1]], "S8")), ValueError, "TMATMUL does not multiply U8 by S8"),
        (lambda: ops.TMATMUL(Tile([[1]], "U8"), Tile([[1], [2]], "U8")), ValueError, "TMATMUL: b must have the 1 valid rows of a's columns, not 2"),
        (lambda: ops.TGEMV(Tile([[1], [2]], "U8"), Tile([[1]], "U8")), ValueError, "TGEMV: a must have one valid row, not 2"),
        (lambda: ops.TMATMUL(Tile([[1]], "HiF8"), Tile([[1]], "HiF8")), ValueError, "TMATMUL takes "),
        (lambda: ops.ACCCVT(Tile([[1]], "FP16"), "FP16"), ValueError, "ACCCVT takes FP32, S32, U32, not FP16"),
        (lambda: ops.ACCCVT(Tile([[1]], "FP32"), "HiF8"), ValueError, "ACCCVT does not convert FP32 to HiF8"),
        (lambda: ops.ACCCVT(Tile([[1]], "FP32"), "FP16", layout="NORM", row_maximum=True), ValueError, "ACCCVT: row_maximum must be False with layout NORM, not True"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(sentence)
