"""Addresses that a load or store may touch."""

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from .geometry import DIMENSION_BITS, ROW_BYTES_BITS

__all__ = ["AddressInterval"]


class Step(enum.Enum, shape=unsigned(2)):
    """Progress of a calculation."""

    IDLE = 0
    SUM = 1
    DONE = 2


class AddressInterval(wiring.Component):
    """First and last byte of ``rows`` rows that begin ``stride`` bytes apart.

    The product of rows and stride is formed 16 bits of the stride a cycle, with one small multiplier; the answer is there
    ``axi_address_bits / 16`` (rounded up) plus two cycles after ``start``.

    Parameters
    ----------
    config : CoreConfig
        ``axi_address_bits`` bounds the addresses.

    Members
    -------
    start : In(1)
        Begin; the other inputs are there in the next cycle and hold still until ``done`` has been seen.
    base, stride, rows, row_bytes : In
        The block; ``rows`` and ``row_bytes`` at least 1.
    done : Out(1)
        The answer is there, until the next ``start``.
    low, high : Out
        First and last byte address.
    everything : Out(1)
        A negative stride, a wrapping sum or an address out of range: the block may touch any byte.
    """

    def __init__(self, *, config: CoreConfig):
        self._address_bits = config.axi_address_bits
        super().__init__({
            "start": In(1),
            "base": In(64),
            "stride": In(64),
            "rows": In(DIMENSION_BITS),
            "row_bytes": In(ROW_BYTES_BITS),
            "done": Out(1),
            "low": Out(self._address_bits),
            "high": Out(self._address_bits),
            "everything": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Add one partial product a cycle to the last byte of the first row."""
        m = Module()
        bits = self._address_bits
        parts = -(-bits // DIMENSION_BITS)
        step = Signal(Step)
        part = Signal(range(parts + 1))
        gaps = (self.rows - 1)[:DIMENSION_BITS]
        product = Signal(2 * DIMENSION_BITS)
        last = Signal(bits + DIMENSION_BITS + 1)
        m.d.sync += product.eq(gaps * self.stride.word_select(part, DIMENSION_BITS))
        with m.Switch(step):
            with m.Case(Step.SUM):
                m.d.sync += part.eq(part + 1)
                with m.Switch(part):
                    with m.Case(0):
                        m.d.sync += last.eq(self.base[:bits] + self.row_bytes - 1)
                    for number in range(1, parts + 1):
                        with m.Case(number):
                            m.d.sync += last.eq(last + (product << (DIMENSION_BITS * (number - 1))))
                with m.If(part == parts):
                    m.d.sync += step.eq(Step.DONE)
        with m.If(self.start):
            m.d.sync += [step.eq(Step.SUM), part.eq(0)]
        far = gaps.any() & self.stride[bits:].any()
        m.d.comb += [
            self.done.eq(step == Step.DONE),
            self.low.eq(self.base),
            self.high.eq(last),
            self.everything.eq(far | self.base[bits:].any() | last[bits:].any()),
        ]
        return m
