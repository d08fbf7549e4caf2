"""Loads tiles from memory."""

from amaranth.hdl import Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO, SyncFIFOBuffered
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig
from linxtile.isa.faults import Rule

from ..axi import read_signature
from ..layouts import done_layout, line_write_layout, load_layout, tag_bits
from .assembler import LineAssembler
from .axi_reader import AxiReader
from .failures import FirstFailure
from .images import TileImages
from .joiner import LineJoin
from .line_turner import LineTurner
from .pads import PadWalk
from .parts import PartWalk
from .plan import TILES_UNDER_WAY, pad_plan_layout, plan_layout, plans_ahead
from .planner import LoadPlanner
from .strips import transposed_layouts

__all__ = ["LoadEngine"]


class LoadEngine(wiring.Component):
    """Load tiles in any layout; every line of the destinations is written once, whole.

    One tile alone takes max(beats, lines) + memory latency + 5 cycles from command to done, a transposed one as many more as
    its strips have rows, twice that when rows do not begin with a beat; several tiles are under way at once, those of one
    command too. After a fault the engine takes nothing more until ``flush``.

    Parameters
    ----------
    config : CoreConfig
        Everything that concerns memory and tiles.

    Members
    -------
    command : In(stream of load_layout(config))
        Loads in program order.
    done : Out(stream of done_layout(config))
        One per command, in order, after its last line was accepted; or its MEM_READ or WATCHDOG fault.
    write : Out(stream of line_write_layout(config))
        Lines for the tile RAM, in no particular order.
    memory : Out(read_signature(config))
        AR and R.
    flush : In(1)
        Drop all commands; hold it until ``idle``.
    idle : Out(1)
        No command is under way and the bus owes nothing.
    waits : Out(1)
        The bus owes a beat. ``expired`` : In(1), for good: it will never come. The engine reports WATCHDOG for the oldest
        element that is missing, unless it has a fault already, and is not idle any more.
    """

    command: stream.Interface
    done: stream.Interface
    write: stream.Interface
    memory: wiring.PureInterface
    flush: Signal
    idle: Signal
    waits: Signal
    expired: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(load_layout(config))),
            "done": Out(stream.Signature(done_layout(config))),
            "write": Out(stream.Signature(line_write_layout(config))),
            "memory": Out(read_signature(config)),
            "flush": In(1),
            "idle": Out(1),
            "waits": Out(1),
            "expired": In(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Fork each tile of a command to the reader and to its two writers; join the writers' ends."""
        m = Module()
        config = self._config
        clear = Signal()
        m.submodules.reader = reader = AxiReader(config=config)
        m.submodules.join = join = LineJoin(config=config)
        pads = PadWalk(config=config)
        parts = PartWalk(config=config)
        failures = FirstFailure(config=config)
        # What is known of each tile under way: whose it is, and whether it is the last one, or the last one with data.
        tiles = data.StructLayout({"tag": tag_bits(config), "empty": 1, "last": 1})
        reads = data.StructLayout({"tag": tag_bits(config), "ends": 1})
        tile_queue = SyncFIFO(width=tiles.size, depth=TILES_UNDER_WAY)
        read_queue = SyncFIFO(width=reads.size, depth=TILES_UNDER_WAY)
        pad_plans = SyncFIFOBuffered(width=pad_plan_layout(config).size, depth=plans_ahead(config))
        plans = SyncFIFOBuffered(width=plan_layout(config).size, depth=plans_ahead(config))
        images = TileImages(config=config)
        for name, unit in (
            ("parts", parts), ("pads", pads), ("failures", failures), ("tile_queue", tile_queue), ("read_queue", read_queue),
            ("pad_plans", pad_plans), ("plans", plans), ("images", images),
        ):  # fmt: skip
            m.submodules[name] = ResetInserter(clear)(unit)
        m.submodules.planner = planner = LoadPlanner(config=config)
        wiring.connect(m, reader.memory, wiring.flipped(self.memory))
        wiring.connect(m, wiring.flipped(self.command), parts.command)
        wiring.connect(m, join.write, wiring.flipped(self.write))
        wiring.connect(m, pads.lines, join.pads)
        wiring.connect(m, images.pads, pads.images)

        part = parts.parts.p
        enable, start, has_data = Signal(), Signal(), Signal()
        new_tile, oldest, new_read, read = Signal(tiles), Signal(tiles), Signal(reads), Signal(reads)
        # The queue of reads is as deep as that of the tiles, which are kept longer.
        room = tile_queue.w_rdy & pad_plans.w_rdy & plans.w_rdy & images.ready
        takes = enable & room & (part.empty | reader.command.ready)
        m.d.comb += [
            planner.part.eq(part),
            # Of a load that has failed only tiles without data can be left; they are dropped.
            parts.parts.ready.eq(takes | (failures.failed & part.empty)),
            start.eq(parts.parts.valid & takes),
            has_data.eq(start & ~part.empty),
            reader.command.valid.eq(parts.parts.valid & enable & room & ~part.empty),
            reader.command.payload.eq(planner.read),
            new_tile.tag.eq(part.tag),
            new_tile.empty.eq(part.empty),
            new_tile.last.eq(part.last),
            new_read.tag.eq(part.tag),
            new_read.ends.eq(part.ends_rows),
            tile_queue.w_en.eq(start),
            tile_queue.w_data.eq(new_tile),
            oldest.eq(tile_queue.r_data),
            read_queue.w_en.eq(has_data),
            read_queue.w_data.eq(new_read),
            read.eq(read_queue.r_data),
            pad_plans.w_en.eq(start),
            pad_plans.w_data.eq(planner.pads),
            pads.plan.valid.eq(pad_plans.r_rdy),
            pads.plan.payload.eq(pad_plans.r_data),
            pad_plans.r_en.eq(pads.plan.ready),
            plans.w_en.eq(has_data),
            plans.w_data.eq(planner.plan),
            images.start.eq(start),
            images.first.eq(part.first),
            # The unit that turns lines of memory does not need them.
            images.has_data.eq(~part.empty & ~planner.plan.transposed),
            images.pitch_bytes.eq(part.pitch_bytes),
            images.tile_bytes.eq(part.tile_bytes),
        ]
        self._place_data(m, reader, plans, images, join, clear)
        last_read = self._watch_failures(m, reader, failures, read)
        m.d.comb += read_queue.r_en.eq(last_read)

        faulty, reports = Signal(), Signal()
        settled = reader.drained & ~self.write.valid
        m.d.comb += [
            # Older tiles have all their data when a load has failed; they are completed and reported first.
            faulty.eq(failures.failed & tile_queue.r_rdy & (oldest.tag == failures.failed_tag)),
            self.done.valid.eq(reports & Mux(faulty, ~(parts.parts.valid & part.empty), join.finished & oldest.last)),
            self.done.p.tag.eq(oldest.tag),
            self.done.p.flags.eq(0),
            self.done.p.fault.eq(faulty),
            self.done.p.rule.eq(Mux(faulty, Mux(failures.late, Rule.WATCHDOG, Rule.MEM_READ), 0)),
            self.done.p.fault_address.eq(Mux(faulty, failures.failed_address, 0)),
            join.head_empty.eq(oldest.empty & tile_queue.r_rdy),
            join.reported.eq(reports & ~faulty & join.finished & (self.done.ready | ~oldest.last)),
            join.clear.eq(clear),
            tile_queue.r_en.eq(join.reported),
            self.idle.eq(settled & ~tile_queue.r_rdy),
        ]
        with m.FSM():
            with m.State("RUN"):
                m.d.comb += [
                    enable.eq(~self.flush & ~failures.failed),
                    reader.stop.eq(self.flush | failures.failed),
                    reports.eq(1),
                ]
                with m.If(self.flush & ~(self.done.valid & ~self.done.ready)):
                    m.next = "FLUSH"
                with m.Elif(faulty & self.done.valid & self.done.ready):
                    m.next = "HALT"
            with m.State("HALT"):
                m.d.comb += [reader.stop.eq(1), clear.eq(1)]
                with m.If(self.flush):
                    m.next = "FLUSH"
            with m.State("FLUSH"):
                m.d.comb += [reader.stop.eq(1), clear.eq(1)]
                with m.If(~self.flush & settled):
                    m.next = "RUN"
        return m

    def _place_data(
        self, m: Module, reader: AxiReader, plans: SyncFIFOBuffered, images: TileImages, join: LineJoin, clear: Signal
    ) -> None:
        """Give plans, pieces and steps to the two units that make lines of them, and take their lines tile by tile."""
        config = self._config
        layout = plan_layout(config)
        assembler = LineAssembler(config=config)
        m.submodules.assembler = ResetInserter(clear)(assembler)
        wiring.connect(m, reader.pieces, assembler.pieces)
        wiring.connect(m, images.data, assembler.images)
        first = data.View(layout, plans.r_data)
        m.d.comb += [
            assembler.plan.valid.eq(plans.r_rdy & ~first.transposed),
            assembler.plan.payload.eq(first),
            plans.r_en.eq(assembler.plan.ready & ~first.transposed),
        ]
        if not transposed_layouts(config):
            wiring.connect(m, assembler.lines, join.data)
            m.d.comb += reader.steps.ready.eq(1)
            return
        turner = LineTurner(config=config)
        turns = SyncFIFO(width=1, depth=TILES_UNDER_WAY)
        m.submodules.turner = ResetInserter(clear)(turner)
        m.submodules.turns = ResetInserter(clear)(turns)
        wiring.connect(m, reader.steps, turner.steps)
        lines = join.data
        turn_of_turner = turns.r_data[0]
        m.d.comb += [
            turner.plan.valid.eq(plans.r_rdy & first.transposed),
            turner.plan.payload.eq(first),
            plans.r_en.eq(Mux(first.transposed, turner.plan.ready, assembler.plan.ready)),
            turns.w_en.eq(plans.w_en),
            turns.w_data.eq(data.View(layout, plans.w_data).transposed),
            turns.r_en.eq(lines.valid & lines.ready & lines.p.closes),
            lines.valid.eq(turns.r_rdy & Mux(turn_of_turner, turner.lines.valid, assembler.lines.valid)),
            lines.payload.eq(Mux(turn_of_turner, turner.lines.payload, assembler.lines.payload)),
            turner.lines.ready.eq(turns.r_rdy & turn_of_turner & lines.ready),
            assembler.lines.ready.eq(turns.r_rdy & ~turn_of_turner & lines.ready),
        ]

    def _watch_failures(self, m: Module, reader: AxiReader, failures: FirstFailure, read: data.View) -> Value:
        """Show each piece and step to ``failures``; return whether it is the last one of its tile."""
        pieces, steps = reader.pieces, reader.steps
        piece, step = pieces.p.piece, steps.p.step
        last = Mux(steps.valid, step.last, piece.last)
        m.d.comb += [
            failures.taken.eq((pieces.valid & pieces.ready) | (steps.valid & steps.ready)),
            failures.error.eq(Mux(steps.valid, steps.p.error, pieces.p.error)),
            failures.rows_left.eq(Mux(steps.valid, step.rows_left, piece.rows_left)),
            failures.address.eq(Mux(steps.valid, steps.p.element_address, piece.element_address)),
            failures.ends.eq(last & read.ends),
            failures.tag.eq(read.tag),
            failures.expired.eq(self.expired),
            failures.awaited_address.eq(reader.awaited_address),
            self.waits.eq(reader.waits),
        ]
        return failures.taken & last
