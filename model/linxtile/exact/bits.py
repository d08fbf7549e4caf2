"""Bitwise operations and shifts, of the eight integer types."""

from linxtile.exact.operands import computes, integer
from linxtile.flags import NO_FLAG
from linxtile.isa.types import DataType
from linxtile.rounding import Outcome


def bit_and(first: int, second: int, data_type: DataType) -> Outcome:
    """Bitwise AND."""
    return _element(first & second, data_type)


def bit_or(first: int, second: int, data_type: DataType) -> Outcome:
    """Bitwise OR."""
    return _element(first | second, data_type)


def bit_xor(first: int, second: int, data_type: DataType) -> Outcome:
    """Bitwise exclusive OR."""
    return _element(first ^ second, data_type)


def bit_not(code: int, data_type: DataType) -> Outcome:
    """Bitwise complement."""
    return _element(~code, data_type)


def shift_left(code: int, count: int, data_type: DataType) -> Outcome:
    """Shift by the count modulo the element width."""
    return _element(code << (count % data_type.storage_bits), data_type)


def shift_right(code: int, count: int, data_type: DataType) -> Outcome:
    """Shift by the count modulo the element width; signed types keep their sign."""
    return _element(integer(code, data_type) >> (count % data_type.storage_bits), data_type)


def _element(bits: int, data_type: DataType) -> Outcome:
    """Keep the bits of an element.

    Raises
    ------
    ValueError
        The type has no bitwise operations.
    """
    if not (data_type.is_integer and computes(data_type)):
        raise ValueError(f"bitwise operations and shifts need an integer type of 8 to 64 bits, not {data_type.name}")
    return bits & data_type.storage_mask, NO_FLAG
