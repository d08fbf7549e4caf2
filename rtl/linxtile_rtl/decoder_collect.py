"""The header of the open tile block, filled word by word."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig
from linxtile.isa.codes import (
    DIMENSION_BITS,
    MAX_DEPENDENCY_SOURCES,
    QUEUE_DEPTH,
    REGISTER_BITS,
    REGISTER_COUNT,
    Destination,
    LoopNest,
    SourceForm,
)
from linxtile_rtl.decoder_close import ATTRIBUTES, header_layout
from linxtile_rtl.decoder_rules import DIMENSION_FORMS, has_destination
from linxtile_rtl.decoder_tables import OperationSets
from linxtile_rtl.decoder_words import SCALAR_FIELDS, field, identifier, token_layout
from linxtile_rtl.layouts import WORD_OFFSET_BITS

__all__ = ["HeaderCollector"]


class HeaderCollector(wiring.Component):
    """Keeps what the words of the open tile block have said.

    Members
    -------
    token : In(token_layout(sets))
        A word that breaks no rule.
    word_offset : In
        Halfwords from BSTART to the word.
    values : In, two of them
        Contents of the token's registers.
    begin : In(1)
        The word is the BSTART of a tile block: start with nothing.
    take : In(1)
        The word belongs to the open tile block: add what it says.
    header : Out(header_layout(config, sets))
        The sum of all words up to the cycle before.
    """

    def __init__(self, config: CoreConfig, sets: OperationSets):
        super().__init__({
            "token": In(token_layout(sets)),
            "word_offset": In(WORD_OFFSET_BITS),
            "values": In(REGISTER_BITS).array(2),
            "begin": In(1),
            "take": In(1),
            "header": Out(header_layout(config, sets)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        form = self.token.form
        with m.If(self.take):
            with m.If(form.b_datr):
                self._attributes(m)
            with m.If(form.b_catr):
                self._control(m)
            with m.If(form.b_iod):
                self._dependencies(m)
            with m.If(form.b_hint):
                m.d.sync += self.header.has_hint.eq(1)
            with m.If(form.b_ior):
                self._scalars(m)
            with m.If(form.b_iot):
                self._sources(m)
                self._destination(m)
            self._dimension(m)
        with m.If(self.begin):
            self._reset(m)
        return m

    def _reset(self, m: Module) -> None:
        """Start a block. What has a presence bit or a count needs no default of its own."""
        header, bits = self.header, self.token.word.bits
        m.d.sync += [
            header.requirements.eq(self.token.requirements),
            header.data_type.eq(field(bits, "BSTART.TEPL", "data_type")),
        ]
        m.d.sync += [header.attributes[name].eq(value) for name, value in ATTRIBUTES.items()]
        for name in (
            "has_attributes", "has_control", "acquire", "release", "trap", "has_dependencies", "awaits",
            "produces_token", "has_hint", "has_dimension", "inputs", "outputs", "scalar_count", "source_count",
            "destination_count", "has_tiles", "last_tiles", "has_acc", "has_queue",
        ):  # fmt: skip
            m.d.sync += header[name].eq(0)

    def _attributes(self, m: Module) -> None:
        header, bits = self.header, self.token.word.bits
        m.d.sync += [header.attributes[name].eq(field(bits, "B.DATR", name)) for name in ATTRIBUTES]
        m.d.sync += [header.has_attributes.eq(1), header.attributes_offset.eq(self.word_offset)]

    def _dependencies(self, m: Module) -> None:
        header, bits = self.header, self.token.word.bits
        sources = (field(bits, "B.IOD", f"source{number}") for number in range(MAX_DEPENDENCY_SOURCES))
        m.d.sync += [awaited.eq(source) for awaited, source in zip(header.awaits, sources, strict=True)]
        m.d.sync += [header.produces_token.eq(field(bits, "B.IOD", "destination")), header.has_dependencies.eq(1)]

    def _control(self, m: Module) -> None:
        header, bits = self.header, self.token.word.bits
        m.d.sync += [header[name].eq(field(bits, "B.CATR", name)) for name in ("acquire", "release", "trap")]
        m.d.sync += header.has_control.eq(1)

    def _dimension(self, m: Module) -> None:
        header, form, bits = self.header, self.token.form, self.token.word.bits
        immediate, loop, sets = Signal(DIMENSION_BITS), Signal(range(len(LoopNest))), Signal()
        for name, low in zip(DIMENSION_FORMS, ("immediate", None, "immediate"), strict=True):
            with m.If(form[identifier(name)]):
                m.d.comb += [loop.eq(field(bits, name, "loop")), sets.eq(1)]
                if low is not None:
                    m.d.comb += immediate.eq(field(bits, name, low))
        # A form without a register names register 0, which reads as zero.
        value = (self.values[0] + immediate)[:DIMENSION_BITS]
        for place in LoopNest:
            with m.If(sets & (loop == place)):
                m.d.sync += [header.dimensions[place].eq(value), header.has_dimension[place].eq(1)]

    def _scalars(self, m: Module) -> None:
        header, bits = self.header, self.token.word.bits
        count, new = header.scalar_count, self.token.scalar_count
        limit = (1 << len(count)) - 1
        for place in range(len(header.scalars)):
            for source in range(min(place + 1, len(self.values))):
                with m.If((count == place - source) & (new > source)):
                    m.d.sync += header.scalars[place].eq(self.values[source])
        m.d.sync += count.eq(Mux(count + new > limit, limit, count + new))
        named = [field(bits, "B.IOR", name) for name in SCALAR_FIELDS]
        output = field(bits, "B.IOR", "destination")
        for register in range(1, REGISTER_COUNT):
            with m.If(Cat(code == register for code in named).any()):
                m.d.sync += header.inputs[register].eq(1)
            with m.If(output == register):
                m.d.sync += header.outputs[register].eq(1)

    def _sources(self, m: Module) -> None:
        header, bits = self.header, self.token.word.bits
        shape = field(bits, "B.IOT", "form")
        new = Signal(range(max(member.count for member in SourceForm) + 1))
        with m.Switch(shape):
            for member in SourceForm:
                with m.Case(member):
                    m.d.comb += new.eq(member.count)
        count = header.source_count
        limit = (1 << len(count)) - 1
        queue_shift = (QUEUE_DEPTH - 1).bit_length()
        for place in range(len(header.sources)):
            for slot in range(min(place + 1, 2)):
                code = field(bits, "B.IOT", f"source{slot}")
                with m.If((count == place - slot) & (new > slot)):
                    m.d.sync += [
                        header.sources[place].index.eq(code[:queue_shift]),
                        header.sources[place].queue.eq(code[queue_shift:]),
                        header.sources[place].reuse.eq(field(bits, "B.IOT", f"reuse{slot}")),
                        header.sources[place].word_offset.eq(self.word_offset),
                    ]
        m.d.sync += count.eq(Mux(count + new > limit, limit, count + new))
        m.d.sync += [header.has_tiles.eq(1), header.last_tiles.eq(field(bits, "B.IOT", "last"))]

    def _destination(self, m: Module) -> None:
        header, bits = self.header, self.token.word.bits
        queue = field(bits, "B.IOT", "destination")
        count = header.destination_count
        with m.If(has_destination(bits)):
            for place in range(len(header.destinations)):
                with m.If(count == place):
                    m.d.sync += [
                        header.destinations[place].queue.eq(queue),
                        header.destinations[place].size_code.eq(field(bits, "B.IOT", "size")),
                        header.destinations[place].word_offset.eq(self.word_offset),
                    ]
            m.d.sync += count.eq(Mux(count.all(), count, count + 1))
            with m.If(queue == Destination.ACC):
                m.d.sync += header.has_acc.eq(1)
                with m.If(~header.has_acc):
                    m.d.sync += header.acc_offset.eq(self.word_offset)
            with m.Else():
                m.d.sync += header.has_queue.eq(1)
                with m.If(~header.has_queue):
                    m.d.sync += header.queue_offset.eq(self.word_offset)
