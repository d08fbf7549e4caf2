"""Moves a tile in square blocks where rows become columns."""

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO

from linxtile.config import CoreConfig

from .block_reader import BlockReader, block_line_layout
from .block_writer import BlockWriter
from .run_mover import LINES_AHEAD, mover_members
from .turner import Turner

__all__ = ["BlockMover"]


class BlockMover(wiring.Component):
    """Read blocks, turn them, write their columns as lines; a line a cycle on both sides.

    Members
    -------
    walk, plan : In(stream of walk_layout(config)), In(stream of write_plan_layout(config))
        Tiles whose rows begin with a line, in both tiles.
    read : Out(line_read_signature(config))
        Source lines.
    lines : Out(stream of moved_line_layout(config))
        Every line of the destination.
    """

    walk: stream.Interface
    plan: stream.Interface
    read: wiring.PureInterface
    lines: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__(mover_members(config))

    def elaborate(self, platform: object) -> Module:
        """Fork the reader's lines to the tile RAM and to the turner, which waits for them."""
        m = Module()
        layout = block_line_layout(self._config)
        m.submodules.reader = reader = BlockReader(config=self._config)
        m.submodules.waiting = waiting = SyncFIFO(width=layout.size, depth=LINES_AHEAD)
        m.submodules.turner = turner = Turner(config=self._config)
        m.submodules.writer = writer = BlockWriter(config=self._config)
        wiring.connect(m, wiring.flipped(self.walk), reader.plan)
        wiring.connect(m, wiring.flipped(self.plan), writer.plan)
        wiring.connect(m, writer.lines, wiring.flipped(self.lines))

        request, response = self.read.request, self.read.response
        asked = data.View(layout, waiting.r_data)
        m.d.comb += [
            request.valid.eq(reader.lines.valid & waiting.w_rdy),
            request.payload.eq(reader.lines.p.source_line),
            reader.lines.ready.eq(request.ready & waiting.w_rdy),
            waiting.w_en.eq(reader.lines.valid & reader.lines.ready),
            waiting.w_data.eq(reader.lines.payload),
            turner.rows.valid.eq(response.valid & waiting.r_rdy),
            turner.rows.p.line.eq(response.payload),
            turner.rows.p.element.eq(asked.element),
            turner.rows.p.closes.eq(asked.closes),
            response.ready.eq(turner.rows.ready & waiting.r_rdy),
            waiting.r_en.eq(response.valid & turner.rows.ready),
            turner.element.eq(writer.element),
            turner.column.eq(writer.column),
            turner.release.eq(writer.release),
            writer.there.eq(turner.there),
            writer.turned.eq(turner.line),
        ]
        return m
