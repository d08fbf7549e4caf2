"""Records of what a program did: one a committed block, and the result of a run."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from linxtile.accumulator import Accumulator
from linxtile.faults import FaultRecord
from linxtile.flags import Flag
from linxtile.isa.block import Block
from linxtile.isa.codes import register_name
from linxtile.queues import QueueState
from linxtile.stored_tile import StoredTile


class Retired(NamedTuple):
    """One committed block and the state right after it.

    Attributes
    ----------
    block : int
        Byte address of its BSTART.
    operation : str
        Name of the operation, ``SETUP`` for a set-up block.
    new_tiles : dict of str to StoredTile
        Tiles it pushed, by their names after the block, in header order.
    writes : list of (int, bytes)
        Bytes it stored, in order, also where they did not change.
    block_flags, flags : Flag
        Flags raised by this block, and the sticky flags after it.
    registers : dict of int to int
        Registers a set-up block wrote, with their last values.
    token, trap : bool
        Whether it produced a dependency token, and whether its B.CATR asked for a trap after it.
    queues : QueueState
        The 64 names after it.
    pointer : int
        Rotating pointer after it, a byte address.
    description : Block or None
        The block as it was decoded; None for a set-up block.
    accumulator : Accumulator or None
        Contents of the ACC after it; None if it is empty.
    """

    block: int
    operation: str
    new_tiles: dict[str, StoredTile]
    writes: list[tuple[int, bytes]]
    block_flags: Flag
    registers: dict[int, int]
    token: bool
    trap: bool
    queues: QueueState
    pointer: int
    flags: Flag
    description: Block | None = None
    accumulator: Accumulator | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the record for JSON; byte strings are hex, addresses integers."""
        return {
            "block": self.block,
            "operation": self.operation,
            "new_tiles": {name: bytes(tile).hex() for name, tile in self.new_tiles.items()},
            "writes": [[address, data.hex()] for address, data in self.writes],
            "block_flags": flag_names(self.block_flags),
            "registers": {register_name(number): value for number, value in self.registers.items()},
            "token": self.token,
            "trap": self.trap,
            **_state_dict(self),
        }


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """A run: the blocks that committed, the fault that ended it (or None), and the state at the end."""

    blocks: list[Retired]
    fault: FaultRecord | None
    queues: QueueState
    pointer: int
    flags: Flag
    gprs: list[int]
    accumulator: Accumulator | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the run for JSON."""
        return {
            "blocks": [block.as_dict() for block in self.blocks],
            "fault": None if self.fault is None else self.fault.as_dict(),
            "gprs": {register_name(number): value for number, value in enumerate(self.gprs)},
            **_state_dict(self),
        }


def flag_names(flags: Flag) -> list[str]:
    """Return the names of the flags that are set, NV first."""
    return [flag.name or "" for flag in Flag if flag in flags]


def _state_dict(record: Retired | RunResult) -> dict[str, Any]:
    """Return the state that a record ends with; ``accumulator`` is there while the ACC holds something."""
    live = {name: [tile.base, tile.size, tile.element_bits] for name, tile in record.queues.live().items()}
    state = {
        "queues": live,
        "released": record.queues.released(),
        "pointer": record.pointer,
        "flags": flag_names(record.flags),
    }
    if record.accumulator is not None:
        m, n = record.accumulator.shape
        state["accumulator"] = {"m": m, "n": n, "elements": record.accumulator.codes.tobytes().hex()}
    return state
