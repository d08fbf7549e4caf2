"""The adder of the float datapath: exact sums and differences, and the choices that go through it unchanged."""

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from linxtile.isa.types import DataType

from .control import LaneOperation
from .formats import exponent_bits, number_layout, significand_bits
from .normalise import Normaliser
from .rounder import exact_layout

__all__ = ["FloatAdder", "float_request_layout"]

GUARD_BITS = 3
"""Places kept below the significand: guard, round, sticky. With the larger operand normalised they make the sum exact
enough: a difference that shifts left by more than one place has operands at most one place apart, and loses nothing."""


def float_request_layout(formats: tuple[DataType, ...]) -> data.StructLayout:
    """Unpacked operands of one format (one bit of ``format``); without ``b_present`` ``a`` passes or is operated on alone."""
    return data.StructLayout({
        "a": number_layout(formats),
        "b": number_layout(formats),
        "b_present": 1,
        "operation": LaneOperation,
        "format": len(formats),
    })  # fmt: skip


class FloatAdder(wiring.Component):
    """ADD, SUB, MAX, MIN and RELU of unpacked numbers: one a cycle, exact result after :attr:`LATENCY` cycles.

    Cycle one compares and orders the operands, cycle two aligns the smaller and adds, cycle three normalises. A result
    that is one of the operands is that operand plus nothing.

    Parameters
    ----------
    formats : tuple of DataType
        Float types with fixed fields; the datapath is as wide as the widest.

    Members
    -------
    request : In(float_request_layout(formats))
        Other operations count as a pass of ``a``.
    exact : Out(exact_layout(formats))
        To be rounded.
    invalid : Out(1)
        The operation raises NV (numeric_rules.md 12).
    """

    LATENCY = 3

    def __init__(self, *, formats: tuple[DataType, ...]):
        self._formats = formats
        super().__init__({
            "request": In(float_request_layout(formats)),
            "exact": Out(exact_layout(formats)),
            "invalid": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        # What travels beside the significands through all stages.
        side_layout = data.StructLayout({
            "sign": 1,
            "exponent": exponent_bits(self._formats),
            "subtract": 1,
            "is_nan": 1,
            "is_infinite": 1,
            "invalid": 1,
            "format": len(self._formats),
        })  # fmt: skip
        ordered = Signal(side_layout, reset_less=True)
        summed = Signal(side_layout, reset_less=True)
        larger, smaller, distance = self._order(m, ordered)
        total, marker = self._add(m, ordered, summed, larger, smaller, distance)
        self._normalise(m, summed, total, marker)
        return m

    def _order(self, m: Module, side):
        """Cycle one: classes, signs, and which operand goes on."""
        a, b, operation = self.request.a, self.request.b, self.request.operation
        binary = self.request.b_present
        adds = Signal()
        selects = Signal()
        rectifies = Signal()
        m.d.comb += [
            adds.eq(binary & ((operation == LaneOperation.ADD) | (operation == LaneOperation.SUB))),
            selects.eq(binary & ((operation == LaneOperation.MAX) | (operation == LaneOperation.MIN))),
            # A negative NaN loses its sign and significand here: it is canonical all the same.
            rectifies.eq((operation == LaneOperation.RELU) & a.sign),
        ]

        a_smaller = Signal()
        a_below_b = Signal()
        m.d.comb += [
            a_smaller.eq(Cat(a.significand, a.exponent) < Cat(b.significand, b.exponent)),
            # Numeric order, minus zero below plus zero; for equal operands either answer does.
            a_below_b.eq(Mux(a.sign ^ b.sign, a.sign, a_smaller ^ a.sign)),
        ]

        take_b = Signal()
        with m.If(adds):
            m.d.comb += take_b.eq(a_smaller)
        with m.Elif(selects):
            wanted = Mux(operation == LaneOperation.MAX, a_below_b, ~a_below_b)
            m.d.comb += take_b.eq(a.is_nan | (~b.is_nan & wanted))

        b_sign = Signal()
        opposite = Signal()
        m.d.comb += b_sign.eq(b.sign ^ (operation == LaneOperation.SUB))
        m.d.comb += opposite.eq(adds & (a.sign ^ b_sign))
        inf_minus_inf = opposite & a.is_infinite & b.is_infinite

        larger = Signal(significand_bits(self._formats), reset_less=True)
        smaller = Signal.like(larger)
        distance = Signal(exponent_bits(self._formats), reset_less=True)
        m.d.sync += [
            larger.eq(Mux(take_b, b.significand, a.significand) & ~rectifies.replicate(len(larger))),
            smaller.eq(Mux(take_b, a.significand, b.significand) & adds.replicate(len(smaller))),
            distance.eq(Mux(a_smaller, b.exponent - a.exponent, a.exponent - b.exponent)),
            side.sign.eq(Mux(take_b, Mux(adds, b_sign, b.sign), a.sign) & ~rectifies),
            side.exponent.eq(Mux(take_b, b.exponent, a.exponent)),
            side.subtract.eq(opposite),
            side.is_nan.eq(Mux(adds, a.is_nan | b.is_nan | inf_minus_inf, a.is_nan & (b.is_nan | ~selects))),
            side.is_infinite.eq(
                Mux(adds, a.is_infinite | b.is_infinite, Mux(take_b, b.is_infinite, a.is_infinite)) & ~rectifies
            ),
            side.invalid.eq(a.is_signalling | ((adds | selects) & b.is_signalling) | inf_minus_inf),
            side.format.eq(self.request.format),
        ]
        return larger, smaller, distance

    def _add(self, m: Module, ordered, summed, larger, smaller, distance):
        """Cycle two: align the smaller operand, add or subtract it."""
        width = len(larger) + GUARD_BITS
        # A shift by more places than there are leaves the sticky bit alone.
        places = min(bits_for(width - 1), len(distance))
        near, far = distance[:places], distance[places:].any()
        wide = Cat(C(0, GUARD_BITS), smaller)
        lost = Cat(wide[index] & (near > index) for index in range(width))
        aligned = Signal(width)
        m.d.comb += aligned.eq(
            Mux(far, smaller.any(), (wide >> near) | lost.any()),
        )

        total = Signal(width + 1, reset_less=True)
        marker = Signal(width + 1, reset_less=True)
        negate = ordered.subtract
        m.d.sync += [
            total.eq(Cat(C(0, GUARD_BITS), larger) + (Cat(aligned, C(0, 1)) ^ negate.replicate(width + 1)) + negate),
            summed.eq(ordered),
            # The total's top place is worth one exponent more than the larger operand's leading bit.
            Cat(reversed([*marker])).eq(Cat(ordered.exponent == index for index in range(width + 1))),
        ]
        return total, marker

    def _normalise(self, m: Module, side, total, marker):
        """Cycle three: bring the leading one to the top, not beyond the smallest exponent."""
        m.submodules.normaliser = normaliser = Normaliser(bits=len(total))
        m.d.comb += [normaliser.value.eq(total), normaliser.marker.eq(marker)]
        is_zero = Signal()
        m.d.comb += is_zero.eq(total == 0)

        exact = Signal(exact_layout(self._formats), reset_less=True)
        invalid = Signal(reset_less=True)
        places = normaliser.shifted
        below = len(total) - len(exact.significand)
        m.d.sync += [
            # A sum of opposite operands that cancels is plus zero.
            exact.sign.eq(side.sign & ~(side.subtract & is_zero)),
            exact.exponent.eq(Mux(is_zero, 0, side.exponent - normaliser.count)),
            exact.significand.eq(places[below:]),
            exact.guard.eq(places[below - 1]),
            exact.sticky.eq(places[: below - 1].any()),
            exact.is_nan.eq(side.is_nan),
            exact.is_infinite.eq(side.is_infinite),
            exact.format.eq(side.format),
            invalid.eq(side.invalid),
        ]
        m.d.comb += [self.exact.eq(exact), self.invalid.eq(invalid)]
