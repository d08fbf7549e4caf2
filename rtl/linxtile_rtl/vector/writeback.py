"""End of the vector pipeline: padding, flags, writes and reports."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..layouts import done_layout, flags_layout, line_bits, line_write_layout, tag_bits
from .slot import Slot

__all__ = ["WriteBack", "pending_line_layout"]


def pending_line_layout(config: CoreConfig) -> data.StructLayout:
    """What waits beside the slots for a line of results: masks of bytes, padding, and where the line goes."""
    line = config.vector_bytes
    return data.StructLayout({
        "valid": line, "image": line, "pad_pattern": 64, "shift": 2,
        "line": line_bits(config), "tag": tag_bits(config), "last": 1,
    })  # fmt: skip


class WriteBack(wiring.Component):
    """Makes lines of results, padding and zeros, writes them, and reports a block when its last line was accepted.

    Members
    -------
    enable : Out(1)
        The pipeline may go on: low while a line cannot leave.
    pending, pending_valid : In(pending_line_layout(config)), In(1)
        Goes with the request that enters the slots in this enabled cycle.
    shift : Out(2)
        log2 of the element bytes of the line that the slots show.
    value, flags : In
        Results of the slots.
    collect : In(1)
        Add ``flags`` in every enabled cycle (the slots are a tree), not only with a line of results.
    line, line_data, line_valid, line_last, tag : In
        A complete line instead, in an enabled cycle in which the slots show none.
    showing : Out(1)
        The slots show a line. ``empty`` : Out(1): none is beside the slots.
    write : Out(stream of line_write_layout(config))
        To the tile RAM.
    done : Out(stream of done_layout(config))
        One report a block.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "enable": Out(1),
            "pending": In(pending_line_layout(config)),
            "pending_valid": In(1),
            "shift": Out(2),
            "value": In(8 * config.vector_bytes),
            "flags": In(flags_layout()),
            "collect": In(1),
            "line": In(line_bits(config)),
            "line_data": In(8 * config.vector_bytes),
            "line_valid": In(1),
            "line_last": In(1),
            "tag": In(tag_bits(config)),
            "showing": Out(1),
            "empty": Out(1),
            "write": Out(stream.Signature(line_write_layout(config))),
            "done": Out(stream.Signature(done_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Delay the masks by the latency of a slot, then fill the output register."""
        m = Module()
        stages = [Signal(pending_line_layout(self._config), name=f"stage_{index}") for index in range(Slot.LATENCY)]
        stages_valid = Signal(Slot.LATENCY)
        there = Signal()
        is_last = Signal()
        last = stages[-1]

        with m.If(self.enable):
            m.d.sync += stages_valid.eq(Cat(self.pending_valid, stages_valid[:-1]))
            m.d.sync += [after.eq(before) for before, after in zip([self.pending, *stages], stages, strict=False)]
        result = Signal(8 * self._config.vector_bytes)
        for byte in range(self._config.vector_bytes):
            bits = slice(8 * byte, 8 * byte + 8)
            pad = last.pad_pattern[8 * (byte % 8) : 8 * (byte % 8) + 8]
            m.d.comb += result[bits].eq(Mux(last.valid[byte], self.value[bits], Mux(last.image[byte], pad, 0)))
        m.d.comb += [
            self.showing.eq(stages_valid[-1]),
            self.empty.eq(~stages_valid.any()),
            self.shift.eq(last.shift),
            there.eq(stages_valid[-1] | self.line_valid),
            is_last.eq(Mux(stages_valid[-1], last.last, self.line_last)),
        ]

        held = Signal()
        held_last = Signal()
        held_flags, collected = Signal(flags_layout()), Signal(flags_layout())
        all_flags = collected.as_value() | Mux(stages_valid[-1] | self.collect, self.flags.as_value(), 0)
        m.d.comb += [
            # A last line leaves only when its report has a place to go.
            self.write.valid.eq(held & ~(held_last & self.done.valid)),
            self.enable.eq(~held | (self.write.valid & self.write.ready)),
        ]
        with m.If(self.enable):
            m.d.sync += [
                held.eq(there),
                held_last.eq(there & is_last),
                collected.eq(Mux(there & is_last, 0, all_flags)),
            ]
            with m.If(there):
                m.d.sync += [
                    self.write.p.data.eq(Mux(stages_valid[-1], result, self.line_data)),
                    self.write.p.line.eq(Mux(stages_valid[-1], last.line, self.line)),
                    self.write.p.tag.eq(Mux(stages_valid[-1], last.tag, self.tag)),
                    held_flags.eq(all_flags),
                ]
        with m.If(self.done.ready):
            m.d.sync += self.done.valid.eq(0)
        with m.If(self.write.valid & self.write.ready & held_last):
            m.d.sync += [self.done.valid.eq(1), self.done.p.tag.eq(self.write.p.tag), self.done.p.flags.eq(held_flags)]
        return m
