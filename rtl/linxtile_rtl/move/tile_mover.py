"""Moves tiles to tiles, from one order to another."""

from amaranth.hdl import Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..layouts import done_layout, line_write_layout, move_layout
from ..tile_ram import line_read_signature
from .block_mover import BlockMover
from .merger import moved_line_layout
from .move_plan import MovePlan
from .run_mover import LINES_AHEAD, RunMover

__all__ = ["TileMover"]

MOVES_UNDER_WAY = 4
"""Most moves between command and done."""


class TileMover(wiring.Component):
    """Copy the valid area of a tile into a tile of another order (TMOV); every line of the destination is written once, whole.

    A tile takes 8 cycles from command to done and one for each line, or for each run in a line of several: elements that
    follow each other in a line of both tiles. When rows become columns, a run is an element; but where all rows of both tiles
    begin with a line, the tile is moved in square blocks, which takes a line a cycle and the elements of a line more. Rows of
    no power of two bytes cost up to ``2 + log2`` of their number. The next tile is prepared while one is under way.

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
        Lines of the destination.
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
        """Plan, move in one of two ways, report; under ``drop`` everything is in reset except what is shown outside."""
        m = Module()
        config = self._config
        drop, dropping = Signal(), Signal()
        plan, runs, blocks = MovePlan(config=config), RunMover(config=config), BlockMover(config=config)
        for name, part in (("plan", plan), ("runs", runs), ("blocks", blocks)):
            m.submodules[name] = ResetInserter(drop)(part)
        m.d.comb += [
            plan.command.payload.eq(self.command.payload),
            plan.command.valid.eq(self.command.valid & ~drop),
            self.command.ready.eq(plan.command.ready & ~drop),
        ]
        line = Signal(moved_line_layout(config))
        line_valid, line_taken, by_blocks = Signal(), Signal(), Signal()
        m.d.comb += [
            line.eq(Mux(by_blocks, blocks.lines.payload, runs.lines.payload)),
            line_valid.eq(Mux(by_blocks, blocks.lines.valid, runs.lines.valid)),
            runs.lines.ready.eq(line_taken & ~by_blocks),
            blocks.lines.ready.eq(line_taken & by_blocks),
        ]
        self._choose(m, plan, runs, blocks, by_blocks, line_valid & line_taken & line.closes, drop)
        settled_reads = self._read(m, runs.read, blocks.read, by_blocks, drop)
        settled_writes = self._write(m, line, line_valid, line_taken, drop)

        commands = Signal(range(MOVES_UNDER_WAY + 1))
        accepted, reported = self.command.valid & self.command.ready, self.done.valid & self.done.ready
        settled = settled_reads & settled_writes
        m.d.comb += [drop.eq(self.flush | dropping), self.idle.eq(settled & (drop | (commands == 0)))]
        m.d.sync += [
            dropping.eq(drop & ~(settled & ~self.flush)),
            commands.eq(Mux(drop, 0, commands + accepted - reported)),
        ]
        return m

    def _choose(
        self,
        m: Module,
        plan: MovePlan,
        runs: RunMover,
        blocks: BlockMover,
        by_blocks: Signal,
        tile_ends: Value,
        drop: Value,
    ) -> None:
        """Hand a plan to one of the two ways; the way changes when no tile is under way."""
        tiles = Signal(range(3))
        fits = plan.by_blocks == by_blocks
        for half, by_run, by_block in ((plan.walk, runs.walk, blocks.walk), (plan.write, runs.plan, blocks.plan)):
            m.d.comb += [
                by_run.payload.eq(half.payload),
                by_run.valid.eq(half.valid & fits & ~by_blocks),
                by_block.payload.eq(half.payload),
                by_block.valid.eq(half.valid & fits & by_blocks),
                half.ready.eq(fits & Mux(by_blocks, by_block.ready, by_run.ready)),
            ]
        begins = plan.walk.valid & plan.walk.ready
        m.d.sync += tiles.eq(Mux(drop, 0, tiles + begins - tile_ends))
        with m.If(plan.walk.valid & (tiles == 0)):
            m.d.sync += by_blocks.eq(plan.by_blocks)

    def _read(
        self, m: Module, runs: wiring.PureInterface, blocks: wiring.PureInterface, by_blocks: Signal, drop: Value
    ) -> Value:
        """Pass requests on, and lines back; drop those that come too late. Return whether none is on its way."""
        request, response = self.read.request, self.read.response
        owed = Signal(range(LINES_AHEAD + 2))
        free = ~request.valid | request.ready
        with m.If(free):
            m.d.sync += [
                request.valid.eq(Mux(by_blocks, blocks.request.valid, runs.request.valid) & ~drop),
                request.payload.eq(Mux(by_blocks, blocks.request.payload, runs.request.payload)),
            ]
        for part, chosen in ((runs, ~by_blocks), (blocks, by_blocks)):
            m.d.comb += [
                part.request.ready.eq(free & chosen),
                part.response.valid.eq(response.valid & chosen & ~drop),
                part.response.payload.eq(response.payload),
            ]
        m.d.comb += response.ready.eq(drop | Mux(by_blocks, blocks.response.ready, runs.response.ready))
        m.d.sync += owed.eq(owed + (request.valid & request.ready) - (response.valid & response.ready))
        return ~request.valid & (owed == 0)

    def _write(self, m: Module, line: data.View, line_valid: Value, line_taken: Signal, drop: Value) -> Value:
        """Write lines and report tiles. Return whether nothing is shown."""
        held, closes = Signal(), Signal()
        written = self.write.valid & self.write.ready
        m.d.comb += [
            # A last line leaves only when its report has a place to go.
            self.write.valid.eq(held & ~(closes & self.done.valid)),
            line_taken.eq(~held | written),
        ]
        with m.If(line_taken):
            m.d.sync += [held.eq(line_valid & ~drop), closes.eq(line.closes), self.write.payload.eq(line.write)]
        with m.If(self.done.ready):
            m.d.sync += self.done.valid.eq(0)
        with m.If(written & closes & ~drop):
            m.d.sync += [self.done.valid.eq(1), self.done.p.tag.eq(self.write.p.tag)]
        return ~held & ~self.done.valid
