"""Places of lines in a tile of cells, against the product they stand for."""

import random

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from linxtile.config import CoreConfig
from linxtile_rtl.move.cells import CellPlace
from linxtile_sim.streams import start
from linxtile_sim.unit import parameters, run_unit

CELL_BYTES = 32


def place(line, row_cells, cell_step, lines_per_cell):
    """Return where a line of the walk lies: cell g of row i is cell ``g * cell_step + i``."""
    cell, inside = divmod(line, lines_per_cell)
    row, number = divmod(cell, row_cells)
    return (number * cell_step + row) * lines_per_cell + inside


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def places(dut):
    """Every line of a walk and the line after it, with rows that end early, at their end, or go on into the next one."""
    lines_per_cell = CELL_BYTES // parameters()["vector_bytes"]
    rng = random.Random(cocotb.RANDOM_SEED)
    for name in ("row_cells", "cell_step", "start", "line", "next_line", "next_row"):
        getattr(dut, name).value = 0
    await start(dut)
    for _ in range(60):
        row_cells, cell_step = rng.choice((1, 2, 3, rng.randint(1, 12))), 16 * rng.randint(1, 4)
        row_lines = row_cells * lines_per_cell
        rows = rng.randint(1, cell_step)
        goes_on = rng.random() < 0.3
        valid = row_lines if goes_on else rng.randint(1, row_lines)
        dut.start.value = 1
        dut.next_line.value, dut.next_row.value = rng.randrange(2), rng.randrange(2)
        await RisingEdge(dut.clk)
        dut.start.value = 0
        dut.row_cells.value, dut.cell_step.value = row_cells, cell_step
        for row in range(rows):
            for at in range(valid):
                line = row * row_lines + at
                ends = at == valid - 1 and not goes_on
                dut.line.value = line
                for moves in [0] * rng.randrange(2) + [1]:
                    dut.next_row.value = int(ends and moves)
                    dut.next_line.value = rng.randrange(2) if ends and moves else moves
                    await ReadOnly()
                    where = f"line {line}, {row_cells} cells a row, {cell_step} apart"
                    assert dut.here.value == place(line, row_cells, cell_step, lines_per_cell), where
                    if line % row_lines != row_lines - 1 or goes_on and row != rows - 1:
                        assert dut.after.value == place(line + 1, row_cells, cell_step, lines_per_cell), where
                    await RisingEdge(dut.clk)


@pytest.mark.parametrize("vector_bytes", [8, 16, 32])
def test_lines_lie_where_the_cells_of_their_rows_lie(vector_bytes):
    config = CoreConfig(vector_bytes=vector_bytes, axi_data_bytes=vector_bytes)
    run_unit(CellPlace(config=config), __file__, parameters={"vector_bytes": vector_bytes})
