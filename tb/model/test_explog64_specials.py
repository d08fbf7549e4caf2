"""Special operands of the FP64 exponential and logarithm, and the flags that they raise."""

import numpy as np
import pytest

from linxtile.explog64 import exp64, exp64_array, log64, log64_array
from linxtile.flags import NO_FLAG, Flag

ZERO, ONE, INFINITY, NAN = 0, 0x3FF0_0000_0000_0000, 0x7FF0_0000_0000_0000, 0x7FF8_0000_0000_0000
NEGATIVE = 1 << 63
SIGNALLING, QUIET = 0x7FF0_0000_0000_0001, 0x7FFC_0000_0000_0123
LEAST, LARGEST = 1, INFINITY - 1
LAST_FINITE, FIRST_OVERFLOW = 0x4086_2E42_FEFA_39EF, 0x4086_2E42_FEFA_39F0
"""709.782712893384 and the next number: exponentials on the two sides of the largest finite number."""
LAST_SUBNORMAL, FIRST_VANISHED = 0xC087_4910_D52D_3051, 0xC087_4910_D52D_3052
"""-745.1332191019411 and the next number: exponentials on the two sides of half the least subnormal number."""

EXPONENTIALS = [
    (ZERO, ONE, NO_FLAG),
    (NEGATIVE, ONE, NO_FLAG),
    (LEAST, ONE, NO_FLAG),
    (LEAST | NEGATIVE, ONE, NO_FLAG),
    (INFINITY, INFINITY, NO_FLAG),
    (INFINITY | NEGATIVE, ZERO, NO_FLAG),
    (LARGEST, INFINITY, Flag.OF),
    (LARGEST | NEGATIVE, ZERO, NO_FLAG),
    (FIRST_OVERFLOW, INFINITY, Flag.OF),
    (LAST_SUBNORMAL, LEAST, NO_FLAG),
    (FIRST_VANISHED, ZERO, NO_FLAG),
    (0x4090_0000_0000_0000, INFINITY, Flag.OF),
    (0xC090_0000_0000_0000, ZERO, NO_FLAG),
    (0x408F_FFFF_FFFF_FFFF, INFINITY, Flag.OF),
    (0xC08F_FFFF_FFFF_FFFF, ZERO, NO_FLAG),
    (QUIET, NAN, NO_FLAG),
    (QUIET | NEGATIVE, NAN, NO_FLAG),
    (SIGNALLING, NAN, Flag.NV),
    (SIGNALLING | NEGATIVE, NAN, Flag.NV),
]
LOGARITHMS = [
    (ONE, ZERO, NO_FLAG),
    (ZERO, INFINITY | NEGATIVE, Flag.DZ),
    (NEGATIVE, INFINITY | NEGATIVE, Flag.DZ),
    (INFINITY, INFINITY, NO_FLAG),
    (INFINITY | NEGATIVE, NAN, Flag.NV),
    (ONE | NEGATIVE, NAN, Flag.NV),
    (LEAST | NEGATIVE, NAN, Flag.NV),
    (LARGEST | NEGATIVE, NAN, Flag.NV),
    (QUIET, NAN, NO_FLAG),
    (QUIET | NEGATIVE, NAN, NO_FLAG),
    (SIGNALLING, NAN, Flag.NV),
    (SIGNALLING | NEGATIVE, NAN, Flag.NV),
]


@pytest.mark.parametrize(("code", "result", "flags"), EXPONENTIALS)
def test_the_exponential_of_a_special_operand(code, result, flags):
    assert exp64(code) == (result, flags)
    assert exp64_array(np.array([code], np.uint64)) == (result, flags)


def test_the_last_finite_exponential_raises_nothing():
    code, flags = exp64(LAST_FINITE)
    assert code < INFINITY
    assert flags == NO_FLAG


@pytest.mark.parametrize(("code", "result", "flags"), LOGARITHMS)
def test_the_logarithm_of_a_special_operand(code, result, flags):
    assert log64(code) == (result, flags)
    assert log64_array(np.array([code], np.uint64)) == (result, flags)


@pytest.mark.parametrize("function", [exp64, log64])
@pytest.mark.parametrize("code", [-1, 1 << 64])
def test_a_code_that_does_not_fit_is_refused(function, code):
    with pytest.raises(ValueError, match=f"an FP64 code must be from 0 to 0xffffffffffffffff, not {code:#x}"):
        function(code)
