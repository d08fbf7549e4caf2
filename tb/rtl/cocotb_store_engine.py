"""Bench of the store engine; started by test_store_engine.py."""

import random
from collections import deque
from dataclasses import replace

import cocotb
from cocotb.triggers import RisingEdge
from move_bench import ELEMENTS, PAGE, AxiMemory, Move, random_move

from linxtile.config import CoreConfig
from linxtile.isa.faults import Rule
from linxtile_rtl.layouts import done_layout, store_layout
from linxtile_sim.axi_check import AxiChecker
from linxtile_sim.pins import is_high, number
from linxtile_sim.streams import HoldChecker, Sink, Source, cycles, start
from linxtile_sim.unit import parameters

STORES = {"NORM": "NORM", "ND2NZ": "NZ2ND", "ND2ZN": "ZN2ND", "DN2NZ": "NZ2DN", "DN2ZN": "ZN2DN"}
"""Layouts of stores, by those of the loads that they are the inverse of and share the formulas with."""
LAYOUTS = parameters().get("layouts", ["NORM"])
CONFIG = CoreConfig.named(parameters().get("config", "default")).replace(
    move_layouts=frozenset(STORES[layout] for layout in LAYOUTS), move_tiles=parameters().get("tiles", 1)
)
VECTOR = CONFIG.vector_bytes
LONGEST = 60_000
"""Cycles of a store: rows with an odd nibble wait for each other."""
LIMIT = 1 << CONFIG.axi_address_bits


class TileLines:
    """Read port of the tile RAM: lines two cycles after their request, four buffered."""

    def __init__(self, dut, *, stall):
        self.dut, self.stall = dut, stall
        self.rng = random.Random(f"{cocotb.RANDOM_SEED}/lines")
        self.requested = []
        self._queue = deque()
        self._now = 0
        HoldChecker(dut, "read_request")
        dut.read_request_ready.value = 0
        dut.read_response_valid.value = 0
        dut.read_response_payload.value = self.rng.getrandbits(VECTOR * 8)
        cocotb.start_soon(self._run())

    def line(self, number):
        return random.Random(f"line {number}").randbytes(VECTOR)

    async def _run(self):
        dut, line_number = self.dut, number(self.dut.read_request_payload)
        in_reset, has_response, takes_response, has_request, takes_request = (
            is_high(getattr(dut, name))
            for name in (
                "rst",
                "read_response_valid",
                "read_response_ready",
                "read_request_valid",
                "read_request_ready",
            )
        )
        while True:
            await RisingEdge(dut.clk)
            self._now += 1
            if in_reset():
                continue
            shown = has_response()
            if shown and takes_response():
                self._queue.popleft()
                dut.read_response_valid.value = 0
                shown = False
            if has_request() and takes_request():
                line = line_number()
                self.requested.append(line)
                self._queue.append((self._now + 1, line))
            if not shown and self._queue and self._queue[0][0] <= self._now and self.rng.random() >= self.stall:
                dut.read_response_valid.value = 1
                dut.read_response_payload.value = int.from_bytes(self.line(self._queue[0][1]), "little")
            dut.read_request_ready.value = int(len(self._queue) < 4 and self.rng.random() >= self.stall)


class Bench:
    """Engine with memory and tile lines."""

    def __init__(self, dut, *, stall=0.0, latency=1):
        self.dut = dut
        seed = cocotb.RANDOM_SEED
        self.memory = AxiMemory(dut, "m_axi_mem", data_bytes=VECTOR, latency=latency, stall=stall, seed=seed)
        self.nibbles = AxiMemory(dut, "m_axi_nibble", data_bytes=VECTOR, latency=latency, stall=stall, seed=seed)
        self.nibbles.pages = self.memory.pages
        self.nibbles.error_pages = self.memory.error_pages
        self.checkers = [AxiChecker(dut, prefix, data_bytes=VECTOR) for prefix in ("m_axi_mem", "m_axi_nibble")]
        self.lines = TileLines(dut, stall=stall)
        self.commands = Source(dut, "command", shape=store_layout(CONFIG), stall=stall)
        self.done = Sink(dut, "done", shape=done_layout(CONFIG), stall=stall)
        self.rng = random.Random(seed)
        dut.flush.value = dut.expired.value = 0

    def move(self):
        return random_move(
            self.rng, tile_bytes=CONFIG.tile_max_bytes, lines=CONFIG.lines, vector_bytes=VECTOR, store=True,
            layouts=LAYOUTS, most_tiles=CONFIG.move_tiles,
        )  # fmt: skip

    def expected(self, move):
        """Every touched page after the store."""
        count = move.tile_bytes // VECTOR
        image = b"".join(self.lines.line(first + index) for first in move.tile_lines for index in range(count))
        after = move.stored_bytes(image, self.memory.read)
        pages = {address // PAGE: bytearray(self.memory.page(address)) for address in after}
        for address, byte in after.items():
            pages[address // PAGE][address % PAGE] = byte
        return {**self.memory.snapshot(), **pages}

    def first_failure_of_odd(self, move):
        """Address of the first element that fails when every row ends with half a byte, which has to be read first; or None."""
        ends = (move.base + row * move.stride + move.row_bytes - 1 for row in range(move.memory_lines[0]))
        refused = {end for end in ends if self.nibbles.fails(end)}
        return move.first_failure(lambda address: address in refused or self.memory.fails(address))

    def compare(self, move, expected):
        for place, page in expected.items():
            got = self.memory.page(place * PAGE)
            if got != page:
                at = next(k for k in range(PAGE) if got[k] != page[k])
                raise AssertionError(f"{move}: byte at {place * PAGE + at:#x} is {got[at]:#x}, not {page[at]:#x}")

    async def finish(self):
        await cycles(self.dut, 3)
        assert self.dut.idle.value == 1
        for checker in self.checkers:
            checker.assert_idle()


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def exactly_the_valid_bytes_change(dut, stall):
    bench = Bench(dut, stall=stall, latency=4)
    await start(dut)
    for index in range(parameters()["moves"]):
        move = bench.move()
        expected = bench.expected(move)
        tag = index % CONFIG.blocks_in_flight
        bench.commands.put(move.store_command(tag))
        done = (await bench.done.wait(index + 1, within=LONGEST))[index]
        assert (done["tag"], done["fault"], done["fault_address"]) == (tag, 0, 0), f"{move}: {done}"
        bench.compare(move, expected)
    await bench.finish()


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def data_does_not_wait_for_its_address(dut, stall):
    """A slave may want to see data before it takes an address; it may not be kept waiting for that."""
    bench = Bench(dut, stall=stall, latency=2)
    bench.memory.address_after_data = True
    await start(dut)
    for index in range(4):
        move = bench.move()
        expected = bench.expected(move)
        bench.commands.put(move.store_command())
        done = (await bench.done.wait(index + 1, within=LONGEST))[index]
        assert done["fault"] == 0, f"{move}: {done}"
        bench.compare(move, expected)
    await bench.finish()


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def the_first_failing_element_is_told(dut, stall):
    bench = Bench(dut, stall=stall, latency=3)
    await start(dut)
    faults = 0
    for index in range(parameters()["moves"]):
        move = bench.move()
        if index % 3 == 0:
            end, span = (2**64, move.row_bytes * 2 + 9) if index % 6 else (LIMIT, move.row_bytes)
            move = Move(**{**move.__dict__, "base": (end - bench.rng.randrange(span)) % 2**64})
        touched = sorted({address // PAGE for address, *_ in move.nibbles() if address < LIMIT})
        bench.memory.error_pages.clear()
        bench.memory.error_pages.update(
            bench.rng.sample(touched, min(len(touched), bench.rng.randrange(3) if index % 6 else 0))
        )
        expected = move.first_failure(lambda address: address >= LIMIT or bench.memory.fails(address))
        after = bench.expected(move) if expected is None else None
        bench.commands.put(move.store_command(index % 4))
        done = (await bench.done.wait(index + 1, within=LONGEST))[index]
        assert done["tag"] == index % 4
        if expected is None:
            assert not done["fault"], f"{move}: {done}"
            bench.compare(move, after)
        else:
            faults += 1
            assert done["fault"] and done["rule"] == Rule.MEM_WRITE, f"{move}: {done}"
            assert done["fault_address"] == expected, f"{move}: {done['fault_address']:#x}, not {expected:#x}"
    assert faults > parameters()["moves"] // 5
    assert all(address + beats * VECTOR <= LIMIT for address, beats in bench.memory.writes + bench.nibbles.reads)
    await bench.finish()


TILES = {"more_lines": (96,), "tile_line": 32}
REFUSED_NIBBLES = {
    "a row on the page": (Move("U4x2", 11, 1, 12, 0x1194F, 6, 256), {0x11}),
    "the second of three rows": (Move("U4x2", 11, 3, 12, 0x10000, 4096, 256), {0x11}),
    "a row that begins before the page": (Move("U4x2", 31, 4, 32, 0x10FF8, 64, 256), {0x11}),
    "a row that ends behind the page": (Move("U4x2", 31, 2, 32, 0x11FF8, 64, 256), {0x11}),
    "both pages of a row": (Move("U4x2", 31, 2, 32, 0x11FF8, 64, 256), {0x11, 0x12}),
    "long rows, first and last page": (Move("U4x2", 16383, 1, 16384, 0x10800, 8192, 8192), {0x11, 0x12}),
    "half a byte of a turned row alone": (Move("U4x2", 77, 20, 128, 0x10FDA, 0x2000, 4096, layout="ND2ZN"), {0x15}),
    "a turned row before one that begins on its last page": (Move("U4x2", 77, 20, 128, 0x10FDA, 0x1000, 4096, layout="ND2ZN"), {0x13}),
    "a block of a turned row before its half byte": (Move("U4x2", 77, 20, 128, 0x10FF8, 0x2000, 4096, layout="ND2ZN"), {0x15}),
    "half bytes in two groups of turned rows": (Move("U4x2", 61, 50, 64, 0x10FE2, 0x2000, 4096, layout="ND2ZN"), {0x2D, 0x61}),
    "turned columns, half a byte": (Move("U4x2", 20, 77, 64, 0x10FDA, 0x1000, 4096, layout="DN2NZ"), {0x13}),
    "the second of two turned tiles": (Move("U4x2", 109, 20, 128, 0x10FF0, 0x2000, 2048, layout="ND2ZN", **TILES), {0x15, 0x1A}),
}  # fmt: skip


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_row_beyond_the_addresses_leaves_the_half_byte_alone(dut):
    """Its last byte can lie in front of its first one, where it may be written: addresses wrap."""
    bench = Bench(dut, latency=3)
    await start(dut)
    move = Move("U4x2", 7, 1, 8, 2**64 - 2, 4, 256)
    before = bytes(bench.memory.page(0))
    bench.commands.put(move.store_command(1))
    done = (await bench.done.wait(1))[0]
    assert (done["fault"], done["rule"], done["fault_address"]) == (1, Rule.MEM_WRITE, 2**64 - 2)
    await bench.finish()
    after = bytes(bench.memory.page(0))
    assert after[2:] == before[2:] and after[1] >> 4 == before[1] >> 4


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4], writable=[False, True])
async def a_refused_nibble_does_not_hide_the_row_before_it(dut, stall, writable):
    """The pages refuse to be read, and unless ``writable`` to be written; an odd row fails where its last byte cannot be read."""
    bench = Bench(dut, stall=stall, latency=3)
    await start(dut)
    bench.memory.error_pages = set()
    cases = {name: case for name, case in REFUSED_NIBBLES.items() if supported({name: case[0]})}
    for index, (name, (move, pages)) in enumerate(cases.items()):
        bench.nibbles.error_pages = pages
        bench.memory.error_pages = set() if writable else pages
        expected = bench.first_failure_of_odd(move)
        assert writable or expected is not None, name
        bench.commands.put(move.store_command(index % 4))
        done = (await bench.done.wait(index + 1, within=LONGEST))[index]
        if expected is None:
            assert not done["fault"], f"{name}: {done}"
        else:
            assert done["fault"] and done["rule"] == Rule.MEM_WRITE, f"{name}: {done}"
            assert done["fault_address"] == expected, f"{name}: {done['fault_address']:#x}, not {expected:#x}"
    await bench.finish()


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def a_flush_ends_a_store_without_a_report(dut, stall):
    bench = Bench(dut, stall=stall, latency=9)
    await start(dut)
    for attempt in range(6 * parameters()["moves"]):
        bench.commands.put(bench.move().store_command(1))
        await bench.commands.drained()
        before = len(bench.done.received)
        await cycles(dut, bench.rng.choice([bench.rng.randrange(12), bench.rng.randrange(60)]))
        shown = len(bench.done.received) > before or dut.done_valid.value == 1
        dut.flush.value = 1
        await cycles(dut, 2)
        while dut.idle.value == 0:
            await RisingEdge(dut.clk)
        dut.flush.value = 0
        reported = len(bench.done.received)
        assert reported - before == shown, "a report that was not shown before the flush, or one that was taken back"
        for checker in bench.checkers:
            checker.assert_idle()
        if attempt % 6:
            continue
        move = bench.move()
        expected = bench.expected(move)
        bench.commands.put(move.store_command(2))
        done = (await bench.done.wait(reported + 1, within=LONGEST))[reported]
        assert (done["tag"], done["fault"]) == (2, 0), done
        bench.compare(move, expected)
    await bench.finish()


TRAPS = {
    "4-bit rows with a gap": Move("U4x2", 5, 3, 6, 0x10FFE, 7, 256),
    "an odd nibble at a page's end": Move("U4x2", 31, 4, 32, 0x10FF1, 4096, 256),
    "odd rows on top of each other": Move("U4x2", 9, 20, 10, 0x20003, 2, 256),
    "a burst that would cross 4 KiB": Move("U8", 255, 1, 255, 0x10FE0, 255, 256),
    "a stride of 2 MiB": Move("U8", 32, 2, 32, 0x30000, 0x200000, 256),
    "rows on top of each other": Move("U32", 4, 16, 4, 0x30001, 3, 256),
    "one address for all rows": Move("U16", 5, 12, 10, 0x30FFD, 0, 256),
    "backwards": Move("U16", 5, 12, 10, 0x30FFD, 2**64 - 13, 256),
}


CELL_TRAPS = {
    "cells on top of each other": Move("U8", 40, 20, 64, 0x30003, 3, 2048, layout="ND2NZ"),
    "cells backwards": Move("U16", 7, 30, 16, 0x30FFD, 2**64 - 13, 1024, layout="DN2ZN"),
    "turned rows on top of each other": Move("U8", 40, 20, 48, 0x30003, 3, 2048, layout="ND2ZN"),
    "turned rows at one address": Move("U16", 5, 12, 16, 0x30FFD, 0, 512, layout="DN2NZ"),
    "turned rows backwards": Move("U32", 16, 10, 16, 0x30FFD, 2**64 - 13, 1024, layout="ND2ZN"),
    "turned rows backwards and apart": Move("U32", 13, 10, 16, 0x30FFD, 2**64 - 77, 1024, layout="ND2ZN"),
    "turned rows with half a byte left alone": Move("U4x2", 13, 70, 16, 0x30FFD, 9, 1024, layout="ND2ZN"),
    "long turned rows with half a byte left alone": Move("U4x2", 77, 20, 128, 0x30FFD, 50, 4096, layout="ND2ZN"),
    "half a byte, rows on top of each other": Move("U4x2", 17, 65, 64, 0x30FFD, 2, 4096, layout="DN2NZ"),
    "two tiles, rows on top of each other": Move("U16", 29, 12, 32, 0x30FFD, 5, 512, **TILES),
    "two tiles, odd pitch": Move("U8", 21, 12, 22, 0x30FFD, 2**64 - 20, 256, **TILES),
    "two tiles, a row between the tiles": Move("U8", 40, 20, 64, 0x30FFD, 34, 1024, layout="ND2NZ", **TILES),
    "two turned tiles on top of each other": Move("U8", 30, 40, 32, 0x30FFD, 7, 1024, layout="DN2NZ", **TILES),
}


def supported(traps):
    """Those of ``traps`` that the engine under test has the layouts and tiles for."""
    return {name: move for name, move in traps.items() if move.layout in LAYOUTS and move.tiles <= CONFIG.move_tiles}


LATER_FAULTS = {
    "the second tile in the first row": (Move("U8", 32, 3, 32, 0x10FF0, 0x2000, 512, **TILES), {0x11, 0x12}),
    "both tiles in the first row": (Move("U8", 32, 3, 32, 0x10FF0, 0x2000, 512, **TILES), {0x10, 0x11, 0x12}),
    "both tiles in the second row": (Move("U8", 32, 3, 32, 0x10FF0, 0x2000, 512, **TILES), {0x12, 0x13}),
    "the first tile in the second row": (Move("U8", 32, 3, 32, 0x10FF0, 0x2000, 512, **TILES), {0x12, 0x15}),
    "the second tile beyond the addresses": (Move("U8", 32, 3, 32, LIMIT - 0x10, -0x2000 % 2**64, 512, **TILES), {LIMIT // PAGE - 3}),
    "an element of a row that begins on the page before": (Move("U32", 16, 8, 16, 0x10FDE, 0x2000, 1024), {0x11, 0x13}),
    "an element of a long row that begins on its second page": (Move("U64", 520, 1, 1024, 0x10FFC, 4160, 8192), {0x12}),
    "the second block of the first row": (Move("U8", 64, 8, 64, 0x10FE0, 0x2000, 4096, layout="ND2ZN"), {0x11, 0x12}),
    "the second block of the third row": (Move("U8", 64, 8, 64, 0x10FE0, 0x2000, 4096, layout="ND2ZN"), {0x15, 0x16}),
    "an element that begins on the page before": (Move("U32", 16, 8, 16, 0x10FDE, 0x2000, 1024, layout="ND2ZN"), {0x11, 0x12}),
    "a turned row beyond the addresses": (Move("U8", 64, 8, 64, LIMIT - 32, -0x2000 % 2**64, 4096, layout="ND2ZN"), {LIMIT // PAGE - 3}),
}  # fmt: skip


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def an_earlier_row_that_fails_later_is_told(dut, stall):
    bench = Bench(dut, stall=stall, latency=3)
    await start(dut)
    faults = {name: case for name, case in LATER_FAULTS.items() if supported({name: case[0]})}
    for index, (name, (move, pages)) in enumerate(faults.items()):
        bench.memory.error_pages.clear()
        bench.memory.error_pages.update(pages)
        expected = move.first_failure(lambda address: address >= LIMIT or bench.memory.fails(address))
        assert expected is not None, name
        bench.commands.put(move.store_command(index % 4))
        done = (await bench.done.wait(index + 1))[index]
        assert done["fault"] and done["rule"] == Rule.MEM_WRITE, f"{name}: {done}"
        assert done["fault_address"] == expected, f"{name}: {done['fault_address']:#x}, not {expected:#x}"
    assert all(address + beats * VECTOR <= LIMIT for address, beats in bench.memory.writes)
    await bench.finish()


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(after=[3, 8, 14, 20])
async def a_dead_bus_keeps_what_it_was_shown(dut, after):
    """It dies that many cycles after the command; the record is that of the oldest of two bursts a row without an answer."""
    bench = Bench(dut, latency=9)
    await start(dut)
    move = Move("U32", 13, 12, 13, 0x10FDE, 0x2000, 1024)
    rows = [move.base + number * move.stride for number in range(move.valid_rows)]
    firsts = [first for row in rows for first in (row, row + (0x11000 - move.base) // 4 * 4)]
    bench.commands.put(move.store_command(3))
    await bench.commands.drained()
    await cycles(dut, after)
    memory = bench.memory
    memory.stall = 1.0
    await cycles(dut, 30)
    names = ["awvalid", "awaddr", "awlen", "wvalid", "wdata", "wstrb", "wlast"]
    shown = [memory.pin(name).value for name in names]
    answered = len(memory.writes) - len(memory._addresses) - len(memory._answers)
    dut.expired.value = 1
    for _ in range(60):
        await RisingEdge(dut.clk)
        assert [memory.pin(name).value for name in names] == shown
    assert dut.idle.value == 0
    (done,) = bench.done.received
    assert (done["tag"], done["fault"], done["rule"]) == (3, 1, Rule.WATCHDOG)
    assert done["fault_address"] == firsts[answered], f"{done['fault_address']:#x}, {answered} answers"


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def known_traps_are_avoided(dut, stall):
    bench = Bench(dut, stall=stall, latency=4)
    await start(dut)
    for index, (name, move) in enumerate(supported(TRAPS | CELL_TRAPS).items()):
        expected = bench.expected(move)
        bench.commands.put(move.store_command(index % 4))
        done = (await bench.done.wait(index + 1, within=LONGEST))[index]
        assert (done["tag"], done["fault"]) == (index % 4, 0), f"{name}: {done}"
        bench.compare(move, expected)
    await bench.finish()


def figures():
    """The stores of the performance figures, 4 KiB tiles: what they show, move."""
    if "NORM" in LAYOUTS:
        yield from norm_figures()
    for layout in LAYOUTS:
        if layout != "NORM":
            yield from cell_figures(layout)
    if CONFIG.move_tiles > 1:
        for layout in LAYOUTS:
            yield from tile_figures(layout)


def norm_figures():
    for base in (0x10FE9,):
        for gap in (0, 1, 4096 + 3):
            yield f"256-byte rows, base {base:#x}, gap {gap}", Move("U32", 64, 16, 64, base, 256 + gap, 4096)
            yield f"16-byte rows, base {base:#x}, gap {gap}", Move("U8", 16, 256, 16, base, 16 + gap, 4096)
            yield f"40-byte rows, base {base:#x}, gap {gap}", Move("U32", 10, 102, 10, base, 40 + gap, 4096)
            yield f"28-byte rows, base {base:#x}, gap {gap}", Move("U32", 7, 146, 7, base, 28 + gap, 4096)
            yield f"20 of 64 bytes, base {base:#x}, gap {gap}", Move("U32", 5, 64, 16, base, 20 + gap, 4096)
            yield f"3-byte rows, base {base:#x}, gap {gap}", Move("U8", 3, 400, 3, base, 3 + gap, 4096)
    yield "one element", Move("U8", 1, 1, 1, 0x10003, 1, 4096)


def cell_figures(layout):
    """Whole and half full tiles of 64 x 64 bytes or so, and rows of one element, aligned and not."""
    for element, size in ELEMENTS.items():
        columns, rows = int(64 / size) if layout.endswith("NZ") else 64, 64
        if layout.endswith("ZN"):
            rows = int(64 / size)
        shapes = {"whole": (columns, rows), "part": (columns - 2 * (columns > 4), rows - 2 * (rows > 4) - 1)}
        shapes["one element a row"] = (columns, 1) if layout.startswith("DN") else (1, rows)
        for what, (valid_columns, valid_rows) in shapes.items():
            move = Move(element, valid_columns, valid_rows, columns, 0x10000, 0, 4096, layout=layout)
            if move.odd_nibble:
                move = replace(
                    move, **{("valid_rows" if move.by_columns else "valid_columns"): move.memory_lines[1] + 1}
                )
            for base, gap in ((0x10000, 0), (0x10FE9, 5), (0x10FFF, 4096 - 7)):
                stride = move.row_bytes + gap
                yield (
                    f"{STORES[layout]} {element} {what}, base {base:#x}, gap {gap}",
                    replace(move, base=base, stride=stride),
                )


def tile_figures(layout):
    """Two and eight tiles of 512 bytes whose rows begin on a beat."""
    for tiles in (2, 8):
        tile_lines = 512 // VECTOR
        move = Move(
            "U16",
            16,
            16,
            16,
            0x10000,
            0,
            512,
            layout=layout,
            more_lines=tuple(tile_lines * at for at in range(1, tiles)),
        )
        whole = replace(move, valid_rows=16 * tiles) if move.by_columns else replace(move, valid_columns=16 * tiles)
        whole = whole if move.by_columns else replace(whole, columns=16 * tiles)
        for gap in (0, 64):
            name = f"{STORES[layout]}, {tiles} tiles, gap {gap}"
            yield name, replace(whole, stride=whole.row_bytes + gap)
        name = f"{STORES[layout]}, {tiles} tiles, the last ones empty"
        half = {"valid_rows": 16 * tiles // 2 - 8} if move.by_columns else {"valid_columns": 16 * tiles // 2 - 8}
        yield name, replace(whole, stride=1024, **half)


@cocotb.test(timeout_time=50, timeout_unit="ms")
@cocotb.parametrize(latency=[1, 10, 50])
async def cycles_stay_within_the_bound(dut, latency):
    """Beats, or lines where they are more, and the latency; turning begins with a line of each cell of a block."""
    bench = Bench(dut, latency=latency)
    await start(dut)
    worst = {}
    for name, move in figures():
        expected = bench.expected(move)
        bench.commands.put(move.store_command(0))
        taken, cycle = None, 0
        while True:
            await RisingEdge(dut.clk)
            cycle += 1
            if dut.command_valid.value == 1 and dut.command_ready.value == 1:
                taken = cycle
            if taken is not None and dut.done_valid.value == 1 and dut.done_ready.value == 1:
                break
        bench.compare(move, expected)
        lines = len({offset // VECTOR for _, _, offset, _ in move.nibbles()})
        turned = move.layout in ("ND2ZN", "DN2NZ")
        block = int(min(max(8 * move.size, VECTOR), 32) / move.size) if turned else 0
        bound = max(move.beats(VECTOR), lines if turned else 0) + latency + block
        over = cycle - taken - bound
        dut._log.info(
            f"{name}: {cycle - taken} cycles, {move.beats(VECTOR)} beats, {lines} lines, L {latency}: over {over}"
        )
        kind = name.split(",")[0]
        worst[kind] = max(worst.get(kind, -99), over)
    dut._log.info(f"worst beyond the bound: {worst}")
    assert all(over <= parameters()["over"] for over in worst.values()), worst
