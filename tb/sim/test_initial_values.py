"""Initial values of memories as loops: the same contents, and what is no such memory stays as it is."""

import re

import pytest

from linxtile_sim.initial_values import SHORTEST, with_loops


def memory(values, name="storage", first=0):
    """Return the module with one memory as Yosys writes it."""
    places = "".join(f"    {name}[{place}] = 8'h{value:02x};\n" for place, value in enumerate(values, first))
    return f"module part(clk);\n  reg [7:0] {name} [63:0];\n  initial begin\n{places}  end\nendmodule\n"


def contents(text):
    """Return place and value of every assignment in the initial blocks, loops played through."""
    found = {}
    for count, name, value in re.findall(r"for \(\w+ = 0; \w+ < (\d+); .*\n +(\S+)\[\w+\] = (\S+);", text):
        found |= {(name, place): value for place in range(int(count))}
    found |= {(name, int(place)): value for name, place, value in re.findall(r"(\S+)\[(\d+)\] = (\S+);", text)}
    return found


@pytest.mark.parametrize("value", [0, 7])
def test_a_memory_with_one_value_becomes_a_loop(value):
    text = memory([value] * 64)
    short = with_loops(text)
    assert short.count("for (") == 1 and len(short) < len(text) / 5
    assert contents(short) == contents(text) and len(contents(text)) == 64


def test_every_loop_has_a_variable_of_its_own():
    short = with_loops(memory([0] * 64) + memory([1] * 64, "other"))
    variables = re.findall(r"integer (\w+);", short)
    assert len({*variables}) == 2


@pytest.mark.parametrize(
    "text",
    [
        memory([*range(64)]),
        memory([0] * 63 + [1]),
        memory([0] * (SHORTEST - 1)),
        memory([0] * 32, first=1),
        memory([0] * 32).replace("storage[3]", "other[3]"),
    ],
    ids=["a table", "one that differs", "a short one", "not from the start", "two memories"],
)
def test_anything_else_stays(text):
    assert with_loops(text) == text
