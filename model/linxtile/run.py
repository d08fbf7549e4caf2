"""Arguments of ``linxtile run``: files into and out of memory and tiles, registers, the program itself."""

import io
import tokenize
from dataclasses import dataclass

import numpy as np

from linxtile.asm import assemble
from linxtile.cli_files import UsageError, parse_integer, read_bytes, without_mark, write_bytes
from linxtile.isa.codes import REGISTER_BITS, REGISTER_NUMBERS
from linxtile.queues import parse_name

_NPY_SUFFIX = ".npy"

_MOST_DUMP_BYTES = 1 << 28
"""A dump is put together in the memory of this process."""

# All that numpy's reader of the header, which parses Python literals, has been seen to let through.
_BAD_ARRAY = (ValueError, TypeError, EOFError, OSError, MemoryError, OverflowError, SyntaxError, tokenize.TokenError)


@dataclass(frozen=True)
class Dump:
    """A region of memory and the file that receives it."""

    address: int
    count: int
    file: str


def read_program(name: str, address: int, *, allow_faults: bool) -> tuple[bytes, dict[int, str]]:
    """Return the header words of a program file, and the source lines of each block by its address.

    A text file is assembled; anything else is the words themselves, which have no source.
    """
    content = read_bytes(name)
    source = _text(content)
    if source is not None:
        shown = "<stdin>" if name == "-" else name
        program = assemble(source, file=shown, address=address, allow_faults=allow_faults)
        return program.image, program.block_sources
    if len(content) % 2:
        raise UsageError(f"a binary program must have an even number of bytes, but {name} has {len(content)}")
    return content, {}


def parse_load(text: str, limit: int) -> tuple[int, bytes]:
    """Return address and bytes of ``ADDR=FILE``; of a ``.npy`` file the bytes of the array in row-major order."""
    place, file = _split("--load", text, "ADDR=FILE")
    data = read_data(file)
    return _region("--load", place, len(data), limit), data


def parse_dump(text: str, limit: int) -> Dump:
    """Return the region and file of ``ADDR:BYTES=FILE``."""
    region, file = _split("--dump", text, "ADDR:BYTES=FILE")
    place, colon, length = region.partition(":")
    if not colon:
        raise UsageError(f"--dump must be ADDR:BYTES=FILE, not {text!r}")
    count = parse_integer("--dump bytes", length, 1, min(limit, _MOST_DUMP_BYTES))
    return Dump(_region("--dump", place, count, limit), count, file)


def parse_dump_tile(text: str) -> tuple[str, str]:
    """Return tile name and file of ``T#1=FILE``."""
    name, file = _split("--dump-tile", text, "TILE=FILE")
    try:
        parse_name(name)
    except ValueError as error:
        raise UsageError(f"--dump-tile: {error}") from None
    return name, file


def parse_register(text: str) -> tuple[int, int]:
    """Return register number and value of ``a0=N``; a negative value is taken modulo ``2**64``."""
    name, value = _split("--gpr", text, "REGISTER=N")
    number = REGISTER_NUMBERS.get(name.lower())
    if number is None:
        raise UsageError(f"--gpr register must be sp, a0 to a7, ra, s0 to s8 or x0 to x3, not {name!r}")
    if number == 0:
        raise UsageError(f"--gpr cannot set the register zero, as {text!r} asks")
    most = (1 << REGISTER_BITS) - 1
    return number, parse_integer(f"--gpr {name}", value, -(1 << (REGISTER_BITS - 1)), most) & most


def read_data(file: str) -> bytes:
    """Return the bytes of a file, or of the array in a ``.npy`` file."""
    content = read_bytes(file)
    if not file.endswith(_NPY_SUFFIX):
        return content
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except _BAD_ARRAY as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise UsageError(f"{file} must hold an array of numbers in .npy form: {reason}") from None
    return np.ascontiguousarray(array).tobytes()


def write_data(file: str, data: bytes) -> None:
    """Write bytes to a file; a ``.npy`` file gets them as an array of uint8."""
    if file.endswith(_NPY_SUFFIX):
        buffer = io.BytesIO()
        np.save(buffer, np.frombuffer(data, np.uint8))
        data = buffer.getvalue()
    write_bytes(file, data)


def _split(option: str, text: str, form: str) -> tuple[str, str]:
    left, equals, right = text.partition("=")
    if not (left and equals and right):
        raise UsageError(f"{option} must be {form}, not {text!r}")
    return left, right


def _region(option: str, place: str, count: int, limit: int) -> int:
    """Return the address of ``count`` bytes that all lie below the end of memory."""
    address = parse_integer(f"{option} address", place, 0, limit - 1)
    if address + count > limit:
        raise UsageError(f"{option}: {count} bytes at {address:#x} do not fit below the end of memory, {limit:#x}")
    return address


def _text(content: bytes) -> str | None:
    """Return the content as text, None if it has bytes that no source text has."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    text = without_mark(text)
    return text if all(char.isprintable() or char in "\t\n\r\f" for char in text) else None
