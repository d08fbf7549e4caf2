"""Writes the lines of a loaded tile that hold no valid byte."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from .assembler import tile_line_layout
from .plan import GapLines, background, image_bytes, plan_layout

__all__ = ["PadWalk"]


class PadWalk(wiring.Component):
    """Walk the gaps between the rows if each holds a line, then the part below the last row; a line a cycle.

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
        """Keep the line and the end of the gap; at its end step to the next one."""
        m = Module()
        config = self._config
        bits = exact_log2(config.vector_bytes)
        plan = Signal(plan_layout(config))
        loaded = Signal()
        tail = Signal()
        line = Signal(len(plan.tile_bytes) - bits)
        end = Signal.like(line)
        gap_start = Signal.like(plan.tile_bytes)
        gap_end = Signal.like(plan.tile_bytes)

        def whole_lines(count: Value) -> Value:
            return (count + (config.vector_bytes - 1))[bits : len(plan.tile_bytes)]

        known, image = image_bytes(m, self.plan.ready, self.plan.p.pitch_bytes, self.plan.p.tile_bytes)
        in_first_half = line < plan.tile_bytes[bits + 1 :]
        # Only the part below the rows can be without lines: a gap is walked when each one holds a line.
        absent = Signal()
        at_end = Signal()
        m.d.comb += [
            absent.eq(line == end),
            at_end.eq(absent | (line + 1 == end)),
            self.lines.valid.eq(loaded & (known | in_first_half)),
            self.lines.p.write.tag.eq(plan.tag),
            self.lines.p.write.line.eq(plan.tile_line + line),
            self.lines.p.write.data.eq(background(m, plan, image, line, config.vector_bytes, "background")),
            self.lines.p.closes.eq(tail & at_end),
            self.lines.p.absent.eq(absent),
        ]
        taken = self.lines.valid & self.lines.ready
        with m.If(taken):
            m.d.sync += line.eq(line + 1)
        with m.If(taken & at_end & ~tail):
            next_start = (gap_start + plan.pitch_bytes)[: len(gap_start)]
            next_end = (gap_end + plan.pitch_bytes)[: len(gap_end)]
            m.d.sync += [
                line.eq(whole_lines(next_start)),
                end.eq(next_end[bits:]),
                gap_start.eq(next_start),
                gap_end.eq(next_end),
                plan.rows.eq(plan.rows - 1),
            ]
            with m.If(plan.rows == 2):
                m.d.sync += [end.eq(plan.tile_bytes[bits:]), tail.eq(1)]

        m.d.comb += self.plan.ready.eq(~loaded | (taken & self.lines.p.closes))
        with m.If(self.plan.ready):
            fresh = self.plan.p
            no_gaps = fresh.gap_lines != GapLines.ALL
            m.d.sync += [
                loaded.eq(self.plan.valid),
                plan.eq(self.plan.payload),
                tail.eq(no_gaps),
                line.eq(whole_lines(Mux(no_gaps, fresh.valid_span, fresh.row_bytes))),
                end.eq(Mux(no_gaps, fresh.tile_bytes, fresh.pitch_bytes)[bits:]),
                gap_start.eq(fresh.row_bytes),
                gap_end.eq(fresh.pitch_bytes),
            ]
        return m
