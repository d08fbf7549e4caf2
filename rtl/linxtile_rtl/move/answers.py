"""Follows the answers to a store's bursts and keeps which burst has the first failing element."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from linxtile.config import CoreConfig

from ..axi import write_response_layout
from .axi_reader import REFUSED

__all__ = ["Answers", "sent_layout"]


def sent_layout() -> data.StructLayout:
    """What is remembered of a burst until its answer: how the numbers of rows go on behind it.

    ``chunk_end``: a row ends, or, ``row_goes_on``, what one block of the tile gives to it. Then the next row follows, or the
    group's first one in the next block, which is when the row goes on and the block does not (``block_goes_on``). ``ends_tile``:
    the numbers begin again. ``beyond``: no answer will come, the burst fails.
    """
    return data.StructLayout({"chunk_end": 1, "row_goes_on": 1, "block_goes_on": 1, "ends_tile": 1, "beyond": 1})


class Answers(wiring.Component):
    """Number the bursts that are answered; of all that fail keep the one in the smallest row, of equal rows the first.

    Rows are numbered in each tile from 0 on. That is the order of elements when tiles have the same rows, or are written row by
    row. The address of the element is not kept: who walks over the bursts once more finds it by the burst's number.

    Parameters
    ----------
    config : CoreConfig
        ``reads_outstanding`` bursts can wait for their answers.

    Members
    -------
    sent : In(stream of sent_layout())
        Bursts, each no later than in the cycle before its answer.
    b : In(stream of write_response_layout())
        Answers.
    quiet : Out(1)
        All bursts so far have passed. ``passes_last`` : Out(1): the last one does in this cycle.
    refused : In(1)
        While ``quiet``: the last byte of the next burst cannot be read and so not be written.
    expired : In(1)
        The memory will never answer: the oldest burst fails, if none has before. Nothing passes any more.
    fault : Out(1), late : Out(1)
        Whether an element has failed, and whether an answer was waited for in vain.
    at_end : Out(1)
        The element is the last one of its burst, not the first.
    restart : In(1), step : In(1), found : Out(1)
        To find the burst: begin to count again, the next burst; the burst to be counted is the one.
    """

    sent: stream.Interface
    b: stream.Interface
    quiet: Signal
    passes_last: Signal
    refused: Signal
    expired: Signal
    fault: Signal
    late: Signal
    at_end: Signal
    restart: Signal
    step: Signal
    found: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "sent": In(stream.Signature(sent_layout())),
            "b": In(stream.Signature(write_response_layout())),
            "quiet": Out(1),
            "passes_last": Out(1),
            "refused": In(1),
            "expired": In(1),
            "fault": Out(1),
            "late": Out(1),
            "at_end": Out(1),
            "restart": In(1),
            "step": In(1),
            "found": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Pass a burst with its answer and compare its row with that of the failure kept."""
        m = Module()
        config = self._config
        m.submodules.waiting = waiting = SyncFIFO(width=sent_layout().size, depth=config.reads_outstanding)
        burst = data.View(sent_layout(), waiting.r_data)
        # Each burst has a byte of its own, and rows of half bytes no more bytes than half bytes.
        number = Signal(bits_for(2 * config.move_tiles * config.tile_max_bytes))
        failed = Signal.like(number)
        row, group_row, failed_row = Signal(16), Signal(16), Signal(16)
        # The burst that lacks its last byte is written all the same, for an element before that can fail.
        tentative = Signal()
        passes, fails, earlier, keeps = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            waiting.w_en.eq(self.sent.valid),
            waiting.w_data.eq(self.sent.payload),
            self.sent.ready.eq(waiting.w_rdy),
            waiting.r_en.eq(passes),
            self.b.ready.eq(waiting.r_rdy & ~burst.beyond),
            passes.eq(waiting.r_rdy & (burst.beyond | self.b.valid) & ~self.expired),
            self.quiet.eq(~waiting.r_rdy),
            self.passes_last.eq(passes & (waiting.level == 1)),
            fails.eq((passes & (burst.beyond | self.b.p.resp[REFUSED])) | self.refused),
            earlier.eq(~self.fault | tentative | (row < failed_row)),
            keeps.eq((fails & earlier) | (self.expired & (~self.fault | tentative))),
            self.found.eq(number == failed),
        ]
        with m.If(passes):
            m.d.sync += tentative.eq(0)
            with m.If(burst.chunk_end):
                m.d.sync += row.eq(row + 1)
                with m.If(~burst.row_goes_on & ~burst.block_goes_on):
                    m.d.sync += group_row.eq(row + 1)
                with m.If(burst.row_goes_on & ~burst.block_goes_on):
                    m.d.sync += row.eq(group_row)
                with m.If(burst.ends_tile):
                    m.d.sync += [row.eq(0), group_row.eq(0)]
        with m.If(keeps):
            m.d.sync += [
                self.fault.eq(1),
                self.late.eq(self.expired),
                self.at_end.eq(self.refused),
                tentative.eq(self.refused),
                failed_row.eq(row),
                failed.eq(number),
            ]
        with m.If(self.restart):
            m.d.sync += number.eq(0)
        with m.Elif(passes | self.step):
            m.d.sync += number.eq(number + 1)
        return m
