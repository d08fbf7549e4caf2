"""Requests for consecutive lines of a tile."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from linxtile.config import CoreConfig

from ..layouts import line_bits

__all__ = ["LineWalk", "line_count_bits", "line_walk_layout"]


def line_count_bits(config: CoreConfig) -> int:
    """Bits of a count of lines in one tile, the largest tile included."""
    return bits_for(config.tile_max_bytes // config.vector_bytes)


def line_walk_layout(config: CoreConfig) -> data.StructLayout:
    """A run of ``count`` lines from line ``first``; ``count`` may be zero."""
    return data.StructLayout({"first": line_bits(config), "count": line_count_bits(config)})


class LineWalk(wiring.Component):
    """Asks for the lines of one run after the other, a line a cycle from the cycle after the command.

    Members
    -------
    command : In(stream of line_walk_layout(config))
        Runs; the next one is taken together with the last request of the one before.
    request : Out(stream of line numbers)
        To a read port of the tile RAM.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(line_walk_layout(config))),
            "request": Out(stream.Signature(line_bits(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Count the run down."""
        m = Module()
        run = Signal(line_walk_layout(self._config))
        m.d.comb += [
            self.request.valid.eq(run.count != 0),
            self.request.payload.eq(run.first),
            self.command.ready.eq((run.count == 0) | ((run.count == 1) & self.request.ready)),
        ]
        with m.If(self.request.valid & self.request.ready):
            m.d.sync += [run.first.eq(run.first + 1), run.count.eq(run.count - 1)]
        with m.If(self.command.valid & self.command.ready):
            m.d.sync += run.eq(self.command.payload)
        return m
