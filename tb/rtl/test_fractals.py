"""Fractal grid: cells of a row and their distance against the quotients they stand for."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from linxtile.config import PRESETS, CoreConfig
from linxtile.isa.codes import size_bytes
from linxtile_rtl.fractals import FractalGrid
from linxtile_sim.streams import start
from linxtile_sim.unit import parameters, run_unit

WIDTHS = {0: 4, 1: 8, 2: 16, 3: 32, 4: 64}
"""Bits of an element by width code."""


def grids(rng, config):
    """Yield (columns, width code, size code, whether in ZN order): all that can be whole fractals, then any."""
    codes = [code for code in range(16) if config.tile_min_bytes <= size_bytes(code) <= config.tile_max_bytes]
    for code in codes:
        for width, bits in WIDTHS.items():
            for by_columns in (0, 1):
                unit = 16 if by_columns else 256 // bits
                most = size_bytes(code) // 512
                chosen = range(1, most + 3) if most <= 16 else rng.sample(range(1, most + 3), 16)
                for across in chosen:
                    yield unit * across, width, code, by_columns
                yield unit * rng.randint(1, most + 3) + rng.randrange(1, unit), width, code, by_columns
                yield rng.randrange(1, 65536), width, code, by_columns


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def grids_are_exact(dut):
    """A tile is aligned exactly when the manual's rule holds for Row, the floor of a quotient, and Col."""
    config = CoreConfig.named(parameters()["config"])
    rng = random.Random(cocotb.RANDOM_SEED)
    for name in ("start", "columns", "width", "size_code", "by_columns"):
        getattr(dut, name).value = 0
    await start(dut)
    aligned, tails = 0, 0
    for columns, width, code, by_columns in grids(rng, config):
        dut.columns.value, dut.width.value = columns, width
        dut.size_code.value, dut.by_columns.value = code, by_columns
        dut.start.value = 1
        await RisingEdge(dut.clk)
        dut.start.value = 0
        cycle = 1
        await RisingEdge(dut.clk)
        while dut.done.value == 0:
            await RisingEdge(dut.clk)
            cycle += 1
            assert cycle < 20
        bits, size = WIDTHS[width], size_bytes(code)
        cell = 256 // bits
        rows = size * 8 // (columns * bits)
        where = f"{columns} columns of {bits} bits, {size} bytes, {'ZN' if by_columns else 'NZ'}"
        if rows == 0:
            continue
        height, across = (cell, 16) if by_columns else (16, cell)
        assert dut.misaligned.value == int(rows % height != 0 or columns % across != 0), where
        if dut.misaligned.value:
            continue
        aligned += 1
        tails += rows * columns * bits != size * 8
        expected = (rows // cell, columns) if by_columns else (columns // cell, rows)
        assert (dut.row_cells.value, dut.cell_step.value) == expected, where
        fractals_across = columns // across
        steps = (
            0
            if fractals_across & (fractals_across - 1) == 0
            else (size // 512).bit_length() - fractals_across.bit_length()
        )
        assert cycle <= 2 + steps, f"{where}: {cycle} cycles"
    dut._log.info("%d aligned, %d of them with a tail", aligned, tails)
    assert aligned > 100 and tails > 5


@pytest.mark.parametrize("preset", ["small", "default"])
def test_a_grid_says_whether_a_tile_consists_of_whole_fractals(preset):
    run_unit(FractalGrid(config=PRESETS[preset]), __file__, parameters={"config": preset})
