"""Bench of the engine that moves tile to tile: moves as the program means them, and a tile RAM in Python.

What must come out is found element by element from the offsets of the ISA (TLOAD, TMOV), one formula an order.
"""

import random
from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time

from linxtile_rtl.layouts import done_layout, line_write_layout, move_layout
from linxtile_sim.pins import is_high, number
from linxtile_sim.streams import CLOCK_NANOSECONDS, HoldChecker, Sink, Source

ORDERS = (
    "ND2ND", "ND2NZ", "ND2ZN", "DN2NZ", "DN2ZN", "NZ2ND", "ZN2ND", "NZ2DN", "ZN2DN", "NZ2ZN", "ZN2NZ", "ND2DN", "DN2ND",
)  # fmt: skip
"""Source and destination of every layout that TMOV has; NORM is ND2ND."""
WIDTHS = (4, 8, 16, 32, 64)
"""Bits of an element."""
ANSWER_CYCLES = 2
BUFFERED_LINES = 4


@dataclass(frozen=True)
class TileMove:
    """One TMOV: bits of an element, geometry in elements, tiles in bytes."""

    order: str
    bits: int
    valid_rows: int
    valid_columns: int
    columns: int
    source_bytes: int
    destination_bytes: int
    pad: int = 0

    @property
    def source(self):
        return self.order[:2]

    @property
    def destination(self):
        return self.order[3:]

    def rows(self, tile_bytes):
        """Physical rows of a tile."""
        return tile_bytes * 8 // (self.columns * self.bits)

    def is_legal(self):
        """Whether the binder lets it pass: the valid area is inside, fractals are whole, 4-bit rows are whole bytes."""
        cell = 32 * 8 // self.bits
        units = {"NZ": (16, cell), "ZN": (cell, 16)}
        return self.valid_columns <= self.columns and all(
            self.valid_rows <= self.rows(size)
            and self.rows(size) % units.get(order, (1, 1))[0] == 0
            and self.columns % units.get(order, (1, 2 if self.bits == 4 else 1))[1] == 0
            for order, size in ((self.source, self.source_bytes), (self.destination, self.destination_bytes))
        )

    def place(self, order, tile_bytes):
        """Return the function that gives the place of element (i, j) in a tile, in elements."""
        rows, columns, cell = self.rows(tile_bytes), self.columns, 32 * 8 // self.bits
        return {
            "ND": lambda i, j: i * columns + j,
            "DN": lambda i, j: j * rows + i,
            "NZ": lambda i, j: j // cell * rows * cell + i * cell + j % cell,
            "ZN": lambda i, j: i // cell * columns * cell + j * cell + i % cell,
        }[order]

    def expected(self, content):
        """Bytes of the destination when the source holds ``content``."""
        source = int.from_bytes(content, "little")
        mask = (1 << self.bits) - 1
        taken, put = self.place(self.source, self.source_bytes), self.place(self.destination, self.destination_bytes)
        codes = [0] * (self.destination_bytes * 8 // self.bits)
        for i in range(self.rows(self.destination_bytes)):
            for j in range(self.columns):
                is_valid = i < self.valid_rows and j < self.valid_columns
                codes[put(i, j)] = source >> taken(i, j) * self.bits & mask if is_valid else self.pad & mask
        words = [
            sum(code << at * self.bits for at, code in enumerate(codes[first : first + 64]))
            for first in range(0, len(codes), 64)
        ]
        return b"".join(word.to_bytes(8 * self.bits, "little") for word in words)[: self.destination_bytes]

    def is_turned(self):
        """Whether rows become columns."""
        return (self.source in ("DN", "ZN")) != (self.destination in ("DN", "ZN"))

    def rows_begin_with_lines(self, line_bytes):
        """Whether in both tiles elements that are neighbours across the rows lie a number of whole lines apart."""
        across = {"ND": (1, 0), "NZ": (1, 0), "DN": (0, 1), "ZN": (0, 1)}
        return all(
            self.place(order, size)(*across[order]) * self.bits % (8 * line_bytes) == 0
            for order, size in ((self.source, self.source_bytes), (self.destination, self.destination_bytes))
        )

    def command(self, tag, source_line, destination_line):
        """The engine's command."""
        return {
            "tag": tag, "width": WIDTHS.index(self.bits), "valid_rows": self.valid_rows,
            "valid_columns": self.valid_columns, "columns": self.columns,
            "source_line": source_line, "source_bytes": self.source_bytes,
            "source_by_columns": int(self.source in ("DN", "ZN")), "source_by_cells": int(self.source in ("NZ", "ZN")),
            "destination_line": destination_line, "destination_bytes": self.destination_bytes,
            "destination_by_columns": int(self.destination in ("DN", "ZN")),
            "destination_by_cells": int(self.destination in ("NZ", "ZN")),
            "pad_pattern": sum((self.pad & ((1 << self.bits) - 1)) << at for at in range(0, 64, self.bits)),
        }  # fmt: skip


def random_tile_move(rng, *, max_bytes, order=None, bits=None):
    """A legal move; many are full, many tiles have a tail, sizes mostly differ."""
    while True:
        pair, width = order or rng.choice(ORDERS), bits or rng.choice(WIDTHS)
        sizes = [256 << k for k in range(max_bytes.bit_length()) if 256 << k <= max_bytes]
        source, destination = rng.choice(sizes), rng.choice(sizes)
        most = min(source, destination) * 8 // width
        columns = rng.choice(
            [rng.randint(1, min(most, 80)), rng.choice([16, 32, 48, 64, 80, 128]), rng.randint(1, most)]
        )
        move = TileMove(pair, width, 1, 1, columns, source, destination, rng.getrandbits(64))
        if move.is_legal():
            break
    rows = min(move.rows(source), move.rows(destination))
    valid_rows = rng.choice([rows, rng.randint(1, rows), rng.randint(1, min(rows, 4))])
    valid_columns = rng.choice([columns, rng.randint(1, columns), max(1, columns - 1)])
    return TileMove(
        pair, width, valid_rows, valid_columns, columns, source, destination, rng.choice([0, move.pad, move.pad])
    )


class TileLines:
    """Read port of the tile RAM: lines two cycles after their request, four buffered, by number; noise otherwise."""

    def __init__(self, dut, config, *, stall):
        self.dut, self.stall, self.line_bytes = dut, stall, config.vector_bytes
        self.random = random.Random(f"{cocotb.RANDOM_SEED}/lines")
        self.lines = {}
        self.requests = 0
        self._waiting = deque()
        HoldChecker(dut, "read_request")
        dut.read_request_ready.value = 0
        dut.read_response_valid.value = 0
        dut.read_response_payload.value = self._noise()
        cocotb.start_soon(self._run())

    def _noise(self):
        return self.random.getrandbits(8 * self.line_bytes)

    def put(self, first, content):
        """Fill lines from number ``first`` on."""
        for at in range(0, len(content), self.line_bytes):
            self.lines[first + at // self.line_bytes] = int.from_bytes(content[at : at + self.line_bytes], "little")

    @property
    def owed(self):
        """Lines that were asked for and not yet taken."""
        return len(self._waiting)

    async def _run(self):
        dut, shown = self.dut, False
        line_number = number(dut.read_request_payload)
        in_reset, takes_response, has_request, takes_request = (
            is_high(getattr(dut, name))
            for name in ("rst", "read_response_ready", "read_request_valid", "read_request_ready")
        )
        now = 0
        while True:
            await RisingEdge(dut.clk)
            now += 1
            if in_reset():
                continue
            if shown and takes_response():
                self._waiting.popleft()
                shown = False
                dut.read_response_valid.value = 0
                dut.read_response_payload.value = self._noise()
            if has_request() and takes_request():
                line = line_number()
                assert line in self.lines, f"line {line} belongs to no source"
                self.requests += 1
                self._waiting.append((now + ANSWER_CYCLES - 1, self.lines[line]))
            due = bool(self._waiting) and self._waiting[0][0] <= now
            if due and not shown and self.random.random() >= self.stall:
                shown = True
                dut.read_response_valid.value = 1
                dut.read_response_payload.value = self._waiting[0][1]
            dut.read_request_ready.value = int(
                len(self._waiting) < BUFFERED_LINES and self.random.random() >= self.stall
            )


@dataclass(frozen=True)
class Expected:
    """A move that was sent and what it must leave."""

    move: TileMove
    tag: int
    first_line: int
    content: bytes


class Bench:
    """Engine, tile RAM, commands and reports; runs moves and compares every line that they write.

    Attributes
    ----------
    pending : deque of Expected
        Moves that were sent and not yet checked.
    taken_cycles, done_cycles : list of int
        When commands were taken and reports came.
    """

    def __init__(self, dut, config, *, stall=0.0):
        self.dut, self.config = dut, config
        self.random = random.Random(cocotb.RANDOM_SEED)
        self.reads = TileLines(dut, config, stall=stall)
        self.commands = Source(dut, "command", shape=move_layout(config), stall=stall)
        self.writes = Sink(dut, "write", shape=line_write_layout(config), stall=stall)
        self.done = Sink(dut, "done", shape=done_layout(config), stall=stall, check=self._note)
        self.pending, self.taken_cycles, self.done_cycles = deque(), [], []
        self._lines_when_done = []
        self._checked = self._tag = self._next_line = 0
        dut.flush.value = 0
        cocotb.start_soon(self._watch())

    @property
    def cycle(self):
        return int(get_sim_time("ns")) // CLOCK_NANOSECONDS

    def _note(self, report):
        self.done_cycles.append(self.cycle)
        self._lines_when_done.append(len(self.writes.received))

    async def _watch(self):
        in_reset, valid, ready = (
            is_high(handle) for handle in (self.dut.rst, self.dut.command_valid, self.dut.command_ready)
        )
        while True:
            await RisingEdge(self.dut.clk)
            if valid() and ready() and not in_reset():
                self.taken_cycles.append(self.cycle)

    def _place(self, size):
        """Return the first line of a new tile; a tile lies at a multiple of its size."""
        start = -(-self._next_line * self.config.vector_bytes // size) * size
        if start + size > self.config.tile_ram_bytes:
            start = 0
        self._next_line = (start + size) // self.config.vector_bytes
        return start // self.config.vector_bytes

    def put(self, move):
        """Fill a source with random bytes and send the command."""
        assert move.is_legal(), f"bench: {move} is not legal"
        content = self.random.randbytes(move.source_bytes)
        source, destination = self._place(move.source_bytes), self._place(move.destination_bytes)
        self.reads.put(source, content)
        self.commands.put(move.command(self._tag, source, destination))
        self.pending.append(Expected(move, self._tag, destination, move.expected(content)))
        self._tag = (self._tag + 1) % self.config.blocks_in_flight

    async def run(self, moves, *, ahead=3):
        """Run moves, at most ``ahead`` of them at once, and those that are pending; check all of them."""
        for move in moves:
            await self._check_oldest(ahead - 1)
            self.put(move)
        await self._check_oldest(0)
        await RisingEdge(self.dut.clk)
        await RisingEdge(self.dut.clk)
        assert not self.writes.received, "lines that belong to no move"
        assert len(self.done.received) == self._checked, "reports that belong to no move"
        assert self.dut.idle.value == 1 and self.reads.owed == 0

    async def _check_oldest(self, left):
        """Check the oldest moves until ``left`` are pending."""
        while len(self.pending) > left:
            expected = self.pending.popleft()
            report = (await self.done.wait(self._checked + 1))[self._checked]
            assert (report["tag"], report["fault"]) == (expected.tag, 0), f"{expected.move}: {report}"
            lines = len(expected.content) // self.config.vector_bytes
            assert self._lines_when_done[self._checked] >= lines, f"{expected.move}: done before its last line"
            self._checked += 1
            self._check(expected, self.writes.received[:lines])
            del self.writes.received[:lines]
            self._lines_when_done = [count - lines for count in self._lines_when_done]

    def _check(self, expected, writes):
        move, vector = expected.move, self.config.vector_bytes
        assert {write["tag"] for write in writes} == {expected.tag}, f"{move}: a line of another block"
        lines = {write["line"]: write["data"].to_bytes(vector, "little") for write in writes}
        numbers = range(expected.first_line, expected.first_line + len(writes))
        assert sorted(lines) == list(numbers), f"{move}: every line is written once"
        got = b"".join(lines[number] for number in numbers)
        at = next((index for index in range(len(got)) if got[index] != expected.content[index]), None)
        assert at is None, f"{move}: byte {at} is {got[at]:#x}, not {expected.content[at]:#x}"

    async def flush(self):
        """Flush until idle; return how many moves were dropped. Moves not yet taken stay pending."""
        dut = self.dut
        dut.flush.value = 1
        await RisingEdge(dut.clk)
        # A report that is already shown may still be taken, others must not follow.
        begun = self.cycle
        shown = int(dut.done_valid.value == 1 and dut.done_ready.value == 0)
        for _ in range(200):
            if dut.idle.value == 1:
                break
            await RisingEdge(dut.clk)
        assert dut.idle.value == 1, "not idle 200 cycles after a flush"
        assert self.reads.owed == 0, "idle although the tile RAM owes a line"
        late = sum(cycle > begun for cycle in self.done_cycles)
        assert late <= shown, "reported in a flush"
        written = len(self.writes.received)
        for _ in range(self.random.randrange(1, 5)):
            await RisingEdge(dut.clk)
        assert len(self.writes.received) == written, "written when idle"
        dut.flush.value = 0
        reported = len(self.done.received) - self._checked
        taken = len(self.taken_cycles) - self._checked
        for _ in range(taken):
            self.pending.popleft()
        # From here on, what was dropped counts as if it had never been sent.
        self.writes.received.clear()
        self.done.received.clear()
        self.done_cycles.clear()
        self.taken_cycles.clear()
        self._lines_when_done.clear()
        self._checked = 0
        return taken - reported
