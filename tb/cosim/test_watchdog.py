"""The core on a memory of which a channel dies, and on one that is only slow."""

from pathlib import Path

import pytest

from linxtile.config import PRESETS
from linxtile_sim.cosim import TOP, simulation_sources
from linxtile_sim.runner import simulate

pytestmark = pytest.mark.cosim

CONFIG = PRESETS["small"].replace(name="small_watchdog", watchdog_cycles=300)


def test_a_dead_memory_faults_once_and_a_slow_one_never() -> None:
    results = simulate(
        "icarus", TOP, simulation_sources(CONFIG), "cocotb_watchdog",
        name=f"watchdog-{CONFIG.name}", search_path=[Path(__file__).parent],
        environment={"LINXTILE_WATCHDOG_CYCLES": str(CONFIG.watchdog_cycles)},
    )  # fmt: skip
    assert results.tests == 2
