"""The pages of operations: examples give the same bytes on the machine as by the call, and faults are those listed."""

import random

import pytest

from linxtile import Machine
from linxtile.asm_block import NewTile, TileName
from linxtile.config import PRESETS
from linxtile.fetch import words_image
from linxtile.isa.codes import Destination, Layout, PadValue, Queue
from linxtile.isa.operations import OPERATIONS, operation
from linxtile.isa.support import MODEL_OPERATIONS
from linxtile.isa.types import DATA_TYPES
from linxtile.isa.words import encode_word
from linxtile_docs.fault_list import general_rules, specific_rules
from linxtile_docs.operation_page import operation_page
from linxtile_docs.program import line
from linxtile_docs.worked import differences, worked

NAMES = [row.name for row in OPERATIONS]
BLOCKS_AN_OPERATION = 12


@pytest.mark.parametrize("name", sorted(MODEL_OPERATIONS))
def test_the_machine_gives_the_bytes_and_flags_of_the_call(name):
    assert differences(worked(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_has_a_page_with_its_meaning_and_its_words(name):
    page = operation_page(operation(name))
    assert page.startswith(f"# {name}\n")
    assert f"`{operation(name).semantics}`" in page
    assert f"`BSTART.{operation(name).engine.name} {name}" in page
    assert ("## Example" in page) == (name in MODEL_OPERATIONS)


def test_an_example_shows_codes_and_flags():
    page = operation_page(operation("TADDS"))
    # IEEE 754 half precision: 1.5 + 2 = 3.5, and 65504 + 2 lies nearer to 65504 than to 65536.
    assert "3.5 `0x4300`" in page
    assert "Flags raised: none." in page


def test_the_example_of_division_names_its_results():
    # -1 / 3 in half precision is 0xB555, 1 / 0 is infinity with DZ, 0 / 0 is NaN with NV: IEEE 754.
    page = operation_page(operation("TDIV"))
    assert "-0.333252 `0xB555`" in page
    assert "inf `0x7C00` | nan `0x7E00`" in page
    assert "Flags raised: `NV`, `DZ`." in page


def test_an_example_explains_a_rounding():
    # 1 + 2**-11 lies half way between 1 and the next number of half precision, 1 + 2**-10.
    page = operation_page(operation("TADD"))
    assert "The element in row 1, column 2:" in page
    assert "half way from 0x3c00 = 1 to 0x3c01 = 1.0009765625; RNE takes the lower" in page


def _random_block(row, rng):
    """Return a block of an operation with some wrong things in it."""
    types = [rng.choice(row.source_types)] if row.source_types and rng.random() < 0.9 else []
    if row.second_types and rng.random() < 0.7:
        types.append(rng.choice(row.second_types if rng.random() < 0.8 else [entry.name for entry in DATA_TYPES]))
    count = rng.randint(row.min_sources, row.max_sources) if rng.random() < 0.9 else rng.randint(0, 8)
    sources = tuple(TileName(Queue.T, rng.randint(1, 9)) for _ in range(count))
    most = max(row.min_destinations, min(row.max_destinations, 3))
    queue = Destination.ACC if row.writes_acc and rng.random() < 0.9 else rng.choice([Destination.U, Destination.ACC])
    targets = tuple(NewTile(queue, rng.randint(3, 12)) for _ in range(rng.randint(row.min_destinations, most)))
    registers = tuple(range(2, 2 + rng.randint(row.min_scalars, max(row.max_scalars, 1))))
    dimensions = tuple(rng.choice([0, 1, 2, 3, 16, 16, 32, 64]) for _ in row.dimensions)
    fields = {"pad": rng.choice(list(PadValue)), "compare": rng.choice([0, 2, 6])}
    if row.layouts:
        fields["layout"] = rng.choice([*row.layouts, Layout.ZZ2ND])
    # Types stand in their places: without the first one there is no second one in a line.
    types = types if row.source_types and types and types[0] in row.source_types else []
    return line(row, tuple(types), dimensions, sources=sources, destinations=targets, registers=registers, **fields)


def _machine():
    """Return a machine with eight tiles of 1 KiB on T and memory whose second half fails."""
    machine = Machine(PRESETS["reference"])
    machine.memory.set_error_pages([0x9000])
    setup = [line(operation("TLOAD"), ("FP32",), (16, 16, 16), registers=(2,), destinations=(_TILE,))] * 8
    return machine, [word for block in setup for word in block.words()]


_TILE = NewTile(Destination.T, 6)


@pytest.mark.parametrize("name", NAMES)
def test_a_block_breaks_no_rule_that_its_page_does_not_list(name):
    row = operation(name)
    listed = {entry.rule for entry in (*specific_rules(row), *general_rules())}
    for seed in range(BLOCKS_AN_OPERATION):
        rng = random.Random(f"{name} {seed}")
        machine, setup = _machine()
        machine.gprs[2] = rng.choice([0x4000, 0x8FF0])
        machine.gprs[3] = rng.choice([4, 64, 0])
        words = [*setup, *_random_block(row, rng).words(), (encode_word("BSTOP"), 32)]
        machine.load(words_image(words), 0x100)
        machine.gprs[2] = 0x4000
        result = machine.run()
        assert result.fault is None or result.fault.rule in listed, result.fault
