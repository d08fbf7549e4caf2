"""The element types that a slot serves, and how its datapath is sized for them.

A format is a row of :data:`linxtile.isa.types.DATA_TYPES`; nothing here knows one by name.
"""

from amaranth.hdl import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig
from linxtile.isa.types import DATA_TYPES, TYPE_CODE_BITS, DataType, Kind

from .control import LANE_PROGRAMS, LaneOperation

__all__ = [
    "FLOAT_ARITHMETIC", "TypeDecoder", "exponent_bits", "float_formats", "number_layout", "significand_bits", "slot_types",
    "type_layout",
]  # fmt: skip

FLOAT_ARITHMETIC = frozenset({
    LaneOperation.ADD, LaneOperation.SUB, LaneOperation.MAX, LaneOperation.MIN, LaneOperation.RELU,
})  # fmt: skip
"""Operations that read the value of a float; all others move or flip its bits."""


def slot_types(element_bytes: int, config: CoreConfig) -> tuple[DataType, ...]:
    """Return the types of at most ``element_bytes`` bytes with which ``config`` runs any operation of the lanes."""
    names = {name for operation, types in config.operations.items() if operation in LANE_PROGRAMS for name in types}
    return tuple(row for row in DATA_TYPES if row.name in names and row.storage_bits <= 8 * element_bytes)


def float_formats(element_bytes: int, config: CoreConfig) -> tuple[DataType, ...]:
    """Return the float types of at most ``element_bytes`` bytes on which ``config`` does arithmetic.

    Raises
    ------
    ValueError
        A type has no fixed fields: no unpacker for it exists.
    """
    names = {
        name
        for operation, types in config.operations.items()
        if operation in LANE_PROGRAMS and LANE_PROGRAMS[operation].operation in FLOAT_ARITHMETIC
        for name in types
    }
    formats = tuple(row for row in slot_types(element_bytes, config) if row.is_float and row.name in names)
    for row in formats:
        if row.tapered:
            raise ValueError(f"arithmetic needs a type with fixed fields, not {row.name}")
    return formats


def significand_bits(formats: tuple[DataType, ...]) -> int:
    """Return the bits of the widest significand, leading bit included."""
    return max(row.mantissa_bits for row in formats) + 1


def exponent_bits(formats: tuple[DataType, ...]) -> int:
    """Return the bits of the widest exponent field."""
    return max(row.exponent_bits for row in formats)


def number_layout(formats: tuple[DataType, ...]) -> data.StructLayout:
    """An unpacked float of any of the formats.

    ``significand`` is left-aligned, its top bit the leading bit (0 for subnormals). ``exponent`` is the format's own
    exponent field, 1 for subnormals: operands of an addition have one format, so its bias never matters.
    """
    return data.StructLayout({
        "sign": 1,
        "exponent": exponent_bits(formats),
        "significand": significand_bits(formats),
        "is_nan": 1,
        "is_signalling": 1,
        "is_infinite": 1,
    })  # fmt: skip


def type_layout(formats: tuple[DataType, ...]) -> data.StructLayout:
    """A decoded type: log2 of its bytes, whether integers are signed, and which of ``formats`` (one bit each) it is."""
    return data.StructLayout({"size": 2, "is_signed": 1, "is_float": 1, "format": len(formats)})


class TypeDecoder(wiring.Component):
    """Combinational decoder of type codes; a code that is not among ``types`` decodes as an unsigned byte.

    Parameters
    ----------
    types : tuple of DataType
        Types to know.
    formats : tuple of DataType
        Those among them that the float datapath takes.

    Members
    -------
    code : In(TYPE_CODE_BITS)
    decoded : Out(type_layout(formats))
    """

    def __init__(self, *, types: tuple[DataType, ...], formats: tuple[DataType, ...]):
        self._types = types
        self._formats = formats
        super().__init__({"code": In(TYPE_CODE_BITS), "decoded": Out(type_layout(formats))})

    def elaborate(self, platform):
        m = Module()
        with m.Switch(self.code):
            for row in self._types:
                with m.Case(row.code):
                    m.d.comb += [
                        self.decoded.size.eq((row.storage_bits // 8).bit_length() - 1),
                        self.decoded.is_signed.eq(row.kind is Kind.SIGNED),
                        self.decoded.is_float.eq(row.is_float),
                    ]
                    if row in self._formats:
                        m.d.comb += self.decoded.format.eq(1 << self._formats.index(row))
        return m
