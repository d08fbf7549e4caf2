"""Tests of the engine that moves tile to tile; started by test_tile_mover.py."""

import cocotb
from tile_move_bench import ORDERS, WIDTHS, Bench, TileMove, random_tile_move

from linxtile.config import CoreConfig
from linxtile_sim.streams import cycles, start
from linxtile_sim.unit import parameters

CONFIG = CoreConfig.named(parameters().get("config", "default"))
ONES = 2**64 - 1
MOST_BYTES = 2048
"""The smallest tile that holds fractals of half bytes in NZ and in ZN order."""


@cocotb.test(timeout_time=100, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def every_order_and_width_is_exact(dut, stall):
    """All pairs of orders and all widths, one after the other without a pause between."""
    bench = Bench(dut, CONFIG, stall=stall)
    await start(dut)
    rng = bench.random
    moves = [
        random_tile_move(rng, max_bytes=MOST_BYTES, order=order, bits=bits)
        for order in ORDERS
        for bits in WIDTHS
        for _ in range(parameters()["moves"])
    ]
    # Rows of 128 bytes, columns of 64 and more: all of them begin with a line, however long it is.
    moves += [
        TileMove(order, bits, rng.randint(1, 32), rng.randint(1, 1024 // bits), 1024 // bits, 4096, 4096, ONES)
        for order in ("ND2DN", "DN2ND")
        for bits in (16, 32, 64)
    ]
    rng.shuffle(moves)
    turned = [move for move in moves if move.is_turned()]
    by_lines = sum(move.rows_begin_with_lines(CONFIG.vector_bytes) for move in turned)
    assert by_lines > 3 and len(turned) - by_lines > 3, "both ways of turning a tile are to be seen"
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
    "fewer rows in the source": TileMove("DN2ND", 8, 42, 6, 6, 256, 1024, ONES),
    "fewer rows in the destination": TileMove("ND2DN", 8, 42, 6, 6, 1024, 256, ONES),
    "the last column of the last fractal": TileMove("NZ2ND", 16, 16, 32, 32, 1024, 2048, ONES),
    "a cell ends before the valid area": TileMove("NZ2ND", 16, 16, 17, 32, 1024, 1024, ONES),
    "all lines of a block": TileMove("ND2DN", 16, 32, 32, 32, 2048, 2048, ONES),
    "one line less in the last block, one column less": TileMove("ND2DN", 16, 31, 31, 32, 2048, 2048, ONES),
    "one line and one column in the last block": TileMove("DN2ND", 16, 17, 17, 32, 2048, 2048, ONES),
    "blocks of fractals": TileMove("NZ2ZN", 16, 32, 32, 32, 2048, 2048, ONES),
    "blocks of fractals, one less": TileMove("ZN2NZ", 32, 15, 31, 32, 2048, 2048, ONES),
    "blocks of half bytes": TileMove("NZ2ZN", 4, 63, 33, 64, 2048, 2048, 0x5555555555555555),
    "blocks of bytes, one element": TileMove("ND2ZN", 8, 1, 1, 32, 1024, 2048, ONES),
    "elements as wide as short lines": TileMove("ZN2ND", 64, 3, 7, 16, 512, 1024, ONES),
    "more fractals in the source": TileMove("NZ2ZN", 16, 16, 16, 16, 2048, 512, ONES),
    "more fractals in the destination": TileMove("ZN2NZ", 16, 16, 16, 16, 512, 2048, ONES),
    "a tail behind blocks": TileMove("ND2DN", 64, 9, 23, 24, 2048, 2048, ONES),
    "a tail behind blocks of fractals": TileMove("ND2ZN", 32, 7, 237, 240, 8192, 8192, ONES),
    "a tail behind the fractals": TileMove("DN2ZN", 64, 4, 112, 112, 4096, 4096, ONES),
    "a line of one element": TileMove("ND2DN", 64, 4, 8, 8, 256, 256, ONES),
    "one element": TileMove("ZN2DN", 64, 1, 1, 16, 512, 512, ONES),
}


@cocotb.test(timeout_time=100, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def known_traps_are_avoided(dut, stall):
    bench = Bench(dut, CONFIG, stall=stall)
    await start(dut)
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


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def a_flush_with_the_last_line_drops_the_report(dut):
    """Flushes in each of the cycles around the one in which the last line is taken."""
    bench = Bench(dut, CONFIG)
    await start(dut)
    move = TileMove("ND2ND", 8, 16, 16, 16, 256, 256)
    begun = bench.cycle
    await bench.run([move])
    reported = bench.done_cycles[-1] - begun
    dropped = []
    for early in range(6):
        bench.put(move)
        await cycles(dut, reported - early)
        dropped.append(await bench.flush())
    await bench.run([move])
    assert dropped[0] == 0 and dropped[-1] == 1, f"{dropped}: the flushes missed the last line"


def figures():
    """Moves of 4 KiB, each with the cycles that it needs beside those of begin and end: what they show, move, cycles."""
    lines = 4096 // CONFIG.vector_bytes
    for order, bits, rows, columns in (
        ("ND2ND", 32, 16, 64), ("ND2NZ", 16, 32, 64), ("DN2ZN", 16, 64, 32), ("NZ2ND", 8, 32, 128), ("ZN2DN", 32, 64, 16),
    ):  # fmt: skip
        yield "a line a cycle", TileMove(order, bits, rows, columns, columns, 4096, 4096), lines
    yield "a line a cycle with padding", TileMove("ND2NZ", 16, 20, 40, 64, 4096, 4096, ONES), lines
    yield "a line a cycle with padding", TileMove("ND2ND", 8, 200, 10, 16, 4096, 4096, ONES), lines
    # 11 steps of the division, and the first one.
    yield "rows of 3 bytes", TileMove("ND2ND", 8, 1365, 3, 3, 4096, 4096), lines + 12
    for order, bits, rows, columns in (
        ("NZ2ZN", 4, 64, 128), ("DN2NZ", 8, 64, 64), ("NZ2ZN", 16, 32, 64), ("ND2DN", 32, 16, 64), ("ZN2ND", 64, 16, 32),
    ):  # fmt: skip
        block = CONFIG.vector_bytes * 8 // bits
        yield "blocks", TileMove(order, bits, rows, columns, columns, 4096, 4096), lines + block
        yield (
            "blocks with padding",
            TileMove(order, bits, rows - 7, columns - 3, columns, 4096, 4096, ONES),
            lines + block,
        )
    # Four lines beyond the last row; 6 steps of the division.
    yield "an element a cycle", TileMove("ND2DN", 32, 16, 63, 63, 4096, 4096), 16 * 63 + 4 + 7
    # The 10 elements of a row take three lines, wherever they begin.
    yield "elements and padding", TileMove("DN2ND", 32, 16, 10, 62, 4096, 4096, ONES), 16 * 10 + lines - 16 * 3 + 7


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def cycles_stay_within_the_bound(dut):
    bench = Bench(dut, CONFIG)
    await start(dut)
    for name, move, needed in figures():
        await bench.run([move])
        over = bench.done_cycles[-1] - bench.taken_cycles[-1] - needed
        dut._log.info(f"{name}: {needed} + {over} cycles, {move}")
        assert 0 < over <= parameters()["over"], f"{name}: {needed} + {over} cycles, {move}"


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def a_stream_of_moves_has_no_pause(dut):
    bench = Bench(dut, CONFIG)
    await start(dut)
    moves = {name: move for name, move, _ in figures() if "element" not in name}
    for name, move in moves.items():
        await bench.run([move] * 4, ahead=4)
        apart = (bench.done_cycles[-1] - bench.done_cycles[-3]) / 2
        dut._log.info(f"stream, {name}: {apart} cycles each, {move}")
        assert apart <= move.destination_bytes // CONFIG.vector_bytes + 1, f"{move}: {apart} cycles each"
