"""The numeric vectors that the later executable specification publishes, and where LinxISA v0.56 differs from them.

`docs/numeric_vectors.md` gives the reason of each difference.
"""

import json
import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest

from linxtile import exact
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import CompareMode, RoundingMode
from linxtile.isa.types import data_type
from linxtile.rounding import round_value
from linxtile.values import Class, Value, decode

VECTORS = json.loads((Path(__file__).parents[1] / "data" / "numeric_vectors.json").read_text())["vectors"]
FP32 = data_type("FP32")
MODES = {mode.name: mode for mode in RoundingMode} | {"RTM": RoundingMode.RDN, "RTP": RoundingMode.RUP}
FLAGS = {"NV": Flag.NV, "DZ": Flag.DZ, "OF": Flag.OF, "NX": NO_FLAG, "UF": NO_FLAG}
"""NX and UF do not exist in LinxISA v0.56."""

DIFFERENCES = {
    "tcvt_e8m0 BF16 0x7F80 RNE Sat",
    *(f"tcvt_e8m0_unsupported {name}" for name in VECTORS["tcvt_e8m0_unsupported"]),
}


def value_of(text):
    """Return the exact value of a vector's text: a decimal number, a power of two, an infinity or a NaN."""
    if "NaN" in text:
        return Value(Class.NAN)
    negative = text.startswith("-")
    if text.lstrip("+-") == "infinity":
        return Value(Class.INFINITY, negative)
    magnitude = text.lstrip("+-")
    base, _, exponent = magnitude.partition("^")
    return Value(Class.FINITE, negative, Fraction(base) ** int(exponent) if exponent else Fraction(magnitude))


def code_of(text):
    """Return the FP32 code of a vector's text."""
    if "NaN" in text:
        return 0x7FC00000
    return struct.unpack("<I", struct.pack("<f", float(text)))[0]


def flags_of(names):
    flags = NO_FLAG
    for name in names:
        flags |= FLAGS[name]
    return flags


def rounded(vector):
    """Return a rounding mode's or a saturation's result and the expected code."""
    row = data_type(vector["destination"])
    got, _ = round_value(value_of(vector["input"]), row, MODES[vector.get("mode", "NONE")], vector.get("sat", False))
    text = vector.get("expected_raw") or vector.get("expected_lane_raw") or vector["expected"]
    return got, int(text, 0) & row.storage_mask


def canonical_nan(vector):
    row = data_type(vector["data_type"])
    return exact.convert(0xFFC12345, FP32, row)[0], int(vector["expected"], 0)


def comparison(vector):
    first, second = map(code_of, vector["inputs"])
    return exact.compare(first, second, FP32, CompareMode[vector["mode"]]), (bool(vector["expected"]), NO_FLAG)


def low_precision_encoding(vector):
    return decode(int(vector["raw"], 0), data_type(vector["data_type"])), value_of(vector["expected"])


def matrix(vector):
    if "left" in vector:
        left, right = ([list(map(code_of, line)) for line in vector[side]] for side in ("left", "right"))
        got = [[accumulated(0, zip(line, column, strict=True)) for column in zip(*right, strict=True)] for line in left]
        return got, [list(map(code_of, line)) for line in vector["expected"]]
    start = map(code_of, vector.get("bias") or vector["prior_acc"])
    products = [(code_of(product), code_of("1")) for product in vector["dot_products"]]
    got = [accumulated(first, [product]) for first, product in zip(start, products, strict=True)]
    return got, list(map(code_of, vector["expected_acc"]))


def accumulated(total, pairs):
    for first, second in pairs:
        total, _ = exact.multiply_add(first, second, total, FP32)
    return total


def matrix_postprocess(vector):
    code = int(vector["input_raw"], 0) if "input_raw" in vector else code_of(vector["input"])
    got = exact.convert(code, FP32, data_type(vector["destination"]), saturate=vector.get("sat", False))
    return got, (int(vector["expected_raw"], 0), flags_of(vector.get("expected_flags", [])))


def mixed_expdif(vector):
    source = data_type(vector["source_type"])
    first, second = int(vector["a"], 0), int(vector["b"], 0)
    narrow = exact.convert(exact.subtract(first, second, source)[0], source, FP32)[0]
    wide = exact.subtract(exact.convert(first, source, FP32)[0], exact.convert(second, source, FP32)[0], FP32)[0]
    got = [narrow, exact.exponential(narrow, FP32)[0], wide, exact.exponential(wide, FP32)[0]]
    names = ("source_precision_sub_then_widen", "source_precision_exp", "widen_first_sub", "widen_first_exp")
    return got, [int(vector[name], 0) for name in names]


def packed_lane_order(vector):
    row, byte = data_type(vector["data_type"]), int(vector["raw_byte"], 0)
    return [decode(nibble, row) for nibble in (byte & 15, byte >> 4)], list(
        map(value_of, vector["expected_logical_lanes"])
    )


def reduction(vector):
    function = {"MIN": exact.minimum, "MAX": exact.maximum, "SUM": exact.add}[vector["operation"]]
    codes = list(map(code_of, vector["inputs"]))
    total = codes[0]
    for code in codes[1:]:
        total, _ = function(total, code, FP32)
    return total, code_of(vector["expected"])


def rounding_selection(vector):
    """The mode that stands for none must agree with the named one on every case that tells modes apart."""
    mode, named = RoundingMode(vector["raw"]), MODES[vector["expected_mode"]]
    values = [code_of(text) for text in ("2.5", "-2.5", "3.5", "2.25", "-1.25")]
    return tuple([exact.convert(code, FP32, data_type("S8"), each) for code in values] for each in (mode, named))


def signed_zero(vector):
    return getattr(exact, vector["operation"])(*map(code_of, vector["inputs"]), FP32)[0], int(vector["expected"], 0)


def subnormal_policy(vector):
    """The class of the code, after an operation that would flush it if anything did."""
    code = int(vector["raw"], 0)
    kept = exact.add(code, 0, FP32)[0] == code
    subnormal = 0 < decode(code, FP32).signed < Fraction(2) ** -126
    return (kept, "positive-subnormal" if subnormal else "positive-normal"), (True, vector["expected_class"])


def tcvt_e8m0(vector):
    types = data_type(vector["source_type"]), data_type("E8M0")
    got = exact.convert(int(vector["input"], 0), *types, MODES[vector["rmode"]], vector["sat"])
    return got, (int(vector["expected"], 0), flags_of(vector["flags"]))


def tcvt_e8m0_unsupported(name):
    """Whether a source type is refused, as it is there."""
    try:
        exact.convert(1, data_type(name), data_type("E8M0"))
    except ValueError:
        return "refused", "refused"
    return "converted", "refused"


CHECKS: dict[str, Callable] = {
    "canonical_nan": canonical_nan, "comparison": comparison, "invalid_float_to_integer": rounded,
    "low_precision_encoding": low_precision_encoding, "matrix": matrix, "matrix_postprocess": matrix_postprocess,
    "mixed_expdif": mixed_expdif, "packed_lane_order": packed_lane_order, "reduction": reduction, "rounding": rounded,
    "rounding_before_saturation": rounded, "rounding_selection": rounding_selection, "saturation": rounded,
    "signed_zero": signed_zero, "subnormal_policy": subnormal_policy, "tcvt_e8m0": tcvt_e8m0,
    "tcvt_e8m0_unsupported": tcvt_e8m0_unsupported,
}  # fmt: skip


def name_of(group, vector):
    """Return a name that no other vector has."""
    if isinstance(vector, str):
        return f"{group} {vector}"
    if "id" in vector:
        return f"{group} {vector['id']}"
    keys = ("source_type", "data_type", "destination", "operation", "input", "inputs", "a", "raw", "rmode", "mode")
    words = [str(vector[key]) for key in keys if key in vector]
    return " ".join([group, *words] + ["Sat"] * vector.get("sat", False))


CASES = [(name_of(group, vector), group, vector) for group, vectors in VECTORS.items() for vector in vectors]


@pytest.mark.parametrize(("name", "group", "vector"), CASES, ids=[case[0] for case in CASES])
def test_published_vectors_hold_but_for_the_listed_differences(name, group, vector):
    got, expected = CHECKS[group](vector)
    assert (got != expected) == (name in DIFFERENCES), (got, expected)


def test_names_of_vectors_are_unique_and_every_difference_is_one_of_them():
    names = [case[0] for case in CASES]
    assert len(set(names)) == len(names)
    assert set(names) >= DIFFERENCES


def test_every_difference_is_explained():
    page = (Path(__file__).parents[2] / "docs" / "numeric_vectors.md").read_text()
    for name in DIFFERENCES:
        assert f"`{name}`" in page, name
