"""The sweep over all operands of the exponential and the logarithm of 32-bit types, part by part."""

import exp_log_sweep as sweep
import numpy as np
import pytest

from linxtile.isa.types import data_type
from linxtile.numerics import arithmetic


@pytest.mark.slow
@pytest.mark.parametrize("part", sweep.parts(), ids=lambda part: "-".join(map(str, part)))
def test_all_operands_give_the_correctly_rounded_result(part):
    sweep.check(part)


@pytest.mark.parametrize("function", sweep.FUNCTIONS)
def test_a_block_around_one_gives_the_correctly_rounded_result(function, monkeypatch):
    monkeypatch.setattr(sweep, "PART_BITS", sweep.BLOCK_BITS)
    for start in (0x3F800000, 0xBF800000, 0x42B00000):
        sweep.check(sweep.Part("FP32", function, start >> sweep.BLOCK_BITS))


def test_a_wrong_result_is_named(monkeypatch):
    row = data_type("TF32")

    class Wrong:
        def exponential(self, codes):
            results, flags = arithmetic(row).exponential(codes)
            return np.where(codes == 0x3F802000, results + np.uint32(1 << row.dead_bits), results), flags

    monkeypatch.setattr(sweep, "arithmetic", lambda *_, **__: Wrong())
    with pytest.raises(AssertionError, match="exponential TF32: 0x3f802000 gives 0x402e4000, not 0x402e2000"):
        sweep.check(sweep.Part("TF32", "exponential", 0))
