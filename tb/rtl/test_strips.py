"""StripWalk: what its steps carry, put together byte by byte, against the rows and squares as they are defined."""

import random

import cocotb
import pytest

from linxtile.config import CoreConfig
from linxtile_rtl.move.strips import StripWalk, step_layout, strips_layout
from linxtile_sim.streams import Sink, Source, cycles, start
from linxtile_sim.unit import parameters, run_unit

CONFIG = CoreConfig.named(parameters().get("config", "default"))
BEAT = CONFIG.axi_data_bytes
LIMIT = 1 << CONFIG.axi_address_bits


def random_rows(rng):
    """Rows of elements of any width: aligned or not, overlapping, backwards, beyond the addresses."""
    width = rng.randrange(5)
    half_bytes = rng.choice([rng.randrange(1, 9), rng.randrange(1, 150), 2 * BEAT * rng.randrange(1, 4)]) << width
    half_bytes = min(half_bytes, 2 * CONFIG.tile_max_bytes)
    return {
        "base": rng.choice(
            [rng.randrange(1 << 30), rng.randrange(1 << 20) * BEAT, LIMIT - rng.randrange(400), 2**64 - 99]
        ),
        "stride": rng.choice([rng.randrange(300), rng.randrange(20) * BEAT, (-half_bytes // 2) % 2**64, 1 << 20]),
        "rows": rng.choice([1, rng.randrange(1, 9), rng.randrange(1, 90)]),
        "row_bytes": (half_bytes + 1) // 2,
        "element_shift": max(0, width - 1),
        "width": width,
        "odd_nibble": half_bytes % 2,
    }


def squares(command):
    """Yield (row, first byte of the word in it, whether the square ends, columns of the square) of all words in order."""
    height = 2 * BEAT >> command["width"]
    columns = (2 * command["row_bytes"] - command["odd_nibble"]) >> command["width"]
    for strip in range(0, command["rows"], height):
        rows = range(strip, min(strip + height, command["rows"]))
        for first in range(0, columns, height):
            for row in rows:
                yield row, first * BEAT // height, row == rows[-1], min(height, columns - first)


def needed_beats(command):
    """Return the beats that hold needed bytes of each row, with the first needed byte."""
    beats = []
    for row in range(command["rows"]):
        begin = command["base"] + row * command["stride"]
        beats += [(row, max(at, begin)) for at in range(begin // BEAT * BEAT, begin + command["row_bytes"], BEAT)]
    return sorted((row, at % 2**64) for row, at in beats)


def pauses(command):
    """Return how many words need no further beat when there are no rows left whose first beat could be read meanwhile."""
    if (command["base"] | command["stride"]) % BEAT == 0:
        return 0
    height, words = 2 * BEAT >> command["width"], -(-command["row_bytes"] // BEAT)
    beats = [0] * command["rows"]
    for row, _ in needed_beats(command):
        beats[row] += 1
    strips = [beats[at : at + height] for at in range(0, len(beats), height)]
    return sum(max(0, strip.count(words) - len(below)) for strip, below in zip(strips, [*strips[1:], []], strict=True))


def check(command, steps):
    """Do with the steps what their layout says, with addresses in place of bytes."""
    kept, words, beats = {}, [], []
    for step in steps:
        beat = [None] * BEAT
        if step["beat"]:
            row = command["rows"] - step["rows_left"]
            beats.append((row, step["address"]))
            beat = [(row, (step["address"] // BEAT * BEAT + lane) % 2**64) for lane in range(BEAT)]
            assert step["skew"] == (command["base"] + row * command["stride"]) % 8
            assert step["beyond"] == (step["address"] >= LIMIT)
        if step["word"]:
            both = kept.get(step["index"], [None] * BEAT) + beat
            words.append((beat if step["aligned"] else both[step["shift"] :][:BEAT], step))
        kept[step["beat_index"]] = beat
    assert sorted(beats) == needed_beats(command), "beats"
    expected = list(squares(command))
    assert len(words) == len(expected), "number of words"
    for (got, step), (row, at, ends, columns) in zip(words, expected, strict=True):
        bytes_here = min(BEAT, command["row_bytes"] - at)
        first = command["base"] + row * command["stride"] + at
        assert got[:bytes_here] == [(row, (first + k) % 2**64) for k in range(bytes_here)], f"word {at} of row {row}"
        assert (step["square_end"], step["width"]) == (ends, command["width"])
        assert step["last_column"] + 1 == columns
    assert len(steps) == len(beats) + pauses(command), "number of steps"


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def steps_bring_every_word_and_every_beat_once(dut, stall):
    rng = random.Random(cocotb.RANDOM_SEED)
    source = Source(dut, "command", shape=strips_layout(CONFIG))
    sink = Sink(dut, "steps", shape=step_layout(CONFIG), stall=stall)
    await start(dut)
    for number in range(parameters()["commands"]):
        command = random_rows(rng)
        before = len(sink.received)
        source.put(command)
        while not any(step["last"] for step in sink.received[before:]):
            await sink.wait(len(sink.received) + 1)
        await cycles(dut, 4)
        try:
            check(command, sink.received[before:])
        except AssertionError as error:
            raise AssertionError(f"command {number}, {command}: {error}") from None
        assert dut.busy.value == 0


@pytest.mark.parametrize("config", ["small", "default"])
def test_steps_bring_every_word_and_every_beat_once(config):
    run_unit(StripWalk(config=CoreConfig.named(config)), __file__, parameters={"config": config, "commands": 20})
