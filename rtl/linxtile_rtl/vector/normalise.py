"""The normaliser: shift a sum left until its leading one, or the limit of its exponent, is at the top."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

__all__ = ["Normaliser"]


class Normaliser(wiring.Component):
    """Combinational: ``shifted = value << count``, ``count`` the leading zeros of ``value | marker``.

    A one in ``marker`` stops the shift at the place where the exponent would fall below the smallest.

    Parameters
    ----------
    bits : int
        Width of the value.

    Members
    -------
    value, marker : In(bits)
    shifted : Out(bits)
    count : Out(bits_for(bits - 1))
        Undefined when both inputs are zero.
    """

    def __init__(self, *, bits: int):
        self._bits = bits
        super().__init__({
            "value": In(bits),
            "marker": In(bits),
            "shifted": Out(bits),
            "count": Out(bits_for(bits - 1)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        places = len(self.count)
        # Ones below the value fill it up to a power of two: they never come first while anything is set.
        padding = (1 << places) - self._bits
        _, count = self._leading(m, Cat(C((1 << padding) - 1, padding), self.value | self.marker))
        m.d.comb += self.count.eq(count)
        m.d.comb += self.shifted.eq(self.value << self.count)
        return m

    def _leading(self, m: Module, bits: Value) -> tuple[Value, Value]:
        """Return whether ``bits`` has a one, and the zeros above the first: a tree of halves, lower half on demand."""
        if len(bits) == 1:
            return bits, C(0, 0)
        half = len(bits) // 2
        low_any, low_count = self._leading(m, bits[:half])
        high_any, high_count = self._leading(m, bits[half:])
        any_set, count = Signal(), Signal(len(low_count) + 1)
        m.d.comb += any_set.eq(low_any | high_any)
        m.d.comb += count.eq(Mux(high_any, high_count, Cat(low_count, C(1, 1))))
        return any_set, count
