"""PartWalk against the split of a row, written down tile by tile."""

import random
from dataclasses import replace

import cocotb

from linxtile.config import CoreConfig
from linxtile_rtl.layouts import load_layout
from linxtile_rtl.move.parts import PartWalk, part_layout
from linxtile_sim.streams import Sink, Source, start
from linxtile_sim.unit import run_unit

CONFIG = replace(CoreConfig.named("small"), move_tiles=8)


def parts_of(command):
    """Return what each tile takes: its base, its bytes of a row, whether they end with half a byte."""
    result = []
    for number in range(command["tile_count"]):
        begin = number * command["part_bytes"] if number else 0
        end = command["row_bytes"] if command["tile_count"] == 1 else begin + command["part_bytes"]
        taken = max(0, min(end, command["row_bytes"]) - begin)
        result.append(
            {
                "base": (command["base"] + begin) % 2**64 if taken else None,
                "row_bytes": taken,
                "empty": int(taken == 0),
                "odd_nibble": command["odd_nibble"] if taken and begin + taken == command["row_bytes"] else 0,
                "tile_line": command["tile_lines"][number],
                "last": int(number + 1 == command["tile_count"]),
            }
        )
    return result


def random_command(rng):
    count = rng.randrange(1, 9)
    share = rng.randrange(1, CONFIG.tile_max_bytes // 8)
    row = rng.choice([rng.randrange(1, share * count + 1), share * rng.randrange(1, count + 1)])
    return {
        "tag": rng.randrange(4), "base": rng.getrandbits(64), "stride": rng.getrandbits(64), "valid_rows": rng.randrange(1, 999),
        "row_bytes": row, "odd_nibble": rng.randrange(2), "width": rng.randrange(5), "tile_count": count,
        "tile_lines": [rng.randrange(CONFIG.lines) for _ in range(8)], "tile_bytes": CONFIG.tile_max_bytes,
        "part_bytes": share, "pitch_bytes": share,
    }  # fmt: skip


@cocotb.test()
async def test_every_tile_gets_its_share_of_a_row(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    source = Source(dut, "command", shape=load_layout(CONFIG), stall=0.3)
    sink = Sink(dut, "parts", shape=part_layout(CONFIG), stall=0.3)
    await start(dut)
    commands = [random_command(rng) for _ in range(300)]
    source.put(*commands)
    expected = [(command, part) for command in commands for part in parts_of(command)]
    received = await sink.wait(len(expected))
    for (command, part), got in zip(expected, received, strict=True):
        assert got["element_shift"] == max(command["width"] - 1, 0)
        for name, value in part.items():
            assert value is None or got[name] == value, f"{command}: {name} is {got[name]}, not {value}"
        for name in ("tag", "stride", "valid_rows", "width", "tile_bytes", "pitch_bytes"):
            assert got[name] == command[name], f"{command}: {name} is {got[name]}"


def test_parts():
    run_unit(PartWalk(config=CONFIG), __file__)
