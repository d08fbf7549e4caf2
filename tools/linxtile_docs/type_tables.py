"""Tables of the element types page, made from the type table and the definition of each code's value."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from linxtile import formats
from linxtile.isa.types import DATA_TYPES, DataType, Kind
from linxtile.values import Class, Value, decode, floor_log2
from linxtile_docs.markdown import table

_SHORT_DIGITS = 8
_ROW_CODES = 8


def value_text(value: Value) -> str:
    """Write a value in decimal digits where they are few, else as an odd number times a power of two."""
    if value.is_nan:
        return "NaN"
    sign = "-" if value.negative else ""
    if value.kind is Class.INFINITY:
        return f"{sign}inf"
    return sign + _magnitude_text(value.magnitude)


def _magnitude_text(magnitude: Fraction) -> str:
    digits = str(magnitude.numerator) if magnitude.denominator == 1 else repr(float(magnitude))
    if len(digits) <= _SHORT_DIGITS and Fraction(digits) == magnitude:
        return digits
    odd = magnitude.numerator >> (magnitude.numerator & -magnitude.numerator).bit_length() - 1
    exponent = floor_log2(magnitude) - (odd.bit_length() - 1)
    if odd == 1:
        return f"2^{exponent}"
    # A long run of ones is clearer as the power of two that it falls short of.
    if odd & (odd + 1) == 0 and odd.bit_length() > _SHORT_DIGITS:
        return f"(2^{odd.bit_length()} - 1)*2^{exponent}" if exponent else f"2^{odd.bit_length()} - 1"
    return f"{odd}*2^{exponent}"


def code_text(code: int | None, row: DataType) -> str:
    """Write a container code with all its digits; a dash where there is none."""
    return "-" if code is None else f"`0x{code:0{row.half_bytes}X}`"


def overview() -> str:
    """Return storage and fields of every type."""
    return table(
        ("Code", "Type", "Kind", "Stored bits", "Value bits", "Sign, exponent, mantissa", "Bias", "Infinity", "NaN"),
        (
            (
                row.code, f"`{row.name}`", "scale" if row.kind is Kind.SCALE else row.kind.value, row.storage_bits,
                row.value_bits, _fields(row), row.bias or "-", _yes(row.has_infinity), _yes(row.has_nan),
            )
            for row in DATA_TYPES
        ),
    )  # fmt: skip


def _fields(row: DataType) -> str:
    if row.is_integer:
        return "-"
    if row.tapered:
        return "depends on the value"
    signs = 0 if row.kind is Kind.SCALE else 1
    return f"{signs}, {row.exponent_bits}, {row.mantissa_bits}"


def _yes(flag: bool) -> str:
    return "yes" if flag else "no"


def limits() -> str:
    """Return the limits and special codes of the types that are not integers."""
    header = ("Type", "Largest", "Smallest normal", "Largest subnormal", "Smallest subnormal", "Infinity", "NaN made")
    rows = []
    for row in DATA_TYPES:
        if row.is_integer:
            continue
        found = formats.limits(row)
        values = (found.max_finite, found.min_normal, found.max_subnormal, found.min_subnormal)
        specials = (code_text(found.infinity, row), code_text(found.nan, row))
        rows.append((f"`{row.name}`", *(_with_value(code, row) for code in values), *specials))
    return table(header, rows)


def _with_value(code: int | None, row: DataType) -> str:
    return "-" if code is None else f"{code_text(code, row)} {value_text(decode(code, row))}"


def pads() -> str:
    """Return what the pads Max and Min write."""
    return table(
        ("Type", "Max", "", "Min", ""),
        (
            (
                f"`{row.name}`", code_text(row.pad_max, row), value_text(decode(row.pad_max, row)),
                code_text(row.pad_min, row), value_text(decode(row.pad_min, row)),
            )
            for row in DATA_TYPES
        ),
    )  # fmt: skip


def four_bit_values() -> str:
    """Return the value of all codes of the types of four bits, a type a column."""
    rows = [row for row in DATA_TYPES if row.is_packed]
    return table(
        ("Code", *(f"`{row.name}`" for row in rows)),
        ((f"`0x{code:X}`", *(value_text(decode(code, row)) for row in rows)) for code in range(16)),
    )


def small_values(name: str) -> str:
    """Return the values of a type of six or eight bits: the codes without sign bit, eight a line."""
    row = formats.get(name)
    count = row.sign_bit or 1 << row.value_bits
    return table(
        ("", *(f"+{place}" for place in range(_ROW_CODES))),
        (
            (f"`0x{first:02X}`", *(value_text(decode(first + place, row)) for place in range(_ROW_CODES)))
            for first in range(0, count, _ROW_CODES)
        ),
    )


TABLES: Mapping[str, Callable[[], str]] = {
    "types.overview": overview,
    "types.limits": limits,
    "types.pads": pads,
    "types.four_bit_values": four_bit_values,
}
