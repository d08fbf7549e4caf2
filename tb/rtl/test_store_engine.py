"""Store engine on its generated Verilog: bytes, faults, flush, cycles."""

from functools import partial
from pathlib import Path

import pytest

from linxtile.config import CoreConfig
from linxtile_rtl.move.store_engine import StoreEngine
from linxtile_rtl.verilog import axi_names
from linxtile_sim.unit import run_unit

BENCH = Path(__file__).with_name("cocotb_store_engine.py")
NAMES = {
    **axi_names("memory", "m_axi_mem", ("aw", "w", "b")),
    **axi_names("nibble_memory", "m_axi_nibble", ("ar", "r")),
}
BYTES = [
    f"{name}/stall={stall}"
    for name in (
        "exactly_the_valid_bytes_change", "the_first_failing_element_is_told", "a_flush_ends_a_store_without_a_report",
        "known_traps_are_avoided",
        "an_earlier_row_that_fails_later_is_told", "data_does_not_wait_for_its_address",
    )
    for stall in (0.0, 0.4)
] + [
    *(
        f"a_refused_nibble_does_not_hide_the_row_before_it/stall={stall}/writable={writable}"
        for stall in (0.0, 0.4)
        for writable in (False, True)
    ),
    "a_row_beyond_the_addresses_leaves_the_half_byte_alone",
    *(f"a_dead_bus_keeps_what_it_was_shown/after={after}" for after in (3, 8, 14, 20)),
]  # fmt: skip
TRAPS = ["known_traps_are_avoided/stall=0.0", "an_earlier_row_that_fails_later_is_told/stall=0.0"]
CYCLES = [f"cycles_stay_within_the_bound/latency={latency}" for latency in (1, 10, 50)]


CELLS = ("ND2NZ", "DN2ZN")
"""Layouts of loads; those of the stores are the other way round."""
TURNED = ("ND2ZN", "DN2NZ")
EVERY = ("NORM", *CELLS, *TURNED)


def run(config, testcase, *, simulator="verilator", layouts=("NORM",), tiles=1, **parameters):
    stores = frozenset("2".join(reversed(layout.split("2"))) for layout in layouts)
    run_unit(
        partial(StoreEngine, config=CoreConfig.named(config).replace(move_layouts=stores, move_tiles=tiles)), BENCH,
        simulator=simulator, names=NAMES, testcase=testcase,
        parameters={"config": config, "layouts": layouts, "tiles": tiles, **parameters},
    )  # fmt: skip


@pytest.mark.parametrize("config", ["small", "default"])
def test_bytes_faults_and_flush_are_exact_under_random_stalls(config):
    run(config, BYTES, moves=15)


def test_bytes_are_exact_on_icarus_too():
    run("small", BYTES, simulator="icarus", moves=10)


@pytest.mark.parametrize("layouts", [("NORM", *CELLS), ("NORM", *TURNED)], ids=["cells", "turned"])
def test_tiles_of_cells_are_exact(layouts):
    run("small", BYTES, simulator="icarus", layouts=layouts, moves=6)


def test_traps_of_cells_and_tiles_are_avoided():
    run("small", TRAPS, simulator="icarus", layouts=EVERY, tiles=8)


@pytest.mark.parametrize("config", ["small", "default"])
def test_several_tiles_are_exact_in_all_layouts(config):
    run(config, BYTES, layouts=EVERY, tiles=8, moves=10)


def test_bytes_are_exact_with_wide_lines():
    run("large", BYTES[:2], tiles=8, moves=20)


def test_a_store_takes_its_beats():
    run("default", CYCLES, over=4)


# Sixteen bursts under way, as in small, do not hide a latency of 50 when each is a beat.
@pytest.mark.parametrize("config, latencies", [("small", 2), pytest.param("default", 3, marks=pytest.mark.slow)])
def test_a_store_of_cells_takes_its_beats(config, latencies):
    run(config, CYCLES[:latencies], layouts=CELLS, over=4)


# Three blocks are read ahead: small ones do not make up for a last group of rows that has more lines than beats.
@pytest.mark.parametrize(
    "config, latencies, over", [("small", 2, 10), pytest.param("default", 3, 7, marks=pytest.mark.slow)]
)
def test_a_turned_store_takes_its_beats_or_lines(config, latencies, over):
    run(config, CYCLES[:latencies], layouts=TURNED, over=over)


@pytest.mark.slow
def test_a_store_of_several_tiles_takes_its_beats():
    run("default", CYCLES, layouts=EVERY, tiles=8, over=7)
