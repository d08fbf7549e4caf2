# amaranth: UnusedElaboratable=no
"""Blocks turned by the transposer against numpy's transpose of their elements."""

import random
from dataclasses import dataclass
from typing import Any

import cocotb
import numpy as np
import pytest
from cocotb.triggers import RisingEdge

from linxtile.config import CoreConfig
from linxtile_rtl.move.transposer import Transposer, block_word_layout, turned_word_layout
from linxtile_sim.streams import Sink, Source, cycles, start, unpack
from linxtile_sim.unit import parameters, run_unit

ROW_BYTES = 32
ELEMENT_BITS = (4, 8, 16, 32, 64)
"""Bits of an element by width code."""


def unpacked(rows: np.ndarray, bits: int) -> np.ndarray:
    """Return the elements of rows of bytes, a square."""
    if bits == 4:
        return np.stack([rows & 15, rows >> 4], axis=-1).reshape(len(rows), -1)
    return rows.view(f"<u{bits // 8}")


def packed(elements: np.ndarray, bits: int) -> np.ndarray:
    """Return rows of elements as rows of bytes."""
    if bits == 4:
        return elements[:, 0::2] | elements[:, 1::2] << 4
    return np.ascontiguousarray(elements).view(np.uint8)


def transpose(rows: np.ndarray, bits: int) -> np.ndarray:
    """Return the turned block."""
    return packed(unpacked(rows, bits).T, bits)


@dataclass
class Block:
    """What goes in and what must come out: for each word row, number, last, data, and the bits of it that came in."""

    words: list[dict[str, int]]
    expected: list[dict[str, int]]

    @property
    def name(self) -> str:
        end = self.words[-1]
        return f"width {end['width']}, rows {end['first_row']} to {end['last_row']}, words 0 to {end['last_word']}"


def make_block(rng: random.Random, word_bytes: int, *, width: int, whole: bool = False, narrow: bool = False) -> Block:
    """Return a block: ``whole``, or some of its words in any order and any part of the answer; ``narrow`` for one row."""
    bits = ELEMENT_BITS[width]
    size = ROW_BYTES * 8 // bits
    row_words = ROW_BYTES // word_bytes
    rows = np.frombuffer(rng.randbytes(size * ROW_BYTES), np.uint8).reshape(size, ROW_BYTES)
    places = [(row, word) for row in range(size) for word in range(row_words)]
    if not whole:
        places = rng.sample(places, rng.choice([1, len(places), rng.randint(1, len(places))]))
    first, last = (0, size - 1) if whole else sorted(rng.choices(range(size), k=2))
    if narrow:
        last = first
    order = {
        "first_row": first,
        "last_row": last,
        "last_word": row_words - 1 if whole else rng.randrange(row_words),
    }
    came = np.zeros_like(rows)
    words = []
    for row, word in places:
        part = slice(word * word_bytes, (word + 1) * word_bytes)
        came[row, part] = 0xFF
        content = int.from_bytes(rows[row, part].tobytes(), "little")
        noise = {
            name: rng.randrange(1 << 6) % row_words if name == "last_word" else rng.randrange(64) for name in order
        }
        words.append({"row": row, "word": word, "data": content, "last": 0, "width": width, **noise})
    words[-1] |= {"last": 1, **order}

    def words_of(turned: np.ndarray, row: int, word: int) -> int:
        return int.from_bytes(turned[row, word * word_bytes : (word + 1) * word_bytes].tobytes(), "little")

    answer, known = transpose(rows, bits), transpose(came, bits)
    expected = [
        {"row": row, "word": word, "data": words_of(answer, row, word), "known": words_of(known, row, word)}
        for row in range(first, last + 1)
        for word in range(order["last_word"] + 1)
    ]
    for number, entry in enumerate(expected):
        entry["last"] = int(number == len(expected) - 1)
    return Block(words, expected)


def check(block: Block, received: list[dict[str, Any]]) -> None:
    """Compare the words of one turned block."""
    for want, got in zip(block.expected, received, strict=True):
        where = f"{block.name}: row {want['row']} word {want['word']}"
        assert all(got[name] == want[name] for name in ("row", "word", "last")), f"{where}: got {got}"
        wrong = (got["data"] ^ want["data"]) & want["known"]
        assert not wrong, f"{where}: got {got['data']:#x}, expected {want['data']:#x}, wrong bits {wrong:#x}"


def check_all(blocks: list[Block], received: list[dict[str, Any]]) -> None:
    """Compare the words of turned blocks that follow each other."""
    at = 0
    for block in blocks:
        check(block, received[at : at + len(block.expected)])
        at += len(block.expected)
    assert len(received) == at, f"{len(received)} words, not {at}"


def word_count(blocks: list[Block]) -> int:
    return sum(len(block.expected) for block in blocks)


@cocotb.test(timeout_time=500, timeout_unit="us")
@cocotb.parametrize(stall=[(0.0, 0.0), (0.4, 0.4), (0.0, 0.7), (0.7, 0.0)])
async def blocks(dut, stall):
    """Blocks of all widths in any order, whole, in parts, and one row of them."""
    config = CoreConfig(**parameters())
    rng = random.Random(cocotb.RANDOM_SEED)
    source = Source(dut, "words", shape=block_word_layout(config), stall=stall[0])
    sink = Sink(dut, "turned", shape=turned_word_layout(config), stall=stall[1])
    dut.clear.value = 0
    await start(dut)
    kinds = [
        {"width": width, "whole": kind == "whole", "narrow": kind == "narrow"}
        for width in range(len(ELEMENT_BITS))
        for kind in ("whole", "part", "part", "part", "narrow", "narrow")
    ]
    rng.shuffle(kinds)
    given = [make_block(rng, config.vector_bytes, **kind) for kind in kinds]
    for block in given:
        source.put(*block.words)
    await sink.wait(word_count(given))
    await cycles(dut, 5)
    check_all(given, sink.received)


@cocotb.test(timeout_time=200, timeout_unit="us")
async def rate(dut):
    """Blocks of one size, one after the other: a word a cycle on both sides, the first two cycles after the last of its block."""
    config = CoreConfig(**parameters())
    rng = random.Random(cocotb.RANDOM_SEED)
    cycle = 0
    taken, given = [], []

    async def watch():
        nonlocal cycle
        while True:
            await RisingEdge(dut.clk)
            cycle += 1
            if dut.words_valid.value == 1 and dut.words_ready.value == 1:
                taken.append(cycle)
            if dut.turned_valid.value == 1 and dut.turned_ready.value == 1:
                given.append(cycle)

    source = Source(dut, "words", shape=block_word_layout(config))
    sink = Sink(dut, "turned", shape=turned_word_layout(config))
    dut.clear.value = 0
    await start(dut)
    cocotb.start_soon(watch())
    for width in range(len(ELEMENT_BITS)):
        row_of_blocks = [make_block(rng, config.vector_bytes, width=width, whole=True) for _ in range(5)]
        size = len(row_of_blocks[0].words)
        for block in row_of_blocks:
            source.put(*block.words)
        sink.received.clear()
        taken.clear()
        given.clear()
        await sink.wait(5 * size)
        await RisingEdge(dut.clk)
        check_all(row_of_blocks, sink.received)
        for what, times in (("in", taken), ("out", given)):
            assert len(times) == 5 * size
            assert times[-1] - times[0] == 5 * size - 1, f"width {width}: {5 * size} words {what} in {times}"
        assert given[0] - taken[size - 1] == 2, (
            f"width {width}: first word {given[0] - taken[size - 1]} cycles after the last"
        )


@cocotb.test(timeout_time=200, timeout_unit="us")
@cocotb.parametrize(with_last_word=[False, True])
async def clearing(dut, with_last_word):
    """Whatever is inside or just on its way in, the block after ``clear`` comes out as if it were the first."""
    config = CoreConfig(**parameters())
    rng = random.Random(cocotb.RANDOM_SEED)
    source = Source(dut, "words", shape=block_word_layout(config))
    dut.clear.value = 0
    dut.turned_ready.value = 0
    await start(dut)

    async def take(count):
        received = []
        while len(received) < count:
            dut.turned_ready.value = 1
            await RisingEdge(dut.clk)
            if dut.turned_valid.value == 1:
                received.append(unpack(turned_word_layout(config), int(dut.turned_payload.value)))
        dut.turned_ready.value = 0
        return received

    for _ in range(20):
        first, second, after = (make_block(rng, config.vector_bytes, width=rng.randrange(1, 5)) for _ in range(3))
        await source.send(*first.words)
        await take(rng.randrange(len(first.expected)))
        await source.send(*second.words[: -1 if with_last_word else rng.randint(1, len(second.words))])
        if with_last_word:
            source.put(second.words[-1])
        await RisingEdge(dut.clk)
        dut.clear.value = 1
        await RisingEdge(dut.clk)
        dut.clear.value = 0
        for _ in range(4):
            await RisingEdge(dut.clk)
            assert dut.turned_valid.value == 0, "a word comes out after clear"
        await source.send(*after.words)
        check(after, await take(len(after.expected)))


@pytest.mark.parametrize("vector_bytes", [8, 16, 32])
def test_columns_of_a_block_come_out(vector_bytes):
    sizes = {"vector_bytes": vector_bytes, "axi_data_bytes": vector_bytes}
    run_unit(Transposer(config=CoreConfig(**sizes)), __file__, parameters=sizes)


def test_a_word_is_no_longer_than_a_row_of_a_block():
    config = CoreConfig(vector_bytes=64, axi_data_bytes=64)
    with pytest.raises(ValueError, match="^Transposer vector_bytes must be at most 32, not 64$"):
        Transposer(config=config)
