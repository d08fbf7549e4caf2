"""Random legal programs: every supported operation and type, odd shapes, reuse, odd addresses, several tiles in flight."""

import random
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from linxtile.config import CoreConfig
from linxtile.isa.codes import MAX_DESTINATIONS, PadValue, Queue, size_bytes, size_code
from linxtile.isa.operation import Operation, Shape
from linxtile.isa.operations import operation
from linxtile.isa.types import DataType, data_type
from linxtile.stored_tile import StoredTile

from .builder import Builder
from .move_programs import append_move
from .move_traits import random_traits
from .moves import INPUT_BASE, OUTPUT_BASE, REGION_BYTES, SIZES, Move, make_move
from .scenario import Scenario

__all__ = [
    "INPUT_BASE",
    "OUTPUT_BASE",
    "PROGRAM_BASE",
    "REGION_BYTES",
    "combinations",
    "data_regions",
    "random_program",
]

PROGRAM_BASE = 0x1000
PROGRAMS_A_MEMORY = 50
SCALAR_REGISTER = 6


def combinations(config: CoreConfig) -> list[tuple[str, str]]:
    """Return every (operation, type) that the configuration runs."""
    return [(name, type_name) for name, types in sorted(config.operations.items()) for type_name in sorted(types)]


def interesting(rng: random.Random, count: int) -> bytes:
    """Return bytes in which extreme integers, infinities, NaNs, subnormals and equal neighbours are frequent."""
    pieces: list[bytes] = []
    total = 0
    while total < count:
        kind = rng.randrange(6)
        if kind == 0:
            piece = rng.choice([b"\x00", b"\xff", b"\x80", b"\x7f"]) * rng.choice([1, 2, 4, 8])
        elif kind == 1:
            code = rng.choice([0x7C00, 0xFC00, 0x7E00, 0x7C01, 0x0001, 0x8000, 0x7BFF, 0x03FF, 0x3C00, 0xBC00])
            piece = code.to_bytes(2, "little") * rng.choice([1, 2, 4])
        elif kind == 2:
            code = rng.choice([0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001, 1, 0x80000000, 0x7F7FFFFF, 0x3F800000])
            piece = code.to_bytes(4, "little")
        else:
            piece = rng.randbytes(rng.choice([4, 8, 16]))
        pieces.append(piece)
        total += len(piece)
    return b"".join(pieces)[:count]


@lru_cache(maxsize=2)
def data_regions(number: int) -> dict[int, bytes]:
    """Return input and output region number ``number``; programs share them, for filling a simulated memory takes time."""
    rng = random.Random(number)
    return {INPUT_BASE: interesting(rng, REGION_BYTES), OUTPUT_BASE: rng.randbytes(REGION_BYTES)}


def random_program(
    seed: int, config: CoreConfig, *, blocks: int = 12, wanted: Iterable[tuple[str, str]] = (), largest: int = 2048
) -> Scenario:
    """Return a legal program of at least ``blocks`` tile blocks.

    Parameters
    ----------
    wanted : iterable of (operation, type)
        Combinations that have to be among the blocks; the others are drawn at random.
    largest : int
        Largest tile in bytes.
    """
    rng = random.Random(seed)
    builder = Builder(config, rng)
    everything = combinations(config)
    builder.set_registers(dict.fromkeys(range(8, 12), 0) | {number: rng.getrandbits(64) for number in range(12, 15)})
    for queue in Queue:
        _append(builder, operation("TLOAD"), data_type(rng.choice(["FP32", "FP16", "S8", "S64"])), largest, queue)
    todo = list(wanted)
    while len(todo) < blocks:
        todo.append(rng.choice(everything))
    rng.shuffle(todo)
    for name, type_name in todo:
        _append(builder, operation(name), data_type(type_name), largest, rng.choice(list(Queue)))
    memory = data_regions(seed // PROGRAMS_A_MEMORY)
    registers = {number: rng.getrandbits(64) for number in range(1, 24)}
    return Scenario(f"program {seed}", builder.image(), PROGRAM_BASE, registers, memory)


def _append(builder: Builder, row: Operation, element: DataType, largest: int, queue: Queue) -> None:
    """Append one block of an operation, with a load first when there is too little to read."""
    needed = row.min_sources
    if row.name == "TLOAD" or len(builder.live()) < max(needed, 2):
        _append_load(builder, element, largest, queue)
        if row.name == "TLOAD":
            return
    live = builder.live()
    sources = [builder.rng.choice(live) for _ in range(needed)]
    if row.name == "TSTORE":
        _append_store(builder, element, sources[0])
    elif row.name == "TMOV":
        _append_copy(builder, element, largest, queue, sources[0])
    else:
        _append_vector(builder, row, element, largest, queue, sources)


def _shape(builder: Builder, element: DataType, size: int) -> tuple[int, int, int]:
    """Return (valid columns, valid rows, columns) that fit a tile of ``size`` bytes."""
    rng = builder.rng
    elements = size * 8 // element.storage_bits
    columns = min(
        rng.choice([1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 64, rng.randint(1, 300), elements]), elements
    )
    if element.is_packed:
        columns = max(columns & ~1, 2)
    rows = elements // columns
    valid_columns = rng.choice([columns, columns, rng.randint(1, columns)])
    return valid_columns, rng.choice([rows, rng.randint(1, rows), min(rows, rng.randint(1, 9))]), columns


def _free_size(builder: Builder, smallest: int, largest: int) -> int | None:
    """Return a random size of at least ``smallest`` bytes for which there is room; None when there is none."""
    code = size_code(max(builder.config.tile_min_bytes, 1 << (smallest - 1).bit_length()))
    sizes = [size_bytes(code + more) for more in range(3)]
    fitting = [size for size in sizes if size <= max(largest, sizes[0]) and builder.has_room(size)]
    return builder.rng.choice(fitting) if fitting else None


def _append_vector(
    builder: Builder,
    row: Operation,
    element: DataType,
    largest: int,
    queue: Queue,
    sources: list[tuple[Queue, int, StoredTile]],
) -> None:
    rng = builder.rng
    bits = element.storage_bits
    vector_at = {Shape.ROW_EXPAND: 0, Shape.ROW_EXPAND_OP: 1}.get(row.shape)
    matrices = [tile.size for place, (_, _, tile) in enumerate(sources) if place != vector_at]
    valid_columns, valid_rows, columns = _shape(builder, element, min([*matrices, largest]))
    if vector_at is not None:
        valid_rows = min(valid_rows, sources[vector_at][2].size * 8 // bits)
    needed = valid_rows * bits // 8 if row.shape is Shape.ROW_REDUCE else valid_rows * columns * bits // 8
    size = _free_size(builder, needed, largest)
    if size is None:
        _append_store(builder, element, rng.choice(builder.live()), keep=False)
        return
    scalar = row.min_scalars > 0
    if scalar and rng.random() < 0.3:
        builder.set_registers({SCALAR_REGISTER: int.from_bytes(interesting(rng, 8), "little")})
    builder.word("BSTART.TEPL", data_type=element.code, mode=row.mode, function=row.function)
    builder.attributes(rng.choice(list(PadValue)))
    builder.dimensions(valid_columns, valid_rows, columns)
    if scalar:
        builder.word("B.IOR", source0=rng.choice([SCALAR_REGISTER, 12, 13, 14, rng.randint(15, 23)]))
    builder.tiles([(q, i, rng.random() < 0.6) for q, i, _ in sources], [(queue, size)])


def _some_move(builder: Builder, name: str, element: DataType, sizes: Sequence[int], tiles: int, **more: Any) -> Move:
    """Return a random legal move of at most so many tiles of one of these sizes."""
    rng = builder.rng
    for _ in range(100):
        traits = random_traits(rng, name, builder.config)
        if traits.tiles > tiles:
            traits = traits._replace(tiles=tiles)
        move = make_move(rng, name, element, traits, sizes=sizes, **more)
        if move is not None:
            return move
    raise ValueError(f"no {name} of {element.name} fits tiles of {sizes} bytes")


def _make_room(builder: Builder, sizes: Sequence[int]) -> list[int]:
    """Return the sizes for which there is room, after stores that release tiles when there is none."""
    while not (fitting := [size for size in sizes if builder.has_room(size)]):
        _append_store(builder, data_type("U8"), builder.rng.choice(builder.live()), keep=False)
    return fitting


def _append_load(builder: Builder, element: DataType, largest: int, queue: Queue) -> None:
    """Append a load to ``queue`` and others."""
    sizes = _make_room(builder, [size for size in SIZES if size <= largest])
    most = max(tiles for tiles in range(1, MAX_DESTINATIONS + 1) if builder.has_room(max(sizes), tiles))
    move = _some_move(builder, "TLOAD", element, sizes, most)
    append_move(builder, move, [], [queue, *(builder.rng.choice(list(Queue)) for _ in range(move.tiles - 1))])


def _append_store(
    builder: Builder, element: DataType, source: tuple[Queue, int, StoredTile], *, keep: bool = True
) -> None:
    """Append a store of ``source`` and perhaps of others of its size, which are released unless some are to be kept."""
    rng = builder.rng
    same = [tile for tile in builder.live() if tile[2].size == source[2].size and tile[2] is not source[2]]
    move = _some_move(builder, "TSTORE", element, [source[2].size], len(same) + 1)
    stored = [source, *rng.sample(same, move.tiles - 1)]
    append_move(builder, move, [(queue, index, keep and rng.random() < 0.7) for queue, index, _ in stored], [])


def _append_copy(
    builder: Builder, element: DataType, largest: int, queue: Queue, source: tuple[Queue, int, StoredTile]
) -> None:
    """Append a move from tile to tile."""
    fitting = [size for size in SIZES if size <= largest and builder.has_room(size)]
    if not fitting:
        _append_store(builder, element, source, keep=False)
        return
    move = _some_move(builder, "TMOV", element, [source[2].size], 1, destinations=fitting)
    append_move(builder, move, [(source[0], source[1], builder.rng.random() < 0.7)], [queue])
