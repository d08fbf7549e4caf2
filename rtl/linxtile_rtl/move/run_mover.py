"""Moves a tile run by run: any order to any order, wherever the rows begin."""

from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..tile_ram import line_read_signature
from .merger import LineMerger, moved_line_layout
from .move_plan import walk_layout, write_plan_layout
from .runs import RunWalk, run_layout

__all__ = ["LINES_AHEAD", "RunMover", "mover_members"]

LINES_AHEAD = 8
"""Lines asked for before they are used: enough to cover the answer of the tile RAM and a lost arbitration or two."""


def mover_members(config: CoreConfig) -> dict[str, object]:
    """Members of a part that moves tiles: both halves of the plan in, source lines in, destination lines out."""
    return {
        "walk": In(stream.Signature(walk_layout(config))),
        "plan": In(stream.Signature(write_plan_layout(config))),
        "read": Out(line_read_signature(config)),
        "lines": Out(stream.Signature(moved_line_layout(config))),
    }  # fmt: skip


class RunMover(wiring.Component):
    """Cut the valid area into runs, and merge them into lines; a run a cycle, at most a line a cycle.

    Members
    -------
    walk, plan : In(stream of walk_layout(config)), In(stream of write_plan_layout(config))
        Tiles.
    read : Out(line_read_signature(config))
        Source lines; each is kept for the runs that follow.
    lines : Out(stream of moved_line_layout(config))
        Every line of the destination, in order.
    """

    walk: stream.Interface
    plan: stream.Interface
    read: wiring.PureInterface
    lines: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__(mover_members(config))

    def elaborate(self, platform: object) -> Module:
        """Fork the walk's runs to the tile RAM and to the merger."""
        m = Module()
        layout = run_layout(self._config)
        m.submodules.runs = runs = RunWalk(config=self._config)
        m.submodules.waiting = waiting = SyncFIFO(width=layout.size, depth=LINES_AHEAD)
        m.submodules.merger = merger = LineMerger(config=self._config)
        wiring.connect(m, wiring.flipped(self.walk), runs.plan)
        wiring.connect(m, wiring.flipped(self.plan), merger.plan)
        wiring.connect(m, wiring.flipped(self.read.response), merger.source)
        wiring.connect(m, merger.lines, wiring.flipped(self.lines))

        run, request = runs.runs, self.read.request
        passes = waiting.w_rdy & (~run.p.fresh | request.ready)
        m.d.comb += [
            request.valid.eq(run.valid & run.p.fresh & waiting.w_rdy),
            request.payload.eq(run.p.source_line),
            run.ready.eq(passes),
            waiting.w_en.eq(run.valid & passes),
            waiting.w_data.eq(run.payload),
            merger.runs.valid.eq(waiting.r_rdy),
            merger.runs.payload.eq(data.View(layout, waiting.r_data)),
            waiting.r_en.eq(merger.runs.ready),
        ]
        return m
