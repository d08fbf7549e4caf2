"""Moves that are not legal: one for each rule that can be broken, and legal ones with one property changed at random."""

import random
from dataclasses import replace
from typing import Any

from linxtile.config import CoreConfig
from linxtile.isa.codes import MAX_DESTINATIONS, Layout
from linxtile.isa.faults import Rule
from linxtile.isa.operations import operation
from linxtile.isa.types import data_type

from .move_traits import random_traits
from .moves import REGION_BYTES, Move, is_whole, make_move, orders

__all__ = ["beyond", "broken_move", "mutated_move"]


def broken_move(rng: random.Random, config: CoreConfig, name: str, rule: Rule) -> Move | None:
    """Return a move that breaks ``rule`` and none that comes before it, or None where an attempt found none."""
    element = data_type(rng.choice(sorted(config.operations[name])))
    traits = random_traits(rng, name, config)
    move = make_move(rng, name, element, traits, sizes=(512, 1024), destinations=(512, 1024))
    if move is None:
        return None
    small = replace(move, valid_rows=1, valid_columns=1)
    rows = min(move.size * move.tiles, move.destination_size if name == "TMOV" else 1 << 30) * 8
    rows //= move.columns * element.storage_bits
    match rule:
        case Rule.PARM_ZERO:
            return replace(move, valid_rows=0) if rng.random() < 0.5 else replace(move, valid_columns=0)
        case Rule.PARM_SIZE if name == "TLOAD" and move.tiles == 1:
            return replace(small, size=rng.choice([128, 2 * config.tile_max_bytes]))
        case Rule.PARM_SPLIT if move.tiles > 1:
            if rng.random() < 0.5:
                return replace(small, odd_size=1536 - move.size)
            broken = replace(small, columns=rng.randint(1, 2 * move.columns))
            return broken if _split(broken) % broken.tiles else None
        case Rule.PARM_VALID_COL:
            return replace(move, valid_columns=move.columns + rng.randint(1, 9))
        case Rule.PARM_VALID_ROW:
            return replace(move, valid_rows=rows + rng.choice([1, 2, 16, rng.randint(1, 60000 - rows)]))
        case Rule.PARM_ALIGN:
            broken = replace(small, columns=rng.randint(1, 2 * move.columns))
            return broken if _misaligned(broken) else None
    return None


def _rows(move: Move, size: int) -> int:
    return size * 8 // (move.columns * move.element.storage_bits)


def _split(move: Move) -> int:
    """Return what has to be a multiple of the number of tiles."""
    return _rows(move, move.size * move.tiles) if move.by_columns else move.columns


def _misaligned(move: Move) -> bool:
    """Whether the tiles are large enough and cut evenly, but are no whole fractals or have odd pairs."""
    if move.name == "TMOV":
        pair = (move.layout.source_order, move.layout.destination_order)
        rows = [_rows(move, size) for size in (move.size, move.destination_size)]
        tiles = [(order, count, move.columns) for order, count in zip(pair, rows, strict=True)]
    else:
        rows = [_rows(move, move.size * move.tiles)]
        if _split(move) % move.tiles:
            return False
        part = (rows[0] // move.tiles, move.columns) if move.by_columns else (rows[0], move.columns // move.tiles)
        tiles = [(orders(move.layout)[1], *part)]
    return min(rows) > 0 and not all(is_whole(*tile, move.element) for tile in tiles)


def mutated_move(rng: random.Random, move: Move, config: CoreConfig) -> Move:
    """Return a move with one property changed at random: it may be legal, break any rule, or fail in memory."""
    row = operation(move.name)
    near = rng.choice([-1, 1, 2, -8, 8, 16])
    most = MAX_DESTINATIONS if move.name != "TMOV" else 1
    change: dict[str, Any] = rng.choice([
        {"valid_rows": (move.valid_rows + near) % (1 << 16)}, {"valid_columns": (move.valid_columns + near) % (1 << 16)},
        {"columns": (move.columns + near) % (1 << 16)}, {"columns": move.columns * 2}, {"tiles": rng.randint(1, most)},
        {"size": rng.choice([256, 512, 1024, 2048])}, {"odd_size": rng.choice([256, 512, 1024])},
        {"layout": rng.choice(row.layouts or (Layout.NORM,))}, {"layout": rng.choice(list(Layout))},
        {"element": data_type(rng.choice(sorted(row.source_types or ())))},
        {"base": beyond(rng, move, config)}, {"base": rng.getrandbits(64)}, {"stride": rng.getrandbits(64)},
    ])  # fmt: skip
    return replace(move, **change)


def beyond(rng: random.Random, move: Move, config: CoreConfig) -> int:
    """Return a base from which a line of a move leaves the address space of the bus, or that of the ISA."""
    end = rng.choice([1 << config.axi_address_bits, 1 << config.axi_address_bits, 1 << 64])
    span = max(move.line_addresses) - min(move.line_addresses) if move.stride != 0 and move.lines else 0
    reach = rng.choice([rng.randint(0, move.line_bytes + 1), rng.randint(0, span % REGION_BYTES + move.line_bytes)])
    return (end - reach) % (1 << 64)
