"""An assembled program: its words by source line, its bytes, its listing."""

from dataclasses import dataclass

from linxtile.fetch import Word, words_image
from linxtile.isa.words import decode_word, is_block_start


@dataclass(frozen=True)
class Line:
    """A source line and the words it gave; line 0 is the closing BSTOP that no line asked for."""

    number: int
    text: str
    words: tuple[Word, ...]
    column: int = 1
    is_block: bool = False
    """The line is a whole block, whatever stands around it."""


@dataclass(frozen=True)
class Program:
    """An assembled program: ``image`` is its bytes, the first at ``address``."""

    address: int
    lines: tuple[Line, ...]
    symbols: dict[str, int]

    @property
    def words(self) -> list[Word]:
        """All words in program order."""
        return [word for line in self.lines for word in line.words]

    @property
    def image(self) -> bytes:
        """The bytes of the program."""
        return words_image([(word.value, word.bits) for word in self.words])

    @property
    def block_sources(self) -> dict[int, str]:
        """The lines that each block was written as, without the blanks around them, by the address of its BSTART."""
        sources: dict[int, list[Line]] = {}
        block = None
        for line in self.lines:
            for word in line.words:
                decoded = decode_word(word.value, word.bits)
                if is_block_start(word.value, word.bits):
                    block = word.address
                    sources[block] = []
                elif decoded is None or decoded[0].closes_block:
                    block = None
                if block is not None and line not in sources[block][-1:]:
                    sources[block].append(line)
        return {address: "\n".join(line.text.strip() for line in lines) for address, lines in sources.items()}


def listing(program: Program) -> str:
    """Return the program as address, words and source, a line each; further words of a source line stand below it."""
    rows = []
    for line in program.lines:
        text = line.text or ("BSTOP" if line.words else "")
        if not line.words:
            rows.append(f"{'':18}  {text}".rstrip())
        for place, word in enumerate(line.words):
            shown = f"{word.value:0{word.bits // 4}x}"
            rows.append(f"{word.address:08x}  {shown:<8}  {text if place == 0 else ''}".rstrip())
    return "\n".join(rows) + "\n"


def hex_text(program: Program) -> str:
    """Return the words as hex digits, one a line, four or eight digits by their length."""
    return "".join(f"{word.value:0{word.bits // 4}x}\n" for word in program.words)
