"""Model and simulated core side by side: every retired block has to agree in everything a program can see."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from linxtile.config import GRANULE_BYTES, CoreConfig
from linxtile.isa.codes import QUEUE_DEPTH, Queue, size_bytes
from linxtile.isa.faults import Rule
from linxtile.isa.operations import OPERATIONS
from linxtile.queues import QueueState
from linxtile.retired import Retired, RunResult
from linxtile_rtl.layouts import BlockKind, width_code

from .differences import describe_tile
from .hardware.digest import memory_digest, tile_digest
from .scenario import Scenario
from .session import CoreSession, Event

__all__ = ["Difference", "Report", "core_queues", "flag_bits", "run_in_lockstep"]

SETUP = "SETUP"


class Difference(AssertionError):
    """Model and core disagree; the message names the first difference."""


@dataclass
class Report:
    """What a run in lockstep did; a list has an entry a committed block.

    ``bursts`` are the reads and the writes of the memory port, ``stages`` those of ``stages_layout``.
    """

    result: RunResult
    cycles: int = 0
    checks: int = 0
    bursts: tuple[int, int] = (0, 0)
    closed_at: list[int] = field(default_factory=list)
    retired_at: list[int] = field(default_factory=list)
    stages: list[dict[str, int]] = field(default_factory=list)


async def run_in_lockstep(session: CoreSession, scenario: Scenario, config: CoreConfig) -> Report:
    """Run a scenario on both and compare; raise :class:`Difference` at the first disagreement.

    The core starts from reset. Compared after each block: address, operation, status flags, queues, pointer, the bytes of
    its new tiles, the bytes it stored; at the end the fault record, the registers and the memory that was stored to.
    """
    machine = scenario.machine(config)
    result = machine.run()
    report = Report(result)
    await session.reset()
    session.pace(scenario.pace)
    await session.fill(scenario.pages(result), scenario.error_pages)
    await session.set_registers(scenario.registers)
    started = session.cycle
    index = 0
    before: QueueState | None = None
    async for event in session.run(scenario.address, len(scenario.image)):
        place = f"{scenario.name}, event {index + 1}"
        if event.record["kind"] in (BlockKind.FAULT, BlockKind.FINISH):
            _compare_end(place, event, result, index)
            report.checks += 1
            break
        if index == len(result.blocks):
            end = "ends there" if result.fault is None else f"faults there: {result.fault}"
            raise Difference(f"{place}: the core committed block {event.record['block_address']:#x}, the model {end}")
        retired = result.blocks[index]
        report.checks += _compare_block(place, event, retired, config)
        if not _tiles_agree(event, retired):
            raise Difference(f"{place}: {await _tile_difference(session, scenario, index, result, before)}")
        if event.memory_digest != memory_digest(retired.writes):
            raise Difference(f"{place}: {await _memory_difference(session, index, result)}")
        report.closed_at.append(event.record["closed_at"])
        report.retired_at.append(event.record["retired_at"])
        report.stages.append(event.stages)
        before = retired.queues
        index += 1
    report.cycles = session.cycle - started
    report.bursts = session.bursts
    await _compare_after(session, scenario, machine.gprs, result, report)
    return report


def _compare_block(place: str, event: Event, retired: Retired, config: CoreConfig) -> int:
    """Compare everything but the tile bytes; return the number of comparisons."""
    record = event.record
    kind = record["kind"]
    operation = SETUP if kind is BlockKind.SETUP else OPERATIONS[record["operation"]].name
    what = f"{place}: {retired.operation} at {retired.block:#x}"
    facts: list[tuple[str, Any, Any]] = [
        ("block address", hex(record["block_address"]), hex(retired.block)),
        ("operation", operation, retired.operation),
        ("block flags", flag_bits(record["flags"]), int(retired.block_flags)),
        ("sticky flags", flag_bits(event.flags), int(retired.flags)),
        ("rotating pointer", event.pointer, retired.pointer),
        ("trap after the block", record["trap_after"], int(retired.trap)),
        ("queues", core_queues(event.committed), _model_queues(retired.queues)),
    ]
    for name, actual, expected in facts:
        if actual != expected:
            raise Difference(f"{what}, cycle {record['retired_at']}: {name} is {actual}, expected {expected}")
    return len(facts) + len(retired.new_tiles) + 1


def _tiles_agree(event: Event, retired: Retired) -> bool:
    expected = sum(tile_digest(tile.base, bytes(tile)) for tile in retired.new_tiles.values())
    return event.tile_digest == expected % (1 << 64)


def flag_bits(flags: Mapping[str, int]) -> int:
    """Return the flags of the core as the number of a model's ``Flag``."""
    return flags["invalid"] | flags["divide_by_zero"] << 1 | flags["overflow"] << 2


def core_queues(committed: Mapping[str, Any]) -> dict[str, tuple[int, int, int]]:
    """Return the live names of the core: (base, size, width code)."""
    names = {}
    for queue in Queue:
        head = committed["heads"][queue]
        for index in range(1, QUEUE_DEPTH + 1):
            handle = committed["handles"][queue * QUEUE_DEPTH + (head - index + 1) % QUEUE_DEPTH]
            if handle["live"]:
                names[f"{queue.name}#{index}"] = (
                    handle["base"] * GRANULE_BYTES,
                    size_bytes(handle["size_code"]),
                    handle["width_code"],
                )
    return names


def _model_queues(queues: QueueState) -> dict[str, tuple[int, int, int]]:
    return {name: (tile.base, tile.size, width_code(tile.element_bits)) for name, tile in queues.live().items()}


def _compare_end(place: str, event: Event, result: RunResult, index: int) -> None:
    """Compare the record that ends a program."""
    record = event.record
    if index < len(result.blocks):
        expected = result.blocks[index]
        ended = "finished" if record["kind"] is BlockKind.FINISH else f"faulted with {_rule_name(record['rule'])}"
        raise Difference(f"{place}: the core {ended}, expected {expected.operation} at {expected.block:#x} to commit")
    if (record["kind"] is BlockKind.FAULT) != (result.fault is not None):
        core = _rule_name(record["rule"]) if record["kind"] is BlockKind.FAULT else "the end of the program"
        raise Difference(f"{place}: the core reports {core}, expected {result.fault or 'the end of the program'}")
    if result.fault is None:
        return
    actual = (
        _rule_name(record["rule"]),
        hex(record["block_address"]),
        hex(record["word_address"]),
        hex(record["fault_address"]),
    )
    fault = result.fault
    expected_record = (fault.rule.name, hex(fault.block), hex(fault.word), hex(fault.traparg0))
    if actual != expected_record:
        raise Difference(f"{place}: fault record (rule, block, word, address) is {actual}, expected {expected_record}")


def _rule_name(number: int) -> str:
    return Rule(number).name if number in {int(rule) for rule in Rule} else f"rule {number}"


async def _compare_after(
    session: CoreSession, scenario: Scenario, gprs: list[int], result: RunResult, report: Report
) -> None:
    """Compare registers and memory once the core is idle."""
    refused = result.fault is not None and result.fault.rule is Rule.MEM_WRITE
    # A refused store may have reached pages that only it touches: the model keeps no record of its bytes.
    complaint = session.complaint(strays=not refused)
    if complaint is not None:
        raise Difference(f"{scenario.name}: {complaint}")
    for number, expected in enumerate(gprs):
        actual = await session.register(number)
        if actual != expected:
            raise Difference(f"{scenario.name}: register {number} is {actual:#x} at the end, expected {expected:#x}")
    report.checks += len(gprs)
    if refused:
        # What a refused store leaves in memory is not defined.
        session.forget_everything()
        return
    for start, content in _runs(_written(result.blocks)):
        differing = await _differing_byte(session, start, content)
        if differing is not None:
            raise Difference(f"{scenario.name}: {differing} at the end")
        report.checks += 1


def _written(blocks: Iterable[Retired]) -> dict[int, int]:
    """Return the bytes that the blocks stored, by address."""
    final: dict[int, int] = {}
    for block in blocks:
        for address, content in block.writes:
            final.update(enumerate(content, address))
    return final


async def _differing_byte(session: CoreSession, start: int, content: bytes) -> str | None:
    """Tell the first byte of memory that is not as expected, or None."""
    actual = await session.read(start, len(content))
    at = next((i for i in range(len(content)) if actual[i] != content[i]), None)
    return None if at is None else f"memory byte {start + at:#x} is {actual[at]:#04x}, expected {content[at]:#04x}"


async def _memory_difference(session: CoreSession, index: int, result: RunResult) -> str:
    """Tell the first byte of a store that is wrong in memory; a younger store may have gone over it in the meantime."""
    retired = result.blocks[index]
    head = f"{retired.operation} at {retired.block:#x}"
    after = _written(result.blocks[: index + 1])
    for start, content in _runs({address: after[address] for address in _written([retired])}):
        differing = await _differing_byte(session, start, content)
        if differing is not None:
            return f"{head}: {differing}"
    return (
        f"{head}: the digest of what it stored differs although the bytes agree: a byte was written twice, or elsewhere"
    )


def _runs(bytes_by_address: Mapping[int, int]) -> list[tuple[int, bytes]]:
    """Return neighbouring bytes as (address, bytes) pieces."""
    runs: list[tuple[int, bytearray]] = []
    for address in sorted(bytes_by_address):
        if runs and runs[-1][0] + len(runs[-1][1]) == address:
            runs[-1][1].append(bytes_by_address[address])
        else:
            runs.append((address, bytearray([bytes_by_address[address]])))
    return [(start, bytes(content)) for start, content in runs]


async def _tile_difference(
    session: CoreSession, scenario: Scenario, index: int, result: RunResult, before: QueueState | None
) -> str:
    """Run the program again, watching every line that reaches the tile RAM, and tell the first element that differs."""
    await session.reset()
    # The first run has stored to pages that the session believes to know.
    session.forget_everything()
    await session.fill(scenario.pages(result), scenario.error_pages)
    await session.set_registers(scenario.registers)
    image = await session.tile_ram_after(scenario.address, len(scenario.image), events=index + 1)
    return describe_tile(result.blocks[index], image, before)
