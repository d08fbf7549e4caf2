"""A memory that stops answering: the record, the state that is left, and the core after a reset."""

import os
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.triggers import ClockCycles

from linxtile.asm import assemble
from linxtile.config import PRESETS
from linxtile.isa.faults import Rule
from linxtile.memory import PAGE_BYTES
from linxtile_rtl.layouts import BlockKind
from linxtile_sim.lockstep import core_queues, run_in_lockstep
from linxtile_sim.programs import INPUT_BASE, OUTPUT_BASE, PROGRAM_BASE
from linxtile_sim.scenario import Pace, Scenario
from linxtile_sim.session import CoreSession

WATCHDOG_CYCLES = int(os.environ["LINXTILE_WATCHDOG_CYCLES"])
CONFIG = PRESETS["small"].replace(name="small_watchdog", watchdog_cycles=WATCHDOG_CYCLES)
BEAT = CONFIG.axi_data_bytes

ROWS, ROW_BYTES, STRIDE = 4, 34, 80
ELEMENT = 2
LOAD_BASE, STORE_BASE = INPUT_BASE + 6, OUTPUT_BASE + 10
NEXT_REGISTER, NEXT_VALUE = 5, 0x123
"""Register a3, written by a younger block than the one that hangs."""

SHAPE = f"<LB0:{ROW_BYTES // ELEMENT}, LB1:{ROWS}, LB2:32, U16>"
BASES = f"li a0, {LOAD_BASE}\nli a1, {STRIDE}\nli a2, {STORE_BASE}\n"
LOAD = f"TLOAD {SHAPE}, [a0, a1], ->T<256B>\n"
STORE = f"TSTORE {SHAPE}, T#1.reuse, [a2, a1]\n"
WORK = "TADD <LB0:32, LB1:4, U16>, T#1.reuse, T#1.reuse, ->U<256B>\n"
AFTER = f"li a3, {NEXT_VALUE}\nTADD <LB0:32, LB1:4, U16>, T#1, T#1.reuse, ->M<256B>\n"
NIBBLES = f"li a2, {STORE_BASE}\nTEXPANDS <LB0:64, U32>, [a2], ->T<256B>\nTSTORE <LB0:5, LB1:3, LB2:16, U4x2>, T#1.reuse, [a2]\n"

COPY = BASES + LOAD + WORK + STORE + AFTER


def scenario(name: str, text: str, error_pages: tuple[int, ...] = ()) -> Scenario:
    """Return a program with both regions mapped."""
    content = bytes(index % 251 for index in range(PAGE_BYTES))
    memory = {INPUT_BASE: content, OUTPUT_BASE: bytes(PAGE_BYTES)}
    memory = {address: held for address, held in memory.items() if address not in error_pages}
    return Scenario(name, assemble(text, address=PROGRAM_BASE).image, PROGRAM_BASE, {}, memory, error_pages)


def beats(base: int) -> list[tuple[int, int]]:
    """Return the start of the row and the address of the beat, for every beat of the four rows."""
    starts = [base + row * STRIDE for row in range(ROWS)]
    return [(start, beat) for start in starts for beat in range(start // BEAT * BEAT, start + ROW_BYTES, BEAT)]


def element_of_beat(base: int, number: int) -> int:
    """Return the address of the element that holds the first needed byte of a beat."""
    start, beat = beats(base)[number]
    return start + max(beat - start, 0) // ELEMENT * ELEMENT


def row_of_beat(base: int, number: int) -> int:
    """Return the start of the row, which is a burst, that a beat belongs to."""
    return beats(base)[number][0]


@dataclass(frozen=True)
class Hang:
    """``channel`` dies after some transfers; the block ``operation`` is told with this rule and address."""

    name: str
    text: str
    channel: str
    after: int
    operation: str
    address: int
    rule: Rule = Rule.WATCHDOG
    error_pages: tuple[int, ...] = ()


HANGS = (
    Hang("AR is never taken", COPY, "ar", 0, "TLOAD", LOAD_BASE),
    Hang("AR stops", COPY, "ar", 2, "TLOAD", LOAD_BASE + 2 * STRIDE),
    Hang("R never comes", COPY, "r", 0, "TLOAD", LOAD_BASE),
    Hang("R stops inside a row", COPY, "r", 7, "TLOAD", element_of_beat(LOAD_BASE, 7)),
    Hang("the last R is missing", COPY, "r", len(beats(LOAD_BASE)) - 1, "TLOAD", element_of_beat(LOAD_BASE, -1)),
    Hang("AW is never taken", COPY, "aw", 0, "TSTORE", STORE_BASE),
    Hang("AW stops", COPY, "aw", 3, "TSTORE", STORE_BASE + 3 * STRIDE),
    Hang("W is never taken", COPY, "w", 0, "TSTORE", STORE_BASE),
    Hang("W stops inside a row", COPY, "w", 8, "TSTORE", row_of_beat(STORE_BASE, 8)),
    Hang("B never comes", COPY, "b", 0, "TSTORE", STORE_BASE),
    Hang("the last B is missing", COPY, "b", ROWS - 1, "TSTORE", STORE_BASE + (ROWS - 1) * STRIDE),
    Hang("B stops after a refused burst", COPY, "b", 1, "TSTORE", STORE_BASE, Rule.MEM_WRITE, (OUTPUT_BASE,)),
    Hang("the byte of a nibble is never asked for", NIBBLES + AFTER, "ar", 0, "TSTORE", STORE_BASE),
    Hang("the second byte of a nibble never comes", NIBBLES + AFTER, "r", 1, "TSTORE", STORE_BASE + 3),
    Hang(
        "R stops after a refused beat", COPY, "r", 1, "TLOAD", LOAD_BASE,
        rule=Rule.MEM_READ, error_pages=(INPUT_BASE,),
    ),
    Hang(
        "a younger load hangs when a store is refused", BASES + LOAD + STORE + LOAD + AFTER, "r",
        len(beats(LOAD_BASE)) + 1, "TSTORE", STORE_BASE, rule=Rule.MEM_WRITE, error_pages=(OUTPUT_BASE,),
    ),
)  # fmt: skip


async def check(session: CoreSession, dut: Any, hang: Hang) -> None:
    """Run a program into a dead channel, look at what is left, and run one in lockstep after a reset."""
    program = scenario(hang.name, hang.text, hang.error_pages)
    expected = scenario(hang.name, hang.text).machine(CONFIG).run()
    assert expected.fault is None
    block = next(block for block in expected.blocks if block.operation == hang.operation)
    before = expected.blocks[: expected.blocks.index(block)]
    await session.reset()
    session.pace(Pace(latency=3))
    session.kill(hang.channel, after=hang.after)
    await session.fill(program.pages(expected), hang.error_pages)
    events = [event async for event in session.run(program.address, len(program.image))]
    *committed, last = events
    assert [event.record["block_address"] for event in committed] == [done.block for done in before], hang.name
    record = last.record
    assert record["kind"] is BlockKind.FAULT, hang.name
    assert (Rule(record["rule"]), record["block_address"], hex(record["fault_address"])) == (
        hang.rule, block.block, hex(hang.address),
    ), hang.name  # fmt: skip
    assert core_queues(last.committed) == core_queues(committed[-1].committed), hang.name
    assert (last.pointer, last.flags) == (committed[-1].pointer, committed[-1].flags), hang.name
    assert await session.register(NEXT_REGISTER) == 0, f"{hang.name}: a younger block has changed a register"

    toggle = dut.event_toggle.value
    for again in (False, True):
        dut.program_start.value = int(again)
        await ClockCycles(dut.clk, 1)
        dut.program_start.value = 0
        await ClockCycles(dut.clk, 2 * WATCHDOG_CYCLES)
        assert dut.event_toggle.value == toggle, f"{hang.name}: something retired after the fault"
        assert (dut.halted.value, dut.dead.value) == (1, 1), f"{hang.name}, start {again}"

    session.kill()
    # The only page that these programs store to.
    session.forget(OUTPUT_BASE)
    await run_in_lockstep(session, scenario(f"after: {hang.name}", COPY), CONFIG)
    assert dut.dead.value == 0


@cocotb.test()
async def a_dead_channel_gives_one_record_and_a_reset_helps(dut: Any) -> None:
    session = CoreSession(dut, CONFIG, patience=5_000)
    await session.start()
    for hang in HANGS:
        await check(session, dut, hang)


@cocotb.test()
async def a_slow_memory_never_trips_it(dut: Any) -> None:
    session = CoreSession(dut, CONFIG, patience=30_000)
    await session.start()
    session.rest_at_most(250)
    slow = Pace(latency=40, stalls=(0.999,) * 5)
    report = await run_in_lockstep(session, scenario("slow", COPY + NIBBLES).at(slow), CONFIG)
    assert report.result.fault is None
    # Random rests end early now and then; most are as long as they may be.
    transfers = len(beats(LOAD_BASE)) + len(beats(STORE_BASE))
    assert report.cycles > transfers * 120
    assert dut.dead.value == 0
