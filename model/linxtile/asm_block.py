"""A tile block as one line of assembly says it, and its header words."""

from collections.abc import Mapping
from dataclasses import dataclass

from linxtile.isa.codes import (
    REGISTERS,
    CompareMode,
    Destination,
    Layout,
    LoopNest,
    PadValue,
    Queue,
    RoundingMode,
    SourceForm,
    register_name,
    size_bytes,
    size_text,
    source_code,
)
from linxtile.isa.operations import Operation, Shape, Uses
from linxtile.isa.types import NO_TYPE, DataType
from linxtile.isa.words import encode_word, word_format

Emitted = tuple[int, int]
"""A word and its length in bits."""

_COMPRESSED_IMMEDIATE = 1 << word_format("C.B.DIMI").field("immediate").width
_SOURCES_PER_WORD = SourceForm.TWO.count
_REGISTERS_PER_WORD = 3

DEFAULT_ATTRIBUTES: Mapping[str, int] = {
    "layout": Layout.NORM, "data_type": NO_TYPE, "pad": PadValue.NULL, "compare": CompareMode.EQ,
    "rounding": RoundingMode.NONE, "saturate": 0, "canonical": 0,
}  # fmt: skip
"""Fields of a B.DATR that asks for nothing; what an absent B.DATR means."""


@dataclass(frozen=True)
class Dimension:
    """Value of an LB: ``(register + immediate) mod 65536``; register 0 gives a plain number."""

    register: int
    immediate: int

    @property
    def text(self) -> str:
        """Form in assembly: ``100``, ``a0`` or ``a1+10``."""
        if not self.register:
            return str(self.immediate)
        name = REGISTERS[self.register][0]
        return f"{name}+{self.immediate}" if self.immediate else name

    def word(self, loop: int, compressed: bool) -> Emitted:
        """Return the word that sets LB ``loop``; with ``compressed`` the 16-bit form where there is one."""
        if compressed and not self.register and self.immediate < _COMPRESSED_IMMEDIATE:
            return encode_word("C.B.DIMI", loop=loop, immediate=self.immediate), 16
        if compressed and self.register and not self.immediate:
            return encode_word("C.B.DIM", loop=loop, register=self.register), 16
        return encode_word("B.DIM", loop=loop, register=self.register, immediate=self.immediate), 32


@dataclass(frozen=True)
class TileName:
    """A source operand: ``T#2`` or ``T#2.reuse``."""

    queue: Queue
    index: int
    reuse: bool = False

    @property
    def text(self) -> str:
        """Form in assembly."""
        return f"{self.queue.name}#{self.index}{'.reuse' if self.reuse else ''}"

    @property
    def code(self) -> int:
        """Six-bit operand code."""
        return source_code(self.queue, self.index)


@dataclass(frozen=True)
class NewTile:
    """A destination operand: ``T<2KB>``."""

    destination: Destination
    size_code: int

    @property
    def text(self) -> str:
        """Form in assembly."""
        return f"{self.destination.name}<{size_text(size_bytes(self.size_code))}>"


@dataclass(frozen=True)
class BlockLine:
    """One tile block.

    Attributes
    ----------
    pad : int
        PadValue, or the ByteId of THISTOGRAM, which shares its bits.
    dimensions : tuple of 3
        LB0 to LB2; None where the line does not set one.
    tokens : tuple of int
        Dependency tokens waited for, 1 to 8.
    """

    operation: Operation
    data_type: DataType | None = None
    second_type: DataType | None = None
    layout: Layout = Layout.NORM
    pad: int = PadValue.NULL
    compare: int = CompareMode.EQ
    rounding: RoundingMode = RoundingMode.NONE
    saturate: bool = False
    canonical: bool = False
    dimensions: tuple[Dimension | None, Dimension | None, Dimension | None] = (None, None, None)
    sources: tuple[TileName, ...] = ()
    registers: tuple[int, ...] = ()
    tokens: tuple[int, ...] = ()
    destinations: tuple[NewTile, ...] = ()
    makes_token: bool = False

    def attributes(self) -> dict[str, int]:
        """Return the fields of B.DATR."""
        return {
            "layout": self.layout,
            "data_type": NO_TYPE if self.second_type is None else self.second_type.code,
            "pad": self.pad,
            "compare": self.compare,
            "rounding": self.rounding,
            "saturate": int(self.saturate),
            "canonical": int(self.canonical),
        }

    def words(self, compressed: bool = False) -> list[Emitted]:
        """Return the header: BSTART, B.DATR unless it says nothing, dimensions, tiles, registers, tokens."""
        attributes = self.attributes()
        words = [(self._start(), 32)]
        if attributes != DEFAULT_ATTRIBUTES:
            words.append((encode_word("B.DATR", **attributes), 32))
        for loop, dimension in enumerate(self.dimensions):
            if dimension is not None:
                words.append(dimension.word(loop, compressed))
        words += [(word, 32) for word in (*self._tile_words(), *self._register_words(), *self._token_words())]
        return words

    def _start(self) -> int:
        operation = self.operation
        fields = {"mode": operation.mode} if operation.mode else {}
        code = NO_TYPE if self.data_type is None else self.data_type.code
        return encode_word(f"BSTART.{operation.engine.name}", data_type=code, function=operation.function, **fields)

    def _tile_words(self) -> list[int]:
        """B.IOT chain: two sources a word, the destinations in the last words, L on the last one."""
        pairs = [self.sources[at : at + _SOURCES_PER_WORD] for at in range(0, len(self.sources), _SOURCES_PER_WORD)]
        count = max(len(pairs), len(self.destinations))
        first_target = count - len(self.destinations)
        words = []
        for place in range(count):
            pair = pairs[place] if place < len(pairs) else ()
            target = self.destinations[place - first_target] if place >= first_target else None
            words.append(tile_word(pair, target, last=place == count - 1))
        return words

    def _register_words(self) -> list[int]:
        words = []
        for at in range(0, len(self.registers), _REGISTERS_PER_WORD):
            part = self.registers[at : at + _REGISTERS_PER_WORD]
            words.append(encode_word("B.IOR", **{f"source{place}": number for place, number in enumerate(part)}))
        return words

    def _token_words(self) -> list[int]:
        if not self.tokens and not self.makes_token:
            return []
        sources = {f"source{place}": number for place, number in enumerate(self.tokens)}
        return [encode_word("B.IOD", destination=int(self.makes_token), **sources)]

    def text(self) -> str:
        """Return the line. What the syntax cannot say (a reserved code, say) is left out."""
        operation = self.operation
        parts = [self._parameters(), *(source.text for source in self.sources)]
        if operation.reads_acc:
            parts.append("ACC")
        if self.registers:
            parts.append(f"[{', '.join(register_name(number) for number in self.registers)}]")
        parts += [f"D#{token}" for token in self.tokens]
        targets = [target.text for target in self.destinations] + (["D"] if self.makes_token else [])
        if targets:
            parts.append("->" + ", ".join(targets))
        return f"{self._mnemonic()} {', '.join(part for part in parts if part)}"

    def _mnemonic(self) -> str:
        operation = self.operation
        if operation.shape is Shape.ACC_CONVERT:
            return f"{operation.name} {self.layout.name}{'.canon' if self.canonical else ''},"
        if Uses.LAYOUT in operation.uses:
            return f"{operation.name}.{self.layout.name}"
        if Uses.COMPARE in operation.uses and self.compare in tuple(CompareMode):
            return f"{operation.name}.{CompareMode(self.compare).name}"
        return operation.name

    def _parameters(self) -> str:
        items = [
            f"{LoopNest(loop).name}:{dimension.text}"
            for loop, dimension in enumerate(self.dimensions)
            if dimension is not None
        ]
        items += [row.name for row in (self.data_type, self.second_type) if row is not None]
        if self.rounding:
            items.append(self.rounding.name)
        if self.saturate:
            items.append("Sat")
        if Uses.BYTE_ID in self.operation.uses:
            items.append(f"Byte{self.pad}")
        elif self.pad != PadValue.NULL:
            items.append(PadValue(self.pad).text)
        return f"<{', '.join(items)}>" if items else ""


def tile_word(sources: tuple[TileName, ...], target: NewTile | None, *, last: bool) -> int:
    """Return a B.IOT with up to two sources and one destination; without one the canonical "no destination"."""
    form = SourceForm(SourceForm.ZERO - len(sources))
    destination = Destination.NONE if target is None else target.destination
    fields = {"form": form, "last": int(last), "destination": destination, "size": target.size_code if target else 0}
    for place, source in enumerate(sources):
        fields[f"source{place}"] = source.code
        fields[f"reuse{place}"] = int(source.reuse)
    return encode_word("B.IOT", **fields)
