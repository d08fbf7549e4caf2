"""Golden model of a LinxISA v0.56 tile processor: ISA tables, assembler, and a machine in plain numpy."""

from linxtile.config import CoreConfig
from linxtile.faults import FaultRecord
from linxtile.flags import Flag
from linxtile.machine import Machine
from linxtile.mask import Mask
from linxtile.memory import Memory
from linxtile.ops.explain import explain
from linxtile.queues import QueueState
from linxtile.retired import Retired, RunResult
from linxtile.stored_tile import StoredTile
from linxtile.tile import Tile

__all__ = [
    "CoreConfig", "FaultRecord", "Flag", "Machine", "Mask", "Memory", "QueueState", "Retired", "RunResult", "StoredTile",
    "Tile", "explain",
]  # fmt: skip
