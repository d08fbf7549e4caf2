"""Writer of rows and the store around it under cocotbext-axi's memory: bytes, bursts, and nothing that AXI forbids."""

import random

import cocotb
import pytest
from cocotbext.axi import AxiRamRead, AxiRamWrite, AxiReadBus, AxiWriteBus

from linxtile.config import CoreConfig
from linxtile_rtl.axi import write_data_layout
from linxtile_rtl.move.axi_writer import AxiWriter, write_result_layout
from linxtile_rtl.move.pieces import piece_layout
from linxtile_rtl.move.rows import rows_layout
from linxtile_rtl.verilog import axi_names
from linxtile_sim.axi_check import AxiChecker
from linxtile_sim.streams import Sink, Source, cycles, start
from linxtile_sim.unit import parameters, run_unit

CONFIG = CoreConfig.named(parameters().get("config", "default"))
BEAT = CONFIG.axi_data_bytes
RAM_BYTES = 1 << 16


def rows_of(rng):
    """Rows inside the memory: aligned or not, short, long, overlapping, backwards, across pages."""
    row_bytes = rng.choice([1, 16, rng.randrange(1, 40), rng.randrange(1, 700), 4500])
    rows = rng.choice([1, 2, rng.randrange(1, 8)])
    stride = rng.choice([0, row_bytes, row_bytes + rng.randrange(100), rng.randrange(4000), -rng.randrange(2000)])
    low = max(0, -stride * (rows - 1))
    high = RAM_BYTES - row_bytes - max(0, stride * (rows - 1))
    base = rng.choice([rng.randrange(low, high), (low + 4095) // 4096 * 4096 + 0xFE0])
    return base, stride, rows, row_bytes


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4])
async def rows_arrive_in_order_and_nothing_else(dut, stall):
    rng = random.Random(cocotb.RANDOM_SEED)
    content = bytearray(rng.randbytes(RAM_BYTES))
    ram = AxiRamWrite(AxiWriteBus.from_prefix(dut, "m_axi_mem"), dut.clk, dut.rst, size=RAM_BYTES)
    nibbles = AxiRamRead(AxiReadBus.from_prefix(dut, "m_axi_nibble"), dut.clk, dut.rst, size=RAM_BYTES, mem=ram.mem)
    checkers = [AxiChecker(dut, prefix, data_bytes=BEAT) for prefix in ("m_axi_mem", "m_axi_nibble")]
    if stall:
        for channel in (ram.aw_channel, ram.w_channel, ram.b_channel, nibbles.ar_channel, nibbles.r_channel):
            channel.set_pause_generator(rng.random() < stall for _ in iter(int, 1))
    ram.write(0, bytes(content))
    pending = []

    def answer(piece):
        """Make the beat of a piece: fresh bytes, the upper half of an odd row's last byte as the writer says."""
        addresses = pending.pop(0)
        assert (piece["lane"], piece["count"]) == (addresses[0] % BEAT, len(addresses)), f"piece at {addresses[0]:#x}"
        fresh = bytearray(rng.randbytes(BEAT))
        if odd and piece["row_end"]:
            assert int(dut.nibble.value) == content[addresses[-1]] >> 4, f"nibble at {addresses[-1]:#x}"
            at = piece["lane"] + piece["count"] - 1
            fresh[at] = fresh[at] & 15 | int(dut.nibble.value) << 4
        for address in addresses:
            content[address] = fresh[address % BEAT]
        strobes = (1 << piece["count"]) - 1 << piece["lane"]
        beats.put({"data": int.from_bytes(fresh, "little"), "strb": strobes, "last": piece["burst_end"]})

    commands = Source(dut, "command", shape=rows_layout(CONFIG), stall=stall)
    beats = Source(dut, "beats", shape=write_data_layout(CONFIG), stall=stall)
    Sink(dut, "pieces", shape=piece_layout(CONFIG), stall=stall, check=answer)
    results = Sink(dut, "result", shape=write_result_layout(), stall=stall)
    odd = False
    dut.stop.value = dut.expired.value = dut.odd_nibble.value = dut.row_bytes.value = 0
    await start(dut)
    beat_count = 0
    for index in range(parameters()["commands"]):
        base, stride, rows, row_bytes = rows_of(rng)
        odd = rng.random() < 0.4
        dut.odd_nibble.value, dut.row_bytes.value = int(odd), row_bytes
        for row in range(rows):
            at, end = base + row * stride, base + row * stride + row_bytes
            while at < end:
                stop = min(end, at - at % BEAT + BEAT)
                pending.append(range(at, stop))
                beat_count += 1
                at = stop
        commands.put({"base": base, "stride": stride % 2**64, "rows": rows, "row_bytes": row_bytes, "element_shift": 0})
        result = (await results.wait(index + 1))[index]
        assert result == {"fault": 0, "address": 0} and not pending
        assert ram.read(0, RAM_BYTES) == content
    await cycles(dut, 3)
    for checker in checkers:
        checker.assert_idle()
    assert sum(burst.beats for burst in checkers[0].writes) == beat_count


@pytest.mark.parametrize("config", ["small", "default"])
def test_rows_arrive_in_order_and_nothing_else(config):
    names = {
        **axi_names("memory", "m_axi_mem", ("aw", "w", "b")),
        **axi_names("nibble_memory", "m_axi_nibble", ("ar", "r")),
    }
    run_unit(
        AxiWriter(config=CoreConfig.named(config)), __file__, names=names, parameters={"config": config, "commands": 10}
    )
