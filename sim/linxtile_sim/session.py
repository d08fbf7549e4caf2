"""Programs on a simulated core: fill the memory, start, and wake once a retired block."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, First, RisingEdge, Timer, ValueChange

from linxtile.config import GRANULE_BYTES, CoreConfig
from linxtile_rtl.core import TILE_WRITERS
from linxtile_rtl.gpr import INDEX_BITS
from linxtile_rtl.layouts import line_write_layout

from .axi_check import AxiError
from .hardware.axi_rules import RULES
from .hardware.memory import PAGE_BYTES, PAGES, page_slot
from .hardware.top import event_layout
from .scenario import PATIENCE, Pace
from .streams import unpack

__all__ = ["CLOCK_NANOSECONDS", "CoreSession", "Event", "HangError", "find_salt", "memory_holds"]

CLOCK_NANOSECONDS = 10
ADDRESS_BITS_OF_A_PAGE = 12
REGISTERS_CLEAR = (1 << INDEX_BITS) + 2
"""Cycles after a reset, which arrives a cycle late, until the core takes registers and a start."""
CHANNELS = ("ar", "r", "aw", "w", "b")
UNKNOWN = -1
"""Stands for a byte of the simulated memory that the program may have changed."""


class HangError(AssertionError):
    """The core has not retired anything for too long."""


@dataclass(frozen=True, slots=True)
class Event:
    """One retired block: its record, its way through the units, the digests of what it wrote, the committed state after it."""

    record: dict[str, Any]
    stages: dict[str, int]
    tile_digest: int
    memory_digest: int
    committed: dict[str, Any]
    pointer: int
    flags: dict[str, int]


class CoreSession:
    """Drives a ``SimulationTop``.

    Parameters
    ----------
    dut : handle
        The top.
    config : CoreConfig
        What it was built from.
    patience : int
        Cycles without a retired block after which :class:`HangError` is raised.
    """

    def __init__(self, dut: Any, config: CoreConfig, *, patience: int = PATIENCE):
        self._dut = dut
        self._config = config
        self._patience = patience
        self._known = np.full((PAGES, PAGE_BYTES), UNKNOWN, np.int16)
        self._mapped: dict[int, int] = {}
        self._salt = 0
        self._event_layout = event_layout(config)
        self._write_layout = line_write_layout(config)

    async def start(self) -> None:
        """Start the clock and reset the core, with every input at rest."""
        for name in (
            "program_start", "program_address", "program_bytes", "gpr_write", "gpr_index", "gpr_data", "resume",
            "host_latency", "host_jitter", "host_page_write", "host_page_slot", "host_page_number", "host_page_present", "host_page_error",
            "host_salt", "host_line_write", "host_line", "host_line_data", "tile_line",
            "host_longest_rest", "host_dies", "host_transfers", *(f"host_stalls_{i}" for i in range(5)),
        ):  # fmt: skip
            getattr(self._dut, name).value = 0
        self._dut.host_latency.value = 1
        self._dut.rst.value = 1
        Clock(self._dut.clk, CLOCK_NANOSECONDS, unit="ns").start(start_high=False)
        await self.reset()

    async def reset(self) -> None:
        """Clear queues, registers, flags and everything in flight; the memory keeps its bytes."""
        self._dut.rst.value = 1
        await self._cycles(2)
        self._dut.rst.value = 0
        # The core is busy until its registers are clear.
        await self._cycles(REGISTERS_CLEAR)

    def pace(self, pace: Pace) -> None:
        """Let the memory behave as ``pace`` says."""
        self._dut.host_latency.value = pace.latency
        self._dut.host_jitter.value = pace.jitter
        for channel, chance in enumerate(pace.stalls):
            getattr(self._dut, f"host_stalls_{channel}").value = int(chance * 256)

    def rest_at_most(self, cycles: int) -> None:
        """Bound the rests of every channel; 0 for no bound."""
        self._dut.host_longest_rest.value = cycles

    def kill(self, *channels: str, after: int = 0) -> None:
        """Let these channels (``ar``, ``r``, ``aw``, ``w``, ``b``) rest for ever after so many transfers since the last reset.

        Without a channel the memory is whole again.
        """
        self._dut.host_dies.value = sum(1 << CHANNELS.index(channel) for channel in channels)
        self._dut.host_transfers.value = after

    async def fill(self, pages: Mapping[int, bytes], error_pages: Iterable[int] = ()) -> None:
        """Map and write pages, given by byte address; all other pages are unmapped and read as zero.

        Raises
        ------
        ValueError
            More pages than the simulated memory holds, or no arrangement without collisions.
        """
        wanted = {address >> ADDRESS_BITS_OF_A_PAGE: False for address in pages}
        wanted |= {address >> ADDRESS_BITS_OF_A_PAGE: True for address in error_pages}
        self._salt = find_salt(wanted)
        self._dut.host_salt.value = self._salt
        slots = {page: page_slot(page, self._salt) for page in wanted}
        for page, slot in self._mapped.items():
            if slots.get(page) != slot and slot not in slots.values():
                await self._map(page, slot, present=False, error=False)
        for page, slot in slots.items():
            await self._map(page, slot, present=True, error=wanted[page])
        self._mapped = slots
        self._dut.host_page_write.value = 0
        for address, content in pages.items():
            await self._write_page(slots[address >> ADDRESS_BITS_OF_A_PAGE], np.frombuffer(content, np.uint8))
        self._dut.host_line_write.value = 0

    async def set_registers(self, values: Mapping[int, int]) -> None:
        """Write general registers; the core has to be idle."""
        for number, value in values.items():
            self._dut.gpr_write.value = 1
            self._dut.gpr_index.value = number
            self._dut.gpr_data.value = value
            await self._cycles(1)
        self._dut.gpr_write.value = 0

    async def register(self, number: int) -> int:
        """Return a general register; the core has to be idle."""
        self._dut.gpr_index.value = number
        await self._cycles(2)
        return int(self._dut.gpr_value.value.to_unsigned())

    async def read(self, address: int, count: int) -> bytes:
        """Return bytes of the memory; zero where no page is mapped."""
        width = self._config.axi_data_bytes
        first = address // width * width
        parts = []
        for line in range(first, address + count, width):
            slot = self._mapped.get(line >> ADDRESS_BITS_OF_A_PAGE)
            if slot is None:
                parts.append(bytes(width))
                continue
            self._dut.host_line.value = (slot * PAGE_BYTES + line % PAGE_BYTES) // width
            await self._cycles(1)
            value = self._dut.host_line_value.value.to_unsigned().to_bytes(width, "little")
            self._known[slot, line % PAGE_BYTES : line % PAGE_BYTES + width] = np.frombuffer(value, np.uint8)
            parts.append(value)
        return b"".join(parts)[address - first : address - first + count]

    async def tile(self, base: int, count: int) -> bytes:
        """Return ``count`` bytes from byte ``base`` of the tile RAM, whole lines, as they were last written."""
        width = self._config.vector_bytes
        parts = []
        for line in range(base // width, (base + count) // width):
            self._dut.tile_line.value = line
            await self._cycles(1)
            parts.append(self._dut.tile_value.value.to_unsigned().to_bytes(width, "little"))
        return b"".join(parts)

    def forget(self, address: int) -> None:
        """Note that the page at ``address`` may hold anything."""
        slot = self._mapped.get(address >> ADDRESS_BITS_OF_A_PAGE)
        if slot is not None:
            self._known[slot] = UNKNOWN

    def forget_everything(self) -> None:
        """Note that memory may hold anything: the next :meth:`fill` writes every line again."""
        self._known[:] = UNKNOWN

    async def tile_ram_after(self, address: int, length: int, *, events: int) -> bytes:
        """Run the program again until ``events`` blocks have retired, and return what was written to the tile RAM.

        Bytes that nothing wrote are zero. Python wakes each cycle here.
        """
        width = self._config.vector_bytes
        image = bytearray(self._config.tile_ram_bytes)
        self._start_program(address, length)
        await self._cycles(1)
        self._dut.program_start.value = 0
        toggle = self._dut.event_toggle.value
        while events:
            await self._cycles(1)
            for port in range(TILE_WRITERS):
                if getattr(self._dut, f"trace_{port}_valid").value == 1:
                    write = unpack(self._write_layout, getattr(self._dut, f"trace_{port}_payload").value.to_unsigned())
                    start = write["line"] * width
                    image[start : start + width] = write["data"].to_bytes(width, "little")
            if self._dut.event_toggle.value != toggle:
                toggle = self._dut.event_toggle.value
                events -= 1
        return bytes(image)

    async def run(self, address: int, length: int) -> AsyncIterator[Event]:
        """Start the program of ``length`` bytes at ``address`` and yield its events; the last one is FAULT or FINISH.

        After a block that traps the core is resumed at once.
        """
        self._start_program(address, length)
        await self._cycles(1)
        self._dut.program_start.value = 0
        patience = Timer(self._patience * CLOCK_NANOSECONDS, unit="ns")
        while True:
            toggle = ValueChange(self._dut.event_toggle)
            if await First(toggle, patience) is patience:
                self._assert_axi()
                raise HangError(f"nothing retired for {self._patience} cycles")
            # At the edge itself some outputs may still show what they were before it.
            await FallingEdge(self._dut.clk)
            event = self._event()
            self._assert_axi()
            over = event.record["kind"].name in ("FAULT", "FINISH")
            # To a dead core the memory owes answers for ever.
            if over and self._dut.axi_open.value == 1 and self._dut.dead.value == 0:
                raise AxiError("the program has ended and the bus is not idle")
            yield event
            if over:
                return
            if event.record["trap_after"]:
                self._dut.resume.value = 1
                await self._cycles(1)
                self._dut.resume.value = 0

    def complaint(self, *, strays: bool = True) -> str | None:
        """Return what the simulated memory has to complain about, or None; ``strays`` are writes to unmapped pages."""
        if strays and self._dut.host_stray.value == 1:
            return "the core wrote to a page that the program does not own"
        return None

    def _assert_axi(self) -> None:
        """Raise if a rule of AXI4 was broken since the reset."""
        bits = self._dut.axi_broken.value.to_unsigned()
        if bits:
            raise AxiError("; ".join(text for place, text in enumerate(RULES.values()) if bits >> place & 1))

    @property
    def bursts(self) -> tuple[int, int]:
        """Read and write bursts since the last reset."""
        return self._dut.axi_reads.value.to_unsigned(), self._dut.axi_writes.value.to_unsigned()

    @property
    def cycle(self) -> int:
        """Cycles since the last reset."""
        return int(self._dut.cycle.value.to_unsigned())

    def _start_program(self, address: int, length: int) -> None:
        self._dut.program_address.value = address
        self._dut.program_bytes.value = length
        self._dut.program_start.value = 1

    def _event(self) -> Event:
        bits = unpack(self._event_layout, self._dut.event.value.to_unsigned())
        return Event(
            bits["record"],
            bits["stages"],
            bits["tile_digest"],
            bits["memory_digest"],
            bits["committed"],
            bits["pointer"] * GRANULE_BYTES,
            bits["flags"],
        )

    async def _map(self, page: int, slot: int, *, present: bool, error: bool) -> None:
        self._dut.host_page_write.value = 1
        self._dut.host_page_slot.value = slot
        self._dut.host_page_number.value = page
        self._dut.host_page_present.value = int(present)
        self._dut.host_page_error.value = int(error)
        await self._cycles(1)

    async def _write_page(self, slot: int, content: np.ndarray) -> None:
        """Write the lines that differ from what the slot is known to hold."""
        width = self._config.axi_data_bytes
        lines = content.reshape(-1, width)
        differing = (lines != self._known[slot].reshape(-1, width)).any(axis=1)
        for line in np.flatnonzero(differing):
            self._dut.host_line_write.value = 1
            self._dut.host_line.value = slot * (PAGE_BYTES // width) + int(line)
            self._dut.host_line_data.value = int.from_bytes(lines[line].tobytes(), "little")
            await self._cycles(1)
        self._known[slot] = content

    async def _cycles(self, count: int) -> None:
        for _ in range(count):
            await RisingEdge(self._dut.clk)


def memory_holds(addresses: Iterable[int]) -> bool:
    """Whether the simulated memory can hold the pages at these addresses at the same time."""
    try:
        find_salt({address >> ADDRESS_BITS_OF_A_PAGE for address in addresses})
    except ValueError:
        return False
    return True


def find_salt(pages: Iterable[int]) -> int:
    """Return a salt under which no two of the pages, by number, share a slot.

    Raises
    ------
    ValueError
        More pages than the simulated memory holds, or no arrangement without collisions.
    """
    numbers = np.array(sorted(pages), np.int64)
    if len(numbers) > PAGES:
        raise ValueError(f"the simulated memory holds {PAGES} pages of {PAGE_BYTES} bytes, not {len(numbers)}")
    for salt in range(PAGES):
        if len(np.unique(page_slot(numbers, salt))) == len(numbers):  # type: ignore[arg-type]
            return salt
    raise ValueError(
        f"the simulated memory cannot hold {len(numbers)} pages so far apart; move the data closer together"
    )
