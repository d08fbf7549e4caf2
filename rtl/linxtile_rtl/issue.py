"""Commands of one engine, waiting in order for the blocks they depend on."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from .reorder import flight_signature

__all__ = ["IssueQueue", "issue_layout"]


def issue_layout(config: CoreConfig, command: data.StructLayout) -> data.StructLayout:
    """A command and the older blocks it waits for, a bit a tag: until they have finished, or until they have committed.

    Bits of blocks that are not in flight, of younger blocks and of the block itself mean nothing. So a store, which
    must be the oldest block when it starts, has all bits of ``after_commit`` set.
    """
    return data.StructLayout({
        "command": command,
        "after_finish": config.blocks_in_flight,
        "after_commit": config.blocks_in_flight,
    })  # fmt: skip


class IssueQueue(wiring.Component):
    """Queue of commands; the first one leaves when nothing it waits for is left. An empty queue adds no cycle.

    What a command waits for is not counted down: it is compared with the state of the blocks in flight each cycle,
    so no event can be missed.

    Parameters
    ----------
    config : CoreConfig
        ``blocks_in_flight`` commands fit, so a queue never fills before the reorder ring.
    layout : StructLayout
        Command, with a member ``tag``.

    Members
    -------
    i : In(stream of issue_layout(config, layout))
        Commands in program order.
    o : Out(stream of layout)
        Commands to the engine.
    flight : In(flight_signature(config))
        Blocks in flight; ``flush`` empties the queue.
    """

    def __init__(self, *, config: CoreConfig, layout: data.StructLayout):
        self._config = config
        self._layout = layout
        super().__init__({
            "i": In(stream.Signature(issue_layout(config, layout))),
            "o": Out(stream.Signature(layout)),
            "flight": In(flight_signature(config)),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Show the first command; hold it back while an older block is in its way."""
        m = Module()
        depth = self._config.blocks_in_flight
        m.submodules.commands = commands = Memory(shape=self.i.p.shape(), depth=depth, init=[])
        into, out = commands.write_port(), commands.read_port(domain="comb")
        read, level = Signal(range(depth)), Signal(range(depth + 1))
        empty = level == 0

        first = Signal(self.i.p.shape())
        m.d.comb += [out.addr.eq(read), first.eq(out.data)]
        with m.If(empty):
            m.d.comb += first.eq(self.i.payload)

        flight = self.flight
        age = Signal(range(depth))
        older = Signal(depth)
        waits = Signal()
        taken, given = Signal(), Signal()
        m.d.comb += [
            age.eq(first.command.tag - flight.oldest),
            older.eq(Cat((number - flight.oldest)[: len(age)] < age for number in range(depth))),
            waits.eq((older & (first.after_commit | (first.after_finish & ~flight.finished))).any()),
            self.o.valid.eq((self.i.valid | ~empty) & ~waits & ~flight.flush),
            self.o.payload.eq(first.command),
            self.i.ready.eq(level != depth),
            taken.eq(self.i.valid & self.i.ready),
            given.eq(self.o.valid & self.o.ready),
            into.addr.eq(read + level),
            into.data.eq(self.i.payload),
            into.en.eq(taken & ~(empty & given)),
        ]
        m.d.sync += level.eq(level + taken - given)
        with m.If(given & ~empty):
            m.d.sync += read.eq(read + 1)
        with m.If(flight.flush):
            m.d.sync += level.eq(0)
        return m
