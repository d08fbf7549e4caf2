"""What a slot has to answer, from Berkeley SoftFloat, MPFR, ml_dtypes and Python integers: nothing of the project's arithmetic.

Only facts about the types come from the ISA tables. Results are ``(code, invalid, overflow)``.
"""

import bisect
import math
from fractions import Fraction
from functools import cache

import gmpy2
import ml_dtypes
import numpy
import softfloatpy

from linxtile.isa.types import DataType, Kind

# Format -> the SoftFloat format that holds its bits, shifted left by so much.
EMBEDDED = {
    "FP64": ("64", 0), "FP32": ("32", 0), "TF32": ("32", 0), "HF32": ("32", 0), "BF16": ("32", 16), "FP16": ("16", 0),
    "E5M2": ("16", 8),
}  # fmt: skip
NUMPY = {"16": (numpy.uint16, numpy.float16), "32": (numpy.uint32, numpy.float32), "64": (numpy.uint64, numpy.float64)}
# Format -> precision and largest exponent in MPFR's terms (significand from 0.5 to 1).
MPFR = {"TF32": (11, 128), "HF32": (12, 128), "BF16": (8, 128), "E5M2": (3, 16)}


def live(row: DataType, code: int) -> int:
    """Return the element with its dead bits dropped."""
    return code & row.storage_mask & -(1 << row.dead_bits)


def _softfloat(row: DataType, code: int):
    name, shift = EMBEDDED[row.name]
    return getattr(softfloatpy, f"Float{name}").from_bytes((live(row, code) << shift).to_bytes(int(name) // 8, "big"))


def value(row: DataType, code: int) -> float:
    """Return the number that a code stands for; every format here fits Python's float."""
    if row.name == "E4M3":
        return float(numpy.uint8(code).view(ml_dtypes.float8_e4m3fn))
    name, shift = EMBEDDED[row.name]
    unsigned, real = NUMPY[name]
    return float(unsigned(live(row, code) << shift).view(real))


def is_signalling(row: DataType, code: int) -> bool:
    return row.name in EMBEDDED and bool(_softfloat(row, code).is_signaling_nan())


def _encode(row: DataType, number: float) -> int:
    name, shift = EMBEDDED[row.name]
    unsigned, real = NUMPY[name]
    return int(real(number).view(unsigned)) >> shift


@cache
def _e4m3_codes() -> tuple[list[Fraction], list[int]]:
    """Every finite magnitude in order."""
    codes = list(range(0x7F))
    values = [Fraction(float(numpy.uint8(code).view(ml_dtypes.float8_e4m3fn))) for code in codes]
    assert values == sorted(values)
    return values, codes


def _nearest_e4m3(exact: Fraction) -> tuple[int, bool]:
    """Return the nearest code, ties to the even one, and whether the result is too large."""
    values, codes = _e4m3_codes()
    magnitude, sign = abs(exact), 0x80 if exact < 0 else 0
    step = values[-1] - values[-2]
    if magnitude > values[-1] + step / 2 or (magnitude == values[-1] + step / 2 and codes[-1] & 1):
        return 0x7F, True
    above = min(bisect.bisect_left(values, magnitude), len(values) - 1)
    near = [(abs(values[index] - magnitude), codes[index] & 1, index) for index in (max(above - 1, 0), above)]
    return codes[min(near)[2]] | sign, False


def _sum(row: DataType, a: int, b: int) -> tuple[int, int, int]:
    x, y = value(row, a), value(row, b)
    invalid = int(is_signalling(row, a) or is_signalling(row, b))
    if math.isnan(x) or math.isnan(y):
        return row.canonical_nan, invalid, 0
    if math.isinf(x) and math.isinf(y) and x != y:
        return row.canonical_nan, 1, 0
    if math.isinf(x) or math.isinf(y):
        return live(row, a if math.isinf(x) else b), 0, 0
    if row.name == "E4M3":
        if Fraction(x) + Fraction(y) == 0:
            both_negative = math.copysign(1, x) < 0 and math.copysign(1, y) < 0
            return 0x80 if both_negative else 0, 0, 0
        code, overflow = _nearest_e4m3(Fraction(x) + Fraction(y))
        return code, 0, int(overflow)
    if row.name in MPFR:
        precision, emax = MPFR[row.name]
        emin = 4 - emax - precision
        with gmpy2.context(precision=precision, emax=emax, emin=emin, subnormalize=True) as context:
            result = gmpy2.add(gmpy2.mpfr(x), gmpy2.mpfr(y))
            return _encode(row, float(result)), 0, int(context.overflow)
    softfloatpy.set_exception_flags(0)
    softfloatpy.set_rounding_mode(softfloatpy.RoundingMode.NEAR_EVEN)
    soft_a = _softfloat(row, a)
    result = type(soft_a).add(soft_a, _softfloat(row, b))
    overflow = softfloatpy.test_exception_flags(softfloatpy.ExceptionFlag.OVERFLOW)
    return int.from_bytes(result.to_bytes(), "big"), 0, int(bool(overflow))


def _read(row: DataType, a: int) -> tuple[int, int, int]:
    """Read one operand as arithmetic does."""
    return (row.canonical_nan if math.isnan(value(row, a)) else live(row, a)), int(is_signalling(row, a)), 0


def _select(row: DataType, a: int, b: int, *, largest: bool) -> tuple[int, int, int]:
    invalid = int(is_signalling(row, a) or is_signalling(row, b))
    numbers = [(code, value(row, code)) for code in (a, b) if not math.isnan(value(row, code))]
    if not numbers:
        return row.canonical_nan, invalid, 0
    chosen = (max if largest else min)(numbers, key=lambda pair: (pair[1], math.copysign(1, pair[1])))[0]
    return live(row, chosen), invalid, 0


def _float(operation: str, row: DataType, a: int, b: int | None) -> tuple[int, int, int]:
    if operation == "COPY":
        return a & row.storage_mask, 0, 0
    if operation == "ABS":
        return a & row.storage_mask & ~row.sign_bit, 0, 0
    if operation == "NEG":
        return a & row.storage_mask ^ row.sign_bit, 0, 0
    if operation == "RELU":
        code, invalid, _ = _read(row, a)
        number = value(row, a)
        return (code if math.isnan(number) or number > 0 else 0), invalid, 0
    if b is None:
        return _read(row, a)
    if operation == "ADD":
        return _sum(row, a, b)
    if operation == "SUB":
        # Turning the sign of b keeps what kind of NaN it is.
        return _sum(row, a, b ^ row.sign_bit)
    return _select(row, a, b, largest=operation == "MAX")


def _integer(operation: str, row: DataType, a: int, b: int | None) -> int:
    bits = row.storage_bits

    def number(code: int) -> int:
        code &= row.storage_mask
        return code - (1 << bits) if row.kind is Kind.SIGNED and code >> (bits - 1) else code

    x = number(a)
    one_operand = {"COPY": x, "NOT": ~x, "NEG": -x, "ABS": abs(x), "RELU": max(x, 0)}
    if operation in one_operand:
        return one_operand[operation] & row.storage_mask
    if b is None:
        return a & row.storage_mask
    y = number(b)
    count = y % bits
    two_operands = {
        "ADD": x + y, "SUB": x - y, "MAX": max(x, y), "MIN": min(x, y), "AND": x & y, "OR": x | y, "XOR": x ^ y,
        "SHL": x << count, "SHR": x >> count,
    }  # fmt: skip
    return two_operands[operation] & row.storage_mask


def expected(operation: str, row: DataType, a: int, b: int | None) -> tuple[int, int, int]:
    """Return code and flags of a slot's operation; ``b`` is None when it is not present."""
    if row.is_integer:
        return _integer(operation, row, a, b), 0, 0
    return _float(operation, row, a, b)
