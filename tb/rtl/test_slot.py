# amaranth: UnusedElaboratable=no
"""Slots of every width: integers against Python, floats against SoftFloat, MPFR and ml_dtypes, bit for bit with flags."""

from pathlib import Path

import pytest

from linxtile.config import CoreConfig
from linxtile.isa.codes import Engine
from linxtile.isa.operations import operation
from linxtile.isa.support import RTL_OPERATIONS
from linxtile_rtl.vector.control import LANE_PROGRAMS
from linxtile_rtl.vector.slot import Slot
from linxtile_sim.unit import run_unit

BENCH = Path(__file__).with_name("cocotb_slot.py")
WIDTHS = [8, 4, 2, 1]


@pytest.mark.parametrize("element_bytes", WIDTHS)
def test_a_slot_answers_as_the_oracle_for_every_type_that_fits(element_bytes):
    _run(element_bytes, ["corner_pairs", "random_pairs"], most=15_000)


@pytest.mark.slow
@pytest.mark.parametrize("element_bytes", WIDTHS)
def test_a_slot_answers_as_the_oracle_for_every_pair_of_corners(element_bytes):
    _run(element_bytes, ["corner_pairs"])


@pytest.mark.parametrize("step", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_half_precision_codes_are_read_as_the_oracle_reads_them(step):
    _run(2, ["every_half"], step=step)


@pytest.mark.parametrize("element_bytes", [pytest.param(8, marks=pytest.mark.slow), 1])
def test_every_float_with_fixed_fields_drops_in(element_bytes):
    _run(element_bytes, ["corner_pairs", "random_pairs"], every_format=True, most=12_000)


def test_slots_agree_on_icarus_too():
    _run(2, ["corner_pairs"], simulator="icarus", most=500)


def test_the_programs_of_the_lanes_are_the_operations_of_the_foundation():
    lanes = {name for name in RTL_OPERATIONS if operation(name).engine is Engine.TEPL}
    assert set(LANE_PROGRAMS) == lanes


def test_a_width_that_no_element_has_is_refused():
    with pytest.raises(ValueError, match=r"^element_bytes must be 1, 2, 4 or 8, not 3$"):
        Slot(element_bytes=3, config=CoreConfig())


def _run(element_bytes, benches, *, simulator="verilator", every_format=False, **more):
    config = configuration(every_format=every_format)
    operations = {name: sorted(types) for name, types in config.operations.items()}
    parameters = {"element_bytes": element_bytes, "operations": operations, **more}
    slot = Slot(element_bytes=element_bytes, config=config)
    run_unit(slot, BENCH, simulator=simulator, testcase=benches, parameters=parameters)


def configuration(*, every_format):
    """Return the default configuration, or one that does arithmetic on every float with fixed fields."""
    if not every_format:
        return CoreConfig()
    floats = {"FP64", "FP32", "TF32", "HF32", "FP16", "BF16", "E4M3", "E5M2"}
    operations = {
        name: types | floats if name in LANE_PROGRAMS and "FP32" in types else types
        for name, types in CoreConfig().operations.items()
    }
    return CoreConfig(operations=operations)
