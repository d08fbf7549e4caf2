"""A program with everything it needs: what the model and the simulated core are both given."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from linxtile.config import CoreConfig
from linxtile.machine import Machine
from linxtile.memory import PAGE_BYTES, Memory
from linxtile.retired import RunResult

__all__ = ["PATIENCE", "Pace", "Scenario"]

PATIENCE = 100_000
"""Cycles without a retired block that count as a hang, unless the memory is very slow."""


@dataclass(frozen=True)
class Pace:
    """How the memory behaves.

    Attributes
    ----------
    latency : int
        Cycles of each answer, at least 1.
    stalls : tuple of float
        Chances that AR, R, AW, W and B rest in a cycle.
    jitter : int
        Mask, up to 1023, of random cycles that are added to the latency of each answer.
    """

    latency: int = 10
    stalls: tuple[float, float, float, float, float] = (0, 0, 0, 0, 0)
    jitter: int = 0


@dataclass(frozen=True)
class Scenario:
    """A program, its memory and registers.

    Attributes
    ----------
    name : str
        Told in every failure.
    image : bytes
        Header words.
    address : int
        Where the first word lies.
    registers : dict of int to int
        Initial general registers; absent ones are zero.
    memory : dict of int to bytes
        Bytes by address; all others are zero.
    error_pages : tuple of int
        Addresses of the pages that answer with an error.
    """

    name: str
    image: bytes
    address: int = 0x1000
    registers: dict[int, int] = field(default_factory=dict)
    memory: dict[int, bytes] = field(default_factory=dict)
    error_pages: tuple[int, ...] = ()
    pace: Pace = field(default_factory=Pace)

    def machine(self, config: CoreConfig) -> Machine:
        """Return a model ready to run the program."""
        machine = Machine(config)
        for address, content in self.memory.items():
            machine.memory.write(address, content)
        machine.memory.set_error_pages(self.error_pages)
        for number, value in self.registers.items():
            machine.gprs[number] = value
        machine.load(self.image, self.address)
        return machine

    def pages(self, result: RunResult) -> dict[int, bytes]:
        """Return the pages that a simulated memory has to hold: all given bytes and all that ``result`` stored to."""
        before = Memory()
        touched: set[int] = set()
        for address, content in (*self.memory.items(), (self.address, self.image)):
            before.write(address, content)
            touched |= set(_pages(address, len(content)))
        for block in result.blocks:
            for address, content in block.writes:
                touched |= set(_pages(address, len(content)))
        return {page: before.read(page, PAGE_BYTES) for page in sorted(touched)}

    def at(self, pace: Pace) -> "Scenario":
        """Return the same program on a memory with another pace."""
        return replace(self, pace=pace)


def _pages(address: int, count: int) -> Iterator[int]:
    return iter(range(address & -PAGE_BYTES, address + count, PAGE_BYTES))
