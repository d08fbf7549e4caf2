"""Exponentials, logarithms, reciprocals and roots of the definition against MPFR and SoftFloat."""

from fractions import Fraction

import gmpy2
import pytest
from number_oracles import COMPUTING, FORMATS, INTEGERS, SOFT_KINDS, finished, mpfr_context, soft_operation, specials
from number_oracles import exact as exact_value
from number_samples import tuples

from linxtile import exact, explog64
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import data_type
from linxtile.values import Class, decode

MPFR = {
    "exponential": gmpy2.exp,
    "logarithm": gmpy2.log,
    "reciprocal": lambda value: 1 / value,
    "square_root": gmpy2.sqrt,
    "reciprocal_root": gmpy2.rec_sqrt,
}
SHORT = [name for name in COMPUTING if name != "FP64"]


def expected(operation, code, name):
    """Return what MPFR and the page's table of special operands give."""
    form = FORMATS[name]
    value = decode(code, data_type(name))
    if answer := specials(name, code):
        return answer
    minus = form.sign_bit if value.negative else 0
    infinite, zero = value.kind is Class.INFINITY, value.kind is Class.FINITE and value.magnitude == 0
    if zero and operation in ("logarithm", "reciprocal", "reciprocal_root"):
        sign = form.sign_bit if operation == "logarithm" else minus
        return (form.nan if form.infinity is None else form.infinity | sign), Flag.DZ
    if zero:
        return (minus, NO_FLAG) if operation == "square_root" else (row_one(name), NO_FLAG)
    if value.negative and operation not in ("exponential", "reciprocal"):
        return form.nan, Flag.NV
    if infinite:
        return {
            "exponential": 0 if value.negative else form.infinity, "logarithm": form.infinity,
            "reciprocal": minus, "square_root": form.infinity, "reciprocal_root": 0,
        }[operation], NO_FLAG  # fmt: skip
    with mpfr_context(name):
        # The operand itself is exact in the precision of its format.
        return finished(MPFR[operation](gmpy2.mpfr(exact_value(code, name))), name)


def row_one(name):
    """Return the code of one: the bias in the exponent field."""
    form = FORMATS[name]
    return form.bias << (form.precision - 1) << form.dead_bits


@pytest.mark.parametrize("operation", MPFR)
@pytest.mark.parametrize("name", SHORT)
def test_functions_are_rounded_correctly(name, operation):
    row, function = data_type(name), getattr(exact, operation)
    codes = range(256) if row.storage_bits == 8 else [code for (code,) in tuples(name, 1, 1500)]
    for code in codes:
        assert function(code, row) == expected(operation, code, name), hex(code)


@pytest.mark.parametrize("operation", ["reciprocal", "square_root", "reciprocal_root"])
def test_reciprocal_and_roots_of_fp64_are_rounded_correctly(operation):
    row = data_type("FP64")
    for (code,) in tuples("FP64", 1, 2000):
        assert getattr(exact, operation)(code, row) == expected(operation, code, "FP64"), hex(code)


@pytest.mark.parametrize("operation", ["exponential", "logarithm"])
@pytest.mark.parametrize("name", ["TF32", "HF32", "FP32", "FP16", "BF16"])
def test_arguments_near_a_limit_of_the_function_are_rounded_correctly(name, operation):
    form, row = FORMATS[name], data_type(name)
    unit, one = 1 << form.dead_bits, row_one(name)
    if operation == "logarithm":
        middles = [one]
    else:
        # Where the result passes the largest finite value, the least normal and half the least subnormal one.
        limits = [form.largest, Fraction(2) ** (1 - form.bias), Fraction(2) ** (1 - form.bias - form.precision)]
        with gmpy2.context(precision=200):
            logarithms = [
                gmpy2.log(gmpy2.mpfr(limit.numerator)) - gmpy2.log(gmpy2.mpfr(limit.denominator)) for limit in limits
            ]
        with mpfr_context(name):
            rounded = [finished(gmpy2.mpfr(value), name)[0] for value in logarithms]
        middles = [*rounded, 0, form.sign_bit]
    for middle in middles:
        for step in range(-40, 41):
            code = (middle + step * unit) & row.storage_mask
            assert getattr(exact, operation)(code, row) == expected(operation, code, name), hex(code)


@pytest.mark.parametrize("name", SOFT_KINDS)
def test_the_square_root_is_that_of_softfloat(name):
    row = data_type(name)
    for (code,) in tuples(name, 1, 4000):
        assert exact.square_root(code, row) == soft_operation("sqrt", name, code), hex(code)


@pytest.mark.slow
@pytest.mark.parametrize("operation", MPFR)
@pytest.mark.parametrize("name", ["FP16", "BF16"])
def test_functions_of_every_sixteen_bit_code_are_rounded_correctly(name, operation):
    row = data_type(name)
    for code in range(1 << 16):
        assert getattr(exact, operation)(code, row) == expected(operation, code, name), hex(code)


@pytest.mark.slow
@pytest.mark.parametrize("operation", MPFR)
@pytest.mark.parametrize("name", ["FP32", "TF32", "HF32"])
def test_functions_of_many_random_codes_are_rounded_correctly(name, operation):
    row = data_type(name)
    for (code,) in tuples(name, 1, 100_000, seed=2):
        assert getattr(exact, operation)(code, row) == expected(operation, code, name), hex(code)


def test_the_exponential_and_logarithm_of_fp64_are_the_integer_algorithm():
    row = data_type("FP64")
    for (code,) in tuples("FP64", 1, 200):
        assert exact.exponential(code, row) == explog64.exp64(code)
        assert exact.logarithm(code, row) == explog64.log64(code)


@pytest.mark.parametrize("name", COMPUTING)
def test_the_exponential_of_a_difference_rounds_the_difference_first(name):
    row = data_type(name)
    for first, second in tuples(name, 2, 200):
        if name in SOFT_KINDS:
            difference, raised = soft_operation("sub", name, first, second)
        else:
            difference, raised = exact.subtract(first, second, row)
        power, flags = explog64.exp64(difference) if name == "FP64" else expected("exponential", difference, name)
        assert exact.exponential_difference(first, second, row) == (power, raised | flags), (hex(first), hex(second))


def truncated(operation, value, lowest, highest):
    """Return the integer result by the page: the real one truncated and held within the type, special operands listed."""
    special = {
        "exponential": {}, "logarithm": {0: lowest}, "reciprocal": {0: -1}, "square_root": {}, "reciprocal_root": {0: highest},
    }[operation]  # fmt: skip
    if value in special:
        return special[value]
    if value < 0 and operation in ("logarithm", "square_root", "reciprocal_root"):
        return 0
    with gmpy2.context(precision=300):
        result = MPFR[operation](gmpy2.mpfr(value))
        return highest if result > highest else int(gmpy2.trunc(result))


@pytest.mark.parametrize("operation", MPFR)
@pytest.mark.parametrize("name", INTEGERS)
def test_functions_of_integers_are_truncated_and_saturated(name, operation):
    row = data_type(name)
    bits = row.storage_bits
    lowest, highest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if name[0] == "S" else (0, (1 << bits) - 1)
    codes = (
        {code for (code,) in tuples(name, 1, 200)} | set(range(100)) | {-value % (1 << bits) for value in range(100)}
    )
    # Squares, powers of e and their neighbours.
    codes |= {(root * root + step) % (1 << bits) for root in (3, 11, 181, 46340, 65535) for step in (-1, 0, 1)}
    codes |= {int(2.718281828459045**power) % (1 << bits) for power in range(1, 44)}
    for code in codes:
        value = code - (1 << bits) if name[0] == "S" and code >> (bits - 1) else code
        result = truncated(operation, value, lowest, highest) % (1 << bits)
        assert getattr(exact, operation)(code, row) == (result, NO_FLAG), value


def test_an_integer_function_missing_from_its_table_is_refused(monkeypatch):
    monkeypatch.setattr("linxtile.exact.integer_functions.INTEGER_FUNCTIONS", {})
    with pytest.raises(ValueError, match="exponential has no meaning in the integer type S8"):
        exact.exponential(1, data_type("S8"))
