# amaranth: UnusedElaboratable=no
"""The core as a whole: which configurations it is built for."""

import pytest

from linxtile.config import PRESETS, RTL_PRESETS
from linxtile_rtl.core import TileCore

SMALL = PRESETS["small"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"operations": {"TADD": {"S8", "BF16"}}}, "operations: the core does not run TADD on BF16"),
        ({"operations": {"TMUL": {"FP32"}}}, "operations: the core does not run TMUL on FP32"),
        ({"move_layouts": frozenset({"NORM", "ND2ZZ"})}, "move_layouts: the core does not move in layout ND2ZZ"),
        (
            {"vector_bytes": 64, "axi_data_bytes": 64, "move_layouts": frozenset({"NORM", "DN2ZN"})},
            "move_layouts: the core moves in layout DN2ZN only when vector_bytes is at most 32, not 64",
        ),
    ],
)
def test_a_configuration_beyond_the_engines_is_refused(changes, message):
    with pytest.raises(ValueError) as refused:
        TileCore(config=SMALL.replace(**changes))
    assert str(refused.value) == message


@pytest.mark.parametrize("preset", RTL_PRESETS)
def test_every_preset_has_a_core(preset):
    assert TileCore(config=PRESETS[preset]).signature is not None
