"""Asks for the source lines of a tile that is turned block by block."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import line_bits
from .move_plan import advance, place_bits, walk_layout

__all__ = ["BlockReader", "block_line_layout"]


def block_line_layout(config: CoreConfig) -> data.StructLayout:
    """A source line: its number in the tile RAM, half bytes of an element, whether it is the last one of its block."""
    return data.StructLayout({"source_line": line_bits(config), "element": 5, "closes": 1})


class BlockReader(wiring.Component):
    """Walk the blocks that hold valid elements, a line a cycle.

    A strip is a line wide in the destination, that is a block high in the source. Its blocks follow each other along the
    source's rows; each has as many lines as the strip has valid elements in a row of the destination.

    Members
    -------
    plan : In(stream of walk_layout(config))
        Tiles whose rows begin with a line, in both tiles.
    lines : Out(stream of block_line_layout(config))
        Strip by strip, block by block.
    """

    plan: stream.Interface
    lines: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "plan": In(stream.Signature(walk_layout(config))),
            "lines": Out(stream.Signature(block_line_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep where strip, block and line begin, and what is left of each."""
        m = Module()
        line_places = 2 * self._config.vector_bytes
        low = exact_log2(line_places)
        places = place_bits(self._config)
        plan = Signal(walk_layout(self._config))
        active = Signal()
        strip, block, line = Signal(places), Signal(places), Signal(places)
        strips_left, blocks_left, lines_left = Signal(places), Signal(places), Signal(range(line_places + 1))

        ends_strip, ends_tile = Signal(), Signal()
        m.d.comb += [
            self.lines.valid.eq(active),
            self.lines.p.source_line.eq(plan.source_line + line[low:]),
            self.lines.p.element.eq(plan.element),
            self.lines.p.closes.eq(lines_left == plan.element),
            ends_strip.eq((lines_left == plan.element) & (blocks_left <= line_places)),
            ends_tile.eq(ends_strip & (strips_left <= line_places)),
            self.plan.ready.eq(~active | (self.lines.ready & ends_tile)),
        ]
        with m.If(active & self.lines.ready):
            with m.If(ends_tile):
                m.d.sync += active.eq(0)
            with m.Elif(ends_strip):
                next_strip = strip + plan.strip
                left = strips_left - line_places
                m.d.sync += [register.eq(next_strip) for register in (strip, block, line)]
                m.d.sync += [
                    strips_left.eq(left),
                    blocks_left.eq(plan.column_places),
                    lines_left.eq(_at_most(left, line_places)),
                ]
            with m.Elif(lines_left == plan.element):
                next_block = advance(block, line_places, plan.by_cells, plan.cells)
                m.d.sync += [register.eq(next_block) for register in (block, line)]
                m.d.sync += [
                    blocks_left.eq(blocks_left - line_places),
                    lines_left.eq(_at_most(strips_left, line_places)),
                ]
            with m.Else():
                m.d.sync += [line.eq(line + plan.pitch), lines_left.eq(lines_left - plan.element)]
        with m.If(self.plan.valid & self.plan.ready):
            m.d.sync += [register.eq(0) for register in (strip, block, line)]
            m.d.sync += [
                plan.eq(self.plan.payload),
                active.eq(1),
                strips_left.eq(self.plan.p.row_places),
                blocks_left.eq(self.plan.p.column_places),
                lines_left.eq(_at_most(self.plan.p.row_places, line_places)),
            ]
        return m


def _at_most(value: Value, limit: int) -> Value:
    return Mux(value > limit, limit, value)
