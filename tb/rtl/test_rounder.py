"""The rounder in every mode and for every kind of format, against gfloat."""

from pathlib import Path

import pytest

from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import data_type
from linxtile_rtl.vector.rounder import Round, Rounder
from linxtile_sim.unit import run_unit

BENCH = Path(__file__).with_name("cocotb_rounder.py")


@pytest.mark.parametrize(
    "formats", [("FP32", "FP16"), ("FP16", "BF16", "E5M2"), ("E4M3", "E5M2", "E3M2")], ids="-".join
)
def test_every_mode_rounds_overflows_and_packs_as_gfloat(formats):
    rounder = Rounder(formats=tuple(map(data_type, formats)))
    run_unit(rounder, BENCH, simulator="verilator", parameters={"formats": formats, "random": 30, "most": 1000})


def test_rounding_modes_are_those_of_the_isa():
    assert {mode.name: mode.value for mode in Round} == {mode.name: mode.value for mode in RoundingMode}
