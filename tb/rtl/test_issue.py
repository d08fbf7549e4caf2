"""Issue queue: every cycle of random traffic against a list of commands and the ring of blocks in flight."""

import random
from collections import deque

import cocotb
import pytest
from amaranth.lib import data
from cocotb.triggers import ReadOnly, RisingEdge

from linxtile.config import CoreConfig
from linxtile_rtl.issue import IssueQueue, issue_layout
from linxtile_rtl.layouts import tag_bits
from linxtile_sim.streams import cycles, pack, start
from linxtile_sim.unit import parameters, run_unit


def configuration(blocks):
    return CoreConfig(blocks_in_flight=blocks)


def command_layout(config):
    return data.StructLayout({"tag": tag_bits(config), "number": 16})


class Ring:
    """Blocks in flight, oldest first; some of them have finished."""

    def __init__(self, blocks):
        self.blocks = blocks
        self.oldest, self.count = 0, 0
        self.finished = [False] * blocks

    def in_flight(self):
        return [(self.oldest + age) % self.blocks for age in range(self.count)]

    def older(self, tag):
        flying = self.in_flight()
        return flying[: flying.index(tag)]

    def enter(self):
        tag = (self.oldest + self.count) % self.blocks
        self.count += 1
        self.finished[tag] = False
        return tag

    def commit(self):
        self.oldest, self.count = (self.oldest + 1) % self.blocks, self.count - 1


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def random_traffic(dut):
    """The first command is shown in exactly the cycles in which nothing it waits for is left."""
    blocks = parameters()["blocks"]
    config = configuration(blocks)
    rng = random.Random(cocotb.RANDOM_SEED)
    ring, waiting, offered = Ring(blocks), deque(), None
    numbers, left, passed_through = 0, [], 0
    for name in ("i_valid", "i_payload", "o_ready", "flight_oldest", "flight_finished", "flight_in_flight",
                 "flight_next_tag", "flight_flush"):  # fmt: skip
        getattr(dut, name).value = 0
    await start(dut)

    def free(command):
        older = ring.older(command["tag"])
        commit, finish = command["after_commit"], command["after_finish"]
        return not any(commit >> tag & 1 or (finish >> tag & 1 and not ring.finished[tag]) for tag in older)

    issued = set()
    for _ in range(3000):
        # Another queue's blocks are in the ring as well; they finish when they like.
        if ring.count < blocks and rng.random() < 0.6 and offered is None:
            tag = ring.enter()
            if rng.random() < 0.7:
                sparse = rng.getrandbits(blocks) & rng.getrandbits(blocks)
                offered = {
                    "tag": tag, "number": numbers, "after_finish": rng.getrandbits(blocks) & rng.getrandbits(blocks),
                    "after_commit": rng.choice((0, sparse, (1 << blocks) - 1)),
                }  # fmt: skip
                numbers += 1
            else:
                issued.add(tag)
        for tag in ring.in_flight():
            if tag in issued and rng.random() < 0.3:
                ring.finished[tag] = True
        if ring.count and ring.finished[ring.oldest] and rng.random() < 0.5:
            issued.discard(ring.oldest)
            ring.commit()
        dut.flight_oldest.value = ring.oldest
        # Bits of free tags mean nothing.
        dut.flight_finished.value = sum(
            (ring.finished[tag] if tag in ring.in_flight() else rng.getrandbits(1)) << tag for tag in range(blocks)
        )
        if offered:
            dut.i_payload.value = pack(
                issue_layout(config, command_layout(config)),
                {
                    "command": {"tag": offered["tag"], "number": offered["number"]},
                    "after_finish": offered["after_finish"], "after_commit": offered["after_commit"],
                },
            )  # fmt: skip
        dut.i_valid.value = int(offered is not None)
        dut.o_ready.value = int(rng.random() < 0.6)
        flush = rng.random() < 0.003
        dut.flight_flush.value = int(flush)
        await ReadOnly()
        assert not offered or dut.i_ready.value == 1, "a queue as long as the ring takes every block"
        first = waiting[0] if waiting else offered
        expected = first is not None and not flush and free(first)
        assert dut.o_valid.value == int(expected), f"{first}, oldest {ring.oldest}, finished {ring.finished}"
        if expected:
            assert dut.o_payload.value == pack(command_layout(config), {"tag": first["tag"], "number": first["number"]})
        if offered:
            waiting.append(offered)
            passed_through += expected and len(waiting) == 1 and dut.o_ready.value == 1
            offered = None
        if expected and dut.o_ready.value == 1:
            left.append(waiting.popleft()["number"])
            issued.add(first["tag"])
        if flush:
            waiting.clear()
            ring = Ring(blocks)
            issued.clear()
        await RisingEdge(dut.clk)
    assert left == sorted(left) and len(left) > 300
    assert passed_through > 10, "the empty queue was hardly ever passed in the same cycle"
    await cycles(dut)


@pytest.mark.parametrize("blocks", [2, 8])
def test_a_command_leaves_as_soon_as_nothing_is_in_its_way(blocks):
    config = configuration(blocks)
    run_unit(IssueQueue(config=config, layout=command_layout(config)), __file__, parameters={"blocks": blocks})
