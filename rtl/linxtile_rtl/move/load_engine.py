"""Loads tiles from memory."""

from amaranth.hdl import Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig
from linxtile.isa.faults import Rule

from ..axi import read_signature
from ..layouts import CELL_BYTES, done_layout, line_write_layout, load_layout
from .assembler import LineAssembler
from .axi_reader import AxiReader
from .pads import PadWalk
from .parts import PartWalk
from .plan import GapLines, plan_layout

__all__ = ["LoadEngine"]

TILES_UNDER_WAY = 4
"""Tiles between command and done."""


class LoadEngine(wiring.Component):
    """Load tiles from rows, and whole cells into NZ and ZN order; every line of the destination is written once, whole.

    One tile alone takes max(beats, lines) + memory latency + 5 cycles from command to done; several are under way at once.
    After a fault the engine takes nothing more until ``flush``.

    Parameters
    ----------
    config : CoreConfig
        Everything that concerns memory and tiles.

    Members
    -------
    command : In(stream of load_layout(config))
        Loads in program order.
    done : Out(stream of done_layout(config))
        One per command, in order, after its last line was accepted; or its MEM_READ fault.
    write : Out(stream of line_write_layout(config))
        Lines for the tile RAM, in no particular order.
    memory : Out(read_signature(config))
        AR and R.
    flush : In(1)
        Drop all commands; hold it until ``idle``.
    idle : Out(1)
        No command is under way and the bus owes nothing.
    """

    command: stream.Interface
    done: stream.Interface
    write: stream.Interface
    memory: wiring.PureInterface
    flush: Signal
    idle: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(load_layout(config))),
            "done": Out(stream.Signature(done_layout(config))),
            "write": Out(stream.Signature(line_write_layout(config))),
            "memory": Out(read_signature(config)),
            "flush": In(1),
            "idle": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Fork a command to the reader and to the two writers of its tile; join the writers' ends."""
        m = Module()
        config = self._config
        clear = Signal()
        clear_tags = Signal()
        m.submodules.reader = reader = AxiReader(config=config)
        assembler = LineAssembler(config=config)
        pads = PadWalk(config=config)
        plan = plan_layout(config)
        fresh_plan = Signal(plan)
        assembler_plans = SyncFIFO(width=plan.size, depth=TILES_UNDER_WAY)
        pad_plans = SyncFIFO(width=plan.size, depth=TILES_UNDER_WAY)
        tags = SyncFIFO(width=len(self.done.p.tag), depth=TILES_UNDER_WAY)
        for name, part in (
            ("assembler", assembler), ("pads", pads), ("assembler_plans", assembler_plans), ("pad_plans", pad_plans),
        ):  # fmt: skip
            m.submodules[name] = ResetInserter(clear)(part)
        m.submodules.tags = ResetInserter(clear_tags)(tags)
        wiring.connect(m, reader.memory, wiring.flipped(self.memory))

        for waiting, user in ((assembler_plans, assembler), (pad_plans, pads)):
            m.d.comb += [
                waiting.w_en.eq(tags.w_en),
                waiting.w_data.eq(fresh_plan),
                user.plan.valid.eq(waiting.r_rdy),
                user.plan.payload.eq(data.View(plan, waiting.r_data)),
                waiting.r_en.eq(user.plan.ready),
            ]

        failing = Signal()
        faulty = Signal()
        fault_address = Signal(64)
        m.d.comb += [
            failing.eq(reader.pieces.valid & reader.pieces.p.error),
            assembler.pieces.valid.eq(reader.pieces.valid & ~failing),
            assembler.pieces.payload.eq(reader.pieces.payload),
            reader.pieces.ready.eq(assembler.pieces.ready & ~failing),
            self.done.p.tag.eq(tags.r_data),
            self.done.p.flags.eq(0),
            self.done.p.fault.eq(faulty),
            self.done.p.rule.eq(Mux(faulty, Rule.MEM_READ, 0)),
            self.done.p.fault_address.eq(Mux(faulty, fault_address, 0)),
            tags.r_en.eq(self.done.valid & self.done.ready),
        ]
        finished, data_pending = self._write_lines(m, assembler.lines, pads.lines, clear)

        open_for_commands = Signal()
        resting = Signal()
        settled = reader.drained & ~self.write.valid
        m.d.comb += self.idle.eq(resting & settled & ~tags.r_rdy)
        with m.FSM():
            with m.State("RUN"):
                m.d.comb += [
                    open_for_commands.eq(~self.flush),
                    reader.stop.eq(self.flush),
                    self.done.valid.eq(finished),
                    resting.eq(1),
                ]
                with m.If(self.flush & ~(self.done.valid & ~self.done.ready)):
                    m.next = "FLUSH"
                with m.Elif(failing):
                    m.d.sync += fault_address.eq(reader.pieces.p.piece.element_address)
                    m.next = "FAILED"
            with m.State("FAILED"):
                # Older tiles have all their data; they are completed and reported first.
                m.d.comb += [reader.stop.eq(1), self.done.valid.eq(finished)]
                with m.If(~data_pending):
                    m.next = "STOPPED"
            with m.State("STOPPED"):
                m.d.comb += [reader.stop.eq(1), clear.eq(1)]
                with m.If(settled):
                    m.next = "REPORT"
            with m.State("REPORT"):
                m.d.comb += [reader.stop.eq(1), self.done.valid.eq(1), faulty.eq(1)]
                with m.If(self.done.ready):
                    m.next = "HALT"
            with m.State("HALT"):
                m.d.comb += [reader.stop.eq(1), clear_tags.eq(1), resting.eq(1)]
                with m.If(self.flush):
                    m.next = "FLUSH"
            with m.State("FLUSH"):
                m.d.comb += [reader.stop.eq(1), clear.eq(1), clear_tags.eq(1), resting.eq(1)]
                with m.If(~self.flush & settled):
                    m.next = "RUN"
        self._take_commands(m, reader, fresh_plan, tags, open_for_commands)
        return m

    def _take_commands(self, m: Module, reader: AxiReader, plan: data.View, tags: SyncFIFO, enable: Signal) -> None:
        m.submodules.parts = parts = PartWalk(config=self._config, command=load_layout(self._config))
        wiring.connect(m, wiring.flipped(self.command), parts.command)
        command = parts.parts.p
        pitch = Signal.like(command.pitch_bytes)
        area = Signal.like(command.tile_bytes)
        one_row = Signal()
        m.d.comb += [
            pitch.eq(Mux(command.by_cells, command.row_cells << exact_log2(CELL_BYTES), command.pitch_bytes)),
            area.eq(command.valid_rows * pitch),
            # Rows without a gap in memory and in the tile are one row. Half a byte of padding is a gap.
            one_row.eq((command.stride == command.row_bytes) & (command.row_bytes == pitch) & ~command.odd_nibble),
        ]
        gap = Signal.like(pitch)
        gap_lines = Signal(GapLines)
        m.d.comb += gap.eq(pitch - command.row_bytes)
        # The pad walk has a way of its own through cells.
        with m.If(command.by_cells | one_row | (command.valid_rows == 1) | (gap < self._config.vector_bytes)):
            m.d.comb += gap_lines.eq(GapLines.NONE)
        with m.Elif(gap < 2 * self._config.vector_bytes - 1):
            m.d.comb += gap_lines.eq(GapLines.SOME)
        with m.Else():
            m.d.comb += gap_lines.eq(GapLines.ALL)
        # The plans' queues are as deep as that of the tags, which are kept longest.
        ready = reader.command.ready & tags.w_rdy & enable
        m.d.comb += parts.parts.ready.eq(ready)
        start = parts.parts.valid & ready
        m.d.comb += [
            reader.command.valid.eq(start),
            reader.command.p.base.eq(command.base),
            reader.command.p.stride.eq(command.stride),
            reader.command.p.rows.eq(Mux(one_row, 1, command.valid_rows)),
            reader.command.p.row_bytes.eq(Mux(one_row, area, command.row_bytes)),
            reader.command.p.element_shift.eq(command.element_shift),
            plan.tag.eq(command.tag),
            plan.rows.eq(command.valid_rows),
            plan.row_bytes.eq(command.row_bytes),
            plan.pitch_bytes.eq(pitch),
            plan.image_pitch.eq(command.pitch_bytes),
            plan.valid_span.eq(area - pitch + command.row_bytes),
            plan.gap_lines.eq(gap_lines),
            plan.odd_nibble.eq(command.odd_nibble),
            plan.tile_line.eq(command.tile_line),
            plan.tile_bytes.eq(command.tile_bytes),
            plan.pad_pattern.eq(command.pad_pattern),
            plan.by_cells.eq(command.by_cells),
            plan.row_cells.eq(command.row_cells),
            plan.cell_step.eq(command.cell_step),
            tags.w_en.eq(start),
            tags.w_data.eq(command.tag),
        ]

    def _write_lines(
        self, m: Module, data_lines: stream.Interface, pad_lines: stream.Interface, clear: Signal
    ) -> tuple[Value, Value]:
        """Send lines with data first, padding in between.

        Return whether the oldest tile is complete, and whether some tile has all its data but is not reported yet.
        """
        # Tiles of which each writer has written its last line; as tiles stay in order, counting is enough.
        data_ahead = Signal(range(TILES_UNDER_WAY + 1))
        pads_ahead = Signal(range(TILES_UNDER_WAY + 1))
        data_closes = Signal()
        pad_closes = Signal()
        free = ~self.write.valid | self.write.ready
        # Padding of a tile whose data is complete goes before the data of later tiles.
        pads_first = (data_ahead != 0) & (pads_ahead == 0)
        # A mark without a line must not overtake the last line of an older tile, so it waits for the same register.
        no_line = free & pad_lines.valid & pad_lines.p.absent
        use_pad = pad_lines.valid & ~pad_lines.p.absent & (pads_first | ~data_lines.valid)
        m.d.comb += [data_lines.ready.eq(free & ~use_pad), pad_lines.ready.eq((free & use_pad) | no_line)]
        with m.If(free):
            m.d.sync += [
                self.write.valid.eq((data_lines.valid | use_pad) & ~clear),
                self.write.payload.eq(Mux(use_pad, pad_lines.p.write, data_lines.p.write)),
                data_closes.eq(~use_pad & data_lines.valid & data_lines.p.closes),
                pad_closes.eq(use_pad & pad_lines.p.closes),
            ]
        written = self.write.valid & self.write.ready
        finished = (data_ahead != 0) & (pads_ahead != 0)
        reported = finished & self.done.valid & self.done.ready
        m.d.sync += [
            data_ahead.eq(data_ahead + (written & data_closes) - reported),
            pads_ahead.eq(pads_ahead + (written & pad_closes) + no_line - reported),
        ]
        with m.If(clear):
            m.d.sync += [data_ahead.eq(0), pads_ahead.eq(0)]
        return finished, data_lines.valid | (self.write.valid & data_closes) | (data_ahead != 0)
