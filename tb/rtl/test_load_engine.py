"""Load engine on its generated Verilog: bytes, faults, flush, cycles."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from linxtile.config import CoreConfig
from linxtile_rtl.move.load_engine import LoadEngine
from linxtile_rtl.verilog import axi_names
from linxtile_sim.unit import run_unit

LAYOUTS = ("NORM", "ND2NZ", "ND2ZN", "DN2NZ", "DN2ZN")
BENCH = Path(__file__).with_name("cocotb_load_engine.py")
NAMES = axi_names("memory", "m_axi_mem", ("ar", "r"))
BYTES = [
    f"{name}/stall={stall}"
    for name in (
        "random_tiles_arrive_byte_for_byte", "the_first_failing_element_is_told", "a_flush_drops_what_is_under_way",
        "known_traps_are_avoided",
    )
    for stall in (0.0, 0.4)
] + ["a_tile_is_done_only_when_its_last_line_is_written"]  # fmt: skip
SHARED = ["the_failure_in_the_earliest_row_is_told_once", "the_formulas_agree_with_the_worked_examples"]
CYCLES = [f"{name}/latency={latency}" for name in (
    "cycles_stay_within_the_bound", "transposed_cycles_stay_within_the_bound",
) for latency in (1, 50)] + [
    "a_stream_of_loads_keeps_the_bus_busy", "tiles_of_one_load_follow_each_other_without_a_pause",
]  # fmt: skip


def run(config, testcase, *, simulator="verilator", layouts=LAYOUTS, tiles=8, **parameters):
    given = replace(CoreConfig.named(config), move_layouts=frozenset(layouts), move_tiles=tiles)
    run_unit(
        partial(LoadEngine, config=given), BENCH, simulator=simulator, names=NAMES, testcase=testcase,
        parameters={"config": config, "layouts": layouts, "tiles": tiles, **parameters},
    )  # fmt: skip


@pytest.mark.parametrize("config", [pytest.param("small", marks=pytest.mark.slow), "default"])
def test_tiles_faults_and_flush_are_exact_under_random_stalls(config):
    run(config, BYTES + SHARED, moves=25)


def test_tiles_are_exact_on_icarus_too():
    with_stalls = BYTES[1::2]
    run("small", with_stalls + SHARED, simulator="icarus", moves=6)


def test_tiles_are_exact_without_cells_across_rows():
    run("small", BYTES[:4], simulator="icarus", layouts=LAYOUTS[:1], tiles=1, moves=6)


def test_tiles_are_exact_with_wide_lines():
    run("large", BYTES[:2], layouts=["NORM"], moves=30)


@pytest.mark.slow
def test_tiles_are_exact_with_lines_as_long_as_cells(tmp_path):
    file = tmp_path / "cells.toml"
    file.write_text('preset = "default"\nvector_bytes = 32\naxi_data_bytes = 32\n', encoding="utf-8")
    run(str(file), BYTES, simulator="icarus", moves=10)


def test_a_load_takes_the_larger_of_beats_and_lines():
    run("default", CYCLES, over=5)
