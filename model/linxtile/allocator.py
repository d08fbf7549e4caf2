"""Placement of tiles in the tile RAM: rotating first fit of naturally aligned runs."""

from linxtile.config import GRANULE_BYTES


class Allocator:
    """Map of free granules and the rotating pointer.

    The order of calls is program order; a block allocates all its destinations before anything is released.

    Parameters
    ----------
    ram_bytes : int
        Size of the tile RAM, a multiple of 256.
    """

    def __init__(self, ram_bytes: int):
        if ram_bytes <= 0 or ram_bytes % GRANULE_BYTES:
            raise ValueError(f"tile RAM size must be a positive multiple of {GRANULE_BYTES} bytes, not {ram_bytes!r}")
        self.ram_bytes = ram_bytes
        self._granules = ram_bytes // GRANULE_BYTES
        self.clear()

    def clear(self) -> None:
        """Free everything and return the pointer to 0."""
        self._free = (1 << self._granules) - 1
        self._pointer = 0

    @property
    def pointer(self) -> int:
        """Byte address at which the next search starts."""
        return self._pointer * GRANULE_BYTES

    @property
    def free_bytes(self) -> int:
        """Bytes of all free granules, whether or not they make one run."""
        return self._free.bit_count() * GRANULE_BYTES

    def place(self, sizes: list[int]) -> list[int] | None:
        """Allocate a run for each size, in order, and return the byte addresses, or None if one does not fit.

        Sizes are powers of two. A failure changes nothing.
        """
        before = self._free, self._pointer
        bases = []
        for size in sizes:
            base = self._place_one(max(size // GRANULE_BYTES, 1))
            if base is None:
                self._free, self._pointer = before
                return None
            bases.append(base * GRANULE_BYTES)
        return bases

    def restore(self, bases: list[int], sizes: list[int], pointer: int) -> None:
        """Take back the placement of a block that faults: free its runs, set the pointer to where it was."""
        for base, size in zip(bases, sizes, strict=True):
            self.release(base, size)
        self._pointer = pointer // GRANULE_BYTES

    def release(self, base: int, size: int) -> None:
        """Free the run of ``size`` bytes at ``base``."""
        run = ((1 << max(size // GRANULE_BYTES, 1)) - 1) << (base // GRANULE_BYTES)
        if self._free & run:
            raise ValueError(f"tile storage {base:#x} of {size} bytes is already free")
        self._free |= run

    def _place_one(self, granules: int) -> int | None:
        # Bit i of ``starts`` says that granules i .. i + granules - 1 are free; halving steps build the run.
        starts = self._free
        step = 1
        while step < granules:
            starts &= starts >> step
            step *= 2
        starts &= _multiples(granules, self._granules)
        later = starts >> self._pointer << self._pointer
        found = later or starts
        if not found:
            return None
        base = (found & -found).bit_length() - 1
        self._free &= ~(((1 << granules) - 1) << base)
        self._pointer = (base + granules) % self._granules
        return base


_MULTIPLES: dict[tuple[int, int], int] = {}


def _multiples(step: int, count: int) -> int:
    """Return an integer whose bits 0, step, 2 * step, ... below ``count`` are set."""
    mask = _MULTIPLES.get((step, count))
    if mask is None:
        mask = _MULTIPLES[step, count] = sum(1 << bit for bit in range(0, count, step))
    return mask
