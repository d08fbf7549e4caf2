"""Rules of the header decoder that a word breaks by itself or in the block that is open."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import unsigned
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from linxtile.config import CoreConfig
from linxtile.isa.codes import DEPENDENCY_NAMES, Destination, Layout, LoopNest
from linxtile.isa.faults import RULES, SETUP_WRITE_LIMIT, Rule, Stage
from linxtile.isa.types import DATA_TYPES, NO_TYPE
from linxtile_rtl.decoder_close import first_rule, header_layout
from linxtile_rtl.decoder_tables import OperationSets
from linxtile_rtl.decoder_words import SCALAR_FIELDS, field, identifier, token_layout
from linxtile_rtl.layouts import RULE_BITS, WordStatus

__all__ = ["DIMENSION_FORMS", "SETUP_COUNT_BITS", "Open", "WordRules", "has_destination"]

DIMENSION_FORMS = ("B.DIM", "C.B.DIM", "C.B.DIMI")
SETUP_COUNT_BITS = bits_for(SETUP_WRITE_LIMIT)


class Open(enum.Enum, shape=unsigned(2)):
    """The block that is open."""

    NONE = 0
    TILE = 1
    SETUP = 2
    EMPTY = 3
    """What B.HINT TRACE opens: it takes no words and commits nothing."""


def has_destination(bits: Value) -> Value:
    """Whether a B.IOT names a destination tile."""
    return field(bits, "B.IOT", "size").any() & (field(bits, "B.IOT", "destination") != Destination.NONE)


class WordRules(wiring.Component):
    """Checks one word, in the same cycle.

    For a word that closes a block the answer is that of the word alone, as if no block were open.

    Members
    -------
    token : In(token_layout(sets))
    opened : In(Open)
    header : In(header_layout(config, sets))
        The open tile block.
    setup_writes : In
        Register writes of the open set-up block.
    rule : Out
        Number of the first rule that the word breaks, 0 for none.
    """

    def __init__(self, config: CoreConfig, sets: OperationSets):
        self._sets = sets
        super().__init__({
            "token": In(token_layout(sets)),
            "opened": In(Open),
            "header": In(header_layout(config, sets)),
            "setup_writes": In(SETUP_COUNT_BITS),
            "rule": Out(RULE_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        token, form, bits = self.token, self.token.form, self.token.word.bits
        whole = token.word.status == WordStatus.WHOLE
        matched = Signal()
        starts_operation = Signal()
        m.d.comb += [
            matched.eq(form.as_value().any()),
            starts_operation.eq(form.bstart_tepl | form.bstart_tma | form.bstart_cube),
        ]
        # Every word that closes nothing belongs to a set-up block or to a tile block; B.TEXT to neither.
        outside = Mux(token.is_setup, self.opened != Open.SETUP, (self.opened != Open.TILE) | form.b_text)
        loop_is_bad = field(bits, "C.B.DIM", "loop") > max(LoopNest)
        destination = field(bits, "B.IOT", "destination")
        header = self.header
        conditions = {
            Rule.FETCH: token.word.status == WordStatus.BUS_ERROR,
            Rule.ILL_WORD: whole & ~matched & ~token.starts_block,
            Rule.ILL_BLOCK_KIND: token.starts_block & ~matched,
            Rule.ILL_NO_BLOCK: matched & ~token.closes_block & outside,
            Rule.ILL_OP: starts_operation & ~token.known_operation,
            Rule.ILL_TYPE: self._bad_type(m, starts_operation),
            Rule.ILL_LAYOUT: form.b_datr & (field(bits, "B.DATR", "layout") == Layout.RESERVED_16),
            Rule.ILL_DST_QUEUE: form.b_iot
            & has_destination(bits)
            & ((destination == Destination.STACK) | (destination == Destination.RESERVED_6)),
            Rule.ILL_LOOPNEST: form.c_b_dim & loop_is_bad,
            Rule.ILL_GPR: token.bad_register,
            Rule.ILL_DEP: form.b_iod
            & (
                Cat(field(bits, "B.IOD", name) > DEPENDENCY_NAMES for name in SCALAR_FIELDS).any()
                | (field(bits, "B.IOD", "destination") > 1)
            ),
            Rule.PARM_REPEAT: (form.b_datr & header.has_attributes)
            | (form.b_catr & header.has_control)
            | (form.b_iod & header.has_dependencies)
            | (form.b_hint & header.has_hint)
            | Cat(
                form[identifier(name)] & header.has_dimension.bit_select(field(bits, name, "loop"), 1)
                for name in DIMENSION_FORMS
            ).any(),
            Rule.DOUBLESET: form.b_ior & self._named_before(m),
            Rule.PARM_LAST: form.b_iot & header.has_tiles & header.last_tiles,
            Rule.SETUP_LIMIT: token.is_setup & (self.setup_writes == SETUP_WRITE_LIMIT),
            Rule.END_OF_STREAM: (token.word.status == WordStatus.TRUNCATED) | (token.word.last & ~token.stops),
        }
        order = sorted((row for row in RULES if row.stage is Stage.WORD), key=lambda row: row.order)
        m.d.comb += self.rule.eq(first_rule(m, (row.rule for row in order), conditions))
        return m

    def _bad_type(self, m: Module, starts_operation: Value) -> Value:
        """Whether the type code is reserved, or one that the operation of a BSTART does not take."""
        bits = self.token.word.bits
        first = field(bits, "BSTART.TEPL", "data_type")
        second = field(bits, "B.DATR", "data_type")
        allowed = self._sets.types.contains(m, self.token.requirements.types, first)
        assigned = Cat(second == code for code in (*(row.code for row in DATA_TYPES), NO_TYPE)).any()
        return (starts_operation & ~allowed) | (self.token.form.b_datr & ~assigned)

    def _named_before(self, m: Module) -> Value:
        """Whether a B.IOR names an input or output a second time."""
        bits, header = self.token.word.bits, self.header
        inputs = [field(bits, "B.IOR", name) for name in SCALAR_FIELDS]
        output = field(bits, "B.IOR", "destination")
        # Register 0 stands for "none" and is never recorded.
        return (
            self.token.same_register
            | Cat(header.inputs.bit_select(code, 1) for code in inputs).any()
            | header.outputs.bit_select(output, 1)
        )
