"""``python -m linxtile_sim.soak``: thousands of random move programs with faults, on the core in lockstep with the model."""

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace

from linxtile.config import RTL_PRESETS, CoreConfig
from linxtile.isa.faults import Rule
from linxtile.progress import Progress

from .cosim import Outcome, run_scenarios
from .move_mutations import beyond, broken_move, mutated_move
from .move_programs import move_program, random_moves
from .move_traits import kinds
from .moves import Move
from .runner import SimulationFailed
from .scenario import Pace, Scenario
from .session import memory_holds

__all__ = ["main", "soak_program"]

PART = 50
"""Programs of one run of the simulator: what is lost when it dies, and the step of the progress bar."""

PATIENCE = 2_000_000
"""Cycles that one block may take: a thousand rows that each end in half a byte, each of them a read and a write of 600 cycles."""

SIZES, SLOW_SIZES = (256, 512, 1024, 2048), (256, 512)
RULES = (Rule.PARM_ZERO, Rule.PARM_SIZE, Rule.PARM_SPLIT, Rule.PARM_VALID_COL, Rule.PARM_VALID_ROW, Rule.PARM_ALIGN)
FAULTS = ("none", "error pages", "beyond the bus", "changed", "rule")
WEIGHTS = (25, 35, 15, 15, 10)


def soak_program(seed: int, config: CoreConfig) -> Scenario:
    """Return program number ``seed``: a few moves, often a fault, on a memory of its own pace.

    Faults are pages that answer with an error under any byte that a move touches, addresses beyond those of the bus, one
    property of a move changed at random, or a broken rule.
    """
    rng = random.Random(f"soak {seed}")
    while True:
        scenario = _attempt(seed, rng, config)
        result = scenario.machine(config).run()
        if memory_holds((*scenario.pages(result), *scenario.error_pages)):
            return scenario


def _attempt(seed: int, rng: random.Random, config: CoreConfig) -> Scenario:
    pace = _pace(rng)
    slow = pace.latency + pace.jitter > 100 or max(pace.stalls) > 0.9
    moves = random_moves(rng, config, rng.randint(1, 4), sizes=SLOW_SIZES if slow else SIZES)
    fault = rng.choices(FAULTS, WEIGHTS)[0]
    last: Move | None = None
    if fault == "beyond the bus":
        move = moves.pop()
        last = replace(move, base=beyond(rng, move, config))
    elif fault == "changed":
        last = mutated_move(rng, moves.pop(), config)
    elif fault == "rule":
        last = broken_move(rng, config, rng.choice(kinds(config)), rng.choice(RULES))
    errors = _error_pages(rng, moves) if fault == "error pages" else ()
    program = move_program(seed, config, moves, last=last, name="soak program")
    return replace(program.scenario, error_pages=errors, pace=pace)


def _error_pages(rng: random.Random, moves: Sequence[Move]) -> tuple[int, ...]:
    """Return addresses of one or two bytes that the moves touch."""
    touching = [move for move in moves if move.name != "TMOV"]
    pages = []
    for _ in range(rng.randint(1, 2) if touching else 0):
        move = rng.choice(touching)
        pages.append((rng.choice(move.line_addresses) + rng.randrange(move.line_bytes)) & ~0xFFF)
    return tuple(pages)


def _pace(rng: random.Random) -> Pace:
    """Return a memory that is fast, slow, irregular, or holds back each channel with a chance of its own."""
    stalls = tuple(rng.choice([0, 0, 0.2, 0.5, 0.8, 0.95]) for _ in range(5))
    return Pace(rng.choice([1, 2, 10, 50, 200]), stalls, rng.choice([0, 0, 7, 63, 255]))  # type: ignore[arg-type]


def _run_part(first: int, count: int, config: CoreConfig) -> list[Outcome]:
    """Run programs in a simulator of their own."""
    scenarios = [soak_program(seed, config) for seed in range(first, first + count)]
    # One simulation in each process, so the process names its folder.
    name = f"soak-{os.getpid()}"
    try:
        outcomes, _ = run_scenarios(scenarios, config, name=name, complaints_allowed=count, patience=PATIENCE)
    except SimulationFailed as error:
        reason = str(error).splitlines()[0]
        return [Outcome(scenario.name, None, f"{scenario.name}: {reason}") for scenario in scenarios]
    return outcomes


def _parts(first: int, count: int) -> Iterator[tuple[int, int]]:
    for start in range(first, first + count, PART):
        yield start, min(PART, first + count - start)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run programs and print how they ended; return 1 when one differs from the model, hangs or breaks the bus."""
    parser = argparse.ArgumentParser(prog="python -m linxtile_sim.soak", description=main.__doc__)
    parser.add_argument("--programs", type=int, default=2000, metavar="N", help="number of programs (default 2000)")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="seed of the first one (default 0)")
    parser.add_argument("--config", choices=RTL_PRESETS, default="default", help="preset of the core")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="simulators at a time (default 2)")
    options = parser.parse_args(arguments)
    config = CoreConfig.named(options.config)
    last = options.first + options.programs - 1
    print(f"soak: seeds {options.first} to {last}, preset {config.name}, on Verilator", flush=True)
    started = time.monotonic()
    complaints, ends, cycles = [], Counter[str](), 0
    with Progress("soak", options.programs, "program") as progress, ProcessPoolExecutor(options.jobs) as pool:
        parts = [pool.submit(_run_part, *part, config) for part in _parts(options.first, options.programs)]
        for part in as_completed(parts):
            for outcome in part.result():
                if outcome.report is None:
                    complaints.append(str(outcome.complaint))
                    print(_again(outcome, config), file=sys.stderr, flush=True)
                    continue
                fault = outcome.report.result.fault
                ends["no fault" if fault is None else fault.rule.name] += 1
                cycles += outcome.report.cycles
            progress.at(ends.total() + len(complaints))
    print(f"{ends.total() + len(complaints)} programs, {cycles} cycles, {time.monotonic() - started:.0f} s")
    print("they ended in: " + ", ".join(f"{name} {count}" for name, count in ends.most_common()))
    print(f"{len(complaints)} differences from the model, hangs, or broken rules of the bus")
    return 1 if complaints or ends.total() != options.programs else 0


def _again(outcome: Outcome, config: CoreConfig) -> str:
    """Return what went wrong and how to see it again."""
    seed = outcome.name.rpartition(" ")[2]
    command = f"python -m linxtile_sim.soak --config {config.name} --first {seed} --programs 1"
    return f"seed {seed}: {outcome.complaint}\n  again: {command}"


if __name__ == "__main__":
    sys.exit(main())
