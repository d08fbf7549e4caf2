"""What to read for a tile, and what its writers have to know."""

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES, fractal_layouts
from .axi_reader import read_layout
from .parts import part_layout
from .plan import CELL_BITS, GapLines, pad_plan_layout, plan_layout
from .strips import transposed_layouts

__all__ = ["LoadPlanner"]


class LoadPlanner(wiring.Component):
    """Describe one tile's part of a load to the reader and to the writers; nothing is stored here.

    Parameters
    ----------
    config : CoreConfig
        Sizes.

    Members
    -------
    part : In(part_layout(config))
        The tile.
    read : Out(read_layout(config))
        Command of the reader; of no meaning for an empty part.
    plan : Out(plan_layout(config))
        For the writers of data.
    pads : Out(pad_plan_layout(config))
        For the writer of padding.
    """

    part: data.View
    read: data.View
    plan: data.View
    pads: data.View

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "part": In(part_layout(config)),
            "read": Out(read_layout(config)),
            "plan": Out(plan_layout(config)),
            "pads": Out(pad_plan_layout(config)),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Look at the gaps between the rows; turn rows and columns around where a cell lies across the rows."""
        m = Module()
        part, read = self.part, self.read
        cells = part.by_cells if fractal_layouts(self._config) else Const(0)
        transposed = part.transposed if transposed_layouts(self._config) else Const(0)
        pitch = Signal.like(part.pitch_bytes)
        m.d.comb += [
            pitch.eq(Mux(cells, part.row_cells << CELL_BITS, part.pitch_bytes)),
            read.base.eq(part.base),
            read.stride.eq(part.stride),
            # Rows without a gap are one row.
            read.rows.eq(Mux(part.contiguous, 1, part.valid_rows)),
            read.row_bytes.eq(Mux(part.contiguous, part.area_bytes, part.row_bytes)),
            read.element_shift.eq(part.element_shift),
            read.width.eq(part.width),
            read.odd_nibble.eq(part.odd_nibble),
            read.transposed.eq(transposed),
        ]
        gap = Signal.like(pitch)
        gap_lines = Signal(GapLines)
        m.d.comb += gap.eq(pitch - part.row_bytes)
        with m.If(part.empty | part.contiguous | (part.valid_rows == 1) | (gap < self._config.vector_bytes)):
            m.d.comb += gap_lines.eq(GapLines.NONE)
        with m.Elif((gap < 2 * self._config.vector_bytes - 1) & ~cells):
            m.d.comb += gap_lines.eq(GapLines.SOME)
        with m.Else():
            m.d.comb += gap_lines.eq(GapLines.ALL)

        # Rows, bytes of a row, and whether it ends with half a byte, as the tile has them.
        rows, row_bytes, odd_nibble = part.valid_rows, part.row_bytes, part.odd_nibble
        if transposed_layouts(self._config):
            # Half bytes of a row of memory, and of as many elements as there are rows.
            along = (part.row_bytes << 1) - part.odd_nibble
            across = part.valid_rows << part.width
            rows = Mux(transposed, along >> part.width, rows)
            row_bytes = Mux(transposed, (across + 1) >> 1, row_bytes)
            odd_nibble = Mux(transposed, across[0], odd_nibble)
        plan = self.plan
        m.d.comb += [
            plan.tag.eq(part.tag),
            plan.rows.eq(rows),
            plan.row_bytes.eq(row_bytes),
            plan.odd_nibble.eq(odd_nibble),
            plan.pitch_bytes.eq(pitch),
            plan.gap_lines.eq(gap_lines),
            plan.tile_line.eq(part.tile_line),
            plan.tile_size.eq(part.tile_bytes >> exact_log2(self._config.tile_min_bytes)),
            plan.pad_pattern.eq(part.pad_pattern),
            plan.by_cells.eq(cells),
            plan.cell_step.eq(part.cell_step),
            plan.transposed.eq(transposed),
        ]
        self._plan_gaps(m, gap, gap_lines, rows, row_bytes)
        return m

    def _plan_gaps(self, m: Module, gap: Value, gap_lines: Value, rows: Value, row_bytes: Value) -> None:
        """Describe the gaps for the pad walk."""
        part, pads = self.part, self.pads
        in_all_rows = Signal()
        # Without gaps for the walk between the rows the only one follows the last valid byte, if there is any.
        short_gap = gap[: bits_for(2 * self._config.vector_bytes - 2)]
        m.d.comb += [
            in_all_rows.eq(gap_lines == GapLines.ALL),
            pads.tag.eq(part.tag),
            pads.count.eq(Mux(in_all_rows, rows, 1)),
            pads.data_bytes.eq(
                Mux(in_all_rows | part.empty | (part.valid_rows == 1), part.row_bytes, part.area_bytes - short_gap)
            ),
            pads.pitch_bytes.eq(part.pitch_bytes),
            pads.tile_line.eq(part.tile_line),
            pads.tile_size.eq(self.plan.tile_size),
            pads.pad_pattern.eq(part.pad_pattern),
        ]
        if not fractal_layouts(self._config):
            return
        rest = Signal(CELL_BITS)
        in_part = Signal()
        whole = Signal.like(pads.count)
        m.d.comb += [
            rest.eq(row_bytes),
            in_part.eq((rest != 0) & (rest <= CELL_BYTES - self._config.vector_bytes)),
            whole.eq((row_bytes >> CELL_BITS) + ((rest != 0) & ~in_part)),
            pads.cell_rest.eq(rest),
        ]
        # What is padding only has no cells to go through.
        with m.If(part.by_cells & ~part.empty):
            m.d.comb += [
                pads.count.eq(Mux(whole == 0, rows, whole)),
                pads.data_bytes.eq(Mux(whole == 0, rest, rows << CELL_BITS)),
                pads.pitch_bytes.eq(Mux(whole == 0, CELL_BYTES, part.cell_step << CELL_BITS)),
                pads.cells_follow.eq(in_part & (whole != 0)),
            ]
