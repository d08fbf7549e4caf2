"""What the page of numeric rules says in tables and code is what the model does."""

import re
from pathlib import Path

import pytest

from linxtile import Tile, ops
from linxtile.flags import Flag

PAGE = (Path(__file__).parents[2] / "docs" / "numeric_rules.md").read_text(encoding="utf-8")
DIVISIONS = re.findall(r"^\| (-?\d+), (-?\d+) \| (-?\d+) \| (-?\d+) \| (-?\d+) \|$", PAGE, re.MULTILINE)
MODES = re.findall(r"^\| `(R\w\w)` \| .*? \| (-?\d) \| (-?\d) \| (-?\d) \| (-?\d) \| (-?\d) \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("mode, values", [(row[0], row[1:]) for row in MODES], ids=lambda value: str(value))
def test_the_table_of_rounding_modes_holds(mode, values):
    numbers = Tile.from_values([[2.5, -2.5, 3.5, 2.25, -1.25]], "FP32")
    assert ops.TCVT(numbers, "S32", rounding=mode).values()[0].tolist() == [int(value) for value in values]


def test_all_seven_modes_are_in_the_table():
    assert [row[0] for row in MODES] == ["RNE", "RTZ", "RDN", "RUP", "RNA", "RTO", "RHB"]


@pytest.mark.parametrize("row", DIVISIONS, ids=lambda row: f"{row[0]} by {row[1]}")
def test_the_table_of_divisions_holds(row):
    x, y, *wanted = map(int, row)
    first, second = (Tile.from_values([[value]], "S8") for value in (x, y))
    results = [function(first, second).values().item() for function in (ops.TDIV, ops.TREM, ops.TFMOD)]
    assert len(DIVISIONS) == 4
    assert results == wanted


def test_the_code_for_flags_raises_the_flag_it_names():
    (text,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    namespace = {}
    exec(text, namespace)
    assert namespace["flags"].raised == Flag.DZ
    assert "flags.raised     # Flag.DZ" in text
