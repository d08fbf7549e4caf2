"""What the two writers of a load have to know about a tile before its first line."""

from amaranth.hdl import Value
from amaranth.lib import data, enum
from amaranth.utils import bits_for, exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES, byte_count_bits, cell_count_bits, line_bits, tag_bits

__all__ = [
    "CELL_BITS", "PATTERN_BYTES", "TILES_UNDER_WAY", "GapLines", "in_first_half", "pad_plan_layout",
    "plan_layout", "plans_ahead",
]  # fmt: skip

PATTERN_BYTES = 8

CELL_BITS = exact_log2(CELL_BYTES)

TILES_UNDER_WAY = 8
"""Most tiles between command and done."""

LATENCY_COVERED = 50
"""Cycles of memory latency that a stream of the smallest tiles does not feel."""

GAP_DISTANCE = 16
"""Bytes from the beginning of one gap to that of the next, at least: no line is shorter than 8, no cell than 32."""


def plans_ahead(config: CoreConfig) -> int:
    """Return how many tiles can wait for the writers, and for the walk that follows the answers of the bus.

    Their data is asked for meanwhile. A tile takes at least the cycles of its lines, so with wide lines more tiles have to be
    under way to fill the latency. Two are the fewest that follow each other without a pause.
    """
    lines = config.tile_min_bytes // config.vector_bytes
    return min(TILES_UNDER_WAY, max(2, -(-LATENCY_COVERED // lines)))


class GapLines(enum.IntEnum, shape=2):
    """Lines without valid bytes between two rows."""

    NONE = 0
    """Gaps are too short for any."""
    SOME = 1
    """None or one, which follows the data of its row: looking for the next one would take longer than writing it."""
    ALL = 2
    """Every gap holds one or more, which the pad walk writes from the beginning, whenever no data is there."""


def tile_size_bits(config: CoreConfig) -> int:
    """Bits of the size of a tile in units of the smallest one, a power of two."""
    return bits_for(config.tile_max_bytes // config.tile_min_bytes)


def plan_layout(config: CoreConfig) -> data.StructLayout:
    """What the writers of data need: ``rows`` of ``row_bytes``, ``pitch_bytes`` apart, from line ``tile_line`` on.

    ``gap_lines`` says who writes the lines between. ``tile_size`` counts smallest tiles. With ``by_cells`` the rows are cut
    into cells, which lie as ``cell_step`` says, see :func:`~linxtile_rtl.layouts.load_layout`; the pitch is that of its cells
    then. The rows here are those whose elements are neighbours in the tile: with ``transposed`` they lie across those of
    memory.
    """
    bits = byte_count_bits(config)
    return data.StructLayout({
        "tag": tag_bits(config),
        "rows": 16,
        "row_bytes": bits,
        "pitch_bytes": bits,
        "gap_lines": GapLines,
        "odd_nibble": 1,
        "tile_line": line_bits(config),
        "tile_size": tile_size_bits(config),
        "pad_pattern": PATTERN_BYTES * 8,
        "by_cells": 1,
        "cell_step": cell_count_bits(config),
        "transposed": 1,
    })  # fmt: skip


def pad_plan_layout(config: CoreConfig) -> data.StructLayout:
    """What the pad walk needs: ``count`` gaps, each behind ``data_bytes``, their ends ``pitch_bytes`` apart.

    The last gap goes on to the end of the tile, unless ``cells_follow``: as many cells as ``data_bytes`` would fill, with
    ``cell_rest`` bytes of data in each.
    """
    bits = byte_count_bits(config)
    return data.StructLayout({
        "tag": tag_bits(config),
        "count": bits_for(config.tile_max_bytes // GAP_DISTANCE),
        "data_bytes": bits,
        "pitch_bytes": bits,
        "cells_follow": 1,
        "cell_rest": CELL_BITS,
        "tile_line": line_bits(config),
        "tile_size": tile_size_bits(config),
        "pad_pattern": PATTERN_BYTES * 8,
    })  # fmt: skip


def in_first_half(config: CoreConfig, tile_size: Value, line: Value) -> Value:
    """Return whether ``line`` lies in the first half of a tile, which the image always fills: no row is longer than a tile."""
    # A line of the smallest tile's first half has no bit set from here on.
    upper = line[exact_log2(config.tile_min_bytes // config.vector_bytes) - 1 :]
    reached = tile_size[0]
    beyond = upper[0] & reached
    for bit in range(1, len(upper)):
        reached |= tile_size[bit] if bit < len(tile_size) else 0
        beyond |= upper[bit] & reached
    return ~beyond
