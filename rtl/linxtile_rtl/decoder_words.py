"""First stage of the header decoder: what a word is, from its bits alone."""

from collections.abc import Mapping

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from linxtile.isa.codes import REGISTER_COUNT, Engine
from linxtile.isa.words import BLOCK_STARTS, WORDS, word_format
from linxtile_rtl.decoder_tables import OperationLookup, OperationSets, requirement_layout
from linxtile_rtl.gpr import INDEX_BITS
from linxtile_rtl.layouts import WordStatus, word_layout

__all__ = ["WordClassifier", "field", "form_layout", "identifier", "token_layout"]

SHORT_BITS = 16
SCALAR_FIELDS = ("source0", "source1", "source2")
REGISTER_READS: Mapping[str, str | None] = {
    "B.DIM": "register", "C.B.DIM": "register", "LUI": None, "ADDI": "source", "SLLI": "source",
}  # fmt: skip
"""Field that names the register a word reads; B.IOR reads several."""


def identifier(name: str) -> str:
    """Return the name of a word format as a Python word: ``B.IOT`` is ``b_iot``."""
    return name.lower().replace(".", "_").replace(" ", "_")


def field(bits: Value, form: str, name: str) -> Value:
    """Return field ``name`` of a word of format ``form``."""
    slices = word_format(form).field(name).slices
    return Cat(bits[low : low + width] for low, width in slices)


def form_layout() -> data.StructLayout:
    """One bit for each word format; at most one is set."""
    return data.StructLayout({identifier(row.name): 1 for row in WORDS})


def token_layout(sets: OperationSets) -> data.StructLayout:
    """A word with what its bits say.

    ``form`` is empty for a word without a format, and for one that was not read whole. ``starts_block`` also holds for
    kinds of blocks that this core does not run. ``registers`` are those whose values the word needs, ``scalar_count`` of
    them inputs of B.IOR; ``bad_register`` a register code that does not exist, ``same_register`` one that is named twice
    among the inputs. ``requirements`` and ``known_operation`` belong to block starts.
    """
    return data.StructLayout({
        "word": word_layout(),
        "form": form_layout(),
        "starts_block": 1,
        "closes_block": 1,
        "stops": 1,
        "is_setup": 1,
        "known_operation": 1,
        "requirements": requirement_layout(sets),
        "registers": data.ArrayLayout(INDEX_BITS, 2),
        "scalar_count": 2,
        "bad_register": 1,
        "same_register": 1,
        "accepted_at": 32,
    })  # fmt: skip


class WordClassifier(wiring.Component):
    """Tells what a word is, in the same cycle.

    Members
    -------
    word : In(word_layout())
    cycle : In(32)
        Copied to ``accepted_at``.
    token : Out(token_layout(sets))
    """

    def __init__(self, sets: OperationSets):
        self._sets = sets
        super().__init__({
            "word": In(word_layout()),
            "cycle": In(32),
            "token": Out(token_layout(sets)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        # Parts that others depend on are signals of their own: a simulator takes a structure that depends on itself, field
        # by field, for a loop.
        form, starts = self._recognise(m)
        closing = [form[identifier(row.name)] for row in WORDS if row.closes_block]
        setup = [form[identifier(row.name)] for row in WORDS if row.in_setup]
        token = self.token
        m.d.comb += [
            token.word.eq(self.word),
            token.form.eq(form),
            token.starts_block.eq(starts),
            token.closes_block.eq(starts | Cat(closing).any()),
            token.stops.eq(form.bstop | form.c_bstop),
            token.is_setup.eq(Cat(setup).any()),
            token.accepted_at.eq(self.cycle),
        ]
        self._look_up(m, form)
        self._registers(m, form)
        return m

    def _matches(self, length: int, match: int, mask: int) -> Value:
        """Whether the word has this length and these bits; of a short word only the low half counts."""
        same = (self.word.bits & mask) == match
        return same & (self.word.is_long == int(length > SHORT_BITS)) & (self.word.status == WordStatus.WHOLE)

    def _recognise(self, m: Module) -> tuple[data.View, Signal]:
        """Return the format of the word, and whether it starts a block of any kind."""
        form, starts = Signal(form_layout()), Signal()
        for row in WORDS:
            found = [self._matches(row.bits, match, mask) for match, mask in row.patterns]
            m.d.comb += form[identifier(row.name)].eq(Cat(found).any())
        m.d.comb += starts.eq(Cat(self._matches(*row) for row in BLOCK_STARTS).any())
        return form, starts

    def _look_up(self, m: Module, form: data.View) -> None:
        m.submodules.lookup = lookup = OperationLookup(self._sets)
        bits = self.word.bits
        m.d.comb += [
            lookup.function.eq(field(bits, "BSTART.TEPL", "function")),
            lookup.mode.eq(field(bits, "BSTART.TEPL", "mode")),
            self.token.known_operation.eq(lookup.known),
            self.token.requirements.eq(lookup.requirements),
        ]
        for engine in (Engine.TEPL, Engine.TMA, Engine.CUBE):
            with m.If(form[identifier(f"BSTART.{engine.name}")]):
                m.d.comb += lookup.engine.eq(engine)

    def _registers(self, m: Module, form: data.View) -> None:
        """Find the registers that the word reads, and codes that are none."""
        token, bits = self.token, self.word.bits
        first, second = token.registers
        for name, source in REGISTER_READS.items():
            with m.If(form[identifier(name)]):
                read = [field(bits, name, source)] if source is not None else []
                written = [field(bits, name, "destination")] if word_format(name).in_setup else []
                m.d.comb += [first.eq(code) for code in read]
                m.d.comb += token.bad_register.eq(
                    Cat(code >= REGISTER_COUNT for code in (*read, *written)).any()
                    | Cat(code == 0 for code in written).any()
                )
        with m.If(form.b_ior):
            inputs = [field(bits, "B.IOR", name) for name in SCALAR_FIELDS]
            output = field(bits, "B.IOR", "destination")
            used = [code.any() for code in inputs]
            same = [
                used[later] & (inputs[earlier] == inputs[later])
                for later in range(len(inputs))
                for earlier in range(later)
            ]
            m.d.comb += [
                token.bad_register.eq(Cat(code >= REGISTER_COUNT for code in (*inputs, output)).any()),
                token.same_register.eq(Cat(same).any()),
                token.scalar_count.eq(sum(used)),
                # Fields that are zero are skipped: the registers move up.
                first.eq(inputs[2]),
                second.eq(inputs[2]),
            ]
            with m.If(used[0]):
                m.d.comb += first.eq(inputs[0])
                with m.If(used[1]):
                    m.d.comb += second.eq(inputs[1])
            with m.Elif(used[1]):
                m.d.comb += first.eq(inputs[1])
