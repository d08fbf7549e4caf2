"""What the RTL executes: operation -> type names. Everything else decodes, assembles and is UNSUPPORTED there.

Loads and stores are supported in the layouts and with the number of tiles given here; for the other operations every
layout code is ignored, as the ISA says.
"""

from collections.abc import Mapping

from linxtile.isa.codes import Layout
from linxtile.isa.operations import operation
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

RTL_LAYOUTS: frozenset[Layout] = frozenset({Layout.NORM})
"""Layouts of loads and stores in the RTL."""

RTL_MOVE_TILES = 1
"""Most tiles of one load or store in the RTL."""
