"""Reads the rows of a tile from memory, many bursts under way."""

from amaranth.hdl import Cat, Const, Module, ResetInserter, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..axi import INCR, read_signature
from .pieces import PieceWalk, piece_layout
from .rows import BurstWalk, rows_layout

__all__ = ["AxiReader", "read_piece_layout"]

COMMANDS_AHEAD = 4
"""Commands that the asking walk may be ahead of the following walk."""

REFUSED = 1
"""Bit of an AXI response that tells SLVERR and DECERR from OKAY."""


def read_piece_layout(config: CoreConfig) -> data.StructLayout:
    """A piece with the beat that holds it; ``error`` when the bus refused the beat or it may not be asked for."""
    return data.StructLayout({
        "piece": piece_layout(config),
        "data": config.axi_data_bytes * 8,
        "error": 1,
    })  # fmt: skip


class AxiReader(wiring.Component):
    """Turn rows in memory into pieces in row order; only beats that hold needed bytes are read.

    The first AR comes two cycles after the command, pieces in the cycle of their R beat. Requests of the next commands are
    made while older data still arrives.

    Parameters
    ----------
    config : CoreConfig
        ``reads_outstanding`` limits the bursts under way.

    Members
    -------
    command : In(stream of rows_layout(config))
        Rows to read.
    pieces : Out(stream of read_piece_layout(config))
        One a beat. A piece beyond the address space comes in its place and is the last of its command.
    memory : Out(read_signature(config))
        AR and R.
    stop : In(1)
        Drop all commands and discard what is still to come; hold it until ``drained``.
    drained : Out(1)
        Nothing is waiting for the bus.
    """

    command: stream.Interface
    pieces: stream.Interface
    memory: wiring.PureInterface
    stop: Signal
    drained: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(rows_layout(config))),
            "pieces": Out(stream.Signature(read_piece_layout(config))),
            "memory": Out(read_signature(config)),
            "stop": In(1),
            "drained": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Ask with one walk, follow with another; count the bursts between them."""
        m = Module()
        config = self._config
        ar, r = self.memory.ar, self.memory.r
        beat_bits = exact_log2(config.axi_data_bytes)
        clear = Signal()
        asking = BurstWalk(config=config)
        following = BurstWalk(config=config)
        piece_walk = PieceWalk(config=config)
        layout = rows_layout(config)
        waiting = SyncFIFO(width=layout.size, depth=COMMANDS_AHEAD)
        m.submodules.asking = ResetInserter(clear)(asking)
        m.submodules.following = ResetInserter(clear)(following)
        m.submodules.piece_walk = ResetInserter(clear)(piece_walk)
        m.submodules.waiting = ResetInserter(clear)(waiting)

        m.d.comb += [
            self.command.ready.eq(asking.command.ready & waiting.w_rdy & ~self.stop),
            asking.command.valid.eq(self.command.valid & waiting.w_rdy & ~self.stop),
            asking.command.payload.eq(self.command.payload),
            waiting.w_en.eq(self.command.valid & self.command.ready),
            waiting.w_data.eq(self.command.payload),
            following.command.valid.eq(waiting.r_rdy),
            following.command.payload.eq(data.View(layout, waiting.r_data)),
            waiting.r_en.eq(following.command.ready),
        ]
        wiring.connect(m, following.bursts, piece_walk.bursts)

        outstanding = Signal(range(config.reads_outstanding + 1))
        beyond = asking.bursts.p.beyond
        m.d.comb += [
            ar.valid.eq(asking.bursts.valid & ~beyond & (outstanding != config.reads_outstanding)),
            ar.p.id.eq(0),
            ar.p.addr.eq(Cat(Const(0, beat_bits), asking.bursts.p.address[beat_bits:])),
            ar.p.len.eq(asking.bursts.p.length),
            ar.p.size.eq(beat_bits),
            ar.p.burst.eq(INCR),
            asking.bursts.ready.eq(beyond | (ar.valid & ar.ready)),
        ]
        asked = ar.valid & ar.ready
        answered = r.valid & r.ready & r.p.last
        m.d.sync += outstanding.eq(outstanding + asked - answered)

        piece = piece_walk.pieces
        m.d.comb += [
            self.pieces.valid.eq(piece.valid & (piece.p.beyond | r.valid) & ~self.stop),
            self.pieces.p.piece.eq(piece.payload),
            self.pieces.p.data.eq(r.p.data),
            self.pieces.p.error.eq(piece.p.beyond | r.p.resp[REFUSED]),
            piece.ready.eq(self.pieces.ready & (piece.p.beyond | r.valid) & ~self.stop),
            r.ready.eq(self.stop | (piece.valid & ~piece.p.beyond & self.pieces.ready)),
        ]
        # A request that the bus has seen stays until it is taken, even if nobody wants the answer any more.
        m.d.comb += [
            clear.eq(self.stop & ~(ar.valid & ~ar.ready)),
            self.drained.eq((outstanding == 0) & ~asking.bursts.valid),
        ]
        return m
