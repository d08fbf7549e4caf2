"""Writes the lines of a loaded tile that hold no valid byte."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES, byte_count_bits, fractal_layouts
from .assembler import tile_line_layout
from .plan import GapLines, background, image_bytes, plan_layout
from .strips import transposed_layouts

__all__ = ["PadWalk"]

CELL_BITS = exact_log2(CELL_BYTES)


def gaps_layout(config: CoreConfig) -> data.StructLayout:
    """Gaps of a tile: ``count``, the first from ``start`` to ``end`` in bytes, the others ``pitch`` apart.

    Cells that are valid in part can have gaps of their own: ``cells_follow``.
    """
    bits = byte_count_bits(config)
    return data.StructLayout({"count": 16, "start": bits, "end": bits, "pitch": bits, "cells_follow": 1})


class PadWalk(wiring.Component):
    """Walk the gaps between the rows if each holds a line, then the part below the last row; a line a cycle.

    In NZ and ZN order the walk goes through the tile as it lies. The cells in one place of their rows are neighbours there,
    valid ones first, so what follows them is the gap; it is empty when all rows are valid, which takes a cycle. The cells in
    which the rows end come next: each has a gap of its own when there is room for a line.

    Members
    -------
    plan : In(stream of plan_layout(config))
        Tiles.
    lines : Out(stream of tile_line_layout(config))
        Every such line, once; then one that ``closes``, ``absent`` when the tile ends with valid bytes.
    """

    plan: stream.Interface
    lines: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "plan": In(stream.Signature(plan_layout(config))),
            "lines": Out(stream.Signature(tile_line_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the line and the gap that it is in; at its end step to the next gap."""
        m = Module()
        config = self._config
        bits = exact_log2(config.vector_bytes)
        plan = Signal(plan_layout(config))
        loaded = Signal()
        line = Signal(len(plan.tile_bytes) - bits)
        gaps = Signal(gaps_layout(config))
        next_gaps = Signal.like(gaps)

        known, image = image_bytes(m, self.plan.ready, self.plan.p.image_pitch, self.plan.p.tile_bytes)
        in_first_half = line < plan.tile_bytes[bits + 1 :]
        # The last gap goes on to the end of the tile.
        is_last = Signal()
        end = Signal.like(line)
        absent = Signal()
        at_end = Signal()
        m.d.comb += [
            is_last.eq((gaps.count == 1) & ~gaps.cells_follow),
            end.eq(Mux(is_last, plan.tile_bytes, gaps.end)[bits:]),
            absent.eq(line == end),
            at_end.eq(absent | (line + 1 == end)),
            self.lines.valid.eq(loaded & (known | in_first_half) & (is_last | ~absent)),
            self.lines.p.write.tag.eq(plan.tag),
            self.lines.p.write.line.eq(plan.tile_line + line),
            self.lines.p.write.data.eq(background(m, plan, image, line, config.vector_bytes, "background")),
            self.lines.p.closes.eq(is_last & at_end),
            self.lines.p.absent.eq(absent),
        ]
        taken = Signal()
        leaves_gap = Signal()
        m.d.comb += [
            taken.eq(self.lines.valid & self.lines.ready),
            leaves_gap.eq(loaded & ~is_last & (absent | (taken & at_end))),
            self.plan.ready.eq(~loaded | (taken & is_last & at_end)),
        ]
        with m.If(self.plan.ready):
            self._begin(m, next_gaps)
            m.d.sync += [loaded.eq(self.plan.valid), plan.eq(self.plan.payload)]
        with m.Elif(gaps.count == 1):
            m.d.comb += [
                next_gaps.count.eq(plan.rows),
                next_gaps.start.eq(gaps.end + plan.row_bytes[:CELL_BITS]),
                next_gaps.end.eq(gaps.end + CELL_BYTES),
                next_gaps.pitch.eq(CELL_BYTES),
            ]
        with m.Else():
            m.d.comb += [
                next_gaps.count.eq(gaps.count - 1),
                next_gaps.start.eq(gaps.start + gaps.pitch),
                next_gaps.end.eq(gaps.end + gaps.pitch),
                next_gaps.pitch.eq(gaps.pitch),
                next_gaps.cells_follow.eq(gaps.cells_follow),
            ]
        with m.If(taken):
            m.d.sync += line.eq(line + 1)
        with m.If(self.plan.ready | leaves_gap):
            m.d.sync += [gaps.eq(next_gaps), line.eq((next_gaps.start + (config.vector_bytes - 1)) >> bits)]
        return m

    def _begin(self, m: Module, gaps: data.View) -> None:
        """Describe the first gaps of the tile that is next."""
        plan = self.plan.p
        no_gaps = plan.gap_lines != GapLines.ALL
        m.d.comb += [
            gaps.count.eq(Mux(no_gaps, 1, plan.rows)),
            gaps.start.eq(Mux(no_gaps, plan.valid_span, plan.row_bytes)),
            gaps.end.eq(plan.pitch_bytes),
            gaps.pitch.eq(plan.pitch_bytes),
        ]
        if not (fractal_layouts(self._config) or transposed_layouts(self._config)):
            return
        rest = plan.row_bytes[:CELL_BITS]
        in_part = (rest != 0) & (rest <= CELL_BYTES - self._config.vector_bytes)
        whole = plan.row_bytes[CELL_BITS:] + ((rest != 0) & ~in_part)
        with m.If(plan.by_cells & (whole == 0)):
            m.d.comb += [
                gaps.count.eq(plan.rows),
                gaps.start.eq(rest),
                gaps.end.eq(CELL_BYTES),
                gaps.pitch.eq(CELL_BYTES),
            ]
        with m.Elif(plan.by_cells):
            m.d.comb += [
                gaps.count.eq(whole),
                gaps.start.eq(plan.rows << CELL_BITS),
                gaps.end.eq(plan.cell_step << CELL_BITS),
                gaps.pitch.eq(plan.cell_step << CELL_BITS),
                gaps.cells_follow.eq(in_part),
            ]
