"""Rules that a block can break when it meets the tile queues, in the order of the fault table."""

from collections.abc import Iterator, Mapping
from enum import Enum, auto
from types import MappingProxyType

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig
from linxtile.isa.codes import size_code
from linxtile.isa.faults import Rule
from linxtile.isa.operations import Shape, operation

from .geometry import NEED_BITS
from .layouts import RULE_BITS, WORD_OFFSET_BITS, block_layout, handle_layout, max_sources

__all__ = ["OPERANDS", "BindRules", "Operand", "by_shape"]


class Operand(Enum):
    """What must fit into a tile."""

    MATRIX = auto()
    """``valid_rows`` rows of ``columns`` elements."""
    ROW_VECTOR = auto()
    """An element for each valid row."""
    COLUMN_VECTOR = auto()
    """An element for each valid column."""


_M, _R, _C = Operand.MATRIX, Operand.ROW_VECTOR, Operand.COLUMN_VECTOR

OPERANDS: Mapping[Shape, tuple[tuple[Operand, ...], Operand | None]] = MappingProxyType({
    Shape.ELEMENTWISE: ((_M, _M), _M),
    Shape.SCALAR_EXPAND: ((), _M),
    Shape.ROW_REDUCE: ((_M,), _R),
    Shape.COLUMN_REDUCE: ((_M,), _C),
    Shape.ROW_EXPAND: ((_R,), _M),
    Shape.ROW_EXPAND_OP: ((_M, _R), _M),
    Shape.COLUMN_EXPAND: ((_C,), _M),
    Shape.COLUMN_EXPAND_OP: ((_M, _C), _M),
    Shape.LOAD: ((), _M),
    Shape.STORE: ((_M,), None),
    Shape.MOVE: ((_M,), _M),
})  # fmt: skip
"""Sources and destination of each shape family that is bound here; the tiles of a load or store are all like the first."""


def by_shape(config: CoreConfig) -> dict[Shape, list[int]]:
    """Return the operation numbers of each shape family that the configuration runs.

    Raises
    ------
    ValueError
        The configuration has an operation whose operands are not described here.
    """
    numbers: dict[Shape, list[int]] = {}
    for name in config.operations:
        row = operation(name)
        sources = 1 if row.shape is Shape.STORE else row.max_sources
        if row.shape not in OPERANDS or sources > len(OPERANDS[row.shape][0]):
            raise ValueError(f"operations: {row.name} has operands that cannot be bound")
        numbers.setdefault(row.shape, []).append(row.number)
    return numbers


class BindRules(wiring.Component):
    """First rule that a block breaks; everything in the same cycle.

    Parameters
    ----------
    config : CoreConfig
        Operations, tile sizes.

    Members
    -------
    block : In(block_layout(config))
        Description of the block.
    sources : In(handle_layout(config)).array(max_sources(config))
        What its source names stand for.
    columns_short, columns_odd, matrix_code, row_vector_code, column_vector_code : In
        From :class:`~linxtile_rtl.geometry.Geometry`.
    misaligned : In(1)
        A tile has to consist of whole fractals, and does not.
    uneven : In(1)
        The tiles of a load or store cannot share its columns, or its rows, evenly.
    shared_rows, rows_short : In(1)
        They share the rows, so that each alone may have too few; all together have.
    placed : In(1)
        Storage was found for every destination.
    sizes_fit : Out(1)
        Every destination has an implemented size; needs ``block`` only.
    rule : Out
        Number of the rule, 0 when the block is in order.
    word_offset : Out
        Halfwords from the block's start to the reported word.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        self._numbers = by_shape(config)
        super().__init__({
            "block": In(block_layout(config)),
            "sources": In(handle_layout(config)).array(max_sources(config)),
            "columns_short": In(1),
            "columns_odd": In(1),
            "matrix_code": In(NEED_BITS),
            "row_vector_code": In(NEED_BITS),
            "column_vector_code": In(NEED_BITS),
            "misaligned": In(1),
            "uneven": In(1),
            "shared_rows": In(1),
            "rows_short": In(1),
            "placed": In(1),
            "sizes_fit": Out(1),
            "rule": Out(RULE_BITS),
            "word_offset": Out(WORD_OFFSET_BITS),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Check every rule, then let the lowest order win."""
        m = Module()
        block = self.block
        small, large = size_code(self._config.tile_min_bytes), size_code(self._config.tile_max_bytes)
        unreadable = [(block.source_count > number) & ~handle.live for number, handle in enumerate(self.sources)]
        unfit = [
            (block.destination_count > number) & ((tile.size_code < small) | (tile.size_code > large))
            for number, tile in enumerate(block.destinations)
        ]  # fmt: skip
        m.d.comb += self.sizes_fit.eq(~Cat(unfit).any())
        too_small = {operand: Signal(name=f"{operand.name.lower()}_too_small") for operand in Operand}
        for operand, signal in too_small.items():
            m.d.comb += signal.eq(Cat(self._too_small(m, operand)).any())

        broken: dict[Rule, Value] = {
            Rule.TILE_UNREADABLE: Cat(unreadable).any(),
            Rule.PARM_SIZE: Cat(unfit).any(),
            Rule.PARM_SPLIT: self.uneven | self._differ(m),
            Rule.PARM_VALID_COL: self.columns_short,
            Rule.PARM_VALID_ROW: Mux(self.shared_rows, self.rows_short, too_small[Operand.MATRIX]),
            Rule.PARM_ALIGN: self.columns_odd | self.misaligned,
            Rule.PARM_CAPACITY: too_small[Operand.ROW_VECTOR] | too_small[Operand.COLUMN_VECTOR],
            Rule.CAPACITY: ~self.placed,
        }
        # Later statements win, so the rules come in falling order.
        for rule in sorted(broken, key=lambda rule: rule.row.order, reverse=True):
            with m.If(broken[rule]):
                m.d.comb += self.rule.eq(rule)
        with m.If(broken[Rule.TILE_UNREADABLE]):
            m.d.comb += self.word_offset.eq(self._first(unreadable, block.sources))
        with m.Elif(broken[Rule.PARM_SIZE]):
            m.d.comb += self.word_offset.eq(self._first(unfit, block.destinations))
        return m

    def _differ(self, m: Module) -> Value:
        """Whether the tiles of a load or store are of different size."""
        differ = Signal()
        for shape, codes, count in (
            (Shape.LOAD, [tile.size_code for tile in self.block.destinations], self.block.destination_count),
            (Shape.STORE, [handle.size_code for handle in self.sources], self.block.source_count),
        ):
            with m.Switch(self.block.operation):
                with m.Case(*self._numbers.get(shape, ())):
                    m.d.comb += differ.eq(Cat((count > at) & (codes[at] != codes[0]) for at in range(len(codes))).any())
        return differ

    def _first(self, broken: list[Value], operands: data.View) -> Value:
        """Word of the first broken operand in header order."""
        offset: Value = Const(0)
        for is_broken, operand in reversed(list(zip(broken, operands, strict=True))):
            offset = Mux(is_broken, operand.word_offset, offset)
        return offset

    def _too_small(self, m: Module, operand: Operand) -> Iterator[Value]:
        """Whether each tile of the block, used as ``operand``, is too small for it."""
        needed = {
            Operand.MATRIX: self.matrix_code,
            Operand.ROW_VECTOR: self.row_vector_code,
            Operand.COLUMN_VECTOR: self.column_vector_code,
        }[operand]
        tiles = [(place, handle.size_code, self.block.source_count) for place, handle in enumerate(self.sources)]
        for place, code, count in (*tiles, (None, self.block.destinations[0].size_code, self.block.destination_count)):
            used = Signal(name=f"{operand.name.lower()}_{'destination' if place is None else f'source_{place}'}")
            with m.Switch(self.block.operation):
                for shape, numbers in self._numbers.items():
                    sources, destination = OPERANDS[shape]
                    role = destination if place is None else dict(enumerate(sources)).get(place)
                    if role is operand:
                        with m.Case(*numbers):
                            m.d.comb += used.eq(count > (place or 0))
            yield used & (code < needed)
