"""All generated pages and pieces of pages, by name."""

import re
from collections.abc import Callable, Mapping

from linxtile.isa.codes import Engine
from linxtile.isa.operation import Operation
from linxtile.isa.operations import OPERATIONS
from linxtile.isa.support import MODEL_OPERATIONS, RTL_OPERATIONS
from linxtile_docs.fault_list import all_rules, general_rules, rule_table
from linxtile_docs.markdown import page_name, table
from linxtile_docs.operation_page import operation_page
from linxtile_docs.type_tables import TABLES, small_values

_MARKER = re.compile(r"^\{\{ (\S+)(?: (\S+))? \}\}$", re.MULTILINE)

# fmt: off
_GROUPS: tuple[tuple[str, Engine, tuple[int, ...]], ...] = (
    ("Tile and tile", Engine.TEPL, (0,)),
    ("Tile and scalar", Engine.TEPL, (1,)),
    ("Reduce and expand", Engine.TEPL, (2,)),
    ("Histogram and state", Engine.TEPL, (3,)),
    ("Memory", Engine.TMA, (0,)),
    ("Matrix", Engine.CUBE, (0,)),
)
# fmt: on


def groups() -> dict[str, list[Operation]]:
    """Return all operations by chapter, in the order of the table."""
    return {
        title: [row for row in OPERATIONS if row.engine is engine and row.mode in modes]
        for title, engine, modes in _GROUPS
    }


def operation_index() -> str:
    """Return tables of all operations with their meaning and support."""
    parts = []
    for title, rows in groups().items():
        parts.append(f"## {title}\n")
        parts.append(
            table(
                ("Operation", "Meaning", "Model", "RTL"),
                (
                    (
                        f"[{row.name}]({page_name(row.name)}.md)", f"`{row.semantics}`",
                        _count(row, MODEL_OPERATIONS), _count(row, RTL_OPERATIONS),
                    )
                    for row in rows
                ),
            )
        )  # fmt: skip
    return "\n".join(parts)


def _count(row: Operation, support: Mapping[str, frozenset[str]]) -> str:
    count = len(support.get(row.name, ()))
    if not count:
        return "-"
    return "all types" if count == len(row.source_types or ()) else f"{count} types"


_PIECES: Mapping[str, Callable[[], str]] = {
    **TABLES,
    "operations.index": operation_index,
    "faults.general": lambda: rule_table(general_rules()),
    "faults.all": all_rules,
}


def fill(text: str) -> str:
    """Replace each line ``{{ NAME }}`` of a page by what is generated under that name.

    Raises
    ------
    ValueError
        Nothing is generated under a name.
    """
    return _MARKER.sub(lambda found: _piece(found[1], found[2]), text)


def _piece(name: str, argument: str | None) -> str:
    if name == "types.values" and argument:
        return small_values(argument)
    if name not in _PIECES or argument:
        raise ValueError(f"no piece of documentation is called {name!r}; there are {', '.join(_PIECES)}")
    return _PIECES[name]()


def operation_pages() -> dict[str, str]:
    """Return the pages of all operations by path below the documentation's folder."""
    return {f"operations/{page_name(row.name)}.md": operation_page(row) for row in OPERATIONS}
