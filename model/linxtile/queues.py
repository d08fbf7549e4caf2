"""The four tile queues T, U, M and N: sixteen relative names each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from linxtile.isa.codes import QUEUE_DEPTH, Queue
from linxtile.stored_tile import StoredTile


class Absent(Enum):
    """Why a name has no tile."""

    NEVER_WRITTEN = "never written"
    RELEASED = "released"


Entry = StoredTile | Absent

_NAME = re.compile(r"([A-Z])#([0-9]{1,2})")


def parse_name(text: str) -> tuple[Queue, int]:
    """Return the queue and the index, 1 to 16, of a tile name such as ``T#1``."""
    match = _NAME.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[1] not in Queue.__members__ or not 1 <= int(match[2]) <= QUEUE_DEPTH:
        letters = ", ".join(queue.name for queue in Queue)
        raise ValueError(f"a tile name is a queue ({letters}), # and 1 to {QUEUE_DEPTH}, not {text!r}")
    return Queue[match[1]], int(match[2])


@dataclass(frozen=True, slots=True, eq=False)
class QueueState:
    """The 64 names at one moment: ``entries[queue][index - 1]``."""

    entries: tuple[tuple[Entry, ...], ...]

    def live(self) -> dict[str, StoredTile]:
        """Return the tiles that can be read, by name, in the order T#1 ... N#16."""
        return {name: entry for name, entry in self._named() if isinstance(entry, StoredTile)}

    def released(self) -> list[str]:
        """Return the names inside the window whose tile is gone."""
        return [name for name, entry in self._named() if entry is Absent.RELEASED]

    def _named(self) -> Iterator[tuple[str, Entry]]:
        for queue in Queue:
            for index, entry in enumerate(self.entries[queue], 1):
                yield f"{queue.name}#{index}", entry


class TileQueues:
    """The queues themselves. Pushing renames: every older tile of the queue moves up by one.

    A queue is a tuple that is replaced, so that the state after each block shares what did not change.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Make every name unwritten, as after reset."""
        self._entries: list[tuple[Entry, ...]] = [(Absent.NEVER_WRITTEN,) * QUEUE_DEPTH for _ in Queue]

    def get(self, queue: int, index: int) -> Entry:
        """Return what name ``queue#index`` (index 1 to 16) stands for."""
        return self._entries[queue][index - 1]

    def release(self, queue: int, index: int) -> None:
        """Drop the tile of a name; the name keeps its place in the window."""
        entries = self._entries[queue]
        self._entries[queue] = (*entries[: index - 1], Absent.RELEASED, *entries[index:])

    def push(self, queue: int, tile: StoredTile) -> StoredTile | None:
        """Make ``tile`` number 1 of the queue and return the tile that fell out of the window, if it held one."""
        entries = self._entries[queue]
        fallen = entries[-1]
        self._entries[queue] = (tile, *entries[:-1])
        return fallen if isinstance(fallen, StoredTile) else None

    def state(self) -> QueueState:
        """Return the names as they are now; later pushes do not change them."""
        return QueueState(tuple(self._entries))
