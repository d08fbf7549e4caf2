"""Random loads, stores and moves from tile to tile: any layout, shape, number of tiles and place in memory.

A move is built from *traits*, one class a property, so that a test can ask for combinations of classes. What is legal is
decided here once more, from the rules of the ISA (LinxISA v0.56, TMA block), without the code of the model.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from linxtile.isa.codes import Layout, PadValue
from linxtile.isa.types import DataType

from .move_traits import Traits

__all__ = [
    "INPUT_BASE", "OUTPUT_BASE", "REGION_BYTES", "SIZES", "Move", "is_whole", "make_move", "orders", "whole_shapes",
]  # fmt: skip

INPUT_BASE = 0x2_0000
OUTPUT_BASE = 0x4_0000
REGION_BYTES = 0x8000
"""Bytes of the two regions of memory that moves usually stay in."""

PAGE_BYTES = 4096
SIZES = (256, 512, 1024, 2048)
MOST_BYTES = 8192
"""Most bytes of the tiles of one move."""

FAR_STRIDES = (0x1_0000, 0x20_0000, 0x1_0020_0000)
FAR_LINES = 12
FAR_LINES_OF_A_FULL_TILE = 32


@dataclass(frozen=True)
class Move:
    """One block, as the program means it.

    Attributes
    ----------
    valid_rows, valid_columns, columns : int
        Dimensions of the whole that the tiles are parts of.
    tiles, size : int
        Number of tiles and bytes of each; of the source in a TMOV.
    destination_size : int
        Bytes of the destination of a TMOV.
    base, stride : int, int or None
        Memory; None stands for the default stride.
    odd_size : int or None
        Bytes of the last tile of a move that is not to be legal.
    """

    name: str
    layout: Layout
    element: DataType
    valid_rows: int
    valid_columns: int
    columns: int
    tiles: int
    size: int
    destination_size: int
    pad: PadValue
    base: int
    stride: int | None
    odd_size: int | None = None

    @property
    def by_columns(self) -> bool:
        """Whether the lines of memory are columns."""
        return "DN" in (self.layout.source_order, self.layout.destination_order)

    @property
    def lines(self) -> int:
        """Lines of memory."""
        return self.valid_columns if self.by_columns else self.valid_rows

    @property
    def line_bytes(self) -> int:
        """Bytes of a line of memory, the last one perhaps half used."""
        length = self.valid_rows if self.by_columns else self.valid_columns
        return (length * self.element.storage_bits + 7) // 8

    @property
    def line_addresses(self) -> list[int]:
        """Address of each line of memory."""
        stride = self.line_bytes if self.stride is None else self.stride
        return [(self.base + line * stride) % (1 << 64) for line in range(self.lines)]


def orders(layout: Layout) -> tuple[str, str]:
    """Return the order of the lines of memory, ND or DN, and of the tiles, ND, NZ or ZN, of a load or store."""
    pair = (layout.source_order, layout.destination_order)
    return "DN" if "DN" in pair else "ND", next((order for order in pair if order in ("NZ", "ZN")), "ND")


@cache
def _units(order: str, element: DataType) -> tuple[int, int]:
    """Return of what the rows and the columns of a tile in an order must be multiples: fractals, pairs of elements."""
    band = 256 // element.storage_bits
    return {"NZ": (16, band), "ZN": (band, 16)}.get(order, (1, 2 if element.is_packed else 1))


def is_whole(order: str, rows: int, columns: int, element: DataType) -> bool:
    """Whether a tile of these dimensions is legal in an order."""
    row_unit, column_unit = _units(order, element)
    return rows > 0 and rows % row_unit == 0 and columns % column_unit == 0


@cache
def whole_shapes(layout: Layout, element: DataType, size: int, tiles: int) -> tuple[tuple[int, int], ...]:
    """Return (rows, columns) of every legal whole of a load or store of so many tiles of ``size`` bytes."""
    memory, order = orders(layout)
    row_unit, step = _units(order, element)
    elements = size * tiles * 8 // element.storage_bits
    if memory == "DN":
        row_unit *= tiles
    else:
        step *= tiles
    shapes = ((elements // columns, columns) for columns in range(step, elements + 1, step))
    return tuple((rows, columns) for rows, columns in shapes if rows % row_unit == 0)


@cache
def _moved_shapes(layout: Layout, element: DataType, source: int, destination: int) -> tuple[tuple[int, int], ...]:
    """Return (rows that both tiles have, columns) of every legal TMOV between tiles of these sizes."""
    units = [_units(order, element) for order in (layout.source_order, layout.destination_order)]
    step = max(unit for _, unit in units)
    found = []
    for columns in range(step, min(source, destination) * 8 // element.storage_bits + 1, step):
        rows = [size * 8 // (columns * element.storage_bits) for size in (source, destination)]
        if all(count % unit == 0 for count, (unit, _) in zip(rows, units, strict=True)):
            found.append((min(rows), columns))
    return tuple(found)


def make_move(
    rng: random.Random, name: str, element: DataType, traits: Traits, *, sizes: Sequence[int] = SIZES,
    destinations: Sequence[int] = SIZES, region: int | None = None,
) -> Move | None:  # fmt: skip
    """Return a legal move with these traits, or None where a few attempts find none.

    Parameters
    ----------
    sizes, destinations : sequence of int
        Tile sizes to choose from; ``destinations`` for the second tile of a TMOV.
    region : int, optional
        Where the lines of memory lie: `INPUT_BASE` or `OUTPUT_BASE`, the one that suits the move by default.
    """
    if region is None:
        region = OUTPUT_BASE if name == "TSTORE" else INPUT_BASE
    for _ in range(20):
        size, other = rng.choice(sizes), rng.choice(destinations)
        if size * traits.tiles > MOST_BYTES:
            continue
        if name == "TMOV":
            shapes = _moved_shapes(traits.layout, element, size, other)
        else:
            shapes = whole_shapes(traits.layout, element, size, traits.tiles)
        if not shapes:
            continue
        rows, columns = rng.choice([shapes[0], shapes[-1], rng.choice(shapes), rng.choice(shapes)])
        valid_rows, valid_columns = _valid_area(rng, traits, rows, columns)
        move = Move(
            name,
            traits.layout,
            element,
            valid_rows,
            valid_columns,
            columns,
            traits.tiles,
            size,
            other,
            traits.pad,
            0,
            0,
        )
        if name == "TMOV":
            return move
        placed = _placed(rng, move, traits, region)
        if placed is not None:
            return placed
    return None


def _valid_area(rng: random.Random, traits: Traits, rows: int, columns: int) -> tuple[int, int]:
    """Return the valid rows and columns of a whole."""
    by_columns = "DN" in (traits.layout.source_order, traits.layout.destination_order)
    some_rows, some_columns = rng.randint(1, rows), rng.randint(1, columns)
    if traits.stride == "far" and traits.shape != "full":
        some_rows, some_columns = (
            (some_rows, min(some_columns, FAR_LINES)) if by_columns else (min(some_rows, FAR_LINES), some_columns)
        )
    match traits.shape:
        case "full":
            return rows, columns
        case "one row":
            return 1, some_columns
        case "one column":
            return some_rows, 1
        case "empty parts":
            if by_columns:
                return rng.randint(1, max(rows - rows // traits.tiles, 1)), some_columns
            return some_rows, rng.randint(1, max(columns - columns // traits.tiles, 1))
        case _:
            return some_rows, some_columns


def _placed(rng: random.Random, move: Move, traits: Traits, region: int) -> Move | None:
    """Return the move with a base and a stride, or None when its lines do not fit the region."""
    lines, line_bytes = move.lines, move.line_bytes
    room = (REGION_BYTES - PAGE_BYTES - line_bytes) // max(lines - 1, 1)
    if room < line_bytes and traits.stride not in ("zero", "overlap", "far"):
        return None
    gap = rng.randint(1, max(min(room - line_bytes, 70), 1))
    match traits.stride:
        case "absent":
            stride = None
        case "exact":
            stride = line_bytes
        case "gap":
            stride = line_bytes + gap
        case "overlap":
            stride = rng.randint(0, min(line_bytes - 1, max(room, 0)))
        case "zero":
            stride = 0
        case "backwards":
            stride = -rng.choice([line_bytes, line_bytes + gap])
        case _:
            if lines > FAR_LINES_OF_A_FULL_TILE:
                return None
            stride = rng.choice(FAR_STRIDES) + rng.choice([0, 0, 1, 64, rng.randrange(4096)])
    step = line_bytes if stride is None else stride
    span = abs(step) * (lines - 1) if traits.stride != "far" else 0
    if span + line_bytes > REGION_BYTES - PAGE_BYTES:
        return None
    low = region + rng.randrange(REGION_BYTES - PAGE_BYTES - span - line_bytes + 1)
    base = _aligned(rng, low + (span if step < 0 else 0), move, traits.base)
    return Move(**{**move.__dict__, "base": base, "stride": None if stride is None else stride % (1 << 64)})


def _aligned(rng: random.Random, base: int, move: Move, kind: str) -> int:
    """Return an address at or after ``base``, at most a page away, of an alignment class."""
    unit = max(move.element.storage_bits // 8, 1)
    match kind:
        case "line":
            return -(-base // 64) * 64
        case "element":
            return -(-base // 64) * 64 + rng.randrange(1, 64 // unit) * unit
        case "byte":
            return base | 1
        case _:
            reach = rng.randint(1, min(max(move.line_bytes - 1, 1), 63))
            end = (base // PAGE_BYTES + 1) * PAGE_BYTES
            return (end if end - reach >= base else end + PAGE_BYTES) - reach
