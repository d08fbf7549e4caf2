"""Several programs on one core without a reset between them, and the trap after a block."""

from pathlib import Path

import pytest

from linxtile.config import PRESETS
from linxtile_sim.cosim import TOP, simulation_sources
from linxtile_sim.runner import simulate

pytestmark = pytest.mark.cosim

PRESET = "small"
PROGRAMS = 24


def test_a_start_keeps_what_is_committed_and_a_trap_holds_back_what_follows() -> None:
    results = simulate(
        "verilator", TOP, simulation_sources(PRESETS[PRESET]), "cocotb_restart",
        name=f"restart-{PRESET}", search_path=[Path(__file__).parent],
        environment={"LINXTILE_PRESET": PRESET, "LINXTILE_PROGRAMS": str(PROGRAMS)},
    )  # fmt: skip
    assert results.tests == 2
