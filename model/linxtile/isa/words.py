"""Header words: formats, fields, patterns; encoding and decoding of single words.

Field values are codes (tables in :mod:`linxtile.isa.codes`); whether a code is reserved is decided by the decoder,
which knows the rule to report. Only what decides the *format* of a word is checked here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from linxtile.isa.codes import Engine, LoopNest, SourceForm


@dataclass(frozen=True)
class Field:
    """A field of a word: ``(low, width)`` slices, the least significant slice of the value first.

    ``allowed`` restricts the values with which the word still has this format.
    """

    name: str
    slices: tuple[tuple[int, int], ...]
    allowed: tuple[int, ...] | None = None

    @property
    def width(self) -> int:
        """Bits of the value."""
        return sum(width for _, width in self.slices)

    @property
    def low(self) -> int:
        """Lowest bit of the field; of a split field, of its least significant slice."""
        return self.slices[0][0]

    @property
    def mask(self) -> int:
        """Bits of the word that the field occupies."""
        return sum(((1 << width) - 1) << low for low, width in self.slices)

    def extract(self, bits: int) -> int:
        """Return the value of the field in a word."""
        value, at = 0, 0
        for low, width in self.slices:
            value |= ((bits >> low) & ((1 << width) - 1)) << at
            at += width
        return value

    def insert(self, value: int) -> int:
        """Return the bits of a word that hold ``value``."""
        if not 0 <= value < 1 << self.width:
            raise ValueError(f"field {self.name} must be 0 to {(1 << self.width) - 1}, not {value!r}")
        bits = 0
        for low, width in self.slices:
            bits |= (value & ((1 << width) - 1)) << low
            value >>= width
        return bits


@dataclass(frozen=True)
class WordFormat:
    """A header word: ``(word & mask) == match`` and every restricted field inside its ``allowed`` values.

    Bits that are neither in ``mask`` nor in a field are ignored by the decoder and written as zero.
    """

    name: str
    bits: int
    match: int
    mask: int
    fields: tuple[Field, ...] = ()
    opens_block: bool = False
    closes_block: bool = False
    in_setup: bool = False
    patterns: tuple[tuple[int, int], ...] = field(init=False)

    def __post_init__(self) -> None:
        taken = self.mask
        if self.match & ~self.mask:
            raise ValueError(f"{self.name}: match {self.match:#x} has bits outside mask {self.mask:#x}")
        for entry in self.fields:
            if taken & entry.mask or entry.mask >> self.bits:
                raise ValueError(f"{self.name}: field {entry.name} overlaps other bits")
            taken |= entry.mask
        patterns = [(self.match, self.mask)]
        for entry in self.fields:
            if entry.allowed is not None:
                patterns = [
                    (match | entry.insert(value), mask | entry.mask)
                    for match, mask in patterns
                    for value in entry.allowed
                ]
        object.__setattr__(self, "patterns", tuple(patterns))

    def field(self, name: str) -> Field:
        """Return the field of this name."""
        for entry in self.fields:
            if entry.name == name:
                return entry
        raise ValueError(f"{self.name} has no field {name!r}")

    def matches(self, word: int) -> bool:
        """Whether a word of the right length has this format."""
        return any(word & mask == match for match, mask in self.patterns)

    def decode(self, word: int) -> dict[str, int]:
        """Return the value of every field."""
        return {entry.name: entry.extract(word) for entry in self.fields}

    def encode(self, **values: int) -> int:
        """Return the word with these fields; fields that are not given are zero."""
        word = self.match
        for name, value in values.items():
            word |= self.field(name).insert(value)
        if not self.matches(word):
            raise ValueError(f"{self.name} does not take {values!r}")
        return word


def _at(name: str, high: int, low: int, allowed: tuple[int, ...] | None = None) -> Field:
    """Field of the bits ``high:low``, both included, as the drawings give them."""
    return Field(name, ((low, high - low + 1),), allowed)


_LOOPS = tuple(LoopNest)
_TYPE, _FUNCTION = _at("data_type", 31, 27), _at("function", 24, 20)
_MODE = _at("mode", 26, 25)


def _start(engine: Engine, *extra: Field) -> WordFormat:
    """BSTART of a data engine: block type 3, fall through; Mode bits are fixed zero unless a field covers them."""
    mask = 0x000FFFFF if extra else 0x060FFFFF
    fields = (_TYPE, *extra, _FUNCTION)
    return WordFormat(f"BSTART.{engine.name}", 32, 0x00001181 | engine << 15, mask, fields,
                      opens_block=True, closes_block=True)  # fmt: skip


# fmt: off
WORDS: tuple[WordFormat, ...] = (
    _start(Engine.TEPL, _MODE),
    _start(Engine.TMA),
    _start(Engine.CUBE),
    WordFormat("B.DATR", 32, 0x00001023, 0x000C707F, (
        _at("compare", 31, 29), _at("pad", 28, 27), _at("saturate", 26, 26), _at("canonical", 25, 25),
        _at("data_type", 24, 20), _at("rounding", 17, 15), _at("layout", 11, 7))),
    WordFormat("B.CATR", 32, 0x00000023, 0xFBF07FFF, (
        _at("reduction_group", 26, 26), _at("trap", 19, 19), _at("far", 18, 18), _at("atomic", 17, 17),
        _at("acquire", 16, 16), _at("release", 15, 15))),
    WordFormat("B.DIM", 32, 0x00000043, 0x0000007F, (
        Field("immediate", ((20, 12), (7, 5))), _at("register", 19, 15), _at("loop", 14, 12, _LOOPS))),
    WordFormat("B.IOR", 32, 0x00000013, 0x0600707F, (
        _at("source2", 31, 27), _at("source1", 24, 20), _at("source0", 19, 15), _at("destination", 11, 7))),
    WordFormat("B.IOD", 32, 0x00001013, 0x0600707F, (
        _at("source2", 31, 27), _at("source1", 24, 20), _at("source0", 19, 15), _at("destination", 11, 7))),
    WordFormat("B.IOT", 32, 0x00000013, 0x0000007F, (
        _at("source1", 31, 26), _at("source0", 25, 20), _at("last", 19, 19), _at("size", 18, 15),
        _at("form", 14, 12, tuple(SourceForm)), _at("reuse1", 11, 11), _at("reuse0", 10, 10),
        _at("destination", 9, 7))),
    WordFormat("B.HINT", 32, 0x00000033, 0x00087FFF, (
        _at("prefetch_size", 31, 20), _at("temperature", 18, 17), _at("likely", 16, 16), _at("likely_valid", 15, 15))),
    WordFormat("B.HINT TRACE", 32, 0x00001033, 0x00007FFF, (_at("end", 15, 15),), closes_block=True),
    WordFormat("B.TEXT", 32, 0x00000003, 0x0000007F),
    WordFormat("BSTOP", 32, 0x00000001, 0xFFFFFFFF, closes_block=True),
    WordFormat("C.BSTOP", 16, 0x0000, 0xFFFF, closes_block=True),
    WordFormat("C.B.DIM", 16, 0xC03C, 0xC03F, (_at("loop", 13, 11), _at("register", 10, 6))),
    WordFormat("C.B.DIMI", 16, 0x003C, 0x003F, (_at("loop", 15, 14, _LOOPS), _at("immediate", 13, 6))),
    WordFormat("BSTART.STD FALL", 32, 0x00001001, 0x00007FFF, (_at("offset", 31, 15),),
               opens_block=True, closes_block=True),
    WordFormat("LUI", 32, 0x00000017, 0x0000007F, (
        _at("immediate", 31, 12), _at("destination", 11, 7)), in_setup=True),
    WordFormat("ADDI", 32, 0x00000015, 0x0000707F, (
        _at("immediate", 31, 20), _at("source", 19, 15), _at("destination", 11, 7)), in_setup=True),
    WordFormat("SLLI", 32, 0x00007015, 0xFC00707F, (
        _at("shift", 25, 20), _at("source", 19, 15), _at("destination", 11, 7)), in_setup=True),
)
"""Every header word this core runs. BSTART.FIXP is not here: like other block kinds it is only recognised."""

BLOCK_STARTS: tuple[tuple[int, int, int], ...] = (
    *((32, 0x00000001 | branch << 12, 0x0000707F) for branch in range(1, 8)),
    (32, 0x00000011, 0x0000007F),
    (32, 0x00000021, 0x0000007F),
    *((16, 1 << bit, 1 << bit | 0x003F) for bit in range(11, 16)),
    (16, 0x0002, 0x000F),
    (16, 0x0004, 0x000F),
)
"""(bits, match, mask) of words that start a block of any kind; a word is one if any row matches."""
# fmt: on

_BY_NAME: Mapping[str, WordFormat] = {row.name: row for row in WORDS}


def check_disjoint(table: tuple[WordFormat, ...]) -> None:
    """Raise ValueError if a word could have two formats."""
    for position, first in enumerate(table):
        for second in table[position + 1 :]:
            for match_a, mask_a in first.patterns:
                for match_b, mask_b in second.patterns:
                    if first.bits == second.bits and not (match_a ^ match_b) & mask_a & mask_b:
                        both = match_a | match_b
                        raise ValueError(f"word formats {first.name} and {second.name} overlap at {both:#x}")


check_disjoint(WORDS)


def word_format(name: str) -> WordFormat:
    """Return the format of this name."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise ValueError(f"word format {name!r} is not one of {', '.join(_BY_NAME)}") from None


def word_bits(first_halfword: int) -> int:
    """Return the length in bits, 16 or 32, of the word that starts with this halfword."""
    return 32 if first_halfword & 1 else 16


@lru_cache(maxsize=1 << 16)
@lru_cache(maxsize=1 << 16)
def is_block_start(word: int, bits: int) -> bool:
    """Whether the word starts a block, of a kind this core runs or not."""
    return any(bits == row_bits and word & mask == match for row_bits, match, mask in BLOCK_STARTS)


@lru_cache(maxsize=1 << 16)
def decode_word(word: int, bits: int = 32) -> tuple[WordFormat, Mapping[str, int]] | None:
    """Return format and field values of a word, or None if it has no format."""
    for row in WORDS:
        if row.bits == bits and row.matches(word):
            return row, MappingProxyType(row.decode(word))
    return None


def encode_word(name: str, **values: int) -> int:
    """Return the word of a format with these field values; fields that are not given are zero."""
    return word_format(name).encode(**values)
