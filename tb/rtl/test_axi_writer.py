"""Writer of rows and the store around it under cocotbext-axi's memory: bytes, bursts, and nothing that AXI forbids."""

import random

import cocotb
import pytest
from cocotbext.axi import AxiRamRead, AxiRamWrite, AxiReadBus, AxiWriteBus

from linxtile.config import CoreConfig
from linxtile_rtl.axi import write_data_layout
from linxtile_rtl.layouts import CELL_BYTES
from linxtile_rtl.move.axi_writer import AxiWriter, write_result_layout
from linxtile_rtl.move.chunks import command_layout, job_layout
from linxtile_rtl.move.store_pieces import store_piece_layout
from linxtile_rtl.verilog import axi_names
from linxtile_sim.axi_check import AxiChecker
from linxtile_sim.streams import Sink, Source, cycles, pack, start
from linxtile_sim.unit import parameters, run_unit


def config_of(name):
    """Everything that the writer can do."""
    return CoreConfig.named(name).replace(move_layouts=frozenset({"NORM", "NZ2DN"}), move_tiles=4)


CONFIG = config_of(parameters().get("config", "default"))
BEAT = CONFIG.axi_data_bytes
RAM_BYTES = 1 << 16


def rows_of(rng, *, by_blocks):
    """Rows inside the memory: aligned or not, short, long, across pages; overlapping and backwards where each is written whole."""
    row_bytes = rng.choice([1, 16, rng.randrange(1, 40), rng.randrange(1, 200), 99 if by_blocks else 4500])
    rows = rng.choice([1, 2, rng.randrange(1, 8)])
    gaps = [row_bytes, row_bytes + rng.randrange(100), row_bytes + rng.randrange(900)]
    stride = rng.choice(gaps if by_blocks else [*gaps, 0, rng.randrange(4000), -rng.randrange(2000)])
    low = max(0, -stride * (rows - 1))
    high = RAM_BYTES - row_bytes - max(0, stride * (rows - 1))
    base = rng.choice([rng.randrange(low, high), (low + 4095) // 4096 * 4096 + 0xFE0])
    return base, stride, rows, row_bytes


def chunks_of(base, stride, rows, row_bytes, group_rows, block_bytes):
    """Yield (addresses, block, row in its group) of each chunk of a job; no ``group_rows``: rows are written whole.

    Block g of a row ends with the beat before the one that holds byte block_bytes * (g + 1) of the row, the last block with the row.
    """
    group = group_rows or 1
    blocks = -(-row_bytes // block_bytes) if group_rows else 1
    for first in range(0, rows, group):
        for block in range(blocks):
            for row in range(first, min(first + group, rows)):
                at = base + row * stride
                edges = [
                    at,
                    *((at + block_bytes * number) // BEAT * BEAT for number in range(1, blocks)),
                    at + row_bytes,
                ]
                yield range(edges[block], edges[block + 1]), block, row - first


def pieces_of(job, stride, rows, group_rows, block_bytes):
    """Yield (addresses, what the piece must say) of each beat of a job."""
    row_bytes = job["last_byte"] + 1
    for chunk, block, slot in chunks_of(job["base"], stride, rows, row_bytes, group_rows, block_bytes):
        at, starts = chunk.start, True
        row_ends = (block + 1) * block_bytes >= row_bytes or not group_rows
        while at < chunk.stop:
            stop = min(chunk.stop, at - at % BEAT + BEAT)
            end = stop == chunk.stop
            place = (
                {name: job[name] for name in ("begins", "place")} | {"kept": block > 0, "slot": slot} if starts else {}
            )
            half = end and row_ends and job["odd_nibble"]
            yield range(at, stop), {"chunk_end": end, "starts": starts, "half": half, "beyond": 0, **place}
            at, starts = stop, False


@cocotb.test(timeout_time=20, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.4], by_blocks=[False, True])
async def rows_arrive_in_order_and_nothing_else(dut, stall, by_blocks):
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
        addresses, expected = pending.pop(0)
        lanes = addresses[0] % BEAT, addresses[-1] % BEAT
        assert (piece["lane"], piece["last_lane"]) == lanes, f"piece at {addresses[0]:#x}"
        for name, value in expected.items():
            assert piece[name] == value, f"piece at {addresses[0]:#x}: {name} is {piece[name]}"
        fresh = bytearray(rng.randbytes(BEAT))
        if piece["half"]:
            assert int(dut.nibble.value) == content[addresses[-1]] >> 4, f"nibble at {addresses[-1]:#x}"
            fresh[lanes[1]] = fresh[lanes[1]] & 15 | int(dut.nibble.value) << 4
        for address in addresses:
            content[address] = fresh[address % BEAT]
        strobes = (2 << lanes[1]) - (1 << lanes[0])
        beats.put({"data": int.from_bytes(fresh, "little"), "strb": strobes, "last": piece["burst_end"]})

    jobs = Source(dut, "jobs", shape=job_layout(CONFIG), stall=stall)
    beats = Source(dut, "beats", shape=write_data_layout(CONFIG), stall=stall)
    Sink(dut, "pieces", shape=store_piece_layout(CONFIG), stall=stall, check=answer)
    results = Sink(dut, "result", shape=write_result_layout(), stall=stall)
    dut.stop.value = dut.expired.value = dut.move.value = 0
    await start(dut)
    beat_count = 0
    for index in range(parameters()["commands"]):
        base, stride, rows, row_bytes = rows_of(rng, by_blocks=by_blocks)
        count = rng.choice([1, 2, rng.randrange(1, 6)]) if row_bytes < 4500 else 1
        group_rows = rng.choice([1, 2, 4, BEAT, 2 * BEAT]) if by_blocks else 0
        block_bytes = rng.choice([BEAT, CELL_BYTES])
        odd = rng.random() < 0.4
        move = {
            "stride": stride % 2**64, "rows": rows, "element_shift": 0, "by_blocks": int(by_blocks),
            "group_rows": group_rows or 1, "block_bytes": block_bytes,
        }  # fmt: skip
        dut.move.value = pack(command_layout(CONFIG), move)
        for number in range(count):
            # Jobs may write the same bytes: the last one wins.
            first = base + rng.choice([0, number]) if number else base
            first = min(first, RAM_BYTES - row_bytes - max(0, stride * (rows - 1)))
            for row in range(1 if by_blocks else rows):
                place = 0 if by_blocks else rng.randrange(BEAT)
                last = by_blocks or row == rows - 1
                job = {
                    "base": first + row * stride, "last_byte": row_bytes - 1, "odd_nibble": int(odd), "place": place,
                    "begins": int(by_blocks or rng.random() < 0.5), "ends_tile": int(last), "final": int(last and number == count - 1),
                }  # fmt: skip
                pending.extend(pieces_of(job, stride, rows if by_blocks else 1, group_rows, block_bytes))
                jobs.put(job)
        beat_count += len(pending)
        result = (await results.wait(index + 1))[index]
        assert result == {"fault": 0, "late": 0, "address": 0} and not pending
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
    run_unit(AxiWriter(config=config_of(config)), __file__, names=names, parameters={"config": config, "commands": 8})
