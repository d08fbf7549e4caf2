"""What a conversion must give: neighbours by MPFR or from the page's tables, the choice between them by the page's rules.

LinxISA v0.56, TCVT: rounding modes, overflow, saturation, special values.
"""

import math
from fractions import Fraction

import gmpy2
from number_oracles import FORMATS, code_of, mpfr_context

from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import RoundingMode
from linxtile.values import Class

RNE, RTZ, RDN, RUP = RoundingMode.RNE, RoundingMode.RTZ, RoundingMode.RDN, RoundingMode.RUP
RNA, RTO, RHB = RoundingMode.RNA, RoundingMode.RTO, RoundingMode.RHB

HIF8_PAGE = """
    0 2^-22 2^-21 2^-20 2^-19 2^-18 2^-17 2^-16        1 1.125 1.25 1.375 1.5 1.625 1.75 1.875
    2 2.25 2.5 2.75 3 3.25 3.5 3.75                    0.5 0.5625 0.625 0.6875 0.75 0.8125 0.875 0.9375
    4 4.5 5 5.5 6 6.5 7 7.5                            8 9 10 11 12 13 14 15
    0.25 0.28125 0.3125 0.34375 0.375 0.40625 0.4375 0.46875
    0.125 0.140625 0.15625 0.171875 0.1875 0.203125 0.21875 0.234375
    16 20 24 28 32 40 48 56                            64 80 96 112 128 160 192 224
    0.0625 0.078125 0.09375 0.109375 0.03125 5*2^-7 0.046875 7*2^-7
    0.015625 5*2^-8 3*2^-7 7*2^-8 2^-7 5*2^-9 3*2^-8 7*2^-9
    256 384 512 768 1024 1536 2048 3072                4096 6144 8192 12288 16384 24576 32768 inf
    2^-8 3*2^-9 2^-9 3*2^-10 2^-10 3*2^-11 2^-11 3*2^-12
    2^-12 3*2^-13 2^-13 3*2^-14 2^-14 3*2^-15 2^-15 3*2^-16
""".split()
"""The values of the HiF8 codes 0x00 to 0x7F, from the page of the type."""


def hif8_value(text):
    """Return the value of an entry of the page: a decimal number, a power of two or a product with one."""
    factor, _, exponent = text.rpartition("2^")
    if not exponent.startswith("-"):
        return Fraction(text)
    return int(factor.rstrip("*") or 1) * Fraction(2) ** int(exponent)


HIF8_CODES = {hif8_value(text): code for code, text in enumerate(HIF8_PAGE) if text != "inf"}
"""Codes of the positive values; 0x6F, infinity, stands for what its fields would be: 1.5 * 2^15."""
HIF8_CODES[Fraction(49152)] = 0x6F
HIF8_VALUES = sorted(HIF8_CODES)

INTEGER_RANGES = {
    f"{kind}{bits}{'x2' if bits == 4 else ''}": (-(1 << bits - 1), (1 << bits - 1) - 1) if kind == "S" else (0, (1 << bits) - 1)
    for kind in "SU" for bits in (64, 32, 16, 8, 4)
}  # fmt: skip


def converted(value, from_integer, name, rounding, saturate):
    """Return code and flags of an exact value (`linxtile.values.Value`) converted to a type."""
    if rounding is RoundingMode.NONE:
        rounding = RTZ if name in INTEGER_RANGES and not from_integer else RNE
    if name in INTEGER_RANGES:
        return _to_integer(value, from_integer, name, rounding, saturate)
    return (_to_scale if name == "E8M0" else _to_float)(value, name, rounding, saturate)


def choose(value, lower, upper, is_odd, rounding):
    """Return the neighbour that a mode takes; ``value`` lies between the two, and is neither unless they are the same."""
    if lower == upper:
        return lower
    if rounding is RTO:
        return lower if is_odd(lower) else upper
    if rounding is RTZ:
        return lower if value > 0 else upper
    if rounding in (RDN, RUP):
        return lower if rounding is RDN else upper
    if value - lower != upper - value:
        return lower if value - lower < upper - value else upper
    if rounding is RNE:
        return upper if is_odd(lower) else lower
    if rounding is RHB:
        return upper
    return upper if value > 0 else lower


def _to_integer(value, from_integer, name, rounding, saturate):
    lowest, highest = INTEGER_RANGES[name]
    mask = highest - lowest
    if value.kind is Class.FINITE:
        exact = value.signed
        result = choose(exact, math.floor(exact), math.ceil(exact), lambda integer: integer % 2 == 1, rounding)
        if lowest <= result <= highest:
            return result & mask, NO_FLAG
        if saturate:
            return (highest if result > 0 else lowest) & mask, NO_FLAG if from_integer else Flag.NV
        if from_integer:
            return result % (mask + 1), NO_FLAG
    elif saturate:
        return 0 if value.is_nan else (lowest if value.negative else highest) & mask, Flag.NV
    return (lowest & mask if lowest else highest), Flag.NV


def _to_scale(value, name, rounding, saturate):
    if value.is_nan or value.negative or (value.kind is Class.FINITE and value.magnitude == 0):
        return 0xFF, Flag.NV
    if value.kind is Class.INFINITY:
        return (0xFE if saturate else 0xFF), NO_FLAG
    with gmpy2.context(precision=1200):
        logarithm = gmpy2.log2(gmpy2.mpfr(value.magnitude.numerator)) - gmpy2.log2(
            gmpy2.mpfr(value.magnitude.denominator)
        )
        lower, upper = int(gmpy2.floor(logarithm)), int(gmpy2.ceil(logarithm))
        exponent = int(choose(logarithm, lower, upper, lambda integer: (integer + 127) % 2 == 1, _positive(rounding)))
    if exponent > 127:
        return (0xFE if saturate else 0xFF), Flag.OF
    if exponent < -127:
        return (0x00 if saturate else 0xFF), NO_FLAG
    return exponent + 127, NO_FLAG


def _positive(rounding):
    """Return what a mode does to the exponent of a positive value: toward zero is down, whatever the exponent's sign."""
    return RDN if rounding is RTZ else rounding


def _to_float(value, name, rounding, saturate):
    if name == "HiF8":
        sign, infinity, nan, largest, largest_code = 0x80, 0x6F, 0x80, Fraction(32768), 0x6E
    else:
        form = FORMATS[name]
        sign, infinity, nan, largest = form.sign_bit, form.infinity, form.nan, form.largest
        largest_code = _fixed_code(largest, name)
    signed = sign if value.negative else 0
    if infinity is not None:
        unlimited = infinity | signed
    else:
        unlimited = largest_code | signed if nan is None else nan
    if value.is_nan:
        return (0, Flag.NV) if nan is None else (nan, Flag.NV if value.kind is Class.SIGNALLING_NAN else NO_FLAG)
    if value.kind is Class.INFINITY:
        return (largest_code | signed if saturate else unlimited), NO_FLAG
    lower, upper = _neighbours(value.signed, name)
    result = choose(value.signed, lower, upper, lambda rational: _last_bit(abs(rational), name), rounding)
    if abs(result) > largest:
        to_infinity = {
            RNE: True,
            RNA: True,
            RHB: True,
            RTZ: False,
            RTO: False,
            RDN: value.negative,
            RUP: not value.negative,
        }
        return (unlimited if to_infinity[rounding] and not saturate else largest_code | signed), Flag.OF
    code = HIF8_CODES[abs(result)] if name == "HiF8" else _fixed_code(abs(result), name)
    return code | (0 if name == "HiF8" and result == 0 else signed), NO_FLAG


def _neighbours(value, name):
    """Return the largest value of the format not above, and the smallest not below, upward exponents without end."""
    if name == "HiF8":
        magnitude = min(abs(value), HIF8_VALUES[-1])
        below = max(step for step in HIF8_VALUES if step <= magnitude)
        above = min(step for step in HIF8_VALUES if step >= magnitude)
        return (below, above) if value >= 0 else (-above, -below)
    both = []
    for rounding in (RDN, RUP):
        with mpfr_context(name, rounding):
            both.append(Fraction(*(int(part) for part in gmpy2.mpfr(gmpy2.mpq(value)).as_integer_ratio())))
    return both


def _last_bit(magnitude, name):
    if name == "HiF8":
        return HIF8_CODES[magnitude] & 1
    return _fixed_code(magnitude, name) >> FORMATS[name].dead_bits & 1


def _fixed_code(magnitude, name):
    with mpfr_context(name):
        return code_of(gmpy2.mpfr(gmpy2.mpq(magnitude)), name)
