"""From the bits of a float to sign, exponent, significand and class."""

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from linxtile.isa.types import DataType

from .formats import number_layout, significand_bits

__all__ = ["Unpacker"]


class Unpacker(wiring.Component):
    """Combinational unpacker of one operand; subnormals keep their value, dead bits are dropped.

    Parameters
    ----------
    formats : tuple of DataType
        Float types with fixed fields.
    bits : int
        Width of an operand; a narrower format sits in its low bits.

    Members
    -------
    code : In(bits)
    format : In(len(formats))
        One bit for the format of ``code``; with none set the number is plus zero.
    number : Out(number_layout(formats))
    """

    def __init__(self, *, formats: tuple[DataType, ...], bits: int):
        self._formats = formats
        super().__init__({
            "code": In(bits),
            "format": In(len(formats)),
            "number": Out(number_layout(formats)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        width = significand_bits(self._formats)
        numbers = [self._number(m, row, width) for row in self._formats]
        for name, field in number_layout(self._formats):
            # An and-or tree: one bit of the selection per format, none after another.
            selected = C(0, field.width)
            for index, number in enumerate(numbers):
                selected = selected | Mux(self.format[index], number[name], 0)
            m.d.comb += self.number[name].eq(selected)
        return m

    def _number(self, m: Module, row: DataType, width: int) -> dict:
        code = self.code[row.dead_bits : row.dead_bits + row.value_bits]
        mantissa, exponent = code[: row.mantissa_bits], code[row.mantissa_bits : -1]
        is_normal, is_top, has_fraction = (Signal(name=f"{row.name}_{what}") for what in ("normal", "top", "fraction"))
        m.d.comb += [is_normal.eq(exponent.any()), is_top.eq(exponent.all()), has_fraction.eq(mantissa.any())]
        if row.has_infinity:
            is_nan, is_infinite = is_top & has_fraction, is_top & ~has_fraction
        else:
            is_nan, is_infinite = (is_top & mantissa.all() if row.has_nan else C(0)), C(0)
        return {
            "sign": code[-1],
            "exponent": Cat(exponent[0] | ~is_normal, exponent[1:]),
            "significand": Cat(C(0, width - 1 - row.mantissa_bits), mantissa, is_normal),
            "is_nan": is_nan,
            "is_signalling": is_nan & ~mantissa[-1] if row.has_signalling_nan else C(0),
            "is_infinite": is_infinite,
        }
