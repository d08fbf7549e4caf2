"""Field values of a header word in words, for ``linxtile decode``."""

from linxtile.isa.codes import (
    REGISTER_COUNT,
    CompareMode,
    Destination,
    Layout,
    LoopNest,
    PadValue,
    RoundingMode,
    SourceForm,
    register_name,
    size_bytes,
    size_text,
    source_name,
)
from linxtile.isa.types import NO_TYPE, data_type, is_data_type
from linxtile.isa.words import WordFormat

_REGISTER_WORDS = ("B.DIM", "C.B.DIM", "B.IOR", "LUI", "ADDI", "SLLI")
_REGISTER_FIELDS = ("register", "source", "source0", "source1", "source2", "destination")


def field_meaning(form: WordFormat, name: str, value: int) -> str:
    """Return what a field's value stands for; empty where the number says it all, ``reserved`` for reserved codes."""
    if form.name in _REGISTER_WORDS and name in _REGISTER_FIELDS:
        return register_name(value) if value < REGISTER_COUNT else "reserved"
    if form.name == "B.IOT":
        return _tile_field(name, value)
    match name:
        case "data_type":
            return "no type" if value == NO_TYPE else data_type(value).name if is_data_type(value) else "reserved"
        case "layout":
            return "reserved" if value == Layout.RESERVED_16 else Layout(value).name
        case "pad":
            return PadValue(value).text
        case "compare":
            return CompareMode(value).name if value in tuple(CompareMode) else "reserved"
        case "rounding":
            return RoundingMode(value).name
        case "loop":
            return LoopNest(value).name if value in tuple(LoopNest) else "reserved"
        case _:
            return ""


def _tile_field(name: str, value: int) -> str:
    if name in ("source0", "source1"):
        queue, index = source_name(value)
        return f"{queue.name}#{index}"
    if name == "destination":
        return Destination(value).name
    if name == "size":
        return size_text(size_bytes(value))
    return f"sources: {SourceForm(value).count}" if name == "form" else ""


def fields_text(form: WordFormat, word: int) -> str:
    """Return all fields of a word: ``layout = 30 (NZ2ZN), data_type = 31 (no type), ...``."""
    parts = []
    for name, value in form.decode(word).items():
        meaning = field_meaning(form, name, value)
        parts.append(f"{name} = {value}{f' ({meaning})' if meaning else ''}")
    return ", ".join(parts)
