"""``linxtile ops``: what is said of moves."""

import json

import pytest

from linxtile.cli import main
from linxtile.isa.operations import operation


def printed(capsys, *arguments):
    assert main(["ops", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", ["TLOAD", "TSTORE", "TMOV"])
def test_model_and_rtl_run_moves_in_every_layout_on_every_type(name, capsys):
    lines = printed(capsys, name).splitlines()
    (layouts,) = [line.strip() for line in lines if line.strip().startswith("layouts:")]
    assert layouts == "layouts: " + ", ".join(f"{layout.name} B" for layout in operation(name).layouts)
    tiles = [line.strip() for line in lines if line.strip().startswith("tiles:")]
    assert tiles == ([] if name == "TMOV" else ["tiles: up to 8 in the model, 8 in the RTL"])
    table = json.loads(printed(capsys, name, "--json"))[name]
    assert set(table) == set(operation(name).source_types)
    assert all(runs == {"model": True, "rtl": True} for runs in table.values())


def test_a_configuration_with_fewer_layouts_says_so(capsys):
    text = printed(capsys, "TLOAD", "--config", "large")
    assert "layouts: NORM B, ND2ZN M, ND2NZ M, DN2ZN M, DN2NZ M" in text


def test_an_operation_without_a_choice_of_layouts_shows_none(capsys):
    assert "layouts" not in printed(capsys, "TADD")
