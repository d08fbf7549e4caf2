"""General registers: written by set-up words as they are decoded, made permanent by commits, taken back by a restore."""

from amaranth import Module, Mux, Signal
from amaranth.hdl import unsigned
from amaranth.lib import data, enum, memory, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from linxtile.config import CoreConfig
from linxtile.isa.codes import REGISTER_BITS, REGISTER_COUNT
from linxtile.isa.faults import SETUP_WRITE_LIMIT

__all__ = ["INDEX_BITS", "GprFile", "commit_layout", "write_layout"]

INDEX_BITS = bits_for(REGISTER_COUNT - 1)
"""Bits of a register number."""


def write_layout() -> data.StructLayout:
    """One register write of a set-up word: register ``index``, 1 or above, and its new ``value``."""
    return data.StructLayout({"index": INDEX_BITS, "value": REGISTER_BITS})


def commit_layout() -> data.StructLayout:
    """A set-up block commits: the oldest ``count`` writes become permanent."""
    return data.StructLayout({"count": bits_for(SETUP_WRITE_LIMIT)})


class Walk(enum.Enum, shape=unsigned(2)):
    """What has the write port of the registers."""

    CLEAR = 0
    """All registers are being set to zero."""
    DECODE = 1
    UNDO_READ = 2
    """The youngest write that has not been committed is being looked up."""
    UNDO_WRITE = 3
    """Its register gets the old value back."""


class GprFile(wiring.Component):
    """Register file with an undo log.

    Holds the values as the program order at decode sees them; the log remembers what each write that has not been committed
    replaced. So a commit is one step and costs no second copy of the registers, and a restore walks back through the log,
    two cycles a write. The file is ``busy`` while it walks and for 32 cycles after reset; it does not take writes then.

    Parameters
    ----------
    config : CoreConfig
        ``register_log`` writes can be on their way between decode and commit.

    Members
    -------
    read_index, read_data : In / Out, two of each
        Values for the decoder in the same cycle; register 0 reads as zero. A write is seen from the next cycle on.
    write : In(stream of write_layout())
        Set-up words in program order; stalls while the log is full.
    commit : In(stream of commit_layout())
        Commits in program order, always taken at once; ``count`` is at most the number of writes in the log.
    restore : In(1)
        Take back every write that has not been committed, one of that very cycle included. One cycle is enough.
    clear : In(1)
        Set all registers to zero and empty the log.
    busy : Out(1)
        A restore or clear is under way.
    host_index, host_write, host_write_data, host_read_data
        Port of the host, for use while no block is in flight and the file is not busy; reads answer in the same cycle.
    """

    def __init__(self, config: CoreConfig):
        self._log_depth = config.register_log
        super().__init__({
            "read_index": In(INDEX_BITS).array(2),
            "read_data": Out(REGISTER_BITS).array(2),
            "write": In(stream.Signature(write_layout())),
            "commit": In(stream.Signature(commit_layout())),
            "restore": In(1),
            "clear": In(1),
            "busy": Out(1),
            "host_index": In(INDEX_BITS),
            "host_write": In(1),
            "host_write_data": In(REGISTER_BITS),
            "host_read_data": Out(REGISTER_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.registers = registers = memory.Memory(shape=REGISTER_BITS, depth=1 << INDEX_BITS, init=[])
        m.submodules.log = log = memory.Memory(shape=write_layout(), depth=self._log_depth, init=[])

        for index, value in zip(self.read_index, self.read_data, strict=True):
            port = registers.read_port(domain="comb")
            m.d.comb += [port.addr.eq(index), value.eq(port.data)]

        # The third read port serves the log, which is filled by set-up words, or the host, which waits until there are none.
        old = registers.read_port(domain="comb")
        m.d.comb += [
            old.addr.eq(self.write.p.index),
            self.host_read_data.eq(old.data),
        ]
        with m.If(~self.write.valid):
            m.d.comb += old.addr.eq(self.host_index)

        into = registers.write_port()
        record = log.write_port()
        undo = log.read_port(transparent_for=(record,))
        walk = Signal(Walk)
        head = Signal(range(self._log_depth))
        level = Signal(range(self._log_depth + 1))
        cleared = Signal(INDEX_BITS)
        accept = Signal()
        count = Signal(commit_layout()["count"].shape)
        m.d.comb += [
            self.busy.eq((walk != Walk.DECODE) | self.restore | self.clear),
            self.write.ready.eq((walk == Walk.DECODE) & (level != self._log_depth)),
            self.commit.ready.eq(1),
            accept.eq(self.write.valid & self.write.ready),
            count.eq(Mux(self.commit.valid, self.commit.p.count, 0)),
            record.addr.eq(head),
            record.data.index.eq(self.write.p.index),
            record.data.value.eq(old.data),
            record.en.eq(accept),
            undo.addr.eq(head - 1),
            undo.en.eq(1),
        ]  # fmt: skip

        with m.Switch(walk):
            with m.Case(Walk.CLEAR):
                m.d.comb += [into.addr.eq(cleared), into.en.eq(1)]
                m.d.sync += [head.eq(0), level.eq(0), cleared.eq(cleared + 1)]
                with m.If(cleared.all()):
                    m.d.sync += walk.eq(Walk.DECODE)
            with m.Case(Walk.DECODE):
                m.d.comb += [
                    into.addr.eq(self.write.p.index),
                    into.data.eq(self.write.p.value),
                    into.en.eq(accept),
                ]
                with m.If(self.host_write & self.host_index.any()):
                    m.d.comb += [into.addr.eq(self.host_index), into.data.eq(self.host_write_data), into.en.eq(1)]
                m.d.sync += [head.eq(head + accept), level.eq(level + accept - count)]
                with m.If(self.restore):
                    m.d.sync += walk.eq(Walk.UNDO_READ)
            with m.Case(Walk.UNDO_READ):
                # A commit of the cycle before the restore has been counted by now.
                m.d.sync += walk.eq(Walk.UNDO_WRITE)
                with m.If(level == 0):
                    m.d.sync += walk.eq(Walk.DECODE)
            with m.Case(Walk.UNDO_WRITE):
                m.d.comb += [into.addr.eq(undo.data.index), into.data.eq(undo.data.value), into.en.eq(1)]
                m.d.sync += [head.eq(head - 1), level.eq(level - 1), walk.eq(Walk.UNDO_READ)]
        with m.If(self.clear):
            m.d.sync += [walk.eq(Walk.CLEAR), cleared.eq(0)]
        return m
