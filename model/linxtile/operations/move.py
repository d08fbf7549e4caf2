"""Loads, stores, and moves from tile to tile: elements change their places, never their bits."""

from collections.abc import Sequence

import numpy as np

from linxtile.accumulator import Accumulator
from linxtile.arrays import Codes
from linxtile.faults import BlockFault
from linxtile.isa.block import Block
from linxtile.isa.faults import Rule
from linxtile.operations.base import Context, Outcome, check_shapes, element_type
from linxtile.operations.image import elements, write_tile
from linxtile.operations.layout import TileLayout, is_fractal, tile_layout
from linxtile.operations.lines import Lines
from linxtile.operations.parts import check_parts, memory_is_transposed, parts, tile_order
from linxtile.stored_tile import StoredTile, matrix_rows


def _sizes(block: Block) -> list[int]:
    return [target.size_bytes for target in block.destinations]


class Load:
    """TLOAD: memory, by rows or columns, into one to eight tiles."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """The destinations are the parts of a matrix."""
        check_parts(block, _sizes(block))

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Read the valid elements, put each part on a background of padding."""
        lines = Lines.of(block)
        lines.require(context.memory, block, Rule.MEM_READ)
        sizes = _sizes(block)
        valid_bits = block.valid_rows * block.valid_columns * element_type(block).storage_bits
        if tile_order(block) == "ND" and [valid_bits] == [size * 8 for size in sizes]:
            return Outcome([lines.read_bytes(context.memory).copy().reshape(-1)])
        values = lines.read(context.memory, block)
        return Outcome([
            write_tile(sizes[0], part.layout, element_type(block), block.pad, values[part.area])
            for part in parts(block, sizes)
        ])  # fmt: skip


class Store:
    """TSTORE: the valid elements of one to eight tiles into memory, by rows or columns."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """The sources are the parts of a matrix."""
        check_parts(block, [source.size for source in sources])

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Collect the valid elements of the parts and write them and nothing else."""
        lines = Lines.of(block)
        lines.require(context.memory, block, Rule.MEM_WRITE)
        return Outcome(writes=lines.write(context.memory, block, _collect(block, sources)))


def _collect(block: Block, sources: Sequence[StoredTile]) -> Codes:
    """Return the valid area of the whole that the sources are parts of."""
    pieces = []
    for part, source in zip(parts(block, [source.size for source in sources]), sources, strict=True):
        codes = elements(source.data, element_type(block))
        pieces.append(part.layout.read(codes, part.valid_rows, part.valid_columns))
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=0 if memory_is_transposed(block) else 1)


class Move:
    """TMOV: ``dst(i,j) = src0(i,j)``, each tile in its own order."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """Two matrices; those in fractals consist of whole ones."""
        element_bits = element_type(block).storage_bits
        check_shapes(block, [(sources[0].size, element_bits), (block.destinations[0].size_bytes, element_bits)])
        for order, layout in zip(_orders(block), _layouts(block, sources), strict=True):
            if is_fractal(order) and not layout.is_aligned:
                raise BlockFault(Rule.PARM_ALIGN)

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Read the valid area in the one order and write it in the other, pad the rest."""
        source, destination = _layouts(block, sources)
        codes = elements(sources[0].data, element_type(block))
        values = source.read(codes, block.valid_rows, block.valid_columns)
        size = block.destinations[0].size_bytes
        return Outcome([write_tile(size, destination, element_type(block), block.pad, values)])


def _orders(block: Block) -> tuple[str, str]:
    return block.layout.source_order, block.layout.destination_order


def _layouts(block: Block, sources: Sequence[StoredTile]) -> list[TileLayout]:
    """Return the layouts of the source and the destination of a TMOV."""
    data_type = element_type(block)
    sizes = sources[0].size, block.destinations[0].size_bytes
    return [
        tile_layout(order, matrix_rows(size, block.columns, data_type.storage_bits), block.columns, data_type)
        for order, size in zip(_orders(block), sizes, strict=True)
    ]
