"""Sparse byte memory with pages that answer with an error.

Blocks reach memory by *lines*: a line is a run of contiguous elements, lines are ``stride`` bytes apart. A row of a
row-major (ND) access is a line, so is a column of a column-major (DN) one.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Bytes

PAGE_BYTES = 4096
"""Unit in which memory answers with an error, so that a fault does not depend on the bus width."""

ADDRESS_SPACE = 1 << 64
"""Byte addresses wrap modulo this number."""

# Storage is kept in larger pieces than pages: almost every tile then lies in one piece and is moved by one numpy call.
_CHUNK_SHIFT = 18
_CHUNK_BYTES = 1 << _CHUNK_SHIFT


class Memory:
    """Byte memory over the whole 64-bit address space; bytes never written read as zero.

    Parameters
    ----------
    address_bits : int
        Width of a bus address, 12 to 64; an access by a block to a byte at or above ``2**address_bits`` fails.

    Attributes
    ----------
    error_pages : set[int]
        Addresses of the 4 KiB pages that answer with an error when a block reads, writes or fetches from them.
        Host accesses (`read`, `write`) ignore them.
    """

    def __init__(self, address_bits: int = 64):
        if not 12 <= address_bits <= 64:
            raise ValueError(f"memory addresses must have 12 to 64 bits, not {address_bits!r}")
        self.limit = 1 << address_bits
        self.error_pages: set[int] = set()
        self._chunks: dict[int, Bytes] = {}

    def clear(self) -> None:
        """Forget all bytes and all error pages."""
        self.error_pages.clear()
        self._chunks.clear()

    def set_error_pages(self, addresses: Iterable[int]) -> None:
        """Let the 4 KiB pages that hold ``addresses`` answer with an error, and no others."""
        self.error_pages = {address & -PAGE_BYTES for address in addresses}

    def read(self, address: int, count: int) -> bytes:
        """Return ``count`` bytes from ``address`` on, wrapping at the end of the address space."""
        if count < 0:
            raise ValueError(f"a read must ask for at least 0 bytes, not {count!r}")
        parts = []
        while count:
            address %= ADDRESS_SPACE
            offset = address % _CHUNK_BYTES
            here = min(count, _CHUNK_BYTES - offset)
            chunk = self._chunks.get(address >> _CHUNK_SHIFT)
            parts.append(bytes(here) if chunk is None else chunk[offset : offset + here].tobytes())
            address += here
            count -= here
        return b"".join(parts)

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Put ``data`` at ``address``, wrapping at the end of the address space."""
        source = np.frombuffer(data, np.uint8)
        at = 0
        while at < len(source):
            address %= ADDRESS_SPACE
            offset = address % _CHUNK_BYTES
            here = min(len(source) - at, _CHUNK_BYTES - offset)
            self._chunk(address)[offset : offset + here] = source[at : at + here]
            address += here
            at += here

    def read_lines(self, base: int, stride: int, lines: int, line_bytes: int) -> Bytes:
        """Return ``lines`` runs of ``line_bytes`` bytes, ``stride`` apart, as a ``(lines, line_bytes)`` array."""
        low, high = _interval(base, stride, lines, line_bytes)
        chunk = self._chunks.get(low >> _CHUNK_SHIFT)
        if chunk is not None and low >= 0 and (low ^ (high - 1)) < _CHUNK_BYTES:
            step = _signed(stride) if lines > 1 else line_bytes
            return np.ndarray((lines, line_bytes), np.uint8, chunk, base % _CHUNK_BYTES, (step, 1))
        data = b"".join(self.read(base + line * stride, line_bytes) for line in range(lines))
        return np.frombuffer(data, np.uint8).reshape(lines, line_bytes)

    def write_lines(self, base: int, stride: int, data: Bytes) -> None:
        """Put the rows of ``data`` at ``base``, ``stride`` bytes apart, first row first: where they overlap the last wins."""
        lines, line_bytes = data.shape
        low, high = _interval(base, stride, lines, line_bytes)
        apart = lines == 1 or abs(_signed(stride)) >= line_bytes
        if apart and low >= 0 and (low ^ (high - 1)) < _CHUNK_BYTES:
            step = _signed(stride) if lines > 1 else line_bytes
            target = np.ndarray((lines, line_bytes), np.uint8, self._chunk(low), base % _CHUNK_BYTES, (step, 1))
            target[:] = data
            return
        for line in range(lines):
            self.write(base + line * stride, data[line].tobytes())

    def first_failing(self, base: int, stride: int, lines: int, elements: int, element_bits: int) -> int | None:
        """Return the address of the first element that fails, line by line and elements inside, or None.

        An element fails when one of its bytes lies on an error page or at or above the bus limit; the address is the
        element's own, also when only its later bytes fail. Two 4-bit elements share the address of their byte.
        """
        low, high = _interval(base, stride, lines, (elements * element_bits + 7) // 8)
        if low >= 0 and high <= self.limit and not any(low - PAGE_BYTES < page < high for page in self.error_pages):
            return None
        line_starts = np.uint64(base) + np.arange(lines, dtype=np.uint64) * np.uint64(stride)
        offsets = np.arange(elements, dtype=np.uint64) * np.uint64(element_bits) // np.uint64(8)
        first = (line_starts[:, np.newaxis] + offsets[np.newaxis, :]).ravel()
        last = first + np.uint64(max(element_bits // 8, 1) - 1)
        failing = self._bytes_fail(first) | self._bytes_fail(last)
        return int(first[failing.argmax()]) if failing.any() else None

    def fails(self, address: int) -> bool:
        """Whether a block's access to the byte at ``address`` fails."""
        return address >= self.limit or (address & -PAGE_BYTES) in self.error_pages

    def _bytes_fail(self, addresses: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        pages = np.array(sorted(self.error_pages), np.uint64)
        beyond = addresses > np.uint64(self.limit - 1)
        return beyond | np.isin(addresses & ~np.uint64(PAGE_BYTES - 1), pages)

    def _chunk(self, address: int) -> Bytes:
        number = address >> _CHUNK_SHIFT
        chunk = self._chunks.get(number)
        if chunk is None:
            chunk = self._chunks[number] = np.zeros(_CHUNK_BYTES, np.uint8)
        return chunk


def _signed(stride: int) -> int:
    """Return the 64-bit ``stride`` as a signed distance: a stride of ``2**63`` or more walks backwards."""
    return stride - ADDRESS_SPACE if stride >= ADDRESS_SPACE >> 1 else stride


def _interval(base: int, stride: int, lines: int, line_bytes: int) -> tuple[int, int]:
    """Return the first byte address of the lines and the one behind the last; the first is negative after a wrap.

    A walk that wraps past the end gives a second number above `ADDRESS_SPACE`.
    """
    distance = _signed(stride) * (lines - 1)
    return base + min(distance, 0), base + max(distance, 0) + line_bytes
