"""Engine commands of a block that has been bound."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig
from linxtile.isa.codes import size_bytes

from .arrangement import order_layout
from .geometry import DIMENSION_BITS, ROW_BYTES_BITS
from .issue import issue_layout
from .layouts import (
    CELL_BYTES,
    block_layout,
    byte_count_bits,
    cell_count_bits,
    granule_bits,
    handle_layout,
    lines_per_granule,
    load_layout,
    max_destinations,
    max_sources,
    move_layout,
    store_layout,
    tag_bits,
    vector_layout,
)
from .padding import PATTERN_BITS, PadPattern

__all__ = ["Commands"]

CODE_ZERO_BYTES = exact_log2(size_bytes(1)) - 1
"""Log2 of the bytes that size code 0 would have if it were a size."""


class Commands(wiring.Component):
    """Puts the command of a block together and offers it to one engine; nothing is stored here.

    Parameters
    ----------
    config : CoreConfig
        Sizes.

    Members
    -------
    block, sources, bases : In
        Description, source tiles, first granules of the destinations.
    width, row_bytes, pitch_bytes, valid_bytes, matrix_bytes, odd_nibble : In
        From :class:`~linxtile_rtl.geometry.Geometry`.
    by_columns, by_cells, transposed, source_order, tile_order, row_cells, cell_step : In
        From :class:`~linxtile_rtl.arrangement.Arrangement`.
    stride : Out(64)
        Distance of rows in memory, the default filled in.
    rows : Out
        Valid lines of memory.
    tag, after_finish, after_commit : In
        The block's tag and what it waits for.
    load, store, move, valid : In(1)
        The block is a load, a store, a move from tile to tile, otherwise of the vector engine; the command is there.
    taken : Out(1)
        The engine's queue takes the command in this cycle.
    loads, stores, moves, vectors : Out(stream of issue_layout(config, ...))
        Commands.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        byte_bits = byte_count_bits(config)
        super().__init__({
            "block": In(block_layout(config)),
            "sources": In(handle_layout(config)).array(max_sources(config)),
            "bases": In(data.ArrayLayout(granule_bits(config), max_destinations(config))),
            "width": In(3),
            "row_bytes": In(ROW_BYTES_BITS),
            "pitch_bytes": In(ROW_BYTES_BITS),
            "valid_bytes": In(byte_bits),
            "matrix_bytes": In(byte_bits),
            "odd_nibble": In(1),
            "by_columns": In(1),
            "by_cells": In(1),
            "transposed": In(1),
            "source_order": In(order_layout()),
            "tile_order": In(order_layout()),
            "row_cells": In(cell_count_bits(config)),
            "cell_step": In(cell_count_bits(config)),
            "stride": Out(64),
            "rows": Out(DIMENSION_BITS),
            "tag": In(tag_bits(config)),
            "after_finish": In(config.blocks_in_flight),
            "after_commit": In(config.blocks_in_flight),
            "load": In(1),
            "store": In(1),
            "move": In(1),
            "valid": In(1),
            "taken": Out(1),
            "loads": Out(stream.Signature(issue_layout(config, load_layout(config)))),
            "stores": Out(stream.Signature(issue_layout(config, store_layout(config)))),
            "moves": Out(stream.Signature(issue_layout(config, move_layout(config)))),
            "vectors": Out(stream.Signature(issue_layout(config, vector_layout(config)))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Give every member its value by name."""
        m = Module()
        block = self.block
        m.submodules.padding = padding = PadPattern()
        pattern = Signal(PATTERN_BITS)
        m.d.comb += [
            padding.data_type.eq(block.data_type),
            padding.pad.eq(block.pad),
            self.stride.eq(Mux(block.scalar_count > 1, block.scalars[1], self.row_bytes)),
            self.rows.eq(Mux(self.by_columns, block.valid_columns, block.valid_rows)),
        ]
        destination_line, destination_bytes = self._line(self.bases[0]), self._bytes(block.destinations[0].size_code)
        common = {
            "tag": self.tag,
            "valid_rows": self.rows,
            "row_bytes": self.row_bytes,
            "pitch_bytes": self.pitch_bytes,
        }
        part_bytes = Signal(byte_count_bits(self._config))
        # A part takes its columns of every row of memory, or its rows of every column.
        with m.If(~self.by_columns):
            m.d.comb += part_bytes.eq(self.pitch_bytes)
        with m.Elif(self.transposed):
            m.d.comb += part_bytes.eq((self.cell_step << self.width) >> 1)
        with m.Else():
            m.d.comb += part_bytes.eq(self.row_cells << exact_log2(CELL_BYTES))
        contiguous = Signal()
        # Half a byte of padding is a gap.
        follow_in_memory = (self.stride == self.row_bytes) & ~self.odd_nibble
        m.d.sync += [
            pattern.eq(padding.pattern),
            contiguous.eq(follow_in_memory & (self.row_bytes == part_bytes) & ~self.transposed),
        ]
        external = common | {
            "base": block.scalars[0],
            "stride": self.stride,
            "odd_nibble": self.odd_nibble,
            "width": self.width,
            "part_bytes": part_bytes,
            "area_bytes": Mux(self.by_columns, self.matrix_bytes, self.valid_bytes),
            "contiguous": contiguous,
            "by_cells": self.by_cells,
            "transposed": self.transposed,
            "row_cells": self.row_cells,
            "cell_step": self.cell_step,
        }
        source_bytes = self._bytes(self.sources[0].size_code)
        load = external | {
            "tile_count": block.destination_count,
            "tile_bytes": destination_bytes,
            "pad_pattern": pattern,
        }
        store = external | {"tile_count": block.source_count, "tile_bytes": source_bytes}
        move = {
            "tag": self.tag,
            "width": self.width,
            "valid_rows": block.valid_rows,
            "valid_columns": block.valid_columns,
            "columns": block.columns,
            "source_line": self._line(self.sources[0].base),
            "source_bytes": source_bytes,
            "source_by_columns": self.source_order.by_columns,
            "source_by_cells": self.source_order.by_cells,
            "destination_line": destination_line,
            "destination_bytes": destination_bytes,
            "destination_by_columns": self.tile_order.by_columns,
            "destination_by_cells": self.tile_order.by_cells,
            "pad_pattern": pattern,
        }
        vector = common | {
            "operation": block.operation,
            "data_type": block.data_type,
            "scalar": block.scalars[0],
            "valid_bytes": self.valid_bytes,
            "destination_line": destination_line,
            "destination_bytes": destination_bytes,
            "pad_pattern": pattern,
        }
        is_vector = ~(self.load | self.store | self.move)
        for port, chosen, values in (
            (self.loads, self.load, load),
            (self.stores, self.store, store),
            (self.moves, self.move, move),
            (self.vectors, is_vector, vector),
        ):
            m.d.comb += [
                port.valid.eq(self.valid & chosen),
                port.p.after_finish.eq(self.after_finish),
                port.p.after_commit.eq(self.after_commit),
            ]
            m.d.comb += [port.p.command[name].eq(value) for name, value in values.items()]
            with m.If(port.valid & port.ready):
                m.d.comb += self.taken.eq(1)
        bases = [handle.base for handle in self.sources]
        for lines, granules in (
            (self.vectors.p.command.source_lines, bases),
            (self.loads.p.command.tile_lines, self.bases),
            (self.stores.p.command.tile_lines, bases),
        ):
            m.d.comb += [line.eq(self._line(granule)) for line, granule in zip(lines, granules, strict=False)]
        return m

    def _line(self, granule: Value) -> Value:
        """First line of a granule."""
        return granule << exact_log2(lines_per_granule(self._config))

    def _bytes(self, size_code: Value) -> Value:
        """Bytes of a tile."""
        return (1 << size_code) << CODE_ZERO_BYTES
