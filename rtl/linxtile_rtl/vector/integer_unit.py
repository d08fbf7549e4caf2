"""The integer side of a slot: arithmetic modulo two to the width, logic, shifts, and everything that moves raw bits."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out

from linxtile.isa.types import DataType

from .control import BINARY, LaneOperation

__all__ = ["IntegerUnit", "integer_request_layout"]

FINE_BITS = 3
"""Bits of a shift count done in the last cycle: shifts within a byte; the cycle before shifts by whole bytes."""


class _Result(enum.Enum, shape=unsigned(3)):
    """What becomes the result."""

    SUM = 0
    AND = 1
    OR = 2
    XOR = 3
    A = 4
    B = 5
    SHIFT = 6


def integer_request_layout(element_bytes: int) -> data.StructLayout:
    """Operands with junk above the element, log2 of its bytes, signedness, and whether it is a float (ABS and NEG)."""
    bits = 8 * element_bytes
    return data.StructLayout({
        "a": bits, "b": bits, "b_present": 1, "operation": LaneOperation, "size": 2, "is_signed": 1, "is_float": 1,
    })  # fmt: skip


class IntegerUnit(wiring.Component):
    """All operations on integers; ABS, NEG and COPY also on the bits of floats. One a cycle, latency :attr:`LATENCY`.

    Cycle one widens and compares the operands, cycle two computes, cycle three does the last places of a shift.

    Parameters
    ----------
    element_bytes : int
        Width of the unit, 8, 4, 2 or 1; narrower elements sit in the low bits.
    float_types : tuple of DataType
        Floats whose signs ABS and NEG change.

    Members
    -------
    request : In(integer_request_layout(element_bytes))
        A two-operand operation without ``b_present`` passes ``a``.
    value : Out(8 * element_bytes)
        Result in the low bits, above them undefined.
    """

    LATENCY = 3

    def __init__(self, *, element_bytes: int, float_types: tuple[DataType, ...]):
        self._bits = 8 * element_bytes
        self._sizes = range(element_bytes.bit_length())
        self._float_types = float_types
        super().__init__({
            "request": In(integer_request_layout(element_bytes)),
            "value": Out(8 * element_bytes),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        stage = data.StructLayout({
            "a": self._bits,
            "b": self._bits,
            "invert": 1,
            "carry": 1,
            "result": _Result,
            "count": (self._bits - 1).bit_length(),
            "fill": 1,
            "reverse": 1,
        })  # fmt: skip
        prepared = Signal(stage, reset_less=True)
        self._prepare(m, prepared)
        self._compute(m, prepared)
        return m

    def _widened(self, m: Module, operand):
        """Return the operand with everything above the element replaced by its sign, or zeros when unsigned."""
        wide = Signal(self._bits)
        with m.Switch(self.request.size):
            for size in self._sizes:
                element = operand[: 8 << size]
                with m.Case(size):
                    fill = element[-1] & self.request.is_signed
                    m.d.comb += wide.eq(Cat(element, fill.replicate(self._bits - len(element))))
        return wide

    def _float_sign(self, m: Module):
        """Return a mask of the sign bit of a float of the given size."""
        mask = Signal(self._bits)
        with m.Switch(self.request.size):
            for size in self._sizes:
                signs = {row.sign_bit for row in self._float_types if row.storage_bits == 8 << size}
                if len(signs) > 1:
                    raise ValueError(f"floats of {1 << size} bytes must have one sign bit, not {sorted(signs)!r}")
                for sign in signs:
                    with m.Case(size):
                        m.d.comb += mask.eq(sign)
        return mask

    def _prepare(self, m: Module, prepared) -> None:
        """Cycle one: reduce every operation to a sum, a logic function, a choice or a shift."""
        request = self.request
        a, b = self._widened(m, request.a), self._widened(m, request.b)
        negative = Signal()
        a_below_b = Signal()
        m.d.comb += negative.eq(a[-1] & request.is_signed)
        # Flipping the sign bits turns a signed comparison into an unsigned one.
        flip = request.is_signed
        m.d.comb += a_below_b.eq(Cat(a[:-1], a[-1] ^ flip) < Cat(b[:-1], b[-1] ^ flip))

        count = Cat(
            request.b[index] if index < FINE_BITS else request.b[index] & (request.size > index - FINE_BITS)
            for index in range(len(prepared.count))
        )

        second = Signal(self._bits)
        result = Signal(_Result, init=_Result.A)
        invert, carry, reverse, shifts = Signal(), Signal(), Signal(), Signal()
        with m.Switch(request.operation):
            with m.Case(LaneOperation.ADD):
                m.d.comb += [second.eq(b), result.eq(_Result.SUM)]
            with m.Case(LaneOperation.SUB):
                m.d.comb += [second.eq(~b), carry.eq(1), result.eq(_Result.SUM)]
            with m.Case(LaneOperation.MAX):
                m.d.comb += [second.eq(b), result.eq(Mux(a_below_b, _Result.B, _Result.A))]
            with m.Case(LaneOperation.MIN):
                m.d.comb += [second.eq(b), result.eq(Mux(a_below_b, _Result.A, _Result.B))]
            for operation in (LaneOperation.AND, LaneOperation.OR, LaneOperation.XOR):
                with m.Case(operation):
                    m.d.comb += [second.eq(b), result.eq(_Result[operation.name])]
            with m.Case(LaneOperation.SHL):
                m.d.comb += [shifts.eq(1), reverse.eq(1), result.eq(_Result.SHIFT)]
            with m.Case(LaneOperation.SHR):
                m.d.comb += [shifts.eq(1), result.eq(_Result.SHIFT)]
            with m.Case(LaneOperation.NOT):
                m.d.comb += [invert.eq(1), result.eq(_Result.SUM)]
            with m.Case(LaneOperation.ABS):
                with m.If(request.is_float):
                    m.d.comb += [second.eq(~self._float_sign(m)), result.eq(_Result.AND)]
                with m.Elif(negative):
                    m.d.comb += [invert.eq(1), carry.eq(1), result.eq(_Result.SUM)]
            with m.Case(LaneOperation.NEG):
                with m.If(request.is_float):
                    m.d.comb += [second.eq(self._float_sign(m)), result.eq(_Result.XOR)]
                with m.Else():
                    m.d.comb += [invert.eq(1), carry.eq(1), result.eq(_Result.SUM)]
            with m.Case(LaneOperation.RELU):
                m.d.comb += result.eq(Mux(negative, _Result.B, _Result.A))
            with m.Default():
                m.d.comb += result.eq(_Result.A)

        passes = Signal()  # a leaf of a tree without partner
        with m.Switch(request.operation):
            with m.Case(*sorted(BINARY, key=lambda operation: operation.value)):
                m.d.comb += passes.eq(~request.b_present)
        shifts_now = shifts & ~passes
        # A left shift is a right shift of the reversed bits.
        reverses = reverse & ~passes
        m.d.sync += [
            prepared.a.eq(Mux(reverses, a[::-1], a)),
            prepared.b.eq(second),
            prepared.invert.eq(invert),
            prepared.carry.eq(carry),
            prepared.result.eq(Mux(passes, _Result.A, result)),
            prepared.count.eq(Mux(shifts_now, count, 0)),
            prepared.fill.eq(negative & ~reverse),
            prepared.reverse.eq(reverses),
        ]

    def _compute(self, m: Module, prepared) -> None:
        """Cycles two and three."""
        a, b = prepared.a, prepared.b
        coarse = Signal(self._bits, reset_less=True)
        fine = Signal(FINE_BITS, reset_less=True)
        fill = Signal(reset_less=True)
        reverse = Signal(reset_less=True)
        m.d.sync += [fine.eq(prepared.count[:FINE_BITS]), fill.eq(prepared.fill), reverse.eq(prepared.reverse)]
        with m.Switch(prepared.result):
            with m.Case(_Result.SUM):
                m.d.sync += coarse.eq((a ^ prepared.invert.replicate(self._bits)) + b + prepared.carry)
            with m.Case(_Result.AND):
                m.d.sync += coarse.eq(a & b)
            with m.Case(_Result.OR):
                m.d.sync += coarse.eq(a | b)
            with m.Case(_Result.XOR):
                m.d.sync += coarse.eq(a ^ b)
            with m.Case(_Result.B):
                m.d.sync += coarse.eq(b)
            with m.Case(_Result.SHIFT):
                whole_bytes = Cat(C(0, FINE_BITS), prepared.count[FINE_BITS:])
                m.d.sync += coarse.eq(Cat(a, prepared.fill.replicate(self._bits)) >> whole_bytes)
            with m.Default():
                m.d.sync += coarse.eq(a)

        shifted = Signal(self._bits)
        value = Signal(self._bits, reset_less=True)
        m.d.comb += shifted.eq(Cat(coarse, fill.replicate((1 << FINE_BITS) - 1)) >> fine)
        m.d.sync += value.eq(Mux(reverse, shifted[::-1], shifted))
        m.d.comb += self.value.eq(value)
