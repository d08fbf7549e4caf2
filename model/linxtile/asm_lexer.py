"""Tokens of a line of assembly, and the cursor that reads them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from linxtile.isa.codes import REGISTER_NUMBERS

_TOKEN = re.compile(
    r"""(?P<blank>\s+)
      | (?P<tile>[A-Za-z]+\#\d+(?:\.\w+)?)
      | (?P<size>\d+[KkMm]?[Bb]\b)
      | (?P<number>0[xX][0-9a-fA-F_]+|0[bB][01_]+|\d[0-9_]*)(?![A-Za-z0-9_])
      | (?P<arrow>->)
      | (?P<name>\.?[A-Za-z_][A-Za-z0-9_.]*)
      | (?P<mark>[<>\[\],:+\-])""",
    re.VERBOSE,
)
_MOST_CHARACTERS = 100
"""Longest name or number; no value that fits a register needs more."""

_COMMENT = re.compile(r";|//|(?:^|(?<=\s))\#")


class SourceError(ValueError):
    """Something wrong in one line; ``column`` counts from 1."""

    def __init__(self, column: int, message: str) -> None:
        super().__init__(message)
        self.column = column
        self.message = message


@dataclass(frozen=True)
class Token:
    """A piece of a line: its kind (a group of the token pattern), its text and its column, from 1."""

    kind: str
    text: str
    column: int


def strip_comment(line: str) -> str:
    """Return the line without its comment: from ``;``, ``//``, or a ``#`` at the start or after a blank."""
    found = _COMMENT.search(line)
    return line[: found.start()] if found else line


def tokens(line: str) -> list[Token]:
    """Cut a line, without its comment, into tokens.

    Raises
    ------
    SourceError
        A character starts no token, or a token is absurdly long.
    """
    text = strip_comment(line)
    result: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise SourceError(at + 1, f"nothing in the syntax starts with {text[at]!r}")
        kind = match.lastgroup or "blank"
        if kind != "blank":
            if match.end() - at > _MOST_CHARACTERS:
                length = match.end() - at
                raise SourceError(at + 1, f"a name or number may have {_MOST_CHARACTERS} characters, not {length}")
            result.append(Token(kind, match.group(), at + 1))
        at = match.end()
    return result


class Cursor:
    """Reads the tokens of one line from left to right."""

    def __init__(self, line_tokens: list[Token], end_column: int, symbols: Mapping[str, int]) -> None:
        self._tokens = line_tokens
        self._at = 0
        self._end_column = end_column
        self._symbols = symbols

    @property
    def token(self) -> Token:
        """The next token; at the end of the line one of kind ``end``."""
        if self._at < len(self._tokens):
            return self._tokens[self._at]
        return Token("end", "the end of the line", self._end_column)

    @property
    def at_end(self) -> bool:
        """Whether the line is used up."""
        return self._at >= len(self._tokens)

    def take(self) -> Token:
        """Return the next token and move on."""
        token = self.token
        self._at += 1
        return token

    def accept(self, text: str) -> bool:
        """Move past the next token if it reads ``text``, in any letter case."""
        if not self.at_end and self.token.text.upper() == text.upper():
            self._at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Move past ``text`` or complain."""
        if not self.accept(text):
            raise self.error(f"expected {text!r}, not {self.token.text!r}")

    def finish(self) -> None:
        """Complain if anything is left."""
        if not self.at_end:
            raise self.error(f"nothing may follow here, but there is {self.token.text!r}")

    def error(self, message: str) -> SourceError:
        """Return an error at the next token."""
        return SourceError(self.token.column, message)

    def register(self) -> int:
        """Read a register name."""
        number = REGISTER_NUMBERS.get(self.token.text.lower())
        if number is None:
            raise self.error(
                f"expected a register (zero, sp, a0 to a7, ra, s0 to s8, x0 to x3), not {self.token.text!r}"
            )
        self._at += 1
        return number

    @property
    def is_register(self) -> bool:
        """Whether the next token names a register."""
        return self.token.text.lower() in REGISTER_NUMBERS

    @property
    def is_symbol(self) -> bool:
        """Whether the next token is a known symbol."""
        return self.token.text in self._symbols

    def expression(self) -> int:
        """Read a sum of numbers and symbols, each with an optional sign."""
        value = self._term()
        while self.token.text in ("+", "-"):
            value += self._term()
        return value

    def _term(self) -> int:
        sign = 1
        while self.token.text in ("+", "-"):
            sign = -sign if self.take().text == "-" else sign
        token = self.token
        if token.kind == "number":
            self._at += 1
            return sign * parse_number(token)
        if token.kind == "name" and token.text in self._symbols:
            self._at += 1
            return sign * self._symbols[token.text]
        raise self.error(f"expected a number or a symbol, not {token.text!r}")

    def number_in(self, what: str, low: int, high: int) -> int:
        """Read an expression and check its range."""
        start = self.token
        value = self.expression()
        if not low <= value <= high:
            raise SourceError(start.column, f"{what} must be {low} to {high}, not {value}")
        return value


def parse_number(token: Token) -> int:
    """Return the value of a number token."""
    try:
        text = token.text.replace("_", "")
        return int(text, 10) if text.isdecimal() else int(text, 0)
    except ValueError:
        raise SourceError(token.column, f"{token.text!r} is not a number") from None
