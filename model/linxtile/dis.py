"""Disassembler: ``assemble(disassemble(image)).image == image`` for every image of whole halfwords.

A block is folded to one line when assembling that line gives the same words; otherwise its header words are written
out; a word whose text would assemble to something else becomes ``.word`` or ``.half``.
"""

from linxtile.asm_block import Emitted
from linxtile.asm_lexer import Cursor, SourceError, tokens
from linxtile.asm_line import LineParser
from linxtile.dis_blocks import block_line, load_lines
from linxtile.dis_words import block_operation, exact_text, word_text
from linxtile.fetch import Word, WordStatus, split_words
from linxtile.isa.words import decode_word, is_block_start

_STOPS = ("BSTOP", "C.BSTOP")


def disassemble(image: bytes, address: int = 0) -> str:
    """Return assembly for a program.

    Parameters
    ----------
    image : bytes
        The program, an even number of bytes.
    address : int
        Byte address of its first byte, for the comments only.
    """
    lines: list[str] = []
    compressed = False
    after_load = False
    words = list(split_words(image, address))
    if not words or _name(words[-1]) not in _STOPS:
        lines.append(".nostop")
    for group in _groups(words):
        loads = None if after_load else load_lines(_emitted(group))
        after_load = loads is not None
        if loads is not None:
            lines += loads
            continue
        folded = _fold(_emitted(group), compressed)
        if folded is None:
            lines += _expanded(group)
            continue
        text, wanted = folded
        if wanted != compressed:
            lines.append(f".compress {'on' if wanted else 'off'}")
            compressed = wanted
        lines.append(text)
    return "".join(f"{line}\n" for line in lines)


def _name(word: Word) -> str:
    decoded = None if word.status is WordStatus.TRUNCATED else decode_word(word.value, word.bits)
    return "" if decoded is None else decoded[0].name


def _emitted(group: list[Word]) -> list[Emitted]:
    return [(word.value, 16 if word.status is WordStatus.TRUNCATED else word.bits) for word in group]


def _groups(words: list[Word]) -> list[list[Word]]:
    """Cut into blocks: a block start takes the words up to the next one that closes it; others stand alone."""
    groups: list[list[Word]] = []
    inside = False
    for word in words:
        decoded = decode_word(word.value, word.bits) if word.status is WordStatus.WHOLE else None
        closes = decoded is None or decoded[0].closes_block or is_block_start(word.value, word.bits)
        if closes or not inside:
            groups.append([])
        groups[-1].append(word)
        inside = decoded[0].opens_block if closes and decoded is not None else inside and not closes
    return groups


def _fold(words: list[Emitted], compressed: bool) -> tuple[str, bool] | None:
    """Return the one-line form and the compression it needs, the present one if both do; None if there is none."""
    line = block_line(words)
    if line is None:
        return None
    text = line.text()
    try:
        read_back = LineParser(Cursor(tokens(text), len(text) + 1, {})).parse()
    except SourceError:
        return None
    for wanted in (compressed, not compressed):
        if read_back.words(wanted) == words:
            return text, wanted
    return None


def _expanded(group: list[Word]) -> list[str]:
    operation = block_operation(group[0].value, group[0].bits)
    lines = []
    for word, (value, bits) in zip(group, _emitted(group), strict=True):
        text = exact_text(value, bits, operation)
        if text.startswith(".") and word.status is WordStatus.WHOLE:
            meaning = word_text(value, bits, operation)
            text += f"  ; {meaning}" if meaning else ""
        lines.append(text)
    return lines
