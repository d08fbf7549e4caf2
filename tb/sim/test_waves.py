"""Waves of a run: the save file shows signals that are in the waves, and names for their codes."""

import re
from pathlib import Path

import pytest

from linxtile.cli import main
from linxtile.isa.faults import Rule
from linxtile.isa.operations import OPERATIONS
from linxtile.isa.types import data_type
from linxtile_sim import waves

PROGRAM = (
    "TEXPANDS <8, FP16>, [a0], ->T<256B>\nTADD <8, FP16>, T#1, T#1, ->U<256B>\nTADD <8, FP16>, T#1, T#1, ->T<256B>\n"
)


@pytest.fixture(scope="module", params=["icarus", pytest.param("verilator", marks=pytest.mark.slow)])
def recorded(request, tmp_path_factory):
    """Run three blocks on the small core, the last of which faults, and return the path of the waves."""
    folder = tmp_path_factory.mktemp("waves")
    (folder / "program.s").write_text(PROGRAM, encoding="utf-8")
    file = folder / "run.fst"
    arguments = ["--on", request.param, "--config", "small", "--allow-faults", "--waves", str(file)]
    assert main(["run", str(folder / "program.s"), *arguments]) == 1
    return file


def names_seen(recorded, signal):
    """Return what GTKWave would show of a signal over time, by the translation file of its trace."""
    variable = waves.signals(recorded)[signal]
    save = recorded.with_suffix(".gtkw").read_text(encoding="utf-8")
    path = re.escape(f"{variable.full_name}[{variable.bitwidth - 1}:0]")
    number = re.search(rf"\^(\d+) \S+\n\+{{[^}}]*}} {path}$", save, re.MULTILINE)
    assert number is not None, f"{signal} has no translation file"
    file = re.search(rf"^\^{number[1]} (\S+)$", save, re.MULTILINE)[1]
    table = dict(line.split(" ", 1) for line in Path(file).read_text(encoding="utf-8").splitlines())
    digits = (variable.bitwidth + 3) // 4
    # What is not yet known comes as a string.
    return [table.get(f"{value:0{digits}X}") for _, value in variable.tv if isinstance(value, int)]


def test_every_signal_of_the_save_file_is_in_the_waves_with_its_width(recorded):
    found = waves.signals(recorded)
    shown = [trace.signal for group in waves.GROUPS.values() for trace in group]
    assert [signal for signal in shown if signal not in found] == []
    lines = recorded.with_suffix(".gtkw").read_text(encoding="utf-8").splitlines()
    traced = [line.split("} ", 1)[1] for line in lines if line.startswith("+{")]
    widths = {signal: found[signal].bitwidth or 1 for signal in shown}
    assert traced == [
        found[signal].full_name + (f"[{widths[signal] - 1}:0]" if widths[signal] > 1 else "") for signal in shown
    ]
    assert widths["core.decoder.o__payload.operation"] == (len(OPERATIONS) - 1).bit_length()


def test_what_an_engine_reports_stands_in_its_own_group(recorded):
    found = waves.signals(recorded)
    (valid,) = (trace.signal for trace in waves.GROUPS["vector engine"] if trace.label == "done valid")
    others = [
        trace.signal for name in ("load engine", "store engine", "tile mover") for trace in waves.GROUPS[name]
        if trace.label == "done valid"
    ]  # fmt: skip
    assert 1 in [value for _, value in found[valid].tv]
    assert len(others) == 3 and all(1 not in [value for _, value in found[signal].tv] for signal in others)


def test_groups_are_the_units_in_the_order_of_the_block_diagram(recorded):
    lines = recorded.with_suffix(".gtkw").read_text(encoding="utf-8").splitlines()
    opened = [line[1:] for before, line in zip(lines, lines[1:], strict=False) if before == "@800200"]
    assert opened == list(waves.GROUPS) and opened[0] == "fetch" and opened[-1] == "commit"


def test_operations_types_states_and_faults_are_shown_by_name(recorded):
    operations = names_seen(recorded, "core.scheduler.reorder.retire__payload.operation")
    assert "TADD" in operations[operations.index("TEXPANDS") :]
    assert "FP16" in names_seen(recorded, "core.decoder.o__payload.data_type")
    assert "TILE_UNREADABLE" in names_seen(recorded, "core.scheduler.reorder.retire__payload.rule")
    assert names_seen(recorded, "core.scheduler.reorder.retire__payload.kind")[-1] == "FAULT"
    assert {"RUN", "FLUSH", "RESTORE", "RECORD", "HALTED"} <= set(names_seen(recorded, "core.scheduler.reorder.state"))
    assert names_seen(recorded, "core.load.fsm_state")[-2:] == ["FLUSH", "RUN"]
    assert names_seen(recorded, "core.store.fsm_state")[0] == "REST"


def test_the_window_opens_where_the_program_starts(recorded):
    start = next(int(time) for time, value in waves.signals(recorded)["program_start"].tv if str(value) == "1")
    assert f"[timestart] {start}\n" in recorded.with_suffix(".gtkw").read_text(encoding="utf-8") and start > 0


def test_names_come_from_the_tables():
    assert waves.TABLES["type"][data_type("BF16").code] == "BF16"
    assert {code: waves.TABLES["rule"][code] for code in map(int, Rule)} == {int(rule): rule.name for rule in Rule}
    assert waves.TABLES["operation"] == {row.number: row.name for row in OPERATIONS}
