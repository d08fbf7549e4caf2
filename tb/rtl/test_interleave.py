"""Rows that interleave: never called apart when they share a byte, always when they lie side by side in one matrix."""

import random

import cocotb
import pytest
from cocotb.triggers import RisingEdge

from linxtile.config import CoreConfig
from linxtile_rtl.interleave import RowsApart, stride_bits, strided_layout
from linxtile_sim.streams import pack, start
from linxtile_sim.unit import parameters, run_unit


def addresses(base, stride, row_bytes, rows):
    """Addresses of all bytes of some rows."""
    return {base + row * stride + byte for row in range(rows) for byte in range(row_bytes)}


def side_by_side(one, other, longest):
    """Whether both lie in one matrix of a stride below ``longest``, bases in neighbouring rows at most, in columns that share no byte.

    The matrix is a row of ``stride`` bytes that repeats; what a tile takes of it is marked byte by byte.
    """
    (base, stride, row_bytes), (other_base, other_stride, other_row_bytes) = one, other
    if stride != other_stride or stride >= longest or abs(other_base - base) >= stride:
        return False
    marks = [(base + byte) % stride for byte in range(row_bytes)]
    marks += [(other_base + byte) % stride for byte in range(other_row_bytes)]
    return len(marks) == len(set(marks))


def random_place(rng, bits):
    """A place in memory, so that the moves around it do not wrap."""
    return rng.choice((0, 1 << bits - 2, rng.randrange(1 << bits - 1)))


def random_move(rng, place, stride):
    """A move near a place, mostly with the given stride."""
    return place + rng.randint(0, 60), rng.choice((stride, stride, stride, rng.randint(0, 40))), rng.randint(1, 20)


def corner_pairs(top, tile):
    """Pairs where a field is at its end: (first, second); ``top`` is the first stride that is too long, ``tile`` the largest."""
    for tiles in (1, 2, 3, 8):
        # A row of several tiles fills its stride: nothing fits beside it.
        length = tiles * tile
        yield (0, length, length), (16, length, 16)
        yield (length - 16, length, 16), (0, length, length)
        yield (0, length + 16, length), (length, length + 16, 16)
    for stride in (1, 2, top - 1):
        yield (0, stride, 1), (1, stride, 1)
        yield (stride, stride, 1), (0, stride, 1)
        yield (0, stride, 1), (stride - 1, stride, 1)
    for stride in (top, top + 32):
        # The low bits of a long stride look like a stride of their own.
        yield (0, stride, 8), (8, stride, 8)
        yield (0, stride, 8), (8, stride - top, 8)
        yield (0, stride - top, 8), (8, stride, 8)
    # The low bits of the distance look as if the bases were close.
    for far in (top, 2 * top, 4 * top - 64):
        for stride in (64, top - 64):
            yield (0, stride, 8), (far + 16, stride, 8)
            yield (far + 16, stride, 8), (0, stride, 8)


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def pairs(dut):
    """Each younger block against a full set of older ones, in as many cycles as there are."""
    config = CoreConfig(axi_address_bits=parameters()["bits"])
    layout, count = strided_layout(config), config.blocks_in_flight
    top = 1 << stride_bits(config)
    rng = random.Random(cocotb.RANDOM_SEED)
    dut.start.value = dut.enter.value = dut.tag.value = dut.rows.value = 0
    await start(dut)

    def show(move):
        base, stride, row_bytes = move
        fields = {"base": base, "stride": stride % top, "long_stride": int(stride >= top), "row_bytes": row_bytes}
        dut.rows.value = pack(layout, fields)

    async def apart(older, younger):
        for tag, move in enumerate(older):
            dut.tag.value, dut.enter.value = tag, 1
            show(move)
            await RisingEdge(dut.clk)
        dut.enter.value, dut.start.value = 0, 1
        show(younger)
        await RisingEdge(dut.clk)
        dut.start.value = 0
        for _ in range(count):
            await RisingEdge(dut.clk)
            assert dut.done.value == 0
        await RisingEdge(dut.clk)
        assert dut.done.value == 1
        return [bool(dut.apart.value.to_unsigned() >> tag & 1) for tag in range(count)]

    found = 0
    for _ in range(500):
        place, stride = random_place(rng, config.axi_address_bits), rng.randint(0, 40)
        younger, *older = (random_move(rng, place, stride) for _ in range(count + 1))
        for move, says in zip(older, await apart(older, younger), strict=True):
            rows = [rng.choice((1, 2, rng.randint(1, 9))) for _ in range(2)]
            shared = addresses(*move, rows[0]) & addresses(*younger, rows[1])
            assert not (says and shared), f"{move} and {younger}, rows {rows}, share {sorted(shared)[:4]}"
            assert says == side_by_side(move, younger, top), f"{move} and {younger}"
            found += says
    assert found > 300
    for older, younger in corner_pairs(top, config.tile_max_bytes):
        if max(older[0], younger[0]) < 1 << config.axi_address_bits:
            says = await apart([older] * count, younger)
            assert says == [side_by_side(older, younger, top)] * count, f"{older} and {younger}"


@pytest.mark.parametrize("bits", [16, 40, 63])
def test_rows_are_apart_only_when_they_share_no_byte(bits):
    run_unit(RowsApart(config=CoreConfig(axi_address_bits=bits)), __file__, parameters={"bits": bits})
