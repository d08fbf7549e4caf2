"""What the move benches share: a memory with error pages, random moves, and the formulas of the ISA, evaluated directly."""

import random
from collections import deque
from dataclasses import dataclass

import cocotb
from cocotb.triggers import RisingEdge

from linxtile_sim.pins import driver, is_high, number

PAGE = 4096
SLVERR = 2
ELEMENTS = {"U4x2": 0.5, "U8": 1, "U16": 2, "U32": 4, "U64": 8}
"""Bytes of an element; the place is the width code."""


COLUMN_LAYOUTS = {"DN2ZN", "DN2NZ"}
"""Layouts whose lines of memory are columns."""
LAYOUTS = ("NORM", "ND2NZ", "ND2ZN", "DN2NZ", "DN2ZN")


@dataclass(frozen=True)
class Move:
    """One TLOAD or TSTORE as the program means it: elements, not bytes; ``tile_bytes`` decides Row.

    Several tiles share ``columns`` (or Row, where the lines of memory are columns); ``more_lines`` are the first lines of
    those after the first.
    """

    element: str
    valid_columns: int
    valid_rows: int
    columns: int
    base: int
    stride: int
    tile_bytes: int
    tile_line: int = 0
    pad_pattern: int = 0
    layout: str = "NORM"
    more_lines: tuple = ()

    @property
    def by_columns(self):
        """Whether the lines of memory are columns."""
        return self.layout in COLUMN_LAYOUTS

    @property
    def size(self):
        return ELEMENTS[self.element]

    @property
    def tile_lines(self):
        return (self.tile_line, *self.more_lines)

    @property
    def tiles(self):
        return len(self.tile_lines)

    @property
    def part_columns(self):
        """Columns of one tile, padding included."""
        return self.columns if self.by_columns else self.columns // self.tiles

    @property
    def pitch_bytes(self):
        return int(self.part_columns * self.size)

    @property
    def memory_lines(self):
        """Valid lines of memory, and valid elements in each."""
        valid = (self.valid_rows, self.valid_columns)
        return valid[::-1] if self.by_columns else valid

    @property
    def row_bytes(self):
        """Bytes of a line of memory."""
        return -(-int(2 * self.memory_lines[1] * self.size) // 2)

    @property
    def rows(self):
        """Rows of one tile, padding included."""
        return self.tile_bytes // self.pitch_bytes

    def half_byte(self, i, j):
        """Place of element (i, j) in the tiles, one behind the other, in half bytes."""
        cell = int(32 / self.size)
        tile, i, j = (
            (i // self.rows, i % self.rows, j)
            if self.by_columns
            else (j // self.part_columns, i, j % self.part_columns)
        )
        if self.layout.endswith("NZ"):
            place = (j // cell) * self.rows * cell + i * cell + j % cell
        elif self.layout.endswith("ZN"):
            place = (i // cell) * self.part_columns * cell + j * cell + i % cell
        else:
            place = i * self.part_columns + j
        return 2 * tile * self.tile_bytes + int(2 * self.size) * place

    @property
    def part_bytes(self):
        """Bytes of a line of memory that one tile can take."""
        return int((self.rows if self.by_columns else self.part_columns) * self.size)

    def command(self, tag=0):
        """The engine's command."""
        fields = {
            "tag": tag, "base": self.base, "stride": self.stride, "valid_rows": self.memory_lines[0],
            "row_bytes": self.row_bytes, "pitch_bytes": self.pitch_bytes, "odd_nibble": self.odd_nibble,
            "width": list(ELEMENTS).index(self.element), "tile_count": self.tiles, "tile_lines": list(self.tile_lines),
            "tile_bytes": self.tile_bytes, "part_bytes": self.part_bytes,
            "area_bytes": self.memory_lines[0] * self.part_bytes if self.contiguous or not self.by_columns else 0,
            "contiguous": int(self.contiguous),
        }  # fmt: skip
        return fields

    @property
    def odd_nibble(self):
        """Whether a line of memory ends with half a byte."""
        return int(2 * self.memory_lines[1] * self.size) % 2

    def load_command(self, tag=0):
        """The load engine's command."""
        return {**self.store_command(tag), "pad_pattern": self.pad_pattern}

    def store_command(self, tag=0):
        """The store engine's command: of the layout the other way round, for which the same formulas hold."""
        command = self.command(tag)
        if self.layout == "NORM":
            return command
        height, width = self.rows, self.part_columns
        along, across = (height, width) if self.layout.endswith("ZN") else (width, height)
        cells = {"by_cells": 1, "row_cells": int(along * self.size) // 32, "cell_step": across}
        return {**command, **cells, "transposed": int(self.layout in ("ND2ZN", "DN2NZ"))}

    def nibbles(self):
        """Yield (address, upper or lower half, offset in the tiles, half there) of every valid half byte, line by line."""
        lines, length = self.memory_lines
        for line in range(lines):
            for at in range(length):
                element = self.half_byte(at, line) if self.by_columns else self.half_byte(line, at)
                for k in range(int(2 * self.size)):
                    byte, half = divmod(int(2 * at * self.size) + k, 2)
                    yield (self.base + line * self.stride + byte) % 2**64, half, (element + k) // 2, (element + k) % 2

    def elements(self):
        """Yield (own address, addresses of its bytes) of every valid element, line of memory by line."""
        lines, length = self.memory_lines
        for line in range(lines):
            for at in range(length):
                first = (self.base + line * self.stride + int(at * self.size)) % 2**64
                yield first, [(first + k) % 2**64 for k in range(max(1, int(self.size)))]

    def first_failure(self, fails):
        """Address of the first element with a byte that ``fails``, or None."""
        return next((own for own, every in self.elements() if any(map(fails, every))), None)

    def loaded_image(self, read):
        """Bytes of the tiles, one behind the other, after a load; ``read`` gives memory bytes."""
        pattern = self.pad_pattern.to_bytes(8, "little")
        tile = bytearray(self.tile_bytes)
        for offset in range(self.rows * self.pitch_bytes):
            tile[offset] = pattern[offset % 8]
        image = tile * self.tiles
        for address, half, offset, nibble in self.nibbles():
            keep = 0x0F if nibble else 0xF0
            image[offset] = image[offset] & keep | (read(address) >> 4 * half & 0xF) << 4 * nibble
        return bytes(image)

    def stored_bytes(self, image, read):
        """Changed memory after a store of ``image``: address to byte."""
        after = {}
        for address, half, offset, nibble in self.nibbles():
            keep = 0x0F if half else 0xF0
            after[address] = after.get(address, read(address)) & keep | (image[offset] >> 4 * nibble & 0xF) << 4 * half
        return after

    @property
    def contiguous(self):
        """Whether the lines of memory follow each other without a gap there and in the tile."""
        turned = self.layout in ("ND2ZN", "DN2NZ")
        return self.stride == self.row_bytes == self.part_bytes and not self.odd_nibble and not turned

    def beats(self, data_bytes):
        """Bus beats that hold needed bytes: tile by tile and row by row, or in one go when the rows follow each other everywhere."""
        row, rows = self.row_bytes, self.memory_lines[0]
        if self.contiguous:
            row, rows = row * rows, 1
        share = self.part_bytes if self.tiles > 1 else row
        parts = [(at, min(at + share, row)) for at in range(0, row, share)]
        starts = [self.base + i * self.stride for i in range(rows)]
        return sum(
            (start + end - 1) // data_bytes - (start + at) // data_bytes + 1 for start in starts for at, end in parts
        )


def fractal_columns(layout, size, tile):
    """Numbers of columns with which a tile of ``tile`` bytes consists of whole fractals."""
    cell = int(32 / size)
    unit, rows = (16, cell) if layout.endswith("ZN") else (cell, 16)
    heights = {columns: int(tile // (columns * size)) for columns in range(unit, tile // 32 * unit + 1, unit)}
    return [columns for columns, height in heights.items() if height and height % rows == 0]


def random_move(rng, *, tile_bytes, lines, vector_bytes, store=False, layouts=("NORM",), most_tiles=1):
    """A legal move with corners: odd sizes, unaligned and overlapping rows, negative strides, contiguous tiles."""
    element = rng.choice(list(ELEMENTS))
    size = ELEMENTS[element]
    layout = rng.choice(layouts)
    tile = rng.choice([t for t in (256, 512, 1024, 2048, 4096)[layout != "NORM" :][:3] if t <= tile_bytes])
    pitch_limit = int(tile / size)
    columns = rng.choice([
        rng.randrange(1, min(pitch_limit, 24) + 1), rng.randrange(1, pitch_limit + 1), 1 << rng.randrange(8), pitch_limit,
    ])  # fmt: skip
    columns = min(columns, pitch_limit)
    if size == 0.5:
        columns += columns % 2
    if layout != "NORM":
        columns = rng.choice(fractal_columns(layout, size, tile))
    rows = int(tile // (columns * size))
    tiles = min(rng.choice([1, 2, rng.randrange(1, most_tiles + 1)]), most_tiles, lines * vector_bytes // tile)
    if layout in COLUMN_LAYOUTS:
        rows *= tiles
    else:
        columns *= tiles
    valid_columns = rng.choice([columns, rng.randrange(1, columns + 1)])
    valid_rows = rng.choice([rows, rng.randrange(1, rows + 1), 1])
    row_bytes = -(-int(2 * (valid_rows if layout in COLUMN_LAYOUTS else valid_columns) * size) // 2)
    stride = rng.choice([
        row_bytes, row_bytes, row_bytes + rng.randrange(40), rng.randrange(5000), rng.randrange(0, 2 * row_bytes),
        0 if not store or valid_rows < 9 else row_bytes, 0x10000, 0x200000, 2**64 - rng.randrange(300), 2**64 - 4096,
    ])  # fmt: skip
    base = rng.choice([rng.randrange(1 << 24), (rng.randrange(1, 1 << 10) << 12) - rng.randrange(40), 0x100000]) + (
        1 << 30
    )
    pattern = rng.choice([0, rng.getrandbits(64), 2**64 - 1])
    tile_lines = tile // vector_bytes
    first, *more = (tile_lines * place for place in rng.sample(range(lines // tile_lines), tiles))
    return Move(
        element, valid_columns, valid_rows, columns, base, stride, tile, first, pattern, layout, tuple(more),
    )  # fmt: skip


class AxiMemory:
    """Subordinate on the AXI port ``prefix``: random contents, fixed latency, random stalls on every channel, error pages.

    Parameters
    ----------
    latency : int
        Cycles from an accepted AR to the first R, and from the last W to B.
    stall : float
        Probability that a channel rests in a cycle.

    Attributes
    ----------
    address_after_data : bool
        Whether AW is taken only while data is there, too; a slave may wait for that.
    """

    def __init__(self, dut, prefix, *, data_bytes, latency=1, stall=0.0, seed=0):
        self.data_bytes, self.latency, self.stall = data_bytes, latency, stall
        self.rng = random.Random(f"{seed}/{prefix}")
        self.seed = seed
        self.address_after_data = False
        self.pages = {}
        self.error_pages = set()
        self.reads = []
        self.writes = []
        self.read_beats = 0
        self.dut, self.prefix = dut, prefix
        self._pins = {}
        self._in_reset = is_high(dut.rst)
        self._queue = deque()
        self._addresses = deque()
        self._answers = deque()
        self._beat = 0
        self._refused = False
        self._now = 0
        self._has_reads = hasattr(dut, f"{prefix}_arvalid")
        self._has_writes = hasattr(dut, f"{prefix}_awvalid")
        driven = ("arready", "rvalid") * self._has_reads + ("awready", "wready", "bvalid") * self._has_writes
        self._drive = {name: driver(self.pin(name), 0) for name in driven}
        channels = ("ar", "r") * self._has_reads + ("aw", "w", "b") * self._has_writes
        self._valid = {channel: is_high(self.pin(f"{channel}valid")) for channel in channels}
        self._ready = {channel: is_high(self.pin(f"{channel}ready")) for channel in channels}
        fields = ("araddr", "arlen") * self._has_reads + (
            "awaddr",
            "awlen",
            "wdata",
            "wstrb",
            "wlast",
        ) * self._has_writes
        self._seen = {name: number(self.pin(name)) for name in fields}
        # A payload without valid is noise.
        for name in (["rdata", "rresp", "rlast", "rid"] if self._has_reads else []) + (
            ["bresp", "bid"] if self._has_writes else []
        ):
            self.pin(name).value = self.rng.getrandbits(len(self.pin(name)))
        cocotb.start_soon(self._run())

    def pin(self, name):
        if name not in self._pins:
            self._pins[name] = getattr(self.dut, f"{self.prefix}_{name}")
        return self._pins[name]

    def page(self, address):
        number = address // PAGE
        if number not in self.pages:
            self.pages[number] = bytearray(random.Random(f"{self.seed}/{number}").randbytes(PAGE))
        return self.pages[number]

    def read(self, address):
        """The byte at ``address``."""
        return self.page(address)[address % PAGE]

    def write(self, address, byte):
        self.page(address)[address % PAGE] = byte

    def snapshot(self):
        return {number: bytes(page) for number, page in self.pages.items()}

    def fails(self, address):
        return address // PAGE in self.error_pages

    def _open(self):
        return self.rng.random() >= self.stall

    def _took(self, channel):
        return self._valid[channel]() and self._ready[channel]()

    async def _run(self):
        while True:
            await RisingEdge(self.dut.clk)
            self._now += 1
            if self._in_reset():
                continue
            if self._has_reads:
                self._read_channels()
            if self._has_writes:
                self._write_channels()

    def _read_channels(self):
        if self._took("r"):
            self.read_beats += 1
            self._queue.popleft()
            self._drive["rvalid"](0)
            r_free = True
        else:
            r_free = not self._valid["r"]()
        if self._took("ar"):
            address, length = self._seen["araddr"](), self._seen["arlen"]()
            assert address % self.data_bytes == 0 and address % PAGE + (length + 1) * self.data_bytes <= PAGE
            self.reads.append((address, length + 1))
            for beat in range(length + 1):
                due = self._now + self.latency - 1
                self._queue.append((due, address + beat * self.data_bytes, beat == length))
        if r_free and self._queue and self._queue[0][0] <= self._now and self._open():
            _, address, last = self._queue[0]
            page, at = self.page(address), address % PAGE
            self.pin("rdata").value = int.from_bytes(page[at : at + self.data_bytes], "little")
            self.pin("rresp").value = SLVERR if self.fails(address) else 0
            self.pin("rlast").value = int(last)
            self.pin("rid").value = 0
            self._drive["rvalid"](1)
        self._drive["arready"](int(self._open()))

    def _write_channels(self):
        if self._took("b"):
            self._answers.popleft()
            self._drive["bvalid"](0)
            b_free = True
        else:
            b_free = not self._valid["b"]()
        if self._took("aw"):
            address, length = self._seen["awaddr"](), self._seen["awlen"]()
            assert address % self.data_bytes == 0 and address % PAGE + (length + 1) * self.data_bytes <= PAGE
            self.writes.append((address, length + 1))
            self._addresses.append((address, length))
        if self._took("w"):
            self._store_beat()
        if b_free and self._answers and self._answers[0][0] <= self._now and self._open():
            self.pin("bresp").value = self._answers[0][1]
            self.pin("bid").value = 0
            self._drive["bvalid"](1)
        self._drive["awready"](int(self._open() and (not self.address_after_data or self._valid["w"]())))
        # Data is taken once its address is here.
        self._drive["wready"](int(bool(self._addresses) and self._open()))

    def _store_beat(self):
        address, length = self._addresses[0]
        data, strobes = self._seen["wdata"](), self._seen["wstrb"]()
        at = address + self._beat * self.data_bytes
        assert self._seen["wlast"]() == (self._beat == length), f"w: last misplaced in the burst to {address:#x}"
        for lane in range(self.data_bytes):
            if strobes >> lane & 1 and not self.fails(at):
                self.write(at + lane, data >> 8 * lane & 0xFF)
        self._refused |= self.fails(at)
        self._beat += 1
        if self._beat > length:
            self._addresses.popleft()
            self._answers.append((self._now + self.latency - 1, SLVERR if self._refused else 0))
            self._beat, self._refused = 0, False
