"""The worked programs of tb/data on the core; tb/model checks that the model gives what they print."""

import json
from itertools import takewhile
from pathlib import Path

import pytest

from linxtile.config import PRESETS
from linxtile.isa.codes import REGISTER_NUMBERS
from linxtile_sim.cosim import run_scenarios
from linxtile_sim.scenario import Pace, Scenario

pytestmark = pytest.mark.cosim

TRACES = json.loads((Path(__file__).parents[1] / "data" / "traces.json").read_text(encoding="utf-8"))


def scenario_of(trace: dict, pace: Pace) -> Scenario:
    """Return what a trace prescribes, words as printed."""
    words = [(int(word, 16), (len(word) - 2) // 2) for _, word, _ in trace["words"]]
    return Scenario(
        trace["name"],
        b"".join(word.to_bytes(size, "little") for word, size in words),
        int(trace["program_base"], 16),
        {REGISTER_NUMBERS[name]: int(value, 16) for name, value in trace["gprs"].items()},
        {int(address, 16): bytes.fromhex(content) for address, content in trace["memory"].items()},
        tuple(int(page, 16) for page in trace["error_pages"]),
        pace,
    )


def printed_operations(trace: dict) -> list[str]:
    """Return the operations of the printed steps, up to the first layout that the core does not move in."""
    steps = [step["op"].partition(".") for step in trace["steps"]]
    moved = takewhile(lambda step: not step[2] or step[2] in PRESETS["default"].move_layouts, steps)
    return [operation for operation, _, _ in moved]


def test_worked_programs_run_on_the_core_as_on_the_model() -> None:
    paces = (Pace(latency=1), Pace(latency=7, stalls=(0.3, 0.3, 0.3, 0.3, 0.3)))
    scenarios = [scenario_of(trace, pace) for trace in TRACES for pace in paces]
    outcomes, _ = run_scenarios(scenarios, PRESETS["default"], name="traces")
    complaints = [outcome.complaint for outcome in outcomes if not outcome.agrees]
    assert not complaints, complaints[0]
    assert len(outcomes) == 2 * len(TRACES)
    for outcome, trace in zip(outcomes, [trace for trace in TRACES for _ in paces], strict=True):
        assert outcome.report is not None
        operations = [block.operation for block in outcome.report.result.blocks]
        assert operations == printed_operations(trace), trace["name"]
