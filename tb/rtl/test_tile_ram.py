"""Tile RAM: every port keeps its order and its data, whatever the others do; nobody starves."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from linxtile.config import CoreConfig
from linxtile_rtl.layouts import line_write_layout
from linxtile_rtl.tile_ram import TileRam
from linxtile_sim.streams import Sink, Source, cycles, start
from linxtile_sim.unit import parameters, run_unit

CONFIG = CoreConfig(name="tiny", tile_ram_bytes=1024, tile_max_bytes=1024, vector_bytes=8, axi_data_bytes=8, banks=4)
READERS = 4
WRITERS = 2


@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_every_reader_gets_what_was_written(stall: float) -> None:
    run_unit(TileRam(config=CONFIG), __file__, parameters={"stall": stall}, testcase="random_traffic")


def test_ports_share_the_banks_fairly_at_full_rate() -> None:
    run_unit(TileRam(config=CONFIG), __file__, parameters={"stall": 0.0}, testcase="full_rate")


def _sources(dut, stall):
    requests = [Source(dut, f"reads_{port}_request", stall=stall) for port in range(READERS)]
    writes = [Source(dut, f"writes_{port}", shape=line_write_layout(CONFIG), stall=stall) for port in range(WRITERS)]
    return requests, writes


async def _fill(dut, writes, rng):
    """Write every line once, both ports at work; return the contents."""
    contents = [rng.getrandbits(64) for _ in range(CONFIG.lines)]
    order = list(range(CONFIG.lines))
    rng.shuffle(order)
    for position, line in enumerate(order):
        writes[position % WRITERS].put({"tag": 0, "line": line, "data": contents[line]})
    for port in writes:
        await port.drained()
    return contents


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def random_traffic(dut):
    """Distinct lines everywhere; then reads of random lines while other lines are rewritten."""
    rng = random.Random(cocotb.RANDOM_SEED)
    stall = parameters()["stall"]
    requests, writes = _sources(dut, stall)
    sinks = [Sink(dut, f"reads_{port}_response", stall=stall) for port in range(READERS)]
    await start(dut)
    contents = await _fill(dut, writes, rng)
    await cycles(dut, 2)

    # The upper half is read while the lower half is overwritten, then everything is read.
    upper = range(CONFIG.lines // 2, CONFIG.lines)
    expected: list[list[int]] = [[] for _ in range(READERS)]
    for port in range(READERS):
        for _ in range(150):
            line = rng.choice(upper)
            requests[port].put(line)
            expected[port].append(contents[line])
    for line in range(CONFIG.lines // 2):
        contents[line] = rng.getrandbits(64)
        writes[line % WRITERS].put({"tag": 0, "line": line, "data": contents[line]})
    for source in (*requests, *writes):
        await source.drained()
    await cycles(dut, 2)
    for port in range(READERS):
        for line in rng.sample(range(CONFIG.lines), CONFIG.lines):
            requests[port].put(line)
            expected[port].append(contents[line])
    for port, sink in enumerate(sinks):
        assert await sink.wait(len(expected[port])) == expected[port], f"read port {port} differs"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def full_rate(dut):
    """Four linear readers settle on different banks: 200 lines each cost hardly more than 200 cycles."""
    requests, writes = _sources(dut, 0.0)
    finished = [0] * READERS
    counts = [0] * READERS
    cycle = 0

    def counter(port):
        def count(_):
            counts[port] += 1
            finished[port] = cycle

        return count

    for port in range(READERS):
        Sink(dut, f"reads_{port}_response", check=counter(port))
    await start(dut)
    await _fill(dut, writes, random.Random(1))
    for port in range(READERS):
        requests[port].put(*[line % CONFIG.lines for line in range(200)])
    while min(counts) < 200:
        await RisingEdge(dut.clk)
        cycle += 1
        assert cycle < 1000, f"readers got {counts} lines of 200 each after {cycle} cycles"
    dut._log.info("cycles to the last of 200 lines: %s", finished)
    assert max(finished) <= 200 + 12
