"""The sparse memory against a dictionary of bytes."""

import random

import numpy as np
import pytest

from linxtile.memory import ADDRESS_SPACE, PAGE_BYTES, Memory

CHUNK = 1 << 18


def test_bytes_never_written_read_as_zero():
    assert Memory().read(0xFFFF_0000_1234, 5) == bytes(5)


@pytest.mark.parametrize("address", [0, 1, CHUNK - 3, 5 * CHUNK - 1, ADDRESS_SPACE - 4])
def test_what_is_written_is_read_back_across_storage_pieces_and_the_end_of_the_space(address):
    memory = Memory()
    data = bytes(range(1, 11))
    memory.write(address, data)
    assert memory.read(address, 10) == data
    assert memory.read((address + 3) % ADDRESS_SPACE, 4) == data[3:7]
    assert memory.read(address - 1, 1) == b"\0"
    assert memory.read(address + 10, 1) == b"\0"


def test_a_write_of_more_than_two_pieces_is_read_back():
    data = random.Random(1).randbytes(3 * CHUNK)
    memory = Memory()
    memory.write(CHUNK - 7, data)
    assert memory.read(CHUNK - 7, len(data)) == data


STRIDES = [0, 1, 3, 8, 9, 4096, CHUNK, CHUNK + 5, ADDRESS_SPACE - 8, ADDRESS_SPACE - 3, ADDRESS_SPACE - CHUNK]
BASES = [16, CHUNK - 2, 40 * CHUNK - 20, ADDRESS_SPACE - 10]


@pytest.mark.parametrize("stride", STRIDES)
@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("lines", [1, 5])
def test_lines_are_read_from_and_written_to_the_addresses_of_their_elements(base, stride, lines):
    rng = random.Random(stride ^ base)
    memory, plain = Memory(), {}
    addresses = [[(base + line * stride + byte) % ADDRESS_SPACE for byte in range(8)] for line in range(lines)]
    for address in {address for line in addresses for address in line}:
        plain[address] = rng.randrange(256)
        memory.write(address, bytes([plain[address]]))
    got = memory.read_lines(base, stride, lines, 8)
    assert got.tolist() == [[plain[address] for address in line] for line in addresses]
    data = np.frombuffer(rng.randbytes(lines * 8), np.uint8).reshape(lines, 8)
    memory.write_lines(base, stride, data)
    for line, places in enumerate(addresses):
        for byte, address in enumerate(places):
            plain[address] = int(data[line, byte])
    assert all(memory.read(address, 1)[0] == value for address, value in plain.items())


def test_reading_lines_never_written_creates_nothing_and_gives_zeros():
    assert Memory().read_lines(100, 16, 3, 5).tolist() == [[0] * 5] * 3


def brute_force(memory, base, stride, lines, elements, bits):
    """Walk every element and every byte of it."""
    for line in range(lines):
        for element in range(elements):
            address = (base + line * stride + element * bits // 8) % ADDRESS_SPACE
            for byte in range(max(bits // 8, 1)):
                if memory.fails((address + byte) % ADDRESS_SPACE):
                    return address
    return None


@pytest.mark.parametrize("bits", [4, 8, 16, 32, 64])
def test_the_first_failing_element_is_the_one_a_walk_over_all_bytes_finds(bits):
    rng = random.Random(bits)
    found = 0
    for _ in range(150):
        memory = Memory(20)
        memory.set_error_pages(rng.sample(range(0, 1 << 20, PAGE_BYTES), rng.choice([0, 1, 2, 30])))
        base = rng.choice([rng.randrange(1 << 20), (1 << 20) - rng.randrange(64), rng.randrange(16)])
        span = rng.choice([1, 7, 64, 4000, 5000, 1 << 18])
        stride = rng.choice([span, ADDRESS_SPACE - span, 1 << 63, 1 << 20, 0])
        shape = rng.randrange(1, 6), rng.randrange(1, 40)
        got = memory.first_failing(base, stride, *shape, bits)
        assert got == brute_force(memory, base, stride, *shape, bits), (base, stride, shape)
        found += got is not None
    assert 20 < found < 140


def test_an_element_that_straddles_two_pages_is_reported_by_its_own_address():
    memory = Memory()
    memory.set_error_pages([0x61000])
    assert memory.first_failing(0x60FFB, 0, 1, 8, 32) == 0x60FFF
    memory.set_error_pages([0x60123])
    assert memory.error_pages == {0x60000}
    assert memory.first_failing(0x5FFFF, 0, 1, 1, 8) is None


def test_an_address_at_the_bus_limit_fails_and_the_last_one_below_does_not():
    memory = Memory(16)
    assert memory.first_failing(0xFFF8, 0, 1, 2, 32) is None
    assert memory.first_failing(0xFFF8, 0, 1, 3, 32) == 0x10000
    assert memory.first_failing(0xFFF9, 0, 1, 2, 32) == 0xFFFD
    assert (memory.fails(0xFFFF), memory.fails(0x10000)) == (False, True)


def test_error_pages_fail_blocks_but_not_the_host():
    memory = Memory()
    memory.set_error_pages([0x3000])
    memory.write(0x3000, b"abc")
    assert memory.read(0x3000, 3) == b"abc"
    assert memory.fails(0x3FFF)
    memory.clear()
    assert memory.read(0x3000, 3) == bytes(3)
    assert not memory.fails(0x3000)


@pytest.mark.parametrize("bits", [11, 65])
def test_an_address_width_out_of_range_is_refused(bits):
    with pytest.raises(ValueError, match=f"memory addresses must have 12 to 64 bits, not {bits}"):
        Memory(bits)


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError, match="a read must ask for at least 0 bytes, not -1"):
        Memory().read(0, -1)
