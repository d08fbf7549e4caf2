"""Payload bits from layouts and back, and streams whose payload is one bit or nothing."""

import cocotb
import pytest
from amaranth import Module, signed, unsigned
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile_sim.streams import Sink, Source, pack, start, unpack
from linxtile_sim.unit import run_unit


class Colour(enum.Enum, shape=unsigned(2)):
    RED = 0
    BLUE = 2


class Point(data.Struct):
    x: signed(4)
    y: signed(4)


LAYOUT = data.StructLayout({"colour": Colour, "at": Point, "bytes": data.ArrayLayout(8, 2), "last": 1})
VALUE = {"colour": Colour.BLUE, "at": {"x": -1, "y": 3}, "bytes": [0x12, 0x34], "last": 1}


def test_bits_follow_the_layout_from_the_lowest_field_up():
    assert pack(LAYOUT, VALUE) == 0b10 | 0xF << 2 | 3 << 6 | 0x12 << 10 | 0x34 << 18 | 1 << 26


def test_unpack_undoes_pack():
    assert unpack(LAYOUT, pack(LAYOUT, VALUE)) == VALUE
    assert unpack(signed(4), pack(signed(4), -8)) == -8


def test_a_code_that_no_member_has_stays_a_number():
    assert unpack(Colour, 3) == 3


def test_a_value_too_wide_is_refused():
    with pytest.raises(ValueError, match="^payload of 4 bits cannot hold 16$"):
        pack(unsigned(4), 16)


class Register(wiring.Component):
    """Hold one payload of any shape."""

    def __init__(self, shape):
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.i.ready.eq(~self.o.valid | self.o.ready)
        with m.If(self.i.ready):
            m.d.sync += [self.o.valid.eq(self.i.valid), self.o.payload.eq(self.i.payload)]
        return m


@cocotb.test(timeout_time=100, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.5])
async def bits_pass(dut, stall):
    source, sink = Source(dut, "i", stall=stall), Sink(dut, "o", stall=stall)
    bits = [index % 3 % 2 if hasattr(dut, "i_payload") else 0 for index in range(20)]
    await start(dut)
    source.put(*bits)
    assert await sink.wait(20) == bits
    await source.drained()


@pytest.mark.parametrize("width", [0, 1, 2])
@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_a_payload_may_be_as_small_as_nothing(simulator, width):
    run_unit(Register(width), __file__, simulator=simulator)
