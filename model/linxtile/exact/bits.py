"""Bitwise operations and shifts, of the eight integer types."""

from linxtile.exact.operands import integer
from linxtile.flags import NO_FLAG
from linxtile.isa.types import DataType
from linxtile.rounding import Outcome


def bit_and(first: int, second: int, data_type: DataType) -> Outcome:
    """Bitwise AND."""
    return first & second, NO_FLAG


def bit_or(first: int, second: int, data_type: DataType) -> Outcome:
    """Bitwise OR."""
    return first | second, NO_FLAG


def bit_xor(first: int, second: int, data_type: DataType) -> Outcome:
    """Bitwise exclusive OR."""
    return first ^ second, NO_FLAG


def bit_not(code: int, data_type: DataType) -> Outcome:
    """Bitwise complement."""
    return ~code & data_type.storage_mask, NO_FLAG


def shift_left(code: int, count: int, data_type: DataType) -> Outcome:
    """Shift by the count modulo the element width."""
    return (code << (count % data_type.storage_bits)) & data_type.storage_mask, NO_FLAG


def shift_right(code: int, count: int, data_type: DataType) -> Outcome:
    """Shift by the count modulo the element width; signed types keep their sign."""
    value = integer(code, data_type)
    return (value >> (count % data_type.storage_bits)) & data_type.storage_mask, NO_FLAG
