"""Random legal programs: every supported operation and type, odd shapes, reuse, odd addresses, several tiles in flight."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

import numpy as np

from linxtile.allocator import Allocator
from linxtile.config import CoreConfig
from linxtile.isa.codes import Destination, Layout, PadValue, Queue, SourceForm, size_bytes, size_code, source_code
from linxtile.isa.operation import Operation, Shape
from linxtile.isa.operations import operation
from linxtile.isa.setup import load_immediate
from linxtile.isa.types import NO_TYPE, DataType, data_type
from linxtile.isa.words import encode_word
from linxtile.operations.layout import is_fractal, tile_layout
from linxtile.queues import TileQueues
from linxtile.stored_tile import StoredTile, matrix_rows

from .scenario import Scenario

__all__ = ["INPUT_BASE", "OUTPUT_BASE", "REGION_BYTES", "Builder", "combinations", "random_program"]

INPUT_BASE = 0x2_0000
OUTPUT_BASE = 0x4_0000
REGION_BYTES = 0x4000
PROGRAM_BASE = 0x1000
PROGRAMS_A_MEMORY = 50
BASE_REGISTER = 4
STRIDE_REGISTER = 5
SCALAR_REGISTER = 6
DIMENSION_REGISTER = 7


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


@dataclass
class Builder:
    """Writes words and follows the queues, so that what it writes is legal."""

    config: CoreConfig
    rng: random.Random
    words: list[tuple[int, int]] = field(default_factory=list)
    queues: TileQueues = field(default_factory=TileQueues)

    def __post_init__(self) -> None:
        self.allocator = Allocator(self.config.tile_ram_bytes)

    def word(self, name: str, **values: int) -> None:
        """Append a word by format name."""
        bits = 16 if name.startswith("C.") else 32
        self.words.append((encode_word(name, **values), bits))

    def set_registers(self, values: dict[int, int]) -> None:
        """Append a set-up block."""
        self.word("BSTART.STD FALL")
        for number, value in values.items():
            self.words += [(word, 32) for word in load_immediate(number, value)]

    def live(self) -> list[tuple[Queue, int, StoredTile]]:
        """Return the tiles that can be read."""
        found = []
        for queue in Queue:
            for index in range(1, 17):
                entry = self.queues.get(queue, index)
                if isinstance(entry, StoredTile):
                    found.append((queue, index, entry))
        return found

    def dimensions(self, valid_columns: int, valid_rows: int, columns: int) -> None:
        """Append the dimension words in a random one of the forms that can say it; defaults may be left out."""
        for loop, value in enumerate((valid_columns, valid_rows, columns)):
            default = (1, 1, valid_columns)[loop]
            if value == default and self.rng.random() < 0.3:
                continue
            if value < 256 and self.rng.random() < 0.3:
                self.word("C.B.DIMI", loop=loop, immediate=value)
            else:
                self.word("B.DIM", loop=loop, register=0, immediate=value)

    def tiles(self, sources: Sequence[tuple[Queue, int, bool]], destination: tuple[Queue, int] | None) -> None:
        """Append the B.IOT of up to two sources and one destination, and change the queues as the block will."""
        form = {0: SourceForm.ZERO, 1: SourceForm.ONE, 2: SourceForm.TWO}[len(sources)]
        values: dict[str, int] = {"form": form, "last": 1, "destination": Destination.NONE}
        for place, (queue, index, reuse) in enumerate(sources):
            values |= {f"source{place}": source_code(queue, index), f"reuse{place}": int(reuse)}
        if destination is not None:
            values |= {"destination": destination[0], "size": size_code(destination[1])}
        self.word("B.IOT", **values)
        self._follow(sources, destination)

    def _follow(self, sources: Sequence[tuple[Queue, int, bool]], destination: tuple[Queue, int] | None) -> None:
        base = 0
        if destination is not None:
            placed = self.allocator.place([destination[1]])
            if placed is None:
                raise ValueError("the generator asked for a tile that has no room")
            base = placed[0]
        kept = {(queue, index) for queue, index, reuse in sources if reuse}
        for queue, index in {(queue, index) for queue, index, _ in sources} - kept:
            self._free(self.queues.get(queue, index))
            self.queues.release(queue, index)
        if destination is not None:
            self._free(self.queues.push(destination[0], StoredTile(np.zeros(destination[1], np.uint8), 8, base)))

    def _free(self, entry: object) -> None:
        if isinstance(entry, StoredTile):
            self.allocator.release(entry.base, entry.size)

    def has_room(self, size: int) -> bool:
        """Whether a tile of ``size`` bytes can be placed now."""
        pointer = self.allocator.pointer
        placed = self.allocator.place([size])
        if placed is None:
            return False
        self.allocator.restore(placed, [size], pointer)
        return True

    def image(self) -> bytes:
        """Return the program closed by BSTOP."""
        words = [*self.words, (encode_word("BSTOP"), 32)]
        return b"".join(word.to_bytes(bits // 8, "little") for word, bits in words)


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
    if row.name == "TLOAD":
        _append_move(builder, row, element, largest, queue, None)
        return
    needed = row.min_sources
    if len(builder.live()) < max(needed, 2):
        _append_move(builder, operation("TLOAD"), element, largest, queue, None)
    live = builder.live()
    sources = [builder.rng.choice(live) for _ in range(needed)]
    if row.name == "TSTORE":
        _append_move(builder, row, element, largest, queue, sources[0])
        return
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


@cache
def _fractal_columns(layout: Layout, element: DataType, size: int) -> tuple[int, ...]:
    """Return the numbers of columns with which a tile of ``size`` bytes consists of whole fractals."""
    bits = element.storage_bits
    shapes = ((matrix_rows(size, columns, bits), columns) for columns in range(1, size * 8 // bits + 1))
    return tuple(shape[1] for shape in shapes if tile_layout(layout.destination_order, *shape, element).is_aligned)


def _load_shape(builder: Builder, row: Operation, element: DataType, size: int) -> tuple[Layout, int, int, int]:
    """Return a layout of loads and (valid columns, valid rows, columns) that fit a tile of ``size`` bytes."""
    rng = builder.rng
    layout = rng.choice([layout for layout in row.layouts or () if layout.name in builder.config.move_layouts])
    aligned = _fractal_columns(layout, element, size) if is_fractal(layout.destination_order) else ()
    if not aligned:
        return Layout.NORM, *_shape(builder, element, size)
    columns = rng.choice(aligned)
    rows = matrix_rows(size, columns, element.storage_bits)
    valid_columns = rng.choice([columns, rng.randint(1, columns)])
    return layout, valid_columns, rng.choice([rows, rng.randint(1, rows), rng.randint(1, min(rows, 9))]), columns


def _free_size(builder: Builder, smallest: int, largest: int) -> int | None:
    """Return a random size of at least ``smallest`` bytes for which there is room; None when there is none."""
    code = size_code(max(builder.config.tile_min_bytes, 1 << (smallest - 1).bit_length()))
    sizes = [size_bytes(code + more) for more in range(3)]
    fitting = [size for size in sizes if size <= max(largest, sizes[0]) and builder.has_room(size)]
    return builder.rng.choice(fitting) if fitting else None


def _attributes(builder: Builder, layout: Layout = Layout.NORM) -> None:
    """Append B.DATR with a random pad, B.HINT or B.CATR now and then."""
    rng = builder.rng
    if layout is not Layout.NORM or rng.random() < 0.7:
        pad = rng.choice(list(PadValue))
        builder.word("B.DATR", layout=layout, pad=pad, data_type=NO_TYPE, rounding=rng.randrange(8))
    if rng.random() < 0.1:
        builder.word("B.HINT", prefetch_size=rng.randrange(4096))
    if rng.random() < 0.1:
        builder.word("B.CATR", acquire=rng.randrange(2), release=rng.randrange(2))
    if rng.random() < 0.1:
        builder.word("B.IOD", source0=rng.randrange(9), source1=rng.randrange(9), destination=rng.randrange(2))


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
        _append_move(builder, operation("TSTORE"), element, largest, queue, rng.choice(builder.live()), keep=False)
        return
    scalar = row.min_scalars > 0
    if scalar and rng.random() < 0.3:
        builder.set_registers({SCALAR_REGISTER: int.from_bytes(interesting(rng, 8), "little")})
    builder.word("BSTART.TEPL", data_type=element.code, mode=row.mode, function=row.function)
    _attributes(builder)
    builder.dimensions(valid_columns, valid_rows, columns)
    if scalar:
        builder.word("B.IOR", source0=rng.choice([SCALAR_REGISTER, 12, 13, 14, rng.randint(15, 23)]))
    builder.tiles([(q, i, rng.random() < 0.6) for q, i, _ in sources], (queue, size))


def _append_move(
    builder: Builder,
    row: Operation,
    element: DataType,
    largest: int,
    queue: Queue,
    source: tuple[Queue, int, StoredTile] | None,
    *,
    keep: bool = True,
) -> None:
    """Append a load to ``queue`` or a store of ``source``, with its set-up block."""
    rng = builder.rng
    load = source is None
    if load:
        free = _free_size(builder, rng.choice([256, 512, largest]), largest)
        if free is None:
            live = builder.live()
            _append_move(builder, operation("TSTORE"), element, largest, queue, rng.choice(live), keep=False)
            return
        size = free
        layout, valid_columns, valid_rows, columns = _load_shape(builder, row, element, size)
    else:
        assert source is not None
        size, layout = min(source[2].size, largest), Layout.NORM
        valid_columns, valid_rows, columns = _shape(builder, element, size)
    lines, length = (valid_columns, valid_rows) if layout.source_order == "DN" else (valid_rows, valid_columns)
    row_bytes = (length * element.storage_bits + 7) // 8
    base, stride = _place(rng, INPUT_BASE if load else OUTPUT_BASE, row_bytes, lines)
    values = {BASE_REGISTER: base}
    if stride is not None:
        values[STRIDE_REGISTER] = stride
    builder.set_registers(values)
    builder.word("BSTART.TMA", data_type=element.code, function=row.function)
    _attributes(builder, layout)
    builder.dimensions(valid_columns, valid_rows, columns)
    builder.word("B.IOR", source0=BASE_REGISTER, source1=0 if stride is None else STRIDE_REGISTER)
    if load:
        builder.tiles([], (queue, size))
    else:
        assert source is not None
        builder.tiles([(source[0], source[1], keep and rng.random() < 0.7)], None)


def _place(rng: random.Random, region: int, row_bytes: int, rows: int) -> tuple[int, int | None]:
    """Return base and stride of rows inside a region: contiguous, spread, overlapping, on one place, or backwards."""
    most = REGION_BYTES - row_bytes
    limit = most // max(rows - 1, 1)
    stride = rng.choice([None, row_bytes, 0, rng.randint(0, row_bytes), rng.randint(0, limit), -rng.randint(0, limit)])
    step = row_bytes if stride is None else stride
    extent = abs(step) * (rows - 1)
    if extent > most:
        stride, extent = 0, 0
        step = 0
    low = region + rng.randint(0, most - extent)
    return (low + extent if step < 0 else low), stride
