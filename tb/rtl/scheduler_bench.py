"""Scripted decoder, engines and host around a scheduler; every command and every record is checked."""

import dataclasses
import random
from collections import deque

import cocotb
from bind_reference import Reference
from cocotb.triggers import RisingEdge

from linxtile.isa.codes import MAX_DEPENDENCY_SOURCES, Layout
from linxtile.isa.operations import operation
from linxtile.isa.types import data_type
from linxtile_rtl.layouts import (
    BlockKind,
    block_layout,
    done_layout,
    load_layout,
    max_destinations,
    max_sources,
    move_layout,
    retire_layout,
    store_layout,
    vector_layout,
)
from linxtile_rtl.queues import state_layout
from linxtile_sim.streams import pack, start, unpack

ENGINES = {"loads": load_layout, "stores": store_layout, "moves": move_layout, "vectors": vector_layout}


class Bench:
    """One clocked loop plays everybody but the scheduler.

    Parameters
    ----------
    stall : float
        Probability that a stream pauses in a cycle.
    latency : (int, int)
        Least and most cycles from command to report.
    """

    def __init__(self, dut, config, *, stall=0.0, latency=(1, 1), seed=0):
        self.dut, self.config, self.stall, self.latency = dut, config, stall, latency
        self.rng = random.Random(f"{cocotb.RANDOM_SEED}/{seed}")
        self._commands = {engine: layout(config) for engine, layout in ENGINES.items()}
        self._retired, self._state, self._done = retire_layout(config), state_layout(config), done_layout(config)
        self.reference = Reference(config)
        self.discarded = None
        self.over = False
        self.cycle = 0
        self.descriptions = deque()
        self.expected_commands = {engine: deque() for engine in ENGINES}
        self.expected_records = deque()
        self.running = {engine: deque() for engine in ENGINES}
        self.finished, self.committed = set(), set()
        self.held = set()
        """Blocks that may not finish yet."""
        self.resume = True
        """Whether the host resumes after a trap, some time."""
        self.command_cycles, self.record_cycles, self.appeared = {}, {}, {}
        self.shown = False
        self.idle_in = 0
        self.records = 0

    async def begin(self):
        """Reset, and start the loop."""
        dut = self.dut
        for name in ("registers_busy", "idle", "start", "resume", "cycle", "description_valid", "description_payload"):
            getattr(dut, name).value = 0
        for name in ("retire_ready", "registers_ready", *(f"{engine}_ready" for engine in ENGINES)):
            getattr(dut, name).value = 0
        for number in range(len(ENGINES)):
            getattr(dut, f"done_{number}_valid").value = 0
            getattr(dut, f"done_{number}_payload").value = 0
        dut.registers_ready.value = 1
        await start(dut)
        cocotb.start_soon(self._run())

    async def program(self, blocks):
        """Start the core on blocks, the last of which faults or finishes; return when it has halted."""
        await self.restart()
        self.put(*blocks)
        await self.halted()

    async def restart(self):
        """Leave the halted state."""
        assert self.dut.halted.value == 1
        if self.discarded:
            self.reference.begin(self.discarded.number)
        else:
            self.reference.begin(self.reference.number)
        self.discarded, self.over = None, False
        self.dut.start.value = 1
        await RisingEdge(self.dut.clk)
        self.dut.start.value = 0

    @property
    def ahead(self):
        """The reference that binds the next block."""
        return self.discarded or self.reference

    def put(self, *blocks):
        """Queue blocks; work out what must become of them.

        Blocks behind one whose engine faults may be bound and started, but never commit: a copy of the reference,
        which does not know of the fault, tells their commands.
        """
        for block in blocks:
            number = None if self.over else self.ahead.number
            self.descriptions.append((number, pack(block_layout(self.config), self._describe(block))))
            if self.over:
                continue
            harmless = dataclasses.replace(block, engine_fault=None)
            if self.discarded:
                outcome = self.discarded.run(harmless)
            else:
                going_on = self.reference.copy()
                outcome = self.reference.run(block)
                self.expected_records.append((outcome, block))
                if outcome.command is not None and outcome.rule:
                    going_on.run(harmless)
                    self.discarded = going_on
            if outcome.command is not None:
                self.expected_commands[block.engine].append((outcome, block))
            self.over = outcome.command is None and outcome.rule != 0

    async def halted(self, limit=20000):
        """Wait for the end; all records must have come."""
        for _ in range(limit):
            await RisingEdge(self.dut.clk)
            if self.dut.halted.value == 1 and not self.expected_records:
                return
        raise AssertionError(
            f"no halt; {len(self.expected_records)} records are missing, next {self.expected_records[0]}"
        )

    def _describe(self, block):
        sources = [
            dict(zip(("queue", "index", "reuse", "word_offset"), source, strict=True)) for source in block.sources
        ]
        tiles = [dict(zip(("queue", "size_code", "word_offset"), tile, strict=True)) for tile in block.destinations]
        noise = self.rng.getrandbits
        # Operands beyond the count are noise: nobody may look at them.
        sources += [{"queue": noise(2), "index": noise(4), "reuse": noise(1)}] * (
            max_sources(self.config) - len(sources)
        )
        tiles += [{"queue": noise(2), "size_code": noise(4)}] * (max_destinations(self.config) - len(tiles))
        return {
            "kind": BlockKind[block.kind],
            "rule": block.rule,
            "block_address": block.address,
            "word_address": block.word,
            "operation": operation(block.name).number,
            "data_type": data_type(block.type).code,
            "pad": block.pad,
            # The vector engine's blocks may have any layout; it means nothing there.
            "layout": noise(5) if block.engine == "vectors" else Layout[block.layout],
            "acquire": block.acquire,
            "release": block.release,
            "trap_after": block.trap,
            "awaits": [*block.awaits, *[0] * (MAX_DEPENDENCY_SOURCES - len(block.awaits))],
            "produces_token": block.token,
            "valid_columns": block.valid_columns,
            "valid_rows": block.rows,
            "columns": block.columns,
            "scalars": [*block.scalars, *(noise(64) for _ in range(2 - len(block.scalars)))],
            "scalar_count": len(block.scalars),
            "sources": sources,
            "source_count": len(block.sources),
            "destinations": tiles,
            "destination_count": len(block.destinations),
            "register_writes": block.writes,
            "closed_at": block.address & 0xFFFF,
        }

    def _moves(self):
        return self.rng.random() >= self.stall

    async def _run(self):
        dut = self.dut
        while True:
            await RisingEdge(dut.clk)
            self._see_decoder()
            self._see_records()
            for number, engine in enumerate(ENGINES):
                self._see_engine(number, engine)
            self._see_flush()
            self.cycle += 1
            dut.cycle.value = self.cycle
            dut.retire_ready.value = int(self._moves())
            dut.resume.value = int(self.resume and self.rng.random() < 0.1)

    def _see_decoder(self):
        dut = self.dut
        waiting = dut.description_valid.value == 1
        if dut.flush.value == 1:
            self.descriptions.clear()
        elif waiting and dut.description_ready.value == 1:
            self.descriptions.popleft()
        elif waiting:
            return
        dut.description_valid.value = 0
        if self.descriptions and self._moves():
            number, payload = self.descriptions[0]
            self.appeared.setdefault(number, self.cycle + 1)
            dut.description_payload.value = payload
            dut.description_valid.value = 1

    def _see_records(self):
        dut = self.dut
        if dut.retire_valid.value == 0:
            self.shown = False
            return
        if not self.shown:
            self._check_record(unpack(self._retired, dut.retire_payload.value.to_unsigned()))
        self.shown = dut.retire_ready.value == 0

    def _check_record(self, record):
        assert self.expected_records, f"record without block: {record}"
        outcome, block = self.expected_records.popleft()
        fault = outcome.rule != 0
        where = f"block {outcome.number}, {block}"
        assert record["kind"] == BlockKind["FAULT" if fault else block.kind], f"{where}: {record}"
        assert record["rule"] == outcome.rule, f"{where}: rule {record['rule']}, expected {outcome.rule}"
        assert record["block_address"] == block.address, where
        assert record["operation"] == operation(block.name).number, where
        assert record["closed_at"] == block.address & 0xFFFF, where
        assert record["retired_at"] == self.cycle, where
        assert record["trap_after"] == (block.trap if not fault and block.kind == "TILE" else 0), where
        expected_flags = 0 if fault or block.kind != "TILE" else block.flags
        assert sum(value << place for place, value in enumerate(record["flags"].values())) == expected_flags, where
        if fault:
            assert record["word_address"] == outcome.word, f"{where}: word {record['word_address']:#x}"
            assert record["fault_address"] == outcome.fault_address, where
        else:
            self.committed.add(outcome.number)
        self._check_state(outcome, where)
        self.record_cycles[outcome.number] = self.cycle
        self.records += 1

    def _check_state(self, outcome, where):
        state = unpack(self._state, self.dut.committed.value.to_unsigned())
        for queue, tiles in enumerate(outcome.names):
            for index, tile in enumerate(tiles):
                handle = state["handles"][16 * queue + (state["heads"][queue] - index) % 16]
                name = f"{where}: {'TUMN'[queue]}#{index + 1}"
                assert handle["live"] == (tile is not None), name
                if tile is not None:
                    seen = handle["base"], handle["size_code"], handle["width_code"]
                    assert seen == (tile.base, tile.code, tile.width), f"{name} is {seen}"
        assert self.dut.pointer.value == outcome.pointer, where
        assert self.dut.flags.value == outcome.flags, where

    def _see_engine(self, number, engine):
        dut, running = self.dut, self.running[engine]
        valid, ready = getattr(dut, f"{engine}_valid"), getattr(dut, f"{engine}_ready")
        if valid.value == 1 and ready.value == 1:
            bits = getattr(dut, f"{engine}_payload").value.to_unsigned()
            running.append(self._check_command(engine, unpack(self._commands[engine], bits)))
        ready.value = int(self._moves())
        report = getattr(dut, f"done_{number}_valid")
        report.value = 0
        if running and running[0]["until"] <= self.cycle and running[0]["number"] not in self.held:
            command = running.popleft()
            self.finished.add(command["number"])
            fault = command["fault"] or (0, 0)
            report.value = 1
            flags = dict(
                zip(("invalid", "divide_by_zero", "overflow"), map(int, f"{command['flags']:03b}"[::-1]), strict=True)
            )
            getattr(dut, f"done_{number}_payload").value = pack(
                self._done,
                {
                    "tag": command["tag"], "flags": flags, "fault": int(command["fault"] is not None),
                    "rule": fault[0], "fault_address": fault[1],
                },
            )  # fmt: skip

    def _check_command(self, engine, command):
        assert self.expected_commands[engine], f"{engine}: command without block: {command}"
        outcome, block = self.expected_commands[engine].popleft()
        where = f"block {outcome.number}, {block}"
        for member, value in outcome.command.items():
            seen = command[member]
            if member in ("source_lines", "tile_lines"):
                seen = seen[: len(value)]
            assert value is None or seen == value, f"{where}: {member} is {seen}, expected {value}"
        early = outcome.after_finish - self.finished - self.committed
        assert not early, f"{where} starts before {early} finish"
        early = outcome.after_commit - self.committed
        assert not early, f"{where} starts before {early} commit"
        self.command_cycles[outcome.number] = self.cycle
        until = self.cycle + self.rng.randint(*self.latency) - 1
        return {
            "tag": command["tag"], "number": outcome.number, "until": until,
            "flags": block.flags, "fault": block.engine_fault,
        }  # fmt: skip

    def _see_flush(self):
        """Under a flush the engines drop everything, and need some cycles for it."""
        if self.dut.flush.value == 0:
            self.idle_in = self.rng.randint(0, 5)
            self.dut.idle.value = 0
            return
        for engine in ENGINES:
            self.running[engine].clear()
            self.expected_commands[engine].clear()
        self.idle_in -= 1
        self.dut.idle.value = int(self.idle_in < 0)
