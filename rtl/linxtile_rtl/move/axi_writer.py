"""Writes the rows of a command to memory, many bursts under way."""

from amaranth.hdl import Cat, Const, Module, ResetInserter, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..axi import INCR, read_signature, write_data_layout, write_signature
from .answers import AnswerWalk
from .bursts import BurstCut
from .chunks import ChunkWalk, command_layout, job_layout
from .nibble import NibbleGate
from .store_pieces import StorePieces, store_piece_layout

__all__ = ["AxiWriter", "write_result_layout"]


def write_result_layout() -> data.StructLayout:
    """How a command ended; ``address`` is that of the first failing element. ``late``: it failed because no answer came."""
    return data.StructLayout({"fault": 1, "late": 1, "address": 64})


class AxiWriter(wiring.Component):
    """Send rows to memory: addresses, pieces for whoever makes the beats, and the answers; one command at a time.

    The first AW comes two cycles after the first job, its first piece two cycles after it was accepted, the result the cycle
    after the last B. A job's bursts begin while those of the jobs before it are still to be answered. A command is written to
    its end even when something fails, for a later job can fail in an earlier row.

    Parameters
    ----------
    config : CoreConfig
        ``reads_outstanding`` limits the bursts under way here, too; ``move_tiles`` the jobs.

    Members
    -------
    move : In(command_layout(config))
        What the jobs of the command have in common, from the first one until the result.
    jobs : In(stream of job_layout(config))
        Rows to write, up to the ``final`` job of a command.
    pieces : Out(stream of store_piece_layout(config))
        Wanted beats; those that are ``beyond`` are not to be made.
    beats : In(stream of write_data_layout(config))
        One for each other piece.
    nibble : Out(4)
        Upper half of the last byte of the row under way, when its piece is ``half``.
    result : Out(stream of write_result_layout())
        One a command; nothing is under way any more.
    memory : Out(write_signature(config)), nibble_memory : Out(read_signature(config))
        The port to write and the port that fetches odd nibbles.
    stop : In(1)
        Begin no new burst; the result comes when all begun ones are answered.
    waits : Out(1)
        The bus owes something. ``expired`` : In(1): it will never come; the result comes at once, and what the bus has seen
        stays.
    """

    move: data.View
    jobs: stream.Interface
    pieces: stream.Interface
    beats: stream.Interface
    nibble: Signal
    result: stream.Interface
    memory: wiring.PureInterface
    nibble_memory: wiring.PureInterface
    stop: Signal
    waits: Signal
    expired: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "move": In(command_layout(config)),
            "jobs": In(stream.Signature(job_layout(config))),
            "pieces": Out(stream.Signature(store_piece_layout(config))),
            "beats": In(stream.Signature(write_data_layout(config))),
            "nibble": Out(4),
            "result": Out(stream.Signature(write_result_layout())),
            "memory": Out(write_signature(config)),
            "nibble_memory": Out(read_signature(config)),
            "stop": In(1),
            "waits": Out(1),
            "expired": In(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Send with one walk, follow the answers with another."""
        m = Module()
        config = self._config
        clear = Signal()
        walk, cut = ChunkWalk(config=config), BurstCut(config=config)
        gate, answers = NibbleGate(config=config), AnswerWalk(config=config)
        pieces = StorePieces(config=config)
        for name, part in (
            ("walk", walk), ("cut", cut), ("gate", gate), ("answers", answers), ("piece_walk", pieces),
        ):  # fmt: skip
            m.submodules[name] = ResetInserter(clear)(part)
        wiring.connect(m, walk.chunks, cut.chunks)
        wiring.connect(m, cut.bursts, gate.i)
        wiring.connect(m, wiring.flipped(self.nibble_memory), gate.memory)
        wiring.connect(m, pieces.pieces, wiring.flipped(self.pieces))
        wiring.connect(m, wiring.flipped(self.memory.w), wiring.flipped(self.beats))
        wiring.connect(m, wiring.flipped(self.memory.b), answers.b)
        m.d.comb += [
            walk.move.eq(self.move),
            cut.element_shift.eq(self.move.element_shift),
            answers.move.eq(self.move),
            self.jobs.ready.eq(walk.jobs.ready & answers.jobs.ready),
        ]
        for user in (walk, answers):
            m.d.comb += [
                user.jobs.valid.eq(self.jobs.valid & self.jobs.ready),
                user.jobs.payload.eq(self.jobs.payload),
            ]

        under_way = Signal(range(config.reads_outstanding + 1))
        # Address and data go their own ways, for a slave may wait for the one before it takes the other. What has begun is
        # ended even when nothing new may begin.
        address_sent, data_sent, begun = Signal(), Signal(), Signal()
        address_done, data_done = Signal(), Signal()
        aw = self.memory.aw
        burst = gate.o.p
        may_pass = Signal()
        m.d.comb += [
            may_pass.eq(gate.o.valid & (under_way != config.reads_outstanding) & (begun | ~self.stop)),
            aw.valid.eq(may_pass & ~burst.beyond & ~address_sent),
            address_done.eq(burst.beyond | address_sent | aw.ready),
            data_done.eq(data_sent | pieces.bursts.ready),
            aw.p.id.eq(0),
            aw.p.addr.eq(Cat(Const(0, beat_bits := exact_log2(config.axi_data_bytes)), burst.address[beat_bits:])),
            aw.p.len.eq(burst.length),
            aw.p.size.eq(beat_bits),
            aw.p.burst.eq(INCR),
            gate.o.ready.eq(may_pass & address_done & data_done),
            pieces.bursts.valid.eq(may_pass & ~data_sent),
            pieces.bursts.payload.eq(burst),
            gate.quiet.eq(under_way == 0),
            gate.stop.eq(self.stop),
            self.nibble.eq(gate.nibble),
            answers.refused.eq(gate.refused),
            answers.refused_address.eq(gate.address),
            answers.refused_row.eq(cut.bursts.p.note.row),
        ]
        m.d.sync += [
            address_sent.eq(may_pass & address_done & ~data_done),
            data_sent.eq(may_pass & data_done & ~address_done),
            begun.eq(may_pass & ~gate.o.ready),
            under_way.eq(under_way + gate.o.ready - answers.passed),
        ]

        stopped = self.stop & (under_way == 0) & ~may_pass & ~gate.busy
        m.d.comb += [
            self.waits.eq((under_way != 0) | aw.valid | gate.busy),
            answers.expired.eq(self.expired),
            self.result.p.fault.eq(answers.fault),
            self.result.p.late.eq(answers.late),
            self.result.p.address.eq(answers.address),
        ]
        with m.FSM():
            with m.State("WRITE"):
                with m.If((answers.passed & answers.final) | stopped | self.expired):
                    m.next = "RESULT"
            with m.State("RESULT"):
                m.d.comb += [self.result.valid.eq(1), clear.eq(self.result.ready & ~self.expired)]
                with m.If(self.result.ready):
                    m.next = "WRITE"
        return m
