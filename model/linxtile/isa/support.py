"""What the model and the RTL execute: operation -> type names. Everything else decodes, assembles and is UNSUPPORTED.

Loads and stores are supported in the layouts and with the number of tiles given here. TMOV and ACCCVT run in every
layout that the ISA gives them; all other operations ignore the layout code, as the ISA says.
"""

from collections.abc import Mapping

from linxtile.isa.codes import MAX_DESTINATIONS, Layout
from linxtile.isa.operations import OPERATIONS, Operation, Shape, operation
from linxtile.isa.rows_tepl import ARITHMETIC, INTEGERS

_FLOATS = ("FP32", "FP16")
_INTEGERS_AND_FLOATS = (*INTEGERS, *_FLOATS)

_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("TADD TSUB TMAX TMIN TADDS TSUBS TMAXS TMINS", _INTEGERS_AND_FLOATS),
    ("TAND TOR TXOR TSHL TSHR TNOT TANDS TORS TXORS TSHLS TSHRS", INTEGERS),
    ("TABS TNEG TRELU", _INTEGERS_AND_FLOATS),
    ("TROWSUM TROWMAX TROWMIN TROWEXPANDSUB", _INTEGERS_AND_FLOATS),
    ("TEXPANDS TROWEXPAND", ARITHMETIC),
    ("TLOAD TSTORE", operation("TLOAD").source_types or ()),
    ("TMOV", operation("TMOV").source_types or ()),
)


def _table() -> dict[str, frozenset[str]]:
    """Spread the groups; every type must be one that the ISA allows for the operation."""
    table: dict[str, frozenset[str]] = {}
    for names, types in _GROUPS:
        for name in names.split():
            unknown = set(types) - set(operation(name).source_types or ())
            if unknown:
                raise ValueError(f"{name} does not take {', '.join(sorted(unknown))}")
            table[name] = frozenset(types)
    return table


RTL_OPERATIONS: Mapping[str, frozenset[str]] = _table()
"""Operations of the RTL and their types."""

_ALL_LAYOUTS: frozenset[Layout] = frozenset(
    layout for name in ("TLOAD", "TSTORE") for layout in operation(name).layouts or ()
)

RTL_LAYOUTS = _ALL_LAYOUTS
"""Layouts of loads and stores in the RTL."""

RTL_MOVE_TILES = MAX_DESTINATIONS
"""Most tiles of one load or store in the RTL."""

_LEFT_OUT = frozenset({Shape.STATE, Shape.GATHER, Shape.SCATTER})


def _in_model(row: Operation) -> bool:
    """Whether the model executes an operation. A matrix product with block scales (MX) is one with scale operands."""
    return row.shape not in _LEFT_OUT and not any(role.startswith("scale_") for role in row.sources)


MODEL_OPERATIONS: Mapping[str, frozenset[str]] = {
    row.name: frozenset(row.source_types or ()) for row in OPERATIONS if _in_model(row)
}
"""Operations of the golden model and their types: all types that the ISA allows."""

MODEL_LAYOUTS = _ALL_LAYOUTS
"""Layouts of loads and stores in the golden model."""

MODEL_MOVE_TILES = MAX_DESTINATIONS
"""Most tiles of one load or store in the golden model."""
