"""Expanded header words of assembly: ``B.IOT T#1, T#2.reuse, last, ->T<2KB>`` and the others."""

from collections.abc import Callable

from linxtile.asm_block import DEFAULT_ATTRIBUTES, Dimension, Emitted, NewTile, TileName, tile_word
from linxtile.asm_lexer import Cursor, SourceError
from linxtile.asm_line import split_mnemonic
from linxtile.asm_operands import (
    attribute,
    is_token_name,
    read_source,
    read_target,
    read_token_name,
    type_code,
)
from linxtile.isa.codes import MAX_DEPENDENCY_SOURCES, Engine, LoopNest, SourceForm
from linxtile.isa.types import NO_TYPE
from linxtile.isa.words import encode_word, word_format

CONTROL_WORDS = {
    "trap": "trap", "far": "far", "atom": "atomic", "aq": "acquire", "rl": "release", "DR": "reduction_group",
}  # fmt: skip
"""Assembly words of B.CATR and their fields."""

TEMPERATURES = ("", "cool", "warm", "hot")
"""Assembly words of B.HINT's temperature, by code."""


def _largest(word: str, field: str) -> int:
    return (1 << word_format(word).field(field).width) - 1


def _block_start(engine: Engine) -> Callable[[Cursor], int]:
    def parse(cursor: Cursor) -> int:
        token = cursor.take()
        split = split_mnemonic(token.text)
        if split is None or split[1] or split[0].engine is not engine:
            raise SourceError(token.column, f"{token.text!r} is no {engine.name} operation")
        row, code = split[0], NO_TYPE
        if cursor.accept(","):
            given = type_code(cursor.token.text)
            if given is None:
                raise cursor.error(f"expected a data type, not {cursor.token.text!r}")
            cursor.take()
            code = given
        fields = {"mode": row.mode} if row.mode else {}
        return encode_word(f"BSTART.{engine.name}", data_type=code, function=row.function, **fields)

    return parse


def _setup_start(cursor: Cursor) -> int:
    cursor.expect("FALL")
    return encode_word("BSTART.STD FALL")


def _attributes(cursor: Cursor) -> int:
    fields: dict[str, int] = {}
    while not cursor.at_end:
        token = cursor.take()
        code = type_code(token.text)
        found = {"data_type": code} if code is not None else attribute(token.text)
        if found is None:
            raise SourceError(token.column, f"expected a layout, data type, pad or mode, not {token.text!r}")
        for name, value in found.items():
            if name in fields:
                raise SourceError(token.column, f"{name} is given twice: {token.text!r}")
            fields[name] = value
        if not cursor.accept(","):
            break
    return encode_word("B.DATR", **{**DEFAULT_ATTRIBUTES, **fields})


def _control(cursor: Cursor) -> int:
    fields: dict[str, int] = {}
    words = {text.upper(): name for text, name in CONTROL_WORDS.items()}
    while not cursor.at_end:
        token = cursor.take()
        name = words.get(token.text.upper())
        if name is None:
            raise SourceError(token.column, f"expected one of {', '.join(CONTROL_WORDS)}, not {token.text!r}")
        fields[name] = 1
        if not cursor.accept(","):
            break
    return encode_word("B.CATR", **fields)


def _target_loop(cursor: Cursor) -> int:
    cursor.expect("->")
    token = cursor.take()
    if token.text.upper() not in LoopNest.__members__:
        raise SourceError(token.column, f"expected LB0, LB1 or LB2, not {token.text!r}")
    return LoopNest[token.text.upper()]


def _dimension(cursor: Cursor) -> int:
    register = cursor.register()
    cursor.expect(",")
    immediate = cursor.number_in("immediate", 0, _largest("B.DIM", "immediate"))
    cursor.expect(",")
    return Dimension(register, immediate).word(_target_loop(cursor), compressed=False)[0]


def _short_dimension(cursor: Cursor) -> int:
    register = cursor.register()
    cursor.expect(",")
    return encode_word("C.B.DIM", register=register, loop=_target_loop(cursor))


def _short_number(cursor: Cursor) -> int:
    immediate = cursor.number_in("immediate", 0, _largest("C.B.DIMI", "immediate"))
    cursor.expect(",")
    return encode_word("C.B.DIMI", immediate=immediate, loop=_target_loop(cursor))


def _scalars(cursor: Cursor) -> int:
    fields: dict[str, int] = {}
    while not cursor.at_end:
        if cursor.accept("->"):
            fields["destination"] = cursor.register()
            break
        if len(fields) == 3:
            raise cursor.error("B.IOR takes at most three inputs")
        fields[f"source{len(fields)}"] = cursor.register()
        if not cursor.accept(","):
            break
    return encode_word("B.IOR", **fields)


def _dependencies(cursor: Cursor) -> int:
    fields: dict[str, int] = {}
    while not cursor.at_end:
        if cursor.accept("->"):
            cursor.expect("D")
            fields["destination"] = 1
            break
        if not is_token_name(cursor.token):
            raise cursor.error(f"expected a token (D#1) or ->D, not {cursor.token.text!r}")
        if len(fields) == MAX_DEPENDENCY_SOURCES:
            raise cursor.error(f"B.IOD takes at most {MAX_DEPENDENCY_SOURCES} tokens")
        fields[f"source{len(fields)}"] = read_token_name(cursor)
        if not cursor.accept(","):
            break
    return encode_word("B.IOD", **fields)


def _tiles(cursor: Cursor) -> int:
    sources: list[TileName] = []
    target: NewTile | None = None
    last = False
    while not cursor.at_end:
        if cursor.accept("->"):
            target = read_target(cursor)
            break
        if cursor.accept("last"):
            last = True
        elif cursor.token.kind == "tile" and not is_token_name(cursor.token):
            if len(sources) == SourceForm.TWO.count:
                raise cursor.error("B.IOT takes at most two sources")
            sources.append(read_source(cursor))
        else:
            raise cursor.error(f"expected a tile (T#1), last or ->, not {cursor.token.text!r}")
        if not cursor.accept(","):
            break
    return tile_word(tuple(sources), target, last=last)


def _hint(cursor: Cursor) -> int:
    if cursor.accept("TRACE"):
        token = cursor.take()
        if token.text.lower() not in ("begin", "end"):
            raise SourceError(token.column, f"expected begin or end, not {token.text!r}")
        return encode_word("B.HINT TRACE", end=int(token.text.lower() == "end"))
    fields: dict[str, int] = {}
    while not cursor.at_end:
        token = cursor.token
        text = token.text.lower()
        if token.kind == "number":
            fields["prefetch_size"] = cursor.number_in("prefetch size", 0, _largest("B.HINT", "prefetch_size"))
        elif text in TEMPERATURES[1:]:
            cursor.take()
            fields["temperature"] = TEMPERATURES.index(text)
        elif text in ("likely", "unlikely"):
            cursor.take()
            fields |= {"likely_valid": 1, "likely": int(text == "likely")}
        else:
            raise cursor.error(f"expected a size, cool, warm, hot, likely or unlikely, not {token.text!r}")
        if not cursor.accept(","):
            break
    return encode_word("B.HINT", **fields)


def _target_register(cursor: Cursor) -> int:
    cursor.expect(",")
    cursor.expect("->")
    return cursor.register()


def _load_upper(cursor: Cursor) -> int:
    immediate = cursor.number_in("immediate", 0, _largest("LUI", "immediate"))
    return encode_word("LUI", immediate=immediate, destination=_target_register(cursor))


def _two_operands(name: str, field: str) -> Callable[[Cursor], int]:
    def parse(cursor: Cursor) -> int:
        source = cursor.register()
        cursor.expect(",")
        value = cursor.number_in(field, 0, _largest(name, field))
        return encode_word(name, source=source, destination=_target_register(cursor), **{field: value})

    return parse


def _plain(name: str) -> Callable[[Cursor], int]:
    return lambda cursor: encode_word(name)


_PARSERS: dict[str, tuple[int, Callable[[Cursor], int]]] = {
    "BSTART.TEPL": (32, _block_start(Engine.TEPL)),
    "BSTART.TMA": (32, _block_start(Engine.TMA)),
    "BSTART.CUBE": (32, _block_start(Engine.CUBE)),
    "BSTART.STD": (32, _setup_start),
    "B.DATR": (32, _attributes),
    "B.CATR": (32, _control),
    "B.DIM": (32, _dimension),
    "B.IOR": (32, _scalars),
    "B.IOD": (32, _dependencies),
    "B.IOT": (32, _tiles),
    "B.HINT": (32, _hint),
    "B.TEXT": (32, _plain("B.TEXT")),
    "BSTOP": (32, _plain("BSTOP")),
    "C.BSTOP": (16, _plain("C.BSTOP")),
    "C.B.DIM": (16, _short_dimension),
    "C.B.DIMI": (16, _short_number),
    "LUI": (32, _load_upper),
    "ADDI": (32, _two_operands("ADDI", "immediate")),
    "SLLI": (32, _two_operands("SLLI", "shift")),
}


def is_header_word(mnemonic: str) -> bool:
    """Whether a mnemonic is an expanded header word."""
    return mnemonic.upper() in _PARSERS


def parse_header_word(cursor: Cursor) -> Emitted:
    """Read one expanded header word, mnemonic included, to the end of the line."""
    bits, parser = _PARSERS[cursor.take().text.upper()]
    word = parser(cursor)
    cursor.finish()
    return word, bits
