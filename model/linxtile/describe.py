"""Words for element codes and exact numbers."""

from fractions import Fraction

from linxtile import formats
from linxtile.isa.types import DataType, Kind
from linxtile.values import Class, decode

__all__ = ["code_text", "describe_code", "number_text", "rounded_text", "value_text"]

_MANY_DIGITS = 25


def code_text(code: int, data_type: DataType) -> str:
    """Return a code as hex digits of the container's width."""
    return f"0x{code:0{-(-data_type.storage_bits // 4)}x}"


def number_text(value: Fraction) -> str:
    """Return an exact number: in decimal where that is short, else rounded decimal and exact hexadecimal or fraction."""
    if value.denominator == 1 and abs(value.numerator) < 10**_MANY_DIGITS:
        return str(value.numerator)
    places = _decimal_places(value.denominator)
    if places is not None and 0 < places <= _MANY_DIGITS:
        digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
        return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"
    if value.denominator & (value.denominator - 1):
        return f"{value.numerator}/{value.denominator} (about {rounded_text(value)})"
    return f"{_hexadecimal(value)} (about {rounded_text(value)})"


def _decimal_places(denominator: int) -> int | None:
    """Return the decimals that a fraction with this denominator needs, None if they never end."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def _hexadecimal(value: Fraction) -> str:
    """Return a dyadic number as C writes it, of any size: ``0x1.8p-1074``."""
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    scaled = magnitude / Fraction(2) ** exponent
    if scaled < 1:
        scaled, exponent = scaled * 2, exponent - 1
    fraction = scaled - 1
    bits = -(-(fraction.denominator.bit_length() - 1) // 4) * 4
    digits = f"{int(fraction * (1 << bits)):0{bits // 4}x}" if bits else "0"
    return f"{'-' if value < 0 else ''}0x1.{digits}p{exponent:+d}"


def rounded_text(value: Fraction, digits: int = 17) -> str:
    """Return a number of any size, rounded to significant decimal digits."""
    magnitude = abs(value)
    exponent = len(str(magnitude.numerator)) - len(str(magnitude.denominator))
    if magnitude < Fraction(10) ** exponent:
        exponent -= 1
    number = round(magnitude / Fraction(10) ** (exponent - digits + 1))
    if number == 10**digits:
        number, exponent = number // 10, exponent + 1
    text = str(number).rstrip("0") or "0"
    tail = f".{text[1:]}" if text[1:] else ""
    return f"{'-' if value < 0 else ''}{text[0]}{tail}e{exponent:+d}"


def value_text(code: int, data_type: DataType) -> str:
    """Return the exact value of a code in words or digits."""
    value = decode(code, data_type)
    if value.is_nan:
        return value.kind.value
    if value.kind is Class.INFINITY:
        return "-inf" if value.negative else "inf"
    return "-0" if value.negative and not value.magnitude else number_text(value.signed)


def describe_code(code: int, element_type: str | DataType) -> str:
    """Return what a code means: value, fields, special role, neighbours; several lines without a final newline."""
    row = formats.get(element_type)
    code = formats.checked_code(code, row)
    lines = [f"{row.name} {code_text(code, row)} = {value_text(code, row)}"]
    lines += [f"  {line}" for line in (*_fields(code, row), *_roles(code, row))]
    if not formats.is_nan(code, row):
        below, above = formats.neighbours(code, row)
        lines.append(f"  next below {_neighbour(below, row)}, next above {_neighbour(above, row)}")
    return "\n".join(lines)


def _neighbour(code: int | None, row: DataType) -> str:
    return "none" if code is None else f"{code_text(code, row)} = {value_text(code, row)}"


def _fields(code: int, row: DataType) -> list[str]:
    if row.is_integer:
        return [f"{row.storage_bits} bits, " + ("two's complement" if row.kind is Kind.SIGNED else "unsigned")]
    bits = f"{(code >> row.dead_bits) & ((1 << row.value_bits) - 1):0{row.value_bits}b}"
    if row.tapered:
        return [f"sign {bits[0]}, tapered exponent and mantissa {bits[1:]}"]
    if row.kind is Kind.SCALE:
        return [f"power of two, exponent {bits} ({code} - {row.bias} = {code - row.bias})"]
    exponent = int(bits[1 : 1 + row.exponent_bits], 2)
    power = max(exponent, 1) - row.bias
    parts = [
        f"sign {bits[0]}",
        f"exponent {bits[1 : 1 + row.exponent_bits]}",
        f"mantissa {bits[1 + row.exponent_bits :]}",
    ]
    value = decode(code, row)
    if value.kind is Class.FINITE:
        parts[1] += f" (2^{power}{'' if exponent else ', subnormal'})"
        parts[2] += f" ({'1' if exponent else '0'} + {int(bits[1 + row.exponent_bits :], 2)}/{1 << row.mantissa_bits})"
    lines = [", ".join(parts)]
    if code & ((1 << row.dead_bits) - 1):
        lines.append(f"the low {row.dead_bits} bits are not zero; arithmetic ignores them")
    if code >> (row.value_bits + row.dead_bits):
        lines.append(f"the upper {row.storage_bits - row.value_bits} bits are not zero; they are ignored")
    return lines


def _roles(code: int, row: DataType) -> list[str]:
    limits = formats.limits(row)
    lowest = "most negative finite value" if row.sign_bit else "smallest value"
    names = {
        "largest finite value": limits.max_finite, lowest: limits.min_finite,
        "smallest normal value": limits.min_normal, "largest subnormal value": limits.max_subnormal,
        "smallest subnormal value": limits.min_subnormal, "the NaN that operations produce": limits.nan,
    }  # fmt: skip
    return [name for name, special in names.items() if special == code]
