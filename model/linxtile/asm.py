"""Assembler: source text to the words of a program.

Besides the one-line blocks and the expanded header words there are ``li``, labels and directives:

``li a0, VALUE``
    The canonical sequence that loads a 64-bit constant. Consecutive ``li`` lines share one set-up block, a new one
    starting where the limit of register writes would be passed.
``.equ NAME, VALUE`` / ``NAME:``
    A symbol; a label has the address of the next word. Labels may be used before they are defined.
``.word VALUE`` / ``.half VALUE``
    A 32-bit or 16-bit word as it is.
``.compress on`` / ``.compress off``
    Whether one-line blocks use the 16-bit forms of dimensions where they fit; off at the start.
``.nostop``
    Leave out the BSTOP that otherwise ends a program whose last statement is neither BSTOP nor C.BSTOP.

A line that adds header words after a one-line block extends that block.
"""

from collections import ChainMap
from dataclasses import dataclass, field

from linxtile.asm_block import Emitted
from linxtile.asm_check import check
from linxtile.asm_lexer import Cursor, SourceError, Token, strip_comment, tokens
from linxtile.asm_line import LineParser, is_operation
from linxtile.asm_program import Line, Program
from linxtile.asm_words import is_header_word, parse_header_word
from linxtile.fetch import Word
from linxtile.isa.codes import REGISTER_BITS, REGISTER_NUMBERS
from linxtile.isa.faults import SETUP_WRITE_LIMIT
from linxtile.isa.setup import load_immediate
from linxtile.isa.words import encode_word

__all__ = ["AssemblyError", "AssemblyErrors", "Line", "Program", "assemble"]

_MOST_PASSES = 16
_STOPS = ("BSTOP", "C.BSTOP")


@dataclass(frozen=True)
class AssemblyError:
    """One complaint: ``file:line:column: message``."""

    file: str
    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.message}"


class AssemblyErrors(ValueError):
    """Everything that is wrong with a source text, in line order."""

    def __init__(self, errors: list[AssemblyError]) -> None:
        super().__init__("\n".join(str(error) for error in errors))
        self.errors = errors


@dataclass
class _Pass:
    """One walk over the source with the symbols of the walk before."""

    file: str
    address: int
    known: dict[str, int]
    labels: frozenset[str]
    at: int = 0
    symbols: dict[str, int] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    errors: list[AssemblyError] = field(default_factory=list)
    compressed: bool = False
    stop_wanted: bool = True
    last_mnemonic: str = ""
    setup_writes: int | None = None
    """Register writes of the set-up block that the next ``li`` may join; None if there is none."""

    def __post_init__(self) -> None:
        self.at = self.address
        # What an expression may name: symbols so far, and labels from further down as the last walk saw them.
        self.visible = ChainMap(self.symbols, {name: self.known.get(name, 0) for name in self.labels})

    def run(self, source: list[str]) -> None:
        for number, text in enumerate(source, 1):
            emitted: list[Emitted] = []
            column = 1
            try:
                line_tokens = tokens(text)
                column = line_tokens[0].column if line_tokens else 1
                emitted = self._line(line_tokens, len(strip_comment(text).rstrip()) + 1)
            except SourceError as error:
                self.errors.append(AssemblyError(self.file, number, error.column, error.message))
            self._emit(number, text, emitted, column, is_block=is_operation(self.last_mnemonic))
        if self.stop_wanted and self.last_mnemonic not in _STOPS:
            self._emit(0, "", [(encode_word("BSTOP"), 32)], 1)

    def _emit(self, number: int, text: str, emitted: list[Emitted], column: int, is_block: bool = False) -> None:
        words = []
        for value, bits in emitted:
            words.append(Word(value, bits, self.at))
            self.at += bits // 8
        self.lines.append(Line(number, text, tuple(words), column, is_block))

    def _line(self, line_tokens: list[Token], end_column: int) -> list[Emitted]:
        cursor = Cursor(line_tokens, end_column, self.visible)
        while len(line_tokens) > 1 and line_tokens[0].kind == "name" and line_tokens[1].text == ":":
            self._define(line_tokens[0], self.at)
            line_tokens = line_tokens[2:]
            cursor = Cursor(line_tokens, end_column, self.visible)
        if cursor.at_end:
            return []
        mnemonic = cursor.token.text
        if mnemonic.startswith("."):
            return self._directive(cursor)
        joins, self.setup_writes = self.setup_writes, None
        self.last_mnemonic = mnemonic.upper()
        if self.last_mnemonic == "LI":
            return self._load(cursor, joins)
        if is_header_word(mnemonic):
            return [parse_header_word(cursor)]
        if is_operation(mnemonic):
            return LineParser(cursor).parse().words(self.compressed)
        raise cursor.error(f"{mnemonic!r} is no operation, header word or directive")

    def _define(self, token: Token, value: int) -> None:
        if token.text in self.symbols:
            raise SourceError(token.column, f"symbol {token.text} is defined twice")
        if token.text.lower() in REGISTER_NUMBERS:
            raise SourceError(token.column, f"symbol must not have the name of a register, {token.text}")
        self.symbols[token.text] = value

    def _directive(self, cursor: Cursor) -> list[Emitted]:
        token = cursor.take()
        emitted: list[Emitted] = []
        match token.text.lower():
            case ".equ":
                name = cursor.take()
                if name.kind != "name":
                    raise SourceError(name.column, f"expected the name of a symbol, not {name.text!r}")
                cursor.expect(",")
                self._define(name, cursor.expression())
            case ".word" | ".half":
                bits = 32 if token.text.lower() == ".word" else 16
                while True:
                    emitted.append((cursor.number_in(f"{token.text} value", 0, (1 << bits) - 1), bits))
                    if not cursor.accept(","):
                        break
                self.last_mnemonic, self.setup_writes = token.text, None
            case ".compress":
                state = cursor.take()
                if state.text.lower() not in ("on", "off"):
                    raise SourceError(state.column, f".compress must be on or off, not {state.text!r}")
                self.compressed = state.text.lower() == "on"
            case ".nostop":
                self.stop_wanted = False
            case _:
                raise SourceError(
                    token.column, f"directive must be .equ, .word, .half, .compress or .nostop, not {token.text}"
                )
        cursor.finish()
        return emitted

    def _load(self, cursor: Cursor, joins: int | None) -> list[Emitted]:
        cursor.take()
        register_token = cursor.token
        register = cursor.register()
        if register == 0:
            raise SourceError(register_token.column, "li cannot write the register zero")
        cursor.expect(",")
        value = cursor.number_in("constant", -(1 << (REGISTER_BITS - 1)), (1 << REGISTER_BITS) - 1)
        cursor.finish()
        words = load_immediate(register, value)
        start = (
            [] if joins is not None and joins + len(words) <= SETUP_WRITE_LIMIT else [encode_word("BSTART.STD FALL")]
        )
        self.setup_writes = len(words) + (0 if start else joins or 0)
        return [(word, 32) for word in (*start, *words)]


def _label_names(source: list[str]) -> frozenset[str]:
    """Return the labels of a text, so that they can be used before their line."""
    names = set()
    for text in source:
        head = strip_comment(text)
        while ":" in head:
            name, _, head = head.partition(":")
            if not name.strip().replace("_", "a").replace(".", "a").isalnum():
                break
            names.add(name.strip())
    return frozenset(names)


def assemble(text: str, *, file: str = "<text>", address: int = 0, allow_faults: bool = False) -> Program:
    """Assemble a program.

    Parameters
    ----------
    text : str
        The source.
    file : str
        Name used in error messages.
    address : int
        Byte address of the first word; labels count from it.
    allow_faults : bool
        Accept blocks that can be seen to be illegal.

    Raises
    ------
    AssemblyErrors
        All lines that are wrong.
    """
    if not isinstance(text, str):
        raise TypeError(f"program must be text, not {type(text).__name__}")
    if address % 2 or not 0 <= address < 1 << 64:
        raise ValueError(f"program address must be even and of 64 bits, not {address:#x}")
    source = text.splitlines()
    labels = _label_names(source)
    known: dict[str, int] = {}
    for _ in range(_MOST_PASSES):
        walk = _Pass(file, address, known, labels)
        walk.run(source)
        if walk.symbols == known:
            break
        known = walk.symbols
    else:
        raise AssemblyErrors(
            [AssemblyError(file, 1, 1, "labels do not settle: li sequences depend on their own length")]
        )
    program = Program(address, tuple(walk.lines), walk.symbols)
    errors = walk.errors
    if not allow_faults:
        errors = errors + _illegal(program, file, only_blocks=bool(errors))
    if errors:
        raise AssemblyErrors(sorted(errors, key=lambda error: (error.line, error.column)))
    return program


def _illegal(program: Program, file: str, *, only_blocks: bool) -> list[AssemblyError]:
    """Blame a source line for every rule that a block can be seen to break.

    With ``only_blocks`` header words that were written out are left in peace: lines between them may be missing.
    """
    words = program.words
    if words:
        words[-1] = words[-1]._replace(last=True)
    lines = {word.address: line for line in program.lines for word in line.words}
    result = []
    for illegal in check(words):
        line = lines[illegal.word_address]
        if only_blocks and not line.is_block:
            continue
        result.append(AssemblyError(file, line.number, line.column, illegal.message))
    return result
