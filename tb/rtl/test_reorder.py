"""Reorder ring: blocks finish in any order and commit in theirs; faults and ends halt it."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from linxtile.config import CoreConfig
from linxtile.isa.faults import Rule
from linxtile_rtl.layouts import BlockKind, done_layout, retire_layout
from linxtile_rtl.reorder import Reorder, entry_layout
from linxtile_sim.streams import Sink, Source, cycles, pack, start
from linxtile_sim.unit import parameters, run_unit

CONFIG = CoreConfig()
ENGINES = 3


class Bench:
    """Source of entries, sink of records, and engines that report when they are told."""

    def __init__(self, dut, stall):
        self.dut = dut
        self.enter = Source(dut, "enter", shape=entry_layout(CONFIG), stall=stall)
        self.retire = Sink(dut, "retire", shape=retire_layout(CONFIG), stall=stall)
        for name in ("idle", "restore_busy", "start", "resume", "cycle"):
            getattr(dut, name).value = 0
        dut.registers_ready.value = 1
        for engine in range(ENGINES):
            getattr(dut, f"done_{engine}_valid").value = 0
        self.commits = []
        cocotb.start_soon(self._watch())

    async def _watch(self):
        """Collect the tags that commit."""
        while True:
            await RisingEdge(self.dut.clk)
            if self.dut.commit_valid.value == 1:
                self.commits.append(self.dut.commit_tag.value.to_unsigned())

    async def begin(self):
        await start(self.dut)
        assert self.dut.halted.value == 1
        await self.restart()

    async def restart(self):
        self.dut.start.value = 1
        await cycles(self.dut)
        self.dut.start.value = 0

    def entry(self, number, kind=BlockKind.TILE, **more):
        return {"kind": kind, "block_address": 16 * number, "word_address": 16 * number + 4, "pointer": number, **more}

    async def report(self, *reports):
        """Let engines report in one cycle: (tag, flags, fault address or None) each."""
        for engine, (tag, flags, fault) in enumerate(reports):
            values = {
                "tag": tag, "flags": {"invalid": flags & 1, "divide_by_zero": flags >> 1 & 1, "overflow": flags >> 2},
                "fault": int(fault is not None), "rule": Rule.MEM_READ if fault is not None else 0,
                "fault_address": fault or 0,
            }  # fmt: skip
            getattr(self.dut, f"done_{engine}_payload").value = pack(done_layout(CONFIG), values)
            getattr(self.dut, f"done_{engine}_valid").value = 1
        await cycles(self.dut)
        for engine in range(ENGINES):
            getattr(self.dut, f"done_{engine}_valid").value = 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def commits_in_order(dut):
    """Groups of blocks are reported in random order, some in the same cycle."""
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Bench(dut, parameters()["stall"])
    await bench.begin()
    total, flags_seen = 0, 0
    for _ in range(40):
        size = rng.randint(1, CONFIG.blocks_in_flight)
        tags = [(total + at) % CONFIG.blocks_in_flight for at in range(size)]
        kinds = [rng.choice((BlockKind.TILE, BlockKind.TILE, BlockKind.SETUP)) for _ in tags]
        await bench.enter.send(*(bench.entry(total + at, kind) for at, kind in enumerate(kinds)))
        flags = {tag: rng.randrange(8) if rng.random() < 0.1 else 0 for tag in tags}
        waiting = [tag for tag, kind in zip(tags, kinds, strict=True) if kind == BlockKind.TILE]
        rng.shuffle(waiting)
        while waiting:
            together = rng.randint(1, ENGINES)
            await bench.report(*((tag, flags[tag], None) for tag in waiting[:together]))
            del waiting[:together]
        total += size
        records = await bench.retire.wait(total)
        for tag, kind in zip(tags, kinds, strict=True):
            flags_seen |= flags[tag] if kind == BlockKind.TILE else 0
        assert [record["block_address"] for record in records] == [16 * number for number in range(total)]
        assert dut.flags.value == flags_seen
        assert dut.pointer.value == (total - 1) % CONFIG.granules
    assert bench.commits == [number % CONFIG.blocks_in_flight for number in range(total)]


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def ring_fills_and_drains(dut):
    """Exactly as many blocks enter as the ring holds; once the oldest finishes, finished ones commit one a cycle."""
    bench = Bench(dut, 0.0)
    await bench.begin()
    blocks = CONFIG.blocks_in_flight
    bench.enter.put(*(bench.entry(number) for number in range(blocks + 1)))
    await cycles(dut, 3 * blocks)
    assert dut.flight_in_flight.value == (1 << blocks) - 1 and dut.enter_ready.value == 0
    for tag in range(1, blocks):
        await bench.report((tag, 0, None))
    await cycles(dut, 4)
    assert not bench.retire.received
    await bench.report((0, 0, None))
    await cycles(dut, 2 + blocks)
    assert len(bench.retire.received) == blocks, "a commit a cycle"
    await bench.enter.drained()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def oldest_fault_wins(dut):
    """A younger fault that was reported first is forgotten; the halt waits for engines and restore."""
    bench = Bench(dut, 0.0)
    await bench.begin()
    await bench.enter.send(*(bench.entry(number) for number in range(4)))
    await bench.report((2, 7, 0xBAD))
    # Engine 1 has the oldest fault, and goes on to another one before the core has stopped it.
    for tag, address in ((1, 0x123), (3, 0xBEEF)):
        values = {"tag": tag, "fault": 1, "rule": Rule.MEM_WRITE, "fault_address": address}
        dut.done_1_payload.value = pack(done_layout(CONFIG), values)
        dut.done_1_valid.value = 1
        await cycles(dut)
    dut.done_1_valid.value = 0
    await bench.report((0, 1, None))
    await cycles(dut, 20)
    assert dut.flight_flush.value == 1 and dut.restore_start.value == 0, "the flush lasts until the engines are idle"
    dut.idle.value = 1
    dut.restore_busy.value = 1
    pulses = 0
    for _ in range(10):
        await RisingEdge(dut.clk)
        pulses += dut.restore_start.value == 1
    assert pulses == 1
    assert dut.restore_pointer.value == 0 and len(bench.retire.received) == 1
    assert dut.halted.value == 0
    dut.restore_busy.value = 0
    record = (await bench.retire.wait(2))[-1]
    await cycles(dut, 2)
    assert dut.halted.value == 1 and dut.flight_in_flight.value == 0
    assert (record["kind"], record["rule"], record["fault_address"]) == (BlockKind.FAULT, Rule.MEM_WRITE, 0x123)
    assert record["word_address"] == record["block_address"] == 16
    assert dut.flags.value == 1, "a discarded block leaves no flag"

    await bench.restart()
    bench.enter.put(bench.entry(5, BlockKind.FAULT, rule=int(Rule.ILL_WORD)))
    record = (await bench.retire.wait(3))[-1]
    assert (record["rule"], record["word_address"], record["fault_address"]) == (Rule.ILL_WORD, 84, 0)
    await bench.restart()
    bench.enter.put(bench.entry(6, BlockKind.FINISH))
    assert (await bench.retire.wait(4))[-1]["kind"] == BlockKind.FINISH
    await cycles(dut, 2)
    assert dut.halted.value == 1


@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_blocks_commit_in_program_order(stall):
    run_unit(Reorder(config=CONFIG), __file__, testcase="commits_in_order", parameters={"stall": stall})


def test_the_ring_fills_and_the_oldest_fault_halts_it():
    run_unit(Reorder(config=CONFIG), __file__, testcase=["ring_fills_and_drains", "oldest_fault_wins"])
