"""Writes the rows of a tile to memory, many bursts under way."""

from amaranth.hdl import Cat, Const, Module, Mux, ResetInserter, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..axi import INCR, read_signature, write_data_layout, write_signature
from ..layouts import byte_count_bits
from .axi_reader import REFUSED
from .nibble import NibbleGate
from .pieces import PieceWalk, piece_layout
from .rows import BurstWalk, burst_layout, element_start, rows_layout

__all__ = ["AxiWriter", "write_result_layout"]

BURSTS_AHEAD = 4
"""Addresses that may be ahead of the data."""


def write_result_layout() -> data.StructLayout:
    """How a command ended; ``address`` is that of the first failing element."""
    return data.StructLayout({"fault": 1, "address": 64})


class AxiWriter(wiring.Component):
    """Send rows to memory: addresses, pieces for whoever makes the beats, and the answers; one command at a time.

    The first AW comes two cycles after the command, its first piece two cycles after it was accepted, the result the cycle
    after the last B. After a refused burst no new one is begun.

    Parameters
    ----------
    config : CoreConfig
        ``reads_outstanding`` limits the bursts under way here, too.

    Members
    -------
    command : In(stream of rows_layout(config))
        Rows to write.
    row_bytes, odd_nibble : In
        Of the command, all the time until its result.
    pieces : Out(stream of piece_layout(config))
        Wanted beats.
    beats : In(stream of write_data_layout(config))
        One for each piece.
    nibble : Out(4)
        Upper half of the last byte of the row under way, when ``odd_nibble``.
    result : Out(stream of write_result_layout())
        One a command; nothing is under way any more.
    memory : Out(write_signature(config)), nibble_memory : Out(read_signature(config))
        The port to write and the port that fetches odd nibbles.
    stop : In(1)
        Begin no new burst; the result comes when all begun ones are answered.
    """

    command: stream.Interface
    row_bytes: Signal
    odd_nibble: Signal
    pieces: stream.Interface
    beats: stream.Interface
    nibble: Signal
    result: stream.Interface
    memory: wiring.PureInterface
    nibble_memory: wiring.PureInterface
    stop: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(rows_layout(config))),
            "row_bytes": In(byte_count_bits(config)),
            "odd_nibble": In(1),
            "pieces": Out(stream.Signature(piece_layout(config))),
            "beats": In(stream.Signature(write_data_layout(config))),
            "nibble": Out(4),
            "result": Out(stream.Signature(write_result_layout())),
            "memory": Out(write_signature(config)),
            "nibble_memory": Out(read_signature(config)),
            "stop": In(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Send with one walk, follow the answers with another."""
        m = Module()
        config = self._config
        beat_bits = exact_log2(config.axi_data_bytes)
        aw, b = self.memory.aw, self.memory.b
        clear = Signal()
        sending, following = BurstWalk(config=config), BurstWalk(config=config)
        gate = NibbleGate(config=config)
        piece_walk = PieceWalk(config=config)
        layout = burst_layout(config)
        waiting = SyncFIFO(width=layout.size, depth=BURSTS_AHEAD)
        for name, part in (
            ("sending", sending), ("following", following), ("gate", gate), ("piece_walk", piece_walk), ("waiting", waiting),
        ):  # fmt: skip
            m.submodules[name] = ResetInserter(clear)(part)
        wiring.connect(m, sending.bursts, gate.i)
        wiring.connect(m, wiring.flipped(self.nibble_memory), gate.memory)
        wiring.connect(m, wiring.flipped(self.pieces), piece_walk.pieces)
        wiring.connect(m, wiring.flipped(self.memory.w), wiring.flipped(self.beats))

        outstanding = Signal(range(config.reads_outstanding + 1))
        cut = Signal()
        # The byte that could not be read is the last of its row: its row is still written, for a burst of it that fails
        # comes first.
        tentative = Signal()
        # An address that the bus has seen stays until it is taken.
        shown = Signal()
        beyond = gate.o.p.beyond
        m.d.comb += [
            aw.valid.eq(
                gate.o.valid & ~beyond & waiting.w_rdy & (outstanding != config.reads_outstanding) & (shown | ~cut)
            ),
            aw.p.id.eq(0),
            aw.p.addr.eq(Cat(Const(0, beat_bits), gate.o.p.address[beat_bits:])),
            aw.p.len.eq(gate.o.p.length),
            aw.p.size.eq(beat_bits),
            aw.p.burst.eq(INCR),
            gate.o.ready.eq(beyond | (aw.valid & aw.ready)),
            waiting.w_en.eq(aw.valid & aw.ready),
            waiting.w_data.eq(gate.o.payload),
            piece_walk.bursts.valid.eq(waiting.r_rdy),
            piece_walk.bursts.payload.eq(data.View(layout, waiting.r_data)),
            waiting.r_en.eq(piece_walk.bursts.ready),
            gate.row_bytes.eq(self.row_bytes),
            gate.odd_nibble.eq(self.odd_nibble),
            gate.quiet.eq(outstanding == 0),
            gate.stop.eq(cut | tentative),
            self.nibble.eq(gate.nibble),
        ]
        answered = b.valid & b.ready
        m.d.sync += [
            shown.eq(aw.valid & ~aw.ready),
            outstanding.eq(outstanding + (aw.valid & aw.ready) - answered),
        ]

        follow = following.bursts.p
        fault = Signal()
        fault_address = Signal(64)
        out_of_space = following.bursts.valid & follow.beyond
        ended = Signal()
        m.d.comb += [
            b.ready.eq(following.bursts.valid & ~follow.beyond),
            following.bursts.ready.eq(answered),
            cut.eq(self.stop | (fault & ~tentative)),
            ended.eq(
                (answered & follow.last)
                | out_of_space
                | (cut & (outstanding == 0) & ~aw.valid & ~gate.busy)
                | (tentative & gate.holding & (outstanding == 0))
            ),
        ]
        with m.If((answered & b.p.resp[REFUSED]) | out_of_space):
            with m.If(~fault | tentative):
                m.d.sync += [
                    fault.eq(1),
                    tentative.eq(0),
                    fault_address.eq(element_start(follow.address, follow.skew, follow.element_mask)),
                ]
        with m.Elif(gate.refused & ~fault):
            m.d.sync += [fault.eq(1), tentative.eq(1), fault_address.eq(gate.address)]

        ready = Signal()
        m.d.comb += [
            self.command.ready.eq(ready & sending.command.ready & following.command.ready),
            self.result.p.fault.eq(fault),
            self.result.p.address.eq(Mux(fault, fault_address, 0)),
        ]
        for walk in (sending, following):
            m.d.comb += [
                walk.command.valid.eq(self.command.valid & self.command.ready),
                walk.command.payload.eq(self.command.payload),
            ]
        with m.FSM():
            with m.State("REST"):
                m.d.comb += ready.eq(1)
                with m.If(self.command.valid & self.command.ready):
                    m.next = "WRITE"
            with m.State("WRITE"):
                with m.If(ended):
                    m.next = "RESULT"
            with m.State("RESULT"):
                m.d.comb += [self.result.valid.eq(1), clear.eq(1)]
                with m.If(self.result.ready):
                    m.d.sync += [fault.eq(0), tentative.eq(0)]
                    m.next = "REST"
        return m
