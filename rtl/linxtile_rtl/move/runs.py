"""Cuts the valid area of a move into pieces that lie together in both tiles."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from linxtile.config import CoreConfig

from ..layouts import byte_count_bits, line_bits
from .move_plan import CELL_PLACES, advance, place_bits, walk_layout

__all__ = ["RunWalk", "run_layout"]


def run_layout(config: CoreConfig) -> data.StructLayout:
    """Half bytes that follow each other in one line of the source and in one line of the destination.

    ``count`` half bytes go to place ``place`` of line ``line``, which counts from the start of the destination. The source
    line ``source_line`` of the tile RAM, turned by ``turn`` half bytes towards its high end, has them there. ``fresh``: it is
    another source line than before. ``closes``: the last run of its line; ``last``: of the tile.
    """
    places = exact_log2(2 * config.vector_bytes)
    return data.StructLayout({
        "source_line": line_bits(config),
        "fresh": 1,
        "line": byte_count_bits(config) - exact_log2(config.vector_bytes),
        "place": places,
        "count": bits_for(2 * config.vector_bytes),
        "turn": places,
        "closes": 1,
        "last": 1,
    })  # fmt: skip


class RunWalk(wiring.Component):
    """Walk the valid area in the order of the destination's bytes, a run a cycle; first run two cycles after the plan.

    Three nested loops, over the bands of the destination, the rows of a band, the runs of a row; each keeps its own place in
    both tiles, so that all steps are additions. When rows become columns, a run is an element.

    Parameters
    ----------
    config : CoreConfig
        ``vector_bytes`` and ``tile_max_bytes`` matter.

    Members
    -------
    plan : In(stream of walk_layout(config))
        Tiles; the next one is taken together with the last run.
    runs : Out(stream of run_layout(config))
        By ascending place in the destination.
    """

    plan: stream.Interface
    runs: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "plan": In(stream.Signature(walk_layout(config))),
            "runs": Out(stream.Signature(run_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Measure the run at the present place; step over it when the output register is free."""
        m = Module()
        line_places = 2 * self._config.vector_bytes
        low = exact_log2(line_places)
        plan = Signal(walk_layout(self._config))
        active = Signal()
        places = place_bits(self._config)
        # Where band, row and run begin, in each tile.
        source_band, source_row, source = Signal(places), Signal(places), Signal(places)
        target_band, target_row, target = Signal(places), Signal(places), Signal(places)
        places_left, bands_left, rows_left = Signal(places), Signal(places), Signal.like(plan.rows)
        kept_line = Signal(places - low)
        keeps_line = Signal()

        source_room, target_room = Signal(range(line_places + 1)), Signal(range(line_places + 1))
        room, count = Signal.like(source_room), Signal.like(source_room)
        m.d.comb += [
            source_room.eq(line_places - source[:low]),
            target_room.eq(line_places - target[:low]),
            room.eq(Mux(source_room < target_room, source_room, target_room)),
            count.eq(Mux(plan.turns, plan.element, Mux(places_left < room, places_left, room))),
        ]
        cell_places = 1 << CELL_PLACES
        if line_places > cell_places:
            with m.If(plan.by_cells):
                m.d.comb += source_room.eq(cell_places - source[:CELL_PLACES])

        ends_row, ends_band, ends_tile = Signal(), Signal(), Signal()
        m.d.comb += [
            ends_row.eq(places_left == count),
            ends_band.eq(ends_row & (rows_left == 1)),
            ends_tile.eq(ends_band & (~plan.target_by_cells | (bands_left <= cell_places))),
        ]
        run = Signal(run_layout(self._config))
        free = ~self.runs.valid | self.runs.ready
        steps = free & active
        source_line = source[low:]
        target_line = target[low:]
        m.d.comb += [
            self.runs.payload.eq(run),
            self.runs.p.closes.eq(run.last | (target_line != run.line)),
        ]
        with m.If(free):
            m.d.sync += [
                self.runs.valid.eq(active),
                run.source_line.eq(plan.source_line + source_line),
                run.fresh.eq(~keeps_line | (source_line != kept_line)),
                run.line.eq(target_line),
                run.place.eq(target),
                run.count.eq(count),
                run.turn.eq(target - source),
                run.last.eq(ends_tile),
            ]

        row_step = Mux(plan.turns, plan.element, plan.pitch)
        next_source_row = advance(source_row, row_step, plan.turns & plan.by_cells, plan.cells)
        next_source_band = source_band + plan.band
        next_bands_left = bands_left - cell_places
        with m.If(steps):
            m.d.sync += [kept_line.eq(source_line), keeps_line.eq(1)]
            with m.If(ends_tile):
                m.d.sync += active.eq(0)
            with m.Elif(ends_band):
                next_target_band = target_band + plan.target_band
                m.d.sync += [register.eq(next_target_band) for register in (target_band, target_row, target)]
                m.d.sync += [register.eq(next_source_band) for register in (source_band, source_row, source)]
                m.d.sync += [
                    rows_left.eq(plan.rows),
                    bands_left.eq(next_bands_left),
                    places_left.eq(_in_cell(next_bands_left, plan.target_by_cells)),
                ]
            with m.Elif(ends_row):
                next_target_row = target_row + plan.target_pitch
                m.d.sync += [register.eq(next_target_row) for register in (target_row, target)]
                m.d.sync += [register.eq(next_source_row) for register in (source_row, source)]
                m.d.sync += [
                    rows_left.eq(rows_left - 1),
                    places_left.eq(_in_cell(bands_left, plan.target_by_cells)),
                ]
            with m.Else():
                step = Mux(plan.turns, plan.pitch, count)
                m.d.sync += [
                    target.eq(target + count),
                    source.eq(advance(source, step, ~plan.turns & plan.by_cells, plan.cells)),
                    places_left.eq(places_left - count),
                ]
        m.d.comb += self.plan.ready.eq(~active | (free & ends_tile))
        with m.If(self.plan.valid & self.plan.ready):
            m.d.sync += [
                register.eq(0) for register in (source_band, source_row, source, target_band, target_row, target)
            ]
            m.d.sync += [
                plan.eq(self.plan.payload),
                active.eq(1),
                keeps_line.eq(0),
                rows_left.eq(self.plan.p.rows),
                bands_left.eq(self.plan.p.row_places),
                places_left.eq(_in_cell(self.plan.p.row_places, self.plan.p.target_by_cells)),
            ]
        return m


def _in_cell(places: Value, by_cells: Value) -> Value:
    """Return how many of the ``places`` left lie in the first band."""
    return Mux(by_cells & (places > (1 << CELL_PLACES)), 1 << CELL_PLACES, places)
