"""Programs in which comparable machines have failed; what memory must hold at the end is calculated here, from the ISA's formulas."""

import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from traps import INPUT, OUTPUT, SECOND, Trap, little, run_and_check, tile_size

from linxtile.config import PRESETS, CoreConfig
from linxtile.flags import Flag
from linxtile.isa.faults import Rule
from linxtile_sim.scenario import Pace

pytestmark = pytest.mark.cosim

FAST = Pace(latency=1)
STALLED = Pace(latency=6, stalls=(0.3, 0.4, 0.5, 0.4, 0.5))
PACES = (FAST, STALLED)
SIZES = {"U8": 1, "S8": 1, "S16": 2, "FP16": 2, "U32": 4, "S32": 4, "FP32": 4, "S64": 8, "U64": 8}


def halves(values: Sequence[float]) -> bytes:
    return np.array(values, "<f2").tobytes()


def loaded(
    name: str, type_name: str, valid: tuple[int, int], columns: int, base: int, stride: int, tile: int, pad: int = 0,
    pad_name: str = "Zero",
) -> Trap:  # fmt: skip
    """A load whose whole tile is stored: element (i, j) comes from ``base + i * stride + j * size``, the rest is ``pad``."""
    valid_columns, valid_rows = valid
    size = SIZES[type_name]
    rows = tile // (columns * size)
    lines = [random.Random(f"{name} {row}").randbytes(valid_columns * size) for row in range(valid_rows)]
    padding = little([pad], size)
    image = b"".join(
        (lines[row] if row < valid_rows else b"") + padding * (columns - (valid_columns if row < valid_rows else 0))
        for row in range(rows)
    )
    text = f"""
        TLOAD.NORM <{valid_columns}, {valid_rows}, {columns}, {type_name}, {pad_name}>, [a0, a1], ->T<{tile_size(tile)}>
        TSTORE.NORM <{columns}, {rows}, {columns}, {type_name}>, T#1, [a2]
    """
    memory = {base + row * stride: line for row, line in enumerate(lines)}
    return Trap(name, text, memory, {"a0": base, "a1": stride, "a2": OUTPUT}, {OUTPUT: image})


def loaded_cells(
    name: str, layout: str, valid: tuple[int, int], columns: int, base: int, stride: int, tile: int
) -> Trap:
    """A load of U16 into NZ or ZN order, padded with ones, whose whole tile is stored: each element by its two formulas."""
    valid_columns, valid_rows = valid
    rows, cell, by_columns = tile // (columns * 2), 16, layout == "DN2ZN"
    lines, length = (valid_columns, valid_rows) if by_columns else (valid_rows, valid_columns)
    content = [random.Random(f"{name} {line}").randbytes(2 * length) for line in range(lines)]
    image = bytearray(b"\xff\xff" * (rows * columns) + bytes(tile - 2 * rows * columns))
    for i in range(valid_rows):
        for j in range(valid_columns):
            line, at = (j, i) if by_columns else (i, j)
            if by_columns:
                place = (i // cell) * columns * cell + j * cell + i % cell
            else:
                place = (j // cell) * rows * cell + i * cell + j % cell
            image[2 * place : 2 * place + 2] = content[line][2 * at : 2 * at + 2]
    text = f"""
        TLOAD.{layout} <{valid_columns}, {valid_rows}, {columns}, U16, Max>, [a0, a1], ->T<{tile_size(tile)}>
        TSTORE.NORM <{tile}, 1, {tile}, U8>, T#1, [a2]
    """
    memory = {base + line * stride: data for line, data in enumerate(content)}
    return Trap(name, text, memory, {"a0": base, "a1": stride, "a2": OUTPUT}, {OUTPUT: bytes(image)})


def loads() -> Iterator[Trap]:
    yield loaded_cells("fewer valid rows than rows in NZ order", "ND2NZ", (32, 17), 32, INPUT + 1, 64, 2048)
    yield loaded_cells("columns from memory in ZN order", "DN2ZN", (19, 23), 32, INPUT + 3, 47, 2048)
    yield loaded("a stride of 64 KiB", "U8", (32, 2), 32, 0x2_0000, 0x1_0000, 256)
    yield loaded("a stride of 2 MiB", "U8", (32, 2), 32, 0x2_0000, 0x20_0000, 256)
    yield loaded("a stride above 4 GiB", "U8", (32, 2), 32, 0x2_0000, 0x1_0020_0010, 256)
    yield loaded("rows below and columns beside", "FP32", (5, 3), 8, INPUT, 20, 256, 0xFF7FFFFF, "Min")
    yield loaded("padding of integers", "S32", (5, 3), 8, INPUT, 20, 256, 0x80000000, "Min")
    yield loaded("a padded row of two bursts", "U8", (300, 3), 512, INPUT + 0xF03, 300, 2048, 0, "Zero")
    yield loaded("a row longer than any burst", "U8", (5000, 1), 8192, INPUT + 3, 0, 8192, 0xFF, "Max")
    yield loaded("a row across 4 KiB", "U8", (300, 1), 300, 0x0FE0, 0, 512)
    for base in (0x1001, 0x1002, 0x1003):
        yield loaded(f"a base of {base:#x}", "U8", (64, 4), 64, base, 64, 256)


def reduction(name: str, operation: str, type_name: str, lines: Sequence[bytes], results: bytes, **more: Flag) -> Trap:
    """A row reduction of rows given as bytes; the results are stored one after the other."""
    size = SIZES[type_name]
    columns, rows = len(lines[0]) // size, len(lines)
    shape = f"{columns}, {rows}, {columns}, {type_name}"
    text = f"""
        TLOAD.NORM <{shape}>, [a0], ->T<{tile_size(columns * rows * size)}>
        {operation} <{shape}>, T#1, ->U<{tile_size(rows * size)}>
        TSTORE.NORM <{rows}, 1, {type_name}>, U#1, [a2]
    """
    return Trap(name, text, {INPUT: b"".join(lines)}, {"a0": INPUT, "a2": OUTPUT}, {OUTPUT: results}, **more)


def reductions(config: CoreConfig) -> Iterator[Trap]:
    for operation, value in (("TROWMAX", -1.0), ("TROWMIN", 1.0)):
        text = f"""
            TLOAD.NORM <4, 3, 8, FP16, Zero>, [a0], ->T<256B>
            {operation} <4, 3, 8, FP16>, T#1, ->U<256B>
            TSTORE.NORM <3, 1, FP16>, U#1, [a2]
        """
        yield Trap(
            f"{operation} beside padding", text, {INPUT: halves([value] * 12)}, {"a0": INPUT, "a2": OUTPUT},
            {OUTPUT: halves([value] * 3)},
        )  # fmt: skip
    rng = random.Random(1)
    for type_name in ("U8", "S16", "FP16", "U32", "FP32", "S64"):
        size = SIZES[type_name]
        lanes = config.vector_bytes // size
        for columns in (1, lanes + 1, 2 * lanes - 1, 4 * lanes + 1, 161):
            numbers = [[rng.randrange(-8, 9) for _ in range(columns)] for _ in range(5)]
            sums = [sum(row) for row in numbers]
            if type_name.startswith("FP"):
                real = f"<f{size}"
                lines, results = [np.array(row, real).tobytes() for row in numbers], np.array(sums, real).tobytes()
            else:
                lines, results = [little(row, size) for row in numbers], little(sums, size)
            yield reduction(f"sums of {columns} {type_name}", "TROWSUM", type_name, lines, results)
    column = [0x3F800000 + row for row in range(161)]
    read = list(column)
    column[7], read[7] = 0xFF800001, 0x7FC00000
    column[160] = read[160] = 0x80000000
    lines = [little([code], 4) for code in column]
    yield reduction("sums of a column", "TROWSUM", "FP32", lines, little(read, 4), flags=Flag.NV)
    yield reduction("sums of -0", "TROWSUM", "FP32", [little([0x80000000] * 5, 4)] * 2, little([0x80000000] * 2, 4))


def element_wise() -> Iterator[Trap]:
    signalling, quiet, one = 0x7F800001, 0xFFC00123, 0x3F800000
    left, right = [signalling, one, quiet, 0x80000000, 0], [one, quiet, quiet, 0, 0x80000000]
    for operation, zero in (("TMAX", 0), ("TMIN", 0x80000000)):
        for pairs, flags in ((slice(0, 5), Flag.NV), (slice(1, 5), Flag(0))):
            results = [one, one, 0x7FC00000, zero, zero][pairs]
            shape = f"{len(results)}, 1, FP32"
            text = f"""
                TLOAD.NORM <{shape}>, [a0], ->T<256B>
                TLOAD.NORM <{shape}>, [a1], ->T<256B>
                {operation} <{shape}>, T#2, T#1, ->U<256B>
                TSTORE.NORM <{shape}>, U#1, [a2]
            """
            memory = {INPUT: little(left[pairs], 4), SECOND: little(right[pairs], 4)}
            registers = {"a0": INPUT, "a1": SECOND, "a2": OUTPUT}
            yield Trap(
                f"{operation} of NaNs, {flags!r}", text, memory, registers, {OUTPUT: little(results, 4)}, flags=flags
            )
    for type_name, values, counts in (
        ("S64", (-(1 << 63), (1 << 63) - 1, 0x8001_0000_8000_0001, -2), (16, 31, 32, 48, 63, 64, 69, 1 << 40 | 17)),
        ("S8", (0x81, 0x7F, 1), (7, 8, 9)),
        ("U8", (0x81, 0x7F, 1), (7, 8, 9)),
    ):
        yield shifts(type_name, values, counts)


def shifts(type_name: str, values: Sequence[int], counts: Sequence[int]) -> Trap:
    """Shifts by a scalar in both directions: the count is its low bits, and only a signed type shifts in its sign."""
    size = SIZES[type_name]
    bits = 8 * size
    shape = f"{len(values)}, 1, {type_name}"
    registers = {"a0": INPUT, **{f"r{10 + place}": count for place, count in enumerate(counts)}}
    text, results = f"TLOAD.NORM <{shape}>, [a0], ->T<256B>\n", []
    for place, count in enumerate(counts):
        for operation in ("TSHLS", "TSHRS"):
            text += f"{operation} <{shape}>, T#1.reuse, [r{10 + place}], ->U<256B>\n"
            codes = [value % (1 << bits) for value in values]
            if operation == "TSHRS" and type_name[0] == "S":
                codes = [code - (code >> bits - 1 << bits) for code in codes]
            by = count % bits
            results.append(little([code << by if operation == "TSHLS" else code >> by for code in codes], size))
    # The first result is the oldest name.
    expected = {OUTPUT + 64 * place: result for place, result in enumerate(results)}
    for place, address in enumerate(expected):
        text += f"li a2, {address}\nTSTORE.NORM <{shape}>, U#{len(results) - place}, [a2]\n"
    return Trap(f"shifts of {type_name}", text, {INPUT: little(values, size)}, registers, expected)


def stores() -> Iterator[Trap]:
    nibbles = bytes(range(0x10, 0x10 + 9))
    before = bytes([0xA5] * 32)
    after = bytearray(before)
    for row in range(3):
        after[7 * row : 7 * row + 2] = nibbles[3 * row : 3 * row + 2]
        after[7 * row + 2] = before[7 * row + 2] & 0xF0 | nibbles[3 * row + 2] & 0x0F
    text = """
        TLOAD.NORM <6, 3, U4x2>, [a0], ->T<256B>
        TSTORE.NORM <5, 3, 6, U4x2>, T#1, [a2, a3]
    """
    yield Trap(
        "half bytes with a gap", text, {INPUT: nibbles, OUTPUT + 1: before},
        {"a0": INPUT, "a2": OUTPUT + 1, "a3": 7}, {OUTPUT + 1: bytes(after)},
    )  # fmt: skip
    content = [random.Random(seed).randbytes(1000) for seed in range(2)]
    text = """
        TLOAD.NORM <250, 4, U8>, [a0], ->T<1KB>
        TLOAD.NORM <250, 4, U8>, [a1], ->U<1KB>
        TSTORE.NORM <250, 4, U8>, U#1, [a2]
        TSTORE.NORM <250, 4, U8>, T#1, [a3]
    """
    bases = {"a0": INPUT + 5, "a1": SECOND + 10, "a2": OUTPUT + 3, "a3": OUTPUT + 0x1FF9}
    memory = {bases["a0"]: content[0], bases["a1"]: content[1]}
    yield Trap("loads back to back", text, memory, bases, {bases["a2"]: content[1], bases["a3"]: content[0]})


def empty_shapes() -> Iterator[Trap]:
    """One load, then a block that must not reach the bus."""
    prologue = "TLOAD.NORM <8, 2, U8>, [a0], ->T<256B>\n"
    for line in (
        "TLOAD.NORM <LB0:8, LB1:a5, U8>, [a0], ->T<256B>", "TLOAD.NORM <LB0:a5, LB1:2, U8>, [a0], ->T<256B>",
        "TSTORE.NORM <LB0:8, LB1:a5, U8>, T#1, [a2]", "TSTORE.NORM <LB0:a5, LB1:2, U8>, T#1, [a2]",
        "TADD <LB0:8, LB1:a5, U8>, T#1.reuse, T#1, ->T<256B>", "TROWSUM <LB0:a5, LB1:2, U8>, T#1, ->T<256B>",
    ):  # fmt: skip
        yield Trap(
            f"nothing to do: {line}", prologue + line, {INPUT: bytes(range(16)), OUTPUT: bytes(16)},
            {"a0": INPUT, "a2": OUTPUT, "a5": 0x1_0000}, {OUTPUT: bytes(16)}, fault=Rule.PARM_ZERO,
            bursts=(1, 0),
        )  # fmt: skip


def full_tile_ram(config: CoreConfig) -> Iterator[Trap]:
    quarter = config.tile_ram_bytes // 4
    columns, rows = 64, quarter // 256
    shape, size = f"{columns}, {rows}, U32", tile_size(quarter)
    generator = np.random.default_rng(1)
    a, b, e = (generator.integers(0, 1 << 32, quarter // 4, np.uint32) for _ in range(3))
    prologue = f"""
        TLOAD.NORM <{shape}>, [a0], ->T<{size}>
        TLOAD.NORM <{shape}>, [a1], ->T<{size}>
        TEXPANDS <{shape}>, [a3], ->U<{size}>
        TADD <{shape}>, T#2, T#1.reuse, ->M<{size}>
    """
    epilogue = f"""
        TSTORE.NORM <{shape}>, M#1, [a2]
        TSTORE.NORM <{shape}>, N#1, [a5]
        TSTORE.NORM <{shape}>, T#1, [a6]
    """
    memory = {INPUT: a.tobytes(), SECOND: b.tobytes(), 0x8_0000: e.tobytes()}
    registers = {"a0": INPUT, "a1": SECOND, "a2": OUTPUT, "a3": 0x1234, "a4": 0x8_0000, "a5": 0xA_0000, "a6": 0xC_0000}
    for line, content in (
        (f"TEXPANDS <{shape}>, [a3], ->N<{size}>", little([0x1234], 4) * (quarter // 4)),
        (f"TLOAD.NORM <{shape}>, [a4], ->N<{size}>", e.tobytes()),
    ):
        yield Trap(
            f"the place of a tile that is being read: {line.split()[0]}", prologue + line + epilogue, memory, registers,
            {OUTPUT: (a + b).tobytes(), 0xA_0000: content, 0xC_0000: b.tobytes()},
            bases=(0, quarter, 2 * quarter, 3 * quarter, 0),
        )  # fmt: skip
    part = config.tile_ram_bytes // 16
    shape, size, double = f"{part}, 1, U8", tile_size(part), tile_size(2 * part)
    text = "".join(f"TEXPANDS <{shape}>, [a3], ->{'TUMN'[number % 4]}<{size}>\n" for number in range(16))
    # Tile i is the (4 - i // 4)th name of its queue.
    for name in ("U#1", "N#4", "T#2", "M#3", "N#3"):
        text += f"TSTORE.NORM <1, 1, U8>, {name}, [a2]\n"
    text += f"""
        TEXPANDS <{shape}>, [a3], ->T<{size}>
        TEXPANDS <{shape}>, [a3], ->U<{double}>
        TEXPANDS <{shape}>, [a3], ->M<{size}>
        TEXPANDS <{shape}>, [a3], ->N<{size}>
        TEXPANDS <1, 1, U8>, [a3], ->T<256B>
    """
    places = (*range(16), 3, 6, 8, 13)
    yield Trap(
        "released in odd order", text, registers={"a2": OUTPUT, "a3": 0x5A}, expected={OUTPUT: b"\x5a"},
        bases=tuple(place * part for place in places), fault=Rule.CAPACITY,
    )  # fmt: skip


def all_traps(config: CoreConfig) -> list[Trap]:
    """Return every trap for the tile RAM and the lines of a configuration."""
    return [
        *loads(), *reductions(config), *element_wise(), *stores(), *empty_shapes(), *full_tile_ram(config),
    ]  # fmt: skip


def test_programs_that_have_been_traps_give_what_the_formulas_say() -> None:
    config = PRESETS["default"]
    run_and_check(all_traps(config), config, PACES, name="traps")


def test_random_registers_and_memories_at_power_up_change_nothing() -> None:
    config = PRESETS["default"]
    run_and_check(all_traps(config), config, [STALLED], name="power_up", power_up=1)


def test_the_smallest_tile_ram_keeps_its_tiles_apart() -> None:
    config = CoreConfig(
        name="smallest", tile_ram_bytes=1024, tile_max_bytes=1024, vector_bytes=8, axi_data_bytes=8, banks=2,
        blocks_in_flight=2, reads_outstanding=2, register_log=32,
    )  # fmt: skip
    values = {"a4": 0x11, "a5": 0x22, "a6": 0x33, "a7": 0x44}
    outputs = {f"a{number}": OUTPUT + number * 0x100 for number in range(4)}
    text = "".join(f"TEXPANDS <256, 1, U8>, [{name}], ->T<256B>\n" for name in values)
    text += "".join(f"TSTORE.NORM <256, 1, U8>, T#{4 - place}, [a{place}]\n" for place in range(4))
    expected = {address: bytes([value]) * 256 for address, value in zip(outputs.values(), values.values(), strict=True)}
    trap = Trap("four tiles", text, {}, {**values, **outputs}, expected, bases=(0, 256, 512, 768))
    run_and_check([trap], config, [FAST], name="smallest", simulator="icarus")
