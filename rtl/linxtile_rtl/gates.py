"""Gates of the move engines against their aim: ``python -m linxtile_rtl.gates`` prints them, with ``--units`` unit by unit."""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from amaranth.lib import wiring

from linxtile.config import PRESETS, CoreConfig
from linxtile.isa.codes import Layout

from .layouts import lies_across
from .move.load_engine import LoadEngine
from .move.store_engine import StoreEngine
from .synth import FOLDER, GATES, report, synthesise, table
from .verilog import emit

__all__ = ["AIM", "engines", "main", "move_config", "print_gates"]

AIM = 15_000
"""Gates of both engines together, flip-flops not counted."""


def move_config() -> CoreConfig:
    """Return what is measured: preset small, eight bytes wide, 16 bursts in flight, no layout that needs a transposer."""
    small = PRESETS["small"]
    layouts = frozenset(name for name in small.move_layouts if not lies_across(Layout[name]))
    return small.replace(name="moves", reads_outstanding=16, move_layouts=layouts)


def engines() -> Mapping[str, wiring.Component]:
    """Return the engines by name, fresh."""
    config = move_config()
    return {"load_engine": LoadEngine(config=config), "store_engine": StoreEngine(config=config)}


def print_gates() -> int:
    """Print the gates of the engines, each optimised as a whole, and return their sum."""
    units: dict[str, Counter[str]] = {}
    for name, engine in engines().items():
        (module,) = synthesise(emit(engine, name), name, FOLDER / "gates", target=GATES, flatten=True)
        units[name] = Counter(module.cells)
    print("move engines without transposer, 8 bytes, 16 in flight, gates of `synth -flatten; abc -g simple`:")
    print(table(units, GATES))
    total = sum(cells["gates"] for cells in units.values())
    print(f"{total} gates, {abs(AIM - total)} {'over' if total > AIM else 'under'} the aim of {AIM}", end="\n\n")
    return total


def main(argv: Sequence[str] | None = None) -> int:
    """Print the gates of the move engines."""
    parser = argparse.ArgumentParser(prog="python -m linxtile_rtl.gates", description=main.__doc__)
    parser.add_argument("--units", action="store_true", help="unit by unit, without optimisation across them")
    if not parser.parse_args(argv).units:
        print_gates()
        return 0
    for name, engine in engines().items():
        print(f"{name}:")
        print(report(synthesise(emit(engine, name), name, FOLDER / "units", target=GATES), name, GATES), end="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
