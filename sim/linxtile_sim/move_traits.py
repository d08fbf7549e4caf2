"""Classes of properties of moves, and which of them a configuration runs."""

import random
from collections.abc import Iterator
from typing import NamedTuple

from linxtile.config import CoreConfig
from linxtile.isa.codes import MAX_DESTINATIONS, Layout, PadValue
from linxtile.isa.operations import operation

__all__ = [
    "BASES", "MOVES", "SHAPES", "STRIDES", "Traits", "kinds", "move_layouts", "random_traits", "unsupported_layouts",
]  # fmt: skip

MOVES = ("TLOAD", "TSTORE", "TMOV")

SHAPES = ("full", "one row", "one column", "ragged", "empty parts")
"""Valid areas: "empty parts" leaves parts of a move of several tiles without a valid element."""

BASES = ("line", "element", "byte", "page end")
"""Base addresses: a multiple of 64, of the element only, of nothing, and a first line that crosses 4 KiB."""

STRIDES = ("absent", "exact", "gap", "overlap", "zero", "backwards", "far")


class Traits(NamedTuple):
    """Class of each property of a move. Where there is no memory, ``base`` and ``stride`` mean nothing."""

    layout: Layout
    shape: str
    pad: PadValue
    tiles: int
    base: str
    stride: str


def kinds(config: CoreConfig) -> list[str]:
    """Return the moves that the configuration runs."""
    return [name for name in MOVES if config.operations.get(name)]


def move_layouts(name: str, config: CoreConfig) -> list[Layout]:
    """Return the layouts in which the configuration runs a move: TMOV has all that the ISA gives it."""
    layouts = operation(name).layouts or ()
    return [layout for layout in layouts if name == "TMOV" or layout.name in config.move_layouts]


def random_traits(rng: random.Random, name: str, config: CoreConfig) -> Traits:
    """Return any classes that the configuration runs; one tile and plain rows come more often than the rest."""
    layouts = move_layouts(name, config)
    layout = Layout.NORM if Layout.NORM in layouts and rng.random() < 0.2 else rng.choice(layouts)
    most = 1 if name == "TMOV" else config.move_tiles
    tiles = rng.choice([1, rng.randint(1, most)])
    shape = rng.choice(SHAPES if tiles > 1 else SHAPES[:-1])
    stride = rng.choice(STRIDES if rng.random() < 0.3 else STRIDES[:-1])
    return Traits(layout, shape, rng.choice(list(PadValue)), tiles, rng.choice(BASES), stride)


def unsupported_layouts(config: CoreConfig) -> Iterator[tuple[str, Layout, int]]:
    """Yield the moves that the ISA has and the configuration leaves out: name, layout, tiles."""
    for name in MOVES:
        for layout in operation(name).layouts or ():
            if name not in kinds(config) or layout not in move_layouts(name, config):
                yield name, layout, 1
    for tiles in range(config.move_tiles + 1, MAX_DESTINATIONS + 1):
        yield "TLOAD", Layout.NORM, tiles
