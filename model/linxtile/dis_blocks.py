"""From the words of a block back to what one line of assembly says."""

from collections.abc import Mapping

from linxtile.asm_block import DEFAULT_ATTRIBUTES, BlockLine, Dimension, Emitted, NewTile, TileName
from linxtile.dis_words import block_operation
from linxtile.isa.codes import (
    REGISTER_COUNT,
    Destination,
    Layout,
    LoopNest,
    RoundingMode,
    SourceForm,
    register_name,
    source_name,
)
from linxtile.isa.setup import load_immediate, setup_value
from linxtile.isa.types import NO_TYPE, DataType, data_type, is_data_type
from linxtile.isa.words import decode_word

_SOURCES = ("source0", "source1", "source2")
_DECIMAL = 4096
"""Constants below it are written as decimal numbers."""

_FOLDED = ("B.DATR", "B.DIM", "C.B.DIM", "C.B.DIMI", "B.IOT", "B.IOR", "B.IOD")


def block_line(words: list[Emitted]) -> BlockLine | None:
    """Return the line that a tile block might have come from.

    It need not assemble to these words (the order may differ, or a field that a line cannot say); None if some word has
    no place in a line at all.
    """
    row = block_operation(*words[0])
    if row is None:
        return None
    start = decode_word(*words[0])
    attributes: Mapping[str, int] = DEFAULT_ATTRIBUTES
    dimensions: list[Dimension | None] = [None, None, None]
    sources: list[TileName] = []
    targets: list[NewTile] = []
    registers: list[int] = []
    tokens: list[int] = []
    makes_token = False
    for word, bits in words[1:]:
        decoded = decode_word(word, bits)
        if decoded is None or decoded[0].name not in _FOLDED:
            return None
        name, fields = decoded[0].name, decoded[1]
        if name == "B.DATR":
            attributes = fields
        elif name == "B.IOT":
            sources += _tile_sources(fields)
            targets += _tile_target(fields)
        elif name == "B.IOR":
            registers += [fields[source] for source in _SOURCES if fields[source]]
        elif name == "B.IOD":
            tokens += [fields[source] for source in _SOURCES if fields[source]]
            makes_token = bool(fields["destination"])
        elif fields["loop"] in tuple(LoopNest):
            dimensions[fields["loop"]] = Dimension(fields.get("register", 0), fields.get("immediate", 0))
    used = (*registers, *(dimension.register for dimension in dimensions if dimension is not None))
    first = _type(start[1]["data_type"]) if start is not None else None
    if max(used, default=0) >= REGISTER_COUNT or attributes["layout"] == Layout.RESERVED_16:
        return None
    return BlockLine(
        operation=row,
        data_type=first,
        second_type=_type(attributes["data_type"]),
        layout=Layout(attributes["layout"]),
        pad=attributes["pad"],
        compare=attributes["compare"],
        rounding=RoundingMode(attributes["rounding"]),
        saturate=bool(attributes["saturate"]),
        canonical=bool(attributes["canonical"]),
        dimensions=(dimensions[0], dimensions[1], dimensions[2]),
        sources=tuple(sources),
        registers=tuple(registers),
        tokens=tuple(tokens),
        destinations=tuple(targets),
        makes_token=makes_token,
    )


def _type(code: int) -> DataType | None:
    return data_type(code) if code != NO_TYPE and is_data_type(code) else None


def _tile_sources(fields: Mapping[str, int]) -> list[TileName]:
    result = []
    for place in range(SourceForm(fields["form"]).count):
        queue, index = source_name(fields[f"source{place}"])
        result.append(TileName(queue, index, bool(fields[f"reuse{place}"])))
    return result


def _tile_target(fields: Mapping[str, int]) -> list[NewTile]:
    if not fields["size"] or fields["destination"] == Destination.NONE:
        return []
    return [NewTile(Destination(fields["destination"]), fields["size"])]


def load_lines(words: list[Emitted]) -> list[str] | None:
    """Return the ``li`` lines of a set-up block, None if it is none or is not made of canonical sequences."""
    decoded = [decode_word(*word) for word in words]
    if decoded[0] is None or decoded[0][0].name != "BSTART.STD FALL" or decoded[0][1]["offset"]:
        return None
    values = [word for word, _ in words]
    lines = []
    at = 1
    while at < len(words):
        found = _longest_load(values, at)
        if found is None:
            return None
        register, value, at = found
        lines.append(f"li {register_name(register)}, {value if value < _DECIMAL else hex(value)}")
    return lines or None


def _longest_load(values: list[int], at: int) -> tuple[int, int, int] | None:
    """Return register, value and end of the longest canonical sequence that starts at a word."""
    best = None
    value, register = 0, 0
    for place in range(at, len(values)):
        decoded = decode_word(values[place])
        if decoded is None or not decoded[0].in_setup:
            break
        form, fields = decoded
        source = fields.get("source", 0)
        if place == at:
            register = fields["destination"]
        if fields["destination"] != register or not 0 < register < REGISTER_COUNT or source not in (0, register):
            break
        value = setup_value(form.name, fields, value if source else 0)
        if load_immediate(register, value) == values[at : place + 1]:
            best = register, value, place + 1
    return best
