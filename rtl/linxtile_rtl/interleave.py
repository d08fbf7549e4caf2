"""Rows of tiles that lie side by side in one matrix."""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from .layouts import row_byte_bits, tag_bits

__all__ = ["RowsApart", "stride_bits", "strided_layout"]


def stride_bits(config: CoreConfig) -> int:
    """Bits of a stride that is compared, enough for the longest row of 8-byte elements; others are only called long."""
    return min(20, config.axi_address_bits)


def strided_layout(config: CoreConfig) -> data.StructLayout:
    """Rows of ``row_bytes``, ``stride`` apart, the first one at ``base``; with ``long_stride`` the stride is some longer one."""
    return data.StructLayout({
        "base": config.axi_address_bits,
        "stride": stride_bits(config),
        "long_stride": 1,
        "row_bytes": row_byte_bits(config),
    })  # fmt: skip


class RowsApart(wiring.Component):
    """Tell with which older blocks a block shares no byte because their rows interleave; never wrong when it says so.

    It says so when both strides are the same ``s``, the bases less than ``s`` apart, and the rows of the younger block begin
    and end in the gaps of the older one: with ``d`` the distance from the older base to the younger modulo ``s``,
    ``d >= older.row_bytes`` and ``d + younger.row_bytes <= s``.

    Proof: as no address wraps, each byte of the older block is ``older.base + k * s + i`` with ``0 <= i < older.row_bytes``,
    and each of the younger ``older.base + k * s + i`` with ``d <= i < d + younger.row_bytes``, for some whole ``k``. Both
    ranges of ``i`` lie inside ``0 <= i < s`` and share nothing, and a number is ``k * s + i`` in only one way, so no byte
    belongs to both.

    One block is compared a cycle: the answer is there ``blocks_in_flight`` cycles after ``start``.

    Parameters
    ----------
    config : CoreConfig
        ``blocks_in_flight`` blocks are remembered.

    Members
    -------
    rows : In(strided_layout(config))
        Of the younger block, of which no address wraps; how many rows there are does not matter. It holds still from the cycle
        after ``start`` to ``enter``.
    start : In(1)
        Compare with every block that was entered.
    done : Out(1)
        The answer is there, until the next ``start``.
    apart : Out(blocks_in_flight)
        No byte belongs to both, a bit a tag.
    enter, tag : In
        Remember ``rows`` as those of ``tag``.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "rows": In(strided_layout(config)),
            "start": In(1),
            "done": Out(1),
            "apart": Out(config.blocks_in_flight),
            "enter": In(1),
            "tag": In(tag_bits(config)),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Walk over the blocks; take the distance modulo the stride, for bases so close one conditional addition."""
        m = Module()
        bits = stride_bits(self._config)
        m.submodules.blocks = blocks = Memory(
            shape=strided_layout(self._config), depth=self._config.blocks_in_flight, init=[]
        )
        into, out = blocks.write_port(), blocks.read_port(domain="comb")
        at = Signal(tag_bits(self._config))
        rows, older = self.rows, out.data
        difference = Signal(signed(self._config.axi_address_bits + 1))
        distance = Signal(signed(bits + 2))
        negative = difference[-1]
        near, same_stride = Signal(), Signal()
        m.d.comb += [
            into.addr.eq(self.tag),
            into.data.eq(rows),
            into.en.eq(self.enter),
            out.addr.eq(at),
            difference.eq(rows.base - older.base),
            # Only then are the low bits of the difference all of it.
            near.eq(difference[bits:] == negative.replicate(len(difference) - bits)),
            distance.eq(difference[: bits + 1].as_signed() + Mux(negative, rows.stride, 0)),
            same_stride.eq((older.stride == rows.stride) & ~older.long_stride & ~rows.long_stride),
        ]
        with m.If(~self.done):
            m.d.sync += [
                self.apart.bit_select(at, 1).eq(
                    near & same_stride & (distance >= older.row_bytes) & (distance + rows.row_bytes <= rows.stride)
                ),
                at.eq(at + 1),
                self.done.eq(at == self._config.blocks_in_flight - 1),
            ]
        with m.If(self.start):
            m.d.sync += [at.eq(0), self.done.eq(0)]
        return m
