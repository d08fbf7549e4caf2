"""The sweep over all operands of the exponential and the logarithm of 32-bit types, part by part."""

import exp_log_sweep as sweep
import gmpy2
import numpy as np
import pytest
from number_oracles import finished, mpfr_context

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


def listed():
    """Return the rows of the table: type, function, operand, result."""
    lines = sweep.TABLE.read_text(encoding="utf-8").splitlines()
    rows = [line.replace("`", "").split("|") for line in lines if line.startswith("| ")][1:]
    return [(row[1].strip(), row[2].strip(), int(row[3], 16), int(row[4], 16)) for row in rows]


def test_the_hardest_cases_are_rounded_as_listed_and_as_mpfr_rounds_them():
    for name, function, operand, result in listed():
        value = gmpy2.mpfr(float(np.uint32(operand).view(np.float32)))
        with mpfr_context(name):
            assert finished(sweep.FUNCTIONS[function][1](value), name)[0] == result
        got, _ = getattr(arithmetic(data_type(name)), function)(np.array([operand], np.uint32))
        assert got.tolist() == [result], (name, function, hex(operand))


def test_a_wrong_result_is_named(monkeypatch):
    row = data_type("TF32")

    class Wrong:
        def exponential(self, codes):
            results, flags = arithmetic(row).exponential(codes)
            return np.where(codes == 0x3F802000, results + np.uint32(1 << row.dead_bits), results), flags

    monkeypatch.setattr(sweep, "arithmetic", lambda *_, **__: Wrong())
    with pytest.raises(AssertionError, match="exponential TF32: 0x3f802000 gives 0x402e4000, not 0x402e2000"):
        sweep.check(sweep.Part("TF32", "exponential", 0))
