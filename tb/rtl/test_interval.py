"""Address interval: first and last byte of random moves, by adding up addresses."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from linxtile.config import CoreConfig
from linxtile_rtl.interval import AddressInterval
from linxtile_sim.streams import start
from linxtile_sim.unit import parameters, run_unit


def moves(rng, bits):
    """Yield (base, stride, rows, row bytes), many of them near the end of the address space."""
    top = 1 << bits
    yield top - 16, 0, 1, 16
    yield top - 16, 0, 1, 17
    yield top, 1, 1, 1
    yield 0, top, 2, 1
    yield 0, (1 << 64) - 1, 2, 1
    yield 0, (1 << 64) - 1, 1, 1
    yield (1 << 64) - 1, 1, 1, 1
    yield 0, top - 1, 65535, 524280
    for _ in range(300):
        rows = rng.choice((1, 2, rng.randint(1, 65535)))
        stride = rng.getrandbits(rng.choice((4, 8, 16, 33, bits, 64)))
        row_bytes = rng.randint(1, min(524280, 1 << bits - 2))
        last = (rows - 1) * stride + row_bytes - 1
        close = top - last - 1 + rng.choice((-1, 0, 0, 1))
        yield rng.choice((rng.getrandbits(bits), close if 0 <= close < 1 << 64 else 5)), stride, rows, row_bytes


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def intervals(dut):
    """An interval is exact whenever it fits below the end of the addresses; everything else is told as such."""
    bits = parameters()["bits"]
    rng = random.Random(cocotb.RANDOM_SEED)
    for name in ("start", "base", "stride", "rows", "row_bytes"):
        getattr(dut, name).value = 0
    await start(dut)
    exact = 0
    for base, stride, rows, row_bytes in moves(rng, bits):
        dut.base.value, dut.stride.value, dut.rows.value, dut.row_bytes.value = base, stride, rows, row_bytes
        dut.start.value = 1
        await RisingEdge(dut.clk)
        dut.start.value = 0
        cycle = 0
        await RisingEdge(dut.clk)
        while dut.done.value == 0:
            await RisingEdge(dut.clk)
            cycle += 1
            assert cycle < 10
        assert cycle <= -(-bits // 16) + 1
        last = base + (rows - 1) * stride + row_bytes - 1
        where = f"base {base:#x}, stride {stride:#x}, {rows} rows of {row_bytes}"
        if last >> bits:
            assert dut.everything.value == 1, where
        else:
            exact += 1
            assert dut.everything.value == 0, where
            assert (dut.low.value, dut.high.value) == (base, last), where
    assert exact > 30


@pytest.mark.parametrize("bits", [16, 40, 63])
def test_the_interval_is_exact_or_everything(bits):
    run_unit(AddressInterval(config=CoreConfig(axi_address_bits=bits)), __file__, parameters={"bits": bits})
