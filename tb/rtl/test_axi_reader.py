"""Reader of rows under cocotbext-axi's memory: pieces, bursts, and nothing that AXI forbids."""

import random

import cocotb
import pytest
from cocotbext.axi import AxiRamRead, AxiReadBus

from linxtile.config import CoreConfig
from linxtile_rtl.move.axi_reader import AxiReader, read_layout, read_piece_layout
from linxtile_rtl.verilog import axi_names
from linxtile_sim.axi_check import AxiChecker
from linxtile_sim.streams import Sink, Source, cycles, start
from linxtile_sim.unit import parameters, run_unit

CONFIG = CoreConfig.named(parameters().get("config", "default"))
BEAT = CONFIG.axi_data_bytes
RAM_BYTES = 1 << 17


def rows_of(rng):
    """Rows inside the memory: aligned or not, short, long, overlapping, backwards, across pages."""
    row_bytes = rng.choice([1, 16, rng.randrange(1, 40), rng.randrange(1, 700), 4500])
    rows = rng.choice([1, 2, rng.randrange(1, 8)])
    stride = rng.choice([0, row_bytes, row_bytes + rng.randrange(100), rng.randrange(7000), -rng.randrange(4000)])
    low = max(0, -stride * (rows - 1))
    high = RAM_BYTES - row_bytes - max(0, stride * (rows - 1))
    base = rng.choice([rng.randrange(low, high), (low + 4095) // 4096 * 4096 + 0xFE0])
    return base, stride, rows, row_bytes


def trace_pieces(commands):
    """The pieces of some commands, straight from the definition: (addresses of the bytes, row end, last)."""
    for base, stride, rows, row_bytes in commands:
        for row in range(rows):
            at, end = base + row * stride, base + row * stride + row_bytes
            while at < end:
                stop = min(end, at - at % BEAT + BEAT)
                yield range(at, stop), stop == end, stop == end and row == rows - 1
                at = stop


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def pieces_hold_the_rows_in_order(dut, stall):
    rng = random.Random(cocotb.RANDOM_SEED)
    ram = AxiRamRead(AxiReadBus.from_prefix(dut, "m_axi_mem"), dut.clk, dut.rst, size=RAM_BYTES)
    checker = AxiChecker(dut, "m_axi_mem", data_bytes=BEAT)
    if stall:
        for channel in (ram.ar_channel, ram.r_channel):
            channel.set_pause_generator(rng.random() < stall for _ in iter(int, 1))
    content = rng.randbytes(RAM_BYTES)
    ram.write(0, content)
    commands = [rows_of(rng) for _ in range(parameters()["commands"])]
    source = Source(dut, "command", shape=read_layout(CONFIG), stall=stall)
    sink = Sink(dut, "pieces", shape=read_piece_layout(CONFIG), stall=stall)
    dut.stop.value = 0
    dut.steps_ready.value = 0
    await start(dut)
    for base, stride, rows, row_bytes in commands:
        source.put({"base": base, "stride": stride % 2**64, "rows": rows, "row_bytes": row_bytes, "element_shift": 0})
    expected = list(trace_pieces(commands))
    received = await sink.wait(len(expected))
    for got, (addresses, row_end, last) in zip(received, expected, strict=True):
        piece = got["piece"]
        lane, count = piece["lane"], piece["count"]
        data = got["data"].to_bytes(BEAT, "little")[lane : lane + count]
        what = f"piece from {addresses[0]:#x}"
        assert (lane, count) == (addresses[0] % BEAT, len(addresses)), what
        assert data == content[addresses[0] : addresses[0] + count], what
        assert (piece["row_end"], piece["last"], got["error"]) == (row_end, last, 0), what
        assert piece["element_address"] == addresses[0], what
    await cycles(dut, 3)
    checker.assert_idle()
    assert dut.drained.value == 1
    # Only beats that hold needed bytes are read, and a burst goes on as long as it may.
    assert sum(burst.beats for burst in checker.reads) == len(expected)
    block = min(4096, 256 * BEAT)
    pages = [
        (base + row * stride + row_bytes - 1) // block - (base + row * stride) // block + 1
        for base, stride, rows, row_bytes in commands
        for row in range(rows)
    ]
    assert len(checker.reads) == sum(pages)


@pytest.mark.parametrize("config", ["small", "default", "large"])
def test_pieces_hold_the_rows_in_order(config):
    run_unit(
        AxiReader(config=CoreConfig.named(config)), __file__, names=axi_names("memory", "m_axi_mem", ("ar", "r")),
        parameters={"config": config, "commands": 4 if config == "small" else 8},
    )  # fmt: skip
