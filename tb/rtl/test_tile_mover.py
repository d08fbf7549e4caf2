"""Engine that moves tile to tile on its generated Verilog: bytes, flush, cycles."""

from functools import partial
from pathlib import Path

import pytest

from linxtile.config import CoreConfig
from linxtile_rtl.move.tile_mover import TileMover
from linxtile_sim.unit import run_unit

BENCH = Path(__file__).with_name("cocotb_tile_mover.py")


def run(config, testcase, **parameters):
    run_unit(
        partial(TileMover, config=CoreConfig.named(config)), BENCH, simulator="icarus", testcase=testcase,
        parameters={"config": config, **parameters},
    )  # fmt: skip


DEFAULT, LARGE = (pytest.param(name, 0.4, marks=pytest.mark.slow) for name in ("default", "large"))
"""Configurations whose benches take long."""


@pytest.mark.parametrize(("config", "stall"), [("small", 0.0), ("small", 0.4), ("default", 0.4), LARGE])
def test_moves_are_exact_in_every_order_and_width(config, stall):
    run(config, [f"every_order_and_width_is_exact/stall={stall}"], moves=1)


@pytest.mark.parametrize(("config", "stall"), [("small", 0.0), DEFAULT, LARGE])
def test_known_traps_are_avoided(config, stall):
    run(config, [f"known_traps_are_avoided/stall={stall}"])


@pytest.mark.parametrize(("config", "stall"), [("small", 0.0), ("default", 0.4)])
def test_a_flush_drops_what_is_under_way(config, stall):
    tests = [
        f"a_flush_at_any_time_drops_what_is_under_way/stall={stall}",
        "a_flush_with_the_last_line_drops_the_report",
    ]
    run(config, tests, flushes=15)


def test_a_move_takes_its_lines_or_its_elements():
    run("default", ["cycles_stay_within_the_bound", "a_stream_of_moves_has_no_pause"], over=10)
