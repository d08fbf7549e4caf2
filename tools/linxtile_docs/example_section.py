"""The worked example of an operation as a section of its page."""

from collections.abc import Mapping

import numpy as np

from linxtile import Mask, Tile, explain, formats
from linxtile.flags import NO_FLAG
from linxtile.isa.operations import Operation, Shape
from linxtile.isa.types import DataType
from linxtile_docs.markdown import code, table
from linxtile_docs.type_tables import code_text
from linxtile_docs.worked import Worked, differences, worked

_COMPUTED = "Sources are loaded from memory; the new tiles have the same bytes, and zeros after them:"
_STORED = "The tile is loaded from memory; the bytes at the second address are those of the result:"
_BY_ELEMENT = (
    Shape.ELEMENTWISE, Shape.MASK_RESULT, Shape.CONVERT, Shape.ROW_EXPAND_OP, Shape.COLUMN_EXPAND_OP,
)  # fmt: skip
_MOST_ROWS = 4
_MOST_COLUMNS = 8


def example_section(row: Operation) -> list[str]:
    """Return the section, or nothing if the model does not run the operation.

    Raises
    ------
    ValueError
        The machine has another result than the call.
    """
    shown = worked(row.name)
    if shown is None:
        return []
    wrong = differences(shown)
    if wrong:
        raise ValueError(f"the example of {row.name} differs: {'; '.join(wrong)}")
    return [
        "## Example\n",
        *([shown.example.remark + "\n"] if shown.example.remark else []),
        code(shown.source, "python"),
        operand_table(shown.operands | shown.results),
        *_flags(shown),
        *_explanation(shown),
        f"The same on the machine. {_STORED if row.shape is Shape.STORE else _COMPUTED}\n",
        code(shown.program.text),
    ]


def _flags(shown: Worked) -> list[str]:
    if shown.flags is None:
        return []
    names = ", ".join(f"`{flag.name}`" for flag in shown.flags) if shown.flags != NO_FLAG else "none"
    return [f"Flags raised: {names}.\n"]


def _explanation(shown: Worked) -> list[str]:
    """Return the steps of one element, for operations that round single elements."""
    if shown.row.shape not in _BY_ELEMENT:
        return []
    example = shown.example
    inputs = [tile for tile in shown.operands.values() if isinstance(tile, Tile)]
    scalars = [] if example.scalar is None else [example.scalar]
    options = {name: example.options[name] for name in ("mode", "rounding") if name in example.options}
    steps = explain(shown.row.name, (*inputs, *scalars), example.element, to=example.second_type, **options)
    row, column = example.element
    return [f"The element in row {row}, column {column}:\n", code(str(steps))] if steps.rounding else []


def operand_table(tiles: Mapping[str, Tile | Mask]) -> str:
    """Return the elements of tiles, a row of a tile a line: value and code. Large tiles show their corner."""
    shown = {name: _cells(tile) for name, tile in tiles.items()}
    cut = any(tile.shape != (len(shown[name]), len(shown[name][0])) for name, tile in tiles.items())
    width = max(len(line) for lines in shown.values() for line in lines)
    rows = []
    for name, lines in shown.items():
        for place, line in enumerate(lines):
            head = f"**{name}**[{place}]" if len(lines) > 1 else f"**{name}**"
            rows.append((head, *line, *[""] * (width - len(line))))
    note = "\nOf a larger tile the first rows and columns are shown.\n" if cut else ""
    return table(("", *map(str, range(width))), rows) + note


def _cells(tile: Tile | Mask) -> list[list[str]]:
    if isinstance(tile, Mask):
        return [[str(int(bit)) for bit in line] for line in tile.bits]
    # Padding is shown where a tile has it: one row and one column of it tell all.
    rows = min(tile.valid_shape[0] + 1, tile.shape[0], _MOST_ROWS)
    columns = min(tile.valid_shape[1] + 1, tile.shape[1], _MOST_COLUMNS)
    corner = np.asarray(tile.codes[:rows, :columns])
    row = tile.data_type
    return [[f"{_number_text(int(code), row)} {code_text(int(code), row)}" for code in line] for line in corner]


def _number_text(code: int, row: DataType) -> str:
    """Write a value in at most six digits; its code stands beside it."""
    value = formats.number(code, row)
    return str(value) if row.is_integer else f"{value:.6g}"
