"""Tile queues: random blocks, commits and restores against lists of names."""

import copy
import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import ReadOnly

from linxtile.config import CoreConfig
from linxtile_rtl.queues import NAMES, TileQueues, name_layout, names_layout, state_layout
from linxtile_sim.streams import cycles, pack, start, unpack
from linxtile_sim.unit import parameters, run_unit

QUEUES, DEPTH = 4, 16


def configuration(move_tiles):
    return CoreConfig(move_tiles=move_tiles)


def empty():
    """Names of each queue, newest first: None, or a tile as a dict."""
    return [[None] * DEPTH for _ in range(QUEUES)]


def drop(names, tile):
    for queue in names:
        queue[:] = [None if entry is tile else entry for entry in queue]


def change(names, block):
    """Apply a block: its sources disappear in place, then its tiles go to the front, in order."""
    for tile in block["released"]:
        drop(names, tile)
    for queue, tile in block["pushed"]:
        names[queue].pop()
        names[queue].insert(0, tile)


class Bench:
    """The design, the expected names (working and committed) and the blocks between bind and commit."""

    def __init__(self, dut, config, rng):
        self.dut, self.config, self.rng = dut, config, rng
        self._name, self._state = name_layout(config), state_layout(config)
        self.working, self.committed = empty(), empty()
        self.flying = deque()
        self.free_tags = list(range(config.blocks_in_flight))
        for name in "bind bind_names bind_tag commit commit_names commit_tag restore queue index".split():
            getattr(dut, name).value = 0

    async def look_up(self, queue, index):
        self.dut.queue.value, self.dut.index.value = queue, index
        await ReadOnly()
        entry = unpack(self._name, self.dut.entry.value.to_unsigned())
        await cycles(self.dut)
        return entry

    async def check_name(self, queue, index):
        """Compare one name; return the absolute slot."""
        entry = await self.look_up(queue, index)
        tile = self.working[queue][index]
        where = f"{'TUMN'[queue]}#{index + 1}"
        assert entry["handle"]["live"] == (tile is not None), where
        if tile is not None:
            assert entry["handle"] == tile["handle"], where
            assert entry["pending"] == tile["pending"], where
            if tile["pending"]:
                assert entry["producer"] == tile["producer"], where
        return entry["slot"]

    def check_committed(self):
        state = unpack(self._state, self.dut.committed.value.to_unsigned())
        for queue in range(QUEUES):
            for index in range(DEPTH):
                handle = state["handles"][queue * DEPTH + (state["heads"][queue] - index) % DEPTH]
                tile = self.committed[queue][index]
                assert (handle if handle["live"] else None) == (tile and tile["handle"]), (queue, index)

    async def bind(self):
        """Bind a random block: look its sources up, release some of them, push some tiles."""
        rng = self.rng
        tag = self.free_tags.pop(rng.randrange(len(self.free_tags)))
        releases, released = [], []
        for _ in range(rng.randint(0, 2)):
            queue, index = rng.randrange(QUEUES), rng.randrange(DEPTH)
            slot = await self.check_name(queue, index)
            tile = self.working[queue][index]
            if tile is not None and rng.random() < 0.5:
                releases.append({"valid": 1, "queue": queue, "slot": slot})
                released.append(tile)
        pushes, pushed = [], []
        for _ in range(rng.randint(0, self.room("pushes"))):
            handle = {
                "live": 1, "base": rng.randrange(self.config.granules), "size_code": rng.randint(4, 11),
                "width_code": rng.randrange(8),
            }  # fmt: skip
            queue = rng.choice((0, rng.randrange(QUEUES)))
            pushes.append({"valid": 1, "queue": queue, "handle": handle})
            pushed.append((queue, {"handle": handle, "pending": 1, "producer": tag}))
        block = {"tag": tag, "released": released, "pushed": pushed}
        names = {"releases": self.padded("releases", releases), "pushes": self.padded("pushes", pushes)}
        block["names"] = pack(names_layout(self.config), names)
        self.dut.bind.value, self.dut.bind_names.value, self.dut.bind_tag.value = 1, block["names"], tag
        await cycles(self.dut)
        self.dut.bind.value = 0
        change(self.working, block)
        self.flying.append(block)

    def room(self, field):
        """Return how many releases or pushes a block can have."""
        return names_layout(self.config)[field].shape.length

    def padded(self, field, items):
        return items + [{"valid": 0}] * (self.room(field) - len(items))

    async def commit(self):
        block = self.flying.popleft()
        self.dut.commit.value, self.dut.commit_names.value, self.dut.commit_tag.value = 1, block["names"], block["tag"]
        await cycles(self.dut)
        self.dut.commit.value = 0
        for _, tile in block["pushed"]:
            tile["pending"] = 0
        change(self.committed, block)
        self.free_tags.append(block["tag"])
        await ReadOnly()
        self.check_committed()
        await cycles(self.dut)

    async def restore(self):
        self.dut.restore.value = 1
        await cycles(self.dut)
        self.dut.restore.value = 0
        self.free_tags += [block["tag"] for block in self.flying]
        self.flying.clear()
        self.working = copy.copy([list(queue) for queue in self.committed])


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def random_blocks(dut):
    config = configuration(parameters()["move_tiles"])
    bench = Bench(dut, config, random.Random(cocotb.RANDOM_SEED))
    await start(dut)
    for _ in range(400):
        action = bench.rng.random()
        if action < 0.03:
            await bench.restore()
        elif (action < 0.5 and bench.flying) or not bench.free_tags:
            await bench.commit()
        else:
            await bench.bind()
        if bench.rng.random() < 0.05:
            for name in range(NAMES):
                await bench.check_name(name // DEPTH, name % DEPTH)


@pytest.mark.parametrize("move_tiles", [1, 4])
def test_names_shift_at_pushes_and_keep_their_place_when_released(move_tiles):
    run_unit(TileQueues(config=configuration(move_tiles)), __file__, parameters={"move_tiles": move_tiles})
