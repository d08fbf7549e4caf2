"""Blocks in flight, and their commit in program order."""

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from .gpr import commit_layout
from .layouts import (
    OPERATION_BITS,
    RULE_BITS,
    BlockKind,
    done_layout,
    flags_layout,
    granule_bits,
    retire_layout,
    tag_bits,
)
from .queues import names_layout

__all__ = ["Reorder", "commit_signature", "entry_layout", "flight_signature", "restore_signature"]


def entry_layout(config: CoreConfig) -> data.StructLayout:
    """A block as the binder enters it: what its record says, and what its commit changes.

    ``pointer`` is the allocator's pointer after the block; ``rule`` and ``word_address`` belong to ``kind`` FAULT.
    """
    return data.StructLayout({
        "kind": BlockKind,
        "operation": OPERATION_BITS,
        "block_address": 64,
        "word_address": 64,
        "rule": RULE_BITS,
        "trap_after": 1,
        "closed_at": 32,
        "register_writes": commit_layout()["count"].shape,
        "pointer": granule_bits(config),
        "names": names_layout(config),
    })  # fmt: skip


def flight_signature(config: CoreConfig) -> wiring.Signature:
    """State of the blocks in flight, a bit a tag.

    Tags are given in a circle from ``oldest`` on, the next one is ``next_tag``. ``finished`` means something only for tags in
    flight. Under ``flush`` everybody drops what he holds.
    """
    return wiring.Signature({
        "oldest": Out(tag_bits(config)),
        "next_tag": Out(tag_bits(config)),
        "in_flight": Out(config.blocks_in_flight),
        "finished": Out(config.blocks_in_flight),
        "flush": Out(1),
    })  # fmt: skip


def commit_signature(config: CoreConfig) -> wiring.Signature:
    """In a cycle with ``valid`` the block ``tag`` commits its ``names``."""
    return wiring.Signature({
        "valid": Out(1),
        "tag": Out(tag_bits(config)),
        "names": Out(names_layout(config)),
    })  # fmt: skip


def restore_signature(config: CoreConfig) -> wiring.Signature:
    """``start`` for one cycle: go back to the last commit, the allocator to ``pointer``; ``busy`` from then until it is done."""
    return wiring.Signature({
        "start": Out(1),
        "pointer": Out(granule_bits(config)),
        "busy": In(1),
    })  # fmt: skip


class State(enum.Enum, shape=unsigned(3)):
    """What the commit is doing."""

    HALTED = 0
    RUN = 1
    FLUSH = 2
    RESTORE = 3
    RECORD = 4
    """The state of the last commit is being restored; then the fault record follows."""


class Reorder(wiring.Component):
    """Ring of the blocks in flight; the oldest one commits when it has finished.

    A block that has been reported finished commits in the next cycle, and its record is valid in the one after; a block a
    cycle can commit. A fault of the oldest block discards everything younger and halts the core; so does the end of the
    program. The core is halted after reset.

    Parameters
    ----------
    config : CoreConfig
        ``blocks_in_flight`` is the length of the ring.
    engines : int
        Engines that report.

    Members
    -------
    enter : In(stream of entry_layout(config))
        Blocks in program order; a block gets the tag ``flight.next_tag``. Blocks other than TILE are finished at once.
    done : In(stream of done_layout(config)).array(engines)
        Reports of the engines, each in the order of its commands; always taken at once.
    flight : Out(flight_signature(config))
        State of the blocks, for binder and issue queues.
    commit : Out(commit_signature(config))
        Commits, for the names.
    registers : Out(stream of commit_layout())
        Commits of set-up blocks, for the register file, which takes them at once.
    retire : Out(stream of retire_layout(config))
        Records; the next commit waits until this one has been taken. ``retired_at`` is the first cycle of the record.
    flags, pointer : Out
        Committed sticky flags and allocator pointer.
    idle : In(1)
        All engines are idle; looked at from the second cycle of a flush on.
    restore : Out(restore_signature(config))
        Restore of names, allocator and registers after a fault.
    start : In(1)
        Leave the halted state. ``halted`` : Out(1): nothing in flight, the last record taken.
    trapped : Out(1)
        A block with T in B.CATR has committed; ``resume`` : In(1) ends it.
    cycle : In(32)
        Cycle counter.
    """

    def __init__(self, *, config: CoreConfig, engines: int = 3):
        self._config = config
        super().__init__({
            "enter": In(stream.Signature(entry_layout(config))),
            "done": In(stream.Signature(done_layout(config))).array(engines),
            "flight": Out(flight_signature(config)),
            "commit": Out(commit_signature(config)),
            "registers": Out(stream.Signature(commit_layout())),
            "retire": Out(stream.Signature(retire_layout(config))),
            "flags": Out(flags_layout()),
            "pointer": Out(granule_bits(config)),
            "idle": In(1),
            "restore": Out(restore_signature(config)),
            "start": In(1),
            "halted": Out(1),
            "trapped": Out(1),
            "resume": In(1),
            "cycle": In(32),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Enter at the tail, commit at the head."""
        m = Module()
        flight, record = self.flight, self.retire.p
        m.submodules.entries = entries = Memory(
            shape=entry_layout(self._config), depth=self._config.blocks_in_flight, init=[]
        )
        into, out = entries.write_port(), entries.read_port(domain="comb")
        entry = out.data
        state = Signal(State)
        entered, advance = Signal(), Signal()
        m.d.comb += [
            into.addr.eq(flight.next_tag),
            into.data.eq(self.enter.payload),
            into.en.eq(entered),
            out.addr.eq(flight.oldest),
            self.enter.ready.eq(~flight.in_flight.bit_select(flight.next_tag, 1) & (state == State.RUN)),
            entered.eq(self.enter.valid & self.enter.ready),
        ]
        faulted, flags, fault_rule, fault_address = self._reports(m, entered)

        ready, fault = Signal(), Signal()
        m.d.comb += [
            ready.eq(
                flight.in_flight.bit_select(flight.oldest, 1)
                & flight.finished.bit_select(flight.oldest, 1)
                & (~self.retire.valid | self.retire.ready)
                & (state == State.RUN)
            ),
            fault.eq((entry.kind == BlockKind.FAULT) | faulted),
            advance.eq(ready & ~fault),
            self.commit.valid.eq(advance),
            self.commit.tag.eq(flight.oldest),
            self.commit.names.eq(entry.names),
            self.registers.valid.eq(advance & (entry.kind == BlockKind.SETUP)),
            self.registers.p.count.eq(entry.register_writes),
            self.restore.pointer.eq(self.pointer),
            self.restore.start.eq(state == State.RESTORE),
            flight.flush.eq((state == State.FLUSH) | (state == State.RESTORE)),
            self.halted.eq((state == State.HALTED) & ~self.retire.valid),
        ]
        with m.If(entered):
            m.d.sync += [
                flight.next_tag.eq(flight.next_tag + 1),
                flight.in_flight.bit_select(flight.next_tag, 1).eq(1),
            ]
        with m.If(self.retire.ready):
            m.d.sync += self.retire.valid.eq(0)
        with m.If(self.resume):
            m.d.sync += self.trapped.eq(0)
        with m.If(advance):
            m.d.sync += [
                flight.oldest.eq(flight.oldest + 1),
                flight.in_flight.bit_select(flight.oldest, 1).eq(0),
                self.pointer.eq(entry.pointer),
                self.flags.eq(self.flags.as_value() | flags),
                self.trapped.eq(entry.trap_after),
                self.retire.valid.eq(1),
            ]

        flushed = Signal()
        m.d.sync += flushed.eq(state == State.FLUSH)
        with m.Switch(state):
            with m.Case(State.HALTED):
                with m.If(self.start):
                    m.d.sync += state.eq(State.RUN)
            with m.Case(State.RUN):
                with m.If(ready & fault):
                    m.d.sync += state.eq(State.FLUSH)
                with m.If(advance & (entry.kind == BlockKind.FINISH)):
                    m.d.sync += state.eq(State.HALTED)
            with m.Case(State.FLUSH):
                with m.If(flushed & self.idle):
                    m.d.sync += state.eq(State.RESTORE)
            with m.Case(State.RESTORE):
                m.d.sync += state.eq(State.RECORD)
            with m.Case(State.RECORD):
                with m.If(~self.restore.busy):
                    m.d.sync += [
                        self.retire.valid.eq(1),
                        flight.in_flight.eq(0),
                        flight.next_tag.eq(flight.oldest),
                        state.eq(State.HALTED),
                    ]

        with m.If(advance | (state == State.RECORD)):
            of_header = entry.kind == BlockKind.FAULT
            m.d.sync += [
                record.kind.eq(Mux(fault, BlockKind.FAULT, entry.kind)),
                record.tag.eq(flight.oldest),
                record.operation.eq(entry.operation),
                record.block_address.eq(entry.block_address),
                record.word_address.eq(Mux(of_header, entry.word_address, entry.block_address)),
                record.rule.eq(Mux(of_header, entry.rule, Mux(fault, fault_rule, 0))),
                record.fault_address.eq(Mux(fault & ~of_header, fault_address, 0)),
                record.flags.eq(Mux(fault, 0, flags)),
                record.trap_after.eq(entry.trap_after & ~fault),
                record.closed_at.eq(entry.closed_at),
                record.retired_at.eq(self.cycle + 1),
            ]
        return m

    def _reports(self, m: Module, entered: Signal) -> tuple[Signal, Signal, Signal, Signal]:
        """Collect the reports; return fault bit, flags, fault rule and address of the oldest block.

        Engines report in program order and stop at a fault of the oldest block, so the first fault that an engine reports
        is the only one of its that can become a record: one rule and address an engine are enough.
        """
        flight = self.flight
        faults = Signal(self._config.blocks_in_flight)
        flags = Signal(data.ArrayLayout(flags_layout(), self._config.blocks_in_flight))
        faulted, rule, address = Signal(), Signal(RULE_BITS), Signal(64)
        m.d.comb += faulted.eq(faults.bit_select(flight.oldest, 1))
        with m.If(entered):
            m.d.sync += [
                flight.finished.bit_select(flight.next_tag, 1).eq(self.enter.p.kind != BlockKind.TILE),
                faults.bit_select(flight.next_tag, 1).eq(0),
                flags[flight.next_tag].eq(0),
            ]
        for number, done in enumerate(self.done):
            first = Signal(
                data.StructLayout({"held": 1, "report": done_layout(self._config)}), name=f"first_fault_{number}"
            )
            m.d.comb += done.ready.eq(1)
            with m.If(done.valid):
                m.d.sync += [
                    flight.finished.bit_select(done.p.tag, 1).eq(1),
                    faults.bit_select(done.p.tag, 1).eq(done.p.fault),
                    flags[done.p.tag].eq(done.p.flags),
                ]
                with m.If(done.p.fault & ~first.held):
                    m.d.sync += [first.held.eq(1), first.report.eq(done.payload)]
            with m.If(first.held & (first.report.tag == flight.oldest)):
                m.d.comb += [rule.eq(first.report.rule), address.eq(first.report.fault_address)]
            with m.If(self.start):
                m.d.sync += first.held.eq(0)
        return faulted, flags[flight.oldest].as_value(), rule, address
