"""Bench of the vector engine: a tile RAM in Python, blocks with random operands, and what must come out.

The expected bytes come from the formulas of the operations in Python integers and numpy floats, not from the model.
"""

import random
from dataclasses import dataclass, field

import cocotb
import numpy as np
from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time

from linxtile.isa.operations import operation
from linxtile.isa.types import data_type
from linxtile_rtl.layouts import done_layout, line_write_layout, vector_layout
from linxtile_sim.pins import driver, is_high, number
from linxtile_sim.streams import CLOCK_NANOSECONDS, Sink, Source

FLOATS = {"FP32": (np.float32, np.uint32), "FP16": (np.float16, np.uint16)}
EXPANDS = ("TEXPANDS", "TROWEXPAND", "TROWEXPANDSUB")
ANSWER_CYCLES = 2
BUFFERED_LINES = 4


def is_nan(code, row):
    magnitude = code & ((1 << row.storage_bits - 1) - 1)
    return (
        magnitude >> row.mantissa_bits == (1 << row.exponent_bits) - 1
        and magnitude & ((1 << row.mantissa_bits) - 1) != 0
    )


def is_signalling(code, row):
    return is_nan(code, row) and not code >> (row.mantissa_bits - 1) & 1


def float_operation(name, row, a, b):
    """Result code and set of flags of a float operation; ``b`` None: ``a`` read as by arithmetic."""
    real, code = FLOATS[row.name]
    operands = [a] if b is None else [a, b]
    flags = {"invalid"} if any(is_signalling(x, row) for x in operands) else set()
    numbers = [x for x in operands if not is_nan(x, row)]
    if name in ("MAX", "MIN"):
        if not numbers:
            return row.canonical_nan, flags
        # -0 sorts below +0: the sign bit decides among equals.
        order = sorted(numbers, key=lambda x: (np.array(x, code).view(real), -(x >> row.storage_bits - 1)))
        return order[-1 if name == "MAX" else 0], flags
    if len(numbers) < len(operands):
        return row.canonical_nan, flags
    if b is None:
        return a, flags
    x, y = (np.array(value, code).view(real) for value in operands)
    with np.errstate(all="ignore"):
        result = x + y if name == "ADD" else x - y
    if np.isnan(result):
        return row.canonical_nan, flags | {"invalid"}
    if np.isinf(result) and np.isfinite(x) and np.isfinite(y):
        flags.add("overflow")
    return int(np.asarray(result, real).view(code)), flags


def integer_operation(name, row, a, b):
    if b is None and name not in ("NOT",):
        return a
    bits = row.storage_bits
    signed = [x - (1 << bits) if row.kind.value == "signed" and x >> (bits - 1) else x for x in (a, b or 0)]
    result = {
        "ADD": lambda: a + b, "SUB": lambda: a - b, "MAX": lambda: max(signed), "MIN": lambda: min(signed),
        "XOR": lambda: a ^ b, "NOT": lambda: ~a,
    }[name]()  # fmt: skip
    return result & ((1 << bits) - 1)


def operate(name, row, a, b=None):
    if row.name in FLOATS and name in ("ADD", "SUB", "MAX", "MIN"):
        return float_operation(name, row, a, b)
    return integer_operation(name, row, a, b), set()


@dataclass
class Block:
    """One block: geometry in elements, operands by place in the tile RAM."""

    operation: str
    type_name: str
    valid_columns: int
    valid_rows: int
    columns: int
    tile_bytes: int
    pad: int = 0
    scalar: int = 0
    source_bytes: int = 0
    vector_bytes: int = 0
    tag: int = 0
    lines: list = field(default_factory=list)
    destination_line: int = 0

    def __str__(self):
        return f"{self.operation} {self.type_name} valid {self.valid_rows}x{self.valid_columns} of {self.columns} columns in {self.tile_bytes} bytes"

    @property
    def row(self):
        return data_type(self.type_name)

    @property
    def size(self):
        return self.row.storage_bits // 8

    def source_sizes(self):
        """Bytes of every source tile, in header order."""
        if self.operation == "TEXPANDS":
            return []
        if self.operation == "TROWEXPAND":
            return [self.vector_bytes]
        if self.operation == "TROWEXPANDSUB":
            return [self.source_bytes, self.vector_bytes]
        if self.operation.startswith("TROW") or self.operation.endswith("S") or self.operation == "TNOT":
            return [self.source_bytes]
        return [self.source_bytes, self.source_bytes]

    def command(self, config):
        pitch = self.columns * self.size
        pad_pattern = int.from_bytes(self.pad.to_bytes(self.size, "little") * (8 // self.size), "little")
        return {
            "tag": self.tag,
            "operation": operation(self.operation).number,
            "data_type": self.row.code,
            "scalar": self.scalar,
            "valid_rows": self.valid_rows,
            "row_bytes": self.valid_columns * self.size,
            "pitch_bytes": pitch,
            "valid_bytes": self.valid_rows * pitch,
            "source_lines": self.lines,
            "destination_line": self.destination_line,
            "destination_bytes": self.tile_bytes,
            "pad_pattern": pad_pattern,
        }

    def expected(self, sources):
        """Destination bytes and flags, from the bytes of the sources."""
        codes = [np.frombuffer(source, f"<u{self.size}").tolist() for source in sources]
        if self.operation.startswith("TROW") and self.operation not in EXPANDS:
            return self._expected_reduction(codes[0])
        rows = self.tile_bytes // (self.columns * self.size)
        image = [self.pad] * (rows * self.columns)
        flags = set()
        scalar = self.scalar & ((1 << self.row.storage_bits) - 1)
        for r in range(self.valid_rows):
            for c in range(self.valid_columns):
                at = r * self.columns + c
                if self.operation == "TEXPANDS":
                    value, raised = scalar, set()
                elif self.operation == "TROWEXPAND":
                    value, raised = codes[0][r], set()
                elif self.operation == "TROWEXPANDSUB":
                    value, raised = operate("SUB", self.row, codes[0][at], codes[1][r])
                elif self.operation == "TNOT":
                    value, raised = operate("NOT", self.row, codes[0][at])
                elif self.operation.endswith("S"):
                    value, raised = operate(self.operation[1:-1], self.row, codes[0][at], scalar)
                else:
                    value, raised = operate(self.operation[1:], self.row, codes[0][at], codes[1][at])
                image[at] = value
                flags |= raised
        return np.array(image, f"<u{self.size}").tobytes().ljust(self.tile_bytes, b"\0"), flags

    def _expected_reduction(self, codes):
        name = self.operation[4:].replace("SUM", "ADD")
        flags = set()
        results = []
        for r in range(self.valid_rows):
            level = []
            for code in codes[r * self.columns : r * self.columns + self.valid_columns]:
                value, raised = operate(name, self.row, code)
                flags |= raised
                level.append(value)
            while len(level) > 1:
                merged = []
                for left, right in zip(level[::2], level[1::2], strict=False):
                    value, raised = operate(name, self.row, left, right)
                    flags |= raised
                    merged.append(value)
                level = merged + level[len(merged) * 2 :]
            results.append(level[0])
        results += [self.pad] * (self.tile_bytes // self.size - len(results))
        return np.array(results, f"<u{self.size}").tobytes(), flags


class TileRamModel:
    """Lines by number; three read ports that answer in order, and the write port."""

    def __init__(self, dut, config, stall):
        self.lines = {}
        self.written = []
        self.accepted_cycles = []
        self.dut = dut
        self.stall = stall
        self.line_bytes = config.vector_bytes
        self.random = random.Random(f"{cocotb.RANDOM_SEED}/tile ram")
        self.waiting = [[], [], []]
        for port in range(3):
            for stream, member in (("request", "ready"), ("response", "valid"), ("response", "payload")):
                self._port(port, stream, member).value = 0
        self.write = Sink(dut, "write", shape=line_write_layout(config), stall=stall, check=self._store)
        cocotb.start_soon(self._run())

    @property
    def cycle(self):
        """Number of the clock cycle that has just ended."""
        return int(get_sim_time("ns")) // CLOCK_NANOSECONDS

    def _port(self, port, stream, member):
        return getattr(self.dut, f"reads_{port}_{stream}_{member}")

    def _store(self, write):
        self.lines[write["line"]] = write["data"].to_bytes(self.line_bytes, "little")
        self.written.append((self.cycle, write["tag"], write["line"]))

    def put(self, first, content):
        for offset in range(0, len(content), self.line_bytes):
            self.lines[first + offset // self.line_bytes] = content[offset : offset + self.line_bytes]

    def get(self, first, size):
        return b"".join(self.lines[first + index] for index in range(size // self.line_bytes))

    async def _run(self):
        in_reset, command_valid, command_ready = (
            is_high(handle) for handle in (self.dut.rst, self.dut.command_valid, self.dut.command_ready)
        )
        requests, responses = (
            [tuple(is_high(self._port(port, stream, member)) for member in ("valid", "ready")) for port in range(3)]
            for stream in ("request", "response")
        )
        lines = [number(self._port(port, "request", "payload")) for port in range(3)]
        ready, valid = (
            [driver(self._port(port, stream, member), 0) for port in range(3)]
            for stream, member in (("request", "ready"), ("response", "valid"))
        )
        payloads = [self._port(port, "response", "payload") for port in range(3)]
        while True:
            await RisingEdge(self.dut.clk)
            if in_reset():
                continue
            if command_valid() and command_ready():
                self.accepted_cycles.append(self.cycle)
            for port, waiting in enumerate(self.waiting):
                if all(is_one() for is_one in responses[port]):
                    waiting.pop(0)
                if all(is_one() for is_one in requests[port]):
                    line = lines[port]()
                    delay = ANSWER_CYCLES - 1 + (self.random.randrange(6) if self.random.random() < self.stall else 0)
                    after = max([self.cycle + delay, *(due for due, _ in waiting)])
                    waiting.append((after, line))
                ready[port](int(len(waiting) < BUFFERED_LINES and self.random.random() >= self.stall))
                there = bool(waiting) and waiting[0][0] <= self.cycle
                valid[port](int(there))
                content = self.lines[waiting[0][1]] if there else self.random.randbytes(self.line_bytes)
                payloads[port].value = int.from_bytes(content, "little")


class VectorBench:
    """Engine, tile RAM, commands and reports; runs blocks and compares what they leave."""

    def __init__(self, dut, config, stall):
        self.config = config
        self.dut = dut
        self.random = random.Random(cocotb.RANDOM_SEED)
        dut.flush.value = 0
        self.ram = TileRamModel(dut, config, stall)
        self.commands = Source(dut, "command", shape=vector_layout(config), stall=stall)
        self.done = Sink(dut, "done", shape=done_layout(config), stall=stall, check=self._note)
        self.done_cycles = []
        self.next_line = 0
        self.tag = 0

    def _note(self, report):
        self.done_cycles.append(self.ram.cycle)

    def _codes(self, block, size):
        """Random source bytes; floats mostly near each other, with some corners."""
        row = block.row
        if row.name not in FLOATS:
            return self.random.randbytes(size)
        real, code = FLOATS[row.name]
        generator = np.random.default_rng(self.random.getrandbits(32))
        values = generator.normal(0, 100, size // block.size).astype(real).view(code)
        corners = [
            row.canonical_nan,
            row.canonical_nan ^ (3 << row.mantissa_bits - 2),
            row.max_finite,
            0,
            1 << row.storage_bits - 1,
        ]
        for _ in range(self.random.choice([0, 0, 3])):
            values[self.random.randrange(len(values))] = self.random.choice(corners)
        return values.astype(f"<u{block.size}").tobytes()

    def _place(self, size):
        line = self.next_line
        self.next_line += size // self.config.vector_bytes
        if self.next_line > self.config.lines:
            raise ValueError(f"bench: the blocks of one run need more than {self.config.tile_ram_bytes} bytes")
        return line

    def prepare(self, block):
        """Give a block places and operands; return what it must leave."""
        sources = [self._codes(block, size) for size in block.source_sizes()]
        block.lines = [self._place(len(source)) for source in sources]
        for line, source in zip(block.lines, sources, strict=True):
            self.ram.put(line, source)
        block.destination_line = self._place(block.tile_bytes)
        block.tag = self.tag % self.config.blocks_in_flight
        self.tag += 1
        return block.expected(sources)

    async def run(self, blocks):
        """Run blocks back to back and check all of them."""
        self.next_line = 0
        first_write, first_done = len(self.ram.written), len(self.done.received)
        expected = [self.prepare(block) for block in blocks]
        for block in blocks:
            self.commands.put(block.command(self.config))
        received = (await self.done.wait(first_done + len(blocks)))[first_done:]
        writes = self.ram.written[first_write:]
        for block, (content, flags), report in zip(blocks, expected, received, strict=True):
            got = self.ram.get(block.destination_line, block.tile_bytes)
            wrong = [index for index in range(len(got)) if got[index] != content[index]]
            assert not wrong, (
                f"{block}: byte {wrong[0]} of {len(wrong)} wrong: got {got[wrong[0]]:#x}, expected {content[wrong[0]]:#x}"
            )
            assert report["tag"] == block.tag and not report["fault"], f"{block}: {report}"
            raised = {name for name, value in report["flags"].items() if value}
            assert raised == flags, f"{block}: raised {raised}, expected {flags}"
            lines = [block.destination_line + index for index in range(block.tile_bytes // self.config.vector_bytes)]
            written = [line for _, _, line in writes if line in set(lines)]
            assert sorted(written) == lines, f"{block}: every line is written once"
        assert len(writes) == sum(block.tile_bytes for block in blocks) // self.config.vector_bytes
