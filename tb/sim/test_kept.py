"""Verilog that is kept: made once for each key, and only for what the key describes."""

from functools import partial

import pytest
from amaranth.lib import wiring

from linxtile.config import PRESETS
from linxtile_rtl.vector.engine import VectorEngine
from linxtile_sim import kept
from linxtile_sim.kept import kept_verilog
from linxtile_sim.unit import run_unit


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(kept, "BUILD", tmp_path)


def test_a_text_is_made_once_for_each_key():
    made = []

    def make():
        made.append(f"module {len(made)};")
        return made[-1]

    texts = [kept_verilog("part", key, make) for key in ("a", "b", "a", "b")]
    assert texts == ["module 0;", "module 1;", "module 0;", "module 1;"] and len(made) == 2


def test_another_source_makes_another_text(monkeypatch):
    assert kept_verilog("part", "a", lambda: "before") == "before"
    monkeypatch.setattr(kept, "_sources", lambda: b"changed")
    assert kept_verilog("part", "a", lambda: "after") == "after"


def test_what_fails_is_not_kept():
    with pytest.raises(ZeroDivisionError):
        kept_verilog("part", "a", lambda: str(1 / 0))
    assert kept_verilog("part", "a", lambda: "text") == "text"


class Elsewhere(wiring.Component):
    def __init__(self, config):
        super().__init__({})


@pytest.mark.parametrize(
    ("unit", "message"),
    [
        (partial(VectorEngine, PRESETS["small"]), "the only parameter of a unit that is kept"),
        (partial(VectorEngine, config=PRESETS["small"], more=1), "the only parameter of a unit that is kept"),
        (partial(VectorEngine), "the only parameter of a unit that is kept"),
        (partial(Elsewhere, config=PRESETS["small"]), "a unit that is kept must be part of linxtile_rtl"),
    ],
)
def test_only_the_configuration_may_decide_what_a_kept_unit_is(unit, message):
    with pytest.raises(ValueError, match=message):
        run_unit(unit, __file__)
