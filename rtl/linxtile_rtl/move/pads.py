"""Writes the lines of a loaded tile that hold no valid byte."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES
from .images import image_layout
from .joiner import tile_line_layout
from .plan import CELL_BITS, PATTERN_BYTES, in_first_half, pad_plan_layout

__all__ = ["PadWalk"]


class PadWalk(wiring.Component):
    """Walk the gaps between the rows if each holds a line, then the part below the last row; a line a cycle.

    In NZ and ZN order the walk goes through the tile as it lies. The cells in one place of their rows are neighbours there,
    valid ones first, so what follows them is the gap; it is empty when all rows are valid, which takes a cycle. The cells in
    which the rows end come next: each has a gap of its own when there is room for a line.

    Members
    -------
    plan : In(stream of pad_plan_layout(config))
        Tiles.
    images : In(stream of image_layout(config))
        Of the same tiles.
    lines : Out(stream of tile_line_layout(config))
        Every such line, once; then one that ``closes``, ``absent`` when the tile ends with valid bytes. The first one two
        cycles after its plan.
    """

    plan: stream.Interface
    images: stream.Interface
    lines: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "plan": In(stream.Signature(pad_plan_layout(config))),
            "images": In(stream.Signature(image_layout(config))),
            "lines": Out(stream.Signature(tile_line_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the line and the gap that it is in; at its end step to the next gap."""
        m = Module()
        config = self._config
        bits = exact_log2(config.vector_bytes)
        size_bits = exact_log2(config.tile_min_bytes)
        plan = Signal(pad_plan_layout(config))
        loaded, opening = Signal(), Signal()
        gap_end = Signal.like(plan.pitch_bytes)
        line = Signal(len(gap_end) - bits)
        image = self.images.p

        is_last, absent, at_end, taken, leaves = Signal(), Signal(), Signal(), Signal(), Signal()
        end, next_line = Signal.like(line), Signal.like(line)
        out = self.lines.p
        m.d.comb += [
            # The last gap goes on to the end of the tile.
            is_last.eq((plan.count == 0) & ~plan.cells_follow),
            end.eq(Mux(is_last, plan.tile_size << (size_bits - bits), gap_end[bits:])),
            next_line.eq(line + 1),
            absent.eq(line == end),
            at_end.eq(absent | (next_line == end)),
            self.lines.valid.eq(
                loaded
                & ~opening
                & (self.images.valid | in_first_half(config, plan.tile_size, line))
                & (is_last | ~absent)
            ),
            out.write.tag.eq(plan.tag),
            # A tile begins with a line whose number is a multiple of its lines.
            out.write.line.eq(plan.tile_line | line),
            out.write.data.eq(plan.pad_pattern.replicate(config.vector_bytes // PATTERN_BYTES)),
            out.closes.eq(is_last & at_end),
            out.absent.eq(absent),
            taken.eq(self.lines.valid & self.lines.ready),
            leaves.eq(loaded & ~is_last & (absent | (taken & at_end))),
            self.plan.ready.eq(~loaded | (taken & out.closes)),
            self.images.ready.eq(taken & out.closes),
        ]
        with m.If(~self.images.valid | (line < image.line)):
            m.d.comb += out.kept.eq(config.vector_bytes)
        with m.Elif(line == image.line):
            m.d.comb += out.kept.eq(image.rest)

        # The next gap; cells with gaps of their own come when there is no other one.
        data_bytes, pitch_bytes, count = Signal.like(gap_end), Signal.like(gap_end), Signal.like(plan.count)
        start = Signal.like(gap_end)
        m.d.comb += [data_bytes.eq(plan.data_bytes), pitch_bytes.eq(plan.pitch_bytes), count.eq(plan.count)]
        with m.If(plan.count == 0):
            m.d.comb += [
                data_bytes.eq(plan.cell_rest),
                pitch_bytes.eq(CELL_BYTES),
                count.eq(plan.data_bytes >> CELL_BITS),
            ]
        m.d.comb += start.eq(gap_end + data_bytes)
        with m.If(taken):
            m.d.sync += line.eq(next_line)
        with m.If(opening | leaves):
            m.d.sync += [
                opening.eq(0),
                line.eq(start[bits:] + (start[:bits] != 0)),
                gap_end.eq(gap_end + pitch_bytes),
                plan.data_bytes.eq(data_bytes),
                plan.pitch_bytes.eq(pitch_bytes),
                plan.count.eq(count - 1),
                plan.cells_follow.eq(plan.cells_follow & (plan.count != 0)),
            ]
        with m.If(self.plan.ready):
            m.d.sync += [
                loaded.eq(self.plan.valid),
                opening.eq(self.plan.valid),
                plan.eq(self.plan.payload),
                gap_end.eq(0),
            ]
        return m
