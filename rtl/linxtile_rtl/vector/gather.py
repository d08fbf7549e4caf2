"""Results of a row reduction as the lines of their tile."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import line_bits
from .fetch import line_count_bits
from .plan import context_layout

__all__ = ["ResultGather"]


class ResultGather(wiring.Component):
    """Puts row results side by side into lines; writes lines of padding in the cycles that results leave free.

    Members
    -------
    enable : In(1)
        Nothing happens while it is low.
    start : In(1)
        Begin the tile that ``context`` describes; ``context`` stays until the last line.
    context : In(context_layout(config))
        The block.
    value, value_valid : In(64), In(1)
        Result of the next row in the low bits; taken in every enabled cycle in which it is valid.
    line, line_data, line_valid, line_last : Out
        A line to write in this enabled cycle: number in the tile RAM, bytes, and whether it is the last one of the tile.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "enable": In(1),
            "start": In(1),
            "context": In(context_layout(config)),
            "value": In(64),
            "value_valid": In(1),
            "line": Out(line_bits(config)),
            "line_data": Out(8 * config.vector_bytes),
            "line_valid": Out(1),
            "line_last": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Collect a line of results, or write a line of padding."""
        m = Module()
        line = self._config.vector_bytes
        line_shift = exact_log2(line)
        collected = Signal(8 * line)
        place = Signal(line_shift)
        rows_left = Signal(16)
        result_line = Signal(line_bits(self._config))
        padding_line = Signal.like(result_line)
        padding_left = Signal(line_count_bits(self._config))
        lines_left = Signal.like(padding_left)

        element_bytes = Signal(4)
        end = Signal(line_shift + 1)
        with_value, padded = Signal(8 * line), Signal(8 * line)
        completes = Signal()
        pad_line = Cat(*[self.context.pad_pattern] * (line // 8))
        m.d.comb += [
            element_bytes.eq(1 << self.context.shift),
            end.eq(place + element_bytes),
            completes.eq(self.value_valid & (end[-1] | (rows_left == 1))),
            self.line_valid.eq(completes | (padding_left != 0)),
            self.line_last.eq(lines_left == 1),
            self.line.eq(Mux(completes, result_line, padding_line)),
            self.line_data.eq(Mux(completes, padded, pad_line)),
        ]
        repeated = self._repeated(m)
        for byte in range(line):
            bits = slice(8 * byte, 8 * byte + 8)
            here = (byte >= place) & (byte < end)
            lane = slice(8 * (byte % 8), 8 * (byte % 8) + 8)
            m.d.comb += [
                with_value[bits].eq(Mux(here, repeated[lane], collected[bits])),
                padded[bits].eq(Mux(byte < end, with_value[bits], pad_line[bits])),
            ]

        with m.If(self.enable):
            with m.If(self.value_valid):
                m.d.sync += [collected.eq(with_value), place.eq(end[:line_shift]), rows_left.eq(rows_left - 1)]
            with m.If(completes):
                m.d.sync += result_line.eq(result_line + 1)
            with m.Elif(padding_left != 0):
                m.d.sync += [padding_line.eq(padding_line + 1), padding_left.eq(padding_left - 1)]
            with m.If(self.line_valid):
                m.d.sync += lines_left.eq(lines_left - 1)
        with m.If(self.start):
            result_bytes = self.context.valid_rows << self.context.shift
            result_lines = ((result_bytes + (line - 1)) >> line_shift)[: len(padding_left)]
            tile_lines = self.context.destination_bytes >> line_shift
            m.d.sync += [
                place.eq(0),
                rows_left.eq(self.context.valid_rows),
                result_line.eq(self.context.destination_line),
                padding_line.eq(self.context.destination_line + result_lines),
                padding_left.eq(tile_lines - result_lines),
                lines_left.eq(tile_lines),
            ]
        return m

    def _repeated(self, m: Module) -> Signal:
        """Return the value repeated to eight bytes, so that it is at every place where it can go."""
        repeated = Signal(64)
        with m.Switch(self.context.shift):
            for shift in range(4):
                with m.Case(shift):
                    m.d.comb += repeated.eq(Cat(*[self.value[: 8 << shift]] * (8 >> shift)))
        return repeated
