"""Column masks against the row and column of every byte, computed one by one."""

import random

import cocotb
import pytest

from linxtile.config import PRESETS
from linxtile_rtl.masks import ColumnMask, mask_command_layout, mask_line_layout
from linxtile_sim.streams import Sink, Source, cycles, start
from linxtile_sim.unit import parameters, run_unit

SHAPES = [
    # row_bytes, pitch_bytes, valid_rows, tile_bytes
    (1, 1, 1, 256), (1, 1, 256, 256), (1, 3, 85, 256), (2, 3, 10, 256), (3, 7, 36, 256), (12, 12, 21, 256), (8, 8, 4, 256),
    (4, 16, 16, 256), (16, 16, 3, 256), (17, 17, 15, 256), (15, 24, 9, 256), (20, 32, 3, 512), (129, 129, 1, 256), (200, 200, 1, 256),
    (255, 255, 2, 512), (256, 256, 1, 256), (100, 260, 3, 1024), (64, 64, 16, 1024), (5, 1000, 1, 1024), (1, 2, 511, 1024),
]  # fmt: skip


def expected_lines(line_bytes, row_bytes, pitch_bytes, valid_rows, tile_bytes):
    """Masks of the tile's lines, from the row and the place in the row of each byte."""
    lines = []
    for first in range(0, tile_bytes, line_bytes):
        masks = {"valid": 0, "image": 0, "starts": 0, "last": int(first + line_bytes == tile_bytes)}
        for index in range(line_bytes):
            row, place = divmod(first + index, pitch_bytes)
            masks["valid"] |= (row < valid_rows and place < row_bytes) << index
            masks["image"] |= ((row + 1) * pitch_bytes <= tile_bytes) << index
            masks["starts"] |= (place == 0) << index
        lines.append(masks)
    return lines


def command(row_bytes, pitch_bytes, valid_rows, tile_bytes):
    return {
        "row_bytes": row_bytes,
        "pitch_bytes": pitch_bytes,
        "valid_bytes": valid_rows * pitch_bytes,
        "tile_bytes": tile_bytes,
    }


def bench(dut, stall):
    config = PRESETS[parameters()["preset"]]
    dut.flush.value = 0
    source = Source(dut, "command", shape=mask_command_layout(config), stall=stall)
    sink = Sink(dut, "lines", shape=mask_line_layout(config), stall=stall)
    return config.vector_bytes, source, sink


@cocotb.test(timeout_time=10, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def every_byte_is_classified(dut, stall):
    line_bytes, source, sink = bench(dut, stall)
    await start(dut)
    rng = random.Random(cocotb.RANDOM_SEED)
    shapes = list(SHAPES)
    for _ in range(30):
        tile_bytes = 256 << rng.randrange(3)
        pitch_bytes = rng.randint(1, rng.choice([8, 80, tile_bytes]))
        shapes.append((rng.randint(1, pitch_bytes), pitch_bytes, rng.randint(1, tile_bytes // pitch_bytes), tile_bytes))
    expected = []
    for shape in shapes:
        source.put(command(*shape))
        expected += [(shape, line, masks) for line, masks in enumerate(expected_lines(line_bytes, *shape))]
    received = await sink.wait(len(expected))
    for (shape, line, masks), got in zip(expected, received, strict=True):
        assert got == masks, f"shape {shape} line {line}: got {got}, expected {masks}"


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def tiles_follow_each_other_without_a_gap(dut):
    line_bytes, source, sink = bench(dut, 0.0)
    await start(dut)
    for _ in range(4):
        source.put(command(60, 64, 12, 1024))
    await sink.wait(1)
    await cycles(dut, 4 * 1024 // line_bytes - 1)
    assert len(sink.received) == 4 * 1024 // line_bytes


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_flush_drops_the_tile_under_way(dut):
    line_bytes, source, sink = bench(dut, 0.0)
    await start(dut)
    source.put(command(5, 5, 51, 256))
    await sink.wait(2)
    dut.flush.value = 1
    await cycles(dut, 3)
    dut.flush.value = 0
    await cycles(dut, 3)
    before = len(sink.received)
    source.put(command(7, 9, 20, 256))
    received = await sink.wait(before + 256 // line_bytes)
    assert received[before:] == expected_lines(line_bytes, 7, 9, 20, 256)


@pytest.mark.parametrize("preset", ["small", "default", "large"])
def test_masks_agree_with_the_row_and_column_of_each_byte(preset):
    run_unit(ColumnMask(config=PRESETS[preset]), __file__, parameters={"preset": preset})
