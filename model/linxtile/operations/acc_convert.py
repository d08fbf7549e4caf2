"""ACCCVT: the ACC scaled, converted and written as a tile. LinxISA v0.56, CUBE block, ACCCVT."""

from collections.abc import Sequence

import numpy as np

from linxtile.accumulator import Accumulator
from linxtile.arrays import Bytes, Codes, Result
from linxtile.conversion import convert
from linxtile.faults import BlockFault
from linxtile.flags import NO_FLAG
from linxtile.isa.block import Block
from linxtile.isa.codes import Layout, PadValue
from linxtile.isa.faults import Rule
from linxtile.numerics import arithmetic, tree_reduce
from linxtile.operations.base import Context, Outcome, element_type, second_type
from linxtile.operations.image import read_scalar, write_tile, write_vector
from linxtile.operations.layout import FRACTAL_ROWS, TileLayout, band_elements, tile_layout
from linxtile.stored_tile import StoredTile, matrix_rows


def output_layout(block: Block) -> TileLayout:
    """Return the layout of the main output; its rows follow from the tile size.

    NORM keeps the fractals of the ACC, 16 x 16 elements whatever their width; canonical NORM cuts or joins them to
    fractals of 512 bytes, which are those of NZ.
    """
    destination = second_type(block)
    columns = block.columns
    if block.layout is Layout.NORM:
        width = band_elements(destination) if block.canonical else FRACTAL_ROWS
        columns = -(-columns // width) * width
        return TileLayout(_rows(block, columns), columns, width)
    return tile_layout(block.layout.destination_order, _rows(block, columns), columns, destination)


def _rows(block: Block, columns: int) -> int:
    return matrix_rows(block.destinations[0].size_bytes, columns, second_type(block).storage_bits)


class AccConvert:
    """``dst0(i,j) = Convert(ACC[i,j] * scale)``, ``dst1[i] = maximum over j of ACC[i,j]``; releases the ACC."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """Rows and columns lie inside the ACC and inside the outputs."""
        if accumulator is None:
            raise ValueError(f"{block.operation.name} needs the contents of the ACC")
        layout = output_layout(block)
        if block.layout is Layout.NORM:
            aligned = layout.is_aligned
        else:
            aligned = not (second_type(block).is_packed and layout.columns % 2)
        if not aligned:
            raise BlockFault(Rule.PARM_ALIGN)
        m, n = accumulator.shape
        rows, columns = block.valid_rows, block.valid_columns
        vectors = block.destinations[1:]
        needed = rows * element_type(block).storage_bits
        if rows > min(layout.rows, m) or columns > n or any(needed > vector.size_bytes * 8 for vector in vectors):
            raise BlockFault(Rule.PARM_CAPACITY)

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Scale and convert with a rounding each; the row maximum is that of the raw values."""
        if context.accumulator is None:
            raise ValueError(f"{block.operation.name} needs the contents of the ACC")
        source, destination, track_flags = element_type(block), second_type(block), context.track_flags
        raw = context.accumulator.codes[: block.valid_rows, : block.valid_columns]
        scaled, flags = raw, NO_FLAG
        if block.scalars:
            scaled, flags = arithmetic(source, track_flags).multiply(raw, read_scalar(block))
        values, raised = convert(scaled, source, destination, block.rounding, block.saturate, track_flags)
        flags |= raised
        size = block.destinations[0].size_bytes
        outputs: list[Bytes] = [write_tile(size, output_layout(block), destination, PadValue.NULL, values)]
        for target in block.destinations[1:]:
            maxima, raised = _maxima(block, raw, track_flags)
            flags |= raised
            outputs.append(write_vector(target.size_bytes, maxima, source, PadValue.NULL))
        element_bits = [destination.storage_bits, source.storage_bits][: len(outputs)]
        return Outcome(outputs, flags, element_bits=element_bits)


def _maxima(block: Block, raw: Codes, track_flags: bool) -> Result:
    """Return the maximum of each row; NORM has no room for it and gives none."""
    if block.layout is Layout.NORM:
        return raw[:0, 0], NO_FLAG
    kind = arithmetic(element_type(block), track_flags)
    leaves, leaf_flags = kind.read(raw)
    maxima, node_flags = tree_reduce(np.ascontiguousarray(leaves.T), kind.maximum)
    return maxima, leaf_flags | node_flags
