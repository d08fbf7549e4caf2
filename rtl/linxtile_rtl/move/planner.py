"""What to read for a tile, and what its writers have to know."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES, load_layout
from .axi_reader import read_layout
from .parts import part_layout
from .plan import GapLines, plan_layout

__all__ = ["LoadPlanner"]


class LoadPlanner(wiring.Component):
    """Describe one tile's part of a load to the reader and to the writers; nothing is stored here.

    Parameters
    ----------
    config : CoreConfig
        Sizes.

    Members
    -------
    part : In(part_layout(config, load_layout(config)))
        The tile.
    read : Out(read_layout(config))
        Command of the reader; of no meaning for an empty part.
    plan : Out(plan_layout(config))
        Plan of the writers.
    """

    part: data.View
    read: data.View
    plan: data.View

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "part": In(part_layout(config, load_layout(config))),
            "read": Out(read_layout(config)),
            "plan": Out(plan_layout(config)),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Look at the gaps between the rows; turn rows and columns around where a cell lies across the rows."""
        m = Module()
        part, plan, read = self.part, self.plan, self.read
        pitch = Signal.like(part.pitch_bytes)
        m.d.comb += [
            pitch.eq(Mux(part.by_cells, part.row_cells << exact_log2(CELL_BYTES), part.pitch_bytes)),
            read.base.eq(part.base),
            read.stride.eq(part.stride),
            # Rows without a gap are one row.
            read.rows.eq(Mux(part.contiguous, 1, part.valid_rows)),
            read.row_bytes.eq(Mux(part.contiguous, part.area_bytes, part.row_bytes)),
            read.element_shift.eq(part.element_shift),
            read.width.eq(part.width),
            read.odd_nibble.eq(part.odd_nibble),
            read.transposed.eq(part.transposed),
        ]
        gap = Signal.like(pitch)
        gap_lines = Signal(GapLines)
        m.d.comb += gap.eq(pitch - part.row_bytes)
        # The pad walk has a way of its own through cells.
        no_gaps = part.empty | part.by_cells | part.contiguous | (part.valid_rows == 1)
        with m.If(no_gaps | (gap < self._config.vector_bytes)):
            m.d.comb += gap_lines.eq(GapLines.NONE)
        with m.Elif(gap < 2 * self._config.vector_bytes - 1):
            m.d.comb += gap_lines.eq(GapLines.SOME)
        with m.Else():
            m.d.comb += gap_lines.eq(GapLines.ALL)

        # Half bytes of a row of memory, and of as many elements as there are rows.
        along = (part.row_bytes << 1) - part.odd_nibble
        across = part.valid_rows << part.width
        m.d.comb += [
            plan.tag.eq(part.tag),
            plan.rows.eq(Mux(part.transposed, along >> part.width, part.valid_rows)),
            plan.row_bytes.eq(Mux(part.transposed, (across + 1) >> 1, part.row_bytes)),
            plan.odd_nibble.eq(Mux(part.transposed, across[0], part.odd_nibble)),
            plan.pitch_bytes.eq(pitch),
            plan.image_pitch.eq(part.pitch_bytes),
            plan.valid_span.eq(Mux(part.empty, 0, part.area_bytes - gap)),
            plan.gap_lines.eq(gap_lines),
            plan.tile_line.eq(part.tile_line),
            plan.tile_bytes.eq(part.tile_bytes),
            plan.pad_pattern.eq(part.pad_pattern),
            # What is padding only has no cells to go through.
            plan.by_cells.eq(part.by_cells & ~part.empty),
            plan.row_cells.eq(part.row_cells),
            plan.cell_step.eq(part.cell_step),
            plan.width.eq(part.width),
            plan.transposed.eq(part.transposed),
        ]
        return m
