"""Operands that one-line blocks and expanded header words share: tiles, destinations, attributes, tokens."""

from linxtile.asm_block import Dimension, NewTile, TileName
from linxtile.asm_lexer import Cursor, SourceError, Token
from linxtile.isa.codes import (
    DEPENDENCY_NAMES,
    QUEUE_DEPTH,
    TILE_SIZES,
    CompareMode,
    Destination,
    Layout,
    PadValue,
    Queue,
    RoundingMode,
    size_code,
    size_text,
)
from linxtile.isa.types import data_type
from linxtile.isa.words import word_format

IMMEDIATE_MAX = (1 << word_format("B.DIM").field("immediate").width) - 1
_UNITS = {"B": 1, "KB": 1024, "MB": 1024 * 1024}
_BYTE_IDS = ("BYTE0", "BYTE1", "BYTE2", "BYTE3")
_TARGETS = ("T", "U", "M", "N", "ACC")


def read_source(cursor: Cursor) -> TileName:
    """Read ``T#1`` or ``T#1.reuse``."""
    token = cursor.take()
    name, _, suffix = token.text.partition(".")
    queue, _, index = name.partition("#")
    if queue.upper() not in Queue.__members__:
        raise SourceError(token.column, f"tile queue must be T, U, M or N, not {queue!r}")
    if not 1 <= int(index) <= QUEUE_DEPTH:
        raise SourceError(token.column, f"tile index must be 1 to {QUEUE_DEPTH}, not {int(index)}")
    if suffix and suffix.lower() != "reuse":
        raise SourceError(token.column, f"the only suffix of a tile is .reuse, not .{suffix}")
    return TileName(Queue[queue.upper()], int(index), bool(suffix))


def is_token_name(token: Token) -> bool:
    """Whether a token is a dependency token ``D#k``."""
    return token.kind == "tile" and token.text.upper().startswith("D#")


def read_token_name(cursor: Cursor) -> int:
    """Read ``D#k``."""
    token = cursor.take()
    text = token.text[2:]
    if not text.isdecimal() or not 1 <= int(text) <= DEPENDENCY_NAMES:
        raise SourceError(token.column, f"dependency token must be D#1 to D#{DEPENDENCY_NAMES}, not {token.text}")
    return int(text)


def read_target(cursor: Cursor) -> NewTile:
    """Read ``T<2KB>`` or ``ACC<8KB>``."""
    token = cursor.take()
    if token.text.upper() not in _TARGETS:
        raise SourceError(token.column, f"destination must be T, U, M, N or ACC, not {token.text!r}")
    cursor.expect("<")
    size = cursor.token
    if size.kind != "size":
        if cursor.is_register:
            raise cursor.error(f"destination size must be written out, for it cannot be a register: {size.text!r}")
        raise cursor.error(f"destination size must be written as 256B or 2KB, not {size.text!r}")
    cursor.take()
    cursor.expect(">")
    digits = size.text.rstrip("KkMmBb")
    byte_count = int(digits) * _UNITS[size.text[len(digits) :].upper()]
    if byte_count not in TILE_SIZES[1:]:
        low, high = size_text(TILE_SIZES[1]), size_text(TILE_SIZES[-1])
        raise SourceError(size.column, f"tile size must be a power of two from {low} to {high}, not {size.text}")
    code = size_code(byte_count)
    return NewTile(Destination[token.text.upper()], code)


def read_dimension(cursor: Cursor) -> Dimension:
    """Read ``100``, ``a0`` or ``a1+10``."""
    start = cursor.token
    register = cursor.register() if cursor.is_register else 0
    immediate = 0
    if not register or cursor.token.text in ("+", "-"):
        immediate = cursor.expression() if not cursor.at_end and cursor.token.text not in (",", ">") else 0
    if not 0 <= immediate <= IMMEDIATE_MAX:
        raise SourceError(start.column, f"dimension must be 0 to {IMMEDIATE_MAX}, not {immediate}")
    return Dimension(register, immediate)


def attribute(text: str) -> dict[str, int] | None:
    """Return the B.DATR fields that a word of assembly sets; None if it is no attribute. Types are not among them."""
    upper = text.upper()
    name, _, suffix = upper.partition(".")
    if name in Layout.__members__ and name != Layout.RESERVED_16.name and suffix in ("", "CANON", "NORMAL"):
        return {"layout": Layout[name]} | ({"canonical": int(suffix == "CANON")} if suffix else {})
    if upper in PadValue.__members__:
        return {"pad": PadValue[upper]}
    if upper in CompareMode.__members__:
        return {"compare": CompareMode[upper]}
    if upper in RoundingMode.__members__ and upper != "NONE":
        return {"rounding": RoundingMode[upper]}
    if upper == "SAT":
        return {"saturate": 1}
    if upper in _BYTE_IDS:
        return {"pad": _BYTE_IDS.index(upper)}
    return None


def type_code(text: str) -> int | None:
    """Return the code of a type name, None if the word is no type."""
    try:
        return data_type(text).code
    except ValueError:
        return None
