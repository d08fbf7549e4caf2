"""The functions of `linxtile.ops` against the machine running one assembled line: bytes and flags."""

import numpy as np
import pytest

from linxtile import Machine, Tile, formats, ops
from linxtile.asm import assemble
from linxtile.isa.codes import CompareMode, RoundingMode, size_text
from linxtile.isa.operations import OPERATIONS, Shape, operation

SOURCE_BASE = 0x10000
SOURCE_PITCH = 0x10000
DATA_BASE = 0x200000


def run_line(line, sources=(), scalars=(), before="", memory=b""):
    """Return the machine after ``line``.

    ``sources`` are the bytes of tiles, a power of two each; they are loaded so that the first is N#1, the second N#2 and
    so on. ``scalars`` are codes in a0, a1 ...; ``before`` is run first; ``memory`` lies at `DATA_BASE`.
    """
    machine = Machine()
    loads = []
    for place, data in reversed(list(enumerate(sources))):
        machine.memory.write(SOURCE_BASE + place * SOURCE_PITCH, data)
        size = len(data)
        loads.append(f"li s0, {SOURCE_BASE + place * SOURCE_PITCH}")
        loads.append(f"TLOAD <{min(size, 4096)}, {max(size // 4096, 1)}, U8>, [s0], ->N<{size_text(size)}>")
    machine.memory.write(DATA_BASE, memory)
    registers = [f"li a{place}, {value}" for place, value in enumerate(scalars)]
    machine.load(assemble("\n".join([*loads, before, *registers, line])).image)
    result = machine.run()
    assert result.fault is None, f"{line}: {result.fault}"
    return machine


def padded(data, fill=b"\0"):
    """Return tile bytes filled up to the next size of a tile, at least 256 bytes."""
    size = 256
    while size < len(data):
        size *= 2
    return data + fill * (size - len(data))


def expect(machine, name, data, flags=None):
    """Compare the first bytes of a live tile, and the flags, with what is expected."""
    got = machine.tile(name)
    assert got[: len(data)] == data, f"{name} differs at byte {next(i for i, b in enumerate(data) if got[i] != b)}"
    if flags is not None:
        assert machine.flags == flags.raised, f"machine {machine.flags!r}, ops {flags.raised!r}"


def random_tile(name, seed, shape=(8, 64), valid_shape=(5, 37)):
    """Return a tile of random codes that fills a power of two of bytes once padded: all bit patterns occur."""
    row = formats.get(name)
    rng = np.random.default_rng(seed)
    return Tile(rng.integers(0, row.storage_mask, shape, np.uint64, endpoint=True), row, valid_shape)


def cases(*shapes):
    """Return operation and type of all rows of the given families."""
    return [(row.name, name) for row in OPERATIONS if row.shape in shapes for name in row.source_types or ()]


def dimensions(tile):
    return f"LB0:{tile.valid_shape[1]}, LB1:{tile.valid_shape[0]}, LB2:{tile.shape[1]}, {tile.data_type.name}"


@pytest.mark.parametrize(("name", "kind"), cases(Shape.ELEMENTWISE))
def test_elementwise_operations_give_what_the_machine_gives(name, kind):
    row = operation(name)
    tiles = [random_tile(kind, place) for place in range(row.max_sources)]
    scalar = [random_tile(kind, 9, (1, 1), (1, 1))] if row.max_scalars else []
    flags = ops.Flags()
    got = getattr(ops, name)(*tiles, *scalar, pad="Max", flags=flags)
    operands = ", ".join(f"N#{place + 1}" for place in range(len(tiles))) + (", [a0]" if scalar else "")
    line = f"{name} <{dimensions(tiles[0])}, Max>, {operands}, ->T<{size_text(len(padded(got.to_bytes())))}>"
    machine = run_line(line, [padded(t.to_bytes()) for t in tiles], [int(t.codes[0, 0]) for t in scalar])
    expect(machine, "T#1", got.to_bytes(), flags)


@pytest.mark.parametrize(("name", "kind"), cases(Shape.ELEMENTWISE))
def test_elementwise_operations_without_padding_give_what_the_machine_gives(name, kind):
    row = operation(name)
    tiles = [random_tile(kind, place, (8, 64), (8, 64)) for place in range(row.max_sources)]
    scalar = [random_tile(kind, 9, (1, 1), (1, 1))] if row.max_scalars else []
    flags = ops.Flags()
    got = getattr(ops, name)(*tiles, *scalar, flags=flags)
    assert got == getattr(ops, name)(*tiles, *scalar)
    operands = ", ".join(f"N#{place + 1}" for place in range(len(tiles))) + (", [a0]" if scalar else "")
    line = f"{name} <{dimensions(tiles[0])}>, {operands}, ->T<{size_text(len(padded(got.to_bytes())))}>"
    machine = run_line(line, [padded(t.to_bytes()) for t in tiles], [int(t.codes[0, 0]) for t in scalar])
    expect(machine, "T#1", got.to_bytes(), flags)


@pytest.mark.parametrize(("name", "kind"), cases(Shape.ROW_REDUCE, Shape.COLUMN_REDUCE))
def test_reductions_give_what_the_machine_gives(name, kind):
    tile, flags = random_tile(kind, 3), ops.Flags()
    got = getattr(ops, name)(tile, flags=flags)
    assert got.shape == ((5, 1) if name.startswith("TROW") else (1, 37))
    machine = run_line(f"{name} <{dimensions(tile)}>, N#1, ->T<512B>", [padded(tile.to_bytes())])
    expect(machine, "T#1", padded(got.to_bytes()), flags)


@pytest.mark.parametrize(("name", "kind"), cases(Shape.ROW_EXPAND_OP, Shape.COLUMN_EXPAND_OP))
def test_expand_operations_give_what_the_machine_gives(name, kind):
    tile, flags = random_tile(kind, 4), ops.Flags()
    shape = (6, 1) if name.startswith("TROW") else (1, 40)
    vector = random_tile(kind, 5, shape, shape)
    got = getattr(ops, name)(tile, vector, pad="Min", flags=flags)
    size = size_text(len(padded(got.to_bytes())))
    sources = [padded(tile.to_bytes()), padded(vector.to_bytes())]
    machine = run_line(f"{name} <{dimensions(tile)}, Min>, N#1, N#2, ->T<{size}>", sources)
    expect(machine, "T#1", got.to_bytes(), flags)


@pytest.mark.parametrize("kind", operation("TEXPANDS").source_types)
def test_copies_of_scalars_and_vectors_give_what_the_machine_gives(kind):
    scalar = random_tile(kind, 6, (1, 1), (1, 1))
    got = ops.TEXPANDS(scalar, kind, (8, 64), valid_shape=(5, 37), pad="Max")
    size, area = size_text(len(padded(got.to_bytes()))), f"LB0:37, LB1:5, LB2:64, {kind}, Max"
    expect(run_line(f"TEXPANDS <{area}>, [a0], ->T<{size}>", [], [int(scalar.codes[0, 0])]), "T#1", got.to_bytes())
    column, row = random_tile(kind, 7, (5, 1), (5, 1)), random_tile(kind, 8, (1, 64), (1, 37))
    got = ops.TROWEXPAND(column, 64, valid_columns=37, pad="Max")
    machine = run_line(f"TROWEXPAND <{area}>, N#1, ->T<{size}>", [padded(column.to_bytes())])
    expect(machine, "T#1", got.to_bytes())
    got = ops.TCOLEXPAND(row, 8, valid_rows=5, pad="Max")
    expect(run_line(f"TCOLEXPAND <{area}>, N#1, ->T<{size}>", [padded(row.to_bytes())]), "T#1", got.to_bytes())


@pytest.mark.parametrize("kind", operation("TCMP").source_types)
@pytest.mark.parametrize("mode", CompareMode.__members__)
def test_comparisons_and_selections_give_what_the_machine_gives(kind, mode):
    first, second, flags = random_tile(kind, 10), random_tile(kind, 11), ops.Flags()
    if kind in ("S8", "U8", "E4M3", "E5M2"):
        second = Tile(np.where(np.arange(64) % 3, first.codes, second.codes), kind, second.valid_shape)
    mask = ops.TCMP(first, second, mode, pad="Max", flags=flags)
    sources = [padded(first.to_bytes()), padded(second.to_bytes())]
    machine = run_line(f"TCMP.{mode} <{dimensions(first)}, Max>, N#1, N#2, ->T<256B>", sources)
    expect(machine, "T#1", mask.to_bytes(), flags)
    scalar = Tile(first.codes[:1, 5:6], kind)
    flags.clear()
    got = ops.TCMPS(first, scalar, mode, flags=flags)
    machine = run_line(
        f"TCMPS.{mode} <{dimensions(first)}>, N#1, [a0], ->T<256B>", sources[:1], [int(scalar.codes[0, 0])]
    )
    expect(machine, "T#1", got.to_bytes(), flags)
    size = size_text(len(sources[0]))
    chosen = ops.TSEL(mask, first, second, pad="Min")
    machine = run_line(
        f"TSEL <{dimensions(first)}, Min>, N#1, N#2, N#3, ->T<{size}>", [padded(mask.to_bytes()), *sources]
    )
    expect(machine, "T#1", chosen.to_bytes())
    chosen = ops.TSELS(mask, first, scalar)
    line = f"TSELS <{dimensions(first)}>, N#1, N#2, [a0], ->T<{size}>"
    machine = run_line(line, [padded(mask.to_bytes()), sources[0]], [int(scalar.codes[0, 0])])
    expect(machine, "T#1", chosen.to_bytes())


@pytest.mark.parametrize("source", formats.NAMES)
def test_conversions_give_what_the_machine_gives(source):
    tile = random_tile(source, 12, (16, 64), (13, 37))
    for place, target in enumerate(formats.NAMES):
        mode, flags = RoundingMode(place % 8), ops.Flags()
        got = ops.TCVT(tile, target, rounding=mode, saturate=place % 3 == 0, pad="Max", flags=flags)
        attributes = [dimensions(tile), target, "Max"] + ["Sat"] * (place % 3 == 0) + [mode.name] * (mode > 0)
        line = f"TCVT <{', '.join(attributes)}>, N#1, ->T<{size_text(len(padded(got.to_bytes())))}>"
        expect(run_line(line, [padded(tile.to_bytes())]), "T#1", got.to_bytes(), flags)


@pytest.mark.parametrize(("kind", "byte"), [("U16", 0), ("U16", 1), ("U32", 0), ("U32", 1), ("U32", 2), ("U32", 3)])
@pytest.mark.parametrize("counter", ["U8", "U64"])
def test_histograms_give_what_the_machine_gives(kind, byte, counter):
    rng = np.random.default_rng(13)
    tile = Tile(rng.integers(0, 3, (8, 64)) * 0x01010101 & formats.get(kind).storage_mask, kind, (5, 37))
    filters = Tile(rng.integers(0, 2, (8, 1)), "U8")
    got = ops.THISTOGRAM(tile, filters, byte=byte, counter=counter)
    assert got.shape == (5, 256)
    line = f"THISTOGRAM <{dimensions(tile)}, {counter}, Byte{byte}>, N#1, N#2, ->T<{size_text(len(padded(got.to_bytes())))}>"
    machine = run_line(line, [padded(tile.to_bytes()), padded(filters.to_bytes())])
    expect(machine, "T#1", padded(got.to_bytes()))
