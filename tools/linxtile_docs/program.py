"""Assembly of a worked example: loads of the source tiles, then the block that the page is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linxtile.asm_block import BlockLine, Dimension, NewTile, TileName
from linxtile.isa.codes import (
    REGISTER_NUMBERS,
    CompareMode,
    Destination,
    Layout,
    PadValue,
    Queue,
    RoundingMode,
    size_code,
)
from linxtile.isa.operations import Operation, operation
from linxtile.isa.types import data_type

SMALLEST_TILE = 256
_FIRST_ADDRESS = 0x1000
_SPACING = 0x1000


def tile_bytes(needed: int) -> int:
    """Return the size of the smallest tile that holds a number of bytes."""
    return max(SMALLEST_TILE, 1 << (needed - 1).bit_length())


def line(row: Operation, types: tuple[str, ...], dimensions: tuple[int, ...], **more: Any) -> BlockLine:
    """Return a block with plain numbers as dimensions."""
    padded = (*(Dimension(0, value) for value in dimensions), None, None, None)[:3]
    rows = [data_type(name) for name in types if name]
    second = rows[1] if len(rows) > 1 else None
    return BlockLine(row, rows[0] if rows else None, second, dimensions=padded, **more)  # type: ignore[arg-type]


def attributes(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a block that the keyword arguments of a call stand for."""
    fields: dict[str, Any] = {}
    if "pad" in options:
        fields["pad"] = PadValue[options["pad"].upper()]
    if "byte" in options:
        fields["pad"] = options["byte"]
    if "mode" in options:
        fields["compare"] = CompareMode[options["mode"]]
    if "layout" in options:
        fields["layout"] = Layout[options["layout"]]
    if "rounding" in options:
        fields["rounding"] = RoundingMode[options["rounding"]]
    fields |= {name: options[name] for name in ("saturate", "canonical") if name in options}
    return fields


@dataclass
class Program:
    """Assembly that is built up line by line.

    Attributes
    ----------
    memory : dict of int to bytes
        What the host writes before the program runs.
    block : BlockLine or None
        The block that the page is about.
    """

    memory: dict[int, bytes] = field(default_factory=dict)
    block: BlockLine | None = None
    _constants: list[str] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _loaded: int = 0

    @property
    def text(self) -> str:
        """The assembly."""
        return "\n".join([*self._constants, *self._lines]) + "\n"

    def constant(self, value: int, *, hexadecimal: bool = True) -> int:
        """Put a value into the next argument register and return its number."""
        name = f"a{len(self._constants)}"
        self._constants.append(f"li {name}, {value:#x}" if hexadecimal else f"li {name}, {value}")
        return REGISTER_NUMBERS[name]

    def place(self, data: bytes) -> int:
        """Put bytes into memory and return the register with their address."""
        address = _FIRST_ADDRESS + _SPACING * len(self.memory)
        self.memory[address] = data
        return self.constant(address)

    def add(self, block: BlockLine) -> None:
        """Append a block."""
        self._lines.append(block.text())

    def load(self, data: bytes, type_name: str, shape: tuple[int, int], size: int, **more: Any) -> None:
        """Load a matrix into a new tile of queue T; ``more`` are fields of the block such as the layout."""
        rows, columns = shape
        registers = (self.place(data),)
        fields = {"dimensions": (columns, rows, columns)} | more
        target = NewTile(Destination.T, size_code(size))
        self.add(line(operation("TLOAD"), (type_name,), registers=registers, destinations=(target,), **fields))
        self._loaded += 1

    def sources(self, *, reuse: bool = False) -> tuple[TileName, ...]:
        """Return the names of the tiles loaded so far, in the order of their loads."""
        return tuple(TileName(Queue.T, index, reuse) for index in range(self._loaded, 0, -1))

    def main(self, block: BlockLine) -> None:
        """Append the block that the page is about."""
        self.block = block
        self.add(block)
