"""Blocks, names and storage as the rules say, one block after the other: what the scheduler is held against."""

import copy
from dataclasses import dataclass, field

from linxtile.config import CoreConfig
from linxtile.isa.codes import PadValue, size_bytes
from linxtile.isa.faults import Rule
from linxtile.isa.operations import operation
from linxtile.isa.types import data_type

GRANULE = 256
WIDTH_CODES = {4: 0, 8: 1, 16: 2, 32: 3, 64: 4}
ROW_VECTOR_SOURCES = {"TROWEXPAND": (0,), "TROWEXPANDSUB": (1,)}
ROW_VECTOR_RESULTS = ("TROWSUM", "TROWMAX", "TROWMIN")


@dataclass(eq=False)
class Tile:
    """A tile that lives: first granule, size code, width code, number of the block that writes it."""

    base: int
    code: int
    width: int
    producer: int

    @property
    def granules(self):
        return range(self.base, self.base + size_bytes(self.code) // GRANULE)


@dataclass
class Block:
    """A description, and what the engine will say of the block."""

    name: str = "TEXPANDS"
    kind: str = "TILE"
    type: str = "FP32"
    rows: int = 1
    valid_columns: int = 1
    columns: int = 1
    scalars: tuple[int, ...] = ()
    sources: tuple[tuple[int, int, int, int], ...] = ()
    """Queue, index (``#1`` is 0), reuse, place of the word."""
    destinations: tuple[tuple[int, int, int], ...] = ()
    """Queue, size code, place of the word."""
    pad: PadValue = PadValue.ZERO
    layout: str = "NORM"
    """Of a load, store or move from tile to tile."""
    acquire: int = 0
    release: int = 0
    trap: int = 0
    awaits: tuple[int, ...] = ()
    """Tokens: 1 is the newest."""
    token: int = 0
    address: int = 0
    word: int = 0
    rule: int = 0
    writes: int = 0
    flags: int = 0
    engine_fault: tuple[int, int] | None = None

    @property
    def engine(self):
        engines = {"TLOAD": "loads", "TSTORE": "stores", "TMOV": "moves"}
        return engines.get(self.name, "vectors") if self.kind == "TILE" else None

    @property
    def bits(self):
        return data_type(self.type).storage_bits

    @property
    def memory_lines(self):
        """Valid lines of memory, and valid elements in each."""
        valid = (self.rows, self.valid_columns)
        return valid[::-1] if self.by_columns else valid

    @property
    def by_columns(self):
        """Whether the lines of memory are columns."""
        return self.engine in ("loads", "stores") and "DN" in self.layout

    @property
    def orders(self):
        """Order of each tile: of the tiles of a load or store, of source and destination of a move."""
        first, _, second = self.layout.partition("2")
        if self.engine == "moves":
            return (first, second) if second else ("ND", "ND")
        return (next((order for order in (first, second) if order in ("NZ", "ZN")), "ND"),)

    @property
    def row_bytes(self):
        """Valid bytes of a line of memory."""
        return -(-self.memory_lines[1] * self.bits // 8)

    @property
    def stride(self):
        return self.scalars[1] if len(self.scalars) > 1 else self.row_bytes

    def interval(self, address_bits):
        """Return first and last byte, or None if the block may touch anything."""
        lines = self.memory_lines[0]
        last = self.scalars[0] + (lines - 1) * self.stride + self.row_bytes - 1
        if lines > 1 and self.stride >> 63 or last >> address_bits:
            return None
        return self.scalars[0], last

    def addresses(self):
        """Return the addresses of all bytes."""
        starts = (self.scalars[0] + line * self.stride for line in range(self.memory_lines[0]))
        return {(start + byte) % 2**64 for start in starts for byte in range(self.row_bytes)}

    def may_touch(self, other, address_bits):
        """Whether a byte is in both; of large blocks, whether their intervals overlap."""
        if max(block.memory_lines[0] * block.row_bytes for block in (self, other)) <= 4096:
            return not self.addresses().isdisjoint(other.addresses())
        mine, theirs = self.interval(address_bits), other.interval(address_bits)
        return mine is None or theirs is None or mine[0] <= theirs[1] and theirs[0] <= mine[1]


@dataclass
class Outcome:
    """What becomes of a block: its record, the state after it, its command and the blocks it waits for."""

    number: int
    rule: int = 0
    word: int = 0
    fault_address: int = 0
    command: dict | None = None
    after_finish: set[int] = field(default_factory=set)
    after_commit: set[int] = field(default_factory=set)
    names: list | None = None
    pointer: int = 0
    flags: int = 0


def pad_pattern(type_name, pad):
    """Return eight bytes of padding, element by element."""
    row = data_type(type_name)
    code = {PadValue.MAX: row.pad_max, PadValue.MIN: row.pad_min}.get(pad, 0)
    pattern = 0
    for place in range(0, 64, row.storage_bits):
        pattern |= code << place
    return pattern


class Reference:
    """Names and storage in program order; blocks are numbered from 0 through all runs."""

    def __init__(self, config: CoreConfig):
        self.config = config
        self.names = [[None] * 16 for _ in range(4)]
        self.pointer = 0
        self.flags = 0
        self.number = 0
        self.first = 0
        """First block of this run; older ones have committed or are gone."""
        self.blocks = []
        self.freed_by = {}
        self.tokens = []

    def copy(self) -> "Reference":
        """Return a reference that goes on from here by itself."""
        other = copy.copy(self)
        other.names = [list(queue) for queue in self.names]
        other.blocks, other.freed_by, other.tokens = list(self.blocks), dict(self.freed_by), list(self.tokens)
        return other

    def begin(self, number: int) -> None:
        """Begin another run with block ``number``."""
        self.blocks += [Block(kind="SETUP")] * (number - self.number)
        self.first = self.number = number

    def run(self, block: Block) -> Outcome:
        """Return the outcome of the next block in program order; a fault changes nothing."""
        outcome = Outcome(self.number, command=None)
        self.number += 1
        self.blocks.append(block)
        if block.kind == "FAULT":
            outcome.rule, outcome.word = block.rule, block.word
        elif block.kind == "TILE":
            self._tile(block, outcome)
        outcome.after_finish = {number for number in outcome.after_finish if number >= self.first}
        outcome.after_commit = {number for number in outcome.after_commit if number >= self.first}
        outcome.names = [list(queue) for queue in self.names]
        outcome.pointer, outcome.flags = self.pointer, self.flags
        return outcome

    def _tile(self, block, outcome):
        outcome.word = block.address
        sources = [self.names[queue][index] for queue, index, _, _ in block.sources]
        broken = self._broken(block, sources)
        places, pointer = (None, None) if broken else self._place(block)
        if not broken and places is None:
            broken = Rule.CAPACITY, 0
        if broken:
            outcome.rule, outcome.word = broken[0], block.address + 2 * broken[1]
            return
        self._hazards(block, outcome, sources, places)
        outcome.command = self._command(block, sources, places)
        if block.engine_fault:
            outcome.rule, outcome.fault_address = block.engine_fault
            return
        kept = [source for source, (_, _, reuse, _) in zip(sources, block.sources, strict=True) if reuse]
        gone = [tile for tile in sources if tile not in kept]
        for queue in self.names:
            queue[:] = [None if entry in gone else entry for entry in queue]
        for (queue, code, _), base in zip(block.destinations, places, strict=True):
            gone.append(self.names[queue].pop())
            self.names[queue].insert(0, Tile(base, code, WIDTH_CODES[block.bits], outcome.number))
        for tile in filter(None, gone):
            self.freed_by.update(dict.fromkeys(tile.granules, outcome.number))
        self.tokens += [outcome.number] * block.token
        self.pointer = pointer
        self.flags |= block.flags

    def _broken(self, block, sources):
        """Return the first broken rule and the place of its word, or None."""
        for tile, (_, _, _, word) in zip(sources, block.sources, strict=True):
            if tile is None:
                return Rule.TILE_UNREADABLE, word
        for _, code, word in block.destinations:
            if not self.config.tile_min_bytes <= size_bytes(code) <= self.config.tile_max_bytes:
                return Rule.PARM_SIZE, word
        sizes = [size_bytes(tile.code) for tile in sources]
        parts = sizes or [size_bytes(code) for _, code, _ in block.destinations]
        if block.engine in ("loads", "stores") and len(parts) > 1:
            shared = self._rows(block, sum(parts)) if block.by_columns else block.columns
            if len(set(parts)) > 1 or shared % len(parts):
                return Rule.PARM_SPLIT, 0
        if block.valid_columns > block.columns:
            return Rule.PARM_VALID_COL, 0
        vectors = [sizes[place] for place in ROW_VECTOR_SOURCES.get(block.name, ())]
        matrices = [size for place, size in enumerate(sizes) if place not in ROW_VECTOR_SOURCES.get(block.name, ())]
        results = vectors if block.name in ROW_VECTOR_RESULTS else matrices
        results += [size_bytes(code) for _, code, _ in block.destinations]
        if block.engine in ("loads", "stores"):
            matrices = [sum(parts)]
        if any(block.rows > self._rows(block, size) for size in matrices):
            return Rule.PARM_VALID_ROW, 0
        if block.bits == 4 and self._part(block, parts)[1] % 2 or self._misaligned(block, parts):
            return Rule.PARM_ALIGN, 0
        if any(block.rows * block.bits > size * 8 for size in vectors):
            return Rule.PARM_CAPACITY, 0
        return None

    @staticmethod
    def _rows(block, size):
        """Whole rows of the matrix in so many bytes."""
        return size * 8 // (block.columns * block.bits)

    def _part(self, block, sizes):
        """Rows and columns of each tile of a load or store of tiles of these sizes; of the whole for other blocks."""
        count = len(sizes) if block.engine in ("loads", "stores") else 1
        if block.by_columns:
            return self._rows(block, sum(sizes)) // count, block.columns
        return self._rows(block, sizes[0] * count), block.columns // count

    def _misaligned(self, block, sizes):
        """Whether a tile in NZ or ZN order is not a matrix of whole fractals."""
        if block.engine == "vectors":
            return False
        cell = 256 // block.bits
        tiles = [self._part(block, sizes)]
        if block.engine == "moves":
            tiles = [(self._rows(block, size), block.columns) for size in sizes]
            tiles.append((self._rows(block, size_bytes(block.destinations[0][1])), block.columns))
        for (rows, columns), order in zip(tiles, block.orders, strict=True):
            height, width = {"NZ": (16, cell), "ZN": (cell, 16)}.get(order, (1, 1))
            if rows % height or columns % width:
                return True
        return False

    def _place(self, block):
        """Return the bases of the destinations and the new pointer; the bases are None when one does not fit."""
        taken = {granule for queue in self.names for tile in queue if tile for granule in tile.granules}
        count, pointer, places = self.config.granules, self.pointer, []
        for _, code, _ in block.destinations:
            length = size_bytes(code) // GRANULE
            starts = [*range(pointer, count), *range(pointer)]
            fits = [at for at in starts if at % length == 0 and taken.isdisjoint(range(at, at + length))]
            if not fits:
                return None, pointer
            taken.update(range(fits[0], fits[0] + length))
            places.append(fits[0])
            pointer = (fits[0] + length) % count
        return places, pointer

    def _hazards(self, block, outcome, sources, places):
        outcome.after_finish = {tile.producer for tile in sources}
        outcome.after_finish |= {self.tokens[-awaited] for awaited in block.awaits if 0 < awaited <= len(self.tokens)}
        for (_, code, _), base in zip(block.destinations, places, strict=True):
            written = Tile(base, code, 0, 0).granules
            outcome.after_commit |= {self.freed_by[granule] for granule in written if granule in self.freed_by}
        outcome.after_commit |= {number for number, other in enumerate(self.blocks[: outcome.number]) if other.trap}
        if block.engine == "loads":
            for number, other in enumerate(self.blocks[: outcome.number]):
                if other.engine == "stores" and block.may_touch(other, self.config.axi_address_bits):
                    outcome.after_finish.add(number)
                if other.acquire and other.kind == "TILE":
                    outcome.after_commit.add(number)
        if block.engine == "stores" or block.engine == "loads" and block.release:
            outcome.after_commit |= set(range(outcome.number))

    def _command(self, block, sources, places):
        """Return the members of the engine command, without the tag."""
        lines = GRANULE // self.config.vector_bytes
        common = {
            "valid_rows": block.memory_lines[0],
            "row_bytes": block.row_bytes,
            "pitch_bytes": block.columns * block.bits // 8,
        }
        padding = {"pad_pattern": pad_pattern(block.type, block.pad)} if block.destinations else {}
        if block.engine == "vectors":
            return common | padding | {
                "operation": operation(block.name).number,
                "data_type": data_type(block.type).code,
                "scalar": block.scalars[0] if block.scalars else None,
                "valid_bytes": block.rows * block.columns * block.bits // 8,
                "source_lines": [tile.base * lines for tile in sources],
                "destination_line": places[0] * lines,
                "destination_bytes": size_bytes(block.destinations[0][1]),
            }  # fmt: skip
        if block.engine == "moves":
            return padding | {
                "width": WIDTH_CODES[block.bits],
                "valid_rows": block.rows,
                "valid_columns": block.valid_columns,
                "columns": block.columns,
                "source_line": sources[0].base * lines,
                "source_bytes": size_bytes(sources[0].code),
                "destination_line": places[0] * lines,
                "destination_bytes": size_bytes(block.destinations[0][1]),
                **{
                    f"{tile}_{name}": int(order in orders)
                    for tile, order in zip(("source", "destination"), block.orders, strict=True)
                    for name, orders in (("by_columns", ("DN", "ZN")), ("by_cells", ("NZ", "ZN")))
                },
            }
        tiles = [tile.base for tile in sources] or places
        sizes = [size_bytes(tile.code) for tile in sources] or [size_bytes(code) for _, code, _ in block.destinations]
        rows, columns = self._part(block, sizes)
        part_bytes = (rows if block.by_columns else columns) * block.bits // 8
        cells = self._cells(block, rows, columns)
        odd_nibble = block.bits == 4 and block.memory_lines[1] % 2
        contiguous = block.stride == block.row_bytes == part_bytes and not odd_nibble and not cells["transposed"]
        return common | padding | cells | {
            "base": block.scalars[0],
            "stride": block.stride,
            "odd_nibble": int(odd_nibble),
            "width": WIDTH_CODES[block.bits],
            "pitch_bytes": columns * block.bits // 8,
            "tile_count": len(tiles),
            "tile_lines": [tile * lines for tile in tiles],
            "tile_bytes": sizes[0],
            "part_bytes": part_bytes,
            "contiguous": int(contiguous),
            "area_bytes": (block.memory_lines[0] * part_bytes) if contiguous or not block.by_columns else None,
        }  # fmt: skip

    def _cells(self, block, rows, columns):
        """Return how a tile of a load or store is cut into cells of 32 bytes."""
        (order,) = block.orders
        if order == "ND":
            return {"by_cells": 0, "transposed": 0}
        line, lines = (rows, columns) if order == "ZN" else (columns, rows)
        return {
            "by_cells": 1, "transposed": int((order == "ZN") != block.by_columns), "row_cells": line * block.bits // 256,
            "cell_step": lines,
        }  # fmt: skip
