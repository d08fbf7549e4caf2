"""The rounder: from an exact result to the bits of an element. The only unit that rounds, overflows and packs floats."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import DataType

from .formats import exponent_bits, significand_bits

__all__ = ["Round", "Rounder", "exact_layout"]


class Round(enum.Enum, shape=unsigned(3)):
    """Rounding modes: the codes of :class:`linxtile.isa.codes.RoundingMode`; NONE is RNE, the default of arithmetic."""

    NONE = RoundingMode.NONE.value
    RNE = RoundingMode.RNE.value
    RTZ = RoundingMode.RTZ.value
    RDN = RoundingMode.RDN.value
    RUP = RoundingMode.RUP.value
    RNA = RoundingMode.RNA.value
    RTO = RoundingMode.RTO.value
    RHB = RoundingMode.RHB.value


def exact_layout(formats: tuple[DataType, ...]) -> data.StructLayout:
    """An exact result, to be rounded to one of the formats.

    ``significand`` is left-aligned; its top bit is 1, or 0 when the result is below the smallest normal number. ``guard``
    is the next bit, ``sticky`` tells whether anything follows. ``exponent`` counts from the format's smallest: it is 0
    for subnormals and for the lowest binade, whose exponent field is 1. ``is_nan`` wins over ``is_infinite``.
    """
    return data.StructLayout({
        "sign": 1,
        "exponent": exponent_bits(formats) + 1,
        "significand": significand_bits(formats),
        "guard": 1,
        "sticky": 1,
        "is_nan": 1,
        "is_infinite": 1,
        "format": len(formats),
    })  # fmt: skip


class Rounder(wiring.Component):
    """Combinational rounder and packer.

    Parameters
    ----------
    formats : tuple of DataType
        Float types with fixed fields.

    Members
    -------
    exact : In(exact_layout(formats))
        Exact result, with one bit of ``format`` set.
    mode : In(Round)
        Rounding mode.
    code : Out
        The element in the low bits, zeros above; as wide as the widest format.
    overflow : Out(1)
        A finite result exceeds the largest finite value after rounding. The code is then infinity or the largest finite
        value as the mode says, in a format without infinity its NaN or the largest finite value.
    """

    def __init__(self, *, formats: tuple[DataType, ...]):
        self._formats = formats
        super().__init__({
            "exact": In(exact_layout(formats)),
            "mode": In(Round),
            "code": Out(max(row.storage_bits for row in formats)),
            "overflow": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        exact = self.exact
        width = significand_bits(self._formats)
        tail = Cat(exact.sticky, exact.guard, exact.significand)

        guard, sticky, last = Signal(), Signal(), Signal()
        discarded = Signal(width)
        for index, row in enumerate(self._formats):
            dropped = width - 1 - row.mantissa_bits
            with m.If(exact.format[index]):
                m.d.comb += [
                    guard.eq(tail[dropped + 1]),
                    sticky.eq(tail[: dropped + 1].any()),
                    last.eq(tail[dropped + 2]),
                    discarded.eq((1 << dropped) - 1),
                ]

        inexact = Signal()
        increment = Signal()
        m.d.comb += inexact.eq(guard | sticky)
        with m.Switch(self.mode):
            with m.Case(Round.NONE, Round.RNE):
                m.d.comb += increment.eq(guard & (sticky | last))
            with m.Case(Round.RTZ):
                m.d.comb += increment.eq(0)
            with m.Case(Round.RDN):
                m.d.comb += increment.eq(inexact & exact.sign)
            with m.Case(Round.RUP):
                m.d.comb += increment.eq(inexact & ~exact.sign)
            with m.Case(Round.RNA):
                m.d.comb += increment.eq(guard)
            with m.Case(Round.RTO):
                # An even last bit plus one is the odd neighbour; an odd one stays.
                m.d.comb += increment.eq(inexact & ~last)
            with m.Case(Round.RHB):
                m.d.comb += increment.eq(guard & (sticky | ~exact.sign))

        # Discarded bits are set, so that one carry into the lowest bit reaches the last place of any format. The
        # leading bit adds one to the exponent: that turns the count from the smallest exponent into the field.
        magnitude = Signal(len(exact.exponent) + width)
        m.d.comb += magnitude.eq(
            Cat(exact.significand[:-1] | discarded[:-1], exact.exponent)
            + Cat(C(0, width - 1), exact.significand[-1])
            + increment
        )

        # Where the mode rounds away from zero beyond the largest finite value.
        to_infinity = Signal()
        with m.Switch(self.mode):
            with m.Case(Round.RTZ, Round.RTO):
                m.d.comb += to_infinity.eq(0)
            with m.Case(Round.RDN):
                m.d.comb += to_infinity.eq(exact.sign)
            with m.Case(Round.RUP):
                m.d.comb += to_infinity.eq(~exact.sign)
            with m.Default():
                m.d.comb += to_infinity.eq(1)

        for index, row in enumerate(self._formats):
            with m.If(exact.format[index]):
                self._pack(m, row, magnitude, increment, to_infinity)
        return m

    def _pack(self, m: Module, row: DataType, magnitude, increment, to_infinity) -> None:
        """Choose between the rounded number and the special codes of one format."""
        exact = self.exact
        dropped = len(exact.significand) - 1 - row.mantissa_bits
        signed = Mux(exact.sign, row.sign_bit, 0)

        # Told from the number before the increment, so that the choice does not wait for the carry. Both sides leave out
        # the leading bit; without one the number is far below.
        leading_one = 1 << row.mantissa_bits
        largest = (row.max_finite >> row.dead_bits) - leading_one
        cut = Cat(exact.significand[dropped:-1], exact.exponent)
        too_large = Signal(name=f"{row.name}_too_large")
        m.d.comb += too_large.eq(
            exact.significand[-1] & (_at_least(cut, largest + 1) | ((cut == largest) & increment)),
        )
        is_special = exact.is_nan | exact.is_infinite
        m.d.comb += self.overflow.eq(too_large & ~is_special)

        largest_code = row.max_finite | signed
        if row.positive_infinity is not None:
            infinity_code = row.positive_infinity | signed
        elif row.canonical_nan is not None:
            infinity_code = C(row.canonical_nan, row.storage_bits)
        else:
            infinity_code = largest_code
        special = Mux(
            exact.is_nan,
            row.canonical_nan or 0,
            Mux(exact.is_infinite | to_infinity, infinity_code, largest_code),
        )
        number = Cat(C(0, row.dead_bits), magnitude[dropped:][: row.value_bits - 1]) | signed
        m.d.comb += self.code.eq(Mux(is_special | too_large, special, number))


def _at_least(value: Value, limit: int) -> Value:
    """Return ``value >= limit`` as plain logic, which is flatter than the carry chain of a comparator."""
    result = C(1)
    for index in range(len(value)):
        bit = value[index]
        result = bit & result if limit >> index & 1 else bit | result
    return result
