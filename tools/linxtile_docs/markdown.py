"""Pieces of Markdown."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; cells are shown as they print, and a bar in a cell, in code or not, stays a bar."""
    lines = [_row(header), _row(["---"] * len(header)), *(_row(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[object]) -> str:
    return "| " + " | ".join(_cell(str(cell)) for cell in cells) + " |"


def _cell(text: str) -> str:
    # MkDocs takes a bar inside of code as it is, and would show the backslash.
    pieces = text.split("`")
    return "`".join(piece if place % 2 else piece.replace("|", "\\|") for place, piece in enumerate(pieces))


def code(text: str, language: str = "") -> str:
    """Return a block of code."""
    return f"```{language}\n{text.rstrip()}\n```\n"


def codes(names: Iterable[object]) -> str:
    """Return names in code type, with commas."""
    return ", ".join(f"`{name}`" for name in names)


def page_name(operation: str) -> str:
    """Return the file name of an operation's page, without its suffix."""
    return operation.lower().replace(".", "_")
