"""Walk over the rows of a tile in memory, cut into bursts.

The same walk serves the load engine twice: once to ask the bus, once to follow its answers, so that nothing has to be
remembered per burst.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from linxtile.config import CoreConfig

from ..axi import burst_bytes
from ..layouts import byte_count_bits

__all__ = ["BurstWalk", "burst_layout", "element_mask", "element_start", "rows_layout"]

SKEW_BITS = 3
"""Bits of an address that an element of up to 8 bytes can be off its row's start."""


def rows_layout(config: CoreConfig) -> data.StructLayout:
    """Rows in memory: ``rows`` (at least 1) of ``row_bytes`` (at least 1), ``stride`` apart modulo ``2**64``."""
    return data.StructLayout({
        "base": 64,
        "stride": 64,
        "rows": 16,
        "row_bytes": byte_count_bits(config),
        "element_shift": 3,
    })  # fmt: skip


def burst_layout(config: CoreConfig) -> data.StructLayout:
    """Part of a row that one burst carries.

    ``address`` is its first needed byte, ``bytes`` how many follow, ``length`` AXI's beats minus one. ``skew`` and
    ``element_mask`` find the element that a byte belongs to, see :func:`element_start`. ``beyond`` marks an address at or
    above ``2**axi_address_bits``: no access, and the last burst of its command. ``row_end`` and ``last`` (of the
    command) say where the part lies, ``rows_left`` how many rows follow, its own included.
    """
    return data.StructLayout({
        "address": 64,
        "bytes": bits_for(burst_bytes(config)),
        "length": 8,
        "skew": SKEW_BITS,
        "element_mask": SKEW_BITS,
        "rows_left": 16,
        "row_end": 1,
        "last": 1,
        "beyond": 1,
    })  # fmt: skip


def element_mask(element_shift: Value) -> Value:
    """Return which bits of an address tell the bytes of an element apart; ``element_shift`` is log2 of its bytes."""
    return Cat(element_shift > bit for bit in range(SKEW_BITS))


def element_start(address: Value, skew: Value, element_mask: Value) -> Value:
    """Return the address of the element that holds the byte at ``address``; ``skew`` are the low bits of its row's start."""
    return (address - ((address[:SKEW_BITS] - skew)[:SKEW_BITS] & element_mask))[: len(address)]


class BurstWalk(wiring.Component):
    """Cut rows into bursts that lie in one row and one naturally aligned block of :func:`burst_bytes`.

    A burst a cycle; the first two cycles after its command. The next command is taken without a pause.

    Parameters
    ----------
    config : CoreConfig
        ``axi_data_bytes``, ``axi_address_bits`` and ``tile_max_bytes`` matter.

    Members
    -------
    command : In(stream of rows_layout(config))
        Rows to walk.
    bursts : Out(stream of burst_layout(config))
        Row by row, by ascending address inside a row; ends with ``last``.
    busy : Out(1)
        Bursts follow.
    """

    command: stream.Interface
    bursts: stream.Interface
    busy: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(rows_layout(config))),
            "bursts": Out(stream.Signature(burst_layout(config))),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep address and bytes left of the row; step when the output register is free."""
        m = Module()
        block_bytes = burst_bytes(self._config)
        block_bits = exact_log2(block_bytes)
        beat_bits = exact_log2(self._config.axi_data_bytes)

        walk = Signal(rows_layout(self._config))
        active = Signal()
        address = Signal(64)
        row_address = Signal(64)
        left = Signal.like(walk.row_bytes)

        reach = Signal(len(left) + 1)
        row_end = Signal()
        count = Signal(block_bits + 1)
        beyond = Signal()
        last = Signal()
        m.d.comb += [
            # What is left of the row, counted from the beginning of the block.
            reach.eq(address[:block_bits] + left),
            row_end.eq(reach <= block_bytes),
            count.eq(Mux(row_end, left, block_bytes - address[:block_bits])),
            beyond.eq(address[self._config.axi_address_bits :].any()),
            last.eq(beyond | (row_end & (walk.rows == 1))),
            self.busy.eq(active | self.bursts.valid),
        ]

        free = ~self.bursts.valid | self.bursts.ready
        with m.If(free):
            m.d.sync += [
                self.bursts.valid.eq(active),
                self.bursts.p.address.eq(address),
                self.bursts.p.bytes.eq(count),
                self.bursts.p.length.eq((address[:beat_bits] + count - 1) >> beat_bits),
                self.bursts.p.skew.eq(row_address[:SKEW_BITS]),
                self.bursts.p.element_mask.eq(element_mask(walk.element_shift)),
                self.bursts.p.rows_left.eq(walk.rows),
                self.bursts.p.row_end.eq(row_end),
                self.bursts.p.last.eq(last),
                self.bursts.p.beyond.eq(beyond),
            ]
        # One sum serves for the next row and for the next block.
        origin, step, next_address = Signal(64), Signal(64), Signal(64)
        starts = self.command.valid & self.command.ready
        steps = free & active
        m.d.comb += [
            origin.eq(Mux(row_end, row_address, Cat(Const(0, block_bits), address[block_bits:]))),
            step.eq(Mux(row_end, walk.stride, block_bytes)),
            next_address.eq(Mux(starts, self.command.p.base, origin + step)),
            self.command.ready.eq(~active | (free & last)),
        ]
        with m.If(starts | steps):
            m.d.sync += address.eq(next_address)
        with m.If(starts | (steps & row_end)):
            m.d.sync += row_address.eq(next_address)
        with m.If(steps):
            m.d.sync += [
                left.eq(Mux(row_end, walk.row_bytes, reach - block_bytes)),
                walk.rows.eq(walk.rows - row_end),
                active.eq(~last),
            ]
        with m.If(starts):
            m.d.sync += [walk.eq(self.command.payload), active.eq(1), left.eq(self.command.p.row_bytes)]
        return m
