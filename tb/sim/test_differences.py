"""The first difference is told in words: operation, tile, element, values in bits and numbers, what went in."""

import pytest

from linxtile import Machine
from linxtile.asm import assemble
from linxtile_sim.differences import describe_tile

PROGRAM = """
li a0, 0x2000
li a1, 0x40400000
TLOAD <LB0:3, LB1:2, LB2:4, FP32, Max>, [a0], ->T<256B>
TADDS <LB0:3, LB1:2, LB2:4, FP32>, T#1.reuse, [a1], ->U<256B>
TROWSUM <LB0:3, LB1:2, LB2:4, FP32>, T#1, ->M<256B>
"""
ONES = bytes.fromhex("0000803f") * 6


@pytest.fixture
def blocks():
    machine = Machine()
    machine.memory.write(0x2000, ONES)
    machine.load(assemble(PROGRAM, file="program", address=0x1000).image, 0x1000)
    result = machine.run()
    assert result.fault is None
    return {
        block.operation: (block, before) for before, block in zip([None, *result.blocks], result.blocks, strict=False)
    }


def tell(blocks, operation, *, byte, value):
    """Return the description when one byte of the new tile is not what the model says."""
    block, before = blocks[operation]
    (tile,) = block.new_tiles.values()
    ram = bytearray(128 * 1024)
    ram[tile.base : tile.base + tile.size] = bytes(tile)
    ram[tile.base + byte] = value
    return describe_tile(block, bytes(ram), before.queues)


def test_an_element_is_told_with_its_sources(blocks):
    told = tell(blocks, "TADDS", byte=22, value=0x90)
    assert told.endswith(
        "FP32: U#1 element (1, 1), byte 22: got 0x40900000 (4.5), expected 0x40800000 (4); "
        "sources: T#1 0x3f800000 (1); scalar 0x40400000 (3)"
    )
    assert told.startswith("TADDS at 0x")


def test_padding_is_called_padding(blocks):
    told = tell(blocks, "TLOAD", byte=12, value=0)
    assert "T#1 element (0, 3), byte 12: got 0x7f7fff00 (" in told
    assert ", expected 0x7f7fffff (" in told
    assert told.endswith("), padding")


def test_a_row_result_is_told_with_its_row(blocks):
    told = tell(blocks, "TROWSUM", byte=6, value=0x41)
    assert "M#1 element (1, 0), byte 6: got" in told
    assert "sources: T#1 0x3f800000 (1), 0x3f800000 (1), 0x3f800000 (1)" in told


def test_equal_bytes_with_another_digest_point_at_the_writes(blocks):
    told = tell(blocks, "TADDS", byte=0, value=bytes(blocks["TADDS"][0].new_tiles["U#1"])[0])
    assert told.endswith("a line was written twice, or elsewhere")
