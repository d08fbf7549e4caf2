"""Element types: code, storage, bit fields, special encodings and limits, one row per type.

All codes of values (``max_finite``, ``canonical_nan``, ``pad_max`` ...) are *container* codes: the ``storage_bits``
bits that an element occupies in a tile, dead bits included. LinxISA v0.56, element data types.
"""

import enum
from dataclasses import dataclass
from functools import cached_property


class Kind(enum.Enum):
    """How the bits of an element are read."""

    FLOAT = "float"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    SCALE = "scale"


NO_TYPE = 31
"""Code of "no type given", in BSTART (operations without a type) and in B.DATR (no second type)."""

TYPE_CODE_BITS = 5


@dataclass(frozen=True, eq=False)
class DataType:
    """One element type; there is one object for each, so that they are compared and hashed by identity.

    Attributes
    ----------
    name : str
        Name in assembly; types of four bits carry the suffix ``x2`` (two elements a byte).
    code : int
        Code in the five-bit DataType fields.
    storage_bits : int
        Bits an element occupies in tile and memory: 64, 32, 16, 8 or 4.
    value_bits : int
        Bits that carry the value. They are the topmost above ``dead_bits`` (TF32, HF32), else the lowest (E3M2, E2M3).
    exponent_bits, mantissa_bits, bias : int
        Fields of a fixed-field float (``bias`` also of E8M0); 0 for integers and for the tapered HiF8.
    dead_bits : int
        Low container bits that are ignored when an element is read and written as zero by arithmetic.
    tapered : bool
        The split between exponent and mantissa depends on the value (HiF8).
    canonical_nan : int or None
        The NaN that operations produce; None where the type has no NaN.
    max_finite, min_finite : int
        Largest and most negative finite value; for integers the limits of the range.
    """

    name: str
    code: int
    kind: Kind
    storage_bits: int
    value_bits: int
    exponent_bits: int = 0
    mantissa_bits: int = 0
    bias: int = 0
    has_infinity: bool = False
    has_nan: bool = False
    has_signed_zero: bool = False
    has_signalling_nan: bool = False
    dead_bits: int = 0
    tapered: bool = False
    canonical_nan: int | None = None
    max_finite: int = 0
    min_finite: int = 0

    def __reduce__(self) -> tuple[object, ...]:
        return data_type, (self.name,)

    @property
    def pad_max(self) -> int:
        """Container code written by PadValue Max."""
        return self.max_finite

    @property
    def pad_min(self) -> int:
        """Container code written by PadValue Min."""
        return self.min_finite

    @property
    def is_packed(self) -> bool:
        """Two elements share a byte; the even index is in bits 3:0."""
        return self.storage_bits == 4

    @property
    def is_integer(self) -> bool:
        """Two's complement or unsigned integer."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED)

    @property
    def is_float(self) -> bool:
        """Floating point, HiF8 included, E8M0 (a scale) not."""
        return self.kind is Kind.FLOAT

    @property
    def half_bytes(self) -> int:
        """Storage of an element in half bytes: 16, 8, 4, 2 or 1."""
        return self.storage_bits // 4

    @property
    def storage_mask(self) -> int:
        """All bits of the container."""
        return (1 << self.storage_bits) - 1

    @property
    def sign_bit(self) -> int:
        """Container code with only the sign bit set; 0 for unsigned types and E8M0."""
        if self.kind in (Kind.UNSIGNED, Kind.SCALE):
            return 0
        return 1 << (self.value_bits + self.dead_bits - 1)

    @cached_property
    def positive_infinity(self) -> int | None:
        """Container code of plus infinity, None where the type has none."""
        if not self.has_infinity:
            return None
        if self.tapered:
            return self.max_finite + 1
        return ((1 << self.exponent_bits) - 1) << (self.mantissa_bits + self.dead_bits)


def _ieee(name: str, code: int, storage_bits: int, exponent_bits: int, mantissa_bits: int) -> DataType:
    """Float whose all-ones exponent is infinity or NaN; mantissas that do not fill the container leave dead bits."""
    value_bits = 1 + exponent_bits + mantissa_bits
    dead_bits = storage_bits - value_bits
    sign = 1 << (value_bits - 1)
    all_ones = (1 << exponent_bits) - 1
    max_finite = (((all_ones - 1) << mantissa_bits) | ((1 << mantissa_bits) - 1)) << dead_bits
    return DataType(
        name, code, Kind.FLOAT, storage_bits, value_bits, exponent_bits, mantissa_bits,
        bias=(1 << (exponent_bits - 1)) - 1,
        has_infinity=True, has_nan=True, has_signed_zero=True, has_signalling_nan=True, dead_bits=dead_bits,
        canonical_nan=((all_ones << mantissa_bits) | (1 << (mantissa_bits - 1))) << dead_bits,
        max_finite=max_finite, min_finite=max_finite | (sign << dead_bits),
    )  # fmt: skip


def _small(name: str, code: int, storage_bits: int, exponent_bits: int, mantissa_bits: int, *, nan: bool) -> DataType:
    """Float without infinity; with ``nan`` the all-ones code of each sign is a NaN, else every code is finite."""
    value_bits = 1 + exponent_bits + mantissa_bits
    sign = 1 << (value_bits - 1)
    max_finite = sign - 2 if nan else sign - 1
    return DataType(
        name, code, Kind.FLOAT, storage_bits, value_bits, exponent_bits, mantissa_bits,
        bias=max((1 << (exponent_bits - 1)) - 1, 1),
        has_nan=nan, has_signed_zero=True, canonical_nan=sign - 1 if nan else None,
        max_finite=max_finite, min_finite=max_finite | sign,
    )  # fmt: skip


def _signed(name: str, code: int, bits: int) -> DataType:
    """Two's complement integer."""
    return DataType(name, code, Kind.SIGNED, bits, bits, max_finite=(1 << (bits - 1)) - 1, min_finite=1 << (bits - 1))


def _unsigned(name: str, code: int, bits: int) -> DataType:
    """Unsigned integer."""
    return DataType(name, code, Kind.UNSIGNED, bits, bits, max_finite=(1 << bits) - 1)


# fmt: off
DATA_TYPES: tuple[DataType, ...] = (
    _ieee("FP64",    0, 64, 11, 52),
    _ieee("FP32",    1, 32,  8, 23),
    _ieee("TF32",    2, 32,  8, 10),
    _ieee("HF32",    3, 32,  8, 11),
    _ieee("FP16",    4, 16,  5, 10),
    _ieee("BF16",    5, 16,  8,  7),
    DataType("HiF8", 6, Kind.FLOAT, 8, 8, has_infinity=True, has_nan=True, tapered=True,
             canonical_nan=0x80, max_finite=0x6E, min_finite=0xEE),
    _small("E4M3",   7,  8,  4,  3, nan=True),
    _ieee("E5M2",    8,  8,  5,  2),
    _small("E3M2",   9,  8,  3,  2, nan=False),
    _small("E2M3",  10,  8,  2,  3, nan=False),
    _small("E2M1x2", 11, 4,  2,  1, nan=False),
    _small("E1M2x2", 12, 4,  1,  2, nan=False),
    DataType("E8M0", 13, Kind.SCALE, 8, 8, exponent_bits=8, bias=127, has_nan=True,
             canonical_nan=0xFF, max_finite=0xFE, min_finite=0x00),
    _small("HiF4x2", 14, 4,  1,  2, nan=False),
    _signed("S64",   16, 64),
    _signed("S32",   17, 32),
    _signed("S16",   18, 16),
    _signed("S8",    19,  8),
    _signed("S4x2",  20,  4),
    _unsigned("U64", 24, 64),
    _unsigned("U32", 25, 32),
    _unsigned("U16", 26, 16),
    _unsigned("U8",  27,  8),
    _unsigned("U4x2", 28, 4),
)
# fmt: on

_BY_CODE = {row.code: row for row in DATA_TYPES}
_BY_NAME = {row.name.upper(): row for row in DATA_TYPES}


def is_data_type(code: int) -> bool:
    """Whether a five-bit code is assigned (:data:`NO_TYPE` is not)."""
    return code in _BY_CODE


def data_type(key: str | int) -> DataType:
    """Return the row of a name (any letter case) or a code.

    Raises
    ------
    ValueError
        The name or code is not assigned.
    """
    row = _BY_CODE.get(key) if isinstance(key, int) else _BY_NAME.get(key.upper())
    if row is None:
        raise ValueError(f"data type {key!r} is not one of {', '.join(entry.name for entry in DATA_TYPES)}")
    return row
