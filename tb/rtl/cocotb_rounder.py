"""Drives the rounder with exact results and compares code and overflow with gfloat; the tests of test_rounder.py start it."""

import itertools
import random

import cocotb
import gfloat
from cocotb.triggers import RisingEdge
from gfloat import formats as catalog

from linxtile.isa.types import DataType, data_type
from linxtile_rtl.vector.formats import exponent_bits, significand_bits
from linxtile_rtl.vector.rounder import Round, exact_layout
from linxtile_sim.streams import pack, start
from linxtile_sim.unit import parameters

GFLOAT = {
    "FP32": catalog.format_info_binary32, "FP16": catalog.format_info_binary16, "BF16": catalog.format_info_bfloat16,
    "E4M3": catalog.format_info_ocp_e4m3, "E5M2": catalog.format_info_ocp_e5m2, "E3M2": catalog.format_info_ocp_e3m2,
}  # fmt: skip
MODES = {
    Round.NONE: gfloat.RoundMode.TiesToEven, Round.RNE: gfloat.RoundMode.TiesToEven,
    Round.RTZ: gfloat.RoundMode.TowardZero, Round.RDN: gfloat.RoundMode.TowardNegative,
    Round.RUP: gfloat.RoundMode.TowardPositive, Round.RNA: gfloat.RoundMode.TiesToAway,
}  # fmt: skip


def _round(row: DataType, number: float, mode: Round) -> float:
    """Round a number that is not beyond the largest finite one; gfloat lacks the last two modes."""
    info = GFLOAT[row.name]
    if mode is Round.RHB:
        down, up = (gfloat.round_float(info, number, MODES[way]) for way in (Round.RDN, Round.RUP))
        if down + up == 2 * number:
            return up
        mode = Round.RNE
    if mode is Round.RTO:
        cut = gfloat.round_float(info, number, MODES[Round.RTZ])
        code = gfloat.encode_float(info, cut)
        return gfloat.decode_float(info, code | 1).fval if cut != number else cut
    return gfloat.round_float(info, number, MODES[mode])


def expected(row: DataType, number: float, mode: Round) -> tuple[int, int]:
    """Return code and overflow of a finite number; formats without infinity by the rules of the ISA."""
    sign = row.sign_bit if str(number).startswith("-") else 0
    largest = gfloat.decode_float(GFLOAT[row.name], row.max_finite).fval
    # Far from the subnormals rounding does not depend on the scale: a few binades lower there is no largest value.
    scale = 4 if abs(number) > largest / 4 else 1
    result = _round(row, number / scale, mode) * scale
    overflow = abs(result) > largest
    if overflow:
        to_largest = mode in (Round.RTZ, Round.RTO) or mode is (Round.RUP if sign else Round.RDN)
        if to_largest or (row.positive_infinity is None and row.canonical_nan is None):
            return row.max_finite | sign, 1
        return (row.canonical_nan if row.positive_infinity is None else row.positive_infinity | sign), 1
    return (sign if result == 0 else gfloat.encode_float(GFLOAT[row.name], result)), 0


def _exact(formats: tuple[DataType, ...], row: DataType, fields: dict) -> float:
    width = significand_bits(formats)
    units = fields["significand"] * 4 + fields["guard"] * 2 + fields["sticky"]
    magnitude = units * 2.0 ** (fields["exponent"] + 1 - row.bias - (width - 1) - 2)
    return -magnitude if fields["sign"] else magnitude


def _requests(formats: tuple[DataType, ...], rng: random.Random):
    """Yield fields of exact results: edges of the significand and exponent, ties, and random ones."""
    width = significand_bits(formats)
    for index, row in enumerate(formats):
        top = (1 << row.exponent_bits) - 1
        exponents = [0, 1, 2, top // 2, top - 3, top - 2, top - 1, top]
        last = width - 1 - row.mantissa_bits
        significands = set()
        for base in (
            0,
            1 << (width - 1),
            3 << (width - 2),
            (1 << width) - (1 << last),
            row.max_finite << (last - row.dead_bits),
        ):
            for step in (-1, 0, 1, 1 << last, (1 << last) >> 1, 3 << last >> 1, 5 << last >> 1):
                significands.add((base + step) & ((1 << width) - 1))
        significands |= {rng.getrandbits(width) for _ in range(parameters()["random"])}
        for exponent, significand, tail, sign in itertools.product(exponents, sorted(significands), range(4), (0, 1)):
            leading = significand >> (width - 1)
            if exponent and not leading:
                significand |= 1 << (width - 1)
            yield row, {
                "sign": sign, "exponent": exponent, "significand": significand, "guard": tail >> 1, "sticky": tail & 1,
                "is_nan": 0, "is_infinite": 0, "format": 1 << index,
            }  # fmt: skip


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def finite_results(dut):
    """Every mode for each exact result."""
    rng = random.Random(cocotb.RANDOM_SEED)
    formats = tuple(map(data_type, parameters()["formats"]))
    layout = exact_layout(formats)
    assert exponent_bits(formats) + 1 == layout["exponent"].width
    dut.exact.value = 0
    dut.mode.value = 0
    await start(dut)
    requests = list(_requests(formats, rng))
    overflows = 0
    for row, fields in rng.sample(requests, min(len(requests), parameters()["most"])):
        dut.exact.value = pack(layout, fields)
        number = _exact(formats, row, fields)
        for mode in Round:
            dut.mode.value = mode.value
            await RisingEdge(dut.clk)
            got = dut.code.value.to_unsigned(), int(dut.overflow.value)
            wanted = expected(row, number, mode)
            overflows += wanted[1]
            assert got == wanted, (
                f"{row.name} {mode.name} {number!r}: got {got[0]:#x} OF={got[1]}, expected {wanted[0]:#x} OF={wanted[1]}"
            )
    assert overflows > 50


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def special_results(dut):
    """NaN is canonical and wins over infinity; infinity becomes NaN or the largest value where there is none."""
    formats = tuple(map(data_type, parameters()["formats"]))
    layout = exact_layout(formats)
    dut.exact.value = 0
    dut.mode.value = 0
    await start(dut)
    for index, row in enumerate(formats):
        for sign, infinite in itertools.product((0, 1), repeat=2):
            fields = {"sign": sign, "exponent": 3, "significand": 1, "format": 1 << index, "is_infinite": infinite}
            dut.exact.value = pack(layout, {**fields, "is_nan": 1})
            await RisingEdge(dut.clk)
            assert dut.code.value.to_unsigned() == (row.canonical_nan or 0) and dut.overflow.value == 0
            if not infinite:
                continue
            dut.exact.value = pack(layout, fields)
            await RisingEdge(dut.clk)
            signed = row.sign_bit * sign
            infinity = row.positive_infinity
            if infinity is None:
                wanted = row.max_finite | signed if row.canonical_nan is None else row.canonical_nan
            else:
                wanted = infinity | signed
            assert dut.code.value.to_unsigned() == wanted and dut.overflow.value == 0
