"""Conversions of the definition: every pair of types, mode and saturation against the rules of the page, parts of them
against SoftFloat, gfloat, ml_dtypes and numpy."""

import random
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
import softfloatpy as softfloat
from number_conversions import INTEGER_RANGES, converted
from number_oracles import FORMATS, SOFT_KINDS, nearest, soft, soft_code, soft_number
from number_samples import any_code, edges, tuples

from linxtile.exact import convert
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import DATA_TYPES, data_type
from linxtile.values import Class, decode

NAMES = [row.name for row in DATA_TYPES]


def boundaries(name, source):
    """Return exact values on a rung of a type, half way to the next one, and just beside it, of both signs."""
    row = data_type(name)
    if row.is_integer:
        starts = [Fraction(source.choice([0, 1, row.max_finite, source.randrange(row.max_finite)])) for _ in range(6)]
        gaps = [Fraction(1)] * 6
    else:
        values = [decode(code, row) for code in source.choices(edges(name), k=6)]
        starts = [value.magnitude for value in values if value.kind is Class.FINITE]
        gaps = [start / (1 << row.mantissa_bits) for start in starts]
    chosen = []
    for start, gap in zip(starts, gaps, strict=True):
        for value in (start, start + gap / 2, start + gap, start + gap / 2 + gap / 1024, start + gap / 2 - gap / 1024):
            chosen += [value, -value]
    return chosen


def codes_of(name, values):
    """Return the codes of a source type that are nearest to some values, or no codes if the type has no such values."""
    if name in FORMATS:
        return [nearest(value, name)[0] for value in values if abs(value) <= FORMATS[name].largest]
    if name in INTEGER_RANGES:
        lowest, highest = INTEGER_RANGES[name]
        return [int(value) & (highest - lowest) for value in values if lowest <= value <= highest]
    return []


def check(code, source, destination, rounding, saturate):
    value = decode(code, data_type(source))
    expected = converted(value, source in INTEGER_RANGES, destination, rounding, saturate)
    got = convert(code, data_type(source), data_type(destination), rounding, saturate)
    assert got == expected, (hex(code), source, destination, rounding.name, saturate)


@pytest.mark.parametrize("source", NAMES)
def test_conversions_to_every_type_follow_the_page(source):
    for destination in NAMES:
        samples = random.Random(f"{source} to {destination}")
        candidates = codes_of(source, boundaries(destination, samples))
        codes = samples.sample(edges(source), min(8, len(edges(source)))) + candidates[:: max(1, len(candidates) // 8)]
        for code in codes + [any_code(samples, data_type(source)) for _ in range(2)]:
            for rounding in RoundingMode:
                for saturate in (False, True):
                    check(code, source, destination, rounding, saturate)


@pytest.mark.slow
@pytest.mark.parametrize("source", NAMES)
def test_conversions_follow_the_page_at_every_edge(source):
    for destination in NAMES:
        samples = random.Random(f"{source} to {destination}, all edges")
        codes = {*edges(source), *codes_of(source, boundaries(destination, samples) + boundaries(destination, samples))}
        for code in codes:
            for rounding in RoundingMode:
                for saturate in (False, True):
                    check(code, source, destination, rounding, saturate)


SOFT_MODES = {
    RoundingMode.RNE: softfloat.RoundingMode.NEAR_EVEN, RoundingMode.RTZ: softfloat.RoundingMode.MIN_MAG,
    RoundingMode.RDN: softfloat.RoundingMode.MIN, RoundingMode.RUP: softfloat.RoundingMode.MAX,
    RoundingMode.RNA: softfloat.RoundingMode.NEAR_MAX_MAG,
}  # fmt: skip


@pytest.fixture
def soft_mode():
    """Set SoftFloat's rounding mode, and set it back after the test."""
    yield lambda rounding: softfloat.set_rounding_mode(SOFT_MODES[rounding])
    softfloat.set_rounding_mode(softfloat.RoundingMode.NEAR_EVEN)


@pytest.mark.parametrize("rounding", SOFT_MODES)
@pytest.mark.parametrize(("source", "destination"), [(a, b) for a in SOFT_KINDS for b in SOFT_KINDS if a != b])
def test_conversions_between_ieee_floats_are_those_of_softfloat(source, destination, rounding, soft_mode):
    function = getattr(softfloat, f"f{source[2:]}_to_f{destination[2:]}")
    soft_mode(rounding)
    for (code,) in tuples(source, 1, 400):
        number, flags = soft(function, soft_number(code, source))
        expected = soft_code(number, destination), flags
        assert convert(code, data_type(source), data_type(destination), rounding) == expected, hex(code)


@pytest.mark.parametrize("rounding", SOFT_MODES)
@pytest.mark.parametrize("destination", ["S64", "S32", "U64", "U32"])
@pytest.mark.parametrize("source", SOFT_KINDS)
def test_conversions_to_integers_are_those_of_softfloat_where_the_value_fits(source, destination, rounding):
    name = ("i" if destination[0] == "S" else "ui") + destination[1:]
    function = getattr(softfloat, f"f{source[2:]}_to_{name}")
    row, bits = data_type(destination), int(destination[1:])
    indefinite = 1 << bits - 1 if destination[0] == "S" else (1 << bits) - 1
    samples = random.Random(3)
    codes = [code for (code,) in tuples(source, 1, 300)] + codes_of(source, boundaries(destination, samples))
    for code in codes:
        number, flags = soft(function, soft_number(code, source), SOFT_MODES[rounding])
        expected = (indefinite if flags else number.to_int() % (1 << bits)), flags
        assert convert(code, data_type(source), row, rounding) == expected, hex(code)


@pytest.mark.parametrize("rounding", SOFT_MODES)
@pytest.mark.parametrize("source", ["S64", "S32", "U64", "U32"])
@pytest.mark.parametrize("destination", SOFT_KINDS)
def test_conversions_from_integers_are_those_of_softfloat(source, destination, rounding, soft_mode):
    name = ("i" if source[0] == "S" else "ui") + source[1:]
    function = getattr(softfloat, f"{name}_to_f{destination[2:]}")
    kind = getattr(softfloat, ("Int" if source[0] == "S" else "UInt") + source[1:])
    soft_mode(rounding)
    for (code,) in tuples(source, 1, 300):
        number, flags = soft(function, kind.from_bytes(code.to_bytes(int(source[1:]) // 8, "big")))
        expected = soft_code(number, destination), flags
        assert convert(code, data_type(source), data_type(destination), rounding) == expected, hex(code)


ML_DTYPES = {
    "BF16": ml_dtypes.bfloat16, "E4M3": ml_dtypes.float8_e4m3fn, "E5M2": ml_dtypes.float8_e5m2,
    "E3M2": ml_dtypes.float6_e3m2fn, "E2M3": ml_dtypes.float6_e2m3fn, "E2M1x2": ml_dtypes.float4_e2m1fn,
}  # fmt: skip


@pytest.mark.parametrize("name", ML_DTYPES)
def test_conversions_of_fp32_to_narrow_floats_are_those_of_ml_dtypes(name):
    row, form = data_type(name), FORMATS[name]
    codes = np.array(
        [code for (code,) in tuples("FP32", 1, 1500)] + codes_of("FP32", boundaries(name, random.Random(4)))
    )
    values = codes.astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        bits = values.astype(ML_DTYPES[name]).view(np.uint16 if name == "BF16" else np.uint8)
    for code, value, other in zip(codes.tolist(), values.tolist(), bits.tolist(), strict=True):
        if np.isnan(value):
            other = form.nan if form.nan is not None else 0
        elif form.nan is not None and form.infinity is None and other & 0x7F == form.nan:
            other = form.nan
        assert convert(code, data_type("FP32"), row)[0] == other, hex(code)


def test_every_type_converted_to_itself_keeps_every_value_and_makes_nan_canonical():
    for row in DATA_TYPES:
        for code in edges(row.name):
            value = decode(code, row)
            if not value.is_nan:
                kept = code >> row.dead_bits << row.dead_bits
                assert convert(code, row, row) == (kept, NO_FLAG), (row.name, hex(code))
            elif row.name == "E8M0":
                assert convert(code, row, row) == (0xFF, Flag.NV)
            else:
                raised = Flag.NV if value.kind is Class.SIGNALLING_NAN else NO_FLAG
                assert convert(code, row, row) == (row.canonical_nan, raised), (row.name, hex(code))


@pytest.mark.parametrize("name", ["TF32", "HF32", "FP64"])
def test_every_short_float_survives_the_way_through_a_longer_one(name):
    for short in ("FP16", "BF16", "HiF8", "E4M3", "E5M2", "E3M2", "E2M3", "E2M1x2", "E1M2x2", "E8M0"):
        row, longer = data_type(short), data_type(name)
        for code in edges(short):
            if not decode(code, row).is_nan:
                assert convert(convert(code, row, longer)[0], longer, row) == (code, NO_FLAG), (short, hex(code))
