"""Table of all operations: TEPL by Mode and Function, then TMA, then CUBE by Function."""

from linxtile.isa.codes import Engine
from linxtile.isa.operation import Operation, Shape, Uses
from linxtile.isa.rows_data import CUBE_ROWS, TMA_ROWS
from linxtile.isa.rows_tepl import TEPL_ROWS

__all__ = ["OPERATIONS", "Operation", "Shape", "Uses", "find_operation", "operation"]


def _number(rows: tuple[dict[str, object], ...]) -> tuple[Operation, ...]:
    """Number the rows; check that no selector and no name is used twice and that the order is the documented one."""
    table = tuple(Operation(number=number, **row) for number, row in enumerate(rows))  # type: ignore[arg-type]
    engines = (Engine.TEPL, Engine.TMA, Engine.CUBE)
    keys = [(engines.index(row.engine), row.mode, row.function) for row in table]
    if keys != sorted(set(keys)):
        raise ValueError("operations must be in order of engine, mode and function, each selector once")
    names = [name for row in table for name in (row.name, *row.aliases)]
    if len(names) != len(set(names)):
        raise ValueError("an operation name or alias is used twice")
    return table


OPERATIONS: tuple[Operation, ...] = _number((*TEPL_ROWS, *TMA_ROWS, *CUBE_ROWS))

_BY_NAME = {name: row for row in OPERATIONS for name in (row.name, *row.aliases)}
_BY_SELECTOR = {(row.engine, row.mode, row.function): row for row in OPERATIONS}


def operation(name: str) -> Operation:
    """Return the operation of a name or alias (any letter case).

    Raises
    ------
    ValueError
        No operation has this name.
    """
    row = _BY_NAME.get(name.upper())
    if row is None:
        raise ValueError(f"operation {name!r} is not in the operation table")
    return row


def find_operation(engine: Engine, mode: int, function: int) -> Operation | None:
    """Return the operation of a selector, None if it is reserved."""
    return _BY_SELECTOR.get((engine, mode, function))
