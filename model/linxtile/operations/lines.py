"""What a load or store moves, as lines of memory: rows, or columns in column order (DN), of contiguous elements."""

from dataclasses import dataclass

import numpy as np

from linxtile.arrays import Bytes, Codes
from linxtile.faults import BlockFault
from linxtile.isa.block import Block
from linxtile.isa.faults import Rule
from linxtile.memory import ADDRESS_SPACE, Memory
from linxtile.operations.base import element_type
from linxtile.operations.image import elements, packed_bytes
from linxtile.operations.parts import memory_is_transposed

_LOW_NIBBLE = 0x0F
_HIGH_NIBBLE = 0xF0


@dataclass(frozen=True, slots=True)
class Lines:
    """The valid area in memory.

    Attributes
    ----------
    base, stride : int
        Byte address of the first line, distance of two lines modulo 2**64.
    count, length : int
        Lines, and elements of each.
    line_bytes : int
        Bytes of a line, the last one perhaps half used; also the default stride.
    transposed : bool
        Whether the lines are columns.
    """

    base: int
    stride: int
    count: int
    length: int
    line_bytes: int
    transposed: bool

    @classmethod
    def of(cls, block: Block) -> "Lines":
        """Return the lines of a load or store."""
        transposed = memory_is_transposed(block)
        count, length = block.valid_rows, block.valid_columns
        if transposed:
            count, length = length, count
        line_bytes = (length * element_type(block).storage_bits + 7) // 8
        stride = block.scalars[1] if len(block.scalars) > 1 else line_bytes
        return cls(block.scalars[0], stride, count, length, line_bytes, transposed)

    def require(self, memory: Memory, block: Block, rule: Rule) -> None:
        """Raise ``rule`` with the address of the first element that memory refuses, line by line."""
        failing = memory.first_failing(
            self.base, self.stride, self.count, self.length, element_type(block).storage_bits
        )
        if failing is not None:
            raise BlockFault(rule, traparg0=failing)

    def read_bytes(self, memory: Memory) -> Bytes:
        """Return the bytes, shape (count, line_bytes); perhaps a view of memory."""
        return memory.read_lines(self.base, self.stride, self.count, self.line_bytes)

    def read(self, memory: Memory, block: Block) -> Codes:
        """Return the codes of the valid area, shape (valid_rows, valid_columns); perhaps a view of memory."""
        codes = elements(self.read_bytes(memory), element_type(block))[:, : self.length]
        return codes.T if self.transposed else codes

    def write(self, memory: Memory, block: Block, values: Codes) -> list[tuple[int, bytes]]:
        """Store the valid area, shape (valid_rows, valid_columns), line after line, and return the runs of bytes.

        Lines may overlap: the last one wins. The other nibble of a byte that is half used stays as it is.
        """
        lines = values.T if self.transposed else values
        if not element_type(block).is_packed:
            return self.write_bytes(memory, np.ascontiguousarray(lines).view(np.uint8))
        if self.length % 2 == 0:
            return self.write_bytes(memory, packed_bytes(lines, element_type(block)))
        even = np.zeros((self.count, self.length + 1), np.uint8)
        even[:, :-1] = lines
        return self._write_half_bytes(memory, packed_bytes(even, element_type(block)))

    def write_bytes(self, memory: Memory, data: Bytes) -> list[tuple[int, bytes]]:
        """Store bytes of shape (count, line_bytes)."""
        memory.write_lines(self.base, self.stride, data)
        if self.count == 1 or self.stride == self.line_bytes:
            return [(self.base, data.tobytes())]
        return [(self._address(place), line.tobytes()) for place, line in enumerate(data)]

    def _address(self, place: int) -> int:
        return (self.base + place * self.stride) % ADDRESS_SPACE

    def _write_half_bytes(self, memory: Memory, lines: Bytes) -> list[tuple[int, bytes]]:
        """Write lines that end in the middle of a byte, one by one: what an earlier line wrote may be in the other half."""
        writes = []
        for place, line in enumerate(lines):
            address = self._address(place)
            kept = memory.read(address + self.line_bytes - 1, 1)[0] & _HIGH_NIBBLE
            data = bytearray(line.tobytes())
            data[-1] = (data[-1] & _LOW_NIBBLE) | kept
            memory.write(address, data)
            writes.append((address, bytes(data)))
        return writes
