"""A packed mask: the result of a comparison, one bit an element."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Bytes
from linxtile.tile_arguments import checked_shape, raw_bytes

__all__ = ["Mask"]


@dataclass(frozen=True, eq=False, repr=False)
class Mask:
    """A mask over the whole image of a tile.

    Element (r, c) of an image with C columns is bit ``(r*C + c) mod 8`` of byte ``(r*C + c) // 8``, the least significant
    bit first. LinxISA v0.56, TEPL block, TCMP.

    Parameters
    ----------
    bits : array_like of bool, shape (rows, columns)
        The image, padding included; copied.
    """

    bits: npt.NDArray[np.bool_]

    def __init__(self, bits: npt.ArrayLike):
        try:
            array = np.array(bits)
        except ValueError:
            raise ValueError("bits must be rows of one length") from None
        if array.dtype != np.bool_:
            raise TypeError(f"bits must be bool, not {array.dtype}")
        if array.ndim != 2 or not array.size:
            raise ValueError(f"bits must have two dimensions and at least one element, not shape {array.shape}")
        array.flags.writeable = False
        object.__setattr__(self, "bits", array)

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview | Bytes, shape: tuple[int, int]) -> "Mask":
        """Read the packed bits of an image of ``shape``; bits after it are ignored."""
        rows, columns = checked_shape("shape", shape)
        raw, count = raw_bytes("data", data), rows * columns
        if len(raw) * 8 < count:
            raise ValueError(f"data must hold {count} bits, not {len(raw)} bytes")
        return cls(np.unpackbits(raw, count=count, bitorder="little").reshape(shape).astype(np.bool_))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the image."""
        return self.bits.shape[0], self.bits.shape[1]

    def to_bytes(self) -> bytes:
        """Return the packed bits; the last byte is filled with zeros."""
        return np.packbits(self.bits.reshape(-1), bitorder="little").tobytes()

    def __eq__(self, other: object) -> bool:
        return bool(np.array_equal(self.bits, other.bits)) if isinstance(other, Mask) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # Equal by content, like an array.

    def __repr__(self) -> str:
        return f"Mask {self.shape[0]} x {self.shape[1]}\n{self.bits.astype(np.uint8)}"
