"""How a call becomes a block: the same implementations that the machine runs, without queues and memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linxtile.accumulator import Accumulator
from linxtile.arrays import Bytes
from linxtile.faults import BlockFault
from linxtile.isa.block import Attributes, Block, Source, Target
from linxtile.isa.codes import CompareMode, Destination, Layout, PadValue, Queue, RoundingMode
from linxtile.isa.operations import Operation, operation
from linxtile.isa.types import DataType
from linxtile.memory import Memory
from linxtile.operations import Context, Outcome, implementation
from linxtile.operations.image import code_type
from linxtile.ops.flags import Flags
from linxtile.stored_tile import StoredTile
from linxtile.tile import Tile

_SOURCE = Source(Queue.T, 1, False, 0)
_NO_MEMORY = Memory()


@dataclass
class Call:
    """One call of an operation: what B.DATR, B.DIM and B.IOR would say.

    Attributes
    ----------
    dimensions : tuple of int
        Values of LB0, LB1, LB2, by the roles of the operation.
    sizes : sequence of int
        Bytes of each destination.
    """

    name: str
    data_type: DataType | None
    dimensions: tuple[int, int, int]
    sizes: Sequence[int]
    second_type: DataType | None = None
    scalars: tuple[int, ...] = ()
    pad: PadValue = PadValue.NULL
    layout: Layout = Layout.NORM
    rounding: RoundingMode = RoundingMode.NONE
    saturate: bool = False
    canonical: bool = False
    compare: CompareMode = CompareMode.EQ
    byte_id: int = 0
    flags: Flags | None = None
    memory: Memory = _NO_MEMORY
    accumulator: Accumulator | None = None

    def run(self, sources: Sequence[StoredTile]) -> Outcome:
        """Check and execute; a broken rule is a ValueError."""
        row = operation(self.name)
        found = implementation(row)
        if found is None:
            raise ValueError(f"{self.name} is not executed by the model")
        block = self._block(row, len(sources))
        try:
            found.check(block, sources, self.accumulator)
            outcome = found.execute(block, sources, Context(self.memory, self.accumulator, self.flags is not None))
        except BlockFault as fault:
            raise ValueError(f"{self.name} breaks the rule {fault.rule.name}: {fault.rule.row.trigger}") from None
        if self.flags is not None:
            self.flags.raised |= outcome.flags
        return outcome

    def _block(self, row: Operation, source_count: int) -> Block:
        return Block(
            address=0, operation=row, data_type=self.data_type, second_type=self.second_type, layout=self.layout,
            pad=self.pad, byte_id=self.byte_id, saturate=self.saturate, canonical=self.canonical, rounding=self.rounding,
            compare=self.compare, lb=self.dimensions, lb_present=(True, True, True), scalars=self.scalars,
            scalar_registers=(), sources=(_SOURCE,) * source_count,
            destinations=tuple(Target(Destination.T, 0, size, 0) for size in self.sizes), dependency_sources=(),
            dependency_destination=False, attributes=Attributes(),
        )  # fmt: skip


def image_bytes(shape: tuple[int, int], row: DataType) -> int:
    """Return the bytes of an image of rows and columns; packed types have even columns."""
    return shape[0] * shape[1] * row.storage_bits // 8


def stored(tile: Tile) -> StoredTile:
    """Return a tile as the machine holds it, without a copy where an element fills whole bytes."""
    if tile.order == "ND" and not tile.data_type.is_packed:
        data = tile.codes.reshape(-1).view(np.uint8)
    else:
        data = np.frombuffer(tile.to_bytes(), np.uint8)
    return StoredTile(data, tile.data_type.storage_bits, 0)


def result(
    outcome: Outcome, place: int, row: DataType, shape: tuple[int, int], valid_shape: tuple[int, int], order: str = "ND"
) -> Tile:
    """Return one output as a tile."""
    data: Bytes = outcome.outputs[place]
    if order == "ND" and not row.is_packed:
        codes: Any = data.view(code_type(row)).reshape(shape)
        return Tile.adopt(codes, row, valid_shape)
    return Tile.from_bytes(data, row, shape[1], valid_shape, order)
