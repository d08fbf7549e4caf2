"""A tile: its bytes, and what the machine remembers about them."""

from dataclasses import dataclass

from linxtile.arrays import Bytes

MASK_BITS = 1
"""Element width of a packed mask."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredTile:
    """A committed tile.

    Attributes
    ----------
    data : ndarray of uint8
        All bytes of the tile; nobody changes them.
    element_bits : int
        Element width of the producer's data type: 64, 32, 16, 8 or 4 bits, `MASK_BITS` for a mask.
    base : int
        Byte address in the tile RAM, a multiple of the size.
    """

    data: Bytes
    element_bits: int
    base: int

    @property
    def size(self) -> int:
        """Bytes of the tile, a power of two."""
        return len(self.data)

    def __bytes__(self) -> bytes:
        return self.data.tobytes()


def matrix_rows(size: int, columns: int, element_bits: int) -> int:
    """Return the physical row count of a tile of ``size`` bytes with ``columns`` elements a row."""
    return size * 8 // (columns * element_bits)
