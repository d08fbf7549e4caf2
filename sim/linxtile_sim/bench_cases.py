"""What is measured: programs, and the bound of each figure with its formula.

One block is measured on an idle core: from the cycle in which the word that closes it was accepted to the cycle in which its
record is valid. N is the number of tile lines that the block reads or writes, the larger; L the memory latency.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

from linxtile.asm import assemble
from linxtile.config import CoreConfig
from linxtile.isa.types import data_type

from .lockstep import Report
from .programs import INPUT_BASE, OUTPUT_BASE, PROGRAM_BASE
from .scenario import Pace, Scenario

__all__ = ["QUIET", "TILE", "Case", "cases", "program"]

TILE = 4096
QUIET = ".word 0x00001033\n" * 1200
"""Words without effect before a block that is to meet an idle core: more than any block before it takes."""

LATENCIES = (1, 10, 50)


@dataclass(frozen=True)
class Case:
    """One figure: ``cycles`` of a report must not exceed ``bound``, a number or itself measured; ``formula`` says what it is."""

    name: str
    scenario: Scenario
    formula: str
    bound: float | Callable[[Report], float]
    cycles: Callable[[Report], float]


def cases(config: CoreConfig) -> Iterator[Case]:
    """Return every case for a configuration."""
    yield from _single_vector(config)
    yield from _streams(config)
    yield from _loads(config)
    yield from _cell_loads(config)
    yield from _turned_loads(config)
    yield from _stores(config)
    yield from _cell_stores(config)
    for size in (16384, TILE):
        yield _normalise(config, size)


def program(name: str, text: str, latency: int = 10) -> Scenario:
    """Return a program with data at ``INPUT_BASE``."""
    image = assemble(text, file=name, address=PROGRAM_BASE).image
    content = bytes((7 * index + index // 251) % 256 for index in range(0x8000))
    return Scenario(name, image, PROGRAM_BASE, memory={INPUT_BASE: content, OUTPUT_BASE: b"\0"}, pace=Pace(latency))


def _load(name: str, columns: int, rows: int, size: int, queue: str) -> str:
    return f"TLOAD <LB0:{columns}, LB1:{rows}, {name}>, [a0], ->{queue}<{size}B>\n"


def _filled(name: str, columns: int, rows: int) -> str:
    """Return the text that puts operands into T#1, U#1 and a row vector into N#1."""
    size = TILE
    return (
        f"li a0, {INPUT_BASE}\n"
        + _load(name, columns, rows, size, "T")
        + _load(name, columns, rows, size, "U")
        + _load(name, 1, rows, size, "N")
    )


def _one(report: Report) -> float:
    """Return the cycles of the last block."""
    return report.retired_at[-1] - report.closed_at[-1]


def _shape(name: str, columns: int | None = None) -> tuple[int, int]:
    """Return columns and rows that fill a tile; 64-byte rows when no width is given."""
    element = data_type(name).storage_bits // 8
    columns = columns or 64 // element
    return columns, TILE // (columns * element)


def _single_vector(config: CoreConfig) -> Iterator[Case]:
    lines = TILE // config.vector_bytes
    arithmetic = ("S64", "U64", "S32", "U32", "FP32", "S16", "U16", "FP16", "S8", "U8")
    for operation in ("TADD", "TMAX"):
        for name in arithmetic:
            columns, rows = _shape(name)
            block = f"{operation} <LB0:{columns}, LB1:{rows}, {name}>, T#1, U#1, ->M<{TILE}B>\n"
            scenario = program(f"{operation} {name}", _filled(name, columns, rows) + QUIET + block)
            yield Case(scenario.name, scenario, "N + 24", lines + 24, _one)
    for operation in ("TROWSUM", "TROWMAX"):
        for name, width in (("FP32", None), ("FP32", 1024), ("FP16", None), ("S8", None), ("S8", 4096), ("S64", None)):
            columns, rows = _shape(name, width)
            block = f"{operation} <LB0:{columns}, LB1:{rows}, {name}>, T#1, ->M<{TILE}B>\n"
            scenario = program(f"{operation} {name} {rows}x{columns}", _filled(name, columns, rows) + QUIET + block)
            yield Case(scenario.name, scenario, "N + 64", lines + 64, _one)
    for name in ("FP32", "FP16", "S8"):
        columns, rows = _shape(name)
        block = f"TROWEXPANDSUB <LB0:{columns}, LB1:{rows}, {name}>, T#1, N#1, ->M<{TILE}B>\n"
        scenario = program(f"TROWEXPANDSUB {name}", _filled(name, columns, rows) + QUIET + block)
        yield Case(scenario.name, scenario, "N + 28", lines + 28, _one)


def _streams(config: CoreConfig) -> Iterator[Case]:
    blocks = 64

    def each(report: Report) -> float:
        return (report.retired_at[-1] - report.retired_at[-blocks]) / (blocks - 1)

    lines = TILE // config.vector_bytes
    for operation, name in (("TADD", "FP32"), ("TADD", "S8"), ("TMAX", "FP16"), ("TADD", "S64")):
        columns, rows = _shape(name)
        block = f"{operation} <LB0:{columns}, LB1:{rows}, {name}>, T#1.reuse, U#1.reuse, ->M<{TILE}B>\n"
        scenario = program(
            f"{operation} {name}, {blocks} blocks, each", _filled(name, columns, rows) + QUIET + block * blocks
        )
        yield Case(scenario.name, scenario, "1.05 N", 1.05 * lines, each)
    short = 16 * config.vector_bytes
    columns, rows = 4, short // 16
    block = f"TADDS <LB0:{columns}, LB1:{rows}, LB2:{columns}, FP32, Zero>, T#1.reuse, [a0], ->M<{short}B>\n"
    name = f"TADDS FP32, N = 16, 7-word headers, {blocks} blocks, each"
    scenario = program(name, _filled("FP32", columns, rows) + QUIET + block * blocks)
    yield Case(scenario.name, scenario, "N (no bubble)", 16, each)


def _beats(config: CoreConfig, base: int, stride: int, row_bytes: int, rows: int, pitch_bytes: int) -> int:
    """Return the beats that hold needed bytes, row by row; rows without a gap here and in the tile are one row."""
    if stride == row_bytes == pitch_bytes:
        row_bytes, rows = row_bytes * rows, 1
    width = config.axi_data_bytes
    starts = (base + row * stride for row in range(rows))
    return sum((start + row_bytes - 1) // width - start // width + 1 for start in starts)


MOVES: tuple[tuple[str, int, int, int, int, int], ...] = (
    # what, base offset, stride, valid columns, valid rows, columns (of U8)
    ("contiguous", 0, 64, 64, 64, 64),
    ("contiguous, odd base", 5, 64, 64, 64, 64),
    ("rows apart", 0, 80, 64, 64, 64),
    ("odd base and stride", 3, 77, 64, 64, 64),
    ("16-byte rows", 0, 32, 16, 256, 16),
    ("16-byte rows, odd", 7, 37, 16, 256, 16),
    ("padded rows", 0, 48, 40, 64, 64),
    ("half the rows", 1, 75, 64, 32, 64),
)


CELL_MOVES: tuple[tuple[str, str, str, int, int, int, int, int], ...] = (
    # what, layout, type, base offset, stride, valid columns, valid rows, columns
    ("NZ contiguous, odd base", "ND2NZ", "U8", 5, 64, 64, 64, 64),
    ("NZ rows apart, odd", "ND2NZ", "U8", 3, 77, 64, 64, 64),
    ("NZ padded rows", "ND2NZ", "U8", 0, 48, 40, 64, 64),
    ("NZ 8-byte rows, odd", "ND2NZ", "U8", 7, 37, 8, 128, 32),
    ("ZN columns apart", "DN2ZN", "U8", 0, 80, 64, 64, 64),
    ("ZN half the columns, odd", "DN2ZN", "U8", 1, 75, 32, 40, 64),
    ("ZN with a tail", "DN2ZN", "U64", 4, 40, 112, 4, 112),
)


def _cell_loads(config: CoreConfig) -> Iterator[Case]:
    lines = TILE // config.vector_bytes
    for what, layout, name, offset, stride, valid_columns, valid_rows, columns in CELL_MOVES:
        if layout not in config.move_layouts:
            continue
        rows = TILE * 8 // (columns * data_type(name).storage_bits)
        lengths = ((valid_columns, columns), (valid_rows, rows))
        (count, _), (valid, physical) = lengths if layout == "DN2ZN" else lengths[::-1]
        element = data_type(name).storage_bits // 8
        beats = _beats(config, INPUT_BASE + offset, stride, valid * element, count, physical * element)
        for latency in LATENCIES:
            text = f"li a0, {INPUT_BASE + offset}\nli a1, {stride}\n{QUIET}" + (
                f"TLOAD.{layout} <LB0:{valid_columns}, LB1:{valid_rows}, LB2:{columns}, {name}, Max>, [a0, a1], ->T<{TILE}B>\n"
            )
            scenario = program(f"TLOAD {what}, L = {latency}", text, latency)
            yield Case(scenario.name, scenario, "max(beats, lines) + L + 16", max(beats, lines) + latency + 16, _one)


TURNED_TYPES = ("U4x2", "U8", "U16", "U32", "U64")
TURNED_MOVES: tuple[tuple[str, int, int, int, int, int], ...] = (
    # what, base offset, bytes from the end of a line of memory to the next, elements in such a line, valid ones, lines left out
    ("aligned", 0, 0, 64, 64, 0),
    ("odd base", 5, 0, 64, 64, 0),
    ("odd base and stride", 3, 13, 64, 64, 0),
    ("all but one", 1, 1, 64, 63, 0),
    ("short lines", 0, 16, 16, 16, 0),
    ("short lines, odd", 7, 21, 16, 13, 3),
)


def _turned_loads(config: CoreConfig) -> Iterator[Case]:
    """Return loads in which a cell of 32 bytes lies across the lines of memory."""
    lines = TILE // config.vector_bytes
    for layout in ("ND2ZN", "DN2NZ"):
        if layout not in config.move_layouts:
            continue
        for name in TURNED_TYPES:
            half_bytes = data_type(name).storage_bits // 4
            for what, offset, gap, length, valid, left_out in TURNED_MOVES:
                count = 2 * TILE // (length * half_bytes)
                line_bytes = (valid * half_bytes + 1) // 2
                shape = (valid, count - left_out, length) if layout == "ND2ZN" else (count - left_out, valid, count)
                size = "LB0:{}, LB1:{}, LB2:{}".format(*shape)
                stride = line_bytes + gap
                beats = _beats(config, INPUT_BASE + offset, stride, line_bytes, count - left_out, 0)
                square = 64 // half_bytes
                for latency in LATENCIES:
                    text = f"li a0, {INPUT_BASE + offset}\nli a1, {stride}\n{QUIET}" + (
                        f"TLOAD.{layout} <{size}, {name}, Max>, [a0, a1], ->T<{TILE}B>\n"
                    )
                    scenario = program(f"TLOAD {layout} {name} {what}, L = {latency}", text, latency)
                    bound = max(beats, lines) + latency + 16 + square
                    yield Case(scenario.name, scenario, "max(beats, lines) + L + 16 + 32/el", bound, _one)


def _loads(config: CoreConfig) -> Iterator[Case]:
    lines = TILE // config.vector_bytes
    for what, offset, stride, valid, rows, columns in MOVES:
        for latency in LATENCIES:
            text = f"li a0, {INPUT_BASE + offset}\nli a1, {stride}\n{QUIET}" + (
                f"TLOAD <LB0:{valid}, LB1:{rows}, LB2:{columns}, U8, Max>, [a0, a1], ->T<{TILE}B>\n"
            )
            scenario = program(f"TLOAD {what}, L = {latency}", text, latency)
            beats = _beats(config, INPUT_BASE + offset, stride, valid, rows, columns)
            yield Case(scenario.name, scenario, "max(beats, lines) + L + 16", max(beats, lines) + latency + 16, _one)


def _stores(config: CoreConfig) -> Iterator[Case]:
    width = config.vector_bytes
    for what, offset, stride, valid, rows, columns in MOVES:
        for latency in LATENCIES:
            text = (
                f"li a0, {INPUT_BASE}\nli a1, {stride}\nli a2, {OUTPUT_BASE + offset}\n"
                f"TLOAD <LB0:64, LB1:64, U8>, [a0], ->T<{TILE}B>\n{QUIET}"
                f"TSTORE <LB0:{valid}, LB1:{rows}, LB2:{columns}, U8>, T#1, [a2, a1]\n"
            )
            scenario = program(f"TSTORE {what}, L = {latency}", text, latency)
            beats = _beats(config, OUTPUT_BASE + offset, stride, valid, rows, columns)
            read = sum((row * columns + valid - 1) // width - row * columns // width + 1 for row in range(rows))
            read = beats if valid == columns else read
            yield Case(
                scenario.name, scenario, "max(beats, lines read) + L + 24", max(beats, read) + latency + 24, _one
            )


STORES_OF_CELLS: tuple[tuple[str, str, str, int, int, int, int, int], ...] = (
    # what, layout, type, base offset, bytes from row to row of memory, valid columns, valid rows, columns
    ("contiguous, odd base", "NZ2ND", "U8", 5, 64, 64, 64, 64),
    ("rows apart", "NZ2ND", "U8", 0, 80, 64, 64, 64),
    ("half rows, odd", "NZ2ND", "U8", 3, 77, 40, 64, 64),
    ("contiguous, odd base", "ZN2DN", "U8", 5, 64, 64, 64, 64),
    ("columns apart", "ZN2DN", "U8", 0, 80, 64, 64, 64),
    ("half columns, odd", "ZN2DN", "U8", 3, 77, 64, 40, 64),
    *(
        (what, layout, name, offset, 64 + gap, columns, rows, columns)
        for what, offset, gap in (("apart", 0, 16), ("apart, odd", 3, 13))
        for layout, name, columns, rows in (
            ("ZN2ND", "U4x2", 128, 64), ("ZN2ND", "U8", 64, 64), ("ZN2ND", "U16", 32, 64), ("ZN2ND", "U32", 16, 64), ("ZN2ND", "U64", 16, 32),
            ("NZ2DN", "U4x2", 64, 128), ("NZ2DN", "U8", 64, 64), ("NZ2DN", "U16", 64, 32), ("NZ2DN", "U32", 64, 16), ("NZ2DN", "U64", 32, 16),
        )
        for gap in (gap + (64 if name == "U64" else 0),)
    ),
    ("half rows, odd", "ZN2ND", "U8", 3, 77, 32, 64, 64),
    ("half columns, odd", "NZ2DN", "U8", 3, 77, 64, 32, 64),
)  # fmt: skip


def _cell_stores(config: CoreConfig) -> Iterator[Case]:
    """Return stores of NZ and ZN tiles.

    Where cells lie across the rows of memory, the first beat needs a line of each of its elements. Of elements of a byte and
    less these are so many that there is a bound of their own.
    """
    for what, layout, name, offset, stride, columns, rows, pitch in STORES_OF_CELLS:
        if layout not in config.move_layouts:
            continue
        element = data_type(name).storage_bits / 8
        count, length = (columns, rows) if layout.endswith("DN") else (rows, columns)
        runs, run = (columns, rows) if layout.startswith("ZN") else (rows, columns)
        read = runs * ceil(run * element / config.vector_bytes)
        turned = layout in ("ZN2ND", "NZ2DN")
        physical = 0 if turned else int(pitch * element) if layout == "NZ2ND" else TILE // pitch
        beats = _beats(config, OUTPUT_BASE + offset, stride, int(length * element), count, physical)
        formula, extra = "max(beats, lines read) + L + 24", 24
        if turned and element <= 1:
            formula, extra = "max(beats, lines read) + L + 14 + line / element", 14 + int(config.vector_bytes / element)
        for latency in LATENCIES:
            text = (
                f"li a0, {INPUT_BASE}\nli a1, {stride}\nli a2, {OUTPUT_BASE + offset}\n"
                f"TLOAD <LB0:64, LB1:64, U8>, [a0], ->T<{TILE}B>\n{QUIET}"
                f"TSTORE.{layout} <LB0:{columns}, LB1:{rows}, LB2:{pitch}, {name}>, T#1, [a2, a1]\n"
            )
            scenario = program(f"TSTORE {layout} {name} {what}, L = {latency}", text, latency)
            yield Case(scenario.name, scenario, formula, max(beats, read) + latency + extra, _one)


def _normalise(config: CoreConfig, size: int) -> Case:
    """Return eight tiles of the first example, double buffered in the program.

    The load of the next tile stands before the work on this one, and the maxima of the next tile before the subtraction, so that
    no block waits for the one right before it.
    """
    tiles, columns = 8, 64
    rows = size // (columns * 4)
    shape = f"<LB0:{columns}, LB1:{rows}, FP32>"
    lines: list[str] = []

    def load(tile: int) -> None:
        lines.extend([f"li a0, {INPUT_BASE + tile * size % 0x7000}", f"TLOAD {shape}, [a0], ->T<{size}B>"])

    def maxima(newer: int) -> None:
        lines.append(f"TROWMAX {shape}, T#{1 + newer}.reuse, ->U<256B>")

    def subtract(tile: int, newer: int) -> None:
        lines.append(f"TROWEXPANDSUB {shape}, T#{1 + newer}, U#{1 + min(newer, 1)}, ->M<{size}B>")
        lines.extend([f"li a1, {OUTPUT_BASE + tile * size}", f"TSTORE {shape}, M#1, [a1]"])

    load(0)
    load(1)
    maxima(newer=1)
    for tile in range(tiles):
        left = tiles - 1 - tile
        if left > 1:
            load(tile + 2)
        if left:
            maxima(newer=min(left - 1, 1))
        subtract(tile, newer=min(left, 2))
    scenario = program(f"row_normalise, 8 tiles of {size} bytes, double buffered", "\n".join(lines) + "\n")
    busiest = tiles * 2 * size // config.vector_bytes

    def whole(report: Report) -> float:
        return report.retired_at[-1] - report.closed_at[0]

    return Case(scenario.name, scenario, "1.2 x vector engine alone", 1.2 * busiest, whole)
