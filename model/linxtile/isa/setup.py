"""Set-up blocks: what LUI, ADDI and SLLI compute and the one canonical sequence that loads a 64-bit constant."""

from collections.abc import Mapping

from linxtile.isa.codes import REGISTER_BITS
from linxtile.isa.words import encode_word, word_format

_ALL = (1 << REGISTER_BITS) - 1
_UPPER_BITS = word_format("LUI").field("immediate").width
_LOWER_BITS = word_format("ADDI").field("immediate").width
_LOWER = (1 << _LOWER_BITS) - 1


def load_upper(immediate: int) -> int:
    """Return what LUI writes: the sign-extended 20-bit immediate shifted left by 12."""
    sign = 1 << (_UPPER_BITS - 1)
    return (((immediate ^ sign) - sign) << _LOWER_BITS) & _ALL


def setup_value(name: str, fields: Mapping[str, int], source: int) -> int:
    """Return what a set-up word writes; ``source`` is the value of its source register (unused by LUI)."""
    if name == "LUI":
        return load_upper(fields["immediate"])
    if name == "ADDI":
        return (source + fields["immediate"]) & _ALL
    if name == "SLLI":
        return (source << fields["shift"]) & _ALL
    raise ValueError(f"{name!r} is not a set-up word")


def _upper_immediate(value: int) -> int | None:
    """Return the LUI immediate that gives ``value``, None if there is none."""
    immediate = (value >> _LOWER_BITS) & ((1 << _UPPER_BITS) - 1)
    return immediate if load_upper(immediate) == value else None


def load_immediate(register: int, value: int) -> list[int]:
    """Return the words of ``li register, value``: the canonical sequence, at most one word for each write.

    Parameters
    ----------
    register : int
        Destination, 1 to 23.
    value : int
        Constant modulo 2**64; negative values are two's complement.
    """
    value &= _ALL
    if value <= _LOWER:
        return [encode_word("ADDI", source=0, immediate=value, destination=register)]
    immediate = _upper_immediate(value)
    if immediate is not None:
        return [encode_word("LUI", immediate=immediate, destination=register)]
    lower = value & _LOWER
    if lower:
        add = encode_word("ADDI", source=register, immediate=lower, destination=register)
        return [*load_immediate(register, value - lower), add]
    zeros = (value & -value).bit_length() - 1
    shift = encode_word("SLLI", source=register, shift=zeros, destination=register)
    return [*load_immediate(register, value >> zeros), shift]
