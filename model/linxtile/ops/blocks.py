"""How a call becomes a block: the same implementations that the machine runs, without queues and memory."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from linxtile.accumulator import Accumulator
from linxtile.faults import BlockFault
from linxtile.isa.block import Attributes, Block, Source, Target
from linxtile.isa.codes import CompareMode, Destination, Layout, PadValue, Queue, RoundingMode
from linxtile.isa.faults import Rule
from linxtile.isa.operations import operation
from linxtile.isa.types import DataType, data_type
from linxtile.memory import Memory
from linxtile.operations import Context, Implementation, Outcome, implementation
from linxtile.ops.flags import Flags
from linxtile.stored_tile import StoredTile
from linxtile.tile import Tile

_SOURCE = Source(Queue.T, 1, False, 0)
_NO_MEMORY = Memory()
_REMEMBERED_CALLS = 1024


class Header(NamedTuple):
    """What the header words of a call would say; types by name.

    Attributes
    ----------
    dimensions : tuple of int
        Values of LB0, LB1, LB2, by the roles of the operation.
    sizes : tuple of int
        Bytes of each destination.
    """

    name: str
    type_name: str
    dimensions: tuple[int, int, int]
    sizes: tuple[int, ...]
    second_type: str | None = None
    scalars: tuple[int, ...] = ()
    pad: PadValue = PadValue.NULL
    layout: Layout = Layout.NORM
    rounding: RoundingMode = RoundingMode.NONE
    saturate: bool = False
    canonical: bool = False
    compare: CompareMode = CompareMode.EQ
    byte_id: int = 0


class Call:
    """One call of an operation: its header, and what it works on besides its tiles.

    ``header`` are further fields of `Header`.
    """

    def __init__(
        self,
        name: str,
        row: DataType,
        dimensions: tuple[int, int, int],
        sizes: Sequence[int],
        *,
        second_type: DataType | None = None,
        flags: Flags | None = None,
        memory: Memory = _NO_MEMORY,
        accumulator: Accumulator | None = None,
        **header: Any,
    ):
        second = None if second_type is None else second_type.name
        self._header = Header(name, row.name, dimensions, tuple(sizes), second, **header)
        self._flags, self._memory, self._accumulator = flags, memory, accumulator

    def run(self, sources: Sequence[StoredTile]) -> Outcome:
        """Check and execute; a broken rule is a ValueError."""
        held = self._accumulator
        found, block = _prepared(self._header, tuple([source.size for source in sources]), held is not None)
        try:
            if held is not None:
                found.check(block, sources, held)
            outcome = found.execute(block, sources, Context(self._memory, held, self._flags is not None))
        except BlockFault as fault:
            raise _refused(self._header.name, fault) from None
        if self._flags is not None:
            self._flags.raised |= outcome.flags
        return outcome


def _refused(name: str, fault: BlockFault) -> ValueError:
    if fault.rule in (Rule.MEM_READ, Rule.MEM_WRITE):
        return ValueError(f"{name}: every element must lie in memory, and the one at {fault.traparg0:#x} does not")
    return ValueError(f"{name} breaks the rule {fault.rule.name}: {fault.rule.row.trigger}")


@lru_cache(_REMEMBERED_CALLS)
def _prepared(header: Header, source_sizes: tuple[int, ...], reads_acc: bool) -> tuple[Implementation, Block]:
    """Return what executes a call, and its block; checked, unless the rules depend on what the ACC holds."""
    row = operation(header.name)
    found = implementation(row)
    if found is None:
        raise ValueError(f"{header.name} is not executed by the model")
    block = Block(
        address=0, operation=row, data_type=data_type(header.type_name),
        second_type=None if header.second_type is None else data_type(header.second_type), layout=header.layout,
        pad=header.pad, byte_id=header.byte_id, saturate=header.saturate, canonical=header.canonical,
        rounding=header.rounding, compare=header.compare, lb=header.dimensions, lb_present=(True, True, True),
        scalars=header.scalars, scalar_registers=(), sources=(_SOURCE,) * len(source_sizes),
        destinations=tuple(Target(Destination.T, 0, size, 0) for size in header.sizes), dependency_sources=(),
        dependency_destination=False, attributes=Attributes(),
    )  # fmt: skip
    if not reads_acc:
        # The rules look at sizes alone.
        empty = np.zeros(max(source_sizes, default=0), np.uint8)
        try:
            found.check(block, [StoredTile(empty[:size], 0, 0) for size in source_sizes])
        except BlockFault as fault:
            raise _refused(header.name, fault) from None
    return found, block


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
    return Tile.adopt_bytes(outcome.outputs[place], row, shape, valid_shape, order)
