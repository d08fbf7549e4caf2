"""The element types for people: limits, special codes, neighbours, values and codes.

A type is named by a string (``"E4M3"``, any letter case; packed types with or without their ``x2``) or by its
`DataType`; codes are container codes, as they lie in tiles and memory. LinxISA v0.56, element data types.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from linxtile import values
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import CompareMode, RoundingMode
from linxtile.isa.types import DATA_TYPES, DataType, Kind, data_type
from linxtile.rounding import round_value
from linxtile.values import Class, Value, power_of_two

__all__ = [
    "NAMES", "Limits", "compare_mode", "decode", "encode", "explain", "get", "is_exact", "is_nan", "limits", "neighbours", "number", "round_number", "rounding_mode",
]  # fmt: skip

NAMES: tuple[str, ...] = tuple(row.name for row in DATA_TYPES)
"""Every element type."""


@dataclass(frozen=True)
class Limits:
    """Special codes of a type; None where it has none.

    Attributes
    ----------
    max_finite, min_finite : int
        Largest and most negative finite value.
    min_normal, max_subnormal, min_subnormal : int or None
        Smallest positive normal value, largest and smallest positive subnormal value; None for integers and E8M0.
    infinity : int or None
        Plus infinity.
    nan : int or None
        The NaN that operations produce.
    """

    max_finite: int
    min_finite: int
    min_normal: int | None
    max_subnormal: int | None
    min_subnormal: int | None
    infinity: int | None
    nan: int | None


def get(element_type: str | DataType) -> DataType:
    """Return the row of a type.

    Raises
    ------
    TypeError
        Neither a name nor a `DataType`.
    ValueError
        No type has this name.
    """
    if isinstance(element_type, DataType):
        return element_type
    if not isinstance(element_type, str):
        raise TypeError(f"element type must be a name such as 'FP16', not {element_type!r}")
    return data_type(element_type + "x2" if element_type.upper() in _SHORT_PACKED else element_type)


_SHORT_PACKED = frozenset(row.name.removesuffix("x2").upper() for row in DATA_TYPES if row.is_packed)


def rounding_mode(name: str | RoundingMode) -> RoundingMode:
    """Return a rounding mode by its name in assembly: NONE, RNE, RTZ, RDN, RUP, RNA, RTO or RHB."""
    if isinstance(name, RoundingMode):
        return name
    if not isinstance(name, str):
        raise TypeError(f"rounding must be a name such as 'RNE', not {name!r}")
    if name.upper() not in RoundingMode.__members__:
        raise ValueError(f"rounding must be one of {', '.join(RoundingMode.__members__)}, not {name!r}")
    return RoundingMode[name.upper()]


def compare_mode(name: str | CompareMode) -> CompareMode:
    """Return a relation by its name in assembly: EQ, NE, LT, GT, LE or GE."""
    if isinstance(name, CompareMode):
        return name
    if not isinstance(name, str):
        raise TypeError(f"mode must be a name such as 'LT', not {name!r}")
    if name.upper() not in CompareMode.__members__:
        raise ValueError(f"mode must be one of {', '.join(CompareMode.__members__)}, not {name!r}")
    return CompareMode[name.upper()]


def truth(what: str, value: object) -> bool:
    """Return True or False as it is; anything else is a TypeError."""
    if not isinstance(value, bool):
        raise TypeError(f"{what} must be True or False, not {value!r}")
    return value


def decode(code: int, element_type: str | DataType) -> Value:
    """Return the exact value of a code: its kind, sign and magnitude."""
    row = get(element_type)
    return values.decode(checked_code(code, row), row)


def checked_code(code: int, element_type: str | DataType) -> int:
    """Return a code as a plain integer after checking that it fits the container of the type."""
    row = get(element_type)
    if isinstance(code, bool) or not hasattr(code, "__index__"):
        raise TypeError(f"code must be an integer, not {code!r}")
    if not 0 <= code <= row.storage_mask:
        raise ValueError(f"code of {row.name} must be 0 to {row.storage_mask:#x}, not {_hex(int(code))}")
    return int(code)


def _hex(code: int) -> str:
    return f"{code:#x}"


def limits(element_type: str | DataType) -> Limits:
    """Return the special codes of a type."""
    row = get(element_type)
    normal = largest = smallest = None
    if row.tapered:
        # Seven powers of two below the tapered part, 2^-22 to 2^-16; the smallest value with a mantissa is 2^-15.
        normal, largest, smallest = round_number(power_of_two(-15), row)[0], 0x07, 0x01
    elif row.is_float:
        unit = 1 << row.dead_bits
        normal = unit << row.mantissa_bits
        largest, smallest = normal - unit, unit
    return Limits(row.max_finite, row.min_finite, normal, largest, smallest, row.positive_infinity, row.canonical_nan)


def is_nan(code: int, element_type: str | DataType) -> bool:
    """Whether a code is a quiet or signalling NaN."""
    row = get(element_type)
    return decode(code, row).is_nan


def number(code: int, element_type: str | DataType) -> int | float:
    """Return the value of a code: an int for integer types, else a float, which holds every value of every type exactly."""
    row = get(element_type)
    value = decode(code, row)
    if row.is_integer:
        return int(value.signed)
    if value.is_nan:
        return float("nan")
    magnitude = float("inf") if value.kind is Class.INFINITY else float(value.magnitude)
    return -magnitude if value.negative else magnitude


def encode(
    value: int | float | Fraction,
    element_type: str | DataType,
    *,
    rounding: str | RoundingMode = "RNE",
    saturate: bool = False,
) -> int:
    """Return the code of a value, rounded once as a conversion rounds; see `round_number` for the flags."""
    return round_number(value, element_type, rounding=rounding, saturate=saturate)[0]


def round_number(
    value: int | float | Fraction,
    element_type: str | DataType,
    *,
    rounding: str | RoundingMode = "RNE",
    saturate: bool = False,
) -> tuple[int, Flag]:
    """Round a value to a type by the rules of TCVT.

    Parameters
    ----------
    value : int, float or Fraction
        The exact value; infinities, NaN and minus zero only as a float.
    rounding : str or RoundingMode
        Name of the mode.
    saturate : bool
        Clamp what lies beyond the largest finite value.

    Returns
    -------
    (int, Flag)
        Code, and the flags that the conversion raises.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, Fraction)):
        raise TypeError(f"value must be an int, a float or a Fraction, not {value!r}")
    return round_value(_exact(value), get(element_type), rounding_mode(rounding), truth("saturate", saturate))


def _exact(value: int | float | Fraction) -> Value:
    if isinstance(value, float):
        if value != value:
            return Value(Class.NAN)
        negative = str(value).startswith("-")
        if value in (float("inf"), float("-inf")):
            return Value(Class.INFINITY, negative)
        return Value(Class.FINITE, negative, abs(Fraction(value)))
    return Value(Class.FINITE, value < 0, abs(Fraction(value)))


def is_exact(value: int | float | Fraction, element_type: str | DataType) -> bool:
    """Whether a type holds a value exactly; NaN counts where the type has one."""
    row = get(element_type)
    code, flags = round_number(value, row)
    read = decode(code, row)
    wanted = _exact(value)
    if wanted.is_nan or read.is_nan or wanted.kind is not read.kind:
        return wanted.is_nan and read.is_nan
    if wanted.kind is Class.INFINITY or not wanted.magnitude:
        return wanted.negative == read.negative or not row.has_signed_zero
    return flags == NO_FLAG and wanted.signed == read.signed


def neighbours(code: int, element_type: str | DataType) -> tuple[int | None, int | None]:
    """Return the codes of the next value below and above, None at the ends; infinities count, both zeros are one value.

    Raises
    ------
    ValueError
        The code is a NaN.
    """
    row = get(element_type)
    code = checked_code(code, row)
    if decode(code, row).is_nan:
        raise ValueError(f"a NaN has no neighbours, and code {_hex(code)} of {row.name} is one")
    if row.tapered:
        codes = _sorted_codes(row)
        place = codes.index(code)
        return (codes[place - 1] if place else None), (codes[place + 1] if place + 1 < len(codes) else None)
    ordinal = _ordinal(code, row)
    return _from_ordinal(ordinal - 1, row), _from_ordinal(ordinal + 1, row)


@cache
def _sorted_codes(row: DataType) -> list[int]:
    """Return the codes of a small type from minus to plus infinity, without NaN."""
    decoded = {code: decode(code, row) for code in range(row.storage_mask + 1)}
    infinite = {False: Fraction(1 << 64), True: -Fraction(1 << 64)}
    key = {
        code: infinite[value.negative] if value.kind is Class.INFINITY else value.signed
        for code, value in decoded.items()
        if not value.is_nan
    }
    return sorted(key, key=key.__getitem__)


def _ordinal(code: int, row: DataType) -> int:
    """Return a number that counts values upwards in steps of 1; both zeros of a float are 0."""
    if row.is_integer or row.kind is Kind.SCALE:
        return int(decode(code, row).signed) if row.is_integer else code
    code &= row.storage_mask & ((row.sign_bit << 1) - 1)
    magnitude = (code & ~row.sign_bit) >> row.dead_bits
    return -magnitude if code & row.sign_bit else magnitude


def _from_ordinal(ordinal: int, row: DataType) -> int | None:
    """Return the code of an ordinal, None beyond the last value on either side."""
    if row.is_integer:
        low, high = (_ordinal(limit, row) for limit in (row.min_finite, row.max_finite))
        return ordinal & row.storage_mask if low <= ordinal <= high else None
    if row.kind is Kind.SCALE:
        return ordinal if row.min_finite <= ordinal <= row.max_finite else None
    magnitude = abs(ordinal) << row.dead_bits
    largest = row.max_finite if row.positive_infinity is None else row.positive_infinity
    if magnitude > largest:
        return None
    return magnitude | (row.sign_bit if ordinal < 0 else 0)


def explain(code: int, element_type: str | DataType) -> str:
    """Return what a code means in words: value, fields, special role, neighbours."""
    # Here and not above, as the words are made from what this module says.
    from linxtile.describe import describe_code

    return describe_code(code, element_type)
