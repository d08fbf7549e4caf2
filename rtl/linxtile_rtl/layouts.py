"""Payloads that pass between the parts of the core.

Every layout that depends on the configuration is a function of it; widths derive from the ISA tables.
"""

from amaranth.hdl import unsigned
from amaranth.lib import data, enum, stream
from amaranth.utils import bits_for, exact_log2

from linxtile.config import GRANULE_BYTES, CoreConfig
from linxtile.isa.codes import DEPENDENCY_NAMES, DIMENSION_BITS, MAX_DEPENDENCY_SOURCES, SIZE_CODE_BITS, Layout
from linxtile.isa.faults import RULES
from linxtile.isa.operations import OPERATIONS
from linxtile.isa.types import TYPE_CODE_BITS
from linxtile.isa.words import word_format

__all__ = [
    "CELL_BYTES", "COLUMN_ORDERS", "FRACTAL_BYTES", "FRACTAL_CELLS", "FRACTAL_ORDERS", "OPERATION_BITS", "RULE_BITS",
    "BlockKind", "WordStatus", "awaits_layout", "block_layout", "cell_count_bits", "destination_layout", "done_layout",
    "flags_layout", "fractal_layouts", "handle_layout", "lies_across", "line_write_layout", "load_layout", "max_destinations",
    "max_released", "max_scalars", "max_sources", "move_layout", "move_orders", "retire_layout", "row_byte_bits",
    "source_layout", "store_layout", "stream_of", "tag_bits", "tile_count_bits", "vector_layout", "width_code",
    "word_layout",
]  # fmt: skip

OPERATION_BITS = bits_for(len(OPERATIONS) - 1)
RULE_BITS = bits_for(len(RULES))
WORD_OFFSET_BITS = 24
"""Halfwords from the start of a block to one of its words: a header of up to 32 MiB is told precisely."""


CELL_BYTES = 32
"""Bytes of a cell, the unit of tiles in NZ and ZN order: neighbours in a row (NZ) or in a column (ZN)."""
FRACTAL_CELLS = 16
FRACTAL_BYTES = FRACTAL_CELLS * CELL_BYTES


FRACTAL_ORDERS = ("NZ", "ZN")
"""Orders of tiles that consist of fractals."""
COLUMN_ORDERS = ("DN", "ZN")
"""Orders that go column by column, in bands or whole."""


def _datr_bits(field: str) -> int:
    return word_format("B.DATR").field(field).width


class WordStatus(enum.Enum, shape=unsigned(2)):
    """What the fetch unit says of a word."""

    WHOLE = 0
    BUS_ERROR = 1
    TRUNCATED = 2
    """The stream ends inside a 32-bit word; only the low half is there."""


class BlockKind(enum.Enum, shape=unsigned(2)):
    """What a block description asks for."""

    TILE = 0
    SETUP = 1
    FAULT = 2
    """A header fault: ``rule`` and ``word_address`` tell it; nothing follows."""
    FINISH = 3
    """The stream has ended with no block open; nothing follows."""


def word_layout() -> data.StructLayout:
    """One header word: ``bits`` (16-bit words in the low half), ``is_long`` for 32 bits, byte ``address``."""
    return data.StructLayout({"bits": 32, "is_long": 1, "address": 64, "last": 1, "status": WordStatus})


def max_sources(config: CoreConfig) -> int:
    """Most source tiles of a block that the configuration runs."""
    return max(2, config.move_tiles)


def max_destinations(config: CoreConfig) -> int:
    """Most destination tiles of a block that the configuration runs."""
    return max(1, config.move_tiles)


def max_released(config: CoreConfig) -> int:
    """Most tiles that a block gives up: its sources and what one push drops, or what the pushes of a load drop."""
    return max(max_sources(config) + 1, max_destinations(config))


def max_scalars() -> int:
    """Most scalar inputs of an operation."""
    return 2


def source_layout() -> data.StructLayout:
    """A source operand: queue, ``index`` (``#1`` is 0), reuse flag, place of its B.IOT."""
    return data.StructLayout({"queue": 2, "index": 4, "reuse": 1, "word_offset": WORD_OFFSET_BITS})


def destination_layout() -> data.StructLayout:
    """A destination operand: queue, size code (``imm4``), place of its B.IOT."""
    return data.StructLayout({"queue": 2, "size_code": SIZE_CODE_BITS, "word_offset": WORD_OFFSET_BITS})


def awaits_layout() -> data.ArrayLayout:
    """Dependency tokens that a block names: 1 for the newest of older blocks, 0 for none."""
    return data.ArrayLayout(bits_for(DEPENDENCY_NAMES), MAX_DEPENDENCY_SOURCES)


def block_layout(config: CoreConfig) -> data.StructLayout:
    """A block description, as the decoder hands it to the binder: values, not register numbers.

    ``valid_columns``, ``valid_rows`` and ``columns`` have their defaults filled in. ``word_address`` and ``rule``
    belong to ``kind`` FAULT, ``register_writes`` to SETUP. Counts are of entries in use.
    ``closed_at`` is the cycle in which the closing word was accepted.
    """
    return data.StructLayout({
        "kind": BlockKind,
        "rule": RULE_BITS,
        "block_address": 64,
        "word_address": 64,
        "operation": OPERATION_BITS,
        "data_type": TYPE_CODE_BITS,
        "second_type": TYPE_CODE_BITS,
        "layout": _datr_bits("layout"),
        "pad": _datr_bits("pad"),
        "compare": _datr_bits("compare"),
        "rounding": _datr_bits("rounding"),
        "saturate": 1,
        "canonical": 1,
        "acquire": 1,
        "release": 1,
        "trap_after": 1,
        "awaits": awaits_layout(),
        "produces_token": 1,
        "valid_columns": DIMENSION_BITS,
        "valid_rows": DIMENSION_BITS,
        "columns": DIMENSION_BITS,
        "scalars": data.ArrayLayout(64, max_scalars()),
        "scalar_count": 2,
        "sources": data.ArrayLayout(source_layout(), max_sources(config)),
        "source_count": 4,
        "destinations": data.ArrayLayout(destination_layout(), max_destinations(config)),
        "destination_count": 4,
        "register_writes": 6,
        "closed_at": 32,
    })  # fmt: skip


def granule_bits(config: CoreConfig) -> int:
    """Bits of a granule number."""
    return bits_for(config.granules - 1)


def line_bits(config: CoreConfig) -> int:
    """Bits of a tile RAM line number."""
    return bits_for(config.lines - 1)


def lines_per_granule(config: CoreConfig) -> int:
    """Tile RAM lines in one granule."""
    return GRANULE_BYTES // config.vector_bytes


def tag_bits(config: CoreConfig) -> int:
    """Bits of the number of a block in flight."""
    return bits_for(config.blocks_in_flight - 1)


def handle_layout(config: CoreConfig) -> data.StructLayout:
    """A tile: first granule, size code, width code of its producer (:func:`width_code`)."""
    return data.StructLayout({"live": 1, "base": granule_bits(config), "size_code": SIZE_CODE_BITS, "width_code": 3})


MASK_WIDTH_CODE = 7
"""Width code of a packed mask."""


def width_code(element_bits: int) -> int:
    """Return the width code of a producer's element width: log2 of half-bytes, or the code of a mask for 1 bit."""
    return MASK_WIDTH_CODE if element_bits == 1 else exact_log2(element_bits // 4)


def flags_layout() -> data.StructLayout:
    """Status flags of a block (numeric_rules.md 12)."""
    return data.StructLayout({"invalid": 1, "divide_by_zero": 1, "overflow": 1})


def byte_count_bits(config: CoreConfig) -> int:
    """Bits of a count of bytes in one tile, the largest tile included."""
    return bits_for(config.tile_max_bytes)


def row_byte_bits(config: CoreConfig) -> int:
    """Bits of a count of bytes in a line of memory, as long as all tiles of a move together."""
    return bits_for(config.tile_max_bytes * config.move_tiles)


def tile_count_bits(config: CoreConfig) -> int:
    """Bits of the number of tiles of a move."""
    return bits_for(config.move_tiles)


def _move_members(config: CoreConfig) -> dict[str, object]:
    cells = cell_count_bits(config)
    return {
        "tag": tag_bits(config),
        "base": 64,
        "stride": 64,
        "valid_rows": DIMENSION_BITS,
        "row_bytes": row_byte_bits(config),
        "odd_nibble": 1,
        "width": 3,
        "tile_count": tile_count_bits(config),
        "tile_lines": data.ArrayLayout(line_bits(config), config.move_tiles),
        "tile_bytes": byte_count_bits(config),
        "part_bytes": byte_count_bits(config),
        "pitch_bytes": byte_count_bits(config),
        "area_bytes": byte_count_bits(config),
        "contiguous": 1,
        "by_cells": 1,
        "transposed": 1,
        "row_cells": cells,
        "cell_step": cells,
    }


def load_layout(config: CoreConfig) -> data.StructLayout:
    """Command of the load engine.

    In memory the rows of a move are its lines there: columns where memory is in column order (DN). There are ``valid_rows``
    of them, ``stride`` apart (the default filled in), with ``row_bytes`` valid bytes each (a last odd nibble counts as a
    byte and sets ``odd_nibble``); ``width`` is the width code of the elements (:func:`width_code`).

    ``tile_count`` tiles of ``tile_bytes`` begin at ``tile_lines``, multiples of the lines of a tile; each takes the next
    ``part_bytes`` of every row, so the last ones can be left with padding only. ``pitch_bytes`` are those of a row of the
    matrix that one tile holds: its image is a whole number of them. ``pad_pattern`` is eight bytes of padding.

    ``contiguous`` rows follow each other without a gap in memory and in the one tile that has them: ``area_bytes``. In general
    those are ``valid_rows`` times ``part_bytes``; of columns that are not contiguous they are of no meaning.

    ``by_cells`` tiles are in NZ or ZN order, of cells of 32 bytes. Then ``cell_step`` is the number of rows (NZ) or columns
    (ZN) of a tile, padding included, and cell g of row (column) i is cell ``g * cell_step + i``; ``row_cells`` are the
    cells of a row (column). ``transposed``: a cell lies across the rows of memory, not along them (ND2ZN, DN2NZ).
    """
    return data.StructLayout({**_move_members(config), "pad_pattern": 64})


def store_layout(config: CoreConfig) -> data.StructLayout:
    """Command of the store engine; members as in :func:`load_layout`."""
    return data.StructLayout(_move_members(config))


def move_layout(config: CoreConfig) -> data.StructLayout:
    """Command of the engine that moves tile to tile.

    ``width`` is the width code of the elements (:func:`width_code`), ``columns`` the physical columns of both tiles; each has
    as many whole rows as its bytes hold. A tile goes ``by_columns`` in DN and ZN order, ``by_cells`` in NZ and ZN order; a
    tile by cells consists of whole fractals. ``source_line`` and ``destination_line`` are the first lines of the tiles.
    """
    return data.StructLayout({
        "tag": tag_bits(config),
        "width": 3,
        "valid_rows": DIMENSION_BITS,
        "valid_columns": DIMENSION_BITS,
        "columns": DIMENSION_BITS,
        "source_line": line_bits(config),
        "source_bytes": byte_count_bits(config),
        "source_by_columns": 1,
        "source_by_cells": 1,
        "destination_line": line_bits(config),
        "destination_bytes": byte_count_bits(config),
        "destination_by_columns": 1,
        "destination_by_cells": 1,
        "pad_pattern": 64,
    })  # fmt: skip


def vector_layout(config: CoreConfig) -> data.StructLayout:
    """Command of the vector engine.

    ``valid_bytes`` is ``valid_rows * pitch_bytes``; ``row_bytes`` and ``pitch_bytes`` describe the matrix-shaped source, or
    the destination where there is none. ``source_lines`` are the first lines of the sources in header order.
    """
    return data.StructLayout({
        "tag": tag_bits(config),
        "operation": OPERATION_BITS,
        "data_type": TYPE_CODE_BITS,
        "scalar": 64,
        "valid_rows": DIMENSION_BITS,
        "row_bytes": byte_count_bits(config),
        "pitch_bytes": byte_count_bits(config),
        "valid_bytes": byte_count_bits(config),
        "source_lines": data.ArrayLayout(line_bits(config), max_sources(config)),
        "destination_line": line_bits(config),
        "destination_bytes": byte_count_bits(config),
        "pad_pattern": 64,
    })  # fmt: skip


def done_layout(config: CoreConfig) -> data.StructLayout:
    """Report of an engine: block ``tag`` has finished; ``fault`` with ``rule`` and the data address ``fault_address``."""
    return data.StructLayout({
        "tag": tag_bits(config),
        "flags": flags_layout(),
        "fault": 1,
        "rule": RULE_BITS,
        "fault_address": 64,
    })  # fmt: skip


def move_orders(layout: Layout) -> tuple[str, str]:
    """Return the orders of memory (ND, DN) and of the tiles (ND, NZ, ZN) in a load or store of ``layout``."""
    orders = (layout.source_order, layout.destination_order)
    fractal = next((order for order in orders if order in FRACTAL_ORDERS), "ND")
    return ("DN" if "DN" in orders else "ND"), fractal


def fractal_layouts(config: CoreConfig) -> tuple[Layout, ...]:
    """Return the layouts of the configuration whose loads or stores have tiles of cells, in NZ or ZN order."""
    return tuple(
        layout for layout in Layout if layout.name in config.move_layouts and move_orders(layout)[1] in FRACTAL_ORDERS
    )


def lies_across(layout: Layout) -> bool:
    """Whether a cell of the tile lies across the lines of memory in a load or store of ``layout``."""
    memory, tile = move_orders(layout)
    return tile in FRACTAL_ORDERS and (tile in COLUMN_ORDERS) != (memory in COLUMN_ORDERS)


def cell_count_bits(config: CoreConfig) -> int:
    """Bits of a count of cells in one tile, the largest tile included."""
    return bits_for(config.tile_max_bytes // CELL_BYTES)


def line_write_layout(config: CoreConfig) -> data.StructLayout:
    """One whole line for the tile RAM; ``tag`` names the block that writes it."""
    return data.StructLayout({"tag": tag_bits(config), "line": line_bits(config), "data": config.vector_bytes * 8})


def retire_layout(config: CoreConfig) -> data.StructLayout:
    """What leaves the core when a block commits or faults; a fault is the last one.

    The committed state (queues, pointer, flags, registers) already includes this block when the record is valid.
    """
    return data.StructLayout({
        "kind": BlockKind,
        "tag": tag_bits(config),
        "operation": OPERATION_BITS,
        "block_address": 64,
        "word_address": 64,
        "rule": RULE_BITS,
        "fault_address": 64,
        "flags": flags_layout(),
        "trap_after": 1,
        "closed_at": 32,
        "retired_at": 32,
    })  # fmt: skip


def stream_of(layout: data.StructLayout) -> stream.Signature:
    """Signature of a stream of ``layout``."""
    return stream.Signature(layout)
