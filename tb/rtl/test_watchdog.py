"""Watchdog: expires after as many cycles of waiting in a row as the configuration says, and not before."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from linxtile.config import CoreConfig
from linxtile_rtl.move.watchdog import Watchdog
from linxtile_sim.streams import cycles, start
from linxtile_sim.unit import parameters, run_unit


def expected(waits, limit):
    """Whether ``limit`` cycles in a row were waited for, after each of the cycles."""
    return [limit > 0 and any(all(waits[at - limit : at]) for at in range(limit, end + 1)) for end in range(len(waits))]


async def follow(dut, waits):
    """Apply one bit a cycle and return what ``expired`` was in each of these cycles."""
    seen = []
    for wait in waits:
        dut.waiting.value = int(wait)
        await RisingEdge(dut.clk)
        seen.append(dut.expired.value == 1)
    dut.waiting.value = 0
    return seen


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def waits_are_counted_in_a_row(dut):
    limit = parameters()["limit"]
    rng = random.Random(cocotb.RANDOM_SEED)
    length = max(limit, 1)
    dut.waiting.value = 0
    await start(dut)
    patterns = [
        [*[1] * (length - 1), 0] * 3 + [0] * 3,
        [*[1] * length, 0, 0, *[1] * length, 0],
        [1] * (2 * length + 3),
        *([rng.random() < 0.9 for _ in range(6 * length)] for _ in range(4)),
    ]
    for waits in patterns:
        dut.rst.value = 1
        await cycles(dut, 2)
        dut.rst.value = 0
        assert await follow(dut, waits) == expected(waits, limit), waits


@pytest.mark.parametrize("limit", [0, 1, 2, 5, 64])
def test_the_watchdog_expires_after_its_cycles_in_a_row(limit):
    run_unit(Watchdog(config=CoreConfig(watchdog_cycles=limit)), __file__, parameters={"limit": limit})
