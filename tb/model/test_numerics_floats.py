"""Float arithmetic on arrays against the definition, for every operation of every type, and how arrays are taken."""

import numpy as np
import pytest
from number_oracles import COMPUTING, soft_operation
from number_samples import edges, tuples

from linxtile import exact
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import CompareMode
from linxtile.isa.types import DATA_TYPES, data_type
from linxtile.numerics import arithmetic, floats, tree_reduce

UNARY = (
    "read", "absolute", "negate", "relu", "exponential", "logarithm", "reciprocal", "square_root", "reciprocal_root"
)  # fmt: skip
BINARY = (
    "add", "subtract", "multiply", "divide", "remainder", "fmod", "maximum", "minimum", "leaky_relu",
    "exponential_difference",
)  # fmt: skip
TERNARY = ("add_three", "subtract_add", "multiply_add")
OPERANDS = dict.fromkeys(UNARY, 1) | dict.fromkeys(BINARY, 2) | dict.fromkeys(TERNARY, 3)


def arrays(row, rows):
    """Return one array of codes an operand."""
    return [np.array(codes, f"u{row.storage_bits // 8}") for codes in zip(*rows, strict=True)]


def check(name, operation, rows):
    """Compare codes with the definition, flags of all elements that raise the same, and of some of them alone."""
    row = data_type(name)
    outcomes = [getattr(exact, operation)(*codes, row) for codes in rows]
    function, operands = getattr(arithmetic(row), operation), arrays(row, rows)
    got, _ = function(*operands)
    wrong = [at for at, (code, _) in enumerate(outcomes) if got[at] != code]
    assert not wrong, [[hex(code) for code in (*rows[at], got[at], outcomes[at][0])] for at in wrong[:3]]
    raised = np.array([flags for _, flags in outcomes])
    for flags in set(raised.tolist()):
        alike = [codes[raised == flags] for codes in operands]
        assert function(*alike)[1] == flags
        if flags:
            for at in range(0, alike[0].size, 5):
                assert function(*(codes[at : at + 1] for codes in alike))[1] == flags
    plain, none = getattr(arithmetic(row, track_flags=False), operation)(*operands)
    np.testing.assert_array_equal(plain, got)
    assert none == NO_FLAG


@pytest.mark.parametrize("operation", OPERANDS)
@pytest.mark.parametrize("name", COMPUTING)
def test_the_array_path_agrees_with_the_definition(name, operation):
    count = OPERANDS[operation]
    corners = tuples(name, count, 0) if count < 3 else tuples(name, count, 300)
    check(name, operation, corners[:: 3 if count == 2 else 1] + tuples(name, count, 500, seed=4)[-500:])


@pytest.mark.parametrize("name", COMPUTING)
def test_sums_of_three_terms_that_cancel_agree_with_the_definition(name):
    row, rng = data_type(name), np.random.default_rng(3)
    unit, rows = 1 << row.dead_bits, []
    for first, second in tuples(name, 2, 400, seed=9)[-400:]:
        total = exact.add(first, second, row)[0]
        moved = (total ^ row.sign_bit) + unit * int(rng.integers(-2, 3))
        rows.append((first, second, moved & row.storage_mask))
    check(name, "add_three", rows)
    check(name, "subtract_add", [(third, first ^ row.sign_bit, second) for first, second, third in rows])


@pytest.mark.parametrize("name", COMPUTING)
def test_products_whose_addend_nearly_cancels_them_agree_with_the_definition(name):
    row, rng = data_type(name), np.random.default_rng(4)
    unit, rows = 1 << row.dead_bits, []
    for first, second in tuples(name, 2, 400, seed=8)[-400:]:
        product = exact.multiply(first, second, row)[0]
        moved = (product ^ row.sign_bit) + unit * int(rng.integers(-2, 3))
        rows.append((first, second, moved & row.storage_mask))
    check(name, "multiply_add", rows)


@pytest.mark.parametrize("name", COMPUTING)
def test_roots_of_numbers_just_below_and_above_squares_agree_with_the_definition(name):
    row, rows = data_type(name), []
    for (code,) in tuples(name, 1, 300, seed=7)[-300:]:
        square = exact.multiply(code, code, row)[0]
        inverse = exact.reciprocal(square, row)[0]
        unit = 1 << row.dead_bits
        rows += [(near & row.storage_mask,) for near in (square, square + unit, square - unit, inverse, inverse + unit)]
    check(name, "square_root", rows)
    check(name, "reciprocal_root", rows)


@pytest.mark.parametrize(("first", "second", "third", "result"), [
    # Just below a tie, by far less than the last bit of any part of the sum.
    (1 + 2.0**-30, 1 - 2.0**-30, 2.0**53 + 2, 2.0**53 + 2),
    # Just above a tie, with a product so large that its parts overflow.
    (2.0**512 - 2.0**459, 2.0**512 - 2.0**459, 2.0**970, 2.0**1023 + (2.0**1023 - 2.0**971)),
    # A product whose error lies below the smallest subnormal number.
    (2.0**-537 * (1 + 2.0**-52), 2.0**-537 * (1 + 2.0**-52), 0.0, 5e-324),
])  # fmt: skip
def test_fused_products_of_fp64_are_rounded_once(first, second, third, result):
    codes = [np.array([value]).view(np.uint64) for value in (first, second, third)]
    assert arithmetic(data_type("FP64")).multiply_add(*codes)[0].view(np.float64) == result


@pytest.mark.parametrize("name", [name for name in COMPUTING if data_type(name).has_infinity])
def test_a_nan_to_be_added_does_not_hide_infinity_times_zero(name):
    row = data_type(name)
    one = row.bias << (row.mantissa_bits + row.dead_bits)
    for first, second in ((row.positive_infinity, 0), (row.sign_bit, row.positive_infinity)):
        check(name, "multiply_add", [(first, second, row.canonical_nan)])
        assert arithmetic(row).multiply_add(*arrays(row, [(first, second, row.canonical_nan)]))[1] == Flag.NV
    for factors in ((one, 0), (row.positive_infinity, one), (row.canonical_nan, 0)):
        assert arithmetic(row).multiply_add(*arrays(row, [(*factors, row.canonical_nan)]))[1] == NO_FLAG


@pytest.mark.parametrize("operation", ["exponential", "logarithm", "reciprocal_root"])
def test_what_an_interval_leaves_open_is_decided_by_the_definition(operation, monkeypatch):
    row = data_type("FP32")
    rows = [(code & ~row.sign_bit,) for (code,) in tuples("FP32", 1, 200, seed=5)]
    operands = arrays(row, rows)
    monkeypatch.setattr(floats, "_ERROR", 2.0**-22)
    got, _ = getattr(arithmetic(row), operation)(*operands)
    assert got.tolist() == [getattr(exact, operation)(*codes, row)[0] for codes in rows]


@pytest.mark.parametrize("mode", CompareMode)
@pytest.mark.parametrize("name", COMPUTING)
def test_comparisons_agree_with_the_definition(name, mode):
    row = data_type(name)
    rows = tuples(name, 2, 200)
    outcomes = [exact.compare(*codes, row, mode) for codes in rows]
    got, raised = arithmetic(row).compare(*arrays(row, rows), mode)
    assert got.tolist() == [truth for truth, _ in outcomes]
    assert raised == np.bitwise_or.reduce([int(flags) for _, flags in outcomes])
    quiet = [codes for codes, (_, flags) in zip(rows, outcomes, strict=True) if not flags]
    assert arithmetic(row).compare(*arrays(row, quiet), mode)[1] == NO_FLAG


@pytest.mark.parametrize(
    ("operation", "soft"), [("add", "add"), ("subtract", "sub"), ("multiply", "mul"), ("divide", "div")]
)
@pytest.mark.parametrize("name", ["FP16", "FP32", "FP64"])
def test_many_random_pairs_agree_with_softfloat(name, operation, soft):
    row = data_type(name)
    rows = tuples(name, 2, 4000, seed=2)[-4000:]
    got, _ = getattr(arithmetic(row), operation)(*arrays(row, rows))
    assert got.tolist() == [soft_operation(soft, name, *codes)[0] for codes in rows]


@pytest.mark.parametrize("name", ["FP32", "TF32"])
def test_remainders_of_operands_however_far_apart_agree_with_the_host(name):
    row, rng = data_type(name), np.random.default_rng(24)
    live = np.uint32(row.storage_mask & (-1 << row.dead_bits))
    first, second = rng.integers(0, 1 << 32, (2, 50000), dtype=np.uint32) & live
    with np.errstate(all="ignore"):
        # Multiples and their neighbours.
        parts = first.view(np.float32) / rng.integers(1, 99, 50000).astype(np.float32)
        second[::3] = parts.view(np.uint32)[::3] & live
        expected = np.fmod(first.view(np.float32), second.view(np.float32))
    codes = np.where(np.isnan(expected), np.uint32(row.canonical_nan), expected.view(np.uint32))
    np.testing.assert_array_equal(arithmetic(row).fmod(first, second)[0], codes)


@pytest.mark.parametrize("operation", ["relu", "read"])
def test_a_quiet_nan_raises_nothing_and_a_signalling_one_raises_nv(operation):
    function = getattr(arithmetic(data_type("FP32")), operation)
    assert function(np.array([0xFFC00001], np.uint32)) == (np.array([0x7FC00000]), NO_FLAG)
    assert function(np.array([0xFF800001], np.uint32)) == (np.array([0x7FC00000]), Flag.NV)


def test_the_slope_of_a_value_above_zero_is_not_looked_at():
    row = data_type("FP32")
    signalling, one = np.array([0x7FA00000], np.uint32), np.array([0x3F800000], np.uint32)
    assert arithmetic(row).leaky_relu(one, signalling) == (one, NO_FLAG)
    assert arithmetic(row).leaky_relu(one ^ np.uint32(row.sign_bit), signalling)[1] == Flag.NV


@pytest.mark.parametrize("operation", BINARY)
@pytest.mark.parametrize("name", ["FP32", "TF32", "E4M3"])
def test_a_scalar_operand_is_spread_over_a_tile_with_specials(name, operation):
    row = data_type(name)
    kind = f"u{row.storage_bits // 8}"
    tile = np.array(edges(name)[: len(edges(name)) // 2 * 2], kind).reshape(2, -1)
    function = getattr(arithmetic(row), operation)
    for scalar in edges(name)[::3]:
        got, raised = function(tile, np.array([[scalar]], kind))
        expected, flags = function(tile, np.full(tile.shape, scalar, kind))
        np.testing.assert_array_equal(got, expected)
        assert raised == flags


@pytest.mark.parametrize("operation", OPERANDS)
@pytest.mark.parametrize("name", ["FP64", "FP16", "E5M2"])
def test_operands_are_left_as_they_were_and_the_result_is_a_new_array(name, operation):
    row = data_type(name)
    operands = arrays(row, tuples(name, OPERANDS[operation], 100))
    before = [codes.copy() for codes in operands]
    got, _ = getattr(arithmetic(row), operation)(*operands)
    assert all(map(np.array_equal, before, operands))
    assert not any(np.shares_memory(got, codes) for codes in operands)
    assert (got.dtype, got.flags.c_contiguous, got.flags.writeable) == (operands[0].dtype, True, True)


@pytest.mark.parametrize("operation", ["add", "multiply", "maximum", "exponential", "add_three"])
@pytest.mark.parametrize("name", ["FP64", "FP32", "TF32", "BF16", "E4M3"])
def test_large_arrays_of_any_layout_give_what_small_ones_give(name, operation):
    row, rng = data_type(name), np.random.default_rng(7)
    shape = (130, 600)
    operands = [
        rng.integers(0, row.storage_mask, shape, dtype=np.uint64, endpoint=True).astype(f"u{row.storage_bits // 8}")
        for _ in range(OPERANDS[operation])
    ]
    function = getattr(arithmetic(row), operation)
    rows = [function(*(codes[at] for codes in operands)) for at in range(shape[0])]
    expected = np.array([codes for codes, _ in rows])
    flags = np.bitwise_or.reduce([int(raised) for _, raised in rows])
    mirrored = [codes[:, ::-1] for codes in operands]
    for got, raised in (function(*operands), function(*map(np.asfortranarray, operands))):
        np.testing.assert_array_equal(got, expected)
        assert raised == flags
    np.testing.assert_array_equal(function(*mirrored)[0], expected[:, ::-1])
    if len(operands) > 1:
        column = function(operands[0], *(codes[:, :1] for codes in operands[1:]))[0]
        spread = function(operands[0], *(np.repeat(codes[:, :1], shape[1], axis=1) for codes in operands[1:]))[0]
        np.testing.assert_array_equal(column, spread)


@pytest.mark.parametrize("at", [0, 40000, 99999])
@pytest.mark.parametrize("operation", ["add", "exponential"])
def test_one_element_of_many_raises_its_flag(operation, at):
    for name in ("FP32", "TF32", "E5M2"):
        row = data_type(name)
        codes = np.zeros(100000, f"u{row.storage_bits // 8}")
        codes[at] = row.positive_infinity + (1 << row.dead_bits)
        assert getattr(arithmetic(row), operation)(*[codes] * OPERANDS[operation])[1] == Flag.NV


@pytest.mark.parametrize("name", ["FP64", "FP32", "TF32", "FP16", "E5M2", "S32"])
@pytest.mark.parametrize("operation", [*BINARY, *TERNARY])
def test_operands_of_any_shapes_are_spread_over_each_other(name, operation):
    row, shapes = data_type(name), ((3, 1), (1, 4), (3, 4))[-OPERANDS[operation] :]
    terms = [codes[: shape[0] * shape[1]].reshape(shape) for codes, shape in zip(
        arrays(row, tuples(name, len(shapes), 40, seed=6)[-40:]), shapes, strict=True
    )]  # fmt: skip
    function = getattr(arithmetic(row), operation)
    for _ in shapes:
        terms = terms[1:] + terms[:1]
        got, raised = function(*terms)
        expected, flags = function(*(np.broadcast_to(term, (3, 4)).copy() for term in terms))
        np.testing.assert_array_equal(got, expected)
        assert raised == flags


@pytest.mark.parametrize("operation", OPERANDS)
def test_single_elements_without_a_shape_and_empty_arrays_are_taken(operation):
    function = getattr(arithmetic(data_type("FP32")), operation)
    one = np.array(0x3F800000, np.uint32)
    got, _ = function(*[one] * OPERANDS[operation])
    assert (got.shape, got.dtype) == ((), np.uint32)
    assert function(*[np.empty((0, 3), np.uint32)] * OPERANDS[operation])[0].shape == (0, 3)


def test_arithmetic_is_refused_for_types_that_only_move():
    for row in DATA_TYPES:
        if not exact.computes(row):
            with pytest.raises(ValueError, match=f"no operation computes in {row.name}"):
                arithmetic(row)


def test_codes_of_another_width_and_bits_of_floats_are_refused():
    with pytest.raises(TypeError, match="codes of FP16 must be an array of uint16, not of uint32"):
        arithmetic(data_type("FP16")).negate(np.zeros(1, np.uint32))
    with pytest.raises(ValueError, match="bit_and has no meaning in the float type FP32"):
        arithmetic(data_type("FP32")).bit_and(np.zeros(1, np.uint32), np.zeros(1, np.uint32))


@pytest.mark.parametrize("name", ["FP32", "FP64", "FP16", "S16"])
@pytest.mark.parametrize("method", ["add", "multiply", "maximum"])
@pytest.mark.parametrize("count", [2, 3, 7, 16])
def test_a_reduction_without_flags_gives_the_codes_of_one_with_flags(name, method, count):
    row = data_type(name)
    codes = np.random.default_rng(count).integers(0, row.storage_mask, (count, 200), np.uint64, endpoint=True)
    values = codes.astype(f"u{row.storage_bits // 8}")
    quick, flags = arithmetic(row, False).reduce(method, values)
    tree, _ = tree_reduce(values, getattr(arithmetic(row), method))
    assert np.array_equal(quick, tree) and flags == NO_FLAG
