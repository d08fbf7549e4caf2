"""What runs a program for the command line: the model itself, or a simulator found through an entry point.

A package that offers a simulator declares, in the entry point group ``linxtile.backends``, a class without parameters
that has the method `Backend.run`. The model never imports it by name.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol

from linxtile.config import CoreConfig
from linxtile.faults import FaultRecord
from linxtile.machine import SETUP, Machine
from linxtile.progress import Progress

GROUP = "linxtile.backends"
MODEL = "model"


class BackendError(Exception):
    """The backend cannot run the job at all; the message is one line for the user."""


@dataclass(frozen=True)
class Job:
    """A program and what it starts from.

    Attributes
    ----------
    name : str
        Name of the program, for file names and messages.
    image, address : bytes, int
        Header words and the byte address of the first one.
    registers : dict of int to int
        General registers that are not zero.
    memory : list of (int, bytes)
        Bytes to put into memory, in order.
    regions : list of (int, int)
        Memory the caller wants back: address and bytes.
    check : bool
        Compare every block with the model.
    waves : Path or None
        Where to write the waves.
    sources : dict of int to str
        Source lines of the blocks, by the address of the block; empty if there is no source.
    """

    name: str
    image: bytes
    address: int
    config: CoreConfig
    registers: dict[int, int] = field(default_factory=dict)
    memory: list[tuple[int, bytes]] = field(default_factory=list)
    regions: list[tuple[int, int]] = field(default_factory=list)
    check: bool = False
    waves: Path | None = None
    sources: dict[int, str] = field(default_factory=dict)

    def machine(self) -> Machine:
        """Return a model with memory, registers and program in place."""
        machine = Machine(self.config)
        for address, data in self.memory:
            machine.memory.write(address, data)
        for number, value in self.registers.items():
            machine.gprs[number] = value
        machine.load(self.image, self.address)
        return machine


@dataclass(frozen=True)
class Finished:
    """What a job gave.

    Attributes
    ----------
    fault : FaultRecord or None
        What ended the program early.
    tiles : dict of str to bytes
        Live tiles by name.
    regions : list of bytes
        Contents of the job's regions.
    statistics : dict of str to int
        Counts in the order they are printed; simulators add ``cycles``.
    document : dict
        The run for JSON.
    difference : str or None
        With ``check``: the first difference from the model, in words.
    timeline : dict or None
        The run as trace events, from backends that have cycles.
    """

    fault: FaultRecord | None
    tiles: dict[str, bytes]
    regions: list[bytes]
    statistics: dict[str, int]
    document: dict[str, Any]
    difference: str | None = None
    timeline: dict[str, Any] | None = None


class Backend(Protocol):
    """Something that runs jobs."""

    def run(self, job: Job) -> Finished:
        """Run a job to its end.

        Raises
        ------
        BackendError
            The job cannot be run here.
        """


class ModelBackend:
    """The golden model."""

    def run(self, job: Job) -> Finished:
        """Run a job on the model; there are no waves and there is nothing to check against.

        Raises
        ------
        BackendError
            The configuration asks for more than the model has.
        """
        try:
            machine = job.machine()
        except ValueError as error:
            raise BackendError(str(error)) from error
        with Progress(job.name, len(job.image)) as progress:
            result = machine.run(after=lambda block: progress.at(block.block - job.address))
        statistics = {
            "blocks": sum(block.operation != SETUP for block in result.blocks),
            "set-up blocks": sum(block.operation == SETUP for block in result.blocks),
            "tile bytes written": sum(tile.size for block in result.blocks for tile in block.new_tiles.values()),
            "memory bytes written": sum(len(data) for block in result.blocks for _, data in block.writes),
        }
        return Finished(
            fault=result.fault,
            tiles={name: bytes(tile) for name, tile in result.queues.live().items()},
            regions=[machine.memory.read(address, count) for address, count in job.regions],
            statistics=statistics,
            document=result.as_dict(),
        )


def backend_names() -> list[str]:
    """Return what `find_backend` knows: the model first, then the installed simulators."""
    return [MODEL, *sorted({entry.name for entry in entry_points(group=GROUP)} - {MODEL})]


def find_backend(name: str) -> Backend:
    """Return a backend by its name; only now is the package of a simulator imported.

    Raises
    ------
    BackendError
        There is none of this name, or its package lacks something it needs.
    """
    if name == MODEL:
        return ModelBackend()
    for entry in entry_points(group=GROUP, name=name):
        try:
            factory: Callable[[], Backend] = entry.load()
        except ImportError as error:
            raise BackendError(f"backend {name} needs the extra `sim` of linxtile: {error}") from error
        return factory()
    raise BackendError(f"backend must be {', '.join(backend_names())}, not {name!r}")
