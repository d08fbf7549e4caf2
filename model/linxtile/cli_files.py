"""Files of the command line: reading and writing with one-line errors, ``-`` for a pipe, numbers in any base."""

import sys
from pathlib import Path


class UsageError(ValueError):
    """A command line that asks for something impossible; the message names the thing, the rule and the value."""


def read_bytes(name: str) -> bytes:
    """Return the bytes of a file or of standard input."""
    try:
        if name != "-":
            return Path(name).read_bytes()
        if sys.stdin is None:
            raise UsageError("cannot read -: standard input is closed")
        return sys.stdin.buffer.read()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error


def read_text(name: str) -> str:
    """Return the text of a file or of standard input, UTF-8 with or without a byte order mark."""
    try:
        return without_mark(read_bytes(name).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{name} must be UTF-8 text, but byte {error.start} is {error.object[error.start]:#04x}"
        ) from error


def without_mark(text: str) -> str:
    """Return a text without the byte order mark that some editors put in front."""
    return text.removeprefix("\ufeff")


def write_bytes(name: str, content: bytes) -> None:
    """Write a file or standard output."""
    try:
        if name != "-":
            Path(name).write_bytes(content)
        elif sys.stdout is None:
            raise UsageError("cannot write -: standard output is closed")
        else:
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"cannot write {name}: {error.strerror}") from error


def parse_integer(what: str, text: str, low: int, high: int) -> int:
    """Return an integer written in decimal, hex or binary, checked to be in its range."""
    try:
        value = int(text, 0)
    except ValueError:
        raise UsageError(f"{what} must be a number such as 4096 or 0x1000, not {text!r}") from None
    if not low <= value <= high:
        raise UsageError(f"{what} must be {low:#x} to {high:#x}, not {text}")
    return value


def parse_program_address(text: str) -> int:
    """Return the address of a program: even, 64 bits."""
    value = parse_integer("program address", text, 0, (1 << 64) - 1)
    if value % 2:
        raise UsageError(f"program address must be even, not {text}")
    return value
