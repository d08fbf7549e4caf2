"""Cuts a load of several tiles into loads of one tile each."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..layouts import byte_count_bits, line_bits, load_layout, tile_count_bits

__all__ = ["PartWalk", "part_layout"]

OF_ALL_TILES = frozenset({"row_bytes", "width", "tile_count", "tile_lines", "part_bytes"})
"""Members of a command that describe all its tiles together, or that a part has in another form."""


def part_layout(config: CoreConfig) -> data.StructLayout:
    """One tile's part of a load, with the members of that for one tile.

    ``row_bytes`` are the part's own, 0 when it is padding only (``empty``). ``element_shift`` is log2 of the element's bytes,
    0 for 4-bit types. ``first`` and ``last`` mark the first and the last part of a command, ``ends_rows`` the last one that is
    not empty.
    """
    own = {name: field.shape for name, field in load_layout(config) if name not in OF_ALL_TILES}
    return data.StructLayout({
        **own,
        "row_bytes": byte_count_bits(config),
        "width": 3,
        "element_shift": 3,
        "tile_line": line_bits(config),
        "empty": 1,
        "ends_rows": 1,
        "first": 1,
        "last": 1,
    })  # fmt: skip


class PartWalk(wiring.Component):
    """Go through the tiles of a command; a part a cycle, the first one in the cycle of the command.

    Parameters
    ----------
    config : CoreConfig
        ``move_tiles`` and ``tile_max_bytes`` matter.

    Members
    -------
    command : In(stream of load_layout(config))
        Loads; each is held until its last part has been accepted.
    parts : Out(stream of part_layout(config))
        Tiles in header order.
    """

    command: stream.Interface
    parts: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(load_layout(config))),
            "parts": Out(stream.Signature(part_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the number of the part, where its first row begins and what is left of it."""
        m = Module()
        command, part = self.command.p, self.parts.p
        number = Signal(tile_count_bits(self._config))
        next_base, base = Signal.like(command.base), Signal.like(command.base)
        next_left, left = Signal.like(command.row_bytes), Signal.like(command.row_bytes)
        less = Signal(len(left) + 1)
        first, whole, last = Signal(), Signal(), Signal()
        m.d.comb += [
            first.eq(number == 0),
            base.eq(Mux(first, command.base, next_base)),
            left.eq(Mux(first, command.row_bytes, next_left)),
            less.eq(left - command.part_bytes),
            last.eq(number + 1 == command.tile_count),
            # A single tile takes its row whole; of several the last one never has more than its share.
            whole.eq((command.tile_count == 1) | less[-1] | (less == 0)),
            self.parts.valid.eq(self.command.valid),
            self.command.ready.eq(self.parts.ready & last),
            part.base.eq(base),
            part.row_bytes.eq(Mux(whole, left, command.part_bytes)),
            part.odd_nibble.eq(command.odd_nibble & part.ends_rows),
            part.width.eq(command.width),
            part.element_shift.eq(Mux(command.width == 0, 0, command.width - 1)),
            part.tile_line.eq(command.tile_lines[number]),
            part.empty.eq(left == 0),
            part.ends_rows.eq(whole & ~part.empty),
            part.first.eq(first),
            part.last.eq(last),
        ]
        for name, _ in command.shape():
            if name not in OF_ALL_TILES | {"base", "odd_nibble"}:
                m.d.comb += part[name].eq(command[name])
        with m.If(self.parts.valid & self.parts.ready):
            m.d.sync += [
                number.eq(Mux(last, 0, number + 1)),
                next_base.eq(base + command.part_bytes),
                next_left.eq(Mux(whole, 0, less)),
            ]
        return m
