"""The page of one operation."""

from linxtile.asm_block import BlockLine, NewTile, TileName
from linxtile.asm_check import count_text
from linxtile.dis_fields import fields_text
from linxtile.dis_words import word_text
from linxtile.isa.codes import REGISTER_NUMBERS, Destination, Queue, size_code
from linxtile.isa.operations import Operation, Uses
from linxtile.isa.support import MODEL_OPERATIONS, RTL_OPERATIONS
from linxtile.isa.types import data_type
from linxtile.isa.words import decode_word
from linxtile_docs.example_section import example_section
from linxtile_docs.fault_list import rule_table, specific_rules
from linxtile_docs.markdown import code, codes, table
from linxtile_docs.notes import special_cases
from linxtile_docs.program import line
from linxtile_docs.python_section import python_section
from linxtile_docs.worked import worked

_FIELDS = {
    Uses.PAD: "pad: `Zero`, `Max`, `Min` or `Null`", Uses.ROUNDING: "rounding mode: `RNE` and others",
    Uses.SATURATE: "`Sat`", Uses.SECOND_TYPE: "second type", Uses.COMPARE: "comparison, as a suffix: `.GT`",
    Uses.BYTE_ID: "`Byte0` to `Byte3`", Uses.CANONICAL: "`.canon` or `.normal`",
}  # fmt: skip
_PLACEHOLDER = 16


def operation_page(row: Operation) -> str:
    """Return the page in Markdown; the example on it is executed."""
    return "\n".join(
        [
            f"# {row.name}\n",
            *_introduction(row),
            "## Syntax and encoding\n", *_encoding(row),
            *python_section(row),
            "## Operands\n", _operands(row),
            "## Types\n", _types(row),
            *_special_cases(row),
            "## Faults\n",
            "Besides the [rules of every program](../faults.md), in the order in which they are checked:\n",
            rule_table(specific_rules(row)),
            *example_section(row),
        ]
    )  # fmt: skip


def _introduction(row: Operation) -> list[str]:
    lines = [f"`{row.semantics}`\n", f"{row.page}."]
    if row.aliases:
        lines[-1] += f" Also assembles as {codes(row.aliases)}."
    lines[-1] += "\n"
    if row.name not in MODEL_OPERATIONS:
        lines.append("!!! note\n    Decodes and assembles; the model does not run it, a block raises UNSUPPORTED.\n")
    return lines


def _encoding(row: Operation) -> list[str]:
    block = _shown_block(row)
    selector = f"Engine {row.engine.name} ({int(row.engine)}), mode {row.mode}, function {row.function}.\n"
    words = table(
        ("Word", "Header instruction", "Fields"),
        (
            (f"`{word:08x}`", f"`{word_text(word, bits, row)}`", _fields(word, bits))
            for word, bits in block.words()
        ),
    )  # fmt: skip
    return [code(block.text()), selector, words]


def _fields(word: int, bits: int) -> str:
    decoded = decode_word(word, bits)
    return "" if decoded is None else fields_text(decoded[0], word)


def _shown_block(row: Operation) -> BlockLine:
    """Return the block of the example; of an operation that the model does not run, one with all its operands."""
    example = worked(row.name)
    if example is not None and example.program.block is not None:
        return example.program.block
    sources = tuple(TileName(Queue.T, index) for index in range(row.max_sources, 0, -1))
    targets = (NewTile(Destination.ACC if row.writes_acc else Destination.U, size_code(1024)),) * row.min_destinations
    registers = tuple(REGISTER_NUMBERS[f"a{place}"] for place in range(row.min_scalars))
    dimensions = (_PLACEHOLDER,) * len(row.dimensions)
    types = (row.source_types[0],) if row.source_types else ()
    return line(row, types, dimensions, sources=sources, destinations=targets, registers=registers)


def _operands(row: Operation) -> str:
    listed = f": {', '.join(row.sources)}" if row.sources else ""
    rows = [("Source tiles", count_text(row.min_sources, row.max_sources, "tile") + listed)]
    if row.reads_acc:
        rows.append(("Also reads", "ACC"))
    rows += [
        ("Registers", count_text(row.min_scalars, row.max_scalars, "register")),
        (
            "Destinations",
            "ACC" if row.writes_acc else count_text(row.min_destinations, row.max_destinations, "tile"),
        ),
        ("Dimensions", ", ".join(f"LB{place} {role}" for place, role in enumerate(row.dimensions)) or "none"),
    ]
    fields = [text for use, text in _FIELDS.items() if use in row.uses]
    if row.layouts is not None:
        fields.append(f"layout: {codes(layout.name for layout in row.layouts)}")
    rows.append(("B.DATR", "; ".join(fields) or "not read"))
    return table(("", ""), rows)


def _types(row: Operation) -> str:
    if row.source_types is None:
        return "The operation has no element type.\n"
    model, rtl = (listed.get(row.name, frozenset()) for listed in (MODEL_OPERATIONS, RTL_OPERATIONS))
    lines = [
        ("LinxISA v0.56", codes(row.source_types)),
        ("Model", _some(row.source_types, model)),
        ("RTL", _some(row.source_types, rtl)),
    ]
    if row.second_types is not None:
        default = "by default the first" if row.second_default else "required"
        lines.append((f"Second type ({default})", codes(row.second_types)))
    text = table(("", "Types"), lines)
    return text + _pairs(row)


def _pairs(row: Operation) -> str:
    """Return which pairs of types are legal, if not all are."""
    if row.type_pairs is None:
        return ""
    first, second = row.source_types or (), row.second_types or ()
    same_class = {(a, b) for a in first for b in second if data_type(a).kind is data_type(b).kind}
    if row.type_pairs == same_class:
        return "\nBoth types must be of one class: floats, signed or unsigned integers.\n"
    allowed = ((f"`{a}`", codes(b for b in second if (a, b) in row.type_pairs)) for a in first)
    return "\n" + table(("First type", "Second types"), allowed)


def _some(allowed: tuple[str, ...], supported: frozenset[str]) -> str:
    if not supported:
        return "none"
    return "all" if supported >= set(allowed) else codes(name for name in allowed if name in supported)


def _special_cases(row: Operation) -> list[str]:
    found = special_cases(row)
    if not found:
        return []
    lines = [f"* {text} [More](../numeric_rules.md#{anchor})" for text, anchor in found]
    return ["## Special cases\n", "\n".join(lines) + "\n"]
