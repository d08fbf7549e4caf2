"""Digests of what a block wrote: summed in simulated hardware, and again in Python over the expected bytes.

A digest is a sum modulo ``2**64`` of one mixed number per piece, so the order of the pieces does not matter and a piece
written twice, not at all or to another place changes it.
"""

from collections.abc import Iterable

import numpy as np
from amaranth.hdl import C, Module, Signal, Value

__all__ = ["memory_digest", "mixed", "tile_digest"]

MULTIPLIER = 0x9E3779B97F4A7C15
PLACE = 0xD6E8FEB86659FD93
WORD_BYTES = 8


def mixed(m: Module, place: Value, content: Value, name: str) -> Signal:
    """Return the mixed number of ``content`` (64 bits or fewer) at number ``place``; combinational."""
    seed = Signal(64, name=f"{name}_seed")
    folded = Signal(64, name=f"{name}_folded")
    product = Signal(64, name=f"{name}_product")
    m.d.comb += [
        seed.eq(content ^ ((place + 1) * C(PLACE, 64))),
        folded.eq((seed ^ (seed >> 32)) * C(MULTIPLIER, 64)),
        product.eq(folded ^ (folded >> 29)),
    ]
    return product


def _mixed(places: np.ndarray, contents: np.ndarray) -> int:
    """Return the sum of the mixed numbers of two arrays of ``uint64``."""
    seed = contents ^ ((places + np.uint64(1)) * np.uint64(PLACE))
    folded = (seed ^ (seed >> np.uint64(32))) * np.uint64(MULTIPLIER)
    return int((folded ^ (folded >> np.uint64(29))).sum(dtype=np.uint64))


def tile_digest(base: int, content: bytes) -> int:
    """Return the digest of a tile at byte ``base`` of the tile RAM; ``len(content)`` is a multiple of 8."""
    words = np.frombuffer(content, dtype="<u8")
    places = np.arange(base // WORD_BYTES, base // WORD_BYTES + len(words), dtype=np.uint64)
    return _mixed(places, words)


def memory_digest(writes: Iterable[tuple[int, bytes]]) -> int:
    """Return the digest of the bytes that a store wrote, as (address, bytes) pieces."""
    total = 0
    for address, content in writes:
        places = (np.arange(len(content), dtype=np.uint64) + np.uint64(address)).astype(np.uint64)
        total += _mixed(places, np.frombuffer(content, dtype=np.uint8).astype(np.uint64))
    return total & (1 << 64) - 1
