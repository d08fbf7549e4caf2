"""Two readers on one port: everybody gets the answers to its own requests."""

import random

import cocotb

from linxtile.config import CoreConfig
from linxtile_rtl.axi import INCR, address_layout, read_data_layout
from linxtile_rtl.move.read_arbiter import ReadArbiter
from linxtile_sim.streams import Sink, Source, start
from linxtile_sim.unit import run_unit

CONFIG = CoreConfig.named("small")
MOST_BEATS = 4


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(stall=[0.0, 0.5])
async def each_reader_gets_its_own_answers(dut, stall):
    rng = random.Random(cocotb.RANDOM_SEED)
    answers = Source(dut, "memory_r", shape=read_data_layout(CONFIG), stall=stall)

    def answer(request):
        for beat in range(request["len"] + 1):
            answers.put({"data": request["addr"] + beat, "last": beat == request["len"]})

    Sink(dut, "memory_ar", shape=address_layout(CONFIG), stall=stall, check=answer)
    await_these = []
    for name, place, most in (("load", 0x10000, MOST_BEATS), ("nibble", 0x20000, 1)):
        source = Source(dut, f"{name}_ar", shape=address_layout(CONFIG), stall=0.5)
        sink = Sink(dut, f"{name}_r", shape=read_data_layout(CONFIG), stall=stall)
        requests = [{"addr": place + 16 * k, "len": rng.randrange(most), "burst": INCR} for k in range(40)]
        expected = [request["addr"] + beat for request in requests for beat in range(request["len"] + 1)]
        await_these.append((source, sink, requests, expected))
    await start(dut)
    for source, _, requests, _ in await_these:
        source.put(*requests)
    for _, sink, _, expected in await_these:
        received = await sink.wait(len(expected))
        assert [beat["data"] for beat in received] == expected


def test_each_reader_gets_its_own_answers():
    assert run_unit(ReadArbiter(config=CONFIG), __file__).tests == 2
