"""Placement against a plain search over a list of granules."""

import random

import pytest

from linxtile.allocator import Allocator

GRANULE = 256


class Plain:
    """Rotating first fit, written out granule by granule."""

    def __init__(self, granules):
        self.free = [True] * granules
        self.pointer = 0

    def place(self, size):
        """Return the base address of a run, or None."""
        need, count = max(size // GRANULE, 1), len(self.free)
        starts = [start for start in range(0, count, need) if all(self.free[start : start + need])]
        starts = [start for start in starts if start + need <= count]
        later = [start for start in starts if start >= self.pointer]
        if not starts:
            return None
        start = (later or starts)[0]
        self.free[start : start + need] = [False] * need
        self.pointer = (start + need) % count
        return start * GRANULE

    def release(self, base, size):
        """Free a run."""
        need = max(size // GRANULE, 1)
        self.free[base // GRANULE : base // GRANULE + need] = [True] * need


@pytest.mark.parametrize("granules", [1, 16, 128, 512])
def test_random_programs_place_tiles_where_a_plain_search_does(granules):
    rng = random.Random(granules)
    allocator, plain, live, refused = Allocator(granules * GRANULE), Plain(granules), [], 0
    for _ in range(1500):
        if live and rng.random() < 0.48:
            base, size = live.pop(rng.randrange(len(live)))
            allocator.release(base, size)
            plain.release(base, size)
        size = GRANULE << rng.randrange(8)
        got, expected = allocator.place([size]), plain.place(size)
        assert got == (None if expected is None else [expected])
        assert allocator.pointer == plain.pointer * GRANULE
        assert allocator.free_bytes == sum(plain.free) * GRANULE
        refused += got is None
        live += [] if got is None else [(got[0], size)]
    assert refused > 20
    for base, size in live:
        allocator.release(base, size)
    assert allocator.free_bytes == granules * GRANULE


def test_a_run_that_ends_at_the_last_byte_sets_the_pointer_to_zero():
    allocator = Allocator(4 * GRANULE)
    assert allocator.place([2 * GRANULE, 2 * GRANULE]) == [0, 2 * GRANULE]
    assert allocator.pointer == 0


def test_alignment_skips_granules_and_leaves_them_for_later():
    allocator = Allocator(8 * GRANULE)
    assert allocator.place([GRANULE, 4 * GRANULE, GRANULE]) == [0, 4 * GRANULE, GRANULE]


def test_several_destinations_are_placed_in_order_or_not_at_all():
    allocator = Allocator(4 * GRANULE)
    allocator.place([GRANULE])
    before = allocator.pointer, allocator.free_bytes
    assert allocator.place([GRANULE, 4 * GRANULE]) is None
    assert (allocator.pointer, allocator.free_bytes) == before
    assert allocator.place([GRANULE, 2 * GRANULE]) == [GRANULE, 2 * GRANULE]


def test_a_placement_can_be_taken_back():
    allocator = Allocator(4 * GRANULE)
    allocator.place([GRANULE])
    pointer = allocator.pointer
    allocator.restore(allocator.place([GRANULE, 2 * GRANULE]), [GRANULE, 2 * GRANULE], pointer)
    assert (allocator.pointer, allocator.free_bytes) == (pointer, 3 * GRANULE)


def test_a_tile_below_a_granule_takes_a_whole_one():
    allocator = Allocator(2 * GRANULE)
    assert allocator.place([32, 128]) == [0, GRANULE]
    assert allocator.free_bytes == 0


def test_storage_is_not_released_twice():
    allocator = Allocator(2 * GRANULE)
    allocator.place([GRANULE])
    allocator.release(0, GRANULE)
    with pytest.raises(ValueError, match="tile storage 0x0 of 256 bytes is already free"):
        allocator.release(0, GRANULE)


@pytest.mark.parametrize("size", [0, 100, -256])
def test_a_ram_that_is_no_multiple_of_the_granule_is_refused(size):
    with pytest.raises(ValueError, match=f"tile RAM size must be a positive multiple of 256 bytes, not {size}"):
        Allocator(size)
