"""Constants in registers: the canonical sequences, run by a few lines of Python."""

import random

import pytest

from linxtile.isa.setup import load_immediate, load_upper

MASK = (1 << 64) - 1


def run(words):
    """Execute LUI, ADDI and SLLI as their page describes them; return the registers written."""
    registers = {0: 0}
    for word in words:
        target, source = word >> 7 & 31, word >> 15 & 31
        if word & 0x7F == 0x17:
            upper = word >> 12
            value = (upper - (1 << 20) if upper >> 19 else upper) << 12
        elif word & 0x707F == 0x15:
            value = registers[source] + (word >> 20)
        else:
            assert word & 0xFC00707F == 0x7015
            value = registers[source] << (word >> 20 & 63)
        registers[target] = value & MASK
    return registers


CORNERS = [0, 1, 4095, 4096, 0x7FFFF000, 0x80000000, 0x80001230, 0xFFFFFFFF, 1 << 32, 1 << 63, MASK, MASK - 4095,
           0xFFFFFFFF80000000, 0xFFFFFFFF7FFFF000, 0x0000080000000000, 0x123456789ABCDEF0]  # fmt: skip


@pytest.mark.parametrize("value", CORNERS, ids=hex)
def test_corner_values_are_loaded(value):
    assert run(load_immediate(5, value)) == {0: 0, 5: value}


def test_random_values_of_every_length_are_loaded():
    generator = random.Random(3)
    for length in range(1, 65):
        for _ in range(50):
            value = generator.getrandbits(length) << generator.randrange(65 - length)
            assert run(load_immediate(7, value))[7] == value


def test_negative_values_are_two_s_complement():
    assert load_immediate(2, -1) == load_immediate(2, MASK)


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (4095, "A"),
        (4096, "L"),
        (0x12344, "LA"),
        (0xFFFFFFFF80000000, "L"),
        (0x80000000, "AS"),
        (0x80001230, "LASA"),
        (MASK, "LA"),
        (0x100000000001, "ASA"),
    ],
    ids=lambda value: hex(value) if isinstance(value, int) else value,
)
def test_the_sequence_is_the_canonical_one(value, kinds):
    names = {0x17: "L", 0x15: "A"}
    got = [
        names[word & 0x7F] if word & 0x7F == 0x17 or word >> 12 & 7 == 0 else "S" for word in load_immediate(9, value)
    ]
    assert "".join(got) == kinds


def test_lui_extends_the_sign():
    assert load_upper(0x80000) == 0xFFFFFFFF80000000
    assert load_upper(0x7FFFF) == 0x7FFFF000
