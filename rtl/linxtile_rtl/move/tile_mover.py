"""Moves tiles to tiles, from one order to another."""

from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..layouts import done_layout, line_write_layout, move_layout
from ..tile_ram import line_read_signature
from .merger import LineMerger
from .move_plan import MovePlan
from .runs import RunWalk, run_layout

__all__ = ["TileMover"]

RUNS_AHEAD = 8
"""Runs between the walk and the merger: enough to cover the answer of the tile RAM and a lost arbitration or two."""


class TileMover(wiring.Component):
    """Copy the valid area of a tile into a tile of another order (TMOV); every line of the destination is written once, whole.

    A tile takes 10 cycles from command to done and one for each line, or for each run in a line of several; up to ``log2`` of
    the rows more when a row's bytes are no power of two. A run is an element when rows become columns. The next tile is
    prepared while one is under way.

    Parameters
    ----------
    config : CoreConfig
        Everything that concerns tiles.

    Members
    -------
    command : In(stream of move_layout(config))
        Moves; they begin at once.
    done : Out(stream of done_layout(config))
        One per command, in order, after its last line was accepted; never a fault.
    read : Out(line_read_signature(config))
        Port of the tile RAM, for the source.
    write : Out(stream of line_write_layout(config))
        Lines of the destination, in order.
    flush : In(1)
        Drop all commands; hold it until ``idle``.
    idle : Out(1)
        No command is under way and the tile RAM owes nothing.
    """

    command: stream.Interface
    done: stream.Interface
    read: wiring.PureInterface
    write: stream.Interface
    flush: Signal
    idle: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(move_layout(config))),
            "done": Out(stream.Signature(done_layout(config))),
            "read": Out(line_read_signature(config)),
            "write": Out(stream.Signature(line_write_layout(config))),
            "flush": In(1),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Fork the walk's runs to the tile RAM and to the merger; count what is under way and what the RAM owes."""
        m = Module()
        config = self._config
        drop, clear_walk, clear_merger = Signal(), Signal(), Signal()
        plan, walk, merger = MovePlan(config=config), RunWalk(config=config), LineMerger(config=config)
        layout = run_layout(config)
        waiting = SyncFIFO(width=layout.size, depth=RUNS_AHEAD)
        m.submodules.plan = ResetInserter(drop)(plan)
        m.submodules.walk = ResetInserter(clear_walk)(walk)
        m.submodules.waiting = ResetInserter(drop)(waiting)
        m.submodules.merger = ResetInserter(clear_merger)(merger)
        wiring.connect(m, plan.walk, walk.plan)
        wiring.connect(m, plan.target, merger.target)

        request, response = self.read.request, self.read.response
        run = walk.runs
        passes = waiting.w_rdy & (~run.p.fresh | request.ready)
        m.d.comb += [
            plan.command.payload.eq(self.command.payload),
            plan.command.valid.eq(self.command.valid & ~drop),
            self.command.ready.eq(plan.command.ready & ~drop),
            request.valid.eq(run.valid & run.p.fresh & waiting.w_rdy),
            request.payload.eq(run.p.source_line),
            run.ready.eq(passes),
            waiting.w_en.eq(run.valid & passes),
            waiting.w_data.eq(run.payload),
            merger.runs.valid.eq(waiting.r_rdy),
            merger.runs.payload.eq(data.View(layout, waiting.r_data)),
            waiting.r_en.eq(merger.runs.ready),
            merger.source.valid.eq(response.valid & ~drop),
            merger.source.payload.eq(response.payload),
            response.ready.eq(merger.source.ready | drop),
        ]

        line = merger.lines
        writes_last = line.valid & line.p.closes
        reported = self.done.valid & self.done.ready
        m.d.comb += [
            # A last line leaves only when its report has a place to go.
            self.write.valid.eq(line.valid & ~(line.p.closes & self.done.valid)),
            self.write.payload.eq(line.p.write),
            line.ready.eq(self.write.ready & ~(line.p.closes & self.done.valid)),
        ]
        with m.If(reported):
            m.d.sync += self.done.valid.eq(0)
        with m.If(writes_last & line.ready & ~drop):
            m.d.sync += [self.done.valid.eq(1), self.done.p.tag.eq(line.p.write.tag)]

        under_way = Signal(range(4))
        owed = Signal(range(RUNS_AHEAD + 2))
        m.d.sync += [
            under_way.eq(under_way + (self.command.valid & self.command.ready) - reported),
            owed.eq(owed + (request.valid & request.ready) - (response.valid & response.ready)),
        ]
        # What a stream shows it must not take back, so a flush waits until that was taken.
        dropping = Signal()
        settled = (owed == 0) & ~request.valid & ~self.write.valid & ~self.done.valid
        m.d.comb += [
            drop.eq(self.flush | dropping),
            clear_walk.eq(drop & ~(request.valid & ~request.ready)),
            clear_merger.eq(drop & ~(self.write.valid & ~self.write.ready)),
            self.idle.eq(settled & (drop | (under_way == 0))),
        ]
        m.d.sync += dropping.eq(drop & ~(settled & ~self.flush))
        with m.If(drop):
            m.d.sync += under_way.eq(0)
        return m
