"""Tests of the engine that moves tile to tile; started by test_tile_mover.py."""

import cocotb
from tile_move_bench import ORDERS, WIDTHS, Bench, TileMove, random_tile_move

from linxtile.config import CoreConfig
from linxtile_sim.streams import cycles, start
from linxtile_sim.unit import parameters

CONFIG = CoreConfig.named(parameters().get("config", "default"))
ONES = 2**64 - 1
MOST_BYTES = min(2048, CONFIG.tile_max_bytes)


@cocotb.test(timeout_time=100, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def every_order_and_width_is_exact(dut, stall):
    """All pairs of orders and all widths, one after the other without a pause between."""
    bench = Bench(dut, CONFIG, stall=stall)
    await start(dut)
    moves = [
        random_tile_move(bench.random, max_bytes=MOST_BYTES, order=order, bits=bits)
        for order in ORDERS
        for bits in WIDTHS
        for _ in range(parameters()["moves"])
    ]
    bench.random.shuffle(moves)
    await bench.run(moves)


TRAPS = {
    "half bytes between the lines of a column": TileMove("DN2ND", 4, 85, 6, 6, 256, 256, ONES),
    "half bytes between the lines of both": TileMove("ND2DN", 4, 85, 5, 6, 256, 512, ONES),
    "an odd number of rows into cells": TileMove("DN2NZ", 4, 9, 63, 64, 512, 512, 0x5555555555555555),
    "one element of half a byte": TileMove("ND2ND", 4, 1, 1, 2, 256, 256, ONES),
    "columns that are half a line longer": TileMove("DN2ZN", 8, 21, 15, 16, 512, 512, ONES),
    "rows shorter than a line, all of them": TileMove("ND2ND", 8, 85, 3, 3, 256, 256, ONES),
    "rows shorter than a line, one less": TileMove("ND2ND", 8, 84, 3, 3, 256, 256, ONES),
    "rows shorter than a line, a byte less": TileMove("ND2ND", 8, 85, 2, 3, 256, 256, ONES),
    "a source of a single row": TileMove("ND2ND", 8, 1, 256, 256, 256, 1024, ONES),
    "a destination of a single row": TileMove("DN2ND", 8, 1, 256, 256, 1024, 256, ONES),
    "the last column of the last fractal": TileMove("NZ2ND", 16, 16, 32, 32, 1024, 2048, ONES),
    "a cell ends before the valid area": TileMove("NZ2ND", 16, 16, 17, 32, 1024, 1024, ONES),
    "fractals into fractals": TileMove("NZ2ZN", 16, 32, 32, 32, 2048, 2048, ONES),
    "fractals into fractals, one less": TileMove("ZN2NZ", 32, 15, 31, 32, 2048, 2048, ONES),
    "more fractals in the source": TileMove("NZ2ZN", 16, 16, 16, 16, 2048, 512, ONES),
    "more fractals in the destination": TileMove("ZN2NZ", 16, 16, 16, 16, 512, 2048, ONES),
    "a tail behind the fractals": TileMove("DN2ZN", 64, 4, 112, 112, 4096, 4096, ONES),
    "a line of one element": TileMove("ND2DN", 64, 4, 8, 8, 256, 256, ONES),
    "one element": TileMove("ZN2DN", 64, 1, 1, 16, 512, 512, ONES),
}


@cocotb.test(timeout_time=100, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def known_traps_are_avoided(dut, stall):
    bench = Bench(dut, CONFIG, stall=stall)
    await start(dut)
    for move in TRAPS.values():
        await bench.run([move])
    await bench.run(list(TRAPS.values()))


@cocotb.test(timeout_time=100, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def a_flush_at_any_time_drops_what_is_under_way(dut, stall):
    """Nothing is reported after it, nothing is written once idle, and the moves after it are exact."""
    bench = Bench(dut, CONFIG, stall=stall)
    await start(dut)
    dropped = 0
    for _ in range(parameters()["flushes"]):
        for _ in range(bench.random.randint(1, 3)):
            bench.put(random_tile_move(bench.random, max_bytes=MOST_BYTES))
        await cycles(dut, bench.random.choice([bench.random.randrange(25), bench.random.randrange(200)]))
        dropped += await bench.flush()
        await bench.run([random_tile_move(bench.random, max_bytes=MOST_BYTES)])
    assert dropped > parameters()["flushes"] // 3


def figures():
    """Moves of 4 KiB, 16 bytes a line, with the cycles that data and lines need."""
    vector = CONFIG.vector_bytes
    lines = 4096 // vector
    for order, bits, rows, columns in (
        ("ND2ND", 32, 16, 64), ("ND2ND", 8, 1365, 3), ("ND2NZ", 16, 32, 64), ("DN2ZN", 16, 64, 32), ("NZ2ND", 8, 32, 128),
        ("ZN2DN", 32, 64, 16),
    ):  # fmt: skip
        yield TileMove(order, bits, rows, columns, columns, 4096, 4096), lines
    yield TileMove("ND2NZ", 16, 20, 40, 64, 4096, 4096, ONES), lines
    yield TileMove("ND2ND", 8, 200, 10, 16, 4096, 4096, ONES), lines
    for order, bits, rows, columns in (
        ("ND2DN", 32, 16, 64), ("NZ2ZN", 16, 32, 64), ("DN2NZ", 8, 64, 64), ("ZN2ND", 64, 16, 32),
    ):  # fmt: skip
        yield TileMove(order, bits, rows, columns, columns, 4096, 4096), rows * columns
    # Lines that hold padding only are not counted as elements.
    yield TileMove("ND2DN", 32, 16, 10, 64, 4096, 4096, ONES), 160 + (54 * 16 * 4) // vector


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def cycles_stay_within_the_bound(dut):
    bench = Bench(dut, CONFIG)
    await start(dut)
    for move, needed in figures():
        await bench.run([move])
        over = bench.done_cycles[-1] - bench.taken_cycles[-1] - needed
        dut._log.info(f"{move}: {needed} + {over} cycles, {bench.reads.requests} lines read")
        assert over <= parameters()["over"], f"{move}: {over} cycles more than {needed}"


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def a_stream_of_moves_has_no_pause(dut):
    bench = Bench(dut, CONFIG)
    await start(dut)
    for move, needed in list(figures())[:4]:
        await bench.run([move] * 6, ahead=4)
        apart = (bench.done_cycles[-1] - bench.done_cycles[-5]) / 4
        dut._log.info(f"stream of {move}: {apart} cycles each")
        assert apart <= needed + 1
