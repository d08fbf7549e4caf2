"""The core as the simulation holds it: it also tells in which cycles a block went from one unit to the next."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data

from linxtile.config import CoreConfig
from linxtile_rtl.core import TileCore
from linxtile_rtl.layouts import BlockKind, tag_bits
from linxtile_rtl.scheduler import ENGINES

__all__ = ["NO_ENGINE", "ObservedCore", "stages_layout"]

NO_ENGINE = len(ENGINES)
"""Stands for the engine of a block that none has seen."""


def stages_layout() -> data.StructLayout:
    """Cycles in the life of a block, and where it ran.

    ``bound_at`` is the cycle in which the binder was done with the description; in ``started_at`` the engine took the command, in
    ``finished_at`` it reported. ``engine`` is a place in `ENGINES`; with `NO_ENGINE` the last two mean nothing.
    """
    return data.StructLayout({"bound_at": 32, "started_at": 32, "finished_at": 32, "engine": range(NO_ENGINE + 1)})


class ObservedCore(TileCore):
    """The core with its streams watched from outside; its own hardware is the same to the gate.

    Attributes
    ----------
    stages : Signal of stages_layout()
        Of the block whose record is on ``retire``.
    """

    def __init__(self, *, config: CoreConfig):
        super().__init__(config=config)
        self.stages = Signal(stages_layout())

    def elaborate(self, platform: object) -> Module:
        """Note the cycle of every transfer under the tag of its block."""
        m = super().elaborate(platform)
        scheduler, record = m.submodules.scheduler, self.retire.p
        commands = (scheduler.loads, scheduler.stores, scheduler.moves, scheduler.vectors)
        blocks = Signal(data.ArrayLayout(stages_layout(), self._config.blocks_in_flight))
        # Each description enters the ring once, in order; after a fault the ring goes on at the block that faulted.
        next_tag = Signal(tag_bits(self._config))
        with m.If(scheduler.description.valid & scheduler.description.ready):
            m.d.sync += [
                next_tag.eq(next_tag + 1),
                blocks[next_tag].bound_at.eq(self.cycle),
                blocks[next_tag].engine.eq(NO_ENGINE),
            ]
        with m.If(self.retire.valid & (record.kind == BlockKind.FAULT)):
            m.d.sync += next_tag.eq(record.tag)
        # An engine may take a command in the cycle in which its block is bound: these assignments have to come last.
        for engine, (command, done) in enumerate(zip(commands, scheduler.done, strict=True)):
            with m.If(command.valid & command.ready):
                m.d.sync += [blocks[command.p.tag].started_at.eq(self.cycle), blocks[command.p.tag].engine.eq(engine)]
            with m.If(done.valid & done.ready):
                m.d.sync += blocks[done.p.tag].finished_at.eq(self.cycle)
        m.d.comb += self.stages.eq(blocks[record.tag])
        return m
