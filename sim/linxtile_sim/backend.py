"""The simulators as backends of ``linxtile run``: the program runs on the generated Verilog of the core."""

import os
import pickle
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linxtile.backend import BackendError, Finished, Job
from linxtile.config import CoreConfig
from linxtile.faults import FaultRecord
from linxtile.machine import SETUP
from linxtile.memory import PAGE_BYTES
from linxtile.progress import Progress

from .cosim import TOP, simulation_sources
from .runner import SimulationFailed, SimulatorMissing, simulate
from .scenario import Scenario
from .session import find_salt
from .timeline import timeline
from .waves import write_save_file

__all__ = ["TASK", "Icarus", "Observed", "Task", "Verilator"]

TASK = "LINXTILE_TASK"
BENCH = "linxtile_sim.backend_bench"
WAVE_SUFFIX = ".fst"
_GLANCE = 0.2
"""Seconds between two looks at how far a simulator is."""


@dataclass(frozen=True)
class Task:
    """What the simulator process is told, by file; it leaves an :class:`Observed` in the file ``answer``.

    While it runs, ``progress`` holds the number of bytes of the program that are behind.
    """

    config: CoreConfig
    scenario: Scenario
    pages: Mapping[int, bytes]
    regions: Sequence[tuple[int, int]]
    check: bool
    answer: str
    progress: str


@dataclass(frozen=True)
class Observed:
    """What was seen on the core.

    Attributes
    ----------
    blocks : list of dict
        Committed blocks as in the JSON of the model, without the bytes they wrote; with ``engine`` (None for a set-up block) and
        the cycles ``closed_at``, ``bound_at``, on an engine ``started_at`` and ``finished_at``, and ``retired_at``, all since the
        start of the program.
    fault, faulted : FaultRecord or None, dict or None
        What ended the program early, and the engine and cycles of that block.
    state : dict
        Queues, pointer and flags at the end, as in the JSON of the model.
    registers : dict of str to int
        General registers at the end.
    regions : list of bytes
        Memory that was asked for.
    tiles : dict of str to bytes
        Live tiles at the end.
    checks : int
        Comparisons with the model; 0 when none was asked for.
    complaint : str or None
        First difference from the model, or why the run ended before its time.
    """

    blocks: list[dict[str, Any]]
    fault: FaultRecord | None
    faulted: dict[str, Any] | None
    state: dict[str, Any]
    registers: dict[str, int]
    regions: list[bytes]
    tiles: dict[str, bytes]
    cycles: int
    checks: int
    complaint: str | None

    def statistics(self) -> dict[str, int]:
        """Return the counts in the order they are printed."""
        setups = sum(block["operation"] == SETUP for block in self.blocks)
        counts = {"blocks": len(self.blocks) - setups, "set-up blocks": setups, "cycles": self.cycles}
        return counts | ({"checks": self.checks} if self.checks else {})

    def document(self) -> dict[str, Any]:
        """Return the run for JSON."""
        fault = None if self.fault is None else self.fault.as_dict()
        return {"blocks": self.blocks, "fault": fault, "gprs": self.registers, **self.state, "cycles": self.cycles}


class Simulator:
    """Runs jobs on a simulated core.

    The simulated memory answers after ten cycles and never stalls. Before the run the model says which pages the program
    stores to, since only those can be written; a core that writes elsewhere, or hangs, differs even without ``check``.
    """

    name: str

    def run(self, job: Job) -> Finished:
        """Run a job to its end.

        Raises
        ------
        BackendError
            The simulator is missing or broken, or the data does not fit the simulated memory.
        """
        if job.waves is not None and job.waves.suffix != WAVE_SUFFIX:
            raise BackendError(
                f"waves are written as FST, so --waves must end in {WAVE_SUFFIX}, not {str(job.waves)!r}"
            )
        try:
            scenario = scenario_of(job)
            expected = scenario.machine(job.config).run()
            observed = self._observe(job, scenario, scenario.pages(expected))
        except (SimulatorMissing, ValueError) as error:
            raise BackendError(str(error)) from error
        except SimulationFailed as error:
            raise BackendError(str(error).splitlines()[0]) from error
        return Finished(
            fault=observed.fault,
            tiles=observed.tiles,
            regions=observed.regions,
            statistics=observed.statistics(),
            document=observed.document(),
            difference=observed.complaint,
            timeline=timeline(
                f"{job.name} on {self.name}, preset {job.config.name}",
                [*observed.blocks, *([] if observed.faulted is None else [observed.faulted])],
                {retired.block: retired.description for retired in expected.blocks},
                job.sources,
            ),
        )

    def _observe(self, job: Job, scenario: Scenario, pages: Mapping[int, bytes]) -> Observed:
        """Simulate; a run that succeeds leaves no log, a run that fails keeps its own."""
        find_salt(page // PAGE_BYTES for page in pages)
        with tempfile.TemporaryDirectory(prefix="linxtile-") as folder:
            answer, plan, behind = (Path(folder) / name for name in ("answer", "task", "progress"))
            task = Task(job.config, scenario, pages, job.regions, job.check, str(answer), str(behind))
            plan.write_bytes(pickle.dumps(task))
            with _followed(behind, job, self.name):
                results = simulate(
                    self.name, TOP, simulation_sources(job.config), BENCH,
                    name=f"run-{job.name}-{self.name}-{os.getpid()}",
                    waves=job.waves is not None, environment={TASK: str(plan)},
                )  # fmt: skip
            observed: Observed = pickle.loads(answer.read_bytes())
        if job.waves is not None and results.waves is not None:
            _keep_waves(results.waves, job)
        shutil.rmtree(results.log.parent)
        return observed


@contextmanager
def _followed(behind: Path, job: Job, name: str) -> Iterator[None]:
    """Show how far the simulator is, which runs in a process of its own."""
    over = threading.Event()
    with Progress(f"{job.name} on {name}", len(job.image)) as progress:

        def watch() -> None:
            while not over.wait(_GLANCE):
                if behind.exists():
                    progress.at(int(behind.read_text() or 0))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


class Icarus(Simulator):
    """Icarus Verilog: builds in seconds, runs hundreds of cycles a second."""

    name = "icarus"


class Verilator(Simulator):
    """Verilator: builds in minutes, runs tens of thousands of cycles a second."""

    name = "verilator"


def scenario_of(job: Job) -> Scenario:
    """Return the job's program, registers and memory; where loads overlap the later one wins."""
    memory: dict[int, bytes] = {}
    machine = job.machine()
    for address, content in job.memory:
        for page in range(address & -PAGE_BYTES, address + len(content), PAGE_BYTES):
            memory[page] = machine.memory.read(page, PAGE_BYTES)
    return Scenario(job.name, job.image, job.address, dict(job.registers), memory)


def _keep_waves(dump: Path, job: Job) -> None:
    """Move the waves to their place, and write the save file of GTKWave beside them."""
    assert job.waves is not None
    try:
        job.waves.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(dump, job.waves)
        write_save_file(job.waves)
    except OSError as error:
        raise BackendError(f"cannot write {job.waves}: {error.strerror}") from error
