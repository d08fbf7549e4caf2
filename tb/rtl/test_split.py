"""Shares of several tiles against the quotients they stand for."""

import random
from dataclasses import replace

import cocotb
from cocotb.triggers import RisingEdge

from linxtile.config import CoreConfig
from linxtile.isa.codes import size_bytes
from linxtile_rtl.split import PartSplit
from linxtile_sim.streams import start
from linxtile_sim.unit import run_unit

CONFIG = replace(CoreConfig.named("default"), move_tiles=8)
BITS = {0: 4, 1: 8, 2: 16, 3: 32, 4: 64}


def wholes(rng):
    """Yield (columns, width code, size code, tiles, whether rows are shared); even shares are frequent."""
    codes = [code for code in range(16) if CONFIG.tile_min_bytes <= size_bytes(code) <= CONFIG.tile_max_bytes]
    for _ in range(1500):
        width, code, count = rng.choice(list(BITS)), rng.choice(codes), rng.randrange(1, 9)
        elements = size_bytes(code) * 8 // BITS[width]
        part = rng.choice(
            [rng.randrange(1, 65536), rng.randrange(1, 64), 16 << rng.randrange(8), elements, elements + 1]
        )
        yield min(65535, part * rng.choice([1, count])), width, code, count, rng.randrange(2)


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def shares_are_exact(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    for name in ("start", "columns", "width", "size_code", "tile_count", "by_rows"):
        getattr(dut, name).value = 0
    await start(dut)
    even = 0
    for columns, width, code, count, by_rows in wholes(rng):
        for name, value in zip(
            ("columns", "width", "size_code", "tile_count", "by_rows"),
            (columns, width, code, count, by_rows),
            strict=True,
        ):
            getattr(dut, name).value = value
        dut.start.value = 1
        await RisingEdge(dut.clk)
        dut.start.value = 0
        await RisingEdge(dut.clk)
        cycle = 1
        while dut.done.value == 0:
            await RisingEdge(dut.clk)
            cycle += 1
        assert cycle <= (1 if count == 1 else 22)
        rows = count * size_bytes(code) * 8 // (columns * BITS[width])
        shared = rows if by_rows else columns
        where = f"{columns} columns of {BITS[width]} bits, {count} tiles of {size_bytes(code)} bytes, {'rows' if by_rows else 'columns'}"
        assert dut.uneven.value == int(count > 1 and shared % count != 0), where
        if dut.uneven.value:
            continue
        even += count > 1
        assert dut.part_columns.value == (columns if by_rows else columns // count), where
        if by_rows and count > 1:
            assert dut.whole_rows.value == rows, where
    assert even > 200, even


def test_tiles_share_a_matrix_evenly_or_not():
    run_unit(PartSplit(config=CONFIG), __file__)
