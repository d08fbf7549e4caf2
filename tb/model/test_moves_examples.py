"""Loads and stores: the worked examples, and small cases in which machines of this kind have failed."""

import struct

import pytest

from linxtile import Machine
from linxtile.asm import assemble
from linxtile.isa.codes import REGISTER_NUMBERS

MAX_FP32 = 0x7F7FFFFF


def run(lines, registers=None, memory=None, error_pages=()):
    """Run a program and return machine and result."""
    machine = Machine()
    for name, value in (registers or {}).items():
        machine.gprs[REGISTER_NUMBERS[name]] = value
    for address, data in (memory or {}).items():
        machine.memory.write(address, data)
    machine.memory.set_error_pages(error_pages)
    machine.load(assemble(lines, address=0x100).image, 0x100)
    return machine, machine.run()


def addresses(start, count):
    """Return memory in which each 32-bit word holds its own address."""
    return {start: struct.pack(f"<{count}I", *range(start, start + 4 * count, 4))}


def words(machine, name):
    """Return the 32-bit words of a tile."""
    data = machine.tile(name)
    return struct.unpack(f"<{len(data) // 4}I", data)


def at(tile, offset):
    """Return the word at a byte offset."""
    return tile[offset // 4]


def test_three_fractal_outputs_of_a_load_by_rows():
    machine, result = run(
        "TLOAD.ND2NZ <20, 3, 24, FP32, Zero>, [a0, a1], ->T<512B>, T<512B>, T<512B>",
        {"a0": 0x1000, "a1": 128}, addresses(0x1000, 1024),
    )  # fmt: skip
    assert result.fault is None
    first, second, third = (words(machine, f"T#{place}") for place in (3, 2, 1))
    expected = {0x000: 0x1000, 0x01C: 0x101C, 0x020: 0x1080, 0x05C: 0x111C, 0x060: 0, 0x1FC: 0}
    assert {offset: at(first, offset) for offset in expected} == expected
    expected = {0x000: 0x1020, 0x024: 0x10A4, 0x05C: 0x113C, 0x060: 0}
    assert {offset: at(second, offset) for offset in expected} == expected
    expected = {0x000: 0x1040, 0x010: 0, 0x04C: 0x114C, 0x050: 0, 0x05C: 0}
    assert {offset: at(third, offset) for offset in expected} == expected
    assert [sum(word != 0 for word in tile) for tile in (first, second, third)] == [24, 24, 12]


def test_two_fractal_outputs_of_a_load_by_columns():
    machine, result = run(
        "TLOAD.DN2NZ <3, 20, 8, FP32, Max>, [a0, a1], ->T<512B>, T<512B>",
        {"a0": 0x2000, "a1": 128}, addresses(0x2000, 1024),
    )  # fmt: skip
    assert result.fault is None
    first, second = words(machine, "T#2"), words(machine, "T#1")
    expected = {
        0x000: 0x2000,
        0x004: 0x2080,
        0x008: 0x2100,
        0x00C: MAX_FP32,
        0x020: 0x2004,
        0x1E0: 0x203C,
        0x1E8: 0x213C,
    }
    assert {offset: at(first, offset) for offset in expected} == expected
    expected = {0x000: 0x2040, 0x004: 0x20C0, 0x008: 0x2140, 0x060: 0x204C, 0x068: 0x214C, 0x080: MAX_FP32}
    assert {offset: at(second, offset) for offset in expected} == expected
    assert [tile.count(MAX_FP32) for tile in (first, second)] == [80, 116]


def test_parts_are_tiles_of_their_own_where_a_cut_of_the_whole_would_be_wrong():
    machine, _ = run(
        "TLOAD.DN2NZ <16, 32, 16, FP32>, [a0, a1], ->T<1KB>, T<1KB>",
        {"a0": 0x2000, "a1": 128}, addresses(0x2000, 1024),
    )  # fmt: skip
    # Element (16, 8) of the whole is (0, 8) of the second part: the first of its second fractal.
    assert at(words(machine, "T#1"), 512) == 0x2000 + 8 * 128 + 16 * 4


def test_the_rows_of_a_tall_tile_are_counted_whole_in_fractal_order():
    memory = {0x1000: struct.pack("<544H", *range(544))}
    machine, _ = run("TLOAD.ND2NZ <32, 17, 32, FP16>, [a0], ->T<2KB>", {"a0": 0x1000}, memory)
    data = machine.tile("T#1")
    assert data[32 * 16 * 2 :][:2] == struct.pack("<H", 16)
    assert data[17 * 16 * 2 : 32 * 16 * 2] == bytes(15 * 16 * 2)


def test_the_columns_of_a_load_by_columns_are_a_stride_apart():
    registers = {"a0": 0x1000, "a1": 20}
    machine, _ = run("TLOAD.DN2NZ <3, 5, 8, U32>, [a0, a1], ->T<512B>", registers, addresses(0x1000, 64))
    tile = words(machine, "T#1")
    assert [tile[column] for column in range(3)] == [0x1000, 0x1014, 0x1028]
    # Without a stride the columns are contiguous: five valid rows of four bytes.
    machine, _ = run("TLOAD.DN2NZ <3, 5, 8, U32>, [a0], ->T<512B>", registers, addresses(0x1000, 64))
    assert words(machine, "T#1") == tile


def test_rows_and_columns_outside_the_valid_area_are_padding():
    machine, _ = run("TLOAD.NORM <5, 3, 8, S32, Min>, [a0], ->T<256B>", {"a0": 0x1000}, addresses(0x1000, 64))
    tile = words(machine, "T#1")
    for row in range(8):
        for column in range(8):
            valid = row < 3 and column < 5
            assert tile[row * 8 + column] == (0x1000 + 4 * (row * 5 + column) if valid else 0x80000000)


def test_a_padded_row_longer_than_a_burst():
    content = bytes(place * 7 % 251 + 1 for place in range(600))
    machine, _ = run("TLOAD.NORM <300, 2, 512, U8, Zero>, [a0], ->T<1KB>", {"a0": 0x1000}, {0x1000: content})
    assert machine.tile("T#1") == content[:300] + bytes(212) + content[300:] + bytes(212)


@pytest.mark.parametrize("base", [0x0FE0, 0x1001, 0x1002, 0x1003])
def test_any_base_is_allowed_also_across_a_page(base):
    content = bytes(place % 251 for place in range(300))
    machine, _ = run("TLOAD.NORM <300, 1, U8>, [a0], ->T<512B>", {"a0": base}, {base: content})
    assert machine.tile("T#1") == content.ljust(512, b"\0")


def test_a_store_of_nibbles_leaves_the_gap_between_rows():
    machine, _ = run(
        "TLOAD.NORM <16, 16, U8>, [a0], ->T<256B>\nTSTORE.NORM <6, 3, 6, U4x2>, T#1, [a1, a2]",
        {"a0": 0x1000, "a1": 0x2000, "a2": 5}, {0x1000: bytes(range(1, 200)), 0x2000: b"\xee" * 20},
    )  # fmt: skip
    assert machine.memory.read(0x2000, 14).hex() == "010203eeee040506eeee070809ee"


@pytest.mark.parametrize("operation", ["load", "store"])
@pytest.mark.parametrize(("memory_order", "element"), [("ND", (1, 5)), ("DN", (9, 0))])
def test_the_first_failing_element_is_looked_for_in_the_order_of_memory(operation, memory_order, element):
    # The base is such that this element is the first one on the failing page.
    layout = f"{memory_order}2NZ" if operation == "load" else f"NZ2{memory_order}"
    stride = 0xEC if memory_order == "ND" else 0xE0
    base = 0x5000 - (stride + 5 * 4) if memory_order == "ND" else 0x5000 - 9 * 4
    text = f"TLOAD.{layout} <8, 16, FP32>, [a0, a1], ->T<512B>"
    if operation == "store":
        text = f"TLOAD.NORM <8, 16, FP32>, [a2], ->T<512B>\nTSTORE.{layout} <8, 16, FP32>, T#1, [a0, a1]"
    _, result = run(text, {"a0": base, "a1": stride, "a2": 0x9000}, error_pages=[0x5000])
    i, j = element
    expected = base + (i * stride + j * 4 if memory_order == "ND" else j * stride + i * 4)
    assert result.fault.rule.name == ("MEM_READ" if operation == "load" else "MEM_WRITE")
    assert result.fault.traparg0 == expected == 0x5000


@pytest.mark.parametrize(("layout", "expected"), [("ND2NZ", 0x2000), ("DN2NZ", 0x3000)])
def test_of_two_failing_pages_the_order_of_memory_decides(layout, expected):
    # Rows by 0x1000: row 1 lies on 0x2000. Columns by -0x1000 from 0x4000: column 1 lies on 0x3000, column 2 on 0x2000.
    base, stride = (0x1000, 0x1000) if layout == "ND2NZ" else (0x4000, (1 << 64) - 0x1000)
    _, result = run(
        f"TLOAD.{layout} <8, 16, FP32>, [a0, a1], ->T<512B>", {"a0": base, "a1": stride}, error_pages=[0x2000, 0x3000]
    )
    assert (result.fault.rule.name, result.fault.traparg0) == ("MEM_READ", expected)
