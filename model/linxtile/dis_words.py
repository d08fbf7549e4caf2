"""Text of single header words, and what one of them says in fields."""

from collections.abc import Mapping

from linxtile.asm_block import DEFAULT_ATTRIBUTES, NewTile, TileName
from linxtile.asm_lexer import Cursor, SourceError, tokens
from linxtile.asm_words import CONTROL_WORDS, TEMPERATURES, is_header_word, parse_header_word
from linxtile.isa.codes import (
    REGISTER_COUNT,
    CompareMode,
    Destination,
    Engine,
    Layout,
    LoopNest,
    PadValue,
    RoundingMode,
    SourceForm,
    register_name,
    source_name,
)
from linxtile.isa.operations import Operation, Shape, Uses, find_operation
from linxtile.isa.types import NO_TYPE, data_type, is_data_type
from linxtile.isa.words import WordFormat, decode_word

Fields = Mapping[str, int]
_SOURCES = ("source0", "source1", "source2")


def block_operation(word: int, bits: int) -> Operation | None:
    """Return the operation of a BSTART, None for any other word or a reserved selector."""
    decoded = decode_word(word, bits)
    if decoded is None or "function" not in decoded[1]:
        return None
    form, fields = decoded
    return find_operation(Engine[form.name.removeprefix("BSTART.")], fields.get("mode", 0), fields["function"])


def raw_text(word: int, bits: int) -> str:
    """Return a word as a directive."""
    return f".word 0x{word:08x}" if bits == 32 else f".half 0x{word:04x}"


def word_text(word: int, bits: int, operation: Operation | None = None) -> str | None:
    """Return the text of a header word, None if it has none.

    ``operation`` is that of the open block: some attributes are shown as it means them. The text may leave out what the
    syntax cannot say (a non-canonical "no destination"); :func:`exact_text` does not.
    """
    decoded = decode_word(word, bits)
    if decoded is None:
        return None
    form, fields = decoded
    items = _items(form, fields, operation)
    if items is None:
        return None
    return f"{form.name} {', '.join(items)}".rstrip()


def exact_text(word: int, bits: int, operation: Operation | None = None) -> str:
    """Return text that assembles to exactly this word: its own, or a ``.word`` or ``.half`` directive."""
    text = word_text(word, bits, operation)
    if text is not None and assemble_word(text) == (word, bits):
        return text
    return raw_text(word, bits)


def assemble_word(text: str) -> tuple[int, int] | None:
    """Return word and length of one expanded header word; None if the text is none."""
    try:
        cursor = Cursor(tokens(text), len(text) + 1, {})
        return parse_header_word(cursor) if is_header_word(cursor.token.text) else None
    except SourceError:
        return None


def _items(form: WordFormat, fields: Fields, operation: Operation | None) -> list[str] | None:
    """Return the operands of a word as text, None if one has no name."""
    registers = [fields[name] for name in ("register", *_SOURCES, "source", "destination") if name in fields]
    named = form.name in ("C.B.DIM", "B.DIM", "B.IOR", "LUI", "ADDI", "SLLI")
    if named and max(registers) >= REGISTER_COUNT:
        return None
    match form.name:
        case "BSTART.TEPL" | "BSTART.TMA" | "BSTART.CUBE":
            return _start_items(form, fields)
        case "BSTART.STD FALL" | "BSTOP" | "C.BSTOP" | "B.TEXT":
            return []
        case "B.DATR":
            return _attribute_items(fields, operation)
        case "B.CATR":
            return [text for text, name in CONTROL_WORDS.items() if fields[name]]
        case "B.DIM":
            return [register_name(fields["register"]), str(fields["immediate"]), _loop(fields)]
        case "C.B.DIM":
            return [register_name(fields["register"]), _loop(fields)]
        case "C.B.DIMI":
            return [str(fields["immediate"]), _loop(fields)]
        case "B.IOR":
            items = [register_name(fields[name]) for name in _SOURCES if fields[name]]
            return items + ([f"->{register_name(fields['destination'])}"] if fields["destination"] else [])
        case "B.IOD":
            return [f"D#{fields[name]}" for name in _SOURCES if fields[name]] + ["->D"] * (fields["destination"] == 1)
        case "B.IOT":
            return _tile_items(fields)
        case "B.HINT":
            return _hint_items(fields)
        case "B.HINT TRACE":
            return ["end" if fields["end"] else "begin"]
        case "LUI":
            return [f"{fields['immediate']:#x}", f"->{register_name(fields['destination'])}"]
        case "ADDI":
            number = str(fields["immediate"]) if not fields["source"] else f"{fields['immediate']:#x}"
            return [register_name(fields["source"]), number, f"->{register_name(fields['destination'])}"]
        case _:
            return [register_name(fields["source"]), str(fields["shift"]), f"->{register_name(fields['destination'])}"]


def _loop(fields: Fields) -> str:
    loop = fields["loop"]
    return f"->{LoopNest(loop).name}" if loop in tuple(LoopNest) else f"->LB{loop}"


def _start_items(form: WordFormat, fields: Fields) -> list[str] | None:
    row = find_operation(Engine[form.name.removeprefix("BSTART.")], fields.get("mode", 0), fields["function"])
    code = fields["data_type"]
    if row is None or (code != NO_TYPE and not is_data_type(code)):
        return None
    return [row.name] if code == NO_TYPE else [row.name, data_type(code).name]


def _attribute_items(fields: Fields, operation: Operation | None) -> list[str] | None:
    """Fields that differ from the default, and those that the operation always names."""
    code = fields["data_type"]
    if (code != NO_TYPE and not is_data_type(code)) or fields["compare"] > max(CompareMode):
        return None
    uses = Uses.NOTHING if operation is None else operation.uses
    converts = operation is not None and operation.shape is Shape.ACC_CONVERT
    items = []
    if fields["layout"] or fields["canonical"] or converts:
        suffix = ".canon" if fields["canonical"] else ".normal" if converts else ""
        items.append(Layout(fields["layout"]).name + suffix)
    if code != NO_TYPE:
        items.append(data_type(code).name)
    if fields["rounding"]:
        items.append(RoundingMode(fields["rounding"]).name)
    if fields["saturate"]:
        items.append("Sat")
    if Uses.BYTE_ID in uses:
        items.append(f"Byte{fields['pad']}")
    elif fields["pad"] != DEFAULT_ATTRIBUTES["pad"]:
        items.append(PadValue(fields["pad"]).text)
    if fields["compare"] or Uses.COMPARE in uses:
        items.append(CompareMode(fields["compare"]).name)
    return items


def _tile_items(fields: Fields) -> list[str]:
    items = []
    for place in range(SourceForm(fields["form"]).count):
        queue, index = source_name(fields[f"source{place}"])
        items.append(TileName(queue, index, bool(fields[f"reuse{place}"])).text)
    if fields["last"]:
        items.append("last")
    destination = Destination(fields["destination"])
    if fields["size"] and destination is not Destination.NONE:
        items.append(f"->{NewTile(destination, fields['size']).text}")
    return items


def _hint_items(fields: Fields) -> list[str]:
    items = [str(fields["prefetch_size"])] if fields["prefetch_size"] else []
    if fields["temperature"]:
        items.append(TEMPERATURES[fields["temperature"]])
    if fields["likely_valid"]:
        items.append("likely" if fields["likely"] else "unlikely")
    return items
