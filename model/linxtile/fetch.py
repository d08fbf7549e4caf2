"""Cutting a program into header words."""

import enum
from collections.abc import Callable, Iterator
from typing import NamedTuple

from linxtile.isa.words import word_bits

HALFWORD_BYTES = 2


class WordStatus(enum.Enum):
    """What the fetch unit says of a word."""

    WHOLE = 0
    BUS_ERROR = 1
    TRUNCATED = 2


class Word(NamedTuple):
    """One word of a program.

    ``bits`` is 16 or 32 (16 where nothing more is known), ``last`` marks the end of the program. The value of a word
    with BUS_ERROR means nothing; of a TRUNCATED one only the low half is there.
    """

    value: int
    bits: int
    address: int
    last: bool = False
    status: WordStatus = WordStatus.WHOLE


def split_words(image: bytes, address: int, readable: Callable[[int], bool] | None = None) -> Iterator[Word]:
    """Cut a program into words.

    Parameters
    ----------
    image : bytes
        The program, an even number of bytes.
    address : int
        Byte address of its first byte, even.
    readable : callable, optional
        Whether the byte at an address can be fetched; without it every byte can.

    Yields
    ------
    Word
        In program order. After a word with BUS_ERROR nothing follows.
    """
    if len(image) % HALFWORD_BYTES:
        raise ValueError(f"program length must be even, not {len(image)!r}")
    if address % HALFWORD_BYTES:
        raise ValueError(f"program address must be even, not {address:#x}")
    end = len(image)
    at = 0
    while at < end:
        here = address + at
        low = image[at] | image[at + 1] << 8
        if readable is not None and not readable(here):
            yield Word(0, 16, here, at + HALFWORD_BYTES == end, WordStatus.BUS_ERROR)
            return
        bits = word_bits(low)
        size = bits // 8
        if at + size > end:
            yield Word(low, bits, here, True, WordStatus.TRUNCATED)
            return
        if readable is not None and not all(readable(here + place) for place in range(HALFWORD_BYTES, size)):
            yield Word(0, bits, here, at + size == end, WordStatus.BUS_ERROR)
            return
        value = low if size == HALFWORD_BYTES else low | image[at + 2] << 16 | image[at + 3] << 24
        at += size
        # A tuple's own constructor: that of a named one takes three times as long, and there is a word for every few bytes.
        yield tuple.__new__(Word, (value, bits, here, at == end, WordStatus.WHOLE))


def words_image(words: list[tuple[int, int]]) -> bytes:
    """Return the bytes of ``(value, bits)`` words laid one after the other."""
    return b"".join(value.to_bytes(bits // 8, "little") for value, bits in words)
