"""Loads and stores between memory and row-major tiles."""

from collections.abc import Sequence

import numpy as np

from linxtile.arrays import Bytes
from linxtile.faults import BlockFault
from linxtile.isa.block import Block
from linxtile.isa.faults import Rule
from linxtile.memory import ADDRESS_SPACE, Memory
from linxtile.operations.base import Outcome, Role, check_shapes, element_type
from linxtile.operations.image import background, pad_code
from linxtile.stored_tile import StoredTile

_LOW_NIBBLE = 0x0F
_HIGH_NIBBLE = 0xF0


def _check(block: Block, size: int) -> None:
    check_shapes(block, [(Role.MATRIX, size)])


def _line_bytes(block: Block) -> int:
    """Return the bytes of the valid elements of a row, rounded up: also the default stride."""
    return (block.valid_columns * element_type(block).storage_bits + 7) // 8


def _place(block: Block) -> tuple[int, int]:
    """Return base address and stride."""
    return block.scalars[0], block.scalars[1] if len(block.scalars) > 1 else _line_bytes(block)


def _splits_a_byte(block: Block) -> bool:
    """Whether the last valid element of a row fills only the low nibble of its byte."""
    return element_type(block).is_packed and block.valid_columns % 2 == 1


def _require_memory(block: Block, memory: Memory, rule: Rule) -> None:
    base, stride = _place(block)
    failing = memory.first_failing(
        base, stride, block.valid_rows, block.valid_columns, element_type(block).storage_bits
    )
    if failing is not None:
        raise BlockFault(rule, traparg0=failing)


def _valid_bytes(block: Block, data: Bytes) -> Bytes:
    """Return the bytes of a tile that hold valid elements, shape (valid_rows, line_bytes), as a view."""
    pitch = block.columns * element_type(block).storage_bits // 8
    return np.ndarray((block.valid_rows, _line_bytes(block)), np.uint8, data, 0, (pitch, 1))


class Load:
    """TLOAD.NORM: rows of memory into a row-major tile; bytes are moved unchanged."""

    needs_kernel = False

    def check(self, block: Block, sources: Sequence[StoredTile]) -> None:
        """The destination is a matrix."""
        _check(block, block.destinations[0].size_bytes)

    def execute(self, block: Block, sources: Sequence[StoredTile], memory: Memory) -> Outcome:
        """Read the valid elements onto a background of padding."""
        _require_memory(block, memory, Rule.MEM_READ)
        base, stride = _place(block)
        lines = memory.read_lines(base, stride, block.valid_rows, _line_bytes(block))
        if lines.size == block.destinations[0].size_bytes and not _splits_a_byte(block):
            return Outcome([np.ascontiguousarray(lines).reshape(-1).copy()])
        out = background(block.destinations[0].size_bytes, block.columns, element_type(block), block.pad)
        valid = _valid_bytes(block, out)
        valid[:] = lines
        if _splits_a_byte(block):
            valid[:, -1] = (valid[:, -1] & _LOW_NIBBLE) | (pad_code(element_type(block), block.pad) << 4)
        return Outcome([out])


class Store:
    """TSTORE.NORM: the valid elements of a row-major tile into rows of memory, row after row."""

    needs_kernel = False

    def check(self, block: Block, sources: Sequence[StoredTile]) -> None:
        """The source is a matrix."""
        _check(block, sources[0].size)

    def execute(self, block: Block, sources: Sequence[StoredTile], memory: Memory) -> Outcome:
        """Write the valid elements and nothing else; the other nibble of a half-filled byte stays."""
        _require_memory(block, memory, Rule.MEM_WRITE)
        base, stride = _place(block)
        valid = _valid_bytes(block, sources[0].data)
        if _splits_a_byte(block):
            return Outcome(writes=_write_half_bytes(memory, base, stride, valid))
        memory.write_lines(base, stride, valid)
        if len(valid) == 1 or stride == valid.shape[1]:
            return Outcome(writes=[(base, valid.tobytes())])
        return Outcome(
            writes=[((base + row * stride) % ADDRESS_SPACE, line.tobytes()) for row, line in enumerate(valid)]
        )


def _write_half_bytes(memory: Memory, base: int, stride: int, valid: Bytes) -> list[tuple[int, bytes]]:
    """Write rows that end in the middle of a byte, one by one: rows may overlap, and the last one wins."""
    writes = []
    for row, line in enumerate(valid):
        address = (base + row * stride) % ADDRESS_SPACE
        kept = memory.read(address + len(line) - 1, 1)[0] & _HIGH_NIBBLE
        data = bytearray(line.tobytes())
        data[-1] = (data[-1] & _LOW_NIBBLE) | kept
        memory.write(address, data)
        writes.append((address, bytes(data)))
    return writes
