"""The simulator's side of :mod:`linxtile_sim.backend`: runs one program and writes down what came of it."""

import os
import pickle
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import cocotb

from linxtile.faults import FaultRecord
from linxtile.flags import Flag
from linxtile.isa.codes import REGISTER_COUNT, register_name
from linxtile.isa.faults import Rule
from linxtile.isa.operations import OPERATIONS
from linxtile.isa.types import DATA_TYPES
from linxtile.machine import SETUP
from linxtile.retired import flag_names
from linxtile_rtl.layouts import BlockKind, width_code
from linxtile_rtl.scheduler import ENGINES

from .axi_check import AxiError
from .backend import TASK, Observed, Task
from .hardware.observed import NO_ENGINE
from .lockstep import Difference, core_queues, flag_bits, run_in_lockstep
from .session import CoreSession, Event, HangError

ELEMENT_BITS = {width_code(bits): bits for bits in {1, *(row.storage_bits for row in DATA_TYPES)}}
"""Element width by the code that the core keeps with a tile."""

PATIENCE = 4_000_000
"""Cycles that one block may take: 65535 rows that each end in half a byte, so that each is a read and a write."""


class Recorder(CoreSession):
    """A session that keeps the events that it yields, and the cycles in which the program started and ended."""

    def __init__(self, dut: Any, task: Task):
        super().__init__(dut, task.config, patience=PATIENCE)
        self._behind = Path(task.progress)
        self.events: list[Event] = []
        self.started = self.ended = 0

    async def run(self, address: int, length: int) -> AsyncIterator[Event]:
        """Start the program and yield its events."""
        self.started = self.ended = self.cycle
        async for event in super().run(address, length):
            self.events.append(event)
            self.ended = self.cycle
            behind = event.record["block_address"] - address
            if 0 <= behind < length:
                self._behind.write_text(str(behind))
            yield event


@cocotb.test()
async def run_task(dut: Any) -> None:
    """Run the task, with the model beside it if it is to be checked."""
    task: Task = pickle.loads(Path(os.environ[TASK]).read_bytes())
    session = Recorder(dut, task)
    await session.start()
    checks, complaint = 0, None
    try:
        if task.check:
            checks = (await run_in_lockstep(session, task.scenario, task.config)).checks
        else:
            complaint = await _run_alone(session, task)
    except (Difference, HangError, AxiError) as difference:
        complaint = str(difference).removeprefix(f"{task.scenario.name}, ").removeprefix(f"{task.scenario.name}: ")
    answer = await _observed(session, task, checks, complaint)
    Path(task.answer).write_bytes(pickle.dumps(answer))


async def _run_alone(session: Recorder, task: Task) -> str | None:
    """Run without comparing; return what the simulated memory complains about."""
    scenario = task.scenario
    await session.reset()
    session.pace(scenario.pace)
    await session.fill(task.pages, scenario.error_pages)
    await session.set_registers(scenario.registers)
    async for _ in session.run(scenario.address, len(scenario.image)):
        pass
    fault = _fault(session.events)
    # A refused store may have reached pages of which the model keeps no record.
    return session.complaint(strays=fault is None or fault.rule is not Rule.MEM_WRITE)


async def _observed(session: Recorder, task: Task, checks: int, complaint: str | None) -> Observed:
    """Read everything that the caller may want."""
    tiles = core_queues(session.events[-1].committed) if session.events else {}
    return Observed(
        blocks=[_block(event, session.started) for event in session.events if not _ends(event)],
        fault=_fault(session.events),
        faulted=_faulted(session),
        state=_state(session.events[-1]) if session.events else {},
        registers={register_name(number): await session.register(number) for number in range(REGISTER_COUNT)},
        regions=[await session.read(address, count) for address, count in task.regions],
        tiles={name: await session.tile(base, size) for name, (base, size, _) in tiles.items()},
        cycles=session.ended - session.started,
        checks=checks,
        complaint=complaint,
    )


def _ends(event: Event) -> bool:
    return event.record["kind"] in (BlockKind.FAULT, BlockKind.FINISH)


def _block(event: Event, started: int) -> dict[str, Any]:
    """Return a committed block as the model's JSON has it, with its cycles."""
    record = event.record
    setup = record["kind"] is BlockKind.SETUP
    return {
        "block": record["block_address"],
        "operation": SETUP if setup else OPERATIONS[record["operation"]].name,
        "block_flags": flag_names(Flag(flag_bits(record["flags"]))),
        "trap": bool(record["trap_after"]),
        **_state(event),
        **_cycles(event, started),
    }


def _cycles(event: Event, started: int) -> dict[str, Any]:
    """Return the cycles of a block in their order, counted from the start of the program."""
    record, stages = event.record, event.stages
    cycles = {"closed_at": record["closed_at"], "bound_at": stages["bound_at"]}
    engine = None
    if stages["engine"] != NO_ENGINE:
        engine = ENGINES[stages["engine"]]
        cycles |= {"started_at": stages["started_at"], "finished_at": stages["finished_at"]}
    cycles["retired_at"] = record["retired_at"]
    return {"engine": engine} | {name: cycle - started for name, cycle in cycles.items()}


def _faulted(session: Recorder) -> dict[str, Any] | None:
    """Return the block whose fault ended the program; only one that has come to an engine has an operation for sure."""
    fault = _fault(session.events)
    if fault is None:
        return None
    cycles = _cycles(session.events[-1], session.started)
    operation = OPERATIONS[session.events[-1].record["operation"]].name if cycles["engine"] else fault.rule.name
    return {"block": fault.block, "operation": operation, "rule": fault.rule.name, **cycles}


def _state(event: Event) -> dict[str, Any]:
    names = core_queues(event.committed).items()
    return {
        "queues": {name: [base, size, ELEMENT_BITS[code]] for name, (base, size, code) in names},
        "pointer": event.pointer,
        "flags": flag_names(Flag(flag_bits(event.flags))),
    }


def _fault(events: list[Event]) -> FaultRecord | None:
    """Return the record that ended the program, if a fault did."""
    if not events or events[-1].record["kind"] is not BlockKind.FAULT:
        return None
    record = events[-1].record
    return FaultRecord(Rule(record["rule"]), record["block_address"], record["word_address"], record["fault_address"])
