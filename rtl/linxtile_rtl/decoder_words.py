"""First stage of the header decoder: what a word is, from its bits alone."""

from collections.abc import Mapping

from amaranth import Cat, Module, Value
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
        token = self.token
        m.d.comb += [token.word.eq(self.word), token.accepted_at.eq(self.cycle)]
        self._recognise(m)
        self._look_up(m)
        self._registers(m)
        closing = [getattr(token.form, identifier(row.name)) for row in WORDS if row.closes_block]
        m.d.comb += [
            token.closes_block.eq(token.starts_block | Cat(closing).any()),
            token.stops.eq(token.form.bstop | token.form.c_bstop),
            token.is_setup.eq(Cat(getattr(token.form, identifier(row.name)) for row in WORDS if row.in_setup).any()),
        ]
        return m

    def _matches(self, length: int, match: int, mask: int) -> Value:
        """Whether the word has this length and these bits; of a short word only the low half counts."""
        same = (self.word.bits & mask) == match
        return same & (self.word.is_long == int(length > SHORT_BITS)) & (self.word.status == WordStatus.WHOLE)

    def _recognise(self, m: Module) -> None:
        for row in WORDS:
            found = [self._matches(row.bits, match, mask) for match, mask in row.patterns]
            m.d.comb += getattr(self.token.form, identifier(row.name)).eq(Cat(found).any())
        m.d.comb += self.token.starts_block.eq(Cat(self._matches(*row) for row in BLOCK_STARTS).any())

    def _look_up(self, m: Module) -> None:
        m.submodules.lookup = lookup = OperationLookup(self._sets)
        form, bits = self.token.form, self.word.bits
        m.d.comb += [
            lookup.function.eq(field(bits, "BSTART.TEPL", "function")),
            lookup.mode.eq(field(bits, "BSTART.TEPL", "mode")),
            self.token.known_operation.eq(lookup.known),
            self.token.requirements.eq(lookup.requirements),
        ]
        for engine in (Engine.TEPL, Engine.TMA, Engine.CUBE):
            with m.If(getattr(form, identifier(f"BSTART.{engine.name}"))):
                m.d.comb += lookup.engine.eq(engine)

    def _registers(self, m: Module) -> None:
        """Find the registers that the word reads, and codes that are none."""
        token, bits = self.token, self.word.bits
        inputs = [field(bits, "B.IOR", name) for name in SCALAR_FIELDS]
        used = [code.any() for code in inputs]
        same = [
            used[later] & (inputs[earlier] == inputs[later]) for later in range(len(inputs)) for earlier in range(later)
        ]
        first, second = token.registers
        reads: Mapping[str, tuple[str, ...]] = {
            "B.DIM": ("register",), "C.B.DIM": ("register",), "LUI": (), "ADDI": ("source",), "SLLI": ("source",),
        }  # fmt: skip
        for name, names in reads.items():
            with m.If(getattr(token.form, identifier(name))):
                sources = [field(bits, name, source) for source in names]
                for code in sources:
                    m.d.comb += first.eq(code)
                written = [field(bits, name, "destination")] if word_format(name).in_setup else []
                m.d.comb += token.bad_register.eq(
                    Cat(code >= REGISTER_COUNT for code in (*sources, *written)).any()
                    | Cat(code == 0 for code in written).any()
                )
        with m.If(token.form.b_ior):
            written = field(bits, "B.IOR", "destination")
            m.d.comb += [
                token.bad_register.eq(Cat(code >= REGISTER_COUNT for code in (*inputs, written)).any()),
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
