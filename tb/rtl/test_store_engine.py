"""Store engine on its generated Verilog: bytes, faults, flush, cycles."""

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
        "a_refused_nibble_does_not_hide_the_row_before_it", "known_traps_are_avoided",
    )
    for stall in (0.0, 0.4)
] + ["a_row_beyond_the_addresses_asks_for_no_nibble"]  # fmt: skip
CYCLES = ["cycles_stay_within_the_bound/latency=1", "cycles_stay_within_the_bound/latency=50"]


def run(config, testcase, *, simulator="verilator", **parameters):
    run_unit(
        StoreEngine(config=CoreConfig.named(config)), BENCH, simulator=simulator, names=NAMES, testcase=testcase,
        parameters={"config": config, **parameters},
    )  # fmt: skip


@pytest.mark.parametrize("config", ["small", "default"])
def test_bytes_faults_and_flush_are_exact_under_random_stalls(config):
    run(config, BYTES, moves=15)


def test_bytes_are_exact_on_icarus_too():
    run("small", BYTES, simulator="icarus", moves=10)


def test_bytes_are_exact_with_wide_lines():
    run("large", BYTES[:2], moves=20)


def test_a_store_takes_its_beats():
    run("default", CYCLES, over=5)
