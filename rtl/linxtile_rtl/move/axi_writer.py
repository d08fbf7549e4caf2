"""Writes the rows of a command to memory, many bursts under way."""

from amaranth.hdl import Cat, Const, Module, Mux, ResetInserter, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..axi import INCR, read_signature, write_data_layout, write_signature
from .answers import Answers
from .bursts import BurstCut
from .chunks import ChunkWalk, command_layout, job_layout, transposes
from .nibble import NibbleGate
from .rows import element_mask, element_start
from .store_pieces import StorePieces, store_piece_layout

__all__ = ["AxiWriter", "write_result_layout"]


def write_result_layout() -> data.StructLayout:
    """How a command ended; ``address`` is that of the first failing element. ``late``: it failed because no answer came."""
    return data.StructLayout({"fault": 1, "late": 1, "address": 64})


class AxiWriter(wiring.Component):
    """Send rows to memory: addresses, pieces for whoever makes the beats, and the answers; one command at a time.

    The first AW comes a cycle after the first job (two where rows are written by blocks), its first piece the cycle after it was
    accepted, the result the cycle after the last B. A job's bursts begin while those of the jobs before it are still to be
    answered. A command is written to its end even when something fails, for a later job can fail in an earlier row. Then the
    writer asks for the jobs once more and goes through their bursts, one a cycle, to find the address of the one that failed.

    Parameters
    ----------
    config : CoreConfig
        ``reads_outstanding`` limits the bursts under way here, too.

    Members
    -------
    move : In(command_layout(config))
        What the jobs of the command have in common, from the first one until the result.
    jobs : In(stream of job_layout(config))
        Rows to write, up to the ``final`` job of a command.
    again : Out(1)
        Give the jobs of the command once more, from the first one on. ``retracing`` : Out(1): these are only looked at.
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
        Begin no new burst; the result comes when all begun ones are answered, its address means nothing.
    waits : Out(1)
        The bus owes something. ``expired`` : In(1): it will never come; the result comes at once, and what the bus has seen
        stays.
    """

    move: data.View
    jobs: stream.Interface
    again: Signal
    retracing: Signal
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
            "again": Out(1),
            "retracing": Out(1),
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
        """Send the bursts of a walk and count their answers; after a failure look for its burst in a second walk."""
        m = Module()
        config = self._config
        clear = Signal()
        walk, cut = ChunkWalk(config=config), BurstCut(config=config)
        gate, answers, pieces = NibbleGate(config=config), Answers(config=config), StorePieces(config=config)
        for name, part in (("walk", walk), ("cut", cut)):
            m.submodules[name] = ResetInserter(clear | self.again)(part)
        for name, part in (("gate", gate), ("answers", answers), ("piece_walk", pieces)):
            m.submodules[name] = ResetInserter(clear)(part)
        wiring.connect(m, wiring.flipped(self.jobs), walk.jobs)
        wiring.connect(m, walk.chunks, cut.chunks)
        wiring.connect(m, wiring.flipped(self.nibble_memory), gate.memory)
        wiring.connect(m, pieces.pieces, wiring.flipped(self.pieces))
        wiring.connect(m, wiring.flipped(self.memory.w), wiring.flipped(self.beats))
        wiring.connect(m, wiring.flipped(self.memory.b), answers.b)
        m.d.comb += [
            walk.move.eq(self.move),
            gate.quiet.eq(answers.quiet),
            gate.stop.eq(self.stop),
            answers.refused.eq(gate.refused),
            answers.expired.eq(self.expired),
            self.nibble.eq(gate.nibble),
            self.waits.eq(~answers.quiet | self.memory.aw.valid | gate.busy),
            self.result.p.fault.eq(answers.fault),
            self.result.p.late.eq(answers.late),
        ]
        may_pass = self._send(m, cut, gate, answers, pieces)
        looks = Signal()
        found = self._look(m, cut, answers, looks)

        all_sent, told = Signal(), Signal()
        with m.If(gate.o.valid & gate.o.ready & gate.o.p.chunk_end & gate.o.p.note.final):
            m.d.sync += all_sent.eq(1)
        stopped = self.stop & answers.quiet & ~may_pass & ~gate.busy
        with m.FSM():
            with m.State("WRITE"):
                with m.If((answers.passes_last & all_sent) | stopped | self.expired):
                    m.next = "RESULT"
            with m.State("RESULT"):
                with m.If(answers.fault & ~told):
                    m.d.comb += self.again.eq(1)
                    m.d.sync += self.retracing.eq(1)
                    m.next = "LOOK"
                with m.Else():
                    m.d.comb += [self.result.valid.eq(1), clear.eq(self.result.ready & ~self.expired)]
                    with m.If(self.result.ready):
                        m.next = "WRITE"
            with m.State("LOOK"):
                m.d.comb += looks.eq(1)
                with m.If(found | self.stop):
                    m.d.sync += told.eq(1)
                    m.next = "RESULT"
        with m.If(clear):
            m.d.sync += [all_sent.eq(0), told.eq(0), self.retracing.eq(0), self.result.p.address.eq(0)]
        return m

    def _send(self, m: Module, cut: BurstCut, gate: NibbleGate, answers: Answers, pieces: StorePieces) -> Value:
        """Give each burst to the bus, to ``pieces`` and to ``answers``; return whether one may begin or has begun."""
        aw, burst = self.memory.aw, gate.o.p
        # Address and data go their own ways, for a slave may wait for the one before it takes the other. What has begun is
        # ended even when nothing new may begin.
        address_shown, address_sent, data_sent = Signal(), Signal(), Signal()
        address_done, data_done = Signal(), Signal()
        may_pass = Signal()
        m.d.comb += [
            gate.i.valid.eq(cut.bursts.valid & ~self.retracing),
            gate.i.payload.eq(cut.bursts.payload),
            cut.bursts.ready.eq(gate.i.ready | answers.step),
            may_pass.eq(gate.o.valid & answers.sent.ready & (address_shown | address_sent | data_sent | ~self.stop)),
            aw.valid.eq((may_pass & ~burst.beyond & ~address_sent) | address_shown),
            address_done.eq(burst.beyond | address_sent | aw.ready),
            data_done.eq(data_sent | pieces.bursts.ready),
            aw.p.id.eq(0),
            aw.p.addr.eq(
                Cat(Const(0, beat_bits := exact_log2(self._config.axi_data_bytes)), burst.address[beat_bits:])
            ),
            aw.p.len.eq(burst.length),
            aw.p.size.eq(beat_bits),
            aw.p.burst.eq(INCR),
            gate.o.ready.eq(may_pass & address_done & data_done),
            pieces.bursts.valid.eq(may_pass & ~data_sent),
            pieces.bursts.payload.eq(burst),
            answers.sent.valid.eq(gate.o.ready),
            answers.sent.p.chunk_end.eq(burst.chunk_end),
            answers.sent.p.row_goes_on.eq(burst.note.row_goes_on),
            answers.sent.p.block_goes_on.eq(burst.note.block_goes_on),
            answers.sent.p.ends_tile.eq(burst.note.ends_tile),
            answers.sent.p.beyond.eq(burst.beyond),
        ]
        m.d.sync += [
            address_shown.eq(aw.valid & ~aw.ready),
            address_sent.eq(may_pass & address_done & ~data_done),
            data_sent.eq(may_pass & data_done & ~address_done),
        ]
        # What a dead bus has been shown stays while the walk goes on.
        held = Signal(data.StructLayout({"address": 64, "last": len(burst.last), "length": 8}))
        for name, _ in held.shape():
            with m.If(self.retracing):
                m.d.comb += gate.i.p[name].eq(held[name])
            with m.Else():
                m.d.sync += held[name].eq(cut.bursts.p[name])
        return may_pass

    def _look(self, m: Module, cut: BurstCut, answers: Answers, looks: Value) -> Value:
        """Count the bursts of the second walk and keep the element of each; return whether it is the one that failed."""
        burst, address = cut.bursts.p, self.result.p.address
        bits = len(burst.last)
        byte = Mux(answers.at_end, burst.last, burst.address[:bits])
        element = Signal(bits)
        m.d.comb += element.eq(element_start(byte, burst.skew, element_mask(self.move.element_shift)))
        steps = looks & cut.bursts.valid
        m.d.comb += [answers.restart.eq(self.again), answers.step.eq(steps)]
        with m.If(steps):
            m.d.sync += address[:bits].eq(element)
            # An element can begin in the block before.
            with m.If(element <= byte):
                m.d.sync += address[bits:].eq(burst.address[bits:])
            with m.Elif(transposes(self._config)):
                m.d.sync += address[bits:].eq(burst.address[bits:] - 1)
            # Otherwise the burst before, which is of the same row, was there, even if its own first element was not.
            with m.Elif(~answers.found):
                m.d.sync += address[bits:].eq(burst.address[bits:])
        return steps & answers.found
