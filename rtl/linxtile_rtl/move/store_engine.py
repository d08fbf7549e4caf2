"""Stores tiles to memory."""

from amaranth.hdl import Module, Mux, ResetInserter, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig
from linxtile.isa.faults import Rule

from ..axi import read_signature, write_signature
from ..layouts import done_layout, store_layout
from ..tile_ram import line_read_signature
from .aligner import BeatAligner
from .axi_writer import AxiWriter
from .jobs import JobWalk
from .store_lines import StoreLines

__all__ = ["StoreEngine"]


class StoreEngine(wiring.Component):
    """Store tiles of any layout, one command after the other; exactly the valid bytes are strobed.

    A command takes beats + memory latency + 4 cycles from command to done, over all its tiles. Where cells lie across the rows of
    memory it is a cycle more, and the lines of a block (:func:`~linxtile_rtl.move.chunks.block_bytes`) that is read before the
    first beat; lines count in place of beats where they are more. Rows that overlap take longer when they have to be written one
    after the other (:class:`~linxtile_rtl.move.jobs.JobWalk`). An odd last nibble costs a read and the wait for all older
    bursts, each row. A fault is reported as many cycles later as bursts come before the one that failed.

    Parameters
    ----------
    config : CoreConfig
        Everything that concerns memory and tiles.

    Members
    -------
    command : In(stream of store_layout(config))
        Stores; they begin at once.
    done : Out(stream of done_layout(config))
        One per command, after the last answer of the bus; or its MEM_WRITE or WATCHDOG fault.
    read : Out(line_read_signature(config))
        Port of the tile RAM.
    memory : Out(write_signature(config)), nibble_memory : Out(read_signature(config))
        AW, W, B, and a port to fetch what an odd nibble must leave alone.
    flush : In(1)
        Begin no new burst and report nothing; hold it until ``idle``.
    idle : Out(1)
        No command is under way and the bus owes nothing.
    waits : Out(1)
        The bus owes something. ``expired`` : In(1), for good: it will never come. The engine reports WATCHDOG for the first
        element of the oldest burst without an answer, unless it has a fault already, and is not idle any more.
    """

    command: stream.Interface
    done: stream.Interface
    read: wiring.PureInterface
    memory: wiring.PureInterface
    nibble_memory: wiring.PureInterface
    flush: Signal
    idle: Signal
    waits: Signal
    expired: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(store_layout(config))),
            "done": Out(stream.Signature(done_layout(config))),
            "read": Out(line_read_signature(config)),
            "memory": Out(write_signature(config)),
            "nibble_memory": Out(read_signature(config)),
            "flush": In(1),
            "idle": Out(1),
            "waits": Out(1),
            "expired": In(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Give each job to the writer and to whoever fetches its lines; report what the writer tells."""
        m = Module()
        config = self._config
        drop, over = Signal(), Signal()
        m.submodules.writer = writer = AxiWriter(config=config)
        m.submodules.lines = lines = StoreLines(config=config)
        aligner, jobs = BeatAligner(config=config), JobWalk(config=config)
        m.submodules.aligner = ResetInserter(drop)(aligner)
        m.submodules.jobs = ResetInserter(over)(jobs)
        wiring.connect(m, lines.read, wiring.flipped(self.read))
        wiring.connect(m, lines.lines, aligner.lines)
        wiring.connect(m, writer.pieces, aligner.pieces)
        wiring.connect(m, aligner.beats, writer.beats)
        wiring.connect(m, writer.memory, wiring.flipped(self.memory))
        wiring.connect(m, writer.nibble_memory, wiring.flipped(self.nibble_memory))

        takes_command = Signal()
        tag = Signal.like(self.command.p.tag)
        m.d.comb += [
            writer.jobs.payload.eq(jobs.jobs.p.rows),
            jobs.again.eq(writer.again),
            lines.jobs.payload.eq(jobs.jobs.payload),
            lines.kept.eq(jobs.kept),
            lines.rows.eq(jobs.move.rows),
            lines.drop.eq(drop),
            jobs.command.payload.eq(self.command.payload),
            jobs.command.valid.eq(self.command.valid & takes_command),
            self.command.ready.eq(jobs.command.ready & takes_command),
            writer.move.eq(jobs.move),
            aligner.nibble.eq(writer.nibble),
            writer.expired.eq(self.expired),
            self.waits.eq(writer.waits),
        ]
        with m.If(self.command.valid & self.command.ready):
            m.d.sync += tag.eq(self.command.p.tag)

        # Lines of the next job are asked for while the writer has still addresses of this one to send.
        to_lines, to_writer = Signal(), Signal()
        wants_lines, wants_writer = ~writer.retracing & ~to_lines, ~jobs.jobs.p.joins & ~to_writer
        m.d.comb += [
            lines.jobs.valid.eq(jobs.jobs.valid & wants_lines),
            writer.jobs.valid.eq(jobs.jobs.valid & wants_writer),
            jobs.jobs.ready.eq((~wants_lines | lines.jobs.ready) & (~wants_writer | writer.jobs.ready)),
        ]
        with m.If(over | writer.again | (jobs.jobs.valid & jobs.jobs.ready)):
            m.d.sync += [to_lines.eq(0), to_writer.eq(0)]
        with m.Else():
            m.d.sync += [
                to_lines.eq(to_lines | (lines.jobs.valid & lines.jobs.ready)),
                to_writer.eq(to_writer | (writer.jobs.valid & writer.jobs.ready)),
            ]

        fault = writer.result.p.fault
        m.d.comb += [
            self.done.p.tag.eq(tag),
            self.done.p.flags.eq(0),
            self.done.p.fault.eq(fault),
            self.done.p.rule.eq(Mux(fault, Mux(writer.result.p.late, Rule.WATCHDOG, Rule.MEM_WRITE), 0)),
            self.done.p.fault_address.eq(writer.result.p.address),
        ]
        flushed = Signal()
        with m.FSM():
            with m.State("REST"):
                m.d.comb += [takes_command.eq(~self.flush), self.idle.eq(1)]
                m.d.sync += flushed.eq(0)
                with m.If(self.command.valid & self.command.ready):
                    m.next = "STORE"
            with m.State("STORE"):
                m.d.comb += writer.stop.eq(self.flush)
                m.d.sync += flushed.eq(flushed | self.flush)
                with m.If(writer.result.valid & self.expired):
                    m.next = "REPORT"
                with m.Elif(writer.result.valid):
                    m.d.comb += drop.eq(1)
                    with m.If(lines.settled):
                        m.d.comb += [over.eq(1), self.done.valid.eq(~(flushed | self.flush))]
                        m.next = "REST"
                        with m.If(self.done.valid & ~self.done.ready):
                            m.next = "REPORT"
                        with m.Else():
                            m.d.comb += writer.result.ready.eq(1)
            with m.State("REPORT"):
                m.d.comb += [self.done.valid.eq(1), writer.result.ready.eq(self.done.ready)]
                with m.If(self.done.ready):
                    m.next = "REST"
                    with m.If(self.expired):
                        m.next = "DEAD"
            with m.State("DEAD"):
                pass
        return m
