"""Matrix products against MPFR's fused multiply-add in 24 bits, and against integers modulo 2**32."""

import random

import gmpy2
import numpy as np
import pytest
from matrix_programs import left_tile, right_tile, row_tile, run

from linxtile import Flag
from linxtile.isa.types import data_type
from linxtile.values import Class, decode

BINARY32 = gmpy2.context(precision=24, emin=-148, emax=128, subnormalize=True)
"""Arithmetic of FP32 with gradual underflow, rounded to nearest even."""

FLOATS = [
    ("FP16", "FP16"), ("BF16", "E4M3"), ("FP32", "FP32"), ("TF32", "HF32"), ("E2M1x2", "E1M2x2"), ("FP64", "E5M2"),
    ("E3M2", "E2M3"),
]  # fmt: skip
INTEGERS = [("S8", "S8"), ("S4x2", "S64"), ("U4x2", "U16"), ("U64", "U8"), ("S32", "S32"), ("U32", "U32")]


def number(code, row):
    """Return the value of a float code, rounded to FP32 if it does not fit, as FP64 alone may not."""
    value = decode(code, row)
    if value.is_nan:
        return gmpy2.nan()
    with gmpy2.context(BINARY32):
        magnitude = gmpy2.inf() if value.kind is Class.INFINITY else gmpy2.mpfr(gmpy2.mpq(value.magnitude))
        return -magnitude if value.negative else magnitude


def code_of(value):
    """Return the FP32 code of a number that FP32 holds; its NaN is the canonical one."""
    return 0x7FC00000 if gmpy2.is_nan(value) else int(np.float32(float(value)).view(np.uint32))


def product(a, b, kinds, start, bias=None):
    """Return codes of ``start + A B (+ bias)``: k after k, one rounding each, in FP32 or modulo 2**32."""
    rows = [data_type(kind) for kind in kinds]
    out = np.zeros((len(a), len(b[0])), np.uint32)
    for i, j in np.ndindex(out.shape):
        codes = [(line, b[k][j]) for k, line in enumerate(a[i])]
        if rows[0].is_float:
            with gmpy2.context(BINARY32):
                total = number(int(start[i][j]), data_type("FP32"))
                for x, y in codes:
                    total = gmpy2.fma(number(x, rows[0]), number(y, rows[1]), total)
                if bias is not None:
                    total += number(bias[j], data_type("FP32"))
                out[i, j] = code_of(total)
        else:
            pairs = [(int(decode(x, rows[0]).signed), int(decode(y, rows[1]).signed)) for x, y in codes]
            total = int(start[i][j]) + (0 if bias is None else bias[j]) + sum(x * y for x, y in pairs)
            out[i, j] = total % (1 << 32)
    return out


def random_code(row, rng):
    """Return a code: an integer of any size, a float near 1 or, now and then, a limit."""
    if row.is_integer:
        return rng.getrandbits(row.storage_bits)
    if rng.random() < 0.1:
        return rng.choice([0, row.sign_bit, row.max_finite, row.min_finite, 1 << row.dead_bits])
    one, spread = (exponent << row.mantissa_bits + row.dead_bits for exponent in (row.bias, 4))
    return min(max(one + rng.randrange(-spread, spread), 0), row.max_finite) | rng.choice([0, row.sign_bit])


def random_codes(shape, kind, rng):
    """Return rows of codes."""
    return [[random_code(data_type(kind), rng) for _ in range(shape[1])] for _ in range(shape[0])]


def tile_size(rows, columns, kind):
    """Return a size that makes the other side a multiple of 16; the columns fill a power of two of fractals."""
    bits = data_type(kind).storage_bits
    depth = -(-columns // (256 // bits)) * (256 // bits)
    size = 512
    while size * 8 < rows * depth * bits or size * 8 // (depth * bits) % 16:
        size *= 2
    return size


@pytest.mark.parametrize("kinds", FLOATS + INTEGERS, ids="-".join)
def test_a_product_is_accumulated_k_after_k(kinds):
    rng = random.Random(str(kinds))
    a_kind, b_kind = kinds
    for m, n, k in ((3, 5, 7), (17, 2, 3), (1, 19, 4)):
        a, b = random_codes((m, k), a_kind, rng), random_codes((k, n), b_kind, rng)
        tiles = [
            left_tile(a, a_kind, tile_size(m, k, a_kind), rng), right_tile(b, b_kind, tile_size(n, k, b_kind), rng),
        ]  # fmt: skip
        machine, result = run(tiles, f"TMATMUL <{m}, {n}, {k}, {a_kind}, {b_kind}>, T#2, T#1, ->ACC<4KB>")
        assert result.fault is None, str(result.fault)
        expected = product(a, b, kinds, np.zeros((m, n), np.uint32))
        np.testing.assert_array_equal(machine.accumulator.codes, expected)
        assert machine.accumulator.shape == (m, n)
        # A second product on top of it, then a new one.
        again = f"TMATMUL.ACC <{m}, {n}, {k}, {a_kind}, {b_kind}>, T#2.reuse, T#1.reuse, ->ACC<4KB>\n"
        machine, result = run(tiles, again, machine)
        np.testing.assert_array_equal(machine.accumulator.codes, product(a, b, kinds, expected))
        machine, result = run([], again.replace(".ACC", ""), machine)
        np.testing.assert_array_equal(machine.accumulator.codes, expected)


@pytest.mark.parametrize("kinds", [("FP16", "FP16"), ("S8", "S8"), ("U16", "U4x2")], ids="-".join)
def test_a_bias_is_added_last_in_the_result_type(kinds):
    rng = random.Random(str(kinds))
    m, n, k = 5, 18, 4
    a, b = random_codes((m, k), kinds[0], rng), random_codes((k, n), kinds[1], rng)
    bias = random_codes((1, n), "FP32" if kinds[0] == "FP16" else "U32", rng)[0]
    tiles = [
        left_tile(a, kinds[0], 1024, rng), right_tile(b, kinds[1], 2048, rng), row_tile(bias, "U32", 256, rng),
    ]  # fmt: skip
    machine, result = run(tiles, f"TMATMUL.BIAS <{m}, {n}, {k}, {kinds[0]}, {kinds[1]}>, T#3, T#2, T#1, ->ACC<2KB>")
    assert result.fault is None, str(result.fault)
    expected = product(a, b, kinds, np.zeros((m, n), np.uint32), bias)
    np.testing.assert_array_equal(machine.accumulator.codes, expected)


@pytest.mark.parametrize("kind", ["FP16", "HiF8", "U8", "HiF4x2"])
def test_a_vector_product_takes_a_row_and_its_three_forms(kind):
    rng = random.Random(kind)
    n, k = 19, 31
    a = [[rng.randrange(0, 0x0F) for _ in range(k)]]
    b = [[rng.randrange(0, 0x0F) for _ in range(n)] for _ in range(k)]
    bias = [rng.randrange(0, 0x40000000) for _ in range(n)]
    tiles = [
        row_tile(a[0], kind, 256, rng), right_tile(b, kind, tile_size(n, k, kind), rng), row_tile(bias, "U32", 256, rng),
    ]  # fmt: skip
    shape = f"<1, {n}, {k}, {kind}>, T#3.reuse, T#2.reuse"
    machine, result = run(tiles, f"TGEMV {shape}, ->ACC<2KB>")
    assert result.fault is None, str(result.fault)
    first = product(a, b, (kind, kind), np.zeros((1, n), np.uint32))
    np.testing.assert_array_equal(machine.accumulator.codes, first)
    run([], f"TGEMV.ACC {shape}, ->ACC<2KB>", machine)
    np.testing.assert_array_equal(machine.accumulator.codes, product(a, b, (kind, kind), first))
    run([], f"TGEMV.BIAS {shape}, T#1, ->ACC<2KB>", machine)
    expected = product(a, b, (kind, kind), np.zeros((1, n), np.uint32), bias)
    np.testing.assert_array_equal(machine.accumulator.codes, expected)


@pytest.mark.parametrize(
    ("a", "b", "code", "flags"),
    [
        ([0x7C00, 0x3C00], [0x0000, 0x3C00], 0x7FC00000, Flag.NV),
        ([0x7C00, 0xFC00], [0x3C00, 0x3C00], 0x7FC00000, Flag.NV),
        ([0x7E00, 0x3C00], [0x3C00, 0x3C00], 0x7FC00000, Flag(0)),
        ([0x7D00, 0x3C00], [0x3C00, 0x3C00], 0x7FC00000, Flag.NV),
        ([0x7C00, 0x3C00], [0xBC00, 0x3C00], 0xFF800000, Flag(0)),
        ([0x8000, 0x0000], [0x3C00, 0x3C00], 0x00000000, Flag(0)),
    ],
)
def test_special_values_of_a_product(a, b, code, flags):
    rng = random.Random(1)
    tiles = [left_tile([a], "FP16", 512, rng), right_tile([[y] for y in b], "FP16", 512, rng)]
    machine, result = run(tiles, "TMATMUL <1, 1, 2, FP16>, T#2, T#1, ->ACC<1KB>")
    assert machine.accumulator.codes.tolist() == [[code]]
    assert result.flags == flags


def test_a_product_beyond_fp32_overflows_and_says_so():
    rng = random.Random(1)
    tiles = [left_tile([[0x7F000000]], "FP32", 512, rng), right_tile([[0x7F000000]], "FP32", 512, rng)]
    machine, result = run(tiles, "TMATMUL <1, 1, 1, FP32>, T#2, T#1, ->ACC<1KB>")
    assert (machine.accumulator.codes.tolist(), result.flags) == ([[0x7F800000]], Flag.OF)


def test_one_rounding_a_step_is_not_two():
    # -(1 + 2**-11) + (1 + 2**-12)**2 = 2**-24; a product that is rounded on its own gives 0.
    rng = random.Random(1)
    left, right = [[0xBF801000, 0x3F800800]], [[0x3F800000], [0x3F800800]]
    tiles = [left_tile(left, "FP32", 512, rng), right_tile(right, "FP32", 512, rng)]
    machine, _ = run(tiles, "TMATMUL <1, 1, 2, FP32>, T#2, T#1, ->ACC<1KB>")
    assert machine.accumulator.codes.tolist() == [[0x33800000]]
