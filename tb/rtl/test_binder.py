# amaranth: UnusedElaboratable=no
"""Binder: what it refuses to be built for. How it binds is tested in test_scheduler.py, with the ring it belongs to."""

import re

import pytest

from linxtile.config import PRESETS, RTL_PRESETS, CoreConfig
from linxtile.isa.operations import OPERATIONS
from linxtile_rtl.bind_rules import OPERANDS, by_shape
from linxtile_rtl.binder import Binder


def test_an_operation_with_operands_that_cannot_be_bound_is_refused():
    with pytest.raises(ValueError, match=re.escape("operations: TADDC has operands that cannot be bound")):
        Binder(config=CoreConfig(operations={"TADDC": frozenset({"FP32"})}))


@pytest.mark.parametrize("preset", RTL_PRESETS)
def test_every_operation_of_a_preset_has_described_operands(preset):
    numbers = by_shape(PRESETS[preset])
    names = {OPERATIONS[number].name for group in numbers.values() for number in group}
    assert names == set(PRESETS[preset].operations)
    for shape, group in numbers.items():
        assert all(OPERATIONS[number].shape is shape for number in group)
        assert shape in OPERANDS
