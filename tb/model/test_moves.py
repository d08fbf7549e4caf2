"""Loads and stores of rows against a walk over single elements and a dictionary of bytes."""

import random

import pytest

from linxtile import Machine
from linxtile.asm import assemble
from linxtile.isa.codes import REGISTER_NUMBERS, PadValue
from linxtile.isa.operations import operation
from linxtile.isa.types import data_type

TYPES = operation("TLOAD").source_types
SPACE = 1 << 64


class Plain:
    """Memory as a dictionary and tiles as lists of nibbles: every access goes element by element."""

    def __init__(self, memory, bits):
        self.memory, self.bits = memory, bits

    def load(self, base, stride, i, j):
        """Return the code of element (i, j) in memory."""
        address = (base + i * stride + j * self.bits // 8) % SPACE
        if self.bits == 4:
            return self.memory.get(address, 0) >> 4 * (j % 2) & 0xF
        data = bytes(self.memory.get((address + byte) % SPACE, 0) for byte in range(self.bits // 8))
        return int.from_bytes(data, "little")

    def store(self, base, stride, i, j, code):
        """Write element (i, j)."""
        address = (base + i * stride + j * self.bits // 8) % SPACE
        if self.bits == 4:
            shift = 4 * (j % 2)
            self.memory[address] = self.memory.get(address, 0) & 0xF0 >> shift | code << shift
            return
        for byte in range(self.bits // 8):
            self.memory[(address + byte) % SPACE] = code >> 8 * byte & 0xFF


def tile_of(codes, bits, size):
    """Pack codes into the bytes of a tile, the tail zero."""
    value = sum(code << bits * place for place, code in enumerate(codes))
    return value.to_bytes(size, "little")


def code_of(data, place, bits):
    """Return element number ``place`` of tile bytes."""
    return int.from_bytes(data, "little") >> bits * place & (1 << bits) - 1


def shapes(bits, rng):
    """Return (rows, valid columns, columns, size): full, ragged, with a tail, one column, longer than a page's line."""
    for size in (256, 512):
        cells = size * 8 // bits
        for columns in (cells // 16, cells // 7 & -2 if bits == 4 else cells // 7, 2 if bits == 4 else 1, cells):
            most = cells // columns
            yield rng.randrange(1, most + 1), rng.randrange(1, columns + 1), columns, size
        yield 16, cells // 16, cells // 16, size


def machine_with(memory, registers):
    """Return a machine with these bytes and registers."""
    machine = Machine()
    for address, byte in memory.items():
        machine.memory.write(address, bytes([byte]))
    for name, value in registers.items():
        machine.gprs[REGISTER_NUMBERS[name]] = value
    return machine


def strides(row_bytes, rng):
    """Return strides: contiguous, apart, overlapping, zero, backwards."""
    return rng.choice(
        [row_bytes, row_bytes + rng.randrange(1, 50), rng.randrange(1, row_bytes + 1), 0, SPACE - row_bytes - 3]
    )


@pytest.mark.parametrize("kind", TYPES)
def test_a_load_moves_valid_elements_and_pads_the_rest(kind):
    row, rng = data_type(kind), random.Random(kind)
    bits = row.storage_bits
    for rows, valid, columns, size in shapes(bits, rng):
        row_bytes = (valid * bits + 7) // 8
        stride, base = strides(row_bytes, rng), 0x40000 + rng.randrange(5000)
        default = rng.random() < 0.3
        stride = row_bytes if default else stride
        memory = {(base + i * stride + b) % SPACE: rng.randrange(256) for i in range(rows) for b in range(row_bytes)}
        padding = rng.choice(list(PadValue))
        machine = machine_with(memory, {"a0": base, "a1": stride})
        place = "[a0]" if default else "[a0, a1]"
        line = f"TLOAD.NORM <LB0:{valid}, LB1:{rows}, LB2:{columns}, {kind}, {padding.text}>, {place}, ->T<{size}B>"
        machine.load(assemble(line).image, 0x100)
        result = machine.run()
        assert result.fault is None, (str(result.fault), line)
        pad = {PadValue.MAX: row.pad_max, PadValue.MIN: row.pad_min}.get(padding, 0)
        plain = Plain(memory, bits)
        codes = [
            plain.load(base, stride, i, j) if i < rows and j < valid else pad
            for i in range(size * 8 // (columns * bits))
            for j in range(columns)
        ]
        assert machine.tile("T#1") == tile_of(codes, bits, size), line
        assert result.queues.live()["T#1"].element_bits == bits
        assert (result.blocks[0].writes, result.flags) == ([], 0)


@pytest.mark.parametrize("kind", TYPES)
def test_a_store_writes_valid_elements_row_after_row_and_nothing_else(kind):
    row, rng = data_type(kind), random.Random(kind)
    bits = row.storage_bits
    for rows, valid, columns, size in shapes(bits, rng):
        row_bytes = (valid * bits + 7) // 8
        stride, base = strides(row_bytes, rng), 0x40000 + rng.randrange(5000)
        data = rng.randbytes(size)
        memory = {
            (base + i * stride + b) % SPACE: rng.randrange(256) for i in range(rows) for b in range(-9, row_bytes + 9)
        }
        memory |= {0x80000 + place: byte for place, byte in enumerate(data)}
        machine = machine_with(memory, {"a0": base, "a1": stride, "a2": 0x80000})
        lines = (
            f"TLOAD.NORM <16, {size // 16}, U8>, [a2], ->T<{size}B>\n"
            f"TSTORE.NORM <LB0:{valid}, LB1:{rows}, LB2:{columns}, {kind}>, T#1, [a0, a1]"
        )
        machine.load(assemble(lines).image, 0x100)
        result = machine.run()
        assert result.fault is None, (str(result.fault), lines)
        plain = Plain(dict(memory), bits)
        for i in range(rows):
            for j in range(valid):
                plain.store(base, stride, i, j, code_of(data, i * columns + j, bits))
        for address, byte in plain.memory.items():
            assert machine.memory.read(address, 1)[0] == byte, (lines, hex(address))
        # The record of the writes gives the same memory, and names no byte without a valid element.
        touched = {(base + i * stride + b) % SPACE for i in range(rows) for b in range(row_bytes)}
        replayed = dict(memory)
        for address, run in result.blocks[-1].writes:
            for place, byte in enumerate(run):
                replayed[address + place] = byte
                touched.discard(address + place)
        assert replayed == plain.memory
        assert touched == set()


def test_an_odd_last_element_of_a_store_keeps_the_other_nibble():
    machine = machine_with({0x1000 + place: 0xA5 for place in range(8)}, {"a0": 0x1000, "a1": 0x2000, "a2": 4})
    machine.memory.write(0x2000, bytes.fromhex("21436587"))
    lines = "TLOAD.NORM <4, 2, U4x2>, [a1], ->T<256B>\nTSTORE.NORM <3, 2, 4, U4x2>, T#1, [a0, a2]"
    machine.load(assemble(lines).image)
    result = machine.run()
    assert machine.memory.read(0x1000, 8).hex() == "21a3a5a565a7a5a5"
    assert result.blocks[-1].writes == [(0x1000, bytes.fromhex("21a3")), (0x1004, bytes.fromhex("65a7"))]


def test_the_unused_nibble_of_a_load_is_padding():
    machine = machine_with({0x1000: 0x21, 0x1001: 0x43}, {"a0": 0x1000})
    machine.load(assemble("TLOAD.NORM <3, 1, 6, E2M1x2, Min>, [a0], ->T<256B>").image)
    machine.run()
    assert machine.tile("T#1").hex() == "21f3ff" + "ff" * (3 * 84) + "00"


@pytest.mark.parametrize("stride", [0x10000, 0x200000, 0x1_0000_0000, SPACE - 0x10000])
def test_a_stride_is_used_in_its_full_width(stride):
    base = 0x7_0000_0000
    machine = machine_with({}, {"a0": base, "a1": stride})
    machine.memory.write((base + stride) % SPACE, b"second row")
    machine.load(assemble("TLOAD.NORM <10, 2, 16, U8>, [a0, a1], ->T<256B>").image)
    machine.run()
    assert machine.tile("T#1")[16:26] == b"second row"


def test_a_tile_does_not_change_when_memory_does():
    machine = machine_with({0x1000: 7}, {"a0": 0x1000})
    machine.load(assemble("TLOAD.NORM <16, 16, U8>, [a0], ->T<256B>").image, 0x8000)
    machine.run()
    machine.memory.write(0x1000, b"\x09")
    assert machine.tile("T#1")[0] == 7


@pytest.mark.parametrize(("operation_name", "rule"), [("TLOAD", "MEM_READ"), ("TSTORE", "MEM_WRITE")])
def test_a_block_with_a_failing_element_moves_nothing(operation_name, rule):
    machine = machine_with({0x1FF0 + place: place for place in range(64)}, {"a0": 0x1FFA, "a1": 0x5000})
    machine.memory.set_error_pages([0x2000])
    before = machine.memory.read(0x1FF0, 64)
    text = "TLOAD.NORM <16, 16, U8>, [a1], ->T<256B>\n"
    text += (
        "TLOAD.NORM <4, 2, U32>, [a0], ->U<256B>" if operation_name == "TLOAD" else "TSTORE.NORM <4, 2, U32>, T#1, [a0]"
    )
    machine.load(assemble(text).image, 0x100)
    fault = machine.run().fault
    assert (fault.rule.name, fault.traparg0) == (rule, 0x1FFE)
    assert machine.memory.read(0x1FF0, 64) == before
    assert list(machine.queues.live()) == ["T#1"]
