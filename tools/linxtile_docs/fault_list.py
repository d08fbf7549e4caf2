"""Which fault rules a block of an operation can break."""

from collections.abc import Callable, Mapping

from linxtile.isa.faults import RULES, Rule, RuleRow, Stage
from linxtile.isa.operations import Operation, Shape, Uses
from linxtile.isa.types import data_type
from linxtile_docs.markdown import table

_MEMORY_READERS = (Shape.LOAD, Shape.GATHER)
_MEMORY_WRITERS = (Shape.STORE, Shape.SCATTER)
_MATRIX = (Shape.MATMUL, Shape.GEMV, Shape.ACC_CONVERT)
_FITTED = (
    Shape.MASK_RESULT, Shape.SELECT, Shape.ROW_REDUCE, Shape.COLUMN_REDUCE, Shape.ROW_EXPAND, Shape.ROW_EXPAND_OP,
    Shape.COLUMN_EXPAND, Shape.COLUMN_EXPAND_OP, Shape.HISTOGRAM, Shape.GATHER, Shape.SCATTER, *_MATRIX,
)  # fmt: skip


def _has_area(row: Operation) -> bool:
    return "valid_rows" in row.dimensions or "rows" in row.dimensions


def _takes_packed(row: Operation) -> bool:
    names = (*(row.source_types or ()), *(row.second_types or ()))
    return any(data_type(name).is_packed for name in names)


# What each rule needs of an operation. The rules about words and about the order of words apply to every program.
_APPLIES: Mapping[Rule, Callable[[Operation], bool]] = {
    Rule.ILL_TYPE: lambda row: row.needs_type or row.second_types is not None,
    Rule.ILL_LAYOUT: lambda row: row.layouts is not None,
    Rule.ILL_DST_QUEUE: lambda row: row.max_destinations > 0,
    Rule.PARM_LAST: lambda row: row.max_sources + row.max_destinations > 0,
    Rule.PARM_TILES: lambda row: True,
    Rule.PARM_REGS: lambda row: True,
    Rule.ILL_CMODE: lambda row: Uses.COMPARE in row.uses,
    Rule.ILL_BYTEID: lambda row: Uses.BYTE_ID in row.uses,
    Rule.UNSUPPORTED: lambda row: True,
    Rule.PARM_ZERO: lambda row: bool(row.dimensions),
    Rule.TILE_UNREADABLE: lambda row: row.max_sources > 0 or row.reads_acc,
    Rule.PARM_SIZE: lambda row: row.max_destinations > 0,
    Rule.PARM_SPLIT: lambda row: row.shape in (Shape.LOAD, Shape.STORE),
    Rule.PARM_VALID_COL: lambda row: "valid_columns" in row.dimensions,
    Rule.PARM_VALID_ROW: lambda row: _has_area(row) and row.shape is not Shape.ACC_CONVERT,
    Rule.PARM_ALIGN: lambda row: row.shape in _MATRIX or (row.dimensions != () and _takes_packed(row)),
    Rule.PARM_CAPACITY: lambda row: row.shape in _FITTED,
    Rule.CAPACITY: lambda row: row.max_destinations > 0 and not row.writes_acc,
    Rule.MEM_READ: lambda row: row.shape in _MEMORY_READERS,
    Rule.MEM_WRITE: lambda row: row.shape in _MEMORY_WRITERS,
    Rule.WATCHDOG: lambda row: row.shape in (*_MEMORY_READERS, *_MEMORY_WRITERS),
    Rule.PARM_OFFSET: lambda row: row.shape in (Shape.GATHER, Shape.SCATTER),
}


def specific_rules(row: Operation) -> list[RuleRow]:
    """Return the rules that depend on the operation, in the order in which they are checked."""
    return in_order([RULES[rule - 1] for rule, applies in _APPLIES.items() if applies(row)])


def general_rules() -> list[RuleRow]:
    """Return the rules that every program can break, whatever its operations."""
    return in_order([row for row in RULES if row.rule not in _APPLIES])


def in_order(rows: list[RuleRow]) -> list[RuleRow]:
    """Sort by stage and order."""
    return sorted(rows, key=lambda row: (row.stage, row.order))


def rule_table(rows: list[RuleRow]) -> str:
    """Return rules with their stage and trigger."""
    return table(
        ("Rule", "Stage", "Broken by"), ((f"`{row.rule.name}`", row.stage.name.lower(), row.trigger) for row in rows)
    )


def all_rules() -> str:
    """Return the table of all rules with their codes in the fault record."""
    return table(
        ("Number", "Rule", "Trap", "Cause", "Stage", "Order", "Word reported", "Broken by"),
        (
            (
                int(row.rule), f"`{row.rule.name}`", row.trap.name, row.cause, Stage(row.stage).name.lower(), row.order,
                row.word.value, row.trigger,
            )
            for row in in_order(list(RULES))
        ),
    )  # fmt: skip
