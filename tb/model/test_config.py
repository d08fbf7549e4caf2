"""Configurations from TOML files: what is not allowed is told with file, parameter and value."""

import pickle

import pytest

from linxtile.config import PRESETS, RTL_PRESETS, CoreConfig
from linxtile.isa.support import MODEL_OPERATIONS, RTL_LAYOUTS, RTL_MOVE_TILES, RTL_OPERATIONS

REFUSED = {
    "a preset that is a list": (
        'preset = ["small"]',
        "preset must be one of small, default, large, reference, not ['small']",
    ),
    "an unknown parameter": ("tiles = 4", "'tiles' is no parameter; there are "),
    "operations without types": ("operations = {TADD = 5}", "operations.TADD must be a list of names, not 5"),
    "a type that is no list": ('operations = {TADD = "S8"}', "operations.TADD must be a list of names, not 'S8'"),
    "a list of lists": ('operations = {TADD = [["S8"]]}', "operations.TADD must be a list of names, not [['S8']]"),
    "operations as a number": ("operations = 5", "operations must be a table of type lists, not 5"),
    "an unknown operation": ('operations = {TFOO = ["S8"]}', "operation 'TFOO' is not in the operation table"),
    "a type the operation lacks": ('operations = {TADD = ["E3M2"]}', "operations: TADD has no element type 'E3M2'"),
    "layouts as a number": ("move_layouts = 5", "move_layouts must be a list of names, not 5"),
    "a layout that is no list": ('move_layouts = "NORM"', "move_layouts must be a list of names, not 'NORM'"),
    "an unknown layout": ('move_layouts = ["FOO"]', "move_layouts must be names of layouts such as NORM, not 'FOO'"),
    "a number in quotes": ('vector_bytes = "8"', "vector_bytes must be an integer, not '8'"),
    "a truth value": ("vector_bytes = true", "vector_bytes must be an integer, not True"),
    "a negative wait": ("watchdog_cycles = -1", "watchdog_cycles must be 0 to 2147483647, not -1"),
    "a wait beyond the counter": (
        "watchdog_cycles = 2147483648",
        "watchdog_cycles must be 0 to 2147483647, not 2147483648",
    ),
    "a wait in quotes": ('watchdog_cycles = "300"', "watchdog_cycles must be an integer, not '300'"),
    "unequal widths": ("vector_bytes = 8", "axi_data_bytes must equal vector_bytes (8), not 16"),
    "no TOML": ("= =", "Invalid statement"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_asks_for_something_impossible_is_refused(name, tmp_path):
    text, expected = REFUSED[name]
    file = tmp_path / "core.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as refused:
        CoreConfig.named(str(file))
    assert str(refused.value).startswith(f"{file}: {expected}")


def test_a_file_changes_parameters_of_its_preset_and_nothing_else(tmp_path):
    file = tmp_path / "core.toml"
    file.write_text('preset = "small"\nname = "mine"\nbanks = 4\noperations = {TADD = ["S8"]}\n', encoding="utf-8")
    expected = PRESETS["small"].replace(name="mine", banks=4, operations={"TADD": frozenset({"S8"})})
    assert CoreConfig.named(str(file)) == expected


@pytest.mark.parametrize("cycles", [0, 1, 300, (1 << 31) - 1])
def test_a_file_sets_the_cycles_of_the_watchdog(cycles, tmp_path):
    file = tmp_path / "core.toml"
    file.write_text(f"watchdog_cycles = {cycles}\n", encoding="utf-8")
    assert CoreConfig.named(str(file)) == PRESETS["default"].replace(watchdog_cycles=cycles)


def test_the_watchdog_is_on_unless_a_configuration_switches_it_off():
    assert all(config.watchdog_cycles == 65536 for config in PRESETS.values())


def test_the_reference_is_the_default_core_with_every_operation_of_the_model():
    reference = PRESETS["reference"]
    layouts = {"NORM", "ND2NZ", "ND2ZN", "DN2NZ", "DN2ZN", "NZ2ND", "NZ2DN", "ZN2ND", "ZN2DN"}
    assert reference == PRESETS["default"].replace(
        name="reference", operations=MODEL_OPERATIONS, move_tiles=8, move_layouts=frozenset(layouts)
    )


@pytest.mark.parametrize("name", RTL_PRESETS)
def test_the_cores_that_are_built_have_the_operations_of_the_rtl(name):
    assert PRESETS[name].operations == RTL_OPERATIONS
    layouts = {"NORM"} if name == "large" else {layout.name for layout in RTL_LAYOUTS}
    assert (PRESETS[name].move_tiles, PRESETS[name].move_layouts) == (RTL_MOVE_TILES, layouts)


@pytest.mark.parametrize("name", RTL_PRESETS)
def test_operations_stand_in_one_order_whoever_wrote_them_down(name):
    config = PRESETS[name]
    backwards = config.replace(operations=dict(reversed(config.operations.items())))
    for other in (backwards, pickle.loads(pickle.dumps(config))):
        assert list(other.operations) == list(config.operations)
