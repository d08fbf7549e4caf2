"""What a load has to know about its destination tile before it writes the first line."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, enum
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import byte_count_bits, cell_count_bits, line_bits, tag_bits

__all__ = ["PATTERN_BYTES", "GapLines", "background", "image_bytes", "plan_layout"]

PATTERN_BYTES = 8


class GapLines(enum.IntEnum, shape=2):
    """Lines without valid bytes between two rows."""

    NONE = 0
    """Gaps are too short for any."""
    SOME = 1
    """None or one, which follows the data of its row: looking for the next one would take longer than writing it."""
    ALL = 2
    """Every gap holds one or more: they are written from the beginning, whenever no data is there."""


def plan_layout(config: CoreConfig) -> data.StructLayout:
    """Destination of a load: ``rows`` of ``row_bytes``, ``pitch_bytes`` apart, from line ``tile_line`` on.

    ``valid_span`` counts the bytes from the first valid one to the last; ``gap_lines`` says who writes the lines between.
    The image is a whole number of ``image_pitch``. With ``by_cells`` the rows are cut into cells, which lie as
    ``row_cells`` and ``cell_step`` say; see :func:`~linxtile_rtl.layouts.load_layout`. The rows here are those whose elements
    are neighbours in the tile: with ``transposed`` they lie across those of memory. ``width`` is the elements' width code.
    """
    bits, cells = byte_count_bits(config), cell_count_bits(config)
    return data.StructLayout({
        "tag": tag_bits(config),
        "rows": 16,
        "row_bytes": bits,
        "pitch_bytes": bits,
        "image_pitch": bits,
        "valid_span": bits,
        "gap_lines": GapLines,
        "odd_nibble": 1,
        "tile_line": line_bits(config),
        "tile_bytes": bits,
        "pad_pattern": PATTERN_BYTES * 8,
        "by_cells": 1,
        "row_cells": cells,
        "cell_step": cells,
        "width": 3,
        "transposed": 1,
    })  # fmt: skip


def background(m: Module, plan: data.View, image: Value, line: Value, vector_bytes: int, name: str) -> Signal:
    """Return the padding of ``line`` (counted in the tile): the pattern in the ``image`` bytes, zero beyond them."""
    offset_bits = exact_log2(vector_bytes)
    image_line = image[offset_bits:]
    image_rest = image[:offset_bits]
    inside = Signal(name=f"{name}_inside")
    across = Signal(name=f"{name}_across")
    content = Signal(vector_bytes * 8, name=name)
    m.d.comb += [inside.eq(line < image_line), across.eq(line == image_line)]
    for byte in range(vector_bytes):
        with m.If(inside | (across & (image_rest > byte))):
            m.d.comb += content.word_select(byte, 8).eq(plan.pad_pattern.word_select(byte % PATTERN_BYTES, 8))
    return content


def image_bytes(m: Module, start: Value, pitch_bytes: Value, tile_bytes: Value) -> tuple[Signal, Signal]:
    """Find the bytes of all whole rows of a tile: all but ``tile_bytes mod pitch_bytes``.

    The remainder of a power of two comes from doubling, a step a cycle: at most log2 of the rows of the tile, none when the
    pitch is a power of two. A row is no longer than the tile, so the first half is inside in any case.

    Parameters
    ----------
    start : Value
        The two sizes are valid in this cycle only.

    Returns
    -------
    tuple of Signal
        Whether the answer is known, from the cycle after ``start``, and the answer; before, ``tile_bytes``.
    """
    power = Signal.like(tile_bytes)
    tile = Signal.like(tile_bytes)
    pitch = Signal.like(pitch_bytes)
    remainder = Signal.like(pitch_bytes)
    known = Signal()
    answer = Signal.like(tile_bytes)
    doubled = remainder << 1
    m.d.comb += [known.eq((power == tile) | (remainder == 0)), answer.eq(Mux(known, tile - remainder, tile))]
    with m.If(~known):
        m.d.sync += [power.eq(power << 1), remainder.eq(Mux(doubled >= pitch, doubled - pitch, doubled))]
    with m.If(start):
        # The highest power of two in the pitch is its own remainder, or leaves none when it is the pitch.
        highest = Signal.like(pitch_bytes)
        for bit in range(len(pitch_bytes)):
            with m.If(pitch_bytes[bit]):
                m.d.comb += highest.eq(1 << bit)
        m.d.sync += [
            tile.eq(tile_bytes),
            pitch.eq(pitch_bytes),
            power.eq(highest),
            remainder.eq(Mux(highest == pitch_bytes, 0, highest)),
        ]
    return known, answer
