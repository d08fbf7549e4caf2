"""Header decoder: words in, one description a block out."""

from amaranth import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig
from linxtile.isa.codes import REGISTER_BITS
from linxtile.isa.faults import NO_BLOCK_ADDRESS
from linxtile_rtl.decoder_close import CloseRules
from linxtile_rtl.decoder_collect import HeaderCollector
from linxtile_rtl.decoder_rules import SETUP_COUNT_BITS, Open, WordRules
from linxtile_rtl.decoder_tables import OperationSets
from linxtile_rtl.decoder_words import WordClassifier, field, token_layout
from linxtile_rtl.gpr import INDEX_BITS, write_layout
from linxtile_rtl.layouts import WORD_OFFSET_BITS, BlockKind, block_layout, word_layout

__all__ = ["HeaderDecoder"]


class HeaderDecoder(wiring.Component):
    """Turns header words into block descriptions, in program order, a word a cycle.

    A word is classified when it is accepted and takes effect in the cycle after. The description of a block is offered
    while the word that closes it waits there: it goes the cycle after that word was accepted, and costs no cycle if it is
    taken at once. A word that breaks a rule, or ends the stream, needs a description of its own; when it also closes a
    block it takes two.

    After a FAULT or FINISH description no word is accepted until ``restart``.

    Parameters
    ----------
    config : CoreConfig
        Decides what is UNSUPPORTED and how many tiles a description holds.

    Members
    -------
    i : In(stream of word_layout())
        Words of a program, in order.
    o : Out(stream of block_layout(config))
        Descriptions. What no count or kind covers means nothing. ``pad`` of THISTOGRAM is its ByteId.
    read_index, read_data : Out / In, two of each
        Register file, answered in the same cycle; a write is seen by the next word.
    write : Out(stream of write_layout())
        Set-up words as they take effect.
    restart : In(1)
        Forget the open block and everything that waits, a description that was offered included.
    cycle : In(32)
        Cycle counter for ``closed_at``.
    """

    def __init__(self, config: CoreConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(word_layout())),
            "o": Out(stream.Signature(block_layout(config))),
            "read_index": Out(INDEX_BITS).array(2),
            "read_data": In(REGISTER_BITS).array(2),
            "write": Out(stream.Signature(write_layout())),
            "restart": In(1),
            "cycle": In(32),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        sets = OperationSets(self._config)
        m.submodules.classifier = classifier = WordClassifier(sets)
        m.submodules.word_rules = word_rules = WordRules(self._config, sets)
        m.submodules.collector = collector = HeaderCollector(self._config, sets)
        m.submodules.close_rules = close_rules = CloseRules(self._config, sets)

        token = Signal(token_layout(sets))
        present, halted, done = Signal(), Signal(), Signal()
        opened = Signal(Open)
        block_address = Signal(64)
        setup_writes = Signal(SETUP_COUNT_BITS)
        word, form = token.word, token.form

        # Stage 1: classify.
        m.d.comb += [
            classifier.word.eq(self.i.payload),
            classifier.cycle.eq(self.cycle),
            self.i.ready.eq((~present | done) & ~halted & ~self.restart),
        ]
        with m.If(done):
            m.d.sync += present.eq(0)
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [present.eq(1), token.eq(classifier.token)]

        # Stage 2: check, then close, open or collect.
        word_offset = Signal(WORD_OFFSET_BITS)
        active, faulty, closing, writing, offered = Signal(), Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            word_offset.eq((word.address - block_address)[1:]),
            word_rules.token.eq(token),
            word_rules.opened.eq(opened),
            word_rules.header.eq(collector.header),
            word_rules.setup_writes.eq(setup_writes),
            close_rules.header.eq(collector.header),
            collector.token.eq(token),
            collector.word_offset.eq(word_offset),
            active.eq(present & ~halted),
            faulty.eq(word_rules.rule != 0),
            closing.eq(token.closes_block & ((opened == Open.TILE) | (opened == Open.SETUP))),
            offered.eq(closing | faulty | (word.last & token.stops)),
            self.o.valid.eq(active & offered),
            writing.eq(token.is_setup & ~faulty),
            self.write.valid.eq(active & writing),
        ]
        for index, value, register, into in zip(
            self.read_index, self.read_data, token.registers, collector.values, strict=True
        ):
            m.d.comb += [index.eq(register), into.eq(value)]
        self._set_up(m, token)
        self._describe(m, token, opened, closing, faulty, block_address, setup_writes, word_rules, close_rules)
        m.d.comb += self._header(collector.header, close_rules)

        closed_well = (opened == Open.SETUP) | (close_rules.rule == 0)
        begins = form.bstart_tepl | form.bstart_tma | form.bstart_cube
        with m.If(active):
            with m.If(offered):
                with m.If(self.o.ready):
                    m.d.sync += opened.eq(Open.NONE)
                    m.d.sync += halted.eq(~closing | ~closed_well)
                    m.d.comb += done.eq(closing & closed_well & ~faulty & ~(word.last & token.stops))
            with m.Else():
                m.d.comb += done.eq(~writing | self.write.ready)
        with m.If(done):
            m.d.comb += [collector.begin.eq(begins), collector.take.eq(~token.closes_block & ~token.is_setup)]
            with m.If(token.closes_block):
                m.d.sync += [block_address.eq(word.address), setup_writes.eq(0), opened.eq(Open.NONE)]
            with m.If(begins):
                m.d.sync += opened.eq(Open.TILE)
            with m.If(form.bstart_std_fall):
                m.d.sync += opened.eq(Open.SETUP)
            with m.If(form.b_hint_trace):
                m.d.sync += opened.eq(Open.EMPTY)
            with m.If(token.is_setup):
                m.d.sync += setup_writes.eq(setup_writes + 1)
        with m.If(self.restart):
            m.d.sync += [present.eq(0), halted.eq(0), opened.eq(Open.NONE)]
        return m

    def _set_up(self, m: Module, token) -> None:
        """Work out what a set-up word writes."""
        bits, form, source = token.word.bits, token.form, self.read_data[0]
        upper = field(bits, "LUI", "immediate")
        lower_bits = len(field(bits, "ADDI", "immediate"))
        m.d.comb += [
            # All three have their destination in the same place.
            self.write.p.index.eq(field(bits, "LUI", "destination")),
            self.write.p.value.eq(source + field(bits, "ADDI", "immediate")),
        ]
        with m.If(form.slli):
            m.d.comb += self.write.p.value.eq(source << field(bits, "SLLI", "shift"))
        with m.If(form.lui):
            m.d.comb += self.write.p.value.eq(upper.as_signed() << lower_bits)

    def _describe(
        self, m: Module, token, opened, closing, faulty, block_address, setup_writes, word_rules, close_rules
    ) -> None:
        """Fill in kind, rule and addresses of the description."""
        description, address = self.o.p, token.word.address
        m.d.comb += [
            description.closed_at.eq(token.accepted_at),
            description.register_writes.eq(setup_writes),
            description.block_address.eq(block_address),
            description.word_address.eq(block_address + (close_rules.word_offset << 1)),
            description.rule.eq(close_rules.rule),
        ]
        with m.If(closing & (opened == Open.SETUP)):
            m.d.comb += [description.kind.eq(BlockKind.SETUP), description.rule.eq(0)]
        with m.Elif(closing):
            m.d.comb += description.kind.eq(Mux(close_rules.rule == 0, BlockKind.TILE, BlockKind.FAULT))
        with m.Else():
            m.d.comb += [
                description.kind.eq(Mux(faulty, BlockKind.FAULT, BlockKind.FINISH)),
                description.rule.eq(word_rules.rule),
                description.word_address.eq(address),
            ]
            with m.If(token.closes_block):
                # A rejected block start stands for its own block.
                m.d.comb += description.block_address.eq(address)
            with m.Elif(opened == Open.NONE):
                m.d.comb += description.block_address.eq(NO_BLOCK_ADDRESS)

    def _header(self, header, close_rules) -> list:
        """Copy what the words of the block have said."""
        description = self.o.p
        copied = (
            "data_type", "acquire", "release", "awaits", "produces_token", "scalars", "scalar_count", "sources",
            "source_count", "destinations", "destination_count",
        )  # fmt: skip
        renamed = {
            "layout": "layout", "pad": "pad", "compare": "compare", "rounding": "rounding", "saturate": "saturate",
            "canonical": "canonical", "second_type": "data_type",
        }  # fmt: skip
        return [
            description.operation.eq(header.requirements.number),
            description.trap_after.eq(header.trap),
            *(description[name].eq(header[name]) for name in copied),
            *(description[name].eq(header.attributes[source]) for name, source in renamed.items()),
            description.valid_columns.eq(close_rules.valid_columns),
            description.valid_rows.eq(close_rules.valid_rows),
            description.columns.eq(close_rules.columns),
        ]
