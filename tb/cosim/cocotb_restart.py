"""Programs one after the other on one core: what a start keeps, and what a block that traps holds back."""

import os
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from linxtile.asm import assemble
from linxtile.config import PRESETS, CoreConfig
from linxtile.machine import Machine
from linxtile_sim.lockstep import run_in_lockstep
from linxtile_sim.mutations import mutated_program
from linxtile_sim.programs import OUTPUT_BASE, REGION_BYTES, random_program
from linxtile_sim.scenario import Pace, Scenario
from linxtile_sim.session import CoreSession

READER_BASE = 0x1002
STEP = "BSTART.STD FALL\nADDI a0, 256, ->a0\n"
READER = "".join(f"TSTORE.NORM <64, 4, U8>, {queue}#1.reuse, [a0]\n{STEP}" for queue in "TUMN")
"""Stores the newest tile of each queue, as far as they are live."""

TRAP = f"""
    li a0, {OUTPUT_BASE}
    TEXPANDS <8, U32>, [a0], ->T<256B>
    B.CATR trap
    TSTORE.NORM <8, U32>, T#1, [a0]
"""


class ContinuedSession(CoreSession):
    """A session that resets its core once, before the first program."""

    def __init__(self, dut: Any, config: CoreConfig):
        super().__init__(dut, config)
        self._has_reset = False

    async def reset(self) -> None:
        """Do nothing after the first time."""
        if not self._has_reset:
            await super().reset()
        self._has_reset = True


@dataclass(frozen=True, kw_only=True)
class Continued(Scenario):
    """A program for a machine that has run others before."""

    shared: Machine

    def machine(self, config: CoreConfig) -> Machine:
        """Return the machine with its tiles, registers and flags as they are."""
        machine = self.shared
        for address, content in self.memory.items():
            machine.memory.write(address, content)
        machine.memory.set_error_pages(self.error_pages)
        for number, value in self.registers.items():
            machine.gprs[number] = value
        machine.load(self.image, self.address)
        return machine


def continued(scenario: Scenario, machine: Machine, registers: dict[int, int], pace: Pace) -> Continued:
    """Return a scenario that goes on with ``machine``."""
    return Continued(
        name=scenario.name, image=scenario.image, address=scenario.address, registers=registers,
        memory=scenario.memory, error_pages=scenario.error_pages, pace=pace, shared=machine,
    )  # fmt: skip


@cocotb.test()
async def a_start_keeps_tiles_registers_flags_and_pointer(dut: Any) -> None:
    config = PRESETS[os.environ["LINXTILE_PRESET"]]
    session = ContinuedSession(dut, config)
    await session.start()
    machine = Machine(config)
    reader = Scenario("reader", assemble(READER, address=READER_BASE, allow_faults=True).image, READER_BASE, {}, {
        OUTPUT_BASE: bytes(REGION_BYTES),
    })  # fmt: skip
    faults = stores = 0
    for seed in range(int(os.environ["LINXTILE_PROGRAMS"])):
        made = random_program(seed, config, blocks=4, largest=256) if seed % 3 == 0 else mutated_program(seed, config)
        pace = Pace(latency=1 + 7 * (seed % 4), stalls=(0.3,) * 5 if seed % 2 else (0,) * 5)
        # Every third program finds the registers as the one before left them.
        report = await run_in_lockstep(
            session, continued(made, machine, made.registers if seed % 3 else {}, pace), config
        )
        faults += report.result.fault is not None
        report = await run_in_lockstep(session, continued(reader, machine, {2: OUTPUT_BASE}, pace), config)
        stores += sum(bool(block.writes) for block in report.result.blocks)
    assert faults
    assert stores


@cocotb.test()
async def nothing_follows_a_block_that_traps_until_the_host_resumes(dut: Any) -> None:
    config = PRESETS[os.environ["LINXTILE_PRESET"]]
    session = CoreSession(dut, config)
    await session.start()
    program = assemble(TRAP, address=0x1000).image
    await session.fill({0x1000: program.ljust(4096, b"\0"), OUTPUT_BASE: bytes(4096)})
    traps = 0
    async for event in session.run(0x1000, len(program)):
        if event.record["trap_after"]:
            traps += 1
            toggle = dut.event_toggle.value
            await ClockCycles(dut.clk, 300)
            assert dut.event_toggle.value == toggle, "a block retired while the core was trapped"
            assert await session.read(OUTPUT_BASE, 32) == bytes(32), "a store started while the core was trapped"
    assert traps == 1
    assert await session.read(OUTPUT_BASE, 32) == OUTPUT_BASE.to_bytes(4, "little") * 8
