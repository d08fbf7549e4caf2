"""Order of the blocks: binder, issue queues and reorder ring in one."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from linxtile.config import CoreConfig

from .binder import Binder
from .gpr import commit_layout
from .issue import IssueQueue
from .layouts import (
    block_layout,
    done_layout,
    flags_layout,
    granule_bits,
    load_layout,
    move_layout,
    retire_layout,
    store_layout,
    vector_layout,
)
from .queues import state_layout
from .reorder import Reorder

__all__ = ["ENGINES", "Scheduler"]

ENGINES = ("load", "store", "move", "vector")
"""Order of the engines' reports."""


class Scheduler(wiring.Component):
    """In-order binding, engines in parallel, in-order commit, precise faults.

    Parameters
    ----------
    config : CoreConfig
        What the core can do.

    Members
    -------
    description : In(stream of block_layout(config))
        Blocks of the decoder.
    loads, stores, moves, vectors : Out(stream of load, store, move, vector commands)
        Commands that may start at once.
    done : In(stream of done_layout(config)).array(4)
        Reports of the engines, in the order of :data:`ENGINES`.
    retire : Out(stream of retire_layout(config))
        Records of blocks that committed, and at the end of the fault or the end of the program.
    registers : Out(stream of commit_layout())
        Commits of set-up blocks for the register file.
    restore : Out(1)
        The register file takes back what has not been committed; ``registers_busy`` : In(1) until it has.
    flush : Out(1)
        Engines drop what they have. ``idle`` : In(1): all of them are done with that.
    start : In(1)
        Leave the halted state, which is also that after reset. ``halted`` : Out(1).
    trapped : Out(1)
        A block with T in B.CATR has committed and nothing younger is bound until ``resume`` : In(1).
    committed, pointer, flags : Out
        Committed names, allocator pointer (in granules) and sticky flags.
    cycle : In(32)
        Cycle counter for the records.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "description": In(stream.Signature(block_layout(config))),
            "loads": Out(stream.Signature(load_layout(config))),
            "stores": Out(stream.Signature(store_layout(config))),
            "moves": Out(stream.Signature(move_layout(config))),
            "vectors": Out(stream.Signature(vector_layout(config))),
            "done": In(stream.Signature(done_layout(config))).array(len(ENGINES)),
            "retire": Out(stream.Signature(retire_layout(config))),
            "registers": Out(stream.Signature(commit_layout())),
            "restore": Out(1),
            "registers_busy": In(1),
            "flush": Out(1),
            "idle": In(1),
            "start": In(1),
            "halted": Out(1),
            "trapped": Out(1),
            "resume": In(1),
            "committed": Out(state_layout(config)),
            "pointer": Out(granule_bits(config)),
            "flags": Out(flags_layout()),
            "cycle": In(32),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Wire the parts."""
        m = Module()
        m.submodules.binder = binder = Binder(config=self._config)
        m.submodules.reorder = reorder = Reorder(config=self._config, engines=len(ENGINES))
        queues = []
        for name, layout in (
            ("loads", load_layout), ("stores", store_layout), ("moves", move_layout), ("vectors", vector_layout)
        ):  # fmt: skip
            m.submodules[name] = queue = IssueQueue(config=self._config, layout=layout(self._config))
            connect(m, getattr(binder, name), queue.i)
            connect(m, queue.o, flipped(getattr(self, name)))
            queues.append(queue)
        connect(m, flipped(self.description), binder.description)
        connect(m, binder.enter, reorder.enter)
        connect(m, reorder.flight, binder.flight, *(queue.flight for queue in queues))
        connect(m, reorder.commit, binder.commit)
        connect(m, reorder.retire, flipped(self.retire))
        connect(m, reorder.registers, flipped(self.registers))
        for own, done in zip(self.done, reorder.done, strict=True):
            connect(m, flipped(own), done)
        m.d.comb += [
            binder.restore.start.eq(reorder.restore.start),
            binder.restore.pointer.eq(reorder.restore.pointer),
            reorder.restore.busy.eq(binder.restore.busy | self.registers_busy),
            self.restore.eq(reorder.restore.start),
            self.flush.eq(reorder.flight.flush),
            reorder.idle.eq(self.idle),
            reorder.start.eq(self.start),
            binder.start.eq(self.start),
            self.halted.eq(reorder.halted),
            self.trapped.eq(reorder.trapped),
            binder.trapped.eq(reorder.trapped),
            reorder.resume.eq(self.resume),
            binder.resume.eq(self.resume),
            self.committed.eq(binder.committed),
            self.pointer.eq(reorder.pointer),
            self.flags.eq(reorder.flags),
            reorder.cycle.eq(self.cycle),
        ]
        return m
