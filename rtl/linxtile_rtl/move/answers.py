"""Follows the answers to a store's bursts and keeps the first failing element."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..axi import write_response_layout
from .axi_reader import REFUSED
from .bursts import BurstCut
from .chunks import ChunkWalk, command_layout, job_layout
from .rows import element_start

__all__ = ["AnswerWalk"]


class AnswerWalk(wiring.Component):
    """Walk the bursts once more, one a B; of all elements that fail keep that in the smallest row, of equal rows the first.

    Rows are numbered in each job from 0 on. That is the order of elements when jobs have the same rows, or one row each.

    Parameters
    ----------
    config : CoreConfig
        ``move_tiles`` jobs can wait for their answers.

    Members
    -------
    move : In(command_layout(config)), jobs : In(stream of job_layout(config))
        As for the walk that sends.
    b : In(stream of write_response_layout())
        Answers.
    passed : Out(1)
        A burst has its answer, or was beyond the addresses of the bus and has failed, in this cycle.
    refused : In(1), refused_address, refused_row : In
        The last byte of the next row cannot be read and so not be written; all older bursts have passed.
    final : Out(1)
        The burst that passes is the last one of its command.
    expired : In(1)
        The memory will never answer: the oldest burst fails, if none has before.
    fault : Out(1), address : Out(64), late : Out(1)
        Whether an element has failed, the address of the first, and whether an answer was waited for in vain.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "move": In(command_layout(config)),
            "jobs": In(stream.Signature(job_layout(config))),
            "b": In(stream.Signature(write_response_layout())),
            "passed": Out(1),
            "refused": In(1),
            "refused_address": In(64),
            "refused_row": In(16),
            "final": Out(1),
            "expired": In(1),
            "fault": Out(1),
            "address": Out(64),
            "late": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Pass a burst with its answer and compare its row with that of the failure kept."""
        m = Module()
        config = self._config
        m.submodules.walk = walk = ChunkWalk(config=config)
        m.submodules.cut = cut = BurstCut(config=config)
        jobs = job_layout(config)
        m.submodules.waiting = waiting = SyncFIFO(width=jobs.size, depth=max(2, config.move_tiles))
        wiring.connect(m, walk.chunks, cut.chunks)
        m.d.comb += [
            waiting.w_en.eq(self.jobs.valid),
            waiting.w_data.eq(self.jobs.payload),
            self.jobs.ready.eq(waiting.w_rdy),
            walk.jobs.valid.eq(waiting.r_rdy),
            walk.jobs.payload.eq(data.View(jobs, waiting.r_data)),
            waiting.r_en.eq(walk.jobs.ready),
            walk.move.eq(self.move),
            cut.element_shift.eq(self.move.element_shift),
        ]
        burst = cut.bursts.p
        element = element_start(burst.address, burst.skew, burst.element_mask)
        fails, earlier = Signal(), Signal()
        row = Signal.like(burst.note.row)
        # The row that lacks a byte is written all the same, for one of its bursts that fails comes before its last byte.
        tentative = Signal()
        m.d.comb += [
            self.b.ready.eq(cut.bursts.valid & ~burst.beyond),
            self.passed.eq(cut.bursts.valid & (burst.beyond | self.b.valid)),
            cut.bursts.ready.eq(self.passed),
            self.final.eq(burst.last & burst.note.final),
            fails.eq(burst.beyond | self.b.p.resp[REFUSED]),
            earlier.eq(~self.fault | tentative | (burst.note.row < row)),
        ]
        with m.If(self.passed & burst.row_end):
            m.d.sync += tentative.eq(0)
        with m.If(self.passed & fails & earlier):
            m.d.sync += [
                self.fault.eq(1),
                tentative.eq(0),
                row.eq(burst.note.row),
                self.address.eq(element),
            ]
        with m.Elif(self.refused & (~self.fault | (self.refused_row < row))):
            m.d.sync += [
                self.fault.eq(1),
                tentative.eq(1),
                row.eq(self.refused_row),
                self.address.eq(self.refused_address),
            ]
        with m.If(self.expired & (~self.fault | tentative)):
            m.d.sync += [self.fault.eq(1), tentative.eq(0), self.late.eq(1), self.address.eq(element)]
        return m
