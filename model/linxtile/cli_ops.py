"""``linxtile ops``: which operation runs on which type."""

import argparse
import json

from linxtile.asm_check import count_text
from linxtile.cli_asm import Subparsers
from linxtile.cli_files import UsageError
from linxtile.config import CoreConfig
from linxtile.isa.codes import Layout
from linxtile.isa.operations import OPERATIONS, Operation, Shape, operation
from linxtile.isa.support import (
    MODEL_LAYOUTS,
    MODEL_MOVE_TILES,
    MODEL_OPERATIONS,
    RTL_LAYOUTS,
    RTL_MOVE_TILES,
    RTL_OPERATIONS,
)
from linxtile.isa.types import DATA_TYPES

_LEGEND = "B model and RTL, M model only, R RTL only, . allowed by the ISA, blank not allowed"

_MARKS = {(True, True): "B", (True, False): "M", (False, True): "R", (False, False): "."}


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser("ops", help="list operations and the types they run on")
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these operations, with their meaning")
    parser.add_argument("--config", metavar="NAME|FILE", default="default", help="configuration of the RTL")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(command=_ops)


def model_runs(row: Operation, type_name: str) -> bool:
    """Whether the golden model executes an operation on a type."""
    return type_name in MODEL_OPERATIONS.get(row.name, frozenset())


def _rtl_runs(config: CoreConfig, name: str, type_name: str) -> bool:
    """Whether RTL of a configuration runs an operation on a type; a configuration may ask for more than there is."""
    return config.supports(name, type_name) and type_name in RTL_OPERATIONS.get(name, frozenset())


def _ops(arguments: argparse.Namespace) -> int:
    try:
        config = CoreConfig.named(arguments.config)
        rows = [operation(name) for name in arguments.names] or list(OPERATIONS)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if arguments.json:
        print(json.dumps({row.name: _entry(row, config) for row in rows}, indent=1))
        return 0
    print("\n".join(_table(rows, config)))
    for row in rows if arguments.names else []:
        lines = [f"\n{row.name}: {row.semantics}", row.page, _operands(row), *_layouts(row, config)]
        print("\n  ".join(lines))
    return 0


def _entry(row: Operation, config: CoreConfig) -> dict[str, dict[str, bool]]:
    return {
        name: {"model": model_runs(row, name), "rtl": _rtl_runs(config, row.name, name)}
        for name in row.source_types or ()
    }


def _mark(row: Operation, name: str, config: CoreConfig) -> str:
    if row.source_types is None or name not in row.source_types:
        return " "
    return _MARKS[model_runs(row, name), _rtl_runs(config, row.name, name)]


def _table(rows: list[Operation], config: CoreConfig) -> list[str]:
    """Return one line an operation and one column a type."""
    width = max(len(row.name) for row in OPERATIONS)
    names = [row.name for row in DATA_TYPES]
    lines = [_LEGEND, f"{'':{width}}  {' '.join(names)}"]
    for row in rows:
        marks = " ".join(f"{_mark(row, name, config):^{len(name)}}" for name in names)
        lines.append(f"{row.name:{width}}  {marks}".rstrip())
    return lines


def _layouts(row: Operation, config: CoreConfig) -> list[str]:
    """Return a line with the layouts of an operation that has a choice, and one with the most tiles of a load or store."""
    layouts = row.layouts or ()
    if len(layouts) < 2:
        return []
    external = row.shape in (Shape.LOAD, Shape.STORE)

    def mark(layout: Layout) -> str:
        in_model, in_rtl = row.name in MODEL_OPERATIONS, row.name in config.operations and row.name in RTL_OPERATIONS
        if external:
            in_model &= layout in MODEL_LAYOUTS
            in_rtl &= layout.name in config.move_layouts and layout in RTL_LAYOUTS
        return _MARKS[in_model, in_rtl]

    lines = ["layouts: " + ", ".join(f"{layout.name} {mark(layout)}" for layout in layouts)]
    if external:
        lines.append(
            f"tiles: up to {MODEL_MOVE_TILES} in the model, {min(config.move_tiles, RTL_MOVE_TILES)} in the RTL"
        )
    return lines


def _operands(row: Operation) -> str:
    """Return roles and counts of the operands and roles of the dimensions."""
    parts = [
        f"{count_text(row.min_sources, row.max_sources, 'source tile')}{_listed(row.sources)}",
        count_text(row.min_scalars, row.max_scalars, "register"),
        count_text(row.min_destinations, row.max_destinations, "destination tile")
        + (" (ACC)" if row.writes_acc else ""),
        ", ".join(f"LB{place} {role}" for place, role in enumerate(row.dimensions)),
    ]
    return "; ".join(part for part in parts if part)


def _listed(names: tuple[str, ...]) -> str:
    return f" ({', '.join(names)})" if names else ""
