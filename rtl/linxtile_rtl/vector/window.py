"""Rows of a tile as windows of a line that begin at the row's first element."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import byte_count_bits
from .fetch import line_count_bits

__all__ = ["WindowReader", "window_command_layout", "window_layout"]


def window_command_layout(config: CoreConfig) -> data.StructLayout:
    """Rows to cut: ``rows`` of them, ``row_bytes`` long, ``pitch_bytes`` apart, the first at the first byte of ``lines`` lines."""
    byte_count = byte_count_bits(config)
    return data.StructLayout({
        "rows": 16, "row_bytes": byte_count, "pitch_bytes": byte_count, "lines": line_count_bits(config),
    })  # fmt: skip


def window_layout(config: CoreConfig) -> data.StructLayout:
    """One window: ``data`` with the bytes that are ``present``, always the first ones."""
    return data.StructLayout({"data": 8 * config.vector_bytes, "present": config.vector_bytes})


class WindowReader(wiring.Component):
    """Cuts the rows of a tile into windows; one window or one line a cycle, whichever there are more of.

    A window may begin at any byte: the unit keeps one line and looks at the next. Latency one cycle from the window's last line.

    Members
    -------
    command : In(stream of window_command_layout(config))
        One per tile.
    lines : In(stream of lines)
        The tile's lines; exactly ``lines`` of them are taken.
    windows : Out(stream of window_layout(config))
        All windows of row 0, then those of row 1, and so on.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(window_command_layout(config))),
            "lines": In(stream.Signature(8 * config.vector_bytes)),
            "windows": Out(stream.Signature(window_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Walk the windows and the lines side by side."""
        m = Module()
        line = self._config.vector_bytes
        place_bits = exact_log2(line)
        rows = Signal(window_command_layout(self._config))
        address = Signal.like(rows.pitch_bytes)
        row_address = Signal.like(rows.pitch_bytes)
        bytes_left = Signal.like(rows.row_bytes)
        held = Signal(8 * line)
        held_valid = Signal()
        held_line = Signal(line_count_bits(self._config))
        lines_left = Signal.like(held_line)

        place = address[:place_bits]
        head_is_it = held_line + held_valid == address[place_bits:]
        window_bytes = Signal(range(line + 1))
        in_held, two_lines, there, emit, ends_row, advance = (Signal() for _ in range(6))
        next_address, next_row = Signal.like(address), Signal.like(address)
        m.d.comb += [
            window_bytes.eq(Mux(bytes_left < line, bytes_left, line)),
            ends_row.eq(bytes_left <= line),
            two_lines.eq(place + window_bytes > line),
            in_held.eq(held_valid & (held_line == address[place_bits:])),
            # A window inside one line need not wait until that line is held.
            there.eq(Mux(in_held, ~two_lines | self.lines.valid, head_is_it & self.lines.valid & ~two_lines)),
            emit.eq((rows.rows != 0) & there & (~self.windows.valid | self.windows.ready)),
            next_row.eq(row_address + rows.pitch_bytes),
            next_address.eq(Mux(ends_row, next_row, address + line)),
            # The held line is done with when the window to come begins behind it.
            advance.eq(
                (lines_left != 0)
                & (
                    ~held_valid
                    | (rows.rows == 0)
                    | (address[place_bits:] > held_line)
                    | (emit & ((next_address[place_bits:] > held_line) | (ends_row & (rows.rows == 1))))
                )
            ),
            self.lines.ready.eq(advance),
            self.command.ready.eq((rows.rows == 0) & (lines_left == 0)),
        ]
        with m.If(self.windows.ready):
            m.d.sync += self.windows.valid.eq(0)
        with m.If(emit):
            both = Cat(Mux(in_held, held, self.lines.payload), self.lines.payload)
            m.d.sync += [
                self.windows.valid.eq(1),
                self.windows.p.data.eq((both >> Cat(Const(0, 3), place))[: 8 * line]),
                self.windows.p.present.eq(Cat(window_bytes > index for index in range(line))),
                address.eq(next_address),
                bytes_left.eq(bytes_left - line),
            ]
            with m.If(ends_row):
                m.d.sync += [row_address.eq(next_row), bytes_left.eq(rows.row_bytes), rows.rows.eq(rows.rows - 1)]
        with m.If(advance & self.lines.valid):
            m.d.sync += [
                held.eq(self.lines.payload),
                held_valid.eq(1),
                held_line.eq(held_line + held_valid),
                lines_left.eq(lines_left - 1),
            ]
        with m.If(self.command.valid & self.command.ready):
            m.d.sync += [
                rows.eq(self.command.payload),
                address.eq(0),
                row_address.eq(0),
                bytes_left.eq(self.command.p.row_bytes),
                held_valid.eq(0),
                held_line.eq(0),
                lines_left.eq(self.command.p.lines),
            ]
        return m
