"""ACCCVT: where each element goes, scale and conversion with a rounding each, row maximum, life of the ACC."""

import random
from fractions import Fraction

import numpy as np
import pytest
from matrix_programs import code_of, machine_with_accumulator, padded, put_code, run

from linxtile import Flag, exact
from linxtile.isa.types import data_type
from linxtile.values import decode

LAYOUTS = ["NORM.normal", "NORM.canon", "NZ2ND", "NZ2DN"]
DESTINATIONS = ["FP64", "FP32", "FP16", "E4M3", "E2M1x2"]
"""One of each width."""


def place_of(layout, i, j, columns, size, bits):
    """Return element number and physical rows of (i, j), by the table of layouts as printed."""
    c0 = 256 // bits
    if layout == "NORM.normal":
        rows = size * 8 // (padded(columns, 16) * bits)
        return (j // 16) * rows * 16 + i * 16 + j % 16
    if layout == "NORM.canon":
        rows = size * 8 // (padded(columns, c0) * bits)
        return (j // c0) * rows * c0 + i * c0 + j % c0
    rows = size * 8 // (columns * bits)
    return i * columns + j if layout == "NZ2ND" else j * rows + i


def patterns_of(kind, rows, columns, rng):
    """Return 32-bit patterns: floats around 1 with some specials, integers of any size."""
    if kind != "FP32":
        return [[rng.getrandbits(rng.choice([4, 8, 32])) for _ in range(columns)] for _ in range(rows)]
    specials = [0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7FA00000, 1, 0x7F7FFFFF]

    def one():
        return (
            rng.choice(specials)
            if rng.random() < 0.2
            else rng.randrange(0x3C000000, 0x44000000) | rng.choice([0, 1 << 31])
        )

    return [[one() for _ in range(columns)] for _ in range(rows)]


def converted(patterns, source, destination, scale, mode, saturate):
    """Return the code of each element and all flags: product rounded in the source type, then converted."""
    flags, out = Flag(0), []
    for line in patterns:
        out.append([])
        for code in line:
            if scale is not None:
                code, raised = exact.multiply(code, scale, data_type(source))
                flags |= raised
            code, raised = exact.convert(code, data_type(source), data_type(destination), mode, saturate)
            flags |= raised
            out[-1].append(code)
    return out, flags


def acc_convert(machine, rest):
    """Run one ACCCVT that must not fault and return its record."""
    _, result = run([], f"ACCCVT {rest}", machine)
    assert result.fault is None, (str(result.fault), rest)
    return result.blocks[-1]


@pytest.mark.parametrize("destination", DESTINATIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_element_goes_where_its_layout_says_and_the_rest_is_zero(layout, destination):
    rng = random.Random(f"{layout} {destination}")
    bits = data_type(destination).storage_bits
    for m, n, rows, columns in ((20, 40, 17, 22), (16, 16, 16, 16), (3, 64, 1, 50)):
        patterns = patterns_of("FP32", m, n, rng)
        physical = padded(columns, {"NORM.normal": 16, "NORM.canon": 256 // bits}.get(layout, 1))
        size = 256
        while size * 8 // (physical * bits) < padded(rows, 16):
            size *= 2
        if "NORM" in layout and size * 8 // (physical * bits) % 16:
            continue
        record = acc_convert(
            machine_with_accumulator(patterns), f"{layout}, <{rows}, {columns}, FP32, {destination}>, ACC, ->T<{size}B>"
        )
        inside = [line[:columns] for line in patterns[:rows]]
        codes, flags = converted(inside, "FP32", destination, None, 0, False)
        expected = bytearray(size)
        for i in range(rows):
            for j in range(columns):
                put_code(expected, place_of(layout, i, j, columns, size, bits), bits, codes[i][j])
        tile = record.new_tiles["T#1"]
        assert bytes(tile) == bytes(expected)
        assert (tile.element_bits, record.block_flags) == (bits, flags)


@pytest.mark.parametrize(
    ("shape", "destination", "size", "element", "normal", "canonical"),
    [((32, 32), "FP32", 4096, (1, 9), 100, 1060), ((32, 64), "E4M3", 2048, (1, 20), 532, 52)],
)
def test_the_worked_offsets_of_both_forms(shape, destination, size, element, normal, canonical):
    patterns = [[0] * shape[1] for _ in range(shape[0])]
    patterns[element[0]][element[1]] = 0x3F800000
    for form, offset in (("normal", normal), ("canon", canonical)):
        record = acc_convert(
            machine_with_accumulator(patterns),
            f"NORM.{form}, <{shape[0]}, {shape[1]}, FP32, {destination}>, ACC, ->T<{size}B>",
        )
        bits = data_type(destination).storage_bits
        found = np.flatnonzero(np.frombuffer(bytes(record.new_tiles["T#1"]), np.uint8))
        assert found[0] // (bits // 8) * (bits // 8) == offset


@pytest.mark.parametrize(("source", "destination"), [
    ("FP32", "FP16"), ("FP32", "S8"), ("S32", "S16"), ("S32", "FP16"), ("U32", "U8"), ("U32", "BF16"), ("FP32", "E8M0"),
])  # fmt: skip
@pytest.mark.parametrize("attributes", ["", "RTZ", "RUP, Sat", "Sat"])
def test_scale_and_conversion_round_once_each_and_the_row_maximum_is_raw(source, destination, attributes):
    rng = random.Random(f"{source} {destination} {attributes}")
    patterns = patterns_of(source, 9, 12, rng)
    scale = rng.choice([0x40490FDB, 0xC0400000]) if source == "FP32" else rng.choice([3, 0xFFFFFFFF])
    mode = {"": 0, "RTZ": 2, "RUP, Sat": 4, "Sat": 0}[attributes]
    machine = machine_with_accumulator(patterns, scale | 0xABCD << 40)
    more = f", {attributes}" if attributes else ""
    record = acc_convert(machine, f"NZ2ND, <9, 11, {source}, {destination}{more}>, ACC, [a3], ->T<1KB>, U<256B>")
    inside = [line[:11] for line in patterns]
    codes, flags = converted(inside, source, destination, scale, mode, "Sat" in attributes)
    bits = data_type(destination).storage_bits
    main, maxima = bytes(record.new_tiles["T#1"]), record.new_tiles["U#1"]
    assert [code_of(main, place, bits) for place in range(99)] == [code for line in codes for code in line]
    expected = []
    for line in inside:
        largest, raised = exact.read(line[0], data_type(source))
        flags |= raised
        for code in line[1:]:
            largest, raised = exact.maximum(largest, code, data_type(source))
            flags |= raised
        expected.append(largest)
    assert np.frombuffer(bytes(maxima), np.uint32).tolist() == expected + [0] * (64 - 9)
    assert (maxima.element_bits, record.block_flags) == (32, flags)


def test_the_product_is_rounded_before_the_conversion_rounds_it_again():
    # The exact product lies 6e-9 above 1 + 2**-11, a tie of FP16, and alone would round up; FP32 rounds it to the tie.
    x, scale = 0x3F876CE2, 0x3F7214EE
    exact_product = decode(x, data_type("FP32")).magnitude * decode(scale, data_type("FP32")).magnitude
    assert 0 < exact_product - Fraction(2049, 2048) < Fraction(1, 1 << 25)
    record = acc_convert(machine_with_accumulator([[x]], scale), "NZ2ND, <1, 1, FP32, FP16>, ACC, [a3], ->T<256B>")
    assert bytes(record.new_tiles["T#1"])[:2] == bytes.fromhex("003c")


def test_without_a_scale_nan_and_the_sign_of_zero_reach_the_conversion():
    record = acc_convert(
        machine_with_accumulator([[0x80000000, 0x7FC00001, 0xFFC00000]]), "NZ2ND, <1, 3, FP32, FP32>, ACC, ->T<256B>"
    )
    assert bytes(record.new_tiles["T#1"])[:12].hex() == "000000800000c07f0000c07f"
    assert record.block_flags == Flag(0)


@pytest.mark.parametrize("layout", ["NORM.normal", "NORM.canon"])
def test_a_row_maximum_that_has_no_layout_is_pushed_as_zeros_and_raises_nothing(layout):
    machine = machine_with_accumulator([[0x7FA00000] * 16] * 16)
    record = acc_convert(machine, f"{layout}, <16, 8, FP32, FP32>, ACC, ->T<1KB>, U<256B>")
    assert bytes(record.new_tiles["U#1"]) == bytes(256)
    machine = machine_with_accumulator([[0x3F800000] * 16] * 16)
    assert acc_convert(machine, f"{layout}, <16, 8, FP32, FP32>, ACC, ->T<1KB>, U<256B>").block_flags == Flag(0)


@pytest.mark.parametrize("layout", ["NZ2ND", "NZ2DN"])
def test_canonical_means_nothing_beside_a_plain_layout(layout):
    patterns = patterns_of("FP32", 5, 6, random.Random(layout))
    tiles = []
    for word in (f"{layout}.normal", f"{layout}.canon"):
        record = acc_convert(machine_with_accumulator(patterns), f"{word}, <5, 6, FP32, FP16>, ACC, ->T<256B>")
        tiles.append(bytes(record.new_tiles["T#1"]))
    assert tiles[0] == tiles[1]


def test_the_bits_of_another_class_are_read_as_they_are():
    # Integers that are the codes of 1.0 and -2.0.
    record = acc_convert(
        machine_with_accumulator([[0x3F800000, 0xC0000000]]), "NZ2ND, <1, 2, FP32, S8>, ACC, ->T<256B>"
    )
    assert bytes(record.new_tiles["T#1"])[:2].hex() == "01fe"
