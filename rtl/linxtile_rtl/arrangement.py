"""How the tiles of a move hold their matrix: which order, which share of it, how many cells."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig
from linxtile.isa.codes import DIMENSION_BITS, SIZE_CODE_BITS, Layout
from linxtile.isa.operations import operation

from .fractals import FractalGrid
from .layouts import COLUMN_ORDERS, FRACTAL_ORDERS, block_layout, cell_count_bits, move_orders
from .split import PartSplit

__all__ = ["Arrangement", "order_layout"]


def order_layout() -> data.StructLayout:
    """Order of a tile: column by column (DN, ZN), in cells (NZ, ZN)."""
    return data.StructLayout({"by_columns": 1, "by_cells": 1})


def _order(name: str) -> dict[str, int]:
    return {"by_columns": int(name in COLUMN_ORDERS), "by_cells": int(name in FRACTAL_ORDERS)}


class Arrangement(wiring.Component):
    """Orders and shares of a block's tiles, and whether they come out even; for blocks that do not move: nothing to say.

    The answer is there two cycles after the sizes are known, later when several tiles have to share a matrix or fractals
    have to be counted.

    Parameters
    ----------
    config : CoreConfig
        Layouts and tiles of moves, tile sizes.

    Members
    -------
    block : In(block_layout(config))
        Description; looked at while ``binding``, from the start after ``clear``.
    load, store, move : In(1)
        The block is a load, a store, a move from tile to tile.
    binding, clear : In(1)
        See above.
    width : In(3)
        Width code of the type.
    source_code : In
        Size code of the first source. ``sizes_known`` : In(1): it is there.
    done : Out(1)
        All is known, the outputs of :class:`~linxtile_rtl.geometry.Geometry` for ``part_columns`` included.
    part_columns : Out
        Columns of each tile.
    by_columns, by_cells, transposed : Out(1)
        Load or store: the lines of memory are columns; the tiles consist of cells, which lie across the lines of memory.
    source_order, tile_order : Out(order_layout())
        Orders of the source of a move from tile to tile, and of all other tiles of moves.
    row_cells, cell_step : Out
        Of each tile of a load or store, see :func:`~linxtile_rtl.layouts.load_layout`.
    misaligned, uneven, shared_rows, rows_short : Out(1)
        As in :class:`~linxtile_rtl.bind_rules.BindRules`.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        cells = cell_count_bits(config)
        super().__init__({
            "block": In(block_layout(config)),
            "load": In(1),
            "store": In(1),
            "move": In(1),
            "binding": In(1),
            "clear": In(1),
            "width": In(3),
            "source_code": In(SIZE_CODE_BITS),
            "sizes_known": In(1),
            "done": Out(1),
            "part_columns": Out(DIMENSION_BITS),
            "by_columns": Out(1),
            "by_cells": Out(1),
            "transposed": Out(1),
            "source_order": Out(order_layout()),
            "tile_order": Out(order_layout()),
            "row_cells": Out(cells),
            "cell_step": Out(cells),
            "misaligned": Out(1),
            "uneven": Out(1),
            "shared_rows": Out(1),
            "rows_short": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Divide the matrix among the tiles, then count the fractals of one."""
        m = Module()
        config, block = self._config, self.block
        m.submodules.split = split = PartSplit(config=config)
        m.submodules.grid = grid = FractalGrid(config=config)
        m.submodules.source_grid = source_grid = FractalGrid(config=config)
        self._orders(m)

        asked, begun, settled = Signal(), Signal(), Signal()
        ready = self.binding & (self.sizes_known | ~(self.store | self.move))
        external = self.load | self.store
        size_code = Mux(self.store, self.source_code, block.destinations[0].size_code)
        count = Mux(external, Mux(self.load, block.destination_count, block.source_count), 1)
        m.d.comb += [
            split.start.eq(ready & ~asked),
            split.columns.eq(block.columns),
            split.width.eq(self.width),
            split.size_code.eq(size_code),
            split.tile_count.eq(count),
            split.by_rows.eq(self.by_columns),
            self.part_columns.eq(split.part_columns),
        ]
        start = Signal()
        m.d.comb += start.eq(ready & split.done & ~begun)
        for counted, order, code in (
            (grid, self.tile_order, size_code), (source_grid, self.source_order, self.source_code)
        ):  # fmt: skip
            m.d.comb += [
                counted.start.eq(start),
                counted.columns.eq(split.part_columns),
                counted.width.eq(self.width),
                counted.size_code.eq(code),
                counted.by_columns.eq(order.by_columns),
            ]
        m.d.sync += [
            asked.eq(ready & ~self.clear),
            begun.eq((begun | start) & ~self.clear),
            settled.eq(begun & ~self.clear),
        ]

        moves = external | self.move
        in_cells = moves & self.tile_order.by_cells
        source_in_cells = self.move & self.source_order.by_cells
        m.d.comb += [
            self.done.eq(settled & (grid.done | ~in_cells) & (source_grid.done | ~source_in_cells)),
            self.by_cells.eq(external & self.tile_order.by_cells),
            self.transposed.eq(self.by_cells & (self.tile_order.by_columns != self.by_columns)),
            self.row_cells.eq(grid.row_cells),
            self.cell_step.eq(grid.cell_step),
            self.misaligned.eq((in_cells & grid.misaligned) | (source_in_cells & source_grid.misaligned)),
            self.uneven.eq(external & split.uneven),
            self.shared_rows.eq(external & self.by_columns & (count != 1)),
            self.rows_short.eq(block.valid_rows > split.whole_rows),
        ]
        return m

    def _orders(self, m: Module) -> None:
        """Look the layout up."""
        external = [layout for layout in Layout if layout.name in self._config.move_layouts]
        with m.If(self.load | self.store):
            with m.Switch(self.block.layout):
                for layout in external:
                    memory, tile = move_orders(layout)
                    with m.Case(layout):
                        m.d.comb += [self.by_columns.eq(memory in COLUMN_ORDERS), *_assign(self.tile_order, tile)]
        with m.Elif(self.move):
            with m.Switch(self.block.layout):
                for layout in operation("TMOV").layouts or ():
                    with m.Case(layout):
                        m.d.comb += [
                            *_assign(self.source_order, layout.source_order),
                            *_assign(self.tile_order, layout.destination_order),
                        ]


def _assign(order: data.View, name: str) -> list[Value]:
    return [order[member].eq(value) for member, value in _order(name).items()]
