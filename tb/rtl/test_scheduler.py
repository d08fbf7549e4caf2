"""Scheduler: binder, issue queues and reorder ring together, with scripted decoder and engines."""

from functools import partial
from pathlib import Path

import pytest

from linxtile.config import CoreConfig
from linxtile.isa.operations import operation
from linxtile_rtl.scheduler import Scheduler
from linxtile_sim.unit import run_unit

BENCH = Path(__file__).with_name("cocotb_scheduler.py")
CONFIGS = {
    "tight": {"tile_ram_bytes": 8 * 1024, "tile_max_bytes": 4 * 1024, "vector_bytes": 8, "axi_data_bytes": 8},
    "few": {"tile_ram_bytes": 16 * 1024, "tile_max_bytes": 8 * 1024, "blocks_in_flight": 2},
}


MOVES = {
    "move_tiles": 8,
    "move_layouts": sorted({layout.name for name in ("TLOAD", "TSTORE") for layout in operation(name).layouts}),
}


def run(name, testcase, **parameters):
    given = {**MOVES, **CONFIGS[name]}
    config = CoreConfig(name=name, **given)
    run_unit(
        partial(Scheduler, config=config),
        BENCH,
        testcase=testcase,
        simulator="verilator",
        parameters={"config": {"name": name, **given}, **parameters},
    )


@pytest.mark.parametrize("config", ["tight", pytest.param("few", marks=pytest.mark.slow)])
@pytest.mark.parametrize("stall", [0.0, 0.5])
def test_random_programs_commit_as_if_one_by_one(config, stall):
    run(config, "random_programs", stall=stall, latency=(1, 40), programs=15, wrong=0.05)


def test_blocks_wait_and_fault_as_they_must():
    run("tight", ["bind_rules", "loads_and_stores", "attributes", "released_storage", "cycle_counts"])
