"""Packed masks: bit order, padding, comparisons and selections."""

import math
import random
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linxtile import Flag, Machine
from linxtile.asm import assemble
from linxtile.isa.codes import REGISTER_NUMBERS, CompareMode, PadValue
from linxtile.operations.masks import read_mask, write_mask

DATA = 0x20000
RELATIONS = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "GT": lambda a, b: a > b,
    "LE": lambda a, b: a <= b,
    "GE": lambda a, b: a >= b,
}
"""Python's own comparisons of numbers: NaN is unequal and otherwise unordered, the zeros are equal."""


def run(lines, *pieces, scalar=0):
    """Run a program with pieces of memory at DATA, DATA + 0x8000, ... in x0, x1, ... and return its last record."""
    machine = Machine()
    for place, data in enumerate(pieces):
        machine.memory.write(DATA + place * 0x8000, data)
        machine.gprs[REGISTER_NUMBERS[f"x{place}"]] = DATA + place * 0x8000
    machine.gprs[REGISTER_NUMBERS["a0"]] = scalar
    machine.load(assemble(lines, address=0x100).image, 0x100)
    result = machine.run()
    assert result.fault is None, str(result.fault)
    return result.blocks[-1]


def bit(data, place):
    """Return bit ``place`` of bytes, the least significant bit of a byte first."""
    return data[place // 8] >> place % 8 & 1


def test_bit_43_of_a_mask_is_bit_3_of_byte_5():
    # Col = 40: element (1, 3).
    valid = np.zeros((2, 4), bool)
    valid[1, 3] = True
    assert write_mask(256, 16, 40, valid, PadValue.NULL) == pytest.approx(np.eye(1, 256, 5, dtype=np.uint8)[0] * 8)


@given(
    rows=st.integers(1, 20), columns=st.integers(1, 70), data=st.data(), pad=st.sampled_from(list(PadValue)),
    extra=st.integers(0, 3),
)  # fmt: skip
@settings(max_examples=100, deadline=None)
def test_a_mask_is_packed_by_the_flat_index(rows, columns, data, pad, extra):
    valid_rows, valid_columns = data.draw(st.integers(1, rows)), data.draw(st.integers(1, columns))
    flat = data.draw(st.binary(min_size=valid_rows * valid_columns, max_size=valid_rows * valid_columns))
    valid = (np.frombuffer(flat, np.uint8) & 1).astype(bool).reshape(valid_rows, valid_columns)
    size = -(-rows * columns // 8) + extra
    packed = bytes(write_mask(size, rows, columns, valid, pad))
    for place in range(size * 8):
        r, c = divmod(place, columns)
        expected = pad is PadValue.MAX if r < rows else 0
        if r < valid_rows and c < valid_columns:
            expected = valid[r, c]
        assert bit(packed, place) == expected
    found = read_mask(np.frombuffer(packed, np.uint8), valid_rows, columns, valid_columns)
    np.testing.assert_array_equal(found, valid)


@pytest.mark.parametrize("mode", [mode.name for mode in CompareMode])
@pytest.mark.parametrize("kind", ["FP32", "S8", "U16"])
@pytest.mark.parametrize("with_scalar", [False, True])
def test_a_comparison_gives_the_bits_of_the_relation(mode, kind, with_scalar):
    rng = random.Random(f"{mode} {kind} {with_scalar}")
    code = {"FP32": "f", "S8": "b", "U16": "H"}[kind]
    numbers = {
        "FP32": [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan, 1e-45],
        "S8": [-128, -1, 0, 1, 127],
        "U16": [0, 1, 0x7FFF, 0x8000, 0xFFFF],
    }[kind]
    count = 256 // struct.calcsize(code)
    columns = 7
    first, second = ([rng.choice(numbers) for _ in range(count)] for _ in range(2))
    scalar = rng.choice(numbers)
    padding, rows, valid = rng.choice(["Max", "Min", "Zero", "Null"]), rng.randrange(1, count // columns + 1), 5
    name = "TCMPS" if with_scalar else "TCMP"
    operands = "T#2, [a0]" if with_scalar else "T#2, T#1"
    record = run(
        f"TLOAD.NORM <256, U8>, [x0], ->T<256B>\nTLOAD.NORM <256, U8>, [x1], ->T<256B>\n"
        f"{name}.{mode} <LB0:{valid}, LB1:{rows}, LB2:{columns}, {kind}, {padding}>, {operands}, ->U<256B>",
        struct.pack(f"<{count}{code}", *first), struct.pack(f"<{count}{code}", *second),
        scalar=int.from_bytes(struct.pack(f"<{code}", scalar), "little") | 0xABCD << 48,
    )  # fmt: skip
    tile = record.new_tiles["U#1"]
    for place in range(2048):
        r, c = divmod(place, columns)
        expected = padding == "Max" if r < count // columns else 0
        if r < rows and c < valid:
            expected = RELATIONS[mode](first[place], scalar if with_scalar else second[place])
        assert bit(bytes(tile), place) == expected, (place, first[place : place + 1])
    assert tile.element_bits == 1
    assert record.block_flags == Flag(0)


def test_a_mask_of_3_by_8_elements_is_packed_into_four_bytes_not_one_word_an_element():
    record = run(
        "TLOAD.NORM <8, 8, FP32>, [x0], ->T<256B>\nTCMP.EQ <5, 3, 8, FP32>, T#1.reuse, T#1, ->T<256B>", bytes(256)
    )
    assert bytes(record.new_tiles["T#1"]) == bytes([0x1F, 0x1F, 0x1F]).ljust(256, b"\0")


def test_the_second_half_of_a_row_is_compared_too():
    numbers = struct.pack("<64i", *range(64))
    record = run("TLOAD.NORM <64, S32>, [x0], ->T<256B>\nTCMPS.LT <64, S32>, T#1, [a0], ->T<256B>", numbers, scalar=34)
    assert bytes(record.new_tiles["T#1"])[:8] == bytes.fromhex("ffffffff03000000")


def test_a_comparison_raises_nv_for_a_signalling_nan_of_the_valid_area_only():
    data = struct.pack("<64I", 0, 0x7F800001, *[0] * 62)
    line = "TLOAD.NORM <64, FP32>, [x0], ->T<256B>\nTCMPS.NE <%d, 1, 64, FP32>, T#1, [a0], ->T<256B>"
    assert run(line % 1, data).block_flags == Flag(0)
    record = run(line % 2, data)
    assert record.block_flags == Flag.NV
    assert bytes(record.new_tiles["T#1"])[0] == 0b10


@pytest.mark.parametrize("with_scalar", [False, True])
@pytest.mark.parametrize("kind", ["FP64", "TF32", "FP16", "S8"])
def test_a_selection_copies_bits_by_a_mask_of_the_same_columns(kind, with_scalar):
    rng = random.Random(f"{kind} {with_scalar}")
    width = {"FP64": 8, "TF32": 4, "FP16": 2, "S8": 1}[kind]
    columns, valid = 7, 5
    count = 256 // width
    rows = rng.randrange(2, count // columns + 1)
    mask = bytes(sum((place + at) % 3 != 0 and 1 << at for at in range(8)) for place in range(0, 2048, 8))
    first, second, scalar = rng.randbytes(256), rng.randbytes(256), rng.getrandbits(64)
    name, operands = ("TSELS", "T#3, T#2, [a0]") if with_scalar else ("TSEL", "T#3, T#2, T#1")
    record = run(
        "TLOAD.NORM <256, U8>, [x0], ->T<256B>\nTLOAD.NORM <256, U8>, [x1], ->T<256B>\n"
        "TLOAD.NORM <256, U8>, [x2], ->T<256B>\n"
        f"{name} <LB0:{valid}, LB1:{rows}, LB2:{columns}, {kind}, Min>, {operands}, ->U<256B>",
        mask, first, second, scalar=scalar,
    )  # fmt: skip
    pad = {"FP64": "ffffffffffffefff", "TF32": "00e07fff", "FP16": "fffb", "S8": "80"}[kind]
    for place in range(count // columns * columns):
        r, c = divmod(place, columns)
        other = scalar.to_bytes(8, "little")[:width] if with_scalar else second[place * width :][:width]
        expected = first[place * width :][:width] if place % 3 else other
        if r >= rows or c >= valid:
            expected = bytes.fromhex(pad)
        assert bytes(record.new_tiles["U#1"])[place * width :][:width] == expected
    assert record.block_flags == Flag(0)
    assert record.new_tiles["U#1"].element_bits == 8 * width
