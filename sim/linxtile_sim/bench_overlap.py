"""What is measured of blocks that run at the same time: two streams on the memory port, and pipelines over many tiles.

N is the number of tile lines, which is also that of beats, of one tile.
"""

from collections.abc import Callable, Iterator

from linxtile.config import CoreConfig
from linxtile_rtl.scheduler import ENGINES

from .bench_cases import QUIET, TILE, Case, program
from .lockstep import Report
from .programs import INPUT_BASE, OUTPUT_BASE

__all__ = ["overlap_cases"]

INPUT_BYTES = 0x8000
TILES = 12
STORE = ENGINES.index("store")


def overlap_cases(config: CoreConfig) -> Iterator[Case]:
    """Return every case for a configuration."""
    largest = min(4 * TILE, config.tile_max_bytes)
    yield from _two_streams(largest)
    for size in (largest, TILE):
        yield _pipeline(config, size, loads=1)
        yield _pipeline(config, size, loads=2)
    yield _columns(config)


def _two_streams(size: int) -> Iterator[Case]:
    """Return a load behind a store to other addresses, and each of them, against the same alone on an idle core."""
    shape = f"<LB0:64, LB1:{size // 64}, U8>"
    store, load = f"TSTORE {shape}, T#1.reuse, [a1]\n", f"TLOAD {shape}, [a0], ->U<{size}B>\n"
    text = f"li a0, {INPUT_BASE}\nli a1, {OUTPUT_BASE}\nTLOAD {shape}, [a0], ->T<{size}B>\n"
    scenario = program("two streams", text + QUIET + store + QUIET + load + QUIET + store + load)

    def span(place: int, scale: float = 1) -> Callable[[Report], float]:
        # From the closing of the header: a load that waits for the store takes longer, too.
        return lambda report: scale * (report.stages[place]["finished_at"] - report.closed_at[place])

    for what, both, alone in (("TSTORE", -2, -4), ("TLOAD", -1, -3)):
        name = f"{what} of {size} bytes, a load behind a store"
        yield Case(name, scenario, "alone / 0.8", span(alone, 1 / 0.8), span(both))


def _pipeline(config: CoreConfig, size: int, *, loads: int) -> Case:
    """Return load, TADD, store, a tile after the other; loads stand two tiles ahead of the work on their data."""
    shape = f"<LB0:64, LB1:{size // 256}, FP32>"
    queues = "TU"[:loads]
    lines: list[str] = []

    def load(tile: int) -> None:
        for number, queue in enumerate(queues):
            place = INPUT_BASE + (tile * size + number * size // 2) % (INPUT_BYTES - size + 1) // 64 * 64
            lines.extend([f"li a0, {place}", f"TLOAD {shape}, [a0], ->{queue}<{size}B>"])

    load(0)
    load(1)
    for tile in range(TILES):
        if tile + 2 < TILES:
            load(tile + 2)
        sources = ", ".join(f"{queue}#{1 + min(TILES - 1 - tile, 2)}" for queue in (queues * 2)[:2])
        lines.extend([f"TADD {shape}, {sources}, ->M<{size}B>", f"li a1, {OUTPUT_BASE + tile * size}"])
        lines.append(f"TSTORE {shape}, M#1, [a1]")
    name = f"load, TADD, store: {TILES} tiles of {size} bytes, {loads} to load, each"
    ideal = loads * size // config.vector_bytes
    return Case(name, program(name, "\n".join(lines) + "\n"), f"{loads} N / 0.9", ideal / 0.9, _between_stores)


def _columns(config: CoreConfig) -> Case:
    """Return a matrix that is doubled in place, a column of tiles of 64 x 64 bytes after the other, loads two tiles ahead."""
    tiles = INPUT_BYTES // TILE
    shape = "<LB0:16, LB1:64, FP32>"
    lines = [f"li a2, {64 * tiles}"]

    def load(tile: int) -> None:
        lines.extend([f"li a0, {INPUT_BASE + 64 * tile}", f"TLOAD {shape}, [a0, a2], ->T<{TILE}B>"])

    load(0)
    load(1)
    for tile in range(tiles):
        if tile + 2 < tiles:
            load(tile + 2)
        source = f"T#{1 + min(tiles - 1 - tile, 2)}"
        lines.extend([f"TADD {shape}, {source}, {source}, ->M<{TILE}B>", f"li a1, {INPUT_BASE + 64 * tile}"])
        lines.append(f"TSTORE {shape}, M#1, [a1, a2]")
    name = f"{tiles} tiles side by side in a matrix, in place, each"
    return Case(
        name, program(name, "\n".join(lines) + "\n"), "1 N / 0.9", TILE / config.vector_bytes / 0.9, _between_stores
    )


def _between_stores(report: Report) -> float:
    """Return the cycles from one store to the next, without the first and last ones."""
    ends = [stages["finished_at"] for stages in report.stages if stages["engine"] == STORE]
    return (ends[-3] - ends[1]) / (len(ends) - 4)
