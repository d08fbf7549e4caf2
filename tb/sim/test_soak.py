"""The soak says what went wrong, with which seed, and how to see it again."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from linxtile.config import PRESETS
from linxtile.isa.faults import Rule
from linxtile_sim import soak
from linxtile_sim.cosim import Outcome
from linxtile_sim.lockstep import Report
from linxtile_sim.runner import SimulationFailed

DEFAULT = PRESETS["default"]


@pytest.fixture
def without_simulator(monkeypatch):
    """Let the model stand for the core; programs in ``differing`` end in a difference."""
    differing = {}

    def run(scenarios, config, *, name, complaints_allowed, patience):
        if "simulator" in differing:
            raise SimulationFailed(differing["simulator"])
        outcomes = []
        for scenario in scenarios:
            report = Report(scenario.machine(config).run(), cycles=100)
            complaint = differing.get(scenario.name)
            outcomes.append(Outcome(scenario.name, None if complaint else report, complaint))
        return outcomes, None

    monkeypatch.setattr(soak, "run_scenarios", run)
    monkeypatch.setattr(soak, "ProcessPoolExecutor", ThreadPoolExecutor)
    return differing


def test_a_run_without_a_difference_tells_how_the_programs_ended(without_simulator, capsys):
    assert soak.main(["--programs", "120", "--first", "7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "soak: seeds 7 to 126, preset default, on Verilator"
    assert lines[1].startswith("120 programs, 12000 cycles, ")
    for name in ("no fault", Rule.MEM_READ.name, Rule.MEM_WRITE.name, Rule.PARM_VALID_ROW.name):
        assert f"{name} " in lines[2]
    assert lines[3] == "0 differences from the model, hangs, or broken rules of the bus"


def test_a_difference_is_told_with_its_seed_and_how_to_repeat_it(without_simulator, capsys):
    without_simulator["soak program 3"] = (
        "soak program 3, event 2: TSTORE at 0x1018: memory byte 0x40000 is 0x01, expected 0x02"
    )
    assert soak.main(["--programs", "5", "--jobs", "1"]) == 1
    streams = capsys.readouterr()
    assert streams.err.splitlines() == [
        "seed 3: soak program 3, event 2: TSTORE at 0x1018: memory byte 0x40000 is 0x01, expected 0x02",
        "  again: python -m linxtile_sim.soak --config default --first 3 --programs 1",
    ]
    assert streams.out.splitlines()[-1] == "1 differences from the model, hangs, or broken rules of the bus"


def test_a_simulator_that_dies_costs_its_part_and_no_more(without_simulator, capsys):
    without_simulator["simulator"] = "the bench did not run on verilator, see test.log:\nmore"
    assert soak.main(["--programs", "60", "--jobs", "1"]) == 1
    errors = capsys.readouterr().err.splitlines()
    assert errors[0] == "seed 0: soak program 0: the bench did not run on verilator, see test.log:"
    assert len(errors) == 120


def test_a_seed_always_makes_the_same_program():
    assert soak.soak_program(11, DEFAULT) == soak.soak_program(11, DEFAULT)
    paces = {soak.soak_program(seed, DEFAULT).pace for seed in range(20)}
    assert len(paces) > 15 and any(pace.jitter for pace in paces)


def test_errors_lie_on_pages_that_answer_slverr_and_on_such_that_answer_decerr():
    pages = [page for seed in range(60) for page in soak.soak_program(seed, DEFAULT).error_pages]
    assert {page >> 12 & 1 for page in pages} == {0, 1}
