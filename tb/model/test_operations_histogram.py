"""THISTOGRAM against a count over single elements, and the worked example."""

import random
import struct

import pytest

from linxtile import Flag, Machine
from linxtile.asm import assemble
from linxtile.isa.codes import REGISTER_NUMBERS
from linxtile.isa.types import data_type


def histogram(elements, filter_bytes, geometry, kinds, byte, size):
    """Run a histogram and return its record; ``geometry`` is rows, valid columns, columns."""
    machine = Machine()
    machine.memory.write(0x10000, elements)
    machine.memory.write(0x20000, filter_bytes)
    machine.gprs[REGISTER_NUMBERS["a0"]], machine.gprs[REGISTER_NUMBERS["a1"]] = 0x10000, 0x20000
    rows, valid, columns = geometry
    machine.load(
        assemble(
            f"TLOAD.NORM <{len(elements)}, U8>, [a0], ->T<{len(elements)}B>\nTLOAD.NORM <256, U8>, [a1], ->T<256B>\n"
            f"THISTOGRAM <LB0:{valid}, LB1:{rows}, LB2:{columns}, {kinds[0]}, {kinds[1]}, Byte{byte}>, T#2, T#1, ->U<{size}B>"
        ).image,
        0x100,
    )
    result = machine.run()
    assert result.fault is None, str(result.fault)
    return result.blocks[-1]


def counted(elements, filter_bytes, geometry, kinds, byte, size):
    """Return the counters by the definition: elements of a row that pass the filter and have a byte of at most k."""
    rows, valid, columns = geometry
    width, counter_bits = data_type(kinds[0]).storage_bits // 8, data_type(kinds[1]).storage_bits
    out = []
    for r in range(rows):
        row = [elements[(r * columns + c) * width :][:width] for c in range(valid)]
        if width == 2 and byte == 0:
            row = [element for element in row if element[1] == filter_bytes[r]]
        if width == 4:
            row = [element for element in row if all(element[3 - up] == filter_bytes[up] for up in range(3 - byte))]
        out += [sum(element[byte] <= k for element in row) % (1 << counter_bits) for k in range(256)]
    return b"".join(count.to_bytes(counter_bits // 8, "little") for count in out).ljust(size, b"\0")


@pytest.mark.parametrize("counter", ["U8", "U16", "U32", "U64"])
@pytest.mark.parametrize(("kind", "byte"), [("U16", 1), ("U16", 0), ("U32", 3), ("U32", 2), ("U32", 1), ("U32", 0)])
def test_a_histogram_counts_the_elements_that_pass(kind, byte, counter):
    rng = random.Random(f"{kind} {byte} {counter}")
    width = data_type(kind).storage_bits // 8
    for geometry in ((3, 20, 21), (1, 1, 1), (2, 16, 16)):
        # Few different bytes, so that filters let something through.
        elements = bytes(rng.choice([0, 1, 0x7F, 0x80, 0xFF]) for _ in range(512))
        filter_bytes = bytes(rng.choice([0, 1, 0x7F, 0x80, 0xFF]) for _ in range(256))
        size = 1 << (geometry[0] * 256 * data_type(counter).storage_bits // 8 - 1).bit_length()
        arguments = elements, filter_bytes, geometry, (kind, counter), byte, size
        record = histogram(*arguments)
        tile = record.new_tiles["U#1"]
        assert bytes(tile) == counted(*arguments), (geometry, width)
        assert tile.element_bits == data_type(counter).storage_bits
        assert record.block_flags == Flag(0)


def test_the_worked_histogram():
    elements = struct.pack("<4I", 0xAA010203, 0xAA010507, 0xAA020304, 0xBB010203).ljust(256, b"\0")
    record = histogram(elements, b"\xaa\x01".ljust(256, b"\0"), (1, 4, 4), ("U32", "U32"), 1, 1024)
    expected = [0] * 2 + [1] * 3 + [2] * 251
    assert list(struct.unpack("<256I", bytes(record.new_tiles["U#1"]))) == expected


def test_a_counter_of_eight_bits_wraps():
    record = histogram(bytes(1024), bytes(256), (1, 300, 300), ("U16", "U8"), 1, 512)
    assert bytes(record.new_tiles["U#1"]) == bytes([300 % 256] * 256) + bytes(256)


def test_a_filter_of_a_page_that_needs_none_may_hold_anything():
    elements = bytes(range(256)) * 2
    found = [
        bytes(histogram(elements, fill * 256, (2, 9, 10), ("U16", "U16"), 1, 1024).new_tiles["U#1"])
        for fill in (b"\0", b"\xff")
    ]
    assert found[0] == found[1]
    assert found[0].count(b"\0\0") < 512
