"""Windows of rows that begin at any byte, cut out of lines in order."""

import random

import cocotb
import pytest

from linxtile.config import PRESETS
from linxtile_rtl.vector.window import WindowReader, window_command_layout, window_layout
from linxtile_sim.streams import Sink, Source, cycles, start
from linxtile_sim.unit import parameters, run_unit

SHAPES = [
    # row_bytes, pitch_bytes, rows
    (1, 1, 200), (4, 4, 30), (4, 8, 9), (16, 16, 16), (32, 32, 8), (17, 17, 11), (33, 40, 7), (3, 100, 5), (60, 64, 6), (5, 7, 25),
    (128, 128, 4), (130, 132, 5), (8, 24, 12), (1, 1, 1), (250, 250, 1),
]  # fmt: skip


def traffic(line_bytes, rng, row_bytes, pitch_bytes, rows):
    """Command, lines, and the windows that must come."""
    needed = (rows - 1) * pitch_bytes + row_bytes
    lines = -(-needed // line_bytes)
    content = rng.randbytes(lines * line_bytes)
    windows = []
    for row in range(rows):
        first = row * pitch_bytes
        for at in range(first, first + row_bytes, line_bytes):
            windows.append(content[at : min(at + line_bytes, first + row_bytes)])
    command = {"rows": rows, "row_bytes": row_bytes, "pitch_bytes": pitch_bytes, "lines": lines}
    return command, [content[at : at + line_bytes] for at in range(0, len(content), line_bytes)], windows


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def windows_of_rows(dut, stall):
    config = PRESETS[parameters()["preset"]]
    rng = random.Random(cocotb.RANDOM_SEED)
    commands = Source(dut, "command", shape=window_command_layout(config), stall=stall)
    lines = Source(dut, "lines", stall=stall)
    sink = Sink(dut, "windows", shape=window_layout(config), stall=stall)
    await start(dut)
    shapes = list(SHAPES)
    for _ in range(30):
        pitch_bytes = rng.randint(1, 5 * config.vector_bytes)
        shapes.append((rng.randint(1, pitch_bytes), pitch_bytes, rng.randint(1, 12)))
    expected = []
    for shape in shapes:
        command, content, windows = traffic(config.vector_bytes, rng, *shape)
        commands.put(command)
        lines.put(*(int.from_bytes(line, "little") for line in content))
        expected += [(shape, index, window) for index, window in enumerate(windows)]
    for (shape, index, window), got in zip(expected, await sink.wait(len(expected)), strict=True):
        assert got["present"] == (1 << len(window)) - 1, f"rows {shape}: window {index} has other bytes"
        content = got["data"].to_bytes(config.vector_bytes, "little")[: len(window)]
        assert content == window, f"rows {shape}: window {index} is {content.hex()}, expected {window.hex()}"
    await lines.drained()


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_window_a_cycle(dut):
    config = PRESETS[parameters()["preset"]]
    rng = random.Random(cocotb.RANDOM_SEED)
    commands = Source(dut, "command", shape=window_command_layout(config))
    lines = Source(dut, "lines")
    sink = Sink(dut, "windows", shape=window_layout(config))
    await start(dut)
    for offset in (0, 1):
        row_bytes = 4 * config.vector_bytes - offset
        command, content, windows = traffic(config.vector_bytes, rng, row_bytes, row_bytes, 8)
        before = len(sink.received)
        commands.put(command)
        lines.put(*(int.from_bytes(line, "little") for line in content))
        await sink.wait(before + 1)
        await cycles(dut, len(windows))
        assert len(sink.received) == before + len(windows)


@pytest.mark.parametrize("preset", ["small", "default"])
def test_rows_are_cut_into_windows_at_any_byte(preset):
    run_unit(WindowReader(config=PRESETS[preset]), __file__, parameters={"preset": preset})
