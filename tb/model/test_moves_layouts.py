"""Loads, stores and moves in every layout, number of tiles and element width, against a walk over single elements."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linxtile import Machine
from linxtile.asm import assemble
from linxtile.isa.codes import REGISTER_NUMBERS, PadValue
from linxtile.isa.operations import operation
from linxtile.isa.types import data_type

KINDS = ("FP64", "HF32", "BF16", "HiF8", "E2M1x2")
"""One type of each width."""
LOADS = [layout.name for layout in operation("TLOAD").layouts]
STORES = [layout.name for layout in operation("TSTORE").layouts]
MOVES = [layout.name for layout in operation("TMOV").layouts]
BASE, DATA = 0x40000, 0x80000


def place_of(order, i, j, rows, columns, bits):
    """Return the element number of (i, j) in a tile: the printed formulas over the element size."""
    band = 256 // bits
    match order:
        case "NZ":
            return (j // band) * rows * band + i * band + j % band
        case "ZN":
            return (i // band) * columns * band + j * band + i % band
        case "DN":
            return j * rows + i
        case _:
            return i * columns + j


def orders(layout):
    """Return the orders before and after the 2 of a layout name."""
    return layout.split("2") if "2" in layout else ["ND", "ND"]


def read_code(data, place, bits):
    """Return element number ``place`` of bytes; the even one of two nibbles is the low one."""
    low = place * bits
    piece = int.from_bytes(data[low // 8 : (low + bits + 7) // 8], "little")
    return piece >> low % 8 & (1 << bits) - 1


def put_code(data, place, bits, code):
    """Write element number ``place`` of a bytearray."""
    low = place * bits
    end = (low + bits + 7) // 8
    piece = int.from_bytes(data[low // 8 : end], "little")
    piece = piece & ~(((1 << bits) - 1) << low % 8) | code << low % 8
    data[low // 8 : end] = piece.to_bytes(end - low // 8, "little")


def line_of(memory_order, i, j):
    """Return (line, place in the line) of an element in memory."""
    return (j, i) if memory_order == "DN" else (i, j)


def part_of(memory_order, i, j, shape, count):
    """Return (part, local row, local column) of an element of the whole; ``shape`` is that of a part."""
    if memory_order == "DN":
        return i // shape[0], i % shape[0], j
    return j // shape[1], i, j % shape[1]


def geometry(layout, kind, count, rng):
    """Return whole columns, size of a tile, and shape of a part, so that every part is legal."""
    bits = data_type(kind).storage_bits
    band = 256 // bits
    tile_order = next((order for order in orders(layout) if order in ("NZ", "ZN")), "ND")
    transposed = "DN" in orders(layout)
    if tile_order == "ND":
        size, columns = rng.choice([256, 512]), rng.choice([2, 6, 10])
    else:
        size, columns = (512 * rng.choice([1, 2, 4]), band) if tile_order == "NZ" else (512 * rng.choice([1, 2, 4]), 16)
        if size == 2048:
            columns *= 2
    rows = size * 8 // (columns * bits)
    return columns if transposed else columns * count, size, (rows, columns)


def machine_with(registers, memory):
    """Return a machine with these registers and these pieces of memory."""
    machine = Machine()
    for name, value in registers.items():
        machine.gprs[REGISTER_NUMBERS[name]] = value
    for address, data in memory.items():
        machine.memory.write(address, data)
    return machine


def run(machine, lines):
    """Run a program that must not fault."""
    machine.load(assemble(lines, address=0x100).image, 0x100)
    result = machine.run()
    assert result.fault is None, (str(result.fault), lines)
    return result


def valid_of(whole, rng):
    """Return odd valid sizes inside a whole: all, one, and something between."""
    rows, columns = whole
    return rng.choice([rows, 1, rng.randrange(1, rows + 1)]), rng.choice([columns, 1, rng.randrange(1, columns + 1)])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LOADS)
def test_a_load_puts_every_element_where_the_formulas_say(layout, kind):
    rng = random.Random(f"{layout} {kind}")
    row = data_type(kind)
    bits, (memory_order, tile_order) = row.storage_bits, orders(layout)
    for count in range(1, 9):
        columns, size, shape = geometry(layout, kind, count, rng)
        whole = (shape[0] * (count if memory_order == "DN" else 1), columns)
        rows, valid = valid_of(whole, rng)
        lines, length = line_of(memory_order, rows, valid)
        line_bytes = (length * bits + 7) // 8
        stride = rng.choice([line_bytes, line_bytes + 5, max(line_bytes - 3, 0), 0])
        explicit = stride != line_bytes or rng.random() < 0.5
        content = rng.randbytes(lines * max(stride, line_bytes) + line_bytes)
        base = BASE + rng.randrange(64)
        padding = rng.choice(list(PadValue))
        machine = machine_with({"a0": base, "a1": stride}, {base: content})
        text = f"TLOAD.{layout} <LB0:{valid}, LB1:{rows}, LB2:{columns}, {kind}, {padding.text}>, "
        run(machine, text + ("[a0, a1]" if explicit else "[a0]") + ", ->" + ", ".join([f"T<{size}B>"] * count))
        pad = {PadValue.MAX: row.pad_max, PadValue.MIN: row.pad_min}.get(padding, 0)
        expected = [bytearray(size) for _ in range(count)]
        for i in range(whole[0]):
            for j in range(whole[1]):
                line, at = line_of(memory_order, i, j)
                code = read_code(content[line * stride :], at, bits) if i < rows and j < valid else pad
                part, r, c = part_of(memory_order, i, j, shape, count)
                put_code(expected[part], place_of(tile_order, r, c, *shape, bits), bits, code)
        found = [machine.tile(f"T#{count - part}") for part in range(count)]
        assert found == [bytes(tile) for tile in expected], (text, count, stride)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", STORES)
def test_a_store_takes_every_element_from_where_the_formulas_say(layout, kind):
    rng = random.Random(f"{layout} {kind}")
    bits, (tile_order, memory_order) = data_type(kind).storage_bits, orders(layout)
    for count in range(1, 9):
        columns, size, shape = geometry(layout, kind, count, rng)
        whole = (shape[0] * (count if memory_order == "DN" else 1), columns)
        rows, valid = valid_of(whole, rng)
        lines, length = line_of(memory_order, rows, valid)
        line_bytes = (length * bits + 7) // 8
        stride = rng.choice([line_bytes, line_bytes + 5, max(line_bytes - 3, 0), 0])
        tiles = [rng.randbytes(size) for _ in range(count)]
        before = bytearray(rng.randbytes(lines * max(stride, line_bytes) + 64))
        base = BASE + rng.randrange(64)
        machine = machine_with({"a0": base, "a1": stride, "a2": DATA}, {base: before, DATA: b"".join(tiles)})
        load = "".join(
            f"li a2, {DATA + place * size:#x}\nTLOAD.NORM <{size // 8}, 8, U8>, [a2], ->T<{size}B>\n"
            for place in range(count)
        )
        names = ", ".join(f"T#{count - place}" for place in range(count))
        result = run(
            machine, f"{load}TSTORE.{layout} <LB0:{valid}, LB1:{rows}, LB2:{columns}, {kind}>, {names}, [a0, a1]"
        )
        for first in range(lines):
            for second in range(length):
                i, j = line_of(memory_order, first, second)
                part, r, c = part_of(memory_order, i, j, shape, count)
                code = read_code(tiles[part], place_of(tile_order, r, c, *shape, bits), bits)
                line = memoryview(before)[first * stride :]
                put_code(line, second, bits, code)
        assert machine.memory.read(base, len(before)) == bytes(before), (layout, kind, count, stride)
        replayed = machine_with({}, {base: machine.memory.read(base, len(before))})
        for address, data in result.blocks[-1].writes:
            replayed.memory.write(address, data)
        assert replayed.memory.read(base, len(before)) == bytes(before)


@pytest.mark.parametrize("kind", (*KINDS, "E3M2"))
@pytest.mark.parametrize("layout", MOVES)
def test_a_move_changes_the_order_and_nothing_else(layout, kind):
    rng = random.Random(f"{layout} {kind}")
    row = data_type(kind)
    bits, (source_order, destination_order) = row.storage_bits, orders(layout)
    band = 256 // bits
    for source_size, size in ((4096, 4096), (8192, 4096), (4096, 16384)):
        columns = max(band, 16) if {"NZ", "ZN"} & {source_order, destination_order} else rng.choice([6, 14, 34])
        rows = [whole * 8 // (columns * bits) for whole in (source_size, size)]
        valid_rows, valid = valid_of((min(rows), columns), rng)
        data, padding = rng.randbytes(source_size), rng.choice(list(PadValue))
        machine = machine_with({"a0": DATA}, {DATA: data})
        run(
            machine,
            f"TLOAD.NORM <64, {source_size // 64}, U8>, [a0], ->U<{source_size}B>\n"
            f"TMOV.{layout} <LB0:{valid}, LB1:{valid_rows}, LB2:{columns}, {kind}, {padding.text}>, U#1, ->T<{size}B>",
        )
        pad = {PadValue.MAX: row.pad_max, PadValue.MIN: row.pad_min}.get(padding, 0)
        expected = bytearray(size)
        for i in range(rows[1]):
            for j in range(columns):
                inside = i < valid_rows and j < valid
                source = place_of(source_order, i, j, rows[0], columns, bits)
                code = read_code(data, source, bits) if inside else pad
                put_code(expected, place_of(destination_order, i, j, rows[1], columns, bits), bits, code)
        assert machine.tile("T#1") == bytes(expected), (layout, kind, source_size, size)


@given(
    layout=st.sampled_from([("NORM", "NORM"), ("ND2NZ", "NZ2ND"), ("ND2ZN", "ZN2ND"), ("DN2NZ", "NZ2DN"), ("DN2ZN", "ZN2DN")]),
    count=st.sampled_from([1, 2, 4]), rows=st.integers(1, 128), columns=st.integers(1, 128), gap=st.integers(0, 9),
    kind=st.sampled_from(["S16", "U8"]), content=st.randoms(use_true_random=False),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_a_store_of_what_a_load_brought_gives_the_same_memory(layout, count, rows, columns, gap, kind, content):
    lines, length = (columns, rows) if "DN" in layout[0] else (rows, columns)
    line_bytes = length * data_type(kind).storage_bits // 8
    stride = line_bytes + gap
    memory = content.randbytes(lines * stride)
    machine = machine_with({"a0": BASE, "a1": stride, "a2": DATA}, {BASE: memory})
    size = 128 * 128 * data_type(kind).storage_bits // 8 // count
    tiles, names = ", ".join([f"T<{size}B>"] * count), ", ".join(f"T#{count - place}" for place in range(count))
    shape = f"<LB0:{columns}, LB1:{rows}, LB2:128, {kind}>"
    run(machine, f"TLOAD.{layout[0]} {shape}, [a0, a1], ->{tiles}\nTSTORE.{layout[1]} {shape}, {names}, [a2, a1]")
    written = b"".join(machine.memory.read(DATA + line * stride, line_bytes) for line in range(lines))
    assert written == b"".join(memory[line * stride : line * stride + line_bytes] for line in range(lines))
    if gap:
        gaps = b"".join(machine.memory.read(DATA + line * stride + line_bytes, gap) for line in range(lines))
        assert gaps == bytes(lines * gap)
