"""Writes header words and follows the queues, so that what it writes is legal."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from linxtile.allocator import Allocator
from linxtile.config import CoreConfig
from linxtile.isa.codes import Destination, Layout, PadValue, Queue, SourceForm, size_code, source_code
from linxtile.isa.setup import load_immediate
from linxtile.isa.types import NO_TYPE
from linxtile.isa.words import encode_word
from linxtile.queues import TileQueues
from linxtile.stored_tile import StoredTile

__all__ = ["Builder"]


@dataclass
class Builder:
    """Writes words and follows the queues, so that what it writes is legal."""

    config: CoreConfig
    rng: random.Random
    words: list[tuple[int, int]] = field(default_factory=list)
    queues: TileQueues = field(default_factory=TileQueues)

    def __post_init__(self) -> None:
        self.allocator = Allocator(self.config.tile_ram_bytes)

    def word(self, name: str, **values: int) -> None:
        """Append a word by format name."""
        bits = 16 if name.startswith("C.") else 32
        self.words.append((encode_word(name, **values), bits))

    def set_registers(self, values: dict[int, int]) -> None:
        """Append a set-up block."""
        self.word("BSTART.STD FALL")
        for number, value in values.items():
            self.words += [(word, 32) for word in load_immediate(number, value)]

    def live(self) -> list[tuple[Queue, int, StoredTile]]:
        """Return the tiles that can be read."""
        found = []
        for queue in Queue:
            for index in range(1, 17):
                entry = self.queues.get(queue, index)
                if isinstance(entry, StoredTile):
                    found.append((queue, index, entry))
        return found

    def dimensions(self, valid_columns: int, valid_rows: int, columns: int) -> None:
        """Append the dimension words in a random one of the forms that can say it; defaults may be left out."""
        for loop, value in enumerate((valid_columns, valid_rows, columns)):
            default = (1, 1, valid_columns)[loop]
            if value == default and self.rng.random() < 0.3:
                continue
            if value < 256 and self.rng.random() < 0.3:
                self.word("C.B.DIMI", loop=loop, immediate=value)
            else:
                self.word("B.DIM", loop=loop, register=0, immediate=value)

    def attributes(self, pad: PadValue, layout: Layout = Layout.NORM) -> None:
        """Append B.DATR, unless its defaults do now and then, and B.HINT, B.CATR or B.IOD now and then."""
        rng = self.rng
        if layout is not Layout.NORM or pad is not PadValue.NULL or rng.random() < 0.4:
            self.word("B.DATR", layout=layout, pad=pad, data_type=NO_TYPE, rounding=rng.randrange(8))
        if rng.random() < 0.1:
            self.word("B.HINT", prefetch_size=rng.randrange(4096))
        if rng.random() < 0.1:
            self.word("B.CATR", acquire=rng.randrange(2), release=rng.randrange(2))
        if rng.random() < 0.1:
            self.word("B.IOD", source0=rng.randrange(9), source1=rng.randrange(9), destination=rng.randrange(2))

    def tiles(self, sources: Sequence[tuple[Queue, int, bool]], destinations: Sequence[tuple[Queue, int]]) -> None:
        """Append the B.IOT words of the tiles, and change the queues as the block will."""
        self.tile_words(sources, destinations)
        self._follow(sources, destinations)

    def tile_words(self, sources: Sequence[tuple[Queue, int, bool]], destinations: Sequence[tuple[Queue, int]]) -> None:
        """Append the B.IOT words of sources (queue, index, reuse) and destinations (queue, bytes), and nothing else.

        A word has up to two sources and one destination, so there is more than one way to say it.
        """
        waiting, targets = list(sources), list(destinations)
        while waiting or targets:
            words_left = max(len(targets), -(-len(waiting) // 2))
            least = 1 if len(targets) < words_left else 0
            here = [waiting.pop(0) for _ in range(self.rng.randint(min(least, len(waiting)), min(2, len(waiting))))]
            values: dict[str, int] = {"form": SourceForm.ZERO - len(here), "destination": Destination.NONE}
            for place, (queue, index, reuse) in enumerate(here):
                values |= {f"source{place}": source_code(queue, index), f"reuse{place}": int(reuse)}
            if targets and (not here or len(targets) == words_left or self.rng.random() < 0.5):
                queue, size = targets.pop(0)
                values |= {"destination": queue, "size": size_code(size)}
            self.word("B.IOT", **values, last=int(not waiting and not targets))

    def _follow(self, sources: Sequence[tuple[Queue, int, bool]], destinations: Sequence[tuple[Queue, int]]) -> None:
        bases = self.allocator.place([size for _, size in destinations])
        if bases is None:
            raise ValueError("the generator asked for a tile that has no room")
        kept = {(queue, index) for queue, index, reuse in sources if reuse}
        for queue, index in {(queue, index) for queue, index, _ in sources} - kept:
            self._free(self.queues.get(queue, index))
            self.queues.release(queue, index)
        for (queue, size), base in zip(destinations, bases, strict=True):
            self._free(self.queues.push(queue, StoredTile(np.zeros(size, np.uint8), 8, base)))

    def _free(self, entry: object) -> None:
        if isinstance(entry, StoredTile):
            self.allocator.release(entry.base, entry.size)

    def has_room(self, size: int, tiles: int = 1) -> bool:
        """Whether so many tiles of ``size`` bytes can be placed now."""
        pointer = self.allocator.pointer
        placed = self.allocator.place([size] * tiles)
        if placed is None:
            return False
        self.allocator.restore(placed, [size] * tiles, pointer)
        return True

    def image(self) -> bytes:
        """Return the program closed by BSTOP."""
        words = [*self.words, (encode_word("BSTOP"), 32)]
        return b"".join(word.to_bytes(bits // 8, "little") for word, bits in words)
