"""Run many programs on one simulated core, each in lockstep with the model."""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from linxtile.config import CoreConfig
from linxtile.progress import announce
from linxtile_rtl.verilog import emit

from . import hardware
from .kept import kept_verilog
from .lockstep import Report
from .power_up import POWER_UP_ARGUMENTS, power_up_plusargs, without_initial_values
from .runner import BUILD, Results, simulate
from .scenario import PATIENCE, Scenario

__all__ = ["Outcome", "Plan", "TOP", "run_scenarios", "simulation_sources"]

TOP = "simulation_top"
PLAN = "LINXTILE_PLAN"
BENCH = "linxtile_sim.cosim_bench"
LINES = Path(hardware.__file__).parent / "simulation_lines.v"


@dataclass(frozen=True)
class Outcome:
    """What became of one scenario: its report, or the sentence that tells the first difference."""

    name: str
    report: Report | None
    complaint: str | None = None

    @property
    def agrees(self) -> bool:
        """Whether model and core agreed in everything."""
        return self.complaint is None


@dataclass(frozen=True)
class Plan:
    """What the simulator process is told, by file."""

    config: CoreConfig
    scenarios: Sequence[Scenario]
    answers: str
    complaints_allowed: int
    patience: int


def simulation_sources(config: CoreConfig) -> dict[str, str]:
    """Return the Verilog of core, memory and fetch; kept under ``build/`` until a source changes."""
    # The top drags in Amaranth components; a process that only plans has no use for them.
    from .hardware.top import SimulationTop

    def emitted() -> str:
        announce(f"generating the core ({config.name}), once; that and the build take minutes")
        return emit(SimulationTop(config=config), TOP)

    text = kept_verilog(f"{TOP}-{config.name}", repr(config.plain()), emitted)
    return {f"{TOP}.v": text, LINES.name: LINES.read_text()}


def run_scenarios(
    scenarios: Sequence[Scenario],
    config: CoreConfig,
    *,
    simulator: str = "verilator",
    name: str = "cosim",
    waves: bool = False,
    complaints_allowed: int = 0,
    patience: int = PATIENCE,
    power_up: int | None = None,
) -> tuple[list[Outcome], Results]:
    """Run scenarios one after the other, each from reset, and return their outcomes.

    Parameters
    ----------
    complaints_allowed : int
        Give up after this many differences; the outcomes end there.
    patience : int
        Cycles without a retired block that count as a hang.
    power_up : int, optional
        Seed of random values in every register and memory of the core before the first reset, in Verilator only.
    """
    if power_up is not None and simulator != "verilator":
        raise ValueError(f"power_up needs the simulator verilator, not {simulator!r}")
    answers = BUILD.resolve() / "sim" / "answers" / f"{name}-{simulator}.pickle"
    answers.parent.mkdir(parents=True, exist_ok=True)
    answers.unlink(missing_ok=True)
    plan = answers.with_suffix(".plan")
    plan.write_bytes(pickle.dumps(Plan(config, list(scenarios), str(answers), complaints_allowed, patience)))
    sources = simulation_sources(config)
    if power_up is not None:
        # The memory keeps its page table: it stands for a machine that has been running.
        sources[f"{TOP}.v"] = without_initial_values(sources[f"{TOP}.v"], keep=(f"{TOP}.memory",))
    results = simulate(
        simulator, TOP, sources, BENCH,
        name=f"{name}-{config.name}-{simulator}", waves=waves, environment={PLAN: str(plan)},
        arguments=POWER_UP_ARGUMENTS if power_up is not None else (),
        plusargs=power_up_plusargs(power_up) if power_up is not None else (),
    )  # fmt: skip
    outcomes: list[Outcome] = pickle.loads(answers.read_bytes())
    return outcomes, results
