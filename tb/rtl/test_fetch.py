# amaranth: UnusedElaboratable=no
"""Fetch: programs of every alignment, refused beats, flushes, against a splitter written in Python."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from linxtile.config import PRESETS
from linxtile_rtl.fetch import WordAligner, program_layout
from linxtile_rtl.fetch_beats import beat_layout
from linxtile_rtl.layouts import WordStatus, word_layout
from linxtile_sim.streams import Sink, Source, cycles, start
from linxtile_sim.unit import parameters, run_unit

STALLS = [0.0, 0.4]
ADDRESS_LIMIT = 1 << PRESETS["small"].axi_address_bits


class Memory:
    """Answers beat requests in order, some cycles later; beats in ``refused`` or out of reach answer with an error."""

    def __init__(self, dut, config, *, stall):
        self._bytes = config.axi_data_bytes
        self._layout = beat_layout(config)
        self._responses = Source(dut, "response", shape=self._layout, stall=stall)
        Sink(dut, "request", stall=stall, check=self._answer)
        self.base, self.image, self.refused, self.requests = 0, b"", set(), []
        self.paused, self._held = False, []

    def load(self, base, image, refused=()):
        self.base, self.image, self.refused, self.requests = base, image, set(refused), []

    def resume(self):
        self.paused = False
        self._responses.put(*self._held)
        self._held.clear()

    def _answer(self, address):
        assert address % self._bytes == 0 and address < ADDRESS_LIMIT, f"request of {address:#x}"
        self.requests.append(address)
        error = address in self.refused
        # Outside the program, and where the bus refuses, there is noise.
        noise = random.getrandbits(8 * self._bytes).to_bytes(self._bytes, "little")
        beat = bytes(
            self.image[at - self.base] if 0 <= at - self.base < len(self.image) and not error else noise[at - address]
            for at in range(address, address + self._bytes)
        )
        item = {"data": int.from_bytes(beat, "little"), "error": error}
        if self.paused:
            self._held.append(item)
        else:
            self._responses.put(item)


def split(base, image, is_refused):
    """Return the words of a program; what follows a word that the bus refused is left out."""
    if not image:
        return [{"bits": 0, "is_long": 0, "address": base, "last": 1, "status": WordStatus.WHOLE}]
    words, at = [], 0
    while at < len(image):
        word = {"address": base + at, "status": WordStatus.WHOLE}
        parcel = int.from_bytes(image[at : at + 2], "little")
        size = 4 if parcel & 1 else 2
        if is_refused(base + at) or (at + size <= len(image) and is_refused(base + at + size - 1)):
            return [*words, word | {"status": WordStatus.BUS_ERROR}]
        word["is_long"] = parcel & 1
        word["bits"] = int.from_bytes(image[at : at + size], "little")
        if at + size > len(image):
            word["status"] = WordStatus.TRUNCATED
        at += size
        words.append(word | {"last": int(at >= len(image))})
    return words


def check(received, expected):
    """Compare words as far as they are defined: of a refused word only where it is."""
    for place, word in enumerate(expected):
        got = {key: received[place][key] for key in word}
        assert got == word, f"word {place}: got {got}, expected {word}"


def program(rng, parcels, long_share):
    """Return an image whose first parcels of words are long with a given probability."""
    image = bytearray()
    while len(image) < 2 * parcels:
        is_long = rng.random() < long_share
        image += (rng.getrandbits(15) << 1 | is_long).to_bytes(2, "little")
        image += rng.randbytes(2 if is_long else 0)
    return bytes(image[: 2 * parcels])


async def bench(dut, stall, *, word_stall=None):
    """Return configuration, sources and sinks of a running aligner."""
    config = PRESETS[parameters()["preset"]]
    dut.flush.value = 0
    memory = Memory(dut, config, stall=stall)
    programs = Source(dut, "start", shape=program_layout())
    sink = Sink(dut, "o", shape=word_layout(), stall=stall if word_stall is None else word_stall)
    await start(dut)
    return config, memory, programs, sink


async def run(dut, memory, programs, sink, base, image, refused=(), beat=16):
    """Run one program to its end and check the words."""
    memory.load(base, image, refused)
    sink.received.clear()
    expected = split(base, image, lambda at: at - at % beat in memory.refused or at >= ADDRESS_LIMIT)
    await programs.send({"address": base, "length_bytes": len(image)})
    await sink.wait(len(expected))
    check(sink.received, expected)
    while dut.idle.value == 0:
        await RisingEdge(dut.clk)
    if expected[-1]["status"] != WordStatus.BUS_ERROR:
        assert len(sink.received) == len(expected), "words after the last one"
    return expected


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=STALLS)
async def every_alignment_length_and_refused_beat(dut, stall):
    config, memory, programs, sink = await bench(dut, stall)
    beat = config.axi_data_bytes
    rng = random.Random(cocotb.RANDOM_SEED)
    statuses = dict.fromkeys(WordStatus, 0)
    for offset in range(0, beat, 2):
        for share in (0.0, 0.5, 0.9, 1.0) * (64 // beat):
            image = program(rng, rng.randint(1, 80), share)
            base = 0x1000 * rng.randrange(1 << 20) + offset
            beats = range(base - base % beat, base + len(image), beat)
            refused = [rng.choice(beats)] if rng.random() < 0.4 else []
            words = await run(dut, memory, programs, sink, base, image, refused, beat)
            assert memory.requests == list(beats), "each beat of the program is requested once, no other"
            for word in words:
                statuses[word["status"]] += 1
    for parcels in (0, 1, 2, 3):
        for offset in (0, 2, beat - 2):
            await run(dut, memory, programs, sink, 0x2000 + offset, program(rng, parcels, 0.5), (), beat)
    assert min(statuses.values()) >= 5, statuses


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def a_word_leaves_in_every_cycle(dut):
    config, memory, programs, sink = await bench(dut, 0.0)
    rng = random.Random(cocotb.RANDOM_SEED)
    for offset in (0, 2):
        image = program(rng, 400, 0.7)
        memory.load(0x4000 + offset, image)
        words = split(0x4000 + offset, image, lambda at: False)
        sink.received.clear()
        await programs.send({"address": 0x4000 + offset, "length_bytes": len(image)})
        await sink.wait(1)
        await cycles(dut, len(words) - 1)
        assert len(sink.received) == len(words), f"{len(words)} words were expected by now, not {len(sink.received)}"
        check(sink.received, words)


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(stall=STALLS)
async def a_flush_drops_the_answers_under_way(dut, stall):
    # A flush takes back the word that waits, so none may wait here.
    config, memory, programs, sink = await bench(dut, stall, word_stall=0.0)
    beat = config.axi_data_bytes
    rng = random.Random(cocotb.RANDOM_SEED)
    for _ in range(12):
        memory.load(0x8000, program(rng, 300, 0.8))
        await programs.send({"address": 0x8000, "length_bytes": 600})
        memory.paused = rng.random() < 0.5
        await cycles(dut, rng.randint(1, 60))
        dut.flush.value = 1
        await cycles(dut)
        dut.flush.value = 0
        await cycles(dut, 3)
        memory.resume()
        while dut.idle.value == 0:
            await RisingEdge(dut.clk)
        await run(dut, memory, programs, sink, 0x10002, program(rng, 40, 0.5), (), beat)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def beats_out_of_reach_count_as_refused(dut):
    config, memory, programs, sink = await bench(dut, 0.0)
    image = bytes([0x3C, 0]) * 20
    for base in (ADDRESS_LIMIT - 10, ADDRESS_LIMIT, ADDRESS_LIMIT + 0x2002):
        words = await run(dut, memory, programs, sink, base, image, (), config.axi_data_bytes)
        assert words[-1]["status"] == WordStatus.BUS_ERROR


@pytest.mark.parametrize("preset", ["small", "default", pytest.param("large", marks=pytest.mark.slow)])
def test_words_are_cut_from_beats_at_every_alignment(preset):
    run_unit(WordAligner(PRESETS[preset]), __file__, parameters={"preset": preset})


@pytest.mark.parametrize("beats", [0, 1, 12])
def test_a_number_of_beats_that_is_no_power_of_two_is_refused(beats):
    with pytest.raises(ValueError, match=f"beats must be a power of two from 2, not {beats}"):
        WordAligner(PRESETS["small"], beats=beats)
