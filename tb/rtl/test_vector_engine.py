"""The vector engine on a tile RAM with and without stalls, block by block against the operations' formulas."""

from functools import partial
from pathlib import Path

import pytest

from linxtile.config import PRESETS
from linxtile_rtl.vector.engine import VectorEngine
from linxtile_sim.unit import run_unit

BENCH = Path(__file__).with_name("cocotb_vector_engine.py")


BLOCKS = ["element_wise_blocks", "row_reductions", "mixed_blocks"]
CYCLES = ["cycles_of_single_blocks", "cycles_of_a_stream"]


@pytest.mark.parametrize("stall", [0.0, 0.3])
@pytest.mark.parametrize("preset", ["small", "default"])
def test_every_line_of_every_block_is_right(preset, stall):
    parameters = {"preset": preset, "stall": stall, "blocks": 40}
    run_unit(
        partial(VectorEngine, config=PRESETS[preset]),
        BENCH,
        simulator="verilator",
        parameters=parameters,
        testcase=BLOCKS,
    )


@pytest.mark.parametrize("preset", ["small", "default"])
def test_a_flush_leaves_nothing_behind(preset):
    parameters = {"preset": preset, "stall": 0.0, "blocks": 30}
    run_unit(
        partial(VectorEngine, config=PRESETS[preset]),
        BENCH,
        simulator="verilator",
        parameters=parameters,
        testcase="flushes",
    )


def test_blocks_take_the_cycles_of_their_lines_and_little_more():
    parameters = {"preset": "default", "stall": 0.0}
    run_unit(
        partial(VectorEngine, config=PRESETS["default"]),
        BENCH,
        simulator="verilator",
        parameters=parameters,
        testcase=CYCLES,
    )
