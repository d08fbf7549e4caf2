"""What arithmetic must give, by other people's libraries: MPFR, Berkeley SoftFloat, and the tables of the ISA's pages.

Nothing here uses the model's arithmetic. The one thing taken from it is the value of a code (`linxtile.values.decode`),
which `test_values.py` compares with gfloat, ml_dtypes and numpy.
"""

from fractions import Fraction
from typing import NamedTuple

import gmpy2
import softfloatpy as softfloat

from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import data_type
from linxtile.values import Class, decode


class Format(NamedTuple):
    """A fixed-field float as the pages print it; ``infinity`` and ``nan`` are container codes."""

    precision: int
    bias: int
    largest: Fraction
    sign_bit: int
    infinity: int | None
    nan: int | None
    dead_bits: int = 0


def _power(exponent):
    return Fraction(2) ** exponent


FORMATS = {
    "FP64": Format(53, 1023, 9007199254740991 * _power(971), 1 << 63, 0x7FF0000000000000, 0x7FF8000000000000),
    "FP32": Format(24, 127, 16777215 * _power(104), 1 << 31, 0x7F800000, 0x7FC00000),
    "TF32": Format(11, 127, 2047 * _power(117), 1 << 31, 0x7F800000, 0x7FC00000, 13),
    "HF32": Format(12, 127, 4095 * _power(116), 1 << 31, 0x7F800000, 0x7FC00000, 12),
    "FP16": Format(11, 15, Fraction(65504), 1 << 15, 0x7C00, 0x7E00),
    "BF16": Format(8, 127, 255 * _power(120), 1 << 15, 0x7F80, 0x7FC0),
    "E4M3": Format(4, 7, Fraction(448), 1 << 7, None, 0x7F),
    "E5M2": Format(3, 15, Fraction(57344), 1 << 7, 0x7C, 0x7E),
    "E3M2": Format(3, 3, Fraction(28), 1 << 5, None, None),
    "E2M3": Format(4, 1, Fraction(15, 2), 1 << 5, None, None),
    "E2M1x2": Format(2, 1, Fraction(6), 1 << 3, None, None),
    "E1M2x2": Format(3, 1, Fraction(7, 4), 1 << 3, None, None),
    "HiF4x2": Format(3, 1, Fraction(7, 4), 1 << 3, None, None),
}
COMPUTING = ("FP64", "FP32", "TF32", "HF32", "FP16", "BF16", "E4M3", "E5M2")
INTEGERS = ("S64", "S32", "S16", "S8", "U64", "U32", "U16", "U8")

MPFR_MODES = {
    RoundingMode.RNE: gmpy2.RoundToNearest, RoundingMode.RTZ: gmpy2.RoundToZero,
    RoundingMode.RDN: gmpy2.RoundDown, RoundingMode.RUP: gmpy2.RoundUp,
}  # fmt: skip


def mpfr_context(name, rounding=RoundingMode.RNE):
    """Return a context that rounds to the precision and the subnormals of a format, with exponents to spare upward."""
    form = FORMATS[name]
    lowest, highest = 3 - form.bias - form.precision, 2200
    return gmpy2.context(
        precision=form.precision, emin=lowest, emax=highest, subnormalize=True, round=MPFR_MODES[rounding]
    )


def exact(code, name):
    """Return the value of a finite code for MPFR."""
    return gmpy2.mpq(decode(code, data_type(name)).signed)


def code_of(value, name):
    """Return the code of an MPFR number that the format can hold, or could with a larger exponent."""
    form = FORMATS[name]
    sign = form.sign_bit if gmpy2.is_signed(value) else 0
    if gmpy2.is_nan(value):
        return form.nan
    if gmpy2.is_infinite(value):
        return form.infinity | sign
    if value == 0:
        return sign
    magnitude = abs(Fraction(*value.as_integer_ratio()))
    mantissa, scale = (int(part) for part in value.as_mantissa_exp())
    exponent = max(scale + mantissa.bit_length() - 1, 1 - form.bias)
    steps = magnitude / _power(exponent - form.precision + 1)
    assert steps.denominator == 1
    return (int(steps) + ((exponent + form.bias - 1) << (form.precision - 1)) << form.dead_bits) | sign


def finished(value, name):
    """Return code and flags of a finite MPFR result rounded to nearest: overflow, MPFR's own too, as the format has it."""
    form = FORMATS[name]
    if gmpy2.is_infinite(value) or abs(Fraction(*value.as_integer_ratio())) > form.largest:
        if form.infinity is None:
            return form.nan, Flag.OF
        return form.infinity | (form.sign_bit if value < 0 else 0), Flag.OF
    return code_of(value, name), NO_FLAG


def nearest(value, name, negative_zero=False):
    """Return code and flags of an exact rational rounded to nearest, ties to even; the sign of an exact zero is given."""
    if value == 0:
        return FORMATS[name].sign_bit if negative_zero else 0, NO_FLAG
    with mpfr_context(name):
        return finished(gmpy2.mpfr(value), name)


SOFT_KINDS = {"FP16": softfloat.Float16, "FP32": softfloat.Float32, "FP64": softfloat.Float64}
_SOFT_FLAGS = {
    softfloat.ExceptionFlag.INVALID: Flag.NV,
    softfloat.ExceptionFlag.INFINITE: Flag.DZ,
    softfloat.ExceptionFlag.OVERFLOW: Flag.OF,
}


def soft_number(code, name):
    """Return a code as a SoftFloat number."""
    return SOFT_KINDS[name].from_bytes(code.to_bytes(data_type(name).storage_bits // 8, "big"))


def soft(function, *arguments):
    """Call a SoftFloat function and return its raw result with the flags that it raised."""
    softfloat.set_exception_flags(softfloat.ExceptionFlag(0))
    result = function(*arguments)
    raised = softfloat.get_exception_flags()
    flags = NO_FLAG
    for bit, flag in _SOFT_FLAGS.items():
        flags |= flag if raised & bit else NO_FLAG
    return result, flags


def soft_code(number, name):
    """Return the code of a SoftFloat number, the canonical one of a NaN."""
    return FORMATS[name].nan if number.is_nan() else int.from_bytes(number.to_bytes(), "big")


def soft_operation(operation, name, *codes):
    """Run ``f16_add`` and the like on codes."""
    function = getattr(softfloat, f"f{data_type(name).storage_bits}_{operation}")
    result, flags = soft(function, *(soft_number(code, name) for code in codes))
    return (result if isinstance(result, bool) else soft_code(result, name)), flags


def specials(name, *codes):
    """Return the answer to NaN operands by rules 1.4 and 12, or None without a NaN."""
    kinds = [decode(code, data_type(name)).kind for code in codes]
    if Class.SIGNALLING_NAN in kinds:
        return FORMATS[name].nan, Flag.NV
    return (FORMATS[name].nan, NO_FLAG) if Class.NAN in kinds else None
