"""Programs of random moves, and what they do in words that a test bench can follow block by block."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from linxtile.config import CoreConfig
from linxtile.isa.codes import Layout, PadValue, Queue
from linxtile.isa.operations import operation
from linxtile.isa.types import data_type
from linxtile.stored_tile import StoredTile

from .builder import Builder
from .move_traits import kinds, random_traits
from .moves import INPUT_BASE, OUTPUT_BASE, REGION_BYTES, Move, make_move
from .scenario import Scenario

__all__ = [
    "BASE_REGISTER", "MoveProgram", "Step", "append_move", "move_program", "random_moves",
]  # fmt: skip

PROGRAM_BASE = 0x1000
BASE_REGISTER = 4
STRIDE_REGISTER = 5
PROGRAMS_A_MEMORY = 50

U8 = data_type("U8")


@dataclass(frozen=True)
class Step:
    """A move in a program: the tiles that it reads, as numbers in the order in which the program makes tiles."""

    move: Move
    sources: tuple[int, ...] = ()


@dataclass(frozen=True)
class MoveProgram:
    """A program of moves: the scenario, and its steps as far as no fault ends it."""

    scenario: Scenario
    steps: tuple[Step, ...]


def append_move(
    builder: Builder, move: Move, sources: Sequence[tuple[Queue, int, bool]], queues: Sequence[Queue], *,
    follow: bool = True,
) -> None:  # fmt: skip
    """Append a move with its set-up block.

    Parameters
    ----------
    sources : sequence of (Queue, int, bool)
        Names and reuse flags of what a store or a TMOV reads.
    queues : sequence of Queue
        Where the destinations go.
    follow : bool
        Whether the block commits; otherwise the queues stay as they are.
    """
    row, memory = operation(move.name), move.name != "TMOV"
    if memory:
        registers = {BASE_REGISTER: move.base}
        if move.stride is not None:
            registers[STRIDE_REGISTER] = move.stride
        builder.set_registers(registers)
    builder.word("BSTART.TMA", data_type=move.element.code, function=row.function)
    builder.attributes(move.pad, move.layout)
    builder.dimensions(move.valid_columns, move.valid_rows, move.columns)
    if memory:
        builder.word("B.IOR", source0=BASE_REGISTER, source1=0 if move.stride is None else STRIDE_REGISTER)
    sizes = [move.size if memory else move.destination_size] * len(queues)
    if queues and move.odd_size is not None:
        sizes[-1] = move.odd_size
    append = builder.tiles if follow else builder.tile_words
    append(sources, list(zip(queues, sizes, strict=True)))


class _Writer:
    """Puts moves one behind the other, each with loads of the tiles that it reads."""

    def __init__(self, config: CoreConfig, rng: random.Random):
        self.rng = rng
        self.builder = Builder(config, rng)
        self.steps: list[Step] = []
        self.memory: dict[int, bytes] = {}
        self._tiles: list[StoredTile] = []

    def append(self, move: Move) -> None:
        """Append a move, after loads of what it reads and stores that release what is in its way."""
        while not self.builder.has_room(max(move.size, move.destination_size), move.tiles + 1):
            self._release()
        sources = [self._filled(move.size) for _ in range(_source_count(move))]
        names = [(*self._name(number), self.rng.random() < 0.3) for number in sources]
        self._follow(move, names, self._queues(_destination_count(move)))
        self.steps.append(Step(move, tuple(sources)))
        if move.name == "TLOAD":
            outside = [address for address in move.line_addresses if not _in_regions(address, move.line_bytes)]
            self.memory |= {address: self.rng.randbytes(move.line_bytes) for address in outside}

    def append_last(self, move: Move) -> None:
        """Append a move that may break any rule; nothing that comes after it is followed."""
        sizes = [move.size] * (move.tiles - 1) + [move.size if move.odd_size is None else move.odd_size]
        names = [(*self._name(self._filled(size)), True) for size in sizes[: _source_count(move)]]
        append_move(self.builder, move, names, self._queues(_destination_count(move)), follow=False)

    def _release(self) -> None:
        """Store a byte of a tile, which releases it."""
        live = self.builder.live()
        if not live:
            raise ValueError(f"a tile RAM of {self.builder.config.tile_ram_bytes} bytes is too small for these moves")
        queue, index, entry = self.rng.choice(live)
        move = Move("TSTORE", Layout.NORM, U8, 1, 1, 1, 1, entry.size, entry.size, PadValue.NULL, OUTPUT_BASE, None)
        number = next(number for number, tile in enumerate(self._tiles) if tile is entry)
        self._follow(move, [(queue, index, False)], [])
        self.steps.append(Step(move, (number,)))

    def _queues(self, count: int) -> list[Queue]:
        return [self.rng.choice(list(Queue)) for _ in range(count)]

    def _filled(self, size: int) -> int:
        """Append a plain load of a whole tile and return the tile's number."""
        base = INPUT_BASE + self.rng.randrange(REGION_BYTES - size + 1)
        move = Move("TLOAD", Layout.NORM, U8, size // 64, 64, 64, 1, size, size, PadValue.NULL, base, None)
        self._follow(move, [], self._queues(1))
        self.steps.append(Step(move))
        return len(self._tiles) - 1

    def _follow(self, move: Move, sources: Sequence[tuple[Queue, int, bool]], queues: Sequence[Queue]) -> None:
        append_move(self.builder, move, sources, queues)
        # Of several tiles on one queue the last is #1.
        for place, queue in enumerate(queues):
            entry = self.builder.queues.get(queue, list(queues[place:]).count(queue))
            assert isinstance(entry, StoredTile)
            self._tiles.append(entry)

    def _name(self, number: int) -> tuple[Queue, int]:
        tile = self._tiles[number]
        return next((queue, index) for queue, index, entry in self.builder.live() if entry is tile)


def _in_regions(address: int, count: int) -> bool:
    return any(region <= address and address + count <= region + REGION_BYTES for region in (INPUT_BASE, OUTPUT_BASE))


def _source_count(move: Move) -> int:
    return 0 if move.name == "TLOAD" else move.tiles


def _destination_count(move: Move) -> int:
    return {"TLOAD": move.tiles, "TMOV": 1}.get(move.name, 0)


def move_program(
    seed: int, config: CoreConfig, moves: Sequence[Move], *, last: Move | None = None, name: str = "moves"
) -> MoveProgram:
    """Return a program of these moves in their order, with loads of what they read; ``last`` may break any rule."""
    writer = _Writer(config, random.Random(seed))
    for move in moves:
        writer.append(move)
    if last is not None:
        writer.append_last(last)
    region = random.Random(seed // PROGRAMS_A_MEMORY)
    memory = {INPUT_BASE: region.randbytes(REGION_BYTES), OUTPUT_BASE: region.randbytes(REGION_BYTES), **writer.memory}
    scenario = Scenario(f"{name} {seed}", writer.builder.image(), PROGRAM_BASE, {}, memory)
    return MoveProgram(scenario, tuple(writer.steps))


def random_moves(rng: random.Random, config: CoreConfig, count: int, *, sizes: Sequence[int]) -> list[Move]:
    """Return random legal moves of what the configuration runs."""
    moves: list[Move] = []
    while len(moves) < count:
        name = rng.choice(kinds(config))
        element = data_type(rng.choice(sorted(config.operations[name])))
        region = OUTPUT_BASE if rng.random() < 0.2 else None
        move = make_move(
            rng, name, element, random_traits(rng, name, config), sizes=sizes, destinations=sizes, region=region
        )
        if move is not None:
            moves.append(move)
    return moves
