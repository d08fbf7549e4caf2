"""Engine that moves tile to tile on its generated Verilog: bytes, flush, cycles."""

from pathlib import Path

import pytest

from linxtile.config import CoreConfig
from linxtile_rtl.move.tile_mover import TileMover
from linxtile_sim.unit import run_unit

BENCH = Path(__file__).with_name("cocotb_tile_mover.py")
BYTES = [
    f"{name}/stall={stall}"
    for name in ("every_order_and_width_is_exact", "known_traps_are_avoided", "a_flush_at_any_time_drops_what_is_under_way")
    for stall in (0.0, 0.4)
]  # fmt: skip
CYCLES = ["cycles_stay_within_the_bound", "a_stream_of_moves_has_no_pause"]


def run(config, testcase, **parameters):
    run_unit(
        TileMover(config=CoreConfig.named(config)), BENCH, simulator="icarus", testcase=testcase,
        parameters={"config": config, **parameters},
    )  # fmt: skip


@pytest.mark.parametrize("config", ["small", "default", "large"])
def test_moves_are_exact_in_every_order_and_width(config):
    run(config, BYTES, moves=1, flushes=15)


def test_a_move_takes_its_lines_or_its_elements():
    run("default", CYCLES, over=10)
