"""Reads the rows of a tile from memory, many bursts under way."""

from amaranth.hdl import Cat, Const, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..axi import INCR, read_signature
from .pieces import PieceWalk, piece_layout
from .plan import plans_ahead
from .rows import BurstWalk, element_start
from .strips import StripWalk, step_layout, strips_layout, transposed_layouts

__all__ = ["AxiReader", "read_layout", "read_piece_layout", "read_step_layout"]

REFUSED = 1
"""Bit of an AXI response that tells SLVERR and DECERR from OKAY."""


def read_layout(config: CoreConfig) -> data.StructLayout:
    """Rows to read: in pieces, or with ``transposed`` in steps for squares; see :func:`~.strips.strips_layout`."""
    return data.StructLayout({**{name: field.shape for name, field in strips_layout(config)}, "transposed": 1})


def read_piece_layout(config: CoreConfig) -> data.StructLayout:
    """A piece with the beat that holds it; ``error`` when the bus refused the beat or it may not be asked for."""
    return data.StructLayout({
        "piece": piece_layout(config),
        "data": config.axi_data_bytes * 8,
        "error": 1,
    })  # fmt: skip


def read_step_layout(config: CoreConfig) -> data.StructLayout:
    """A step with its beat, if it has one; ``element_address`` and ``error`` as in a piece."""
    return data.StructLayout({
        "step": step_layout(config),
        "element_address": 64,
        "data": config.axi_data_bytes * 8,
        "error": 1,
    })  # fmt: skip


class AxiReader(wiring.Component):
    """Turn rows in memory into pieces in row order, or into steps; only beats that hold needed bytes are read.

    The first AR comes two cycles after the command, pieces and steps in the cycle of their R beat. Requests of the next
    commands are made while older data still arrives.

    Parameters
    ----------
    config : CoreConfig
        ``reads_outstanding`` limits the bursts under way; without a transposed layout there are no steps.

    Members
    -------
    command : In(stream of read_layout(config))
        Rows to read.
    pieces : Out(stream of read_piece_layout(config))
        One a beat. A piece beyond the address space comes in its place and is the last of its command.
    steps : Out(stream of read_step_layout(config))
        In the order of :class:`~.strips.StripWalk`, those beyond the address space in their place.
    memory : Out(read_signature(config))
        AR and R.
    stop : In(1)
        Drop all commands and discard what is still to come; hold it until ``drained``.
    drained : Out(1)
        Nothing is waiting for the bus.
    waits : Out(1), awaited_address : Out(64)
        The bus owes a beat; own address of its first needed element, unless ``stop``.
    """

    command: stream.Interface
    pieces: stream.Interface
    steps: stream.Interface
    memory: wiring.PureInterface
    stop: Signal
    drained: Signal
    waits: Signal
    awaited_address: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(read_layout(config))),
            "pieces": Out(stream.Signature(read_piece_layout(config))),
            "steps": Out(stream.Signature(read_step_layout(config))),
            "memory": Out(read_signature(config)),
            "stop": In(1),
            "drained": Out(1),
            "waits": Out(1),
            "awaited_address": Out(64),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Ask with one pair of walks, follow with another; count the bursts between them."""
        m = Module()
        config = self._config
        clear = Signal()
        layout = read_layout(config)
        waiting = SyncFIFO(width=layout.size, depth=plans_ahead(config))
        piece_walk = PieceWalk(config=config)
        m.submodules.waiting = ResetInserter(clear)(waiting)
        m.submodules.piece_walk = ResetInserter(clear)(piece_walk)
        accepted = self.command.valid & waiting.w_rdy & ~self.stop
        asking, asking_strips, asking_ready = self._walks(m, "asking", clear, accepted, self.command.p, 0)
        following, following_strips, waiting_ready = self._walks(
            m, "following", clear, waiting.r_rdy, data.View(layout, waiting.r_data), piece_walk.pieces.valid
        )
        m.d.comb += [
            self.command.ready.eq(asking_ready & waiting.w_rdy & ~self.stop),
            waiting.w_en.eq(self.command.valid & self.command.ready),
            waiting.w_data.eq(self.command.payload),
            waiting.r_en.eq(waiting_ready),
        ]
        wiring.connect(m, following, piece_walk.bursts)
        self._ask(m, clear, asking, asking_strips)
        self._answer(m, piece_walk.pieces, following_strips)
        return m

    def _walks(
        self, m: Module, name: str, clear: Signal, valid: Value, command: data.View, rest_busy: Value
    ) -> tuple[stream.Interface, stream.Interface, Value]:
        """Return bursts and steps of some commands, and whether the command at hand is taken.

        While one walk is busy, or ``rest_busy`` what follows its bursts, the other one gets no command.
        """
        bursts = BurstWalk(config=self._config)
        m.submodules[name] = ResetInserter(clear)(bursts)
        for member in bursts.command.p.shape().members:
            m.d.comb += bursts.command.p[member].eq(command[member])
        if not transposed_layouts(self._config):
            m.d.comb += bursts.command.valid.eq(valid)
            return bursts.bursts, stream.Signature(step_layout(self._config)).create(), bursts.command.ready
        strips = StripWalk(config=self._config)
        m.submodules[f"{name}_strips"] = ResetInserter(clear)(strips)
        for member in strips.command.p.shape().members:
            m.d.comb += strips.command.p[member].eq(command[member])
        turn_of_strips = command.transposed & ~bursts.busy & ~rest_busy
        turn_of_bursts = ~command.transposed & ~strips.busy
        m.d.comb += [
            bursts.command.valid.eq(valid & turn_of_bursts),
            strips.command.valid.eq(valid & turn_of_strips),
        ]
        ready = Mux(command.transposed, strips.command.ready & turn_of_strips, bursts.command.ready & turn_of_bursts)
        return bursts.bursts, strips.steps, ready

    def _ask(self, m: Module, clear: Signal, bursts: stream.Interface, steps: stream.Interface) -> None:
        """Send the requests of the walk whose turn it is."""
        config = self._config
        ar, r = self.memory.ar, self.memory.r
        beat_bits = exact_log2(config.axi_data_bytes)
        outstanding = Signal(range(config.reads_outstanding + 1))
        without = Mux(steps.valid, ~steps.p.beat | steps.p.beyond, bursts.p.beyond)
        address = Mux(steps.valid, steps.p.address, bursts.p.address)
        m.d.comb += [
            ar.valid.eq((bursts.valid | steps.valid) & ~without & (outstanding != config.reads_outstanding)),
            ar.p.id.eq(0),
            ar.p.addr.eq(Cat(Const(0, beat_bits), address[beat_bits:])),
            ar.p.len.eq(Mux(steps.valid, 0, bursts.p.length)),
            ar.p.size.eq(beat_bits),
            ar.p.burst.eq(INCR),
            bursts.ready.eq(without | (ar.valid & ar.ready)),
            steps.ready.eq(without | (ar.valid & ar.ready)),
        ]
        asked = ar.valid & ar.ready
        answered = r.valid & r.ready & r.p.last
        m.d.sync += outstanding.eq(outstanding + asked - answered)
        # A request that the bus has seen stays until it is taken, even if nobody wants the answer any more.
        m.d.comb += [
            clear.eq(self.stop & ~(ar.valid & ~ar.ready)),
            self.drained.eq((outstanding == 0) & ~bursts.valid & ~steps.valid),
        ]

    def _answer(self, m: Module, pieces: stream.Interface, steps: stream.Interface) -> None:
        """Give each piece and each step its beat."""
        r = self.memory.r
        piece, step = pieces.p, steps.p
        refused = r.p.resp[REFUSED]
        piece_here = (piece.beyond | r.valid) & ~self.stop
        needs_beat = step.beat & ~step.beyond
        step_here = (~needs_beat | r.valid) & ~self.stop
        step_address = element_start(step.address, step.skew, step.element_mask)
        needed = (pieces.valid & ~piece.beyond) | (steps.valid & needs_beat)
        m.d.comb += [
            self.waits.eq(Mux(self.stop, ~self.drained, needed & ~r.valid)),
            self.awaited_address.eq(Mux(steps.valid, step_address, piece.element_address)),
            self.pieces.valid.eq(pieces.valid & piece_here),
            self.pieces.p.piece.eq(piece),
            self.pieces.p.data.eq(r.p.data),
            self.pieces.p.error.eq(piece.beyond | refused),
            pieces.ready.eq(self.pieces.ready & piece_here),
            self.steps.valid.eq(steps.valid & step_here),
            self.steps.p.step.eq(step),
            self.steps.p.element_address.eq(step_address),
            self.steps.p.data.eq(r.p.data),
            self.steps.p.error.eq(step.beyond | (needs_beat & refused)),
            steps.ready.eq(self.steps.ready & step_here),
            r.ready.eq(
                self.stop
                | (pieces.valid & ~piece.beyond & self.pieces.ready)
                | (steps.valid & needs_beat & self.steps.ready)
            ),
        ]
