"""One slot of a slice: the datapath of one element."""

from amaranth.hdl import Cat, EnableInserter, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..layouts import flags_layout
from .control import slot_control_layout
from .float_add import FloatAdder
from .formats import FLOAT_ARITHMETIC, TypeDecoder, float_formats, slot_types
from .integer_unit import IntegerUnit
from .rounder import Round, Rounder
from .unpack import Unpacker

__all__ = ["Slot", "slot_request_layout", "slot_result_layout"]


def slot_request_layout(element_bytes: int) -> data.StructLayout:
    """Request of a slot: operands in the low bits of ``a`` and ``b`` (what lies above is ignored), and which are there."""
    bits = 8 * element_bytes
    return data.StructLayout({"a": bits, "b": bits, "a_present": 1, "b_present": 1, "control": slot_control_layout()})


def slot_result_layout(element_bytes: int) -> data.StructLayout:
    """Result of a slot: the element in the low bits of ``value`` (what lies above is undefined), flags, presence."""
    return data.StructLayout({"value": 8 * element_bytes, "flags": flags_layout(), "present": 1})


class Slot(wiring.Component):
    """Datapath of one element: one operation a cycle, latency :attr:`LATENCY` cycles in which ``enable`` is high.

    Parameters
    ----------
    element_bytes : int
        Width of the slot in bytes, 8, 4, 2 or 1: it takes elements of at most this size.
    config : CoreConfig
        Decides which element types there are.

    Members
    -------
    enable : In(1)
        The slot stands still while it is low.
    request : In(slot_request_layout(element_bytes))
        ``a`` and ``b`` present: the operation. Only ``a``: a one-operand operation, or, for a two-operand one, ``a`` read
        as by arithmetic and passed on. Without ``a`` the result is not present, and flags are zero.
    result : Out(slot_result_layout(element_bytes))
        Result of the request :attr:`LATENCY` enabled cycles ago.
    """

    LATENCY = 4

    def __init__(self, *, element_bytes: int, config: CoreConfig):
        if element_bytes not in (1, 2, 4, 8):
            raise ValueError(f"element_bytes must be 1, 2, 4 or 8, not {element_bytes!r}")
        self._element_bytes = element_bytes
        self._config = config
        super().__init__(
            {
                "enable": In(1),
                "request": In(slot_request_layout(element_bytes)),
                "result": Out(slot_result_layout(element_bytes)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        types = slot_types(self._element_bytes, self._config)
        formats = float_formats(self._element_bytes, self._config)
        control = self.request.control
        m.submodules.decoder = decoder = TypeDecoder(types=types, formats=formats)
        m.d.comb += decoder.code.eq(control.data_type)

        integer = IntegerUnit(
            element_bytes=self._element_bytes, float_types=tuple(row for row in types if row.is_float)
        )
        m.submodules.integer = EnableInserter(self.enable)(integer)
        m.d.comb += [
            integer.request.a.eq(self.request.a),
            integer.request.b.eq(self.request.b),
            integer.request.b_present.eq(self.request.b_present),
            integer.request.operation.eq(control.operation),
            integer.request.size.eq(decoder.decoded.size),
            integer.request.is_signed.eq(decoder.decoded.is_signed),
            integer.request.is_float.eq(decoder.decoded.is_float),
        ]

        present = Signal(self.LATENCY)
        with m.If(self.enable):
            m.d.sync += present.eq(Cat(self.request.a_present, present))
        m.d.comb += self.result.present.eq(present[-1])

        value = Signal.like(self.result.value, reset_less=True)
        with m.If(self.enable):
            m.d.sync += value.eq(integer.value)
        m.d.comb += self.result.value.eq(value)
        if formats:
            self._add_float_side(m, formats, decoder, value, present[-2])
        return m

    def _add_float_side(self, m: Module, formats, decoder, value, is_present) -> None:
        """Unpack, add and round beside the integer unit; the last stage takes the one or the other."""
        m.submodules.unpack_a = unpack_a = Unpacker(formats=formats, bits=8 * self._element_bytes)
        m.submodules.unpack_b = unpack_b = Unpacker(formats=formats, bits=8 * self._element_bytes)
        adder = FloatAdder(formats=formats)
        m.submodules.adder = EnableInserter(self.enable)(adder)
        m.submodules.rounder = rounder = Rounder(formats=formats)
        control = self.request.control
        m.d.comb += [
            unpack_a.code.eq(self.request.a),
            unpack_a.format.eq(decoder.decoded.format),
            unpack_b.code.eq(self.request.b),
            unpack_b.format.eq(decoder.decoded.format),
            adder.request.a.eq(unpack_a.number),
            adder.request.b.eq(unpack_b.number),
            adder.request.b_present.eq(self.request.b_present),
            adder.request.operation.eq(control.operation),
            adder.request.format.eq(decoder.decoded.format),
            rounder.exact.eq(adder.exact),
            # The rounding field of a block means conversions only (numeric_rules.md 1).
            rounder.mode.eq(Round.RNE),
        ]

        is_arithmetic = Signal()
        with m.Switch(control.operation):
            with m.Case(*sorted(FLOAT_ARITHMETIC, key=lambda operation: operation.value)):
                m.d.comb += is_arithmetic.eq(decoder.decoded.format.any())
        takes_float = Signal(FloatAdder.LATENCY)
        invalid, overflow = Signal(), Signal()
        with m.If(self.enable):
            m.d.sync += takes_float.eq(Cat(is_arithmetic, takes_float))
            with m.If(takes_float[-1]):
                m.d.sync += value.eq(rounder.code)
            m.d.sync += invalid.eq(takes_float[-1] & is_present & adder.invalid)
            m.d.sync += overflow.eq(takes_float[-1] & is_present & rounder.overflow)
        m.d.comb += [self.result.flags.invalid.eq(invalid), self.result.flags.overflow.eq(overflow)]
