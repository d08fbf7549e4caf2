"""The open block of the header decoder, and the rules that are checked when it closes."""

from collections.abc import Iterable, Mapping

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from linxtile.config import CoreConfig
from linxtile.isa.codes import (
    DIMENSION_BITS,
    REGISTER_BITS,
    REGISTER_COUNT,
    CompareMode,
    Layout,
    LoopNest,
    PadValue,
    RoundingMode,
)
from linxtile.isa.faults import RULES, Rule, Stage
from linxtile.isa.types import DATA_TYPES, NO_TYPE, TYPE_CODE_BITS
from linxtile.isa.words import word_format
from linxtile_rtl.decoder_tables import COUNT_BITS, DimensionRoles, OperationSets, requirement_layout
from linxtile_rtl.layouts import (
    RULE_BITS,
    WORD_OFFSET_BITS,
    awaits_layout,
    destination_layout,
    max_destinations,
    max_scalars,
    max_sources,
    source_layout,
)

__all__ = ["ATTRIBUTES", "CloseRules", "first_rule", "header_layout"]

ATTRIBUTES: Mapping[str, int] = {
    "layout": Layout.NORM, "data_type": NO_TYPE, "rounding": RoundingMode.NONE, "canonical": 0, "saturate": 0,
    "pad": PadValue.NULL, "compare": CompareMode.EQ,
}  # fmt: skip
"""Fields of B.DATR and what they are when it is absent."""

LATE_WORD_RULES = (Rule.ILL_TYPE, Rule.ILL_LAYOUT, Rule.ILL_DST_QUEUE, Rule.PARM_LAST)
"""Rules of single words that show only when the block closes; they come before the close rules, in their own order."""


def first_rule(m: Module, rules: Iterable[Rule], conditions: Mapping[Rule, Value]) -> Signal:
    """Return a signal with the number of the first of ``rules`` whose condition holds, 0 if none does."""
    order = tuple(rules)
    if set(order) != set(conditions):
        raise ValueError(f"each rule needs one condition, these differ: {set(order) ^ set(conditions)!r}")
    broken = Signal(RULE_BITS)
    for rule in reversed(order):
        with m.If(conditions[rule]):
            m.d.comb += broken.eq(rule)
    return broken


def attribute_layout() -> data.StructLayout:
    """The fields of B.DATR."""
    return data.StructLayout({name: word_format("B.DATR").field(name).width for name in ATTRIBUTES})


def header_layout(config: CoreConfig, sets: OperationSets) -> data.StructLayout:
    """What the words of an open tile block have said; addresses are offsets in halfwords from BSTART.

    Counts stop at their largest value. Of tiles and scalars beyond what the configuration runs only the count is kept.
    ``acc_offset`` and ``queue_offset`` are the first B.IOT whose destination is the ACC or a queue.
    """
    return data.StructLayout({
        "requirements": requirement_layout(sets),
        "data_type": TYPE_CODE_BITS,
        "attributes": attribute_layout(),
        "has_attributes": 1,
        "attributes_offset": WORD_OFFSET_BITS,
        "has_control": 1,
        "acquire": 1,
        "release": 1,
        "trap": 1,
        "has_dependencies": 1,
        "awaits": awaits_layout(),
        "produces_token": 1,
        "has_hint": 1,
        "dimensions": data.ArrayLayout(DIMENSION_BITS, len(LoopNest)),
        "has_dimension": len(LoopNest),
        "inputs": REGISTER_COUNT,
        "outputs": REGISTER_COUNT,
        "scalars": data.ArrayLayout(REGISTER_BITS, max_scalars()),
        "scalar_count": bits_for(max_scalars() + 1),
        "sources": data.ArrayLayout(source_layout(), max_sources(config)),
        "source_count": COUNT_BITS,
        "destinations": data.ArrayLayout(destination_layout(), max_destinations(config)),
        "destination_count": COUNT_BITS,
        "has_tiles": 1,
        "last_tiles": 1,
        "has_acc": 1,
        "acc_offset": WORD_OFFSET_BITS,
        "has_queue": 1,
        "queue_offset": WORD_OFFSET_BITS,
    })  # fmt: skip


class CloseRules(wiring.Component):
    """Checks an open block as it closes, in the same cycle.

    Members
    -------
    header : In(header_layout(config, sets))
        The open block.
    rule : Out
        Number of the first rule it breaks, 0 for none.
    word_offset : Out
        Halfwords from BSTART to the word that the rule reports.
    valid_columns, valid_rows, columns : Out
        Dimensions by their role for the operation, defaults filled in; M, N and K of a matrix product.
    """

    def __init__(self, config: CoreConfig, sets: OperationSets):
        self._config = config
        self._sets = sets
        super().__init__({
            "header": In(header_layout(config, sets)),
            "rule": Out(RULE_BITS),
            "word_offset": Out(WORD_OFFSET_BITS),
            "valid_columns": Out(DIMENSION_BITS),
            "valid_rows": Out(DIMENSION_BITS),
            "columns": Out(DIMENSION_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        header = self.header
        asked = header.requirements
        closing = sorted((row for row in RULES if row.stage is Stage.CLOSE), key=lambda row: row.order)
        conditions = {
            **self._word_rules(m),
            Rule.PARM_TILES: (header.source_count < asked.min_sources)
            | (header.source_count > asked.max_sources)
            | (header.destination_count < asked.min_destinations)
            | (header.destination_count > asked.max_destinations),
            Rule.PARM_REGS: (header.scalar_count < asked.min_scalars)
            | (header.scalar_count > asked.max_scalars)
            | header.outputs.any(),
            Rule.ILL_CMODE: asked.compares & (header.attributes.compare > max(CompareMode)),
            Rule.ILL_BYTEID: asked.counts_bytes & (header.attributes.pad >= self._element_bytes(m)),
            Rule.UNSUPPORTED: ~self._supported(m),
            Rule.PARM_ZERO: self._some_zero(m),
        }
        m.d.comb += self.rule.eq(first_rule(m, (*LATE_WORD_RULES, *(row.rule for row in closing)), conditions))
        # The word reported is BSTART unless the rule is about B.DATR or a B.IOT; an absent B.DATR stands at BSTART too.
        with m.Switch(self.rule):
            with m.Case(Rule.ILL_TYPE, Rule.ILL_LAYOUT, Rule.ILL_CMODE, Rule.ILL_BYTEID):
                with m.If(header.has_attributes):
                    m.d.comb += self.word_offset.eq(header.attributes_offset)
            with m.Case(Rule.ILL_DST_QUEUE):
                m.d.comb += self.word_offset.eq(Mux(asked.writes_acc, header.queue_offset, header.acc_offset))
        self._dimensions(m)
        return m

    def _word_rules(self, m: Module) -> dict[Rule, Value]:
        header, sets = self.header, self._sets
        asked = header.requirements
        seconds = sets.second_sets(m, asked.pairing, header.data_type)
        return {
            Rule.ILL_TYPE: ~sets.seconds.contains(m, seconds, header.attributes.data_type),
            Rule.ILL_LAYOUT: ~sets.layouts.contains(m, asked.layouts, header.attributes.layout),
            Rule.ILL_DST_QUEUE: Mux(asked.writes_acc, header.has_queue, header.has_acc),
            Rule.PARM_LAST: header.has_tiles & ~header.last_tiles,
        }

    def _element_bytes(self, m: Module) -> Signal:
        """Bytes of an element of the first type."""
        count = Signal(4)
        with m.Switch(self.header.data_type):
            for row in DATA_TYPES:
                with m.Case(row.code):
                    m.d.comb += count.eq(row.storage_bits // 8)
        return count

    def _supported(self, m: Module) -> Value:
        header, config = self.header, self._config
        asked = header.requirements
        layouts = Const(sum(1 << Layout[name] for name in config.move_layouts), len(Layout))
        fits = (header.source_count <= config.move_tiles) & (header.destination_count <= config.move_tiles)
        runs = self._sets.runs.contains(m, asked.runs, header.data_type)
        return runs & (~asked.moves | (fits & layouts.bit_select(header.attributes.layout, 1)))

    def _some_zero(self, m: Module) -> Signal:
        """Whether a dimension that the operation uses is set to zero."""
        header = self.header
        used = Signal(len(LoopNest))
        with m.Switch(header.requirements.roles):
            for roles in DimensionRoles:
                with m.Case(roles):
                    m.d.comb += used.eq((1 << roles.count) - 1)
        zero = Cat(value == 0 for value in header.dimensions)
        found = Signal()
        m.d.comb += found.eq((used & header.has_dimension & zero).any())
        return found

    def _dimensions(self, m: Module) -> None:
        header = self.header
        given = [
            Mux(header.has_dimension[place], header.dimensions[place], 1) for place in range(len(header.has_dimension))
        ]
        m.d.comb += [self.valid_columns.eq(given[0]), self.valid_rows.eq(given[1]), self.columns.eq(given[2])]
        with m.Switch(header.requirements.roles):
            with m.Case(DimensionRoles.TILE):
                with m.If(~header.has_dimension[LoopNest.LB2]):
                    m.d.comb += self.columns.eq(given[0])
            with m.Case(DimensionRoles.MASKED):
                m.d.comb += self.columns.eq(given[0])
            with m.Case(DimensionRoles.CONVERT):
                m.d.comb += [self.valid_columns.eq(given[1]), self.valid_rows.eq(given[0]), self.columns.eq(given[1])]
