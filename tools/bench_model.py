"""Times the golden model against numpy and ml_dtypes on the same arrays, and a block of the machine: ``make bench``.

Every figure is a ratio of two times of this run, taken in turns, so that it says little about the machine it ran on.
Arrays are 1 MiB of ordinary values; status flags are not asked for. Exit code 1 if a figure misses its bound.
"""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import ml_dtypes
import numpy as np
import numpy.typing as npt

from linxtile import Machine, Tile, formats, ops
from linxtile.asm import assemble
from linxtile.isa.operations import OPERATIONS, Operation, Shape, operation
from linxtile.numerics import arithmetic

BYTES = 1 << 20
ROUNDS = 15
SEED = 1
SLOWEST = 5e6
BLOCKS = 400
NATIVE = {
    "FP64": np.float64, "FP32": np.float32, "FP16": np.float16, "BF16": ml_dtypes.bfloat16,
    "E4M3": ml_dtypes.float8_e4m3fn, "E5M2": ml_dtypes.float8_e5m2, "S64": np.int64, "S32": np.int32, "S16": np.int16,
    "S8": np.int8, "U64": np.uint64, "U32": np.uint32, "U16": np.uint16, "U8": np.uint8,
}  # fmt: skip
ARGUMENTS = {
    Shape.ELEMENTWISE: "tiles scalar", Shape.MASK_RESULT: "tiles scalar mode", Shape.SCALAR_EXPAND: "scalar type shape",
    Shape.ROW_REDUCE: "first", Shape.COLUMN_REDUCE: "first", Shape.ROW_EXPAND: "column columns",
    Shape.COLUMN_EXPAND: "row rows", Shape.ROW_EXPAND_OP: "first column", Shape.COLUMN_EXPAND_OP: "first row",
}  # fmt: skip
BINARY = {
    "TADD": np.add,
    "TSUB": np.subtract,
    "TMUL": np.multiply,
    "TDIV": np.divide,
    "TMAX": np.maximum,
    "TMIN": np.minimum,
}


@dataclass(frozen=True)
class Figure:
    """One line of the report: what was measured, its value and bound, and whether more is better."""

    what: str
    value: float
    bound: float
    unit: str
    at_least: bool = True

    @property
    def holds(self) -> bool:
        """Whether the bound is met."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def __str__(self) -> str:
        relation = ">=" if self.at_least else "<="
        verdict = "ok  " if self.holds else "MISS"
        return f"{self.value:10.2f}  {relation} {self.bound:6.2f} {self.unit:12} {verdict}  {self.what}"


def seconds(function: Callable[[], object]) -> float:
    """Return the time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def fastest(*functions: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Return the shortest time of each function, called in turns."""
    for function in functions:
        function()
    times = [[seconds(function) for function in functions] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def shape(name: str) -> tuple[int, int]:
    """Return rows and columns of an array of 1 MiB."""
    return BYTES * 8 // formats.get(name).storage_bits // 1024, 1024


def tile(name: str, seed: int = SEED, low: float = -4.0, high: float = 4.0) -> Tile:
    """Return ordinary values of a type: uniform floats, integers of the whole range."""
    rng, row = np.random.default_rng(seed), formats.get(name)
    if row.is_integer:
        return Tile(rng.integers(0, row.storage_mask, shape(name), np.uint64, endpoint=True), row)
    return Tile.from_values(rng.uniform(low, high, shape(name)), row)


def native(source: Tile) -> npt.NDArray[np.generic]:
    """Return the array of the library type with the same bits."""
    return source.array()


def binary_figures() -> Iterator[Figure]:
    """Binary operations against the bare operation of the library."""
    plain = ("FP32", "FP64", "S64", "S32", "S16", "S8", "U64", "U32", "U16", "U8")
    rows = [(name, kind, 0.5, "numpy") for name in ("TADD", "TMUL", "TMAX") for kind in plain]
    rows += [(name, "FP16", 1.0, "numpy") for name in ("TADD", "TMUL", "TMAX")]
    rows += [(name, "BF16", 0.6, "ml_dtypes") for name in ("TADD", "TMUL", "TMAX")]
    rows += [(name, kind, 4.0, "ml_dtypes") for name in BINARY for kind in ("E4M3", "E5M2")]
    for name, kind, bound, library in rows:
        first, second = tile(kind, 1), tile(kind, 2)
        left, right = native(first), native(second)
        function, bare = getattr(ops, name), BINARY[name]
        with np.errstate(all="ignore"):
            ours, theirs = fastest(partial(function, first, second), partial(bare, left, right))
        yield Figure(f"{name} {kind}", theirs / ours, bound, f"x {library}")


def function_figures() -> Iterator[Figure]:
    """Exponentials against numpy's float64 exponential of the same values, the row sum against numpy's."""
    for kind, bound in (("FP32", 0.25), ("FP16", 0.5), ("BF16", 0.5)):
        source = tile(kind, low=-8.0, high=8.0)
        values = source.values()
        ours, theirs = fastest(partial(ops.TEXP, source), partial(np.exp, values))
        yield Figure(f"TEXP {kind}", theirs / ours, bound, "x np.exp f64")
    source = tile("FP32")
    array = native(source)
    ours, theirs = fastest(partial(ops.TROWSUM, source), partial(np.sum, array, axis=1))
    yield Figure("TROWSUM FP32", theirs / ours, 0.2, "x np.sum")


def load_loops(memory: bytes, rows: int, columns: int, bytes_each: int, layout: str) -> bytearray:
    """Load by the loops of the manual's pseudo-code: an address and an offset for each element."""
    image, band = bytearray(rows * columns * bytes_each), 32 // bytes_each
    by_column, order = layout.startswith("DN"), layout[3:] or "ND"
    for i in range(rows):
        for j in range(columns):
            address = (j * rows + i if by_column else i * columns + j) * bytes_each
            if order == "NZ":
                offset = (j // band) * rows * band + i * band + j % band
            elif order == "ZN":
                offset = (i // band) * columns * band + j * band + i % band
            else:
                offset = i * columns + j
            image[offset * bytes_each : (offset + 1) * bytes_each] = memory[address : address + bytes_each]
    return image


def load_figures() -> Iterator[Figure]:
    """Loads against the loops of the manual in plain Python."""
    memory = np.random.default_rng(SEED).integers(0, 256, BYTES, np.uint8).tobytes()
    for layout in operation("TLOAD").layouts or ():
        name = "" if layout.name == "NORM" else layout.name
        loops = seconds(partial(load_loops, memory, *shape("FP32"), 4, name))
        (ours,) = fastest(partial(ops.TLOAD, memory, "FP32", shape("FP32"), layout=layout))
        yield Figure(f"TLOAD {layout.name}", loops / ours, 200.0, "x loops")


def calls() -> Iterator[tuple[str, Callable[[], object], int]]:
    """Return every operation that computes, on every type: a name, a call, and the elements that it works on."""
    for row in OPERATIONS:
        function = getattr(ops, row.name, None)
        for kind in row.source_types or ():
            rows, columns = shape(kind)
            if row.shape is Shape.CONVERT:
                for target in formats.NAMES:
                    yield f"{row.name} {kind} to {target}", partial(ops.TCVT, tile(kind), target), rows * columns
            elif function is not None and row.shape in ARGUMENTS:
                yield f"{row.name} {kind}", partial(function, *arguments(row, kind)), rows * columns


def arguments(row: Operation, kind: str) -> list[object]:
    """Return the operands of a call by their kinds in `ARGUMENTS`."""
    tiles = [tile(kind, seed) for seed in range(row.max_sources or 1)]
    scalar = Tile(tiles[0].codes[:1, :1], kind)
    ready: dict[str, list[object]] = {
        "tiles": [*tiles], "first": [tiles[0]], "scalar": [scalar] * row.max_scalars, "mode": ["LT"], "type": [kind],
        "shape": [tiles[0].shape], "column": [Tile(tiles[-1].codes[:, :1], kind)], "row": [Tile(tiles[-1].codes[:1], kind)],
        "rows": [tiles[0].shape[0]], "columns": [tiles[0].shape[1]],
    }  # fmt: skip
    return [value for name in ARGUMENTS[row.shape].split() for value in ready[name]]


def speed_figures() -> Iterator[Figure]:
    """The slowest calls of all, in million elements a second."""
    speeds = []
    for what, call, count in calls():
        (best,) = fastest(call, rounds=3)
        speeds.append((count / best / 1e6, what))
    speeds.sort()
    shown = [entry for entry in speeds if entry[0] * 1e6 < SLOWEST] or speeds[:5]
    for speed, what in shown:
        yield Figure(f"{what} (of {len(speeds)} calls)", speed, SLOWEST / 1e6, "M elements/s")


def block_figures() -> Iterator[Figure]:
    """A block of the machine that adds tiles of 4 KiB: the addition with its flags, and all that is around it."""
    block = "TADD <64, 16, FP32>, T#1.reuse, T#2.reuse, ->U<4KB>"
    loads = "TLOAD <64, 16, FP32>, [a0], ->T<4KB>"
    machine = Machine()
    machine.load(assemble("\n".join(["li a0, 0x100000", loads, loads, *[block] * BLOCKS])).image)

    def run() -> None:
        machine.clear()
        machine.run()

    codes = np.zeros((16, 64), np.uint32)
    (addition,) = fastest(partial(arithmetic(formats.get("FP32")).add, codes, codes), rounds=1000)
    (whole,) = fastest(run)
    yield Figure("TADD FP32 of 4 KiB", addition * 1e6, 15.0, "us", at_least=False)
    yield Figure(
        "the block of Machine.run around it", whole / BLOCKS * 1e6 - addition * 1e6, 60.0, "us", at_least=False
    )


def main() -> int:
    """Print all figures."""
    figures = []
    for group in (block_figures, binary_figures, function_figures, load_figures, speed_figures):
        for figure in group():
            print(figure, flush=True)
            figures.append(figure)
    missed = sum(not figure.holds for figure in figures)
    print(f"{len(figures)} figures, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
