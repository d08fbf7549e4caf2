"""Turns a square block of elements: rows in, columns out."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from .move_plan import turner_lanes
from .rotate import rotate_parts

__all__ = ["Turner", "row_of_block_layout"]


def row_of_block_layout(config: CoreConfig) -> data.StructLayout:
    """A line of a block: ``element`` half bytes an element; ``closes``: the last one of its block."""
    return data.StructLayout({"line": 8 * config.vector_bytes, "element": 5, "closes": 1})


class Turner(wiring.Component):
    """Hold two blocks, one that is filled and one that is read, a line a cycle each.

    A line is a row of memories, a lane each. Row r is stored at address r, turned by r elements, so that the elements of a
    column are in different lanes, each at an address of its own; the column turned back is a line again. A block is as many
    rows of elements as a line holds elements.

    Parameters
    ----------
    config : CoreConfig
        ``vector_bytes`` matters.

    Members
    -------
    rows : In(stream of row_of_block_layout(config))
        Rows of blocks; rows that are not there after ``closes`` leave noise in their place of every column.
    there : Out(1)
        The block to be read is complete.
    element, column : In
        Half bytes of an element; place of the column in its row, in half bytes.
    line : Out
        The column, from row 0 on; in the same cycle.
    release : In(1)
        The block is not needed after this cycle.
    """

    rows: stream.Interface
    there: Signal
    element: Signal
    column: Signal
    line: Signal
    release: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "rows": In(stream.Signature(row_of_block_layout(config))),
            "there": Out(1),
            "element": In(5),
            "column": In(exact_log2(2 * config.vector_bytes)),
            "line": Out(8 * config.vector_bytes),
            "release": In(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Count the rows of the block that is filled; give each lane of the other one its address."""
        m = Module()
        lanes = turner_lanes(self._config)
        address_bits = exact_log2(lanes)
        lane_bits = 8 * self._config.vector_bytes // lanes
        unit = exact_log2(lane_bits // 4)
        row = Signal(address_bits)
        filling, reading = Signal(), Signal()
        full = Signal(2)
        stores = Signal()
        turned, gathered = Signal(len(self.line)), Signal(len(self.line))
        column = self.column[unit:]
        # Lanes of one element share an address.
        whole_elements = Cat((self.element >> unit) <= (1 << bit) for bit in range(address_bits))
        m.d.comb += [
            self.rows.ready.eq(~full.bit_select(filling, 1)),
            stores.eq(self.rows.valid & self.rows.ready),
            turned.eq(rotate_parts(m, self.rows.p.line, row, lane_bits)),
            self.there.eq(full.bit_select(reading, 1)),
            self.line.eq(rotate_parts(m, gathered, (-column)[:address_bits], lane_bits)),
        ]
        for lane in range(lanes):
            memory = Memory(shape=lane_bits, depth=2 * lanes, init=[])
            m.submodules[f"lane_{lane}"] = memory
            write_port, read_port = memory.write_port(), memory.read_port(domain="comb")
            m.d.comb += [
                write_port.en.eq(stores),
                write_port.addr.eq(Cat(row, filling)),
                write_port.data.eq(turned.word_select(lane, lane_bits)),
                read_port.addr.eq(Cat((lane - column)[:address_bits] & whole_elements, reading)),
                gathered.word_select(lane, lane_bits).eq(read_port.data),
            ]
        block_there = stores & self.rows.p.closes
        with m.If(stores):
            m.d.sync += row.eq(Mux(self.rows.p.closes, 0, row + (self.rows.p.element >> unit)))
        m.d.sync += [
            filling.eq(filling ^ block_there),
            reading.eq(reading ^ self.release),
            full.eq((full | (block_there << filling)) & ~(self.release << reading)),
        ]
        return m
