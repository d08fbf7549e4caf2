"""Allocator: random programs of allocations and releases against first fit written out as in the placement rule."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from linxtile.config import CoreConfig
from linxtile_rtl.allocator import Allocator, change_layout, placement_layout
from linxtile_sim.streams import Sink, Source, cycles, start
from linxtile_sim.unit import parameters, run_unit

CONFIGS = {
    "smallest": {"tile_ram_bytes": 1024, "tile_max_bytes": 1024, "banks": 4},
    "default": {},
    "odd_rows": {"tile_ram_bytes": 64 * 1024, "tile_min_bytes": 512, "tile_max_bytes": 64 * 1024},
}


def configuration(name):
    return CoreConfig(name=name, **CONFIGS[name])


class Reference:
    """Granules as a list, one owner each; searched step by step, one granule at a time."""

    def __init__(self, config):
        self.owner = [None] * (config.tile_ram_bytes // 256)
        self.pointer = 0

    def place(self, granules, name):
        """Give ``name`` the first aligned free run at or after the pointer, wrapping once; return its base or None."""
        count = len(self.owner)
        for base in [*range(self.pointer, count), *range(self.pointer)]:
            if base % granules == 0 and not any(self.owner[base : base + granules]):
                self.owner[base : base + granules] = [name] * granules
                self.pointer = (base + granules) % count
                return base
        return None

    def free(self, name):
        self.owner = [None if owner == name else owner for owner in self.owner]


class Bench:
    """Both allocators, and the tiles that live in them."""

    def __init__(self, dut, config, rng, stall):
        self.dut, self.config, self.rng = dut, config, rng
        self.reference = Reference(config)
        self.live = {}
        self.next_name = 1
        dut.restore.value = 0
        dut.restore_pointer.value = 0
        self.requests = Source(dut, "request", stall=stall)
        self.responses = Sink(dut, "response", shape=placement_layout(config), stall=stall)
        self.changes = Source(dut, "change", shape=change_layout(config), stall=stall)
        self.answered = 0
        self.full = 0

    async def allocate(self, code):
        expected = self.reference.place(16 << code >> 8, self.next_name)
        await self.requests.send(code)
        self.answered += 1
        answer = (await self.responses.wait(self.answered))[-1]
        if expected is None:
            self.full += 1
            assert answer["found"] == 0, f"size code {code}: found {answer['base']}, expected none"
        else:
            assert answer == {"found": 1, "base": expected}, f"size code {code}: {answer}, expected {expected}"
            self.live[self.next_name] = (expected, code)
            self.next_name += 1
        await cycles(self.dut)
        assert self.dut.pointer.value == self.reference.pointer

    async def free(self, name):
        base, code = self.live.pop(name)
        self.reference.free(name)
        await self.changes.send({"base": base, "size_code": code, "taken": 0})

    async def restore(self):
        """Go back to a random part of the live tiles and to a random pointer, as after a fault."""
        self.live = dict(self.rng.sample(sorted(self.live.items()), self.rng.randint(0, len(self.live))))
        self.reference.owner = [owner if owner in self.live else None for owner in self.reference.owner]
        self.reference.pointer = self.rng.randrange(len(self.reference.owner))
        self.dut.restore.value = 1
        self.dut.restore_pointer.value = self.reference.pointer
        await cycles(self.dut)
        self.dut.restore.value = 0
        await self.changes.send(*({"base": base, "size_code": code, "taken": 1} for base, code in self.live.values()))


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def random_programs(dut):
    """Sizes and releases that keep the map near full, where runs are hard to find."""
    config = configuration(parameters()["config"])
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Bench(dut, config, rng, parameters()["stall"])
    await start(dut)
    codes = [code for code in range(16) if config.tile_min_bytes <= 16 << code <= config.tile_max_bytes]
    for turn in range(parameters()["rounds"]):
        action = rng.random()
        # Long spells of few releases fill the map, spells of many leave holes.
        releases = (0.25, 0.6)[turn // 60 % 2]
        if action < 0.01:
            await bench.restore()
        elif action < releases and bench.live:
            await bench.free(rng.choice(list(bench.live)))
        else:
            # Small sizes are frequent, so that the free space is in pieces.
            await bench.allocate(min(rng.choice(codes), rng.choice(codes)))
    assert bench.full >= 5, "the map was hardly ever too full"
    assert bench.answered > bench.full + 50


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def answer_times(dut):
    """A run in the pointer's row costs two cycles, another row four."""
    bench = Bench(dut, configuration("default"), random.Random(1), 0.0)
    await start(dut)
    counts = []
    for code in (8, 8, 11, 4, 11, 11, 11, 4):
        cycle = 0
        bench.requests.put(code)
        while dut.request_valid.value == 0 or dut.request_ready.value == 0:
            await RisingEdge(dut.clk)
        while dut.response_valid.value == 0:
            await RisingEdge(dut.clk)
            cycle += 1
        counts.append(cycle)
        await bench.requests.drained()
        await cycles(dut, 2)
    dut._log.info("cycles from request to answer: %s", counts)
    assert set(counts) <= {2, 4}, counts
    assert counts[:2] == [2, 2]


@pytest.mark.parametrize("stall", [0.0, 0.4])
@pytest.mark.parametrize("config", CONFIGS)
def test_placement_is_rotating_first_fit(config, stall):
    run_unit(
        Allocator(config=configuration(config)), __file__, testcase="random_programs",
        parameters={"config": config, "stall": stall, "rounds": 400},
    )  # fmt: skip


def test_a_search_takes_two_or_four_cycles():
    run_unit(Allocator(config=configuration("default")), __file__, testcase="answer_times")
