"""Measure cycles on the RTL against their bounds: ``python -m linxtile_sim.bench``."""

import argparse
import sys

from linxtile.config import PRESETS, RTL_PRESETS

from .bench_cases import cases
from .bench_overlap import overlap_cases
from .cosim import run_scenarios

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> int:
    """Print a line per figure; return 1 when one is over its bound or differs from the model."""
    parser = argparse.ArgumentParser(prog="python -m linxtile_sim.bench", description=__doc__)
    parser.add_argument("--config", choices=RTL_PRESETS, default="default", help="preset to measure")
    parser.add_argument("--only", default="", metavar="TEXT", help="measure the cases whose name contains TEXT")
    options = parser.parse_args(arguments)
    config = PRESETS[options.config]
    chosen = [case for case in (*cases(config), *overlap_cases(config)) if options.only in case.name]
    outcomes, _ = run_scenarios(
        [case.scenario for case in chosen], config, name="bench", complaints_allowed=len(chosen)
    )
    print(f"{'cycles':>9}  {'bound':>9}  {'':4}  {'formula':32}  case (preset {config.name})")
    failures = 0
    for case, outcome in zip(chosen, outcomes, strict=True):
        if outcome.report is None:
            print(f"{'-':>9}  {'-':>9}  FAIL  {case.formula:32}  {case.name}: {outcome.complaint}")
            failures += 1
            continue
        cycles = case.cycles(outcome.report)
        bound = case.bound(outcome.report) if callable(case.bound) else case.bound
        over = cycles > bound
        failures += over
        print(f"{cycles:9.1f}  {bound:9.1f}  {'OVER' if over else 'ok':4}  {case.formula:32}  {case.name}")
    print(f"{len(chosen)} figures, {failures} over their bound")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
