"""Writes the lines of loaded tiles, and tells when a tile is complete."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from linxtile.config import CoreConfig

from ..layouts import line_write_layout
from .plan import TILES_UNDER_WAY

__all__ = ["LineJoin", "tile_line_layout"]


def tile_line_layout(config: CoreConfig) -> data.StructLayout:
    """A finished line; only its first ``kept`` bytes are, the others are zero.

    ``closes`` marks the last one of its sender for this tile, ``absent`` a mark without a line.
    """
    return data.StructLayout({
        "write": line_write_layout(config),
        "kept": bits_for(config.vector_bytes),
        "closes": 1,
        "absent": 1,
    })  # fmt: skip


class LineJoin(wiring.Component):
    """Send lines with data first, padding in between; a line a cycle, each a cycle later.

    Parameters
    ----------
    config : CoreConfig
        Sizes of a line.

    Members
    -------
    data, pads : In(stream of tile_line_layout(config))
        Lines of the two writers of each tile, both tile by tile. Tiles without valid bytes have no data lines.
    write : Out(stream of line_write_layout(config))
        Lines for the tile RAM.
    head_empty : In(1)
        The oldest tile has no valid byte.
    finished : Out(1)
        All lines of the oldest tile have been accepted.
    reported : In(1)
        Go on with the next tile.
    clear : In(1)
        Forget everything but a line that the tile RAM has seen.
    """

    data: stream.Interface
    pads: stream.Interface
    write: stream.Interface
    head_empty: Signal
    finished: Signal
    reported: Signal
    clear: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "data": In(stream.Signature(tile_line_layout(config))),
            "pads": In(stream.Signature(tile_line_layout(config))),
            "write": Out(stream.Signature(line_write_layout(config))),
            "head_empty": In(1),
            "finished": Out(1),
            "reported": In(1),
            "clear": In(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Count the tiles of which each writer has written its last line; as tiles stay in order, that is enough."""
        m = Module()
        data_ahead = Signal(range(TILES_UNDER_WAY + 1))
        pads_ahead = Signal(range(TILES_UNDER_WAY + 1))
        data_closes = Signal()
        pad_closes = Signal()
        free = ~self.write.valid | self.write.ready
        has_data = self.head_empty | (data_ahead != 0)
        # Padding of a tile whose data is complete goes before the data of later tiles.
        pads_first = has_data & (pads_ahead == 0)
        # A mark without a line must not overtake the last line of an older tile, so it waits for the same register.
        no_line = free & self.pads.valid & self.pads.p.absent
        use_pad = self.pads.valid & ~self.pads.p.absent & (pads_first | ~self.data.valid)
        m.d.comb += [self.data.ready.eq(free & ~use_pad), self.pads.ready.eq((free & use_pad) | no_line)]
        chosen = Signal.like(self.data.p)
        m.d.comb += chosen.eq(Mux(use_pad, self.pads.payload, self.data.payload))
        with m.If(free):
            m.d.sync += [
                self.write.valid.eq((self.data.valid | use_pad) & ~self.clear),
                self.write.p.tag.eq(chosen.write.tag),
                self.write.p.line.eq(chosen.write.line),
                self.write.p.data.eq(
                    Cat(
                        Mux(chosen.kept > byte, chosen.write.data.word_select(byte, 8), 0)
                        for byte in range(self._config.vector_bytes)
                    )
                ),
                data_closes.eq(~use_pad & self.data.valid & self.data.p.closes),
                pad_closes.eq(use_pad & self.pads.p.closes),
            ]
        written = self.write.valid & self.write.ready
        m.d.comb += self.finished.eq(has_data & (pads_ahead != 0))
        m.d.sync += [
            data_ahead.eq(data_ahead + (written & data_closes) - (self.reported & ~self.head_empty)),
            pads_ahead.eq(pads_ahead + (written & pad_closes) + no_line - self.reported),
        ]
        with m.If(self.clear):
            m.d.sync += [data_ahead.eq(0), pads_ahead.eq(0)]
        return m
