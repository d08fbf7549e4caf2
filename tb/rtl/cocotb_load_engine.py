"""Bench of the load engine; started by test_load_engine.py."""

import random
from dataclasses import replace

import cocotb
from cocotb.triggers import RisingEdge
from move_bench import ELEMENTS, PAGE, AxiMemory, Move, random_move

from linxtile.config import CoreConfig
from linxtile.isa.faults import Rule
from linxtile_rtl.layouts import done_layout, line_write_layout, load_layout
from linxtile_sim.axi_check import AxiChecker
from linxtile_sim.streams import Sink, Source, cycles, start
from linxtile_sim.unit import parameters

CONFIG = replace(
    CoreConfig.named(parameters().get("config", "default")),
    move_layouts=frozenset(parameters().get("layouts", ["NORM"])), move_tiles=parameters().get("tiles", 1),
)  # fmt: skip
VECTOR = CONFIG.vector_bytes
LIMIT = 1 << CONFIG.axi_address_bits


class Bench:
    """Engine with memory and collected lines."""

    def __init__(self, dut, *, stall=0.0, latency=1):
        self.dut = dut
        self.memory = AxiMemory(
            dut, "m_axi_mem", data_bytes=VECTOR, latency=latency, stall=stall, seed=cocotb.RANDOM_SEED
        )
        self.checker = AxiChecker(dut, "m_axi_mem", data_bytes=VECTOR)
        self.lines = {}
        self.put_count = 0
        self.commands = Source(dut, "command", shape=load_layout(CONFIG), stall=stall)
        self.writes = Sink(dut, "write", shape=line_write_layout(CONFIG), stall=stall, check=self._line)
        self.done = Sink(dut, "done", shape=done_layout(CONFIG), stall=stall)
        self.rng = random.Random(cocotb.RANDOM_SEED)
        dut.flush.value = dut.expired.value = 0

    def _line(self, write):
        key = (write["tag"], write["line"])
        assert key not in self.lines, f"line {write['line']} of block {write['tag']} is written twice"
        self.lines[key] = write["data"]

    def move(self):
        return random_move(
            self.rng, tile_bytes=CONFIG.tile_max_bytes, lines=CONFIG.lines, vector_bytes=VECTOR,
            layouts=sorted(CONFIG.move_layouts), most_tiles=CONFIG.move_tiles,
        )  # fmt: skip

    def put(self, move, tag=0):
        self.put_count += 1
        self.commands.put(move.load_command(tag))

    def tile(self, move, tag=0):
        count = move.tile_bytes // VECTOR
        numbers = [(tag, first + index) for first in move.tile_lines for index in range(count)]
        missing = [number for number in numbers if number not in self.lines]
        assert not missing, f"{move}: lines {missing[:4]} are not written"
        return b"".join(self.lines.pop(number).to_bytes(VECTOR, "little") for number in numbers)

    def check(self, move, tag=0):
        got, expected = self.tile(move, tag), move.loaded_image(self.memory.read)
        at = next((k for k in range(len(got)) if got[k] != expected[k]), None)
        assert at is None, f"{move}: byte {at} is {got[at]:#x}, not {expected[at]:#x}"

    async def flush(self):
        """Flush and return how many of the commands put since the last flush had been taken."""
        self.dut.flush.value = 1
        await cycles(self.dut, 2)
        waiting = len(self.commands._queue)
        taken, self.put_count = self.put_count - waiting, 0
        while self.dut.idle.value == 0:
            await RisingEdge(self.dut.clk)
        self.dut.flush.value = 0
        self.lines.clear()
        return taken

    async def measure(self, move):
        """Cycles from the command on offer to its done, edge to edge; the engine is at rest, so its first tile is taken at once."""
        self.put(move)
        taken = None
        cycle = 0
        while True:
            await RisingEdge(self.dut.clk)
            cycle += 1
            if taken is None and self.dut.command_valid.value == 1:
                taken = cycle
            if taken is not None and self.dut.done_valid.value == 1 and self.dut.done_ready.value == 1:
                break
        self.check(move)
        return cycle - taken


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def random_tiles_arrive_byte_for_byte(dut, stall):
    bench = Bench(dut, stall=stall, latency=5)
    await start(dut)
    moves = [bench.move() for _ in range(parameters()["moves"])]
    tags = CONFIG.blocks_in_flight
    for index, move in enumerate(moves):
        bench.put(move, index % tags)
    for index, move in enumerate(moves):
        done = (await bench.done.wait(index + 1))[index]
        assert (done["tag"], done["fault"]) == (index % tags, 0), f"{move}: {done}"
        bench.check(move, index % tags)
    await cycles(dut, 3)
    assert dut.idle.value == 1 and not bench.lines
    bench.checker.assert_idle()


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def the_first_failing_element_is_told(dut, stall):
    bench = Bench(dut, stall=stall, latency=3)
    await start(dut)
    faults = 0
    count = 0
    for index in range(parameters()["moves"]):
        move = bench.move()
        if index % 3 == 0:
            end, span = (2**64, move.row_bytes * 2 + 9) if index % 6 else (LIMIT, move.row_bytes)
            move = Move(**{**move.__dict__, "base": (end - bench.rng.randrange(span)) % 2**64})
        touched = sorted({address // PAGE for address, *_ in move.nibbles() if address < LIMIT})
        bench.memory.error_pages = set(
            bench.rng.sample(touched, min(len(touched), bench.rng.randrange(3) if index % 6 else 0))
        )
        older, younger = bench.move(), bench.move()
        if any(bench.memory.fails(address) for address, *_ in older.nibbles()):
            continue
        bench.put(older, 1)
        bench.put(move, 2)
        bench.put(younger, 3)
        expected = move.first_failure(lambda address: address >= LIMIT or bench.memory.fails(address))
        done = (await bench.done.wait(count + 2))[count : count + 2]
        count += 2
        assert (done[0]["tag"], done[0]["fault"]) == (1, 0)
        bench.check(older, 1)
        assert done[1]["tag"] == 2
        if expected is None:
            assert not done[1]["fault"], f"{move}: {done[1]}"
            bench.check(move, 2)
        else:
            faults += 1
            assert done[1]["fault"] and done[1]["rule"] == Rule.MEM_READ, f"{move}: {done[1]}"
            assert done[1]["fault_address"] == expected, f"{move}: {done[1]['fault_address']:#x}, not {expected:#x}"
            await cycles(dut, 20)
            assert len(bench.done.received) == count, "a younger load was reported after the fault"
        bench.memory.error_pages.clear()
        left = 3 - await bench.flush()
        bench.checker.assert_idle()
        count = len(bench.done.received) + left
        await bench.done.wait(count)
        bench.lines.clear()
    assert faults > parameters()["moves"] // 5
    assert all(address + beats * VECTOR <= LIMIT for address, beats in bench.memory.reads)


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def a_flush_drops_what_is_under_way(dut, stall):
    bench = Bench(dut, stall=stall, latency=9)
    await start(dut)
    expected = 0
    for _ in range(parameters()["moves"]):
        moves = [bench.move() for _ in range(3)]
        for tag, move in enumerate(moves):
            bench.put(move, tag)
        await cycles(dut, bench.rng.choice([bench.rng.randrange(30), bench.rng.randrange(200)]))
        dropped_and_done = await bench.flush()
        bench.checker.assert_idle()
        expected = len(bench.done.received) + len(moves) - dropped_and_done
        await bench.done.wait(expected)
        await cycles(dut, 3)
        assert len(bench.done.received) == expected
        for tag, move in list(enumerate(moves))[dropped_and_done:]:
            done = bench.done.received[expected - len(moves) + tag]
            assert (done["tag"], done["fault"]) == (tag, 0), done
            bench.check(move, tag)
        assert not bench.lines


ONES = 2**64 - 1
TRAPS = {
    "rows between valid and physical size": Move("U32", 5, 3, 8, 0x10000, 20, 256, 32, 0x80000000_80000000),
    "a row longer than a burst": Move("U8", 300, 3, 512, 0x10F03, 300, 4096, 0, ONES),
    "a stride of 64 KiB": Move("U8", 32, 2, 32, 0x30000, 0x10000, 256),
    "a stride of 2 MiB": Move("U8", 32, 2, 32, 0x30000, 0x200000, 256),
    "a burst that would cross 4 KiB": Move("U8", 300, 1, 300, 0x10FE0, 300, 512),
    "unaligned by one": Move("U8", 64, 4, 64, 0x1001, 64, 256),
    "unaligned by two": Move("U8", 64, 4, 64, 0x1002, 70, 256),
    "unaligned by three": Move("U16", 31, 4, 32, 0x1003, 63, 256, 0, ONES),
    "all of 4 KiB in one row": Move("U8", 4096, 1, 4096, 0x20FFF, 0, 4096),
    "a tail that is no row": Move("U8", 30, 2, 100, 0x1000, 30, 512, 64, ONES),
    "all rows, padding and a tail in one line": Move("U8", 99, 5, 100, 0x1000, 100, 512, 64, ONES),
    "half of each row's last byte": Move("U4x2", 5, 7, 6, 0x1007, 5, 256, 0, 0x77777777_77777777),
    "two lines a piece": Move("U8", 5, 40, 22, 0x40000, 64, 1024),
    "two lines a piece and sometimes one between": Move("U8", 9, 26, 38, 0x40000, 64, 1024, 0, ONES),
    "rows that end with a line, a line between": Move(
        "U8", VECTOR, 9, 2 * VECTOR + 2, 0x1003, VECTOR + 1, 2048, 0, ONES
    ),
    "all bytes": Move("U8", 16, 16, 16, 0x50004, 16, 256),
    "one byte a row": Move("U8", 1, 256, 1, 0x1FFF, 3, 256),
    "one padded byte a row": Move("U8", 1, 90, 2, 0x1FFF, 2**64 - 3, 256, 0, ONES),
}
CELL_TRAPS = {
    "fewer valid rows than the tile has": Move("U16", 32, 17, 32, 0x10000, 64, 2048, 0, ONES, "ND2NZ"),
    "the same in columns": Move("U16", 17, 32, 32, 0x10001, 80, 2048, 0, ONES, "DN2ZN"),
    "rows that end with a cell": Move("U8", 64, 9, 128, 0x10002, 64, 2048, 0, ONES, "ND2NZ"),
    "rows that end in the first line of a cell": Move("U8", 69, 16, 128, 0x1003, 70, 2048, 0, ONES, "ND2NZ"),
    "rows that end a line before a cell does": Move("U8", 96 - VECTOR, 16, 128, 0x1003, 96, 2048, 0, ONES, "ND2NZ"),
    "rows that end in the last line of a cell": Move("U8", 91, 16, 128, 0x1003, 96, 2048, 0, ONES, "ND2NZ"),
    "rows shorter than a cell": Move("U16", 3, 5, 16, 0x1FFD, 8, 512, 0, ONES, "ND2NZ"),
    "one element": Move("U64", 1, 1, 16, 0x1FFC, 0, 512, 0, ONES, "DN2ZN"),
    "all rows, one after the other": Move("U32", 16, 16, 16, 0x10FE5, 64, 1024, 0, ONES, "ND2NZ"),
    "all columns, one after the other": Move("U32", 16, 32, 16, 0x10FE5, 128, 2048, 0, ONES, "DN2ZN"),
    "some columns, one after the other": Move("U32", 5, 32, 16, 0x10FE5, 128, 2048, 0, ONES, "DN2ZN"),
    "half of the last byte of a full column": Move(
        "U4x2", 16, 63, 16, 0x1007, 32, 512, 0, 0x77777777_77777777, "DN2ZN"
    ),
    "half of a byte": Move("U4x2", 1, 16, 64, 0x1007, 3, 512, 0, 0x77777777_77777777, "ND2NZ"),
    "a tail behind the fractals": Move("U64", 112, 4, 112, 0x1008, 32, 4096, 0, ONES, "DN2ZN"),
    "a tail behind fractals and padding": Move("U32", 200, 5, 240, 0x1001, 21, 8192, 0, ONES, "DN2ZN"),
}
ODD = 0x77777777_77777777
TURNED_TRAPS = {
    "one element across": Move("U64", 1, 1, 16, 0x1FFC, 0, 512, 0, ONES, "ND2ZN"),
    "rows that begin with a beat": Move("U16", 15, 20, 16, 0x10000, 64, 1024, 0, ONES, "ND2ZN"),
    "last words without a beat of their own": Move("U8", 17, 64, 32, 0x10001, 32, 2048, 0, ONES, "ND2ZN"),
    "last words with and without one": Move("U8", 27, 61, 32, 0x10FE3, 29, 2048, 0, ONES, "ND2ZN"),
    "one row that begins with a beat": Move("U8", 16, 1, 16, 0x10010, 3, 512, 0, ONES, "ND2ZN"),
    "fewer rows than a strip": Move("U16", 16, 3, 16, 0x1FFD, 4095, 512, 0, ONES, "ND2ZN"),
    "the same row again and again": Move("U32", 13, 16, 16, 0x1FF9, 0, 1024, 0, ONES, "ND2ZN"),
    "rows backwards": Move("U32", 13, 16, 16, 0x21FF9, 2**64 - 77, 1024, 0, ONES, "ND2ZN"),
    "a tail behind the turned fractals": Move("U64", 112, 4, 112, 0x1004, 1000, 4096, 0, ONES, "ND2ZN"),
    "odd rows of odd half bytes": Move("U4x2", 15, 63, 16, 0x1003, 9, 512, 0, ODD, "ND2ZN"),
    "odd columns of odd half bytes": Move("U4x2", 63, 15, 64, 0x1003, 9, 512, 0, ODD, "DN2NZ"),
    "columns across the rows": Move("U32", 24, 31, 24, 0x10FE1, 124, 4096, 0, ONES, "DN2NZ"),
}
SHARED_TRAPS = {
    "a row in two tiles, the others padding": Move("U8", 20, 7, 128, 0x1003, 30, 512, 0, ONES, "NORM", (64, 128, 192, 256, 320, 384, 448)),
    "rows that overlap the next tile": Move("U16", 32, 16, 32, 0x1003, 32, 512, 0, ONES, "NORM", (64,)),
    "all rows in the first of two tiles": Move("U16", 16, 16, 32, 0x1003, 32, 512, 0, ONES, "NORM", (64,)),
    "half bytes in the third tile": Move("U4x2", 41, 11, 48, 0x1003, 21, 256, 0, ODD, "NORM", (64, 128)),
    "three tiles in NZ order": Move("U32", 20, 3, 24, 0x1000, 128, 512, 0, 0, "ND2NZ", (64, 128)),
    "two tiles across columns": Move("U32", 3, 20, 8, 0x2000, 128, 512, 0, 0x7F7FFFFF_7F7FFFFF, "DN2NZ", (64,)),
    "two tiles across columns, two fractals each": Move("U32", 15, 29, 16, 0x2003, 117, 1024, 0, ONES, "DN2NZ", (256,)),
    "four tiles of columns, two of them padding": Move("U8", 16, 40, 16, 0x2003, 41, 512, 0, ONES, "DN2ZN", (64, 128, 192)),
    "two tiles across rows, one of them padding": Move("U8", 13, 30, 32, 0x2003, 41, 512, 0, ONES, "ND2ZN", (64,)),
    "eight tiles across rows": Move("U8", 121, 32, 128, 0x10FE3, 124, 512, 0, ONES, "ND2ZN", (64, 128, 192, 256, 320, 384, 448)),
}  # fmt: skip
if CONFIG.move_layouts != {"NORM"}:
    TRAPS |= CELL_TRAPS | TURNED_TRAPS | SHARED_TRAPS


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def known_traps_are_avoided(dut, stall):
    bench = Bench(dut, stall=stall, latency=4)
    await start(dut)
    # As many at once as there are tags: a tag under way names one block.
    tags = CONFIG.blocks_in_flight
    for index, (name, move) in enumerate(TRAPS.items()):
        if index % tags == 0:
            for tag, put in enumerate(list(TRAPS.values())[index : index + tags]):
                bench.put(put, tag)
        done = (await bench.done.wait(index + 1))[index]
        assert (done["tag"], done["fault"]) == (index % tags, 0), f"{name}: {done}"
        bench.check(move, index % tags)
    bench.checker.assert_idle()


FAILURES = {
    # A load, and the pages of memory that fail.
    "an earlier row of a later tile": (
        Move("U8", 64, 8, 64, 0x11000 - 32, 0x2000, 256, 0, 0, "NORM", (64,)), (0x16, 0x13),
    ),
    "the same row of both tiles": (Move("U8", 64, 8, 64, 0x11000 - 32, 0x2000, 256, 0, 0, "NORM", (64,)), (0x13, 0x12)),
    "an earlier row of a later square": (Move("U8", 128, 32, 128, 0x11000 - 60, 0x2000, 4096, 0, 0, "ND2ZN"), (0x1A, 0x15)),
    "the strip before of a row read ahead": (
        Move("U64", 3, 8, 16, 0x10FFB, 0x2000, 1024, 0, 0, "ND2ZN"), (0x1A, 0x19, 0x1C),
    ),
    "an earlier column of a later tile": (
        Move("U16", 32, 64, 32, 0x11000 - 65, 0x2000, 2048, 0, 0, "DN2NZ", (256,)), (0x28, 0x17),
    ),
    "a row beyond the addresses, then another page": (
        Move("U16", 64, 16, 64, LIMIT - 0x6000 - 64, 0x2000, 2048, 0, 0, "ND2ZN"), ((LIMIT - 0x4000) >> 12,),
    ),
    "only the last row beyond the addresses": (
        Move("U16", 64, 16, 64, LIMIT - 0x1E000 - 60, 0x2000, 2048, 0, 0, "ND2ZN"), (),
    ),
}  # fmt: skip


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def the_failure_in_the_earliest_row_is_told_once(dut):
    bench = Bench(dut, latency=7)
    await start(dut)
    for count, (name, (move, pages)) in enumerate(FAILURES.items(), start=1):
        bench.memory.error_pages = set(pages)
        expected = move.first_failure(lambda address: address >= LIMIT or bench.memory.fails(address))
        assert expected is not None, f"{name}: nothing fails"
        bench.put(move, 1)
        done = (await bench.done.wait(count))[-1]
        assert done["fault"] and done["fault_address"] == expected, (
            f"{name}: {done['fault_address']:#x}, not {expected:#x}"
        )
        await cycles(dut, 100)
        assert len(bench.done.received) == count, f"{name}: reported again"
        await bench.flush()
    assert all(address + beats * VECTOR <= LIMIT for address, beats in bench.memory.reads)


@cocotb.test()
async def the_formulas_agree_with_the_worked_examples(dut):
    """Examples (a) to (c) of loads into several tiles in the specification: tile, offset in it, address."""
    rows = Move("U32", 20, 3, 24, 0x1000, 128, 512, 0, 0, "ND2NZ", (64, 128))
    columns = Move("U32", 3, 20, 8, 0x2000, 128, 512, 0, 0, "DN2NZ", (64,))
    wide = Move("U32", 16, 32, 16, 0x2000, 128, 1024, 0, 0, "DN2NZ", (128,))
    for move, places in (
        (rows, {(0, 0x05C): 0x111C, (1, 0x024): 0x10A4, (2, 0x04C): 0x114C}),
        (columns, {(0, 0x004): 0x2080, (0, 0x1E8): 0x213C, (1, 0x000): 0x2040, (1, 0x060): 0x204C}),
        (wide, {(1, 512): 0x2000 + 8 * 128 + 16 * 4}),
    ):
        found = {divmod(offset, move.tile_bytes): address for address, half, offset, _ in move.nibbles() if not half}
        assert {place: found[place] for place in places} == places


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_tile_is_done_only_when_its_last_line_is_written(dut):
    bench = Bench(dut)
    bench.writes.stall = 0.8
    await start(dut)
    moves = [Move("U8", 1, 1, 1, 0x1000, 1, 256), Move("U8", 256, 1, 256, 0x2000, 256, 256)] * 8
    for index, move in enumerate(moves):
        bench.put(move, index % CONFIG.blocks_in_flight)
    for index, move in enumerate(moves):
        await bench.done.wait(index + 1)
        bench.check(move, index % CONFIG.blocks_in_flight)


def figures():
    """The loads of the performance figures, 4 KiB tiles: what they show, move."""
    for base in (0x10FE9,):
        for gap in (0, 1, 4096 + 3):
            yield f"256-byte rows, base {base:#x}, gap {gap}", Move("U32", 64, 16, 64, base, 256 + gap, 4096)
            yield f"16-byte rows, base {base:#x}, gap {gap}", Move("U8", 16, 256, 16, base, 16 + gap, 4096)
            yield f"40-byte rows, base {base:#x}, gap {gap}", Move("U32", 10, 102, 10, base, 40 + gap, 4096)
            yield f"20 of 64 bytes, base {base:#x}, gap {gap}", Move("U32", 5, 64, 16, base, 20 + gap, 4096)
            yield f"100 rows of 3 bytes, base {base:#x}, gap {gap}", Move("U8", 3, 100, 3, base, 3 + gap, 4096)
            yield f"9 of 25 bytes, base {base:#x}, gap {gap}", Move("U8", 9, 160, 25, base, 9 + gap, 4096)
            yield f"17 of 33 bytes, base {base:#x}, gap {gap}", Move("U8", 17, 124, 33, base, 17 + gap, 4096)
    yield "one element", Move("U8", 1, 1, 1, 0x10003, 1, 4096)
    yield "contiguous, unaligned", Move("U8", 64, 64, 64, 0x10003, 64, 4096)
    yield from cell_figures()


def cell_figures():
    """The same into NZ and ZN order: bytes of a line of memory, of those with padding, lines of those with padding."""
    for valid, physical, lines in (
        (32, 32, 128), (8, 32, 128), (17, 32, 100), (64, 64, 64), (40, 64, 64), (3, 128, 32), (100, 128, 32),
        (225, 256, 16), (240, 256, 16), (231, 256, 15),
    ):  # fmt: skip
        for gap in (0, 3):
            which = f"{lines} times {valid} of {physical} bytes, gap {gap}"
            rows, base, stride = 4096 // physical, 0x10FE9, valid + gap
            yield f"NZ {which}", Move("U8", valid, lines, physical, base, stride, 4096, 0, ONES, "ND2NZ")
            yield f"ZN {which}", Move("U8", lines, valid, rows, base, stride, 4096, 0, ONES, "DN2ZN")


def transposed_figures():
    """Cells across the lines of memory: all widths, lines of memory that are full or not, begin with a beat or not."""
    for element, size in ELEMENTS.items():
        for length in (16, 128):
            count = int(4096 / (length * size))
            for valid in sorted({length, length - 1, min(length, int(16 / size))}):
                row = -(-int(2 * valid * size) // 2)
                for base, stride in ((0x10000, 1024), (0x10000, row), (0x10FE1, row), (0x10008, row + 5)):
                    which = f"{count} times {valid} of {length}, base {base:#x}, stride {stride}"
                    yield (
                        f"ZN {element}, {which}",
                        Move(element, valid, count, length, base, stride, 4096, 0, ONES, "ND2ZN"),
                    )
            # The same number of cells, lying in columns.
            turned = Move(element, count, length - 1, count, 0x10FE3, 200, 4096, 0, ONES, "DN2NZ")
            yield f"NZ {element}, {length} rows", turned


async def measured(bench, dut, figures, latency):
    """Cycles beyond max(beats, lines) + latency of every figure."""
    beyond = {}
    for name, move in figures:
        took = await bench.measure(move)
        lines = move.tile_bytes // VECTOR
        over = took - max(move.beats(VECTOR), lines) - latency
        dut._log.info(f"{name}: {took} cycles, {move.beats(VECTOR)} beats, {lines} lines, L {latency}: over {over}")
        beyond[name] = over
    return beyond


@cocotb.test(timeout_time=50, timeout_unit="ms")
@cocotb.parametrize(latency=[1, 50])
async def cycles_stay_within_the_bound(dut, latency):
    bench = Bench(dut, latency=latency)
    await start(dut)
    beyond = await measured(bench, dut, figures(), latency)
    assert all(over <= parameters()["over"] for over in beyond.values()), beyond


@cocotb.test(timeout_time=50, timeout_unit="ms")
@cocotb.parametrize(latency=[1, 10, 50])
async def transposed_cycles_stay_within_the_bound(dut, latency):
    bench = Bench(dut, latency=latency)
    await start(dut)
    cases = dict(transposed_figures())
    beyond = await measured(bench, dut, cases.items(), latency)
    beyond = {name: over - int(32 / cases[name].size) for name, over in beyond.items()}
    for element in ELEMENTS:
        mine = {name: over for name, over in beyond.items() if f" {element}," in name}
        dut._log.info(f"worst beyond max(beats, lines) + L + 32/element: {max(mine.items(), key=lambda item: item[1])}")
    assert all(over <= parameters()["over"] for over in beyond.values())


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def a_stream_of_loads_keeps_the_bus_busy(dut):
    bench = Bench(dut, latency=50)
    await start(dut)
    tags = CONFIG.blocks_in_flight
    moves = [Move("U32", 64, 16, 64, 0x10001 + 4096 * k, 256, 4096, 0, 0) for k in range(8)]
    for index, move in enumerate(moves):
        bench.put(move, index % tags)
    for _ in range(1000):
        await RisingEdge(dut.clk)
        if bench.memory.read_beats:
            break
    begin = cocotb.utils.get_sim_time("ns")
    await bench.done.wait(len(moves))
    took = (cocotb.utils.get_sim_time("ns") - begin) / 10
    beats = sum(move.beats(VECTOR) for move in moves)
    dut._log.info(f"{len(moves)} loads: {took} cycles for {beats} beats")
    assert took <= 1.01 * beats + 10


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def tiles_of_one_load_follow_each_other_without_a_pause(dut):
    latency = 50
    bench = Bench(dut, latency=latency)
    await start(dut)
    lines = [4 * 512 // VECTOR * place for place in range(4)]
    for layout in sorted(CONFIG.move_layouts):
        across = layout in ("DN2NZ", "DN2ZN")
        for base in (0x10000, 0x10003):
            shape = (32, 4 * 64) if across else (4 * 32, 64)
            move = Move("U8", *shape, shape[0], base, 1024, 2048, lines[0], ONES, layout, tuple(lines[1:]))
            took = await bench.measure(move)
            over = took - max(move.beats(VECTOR), 4 * 2048 // VECTOR) - latency
            dut._log.info(f"{layout}, base {base:#x}, 4 tiles: {took} cycles, {move.beats(VECTOR)} beats: over {over}")
            assert over <= parameters()["over"] + 32 * (layout in ("ND2ZN", "DN2NZ"))
