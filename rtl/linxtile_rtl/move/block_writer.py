"""Writes the lines of a tile that is turned block by block."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from .merger import moved_line_layout
from .move_plan import advance, place_bits, write_plan_layout

__all__ = ["BlockWriter"]


class BlockWriter(wiring.Component):
    """Walk the destination in strips of a line's width: columns of blocks, padding, then the lines behind the last row.

    Members
    -------
    plan : In(stream of write_plan_layout(config))
        Tiles whose rows begin with a line.
    there, element, column, turned, release
        The block under way, see :class:`~linxtile_rtl.move.turner.Turner`.
    lines : Out(stream of moved_line_layout(config))
        Every line of the destination, strip by strip.
    """

    plan: stream.Interface
    there: Signal
    element: Signal
    column: Signal
    turned: Signal
    release: Signal
    lines: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "plan": In(stream.Signature(write_plan_layout(config))),
            "there": In(1),
            "element": Out(5),
            "column": Out(exact_log2(2 * config.vector_bytes)),
            "turned": In(8 * config.vector_bytes),
            "release": Out(1),
            "lines": Out(stream.Signature(moved_line_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep where strip and line begin, what is left of each, and what of that is valid."""
        m = Module()
        line_places = 2 * self._config.vector_bytes
        low = exact_log2(line_places)
        places = place_bits(self._config)
        plan = Signal(write_plan_layout(self._config))
        active, is_behind = Signal(), Signal()
        strip, line = Signal(places), Signal(places)
        strips_left, rows_left = Signal(places), Signal.like(plan.image_rows)
        valid_places, valid_rows = Signal(places), Signal.like(plan.rows)

        has_data, is_last, writes = Signal(), Signal(), Signal()
        next_column = Signal(low + 1)
        m.d.comb += [
            has_data.eq(~is_behind & (valid_places != 0) & (valid_rows != 0)),
            is_last.eq(line[low:] + 1 == plan.lines),
            self.lines.valid.eq(active & (~has_data | self.there)),
            self.lines.p.write.tag.eq(plan.tag),
            self.lines.p.write.line.eq(plan.tile_line + line[low:]),
            self.lines.p.closes.eq(is_last),
            writes.eq(self.lines.valid & self.lines.ready),
            next_column.eq(self.column + plan.element),
            self.element.eq(plan.element),
            self.release.eq(writes & has_data & ((valid_rows == 1) | next_column[low])),
            self.plan.ready.eq(~active | (writes & is_last)),
        ]
        padding = Cat(*[plan.pad_pattern] * (self._config.vector_bytes // 8))
        for place in range(line_places):
            m.d.comb += self.lines.p.write.data.word_select(place, 4).eq(
                Mux(
                    has_data & (valid_places > place),
                    self.turned.word_select(place, 4),
                    Mux(is_behind, 0, padding.word_select(place, 4)),
                )
            )

        with m.If(writes):
            with m.If(is_behind):
                m.d.sync += line.eq(line + line_places)
            with m.Elif(rows_left != 1):
                m.d.sync += [line.eq(line + plan.pitch), rows_left.eq(rows_left - 1), self.column.eq(next_column)]
                with m.If(valid_rows != 0):
                    m.d.sync += valid_rows.eq(valid_rows - 1)
            with m.Elif(strips_left > line_places):
                next_strip = advance(strip, line_places, plan.by_cells, plan.cells)
                m.d.sync += [register.eq(next_strip) for register in (strip, line)]
                m.d.sync += [
                    strips_left.eq(strips_left - line_places),
                    rows_left.eq(plan.image_rows),
                    valid_places.eq(Mux(valid_places > line_places, valid_places - line_places, 0)),
                    valid_rows.eq(plan.rows),
                    self.column.eq(0),
                ]
            with m.Else():
                # The last line of the last strip is the last one with a row.
                m.d.sync += [is_behind.eq(1), line.eq(line + line_places)]
            with m.If(is_last):
                m.d.sync += active.eq(0)
        with m.If(self.plan.valid & self.plan.ready):
            m.d.sync += [
                plan.eq(self.plan.payload),
                active.eq(1),
                is_behind.eq(0),
                strip.eq(0),
                line.eq(0),
                strips_left.eq(self.plan.p.image_places),
                rows_left.eq(self.plan.p.image_rows),
                valid_places.eq(self.plan.p.row_places),
                valid_rows.eq(self.plan.p.rows),
                self.column.eq(0),
            ]
        return m
