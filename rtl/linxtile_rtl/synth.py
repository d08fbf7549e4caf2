"""Size of the core: ``python -m linxtile_rtl.synth CONFIG...`` prints its cells on an ECP5 unit by unit, and the gates of its move engines."""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from linxtile.config import CoreConfig

from .yosys import YosysError, run_script

__all__ = ["ECP5", "FOLDER", "GATES", "Module", "Target", "main", "report", "synthesise", "table", "unit_of"]

FOLDER = Path("build/synth")


@dataclass(frozen=True)
class Target:
    """What a design is mapped to.

    Attributes
    ----------
    commands : str
        Yosys commands from a checked design to cells, with ``{top}`` and ``{flatten}``, which is an option of ``synth``.
    kinds : mapping
        Columns of the report: patterns of cells that count, each with its weight. The first one sorts the units.
    """

    commands: str
    kinds: Mapping[str, Mapping[str, int]]


ECP5 = Target(
    "synth_ecp5 -top {top} {flatten} -json {top}.json",
    {
        # A CCU2C is two LUTs with a carry chain.
        "LUT": {"LUT4": 1, "CCU2C": 2},
        "FF": {"TRELLIS_FF": 1},
        "RAM bits": {"TRELLIS_DPR16X4": 64},
        "BRAM": {"DP16KD": 1, "PDPW16KD": 1},
        "DSP": {"MULT18X18D": 1},
    },
)
GATES = Target(
    "synth -top {top} {flatten}\nabc -g simple\nopt_clean",
    {"gates": {f"$_{gate}_": 1 for gate in ("AND", "OR", "XOR", "MUX", "NOT")}, "FF": {"$_*DFF*_": 1}},
)
"""Gates of two inputs, multiplexers and inverters; memories are flip-flops with the multiplexers that read them."""


@dataclass(frozen=True)
class Module:
    """One Verilog module after synthesis: its own cells by kind, without those of modules below, and how often it is used."""

    name: str
    cells: dict[str, int]
    instances: int


def script(source: str, top: str, target: Target, *, flatten: bool) -> str:
    """Return the Yosys script: no latch, no loop, no wire driven twice or not at all, then the cells of the target."""
    # By default one command of Yosys flattens and the other does not.
    option = {True: "", False: "-noflatten"} if target is ECP5 else {True: "-flatten", False: ""}
    return "\n".join(
        [
            f"read_verilog {source}",
            f"hierarchy -check -top {top}",
            "proc",
            "select -assert-none t:$dlatch t:$adlatch t:$dlatchsr",
            "check -assert",
            # ABC names bit 0 of `x` as the wire that Amaranth calls `x[0]`, and Yosys ends with a failed assertion.
            "rename -hide w:*",
            target.commands.format(top=top, flatten=option[flatten]),
            "select -assert-none t:*LATCH*",
            f"tee -q -o {top}.stat.json stat -json",
            "",
        ]
    )


def synthesise(
    verilog: str, top: str, folder: Path = FOLDER, *, target: Target = ECP5, flatten: bool = False
) -> list[Module]:
    """Map ``verilog`` to the cells of a target and return the modules that are left.

    Parameters
    ----------
    verilog : str
        Verilog text with the module ``top``.
    folder : Path
        Where source, script, log, netlist and statistics are left.
    flatten : bool
        Optimise across modules: fewer cells, but all of them in the top module.

    Raises
    ------
    YosysError
        Also for a latch, a combinational loop, or a wire with two drivers or none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{top}.v").write_text(verilog)
    run_script(script(f"{top}.v", top, target, flatten=flatten), folder, top)
    modules = json.loads((folder / f"{top}.stat.json").read_text())["modules"]
    used = dict.fromkeys(modules, 0)
    used[f"\\{top}"] = 1
    # Parents before children: a module is counted once everything that uses it has been.
    for name in _parents_first(f"\\{top}", modules):
        for cell, count in modules[name]["num_cells_by_type"].items():
            if f"\\{cell}" in used:
                used[f"\\{cell}"] += count * used[name]
    return [
        Module(
            name.removeprefix("\\"),
            {kind: _count(module["num_cells_by_type"], cells) for kind, cells in target.kinds.items()},
            used[name],
        )
        for name, module in modules.items()
        if used[name]
    ]


def _count(cells: Mapping[str, int], weights: Mapping[str, int]) -> int:
    """Return the cells that match one of the patterns, each with its weight."""
    return sum(
        count * weight
        for cell, count in cells.items()
        for pattern, weight in weights.items()
        if fnmatchcase(cell, pattern)
    )


def _parents_first(top: str, modules: dict) -> list[str]:
    order: list[str] = []

    def visit(name: str) -> None:
        if name not in order:
            for cell in modules[name]["num_cells_by_type"]:
                if f"\\{cell}" in modules:
                    visit(f"\\{cell}")
            order.append(name)

    visit(top)
    return order[::-1]


def unit_of(module: str, top: str) -> str:
    """Return the unit that ``module`` belongs to: what stands directly below ``top``, or a shared module."""
    first, *below = module.split(".")
    if first != top:
        return first
    return below[0] if below else "(top)"


def report(modules: Sequence[Module], top: str, target: Target = ECP5) -> str:
    """Return a table of the cells of each unit, with everything inside it, the largest first."""
    units: dict[str, Counter[str]] = {}
    for module in modules:
        cells = units.setdefault(unit_of(module.name, top), Counter())
        cells.update({kind: module.instances * count for kind, count in module.cells.items()})
    return table(units, target)


def table(units: Mapping[str, Counter[str]], target: Target) -> str:
    """Return the cells of units as text, the largest unit first, and their sum."""
    largest = next(iter(target.kinds))
    rows = sorted(units.items(), key=lambda row: (-row[1][largest], row[0]))
    rows.append(("all", sum(units.values(), Counter())))
    lines = [f"{'unit':<24}" + "".join(f"{kind:>10}" for kind in target.kinds)]
    lines += [f"{name:<24}" + "".join(f"{cells[kind]:>10}" for kind in target.kinds) for name, cells in rows]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Synthesise the configurations named on the command line, and the move engines."""
    from .export import core_verilog
    from .gates import print_gates

    for name in sys.argv[1:] if argv is None else argv:
        try:
            config = CoreConfig.named(name)
            modules = synthesise(core_verilog(config), f"linxtile_{config.name}")
        except ValueError as error:
            print(error, file=sys.stderr)
            return 2
        except YosysError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{config.name}, ECP5, no optimisation across modules:")
        print(report(modules, f"linxtile_{config.name}"), end="\n\n")
    print_gates()
    return 0


if __name__ == "__main__":
    sys.exit(main())
