"""Asks the tile RAM for the lines that hold valid bytes."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import byte_count_bits, line_bits

__all__ = ["LineWalk", "source_rows_layout"]


def source_rows_layout(config: CoreConfig) -> data.StructLayout:
    """Valid part of a row-major tile: ``rows`` of ``row_bytes``, ``pitch_bytes`` apart, from line ``tile_line`` on."""
    return data.StructLayout({
        "rows": 16,
        "row_bytes": byte_count_bits(config),
        "pitch_bytes": byte_count_bits(config),
        "tile_line": line_bits(config),
    })  # fmt: skip


class LineWalk(wiring.Component):
    """Ask for every line that holds a valid byte once, in ascending order; a line a cycle, a row takes at least a cycle.

    Members
    -------
    command : In(stream of source_rows_layout(config))
        A tile.
    requests : Out(stream of line numbers)
        For the tile RAM.
    """

    command: stream.Interface
    requests: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(source_rows_layout(config))),
            "requests": Out(stream.Signature(line_bits(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the line and the last line of the row; a row begins after the last line of the row before."""
        m = Module()
        bits = exact_log2(self._config.vector_bytes)
        tile = Signal(source_rows_layout(self._config))
        active = Signal()
        row_start = Signal(len(tile.pitch_bytes) + 1)
        row_last = Signal.like(row_start)
        line = Signal(len(row_start) - bits)

        last_line = row_last[bits:]
        next_start = (row_start + tile.pitch_bytes)[: len(row_start)]
        empty = Signal()
        row_done = Signal()
        m.d.comb += [
            empty.eq(line > last_line),
            self.requests.valid.eq(active & ~empty),
            self.requests.payload.eq(tile.tile_line + line),
            row_done.eq(active & (empty | (self.requests.ready & (line == last_line)))),
            self.command.ready.eq(~active),
        ]
        with m.If(self.requests.valid & self.requests.ready):
            m.d.sync += line.eq(line + 1)
        with m.If(row_done):
            next_line = next_start[bits:]
            m.d.sync += [
                line.eq(Mux(next_line > last_line, next_line, last_line + 1)),
                row_start.eq(next_start),
                row_last.eq(row_last + tile.pitch_bytes),
                tile.rows.eq(tile.rows - 1),
            ]
            with m.If(tile.rows == 1):
                m.d.sync += active.eq(0)
        with m.If(self.command.valid & self.command.ready):
            m.d.sync += [
                tile.eq(self.command.payload),
                active.eq(1),
                line.eq(0),
                row_start.eq(0),
                row_last.eq(self.command.p.row_bytes - 1),
            ]
        return m
