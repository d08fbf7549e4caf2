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
from .lines import LineWalk
from .parts import PartWalk

__all__ = ["StoreEngine"]


class StoreEngine(wiring.Component):
    """Store row-major tiles, one after the other; exactly the valid bytes are strobed, rows in order.

    A tile takes beats + memory latency + 5 cycles from command to done. An odd last nibble costs a read and the wait for
    all older rows, each row.

    Parameters
    ----------
    config : CoreConfig
        Everything that concerns memory and tiles.

    Members
    -------
    command : In(stream of store_layout(config))
        Stores; they begin at once.
    done : Out(stream of done_layout(config))
        One per command, after the last answer of the bus; or its MEM_WRITE fault.
    read : Out(line_read_signature(config))
        Port of the tile RAM.
    memory : Out(write_signature(config)), nibble_memory : Out(read_signature(config))
        AW, W, B, and a port to fetch what an odd nibble must leave alone.
    flush : In(1)
        Begin no new burst and report nothing; hold it until ``idle``.
    idle : Out(1)
        No command is under way and the bus owes nothing.
    """

    command: stream.Interface
    done: stream.Interface
    read: wiring.PureInterface
    memory: wiring.PureInterface
    nibble_memory: wiring.PureInterface
    flush: Signal
    idle: Signal

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
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Start line walk, aligner and writer together; report what the writer tells."""
        m = Module()
        config = self._config
        clear_lines = Signal()
        m.submodules.writer = writer = AxiWriter(config=config)
        m.submodules.aligner = aligner = BeatAligner(config=config)
        lines = LineWalk(config=config)
        m.submodules.lines = ResetInserter(clear_lines)(lines)
        wiring.connect(m, writer.pieces, aligner.pieces)
        wiring.connect(m, aligner.beats, writer.beats)
        wiring.connect(m, writer.memory, wiring.flipped(self.memory))
        wiring.connect(m, writer.nibble_memory, wiring.flipped(self.nibble_memory))

        ready = Signal()
        start = Signal()
        m.submodules.parts = parts = PartWalk(config=config, command=store_layout(config))
        wiring.connect(m, wiring.flipped(self.command), parts.command)
        self._take_command(m, parts.parts, writer, lines, ready, start)
        store = Signal.like(parts.parts.payload)
        with m.If(start):
            m.d.sync += store.eq(parts.parts.payload)
        m.d.comb += [
            aligner.start.eq(start),
            aligner.pitch_bytes.eq(Mux(start, parts.parts.p.pitch_bytes, store.pitch_bytes)),
            aligner.odd_nibble.eq(store.odd_nibble),
            aligner.nibble.eq(writer.nibble),
            writer.odd_nibble.eq(store.odd_nibble),
            writer.row_bytes.eq(store.row_bytes),
            writer.stop.eq(self.flush),
        ]

        # Lines asked for and not yet here: a store that ends early has to wait for them.
        drop = Signal()
        owed = Signal(range(config.lines + 1))
        request, response = self.read.request, self.read.response
        wiring.connect(m, lines.requests, wiring.flipped(request))
        m.d.comb += [
            aligner.lines.valid.eq(response.valid & ~drop),
            aligner.lines.payload.eq(response.payload),
            response.ready.eq(drop | aligner.lines.ready),
            clear_lines.eq(drop & ~(request.valid & ~request.ready)),
        ]
        m.d.sync += owed.eq(owed + (request.valid & request.ready) - (response.valid & response.ready))
        settled = (owed == 0) & ~request.valid

        fault = writer.result.p.fault
        m.d.comb += [
            self.done.p.tag.eq(store.tag),
            self.done.p.flags.eq(0),
            self.done.p.fault.eq(fault),
            self.done.p.rule.eq(Mux(fault, Rule.MEM_WRITE, 0)),
            self.done.p.fault_address.eq(writer.result.p.address),
        ]
        flushed = Signal()
        with m.FSM():
            with m.State("REST"):
                m.d.comb += [ready.eq(~self.flush), self.idle.eq(1)]
                m.d.sync += flushed.eq(0)
                with m.If(start):
                    m.next = "STORE"
            with m.State("STORE"):
                m.d.sync += flushed.eq(flushed | self.flush)
                with m.If(writer.result.valid):
                    m.d.comb += drop.eq(1)
                    with m.If(settled):
                        m.d.comb += writer.result.ready.eq(flushed | self.flush)
                        m.next = "REPORT"
                        with m.If(flushed | self.flush):
                            m.next = "REST"
            with m.State("REPORT"):
                m.d.comb += [self.done.valid.eq(1), writer.result.ready.eq(self.done.ready)]
                with m.If(self.done.ready):
                    m.next = "REST"
        return m

    def _take_command(
        self, m: Module, parts: stream.Interface, writer: AxiWriter, lines: LineWalk, ready: Signal, start: Signal
    ) -> None:
        command = parts.p
        area = Signal.like(command.tile_bytes)
        one_row = Signal()
        m.d.comb += [
            area.eq(command.valid_rows * command.pitch_bytes),
            # Rows without a gap in memory and in the tile are one row. Half a byte left alone is a gap.
            one_row.eq(
                (command.stride == command.row_bytes) & (command.row_bytes == command.pitch_bytes) & ~command.odd_nibble
            ),
        ]
        rows = Mux(one_row, 1, command.valid_rows)
        row_bytes = Mux(one_row, area, command.row_bytes)
        m.d.comb += [
            parts.ready.eq(ready & writer.command.ready & lines.command.ready),
            start.eq(parts.valid & parts.ready),
            writer.command.valid.eq(start),
            writer.command.p.base.eq(command.base),
            writer.command.p.stride.eq(command.stride),
            writer.command.p.rows.eq(rows),
            writer.command.p.row_bytes.eq(row_bytes),
            writer.command.p.element_shift.eq(command.element_shift),
            lines.command.valid.eq(start),
            lines.command.p.rows.eq(rows),
            lines.command.p.row_bytes.eq(row_bytes),
            lines.command.p.pitch_bytes.eq(command.pitch_bytes),
            lines.command.p.tile_line.eq(command.tile_line),
        ]
