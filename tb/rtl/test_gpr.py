"""General registers: writes, commits, restores and host accesses in random order against a dictionary with snapshots."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import ReadOnly, RisingEdge

from linxtile.config import PRESETS
from linxtile.isa.codes import REGISTER_COUNT
from linxtile.isa.faults import SETUP_WRITE_LIMIT
from linxtile_rtl.gpr import GprFile, commit_layout, write_layout
from linxtile_sim.streams import Source, cycles, start
from linxtile_sim.unit import parameters, run_unit

STALLS = [0.0, 0.5]


def idle(dut):
    """Drive every input that is no stream."""
    for name in ("restore", "clear", "host_write", "host_index", "host_write_data", "read_index_0", "read_index_1"):
        getattr(dut, name).value = 0


async def settled(dut):
    """Wait until the file is not busy, at most as long as undoing a full log takes."""
    for _ in range(2 * parameters()["log"] + 4):
        await RisingEdge(dut.clk)
        if dut.busy.value == 0:
            return
    raise AssertionError("busy did not end")


async def read(dut, index):
    """Return the register as all three read ports show it, which must agree."""
    dut.read_index_0.value = dut.read_index_1.value = dut.host_index.value = index
    await ReadOnly()
    values = {port.value.to_unsigned() for port in (dut.read_data_0, dut.read_data_1, dut.host_read_data)}
    assert len(values) == 1, f"register {index}: ports show {sorted(map(hex, values))}"
    await RisingEdge(dut.clk)
    return values.pop()


async def all_registers(dut):
    return [await read(dut, index) for index in range(REGISTER_COUNT)]


class Reference:
    """Registers in program order, and the writes that have not been committed with what they replaced."""

    def __init__(self):
        self.values = [0] * REGISTER_COUNT
        self.committed = [0] * REGISTER_COUNT
        self.waiting = deque()

    def write(self, index, value):
        self.values[index] = value
        self.waiting.append((index, value))

    def commit(self, count):
        for _ in range(count):
            index, value = self.waiting.popleft()
            self.committed[index] = value

    def restore(self):
        self.values = list(self.committed)
        self.waiting.clear()


@cocotb.test(timeout_time=5, timeout_unit="ms")
@cocotb.parametrize(stall=STALLS)
async def writes_commits_and_restores(dut, stall):
    rng = random.Random(cocotb.RANDOM_SEED)
    idle(dut)
    writes = Source(dut, "write", shape=write_layout(), stall=stall)
    commits = Source(dut, "commit", shape=commit_layout(), stall=stall)
    await start(dut)
    await settled(dut)
    reference = Reference()
    assert await all_registers(dut) == reference.values, "registers must be zero after reset"
    restores = undone = 0
    for _ in range(400):
        action = rng.choice(["write"] * 4 + ["commit"] * 2 + ["restore", "read", "host"])
        room = parameters()["log"] - len(reference.waiting)
        if action == "write" and room:
            burst = [
                {"index": rng.randrange(1, REGISTER_COUNT), "value": rng.getrandbits(64)}
                for _ in range(rng.randint(1, min(room, SETUP_WRITE_LIMIT)))
            ]
            for item in burst:
                reference.write(item["index"], item["value"])
            await writes.send(*burst)
        elif action == "commit" and reference.waiting:
            count = rng.randint(1, min(len(reference.waiting), SETUP_WRITE_LIMIT))
            reference.commit(count)
            await commits.send({"count": count})
        elif action == "restore":
            restores += 1
            undone += len(reference.waiting)
            dut.restore.value = 1
            await cycles(dut)
            dut.restore.value = 0
            await settled(dut)
            reference.restore()
        elif action == "host" and not reference.waiting:
            index, value = rng.randrange(REGISTER_COUNT), rng.getrandbits(64)
            dut.host_index.value, dut.host_write_data.value, dut.host_write.value = index, value, 1
            await cycles(dut)
            dut.host_write.value = 0
            if index:
                reference.values[index] = reference.committed[index] = value
        else:
            index = rng.randrange(REGISTER_COUNT)
            assert await read(dut, index) == reference.values[index], f"register {index}"
        if action == "restore":
            assert await all_registers(dut) == reference.values, "after a restore"
    assert restores > 10 and undone > 100, (restores, undone)
    assert await all_registers(dut) == reference.values


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_full_log_stalls_until_a_commit(dut):
    idle(dut)
    writes = Source(dut, "write", shape=write_layout())
    commits = Source(dut, "commit", shape=commit_layout())
    await start(dut)
    await settled(dut)
    depth = parameters()["log"]
    writes.put(*({"index": 1 + number % 23, "value": number} for number in range(depth + 3)))
    await cycles(dut, depth + 40)
    assert dut.write_ready.value == 0, "a full log must stall"
    await commits.send({"count": 2})
    await cycles(dut, 10)
    assert dut.write_ready.value == 0, "two commits make room for two writes"
    await commits.send({"count": 1})
    await writes.drained()
    await cycles(dut, 2)
    assert await read(dut, 1 + (depth + 2) % 23) == depth + 2


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_clear_zeroes_registers_and_log(dut):
    idle(dut)
    writes = Source(dut, "write", shape=write_layout())
    await start(dut)
    await settled(dut)
    await writes.send(*({"index": index, "value": index} for index in range(1, REGISTER_COUNT)))
    assert await all_registers(dut) == list(range(REGISTER_COUNT))
    for pulse in (dut.clear, dut.restore):
        pulse.value = 1
        await cycles(dut)
        pulse.value = 0
        await settled(dut)
        assert await all_registers(dut) == [0] * REGISTER_COUNT


@pytest.mark.parametrize("preset", ["small", "default"])
def test_registers_follow_program_order_and_come_back_on_restore(preset):
    config = PRESETS[preset]
    run_unit(GprFile(config), __file__, parameters={"log": config.register_log})
