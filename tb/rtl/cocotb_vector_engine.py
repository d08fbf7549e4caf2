"""Blocks for the vector engine; the pytest side is test_vector_engine.py."""

import random

import cocotb
from vector_bench import Block, VectorBench

from linxtile.config import PRESETS
from linxtile_sim.streams import cycles, start
from linxtile_sim.unit import parameters

ELEMENTWISE = ["TADD", "TSUB", "TMAX", "TXOR", "TADDS", "TNOT", "TEXPANDS", "TROWEXPAND", "TROWEXPANDSUB"]
REDUCTIONS = ["TROWSUM", "TROWMAX", "TROWMIN"]
INTEGERS = ["S8", "U8", "S16", "U16", "S32", "U32", "S64", "U64"]
TYPES = [*INTEGERS, "FP32", "FP16"]
INTEGER_ONLY = ("TXOR", "TNOT")


def configuration():
    return PRESETS[parameters()["preset"]]


def size_of(byte_count, config):
    """Smallest tile that holds this many bytes."""
    size = config.tile_min_bytes
    while size < byte_count:
        size *= 2
    return size


def block_of(rng, config, operation, type_name, valid_columns, valid_rows, columns, grow=0, pad=None):
    block = Block(operation, type_name, valid_columns, valid_rows, columns, 0)
    block.pad = rng.getrandbits(8 * block.size) if pad is None else pad
    block.scalar = rng.getrandbits(64)
    block.source_bytes = size_of(valid_rows * columns * block.size, config)
    block.vector_bytes = size_of(valid_rows * block.size, config)
    block.tile_bytes = (block.vector_bytes if operation in REDUCTIONS else block.source_bytes) << grow
    return block


def shapes(config, size):
    """Valid columns, valid rows, columns: rows shorter and longer than a line, odd ones, single columns and rows."""
    lanes = config.vector_bytes // size
    yield from [
        (1, 1, 1), (1, 161, 1), (161, 1, 161), (lanes, 4, lanes), (lanes + 1, 7, lanes + 1), (2 * lanes - 1, 5, 2 * lanes),
        (3 * lanes, 9, 3 * lanes), (1, 6, 5 * lanes + 1), (3, 5, 7), (5, 3, 8), (2, 40, 2), (4 * lanes, 8, 4 * lanes),
        (13 * lanes + 1, 3, 14 * lanes), (lanes, 3, 2 * lanes + 1), (9 * lanes - 1, 2, 9 * lanes),
    ]  # fmt: skip


def random_block(rng, config, operation):
    type_name = rng.choice(INTEGERS if operation in INTEGER_ONLY else TYPES)
    lanes = config.vector_bytes // Block(operation, type_name, 1, 1, 1, 0).size
    if rng.random() < 0.5:
        shape = rng.choice(list(shapes(config, config.vector_bytes // lanes)))
    else:
        columns = rng.randint(1, rng.choice([4, 6 * lanes]))
        shape = (rng.randint(1, columns), rng.randint(1, 12), columns)
    return block_of(rng, config, operation, type_name, *shape, grow=rng.choice([0, 0, 1]))


async def run_in_batches(bench, blocks):
    """Run as many blocks at once as the tile RAM holds."""
    batch, used = [], 0
    for block in blocks:
        need = block.tile_bytes + sum(block.source_sizes())
        if used + need > bench.config.tile_ram_bytes:
            await bench.run(batch)
            batch, used = [], 0
        batch.append(block)
        used += need
    await bench.run(batch)


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def element_wise_blocks(dut):
    config = configuration()
    bench = VectorBench(dut, config, parameters()["stall"])
    await start(dut)
    rng = random.Random(cocotb.RANDOM_SEED)
    blocks = []
    for operation in ELEMENTWISE:
        for type_name in INTEGERS if operation in INTEGER_ONLY else TYPES:
            size = Block(operation, type_name, 1, 1, 1, 0).size
            shape = rng.choice(list(shapes(config, size)))
            blocks.append(block_of(rng, config, operation, type_name, *shape, grow=rng.randrange(2)))
    blocks += [random_block(rng, config, rng.choice(ELEMENTWISE)) for _ in range(parameters()["blocks"])]
    await run_in_batches(bench, blocks)


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def row_reductions(dut):
    config = configuration()
    bench = VectorBench(dut, config, parameters()["stall"])
    await start(dut)
    rng = random.Random(cocotb.RANDOM_SEED)
    blocks = []
    for type_name in TYPES:
        size = Block("TROWSUM", type_name, 1, 1, 1, 0).size
        for shape in shapes(config, size):
            operation = rng.choice(["TROWSUM", "TROWSUM", "TROWMAX", "TROWMIN"])
            blocks.append(block_of(rng, config, operation, type_name, *shape, grow=rng.randrange(2)))
    await run_in_batches(bench, blocks)


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def mixed_blocks(dut):
    config = configuration()
    bench = VectorBench(dut, config, parameters()["stall"])
    await start(dut)
    rng = random.Random(cocotb.RANDOM_SEED)
    # Reductions often: one right after another, or before another width, meets what the last one left in the tree.
    operations = ELEMENTWISE + 3 * REDUCTIONS
    blocks = [random_block(rng, config, rng.choice(operations)) for _ in range(parameters()["blocks"])]
    await run_in_batches(bench, blocks)


SINGLE_BLOCKS = [
    # operation, type, valid columns, valid rows, columns, cycles allowed beyond the lines read or written
    ("TADD", "FP32", 32, 32, 32, 14), ("TMAX", "U8", 64, 64, 64, 14), ("TADDS", "S64", 8, 64, 8, 14), ("TADD", "FP16", 30, 60, 33, 14),
    ("TROWEXPAND", "FP32", 32, 32, 32, 16), ("TROWEXPANDSUB", "FP32", 32, 32, 32, 18), ("TROWEXPANDSUB", "FP16", 3, 500, 4, 18),
    ("TROWEXPANDSUB", "S8", 60, 64, 63, 18), ("TROWSUM", "FP32", 32, 32, 32, 35), ("TROWSUM", "FP16", 2048, 1, 2048, 52),
    ("TROWMAX", "U8", 4096, 1, 4096, 56),    ("TROWMAX", "S8", 64, 64, 64, 35), ("TROWMAX", "FP32", 12, 64, 12, 35), ("TROWSUM", "FP32", 4, 256, 4, 35), ("TROWSUM", "FP32", 20, 48, 20, 35),
    ("TROWSUM", "FP32", 36, 28, 36, 35), ("TROWMIN", "S64", 16, 32, 16, 35), ("TROWMAX", "S16", 72, 28, 72, 35),
    ("TROWSUM", "FP32", 33, 31, 33, 35 + 31),
]  # fmt: skip
"""Blocks of 4 KiB; the row of 33 columns needs a window more than it has lines in most rows."""


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def flushes(dut):
    """At any cycle a flush ends in idleness without a report, and the blocks after it are right."""
    config = configuration()
    bench = VectorBench(dut, config, 0.0)
    await start(dut)
    rng = random.Random(cocotb.RANDOM_SEED)
    for _ in range(parameters()["blocks"]):
        blocks = [random_block(rng, config, rng.choice(ELEMENTWISE + REDUCTIONS)) for _ in range(3)]
        for block in blocks:
            bench.prepare(block)
            bench.commands.put(block.command(config))
        await bench.commands.drained()
        await cycles(dut, rng.randrange(60))
        dut.flush.value = 1
        await cycles(dut, 2)
        reported = len(bench.done.received)
        for _ in range(20):
            await cycles(dut)
            if dut.idle.value == 1:
                break
        assert dut.idle.value == 1, f"not idle 20 cycles after a flush in {blocks[0]}"
        assert len(bench.done.received) == reported
        dut.flush.value = 0
        bench.next_line = 0
        await bench.run([random_block(rng, config, rng.choice(ELEMENTWISE + REDUCTIONS))])
        await cycles(dut, 2)
        assert dut.idle.value == 1


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def cycles_of_single_blocks(dut):
    config = configuration()
    bench = VectorBench(dut, config, 0.0)
    await start(dut)
    rng = random.Random(cocotb.RANDOM_SEED)
    for operation, type_name, valid_columns, valid_rows, columns, allowed in SINGLE_BLOCKS:
        block = block_of(rng, config, operation, type_name, valid_columns, valid_rows, columns)
        read_bytes = valid_rows * columns * block.size
        lines = max(-(-read_bytes // config.vector_bytes), block.tile_bytes // config.vector_bytes)
        before = len(bench.ram.written)
        await bench.run([block])
        accepted, done = bench.ram.accepted_cycles[-1], bench.done_cycles[-1]
        first = bench.ram.written[before][0]
        dut._log.info(f"{block}: first write after {first - accepted}, done after {lines} + {done - accepted - lines}")
        assert done - accepted <= lines + allowed, f"{block}: {done - accepted} cycles, at most {lines} + {allowed}"


@cocotb.test(timeout_time=3, timeout_unit="ms")
async def cycles_of_a_stream(dut):
    config = configuration()
    bench = VectorBench(dut, config, 0.0)
    await start(dut)
    rng = random.Random(cocotb.RANDOM_SEED)
    for operation, type_name in (("TADD", "FP32"), ("TMAX", "U8"), ("TROWEXPANDSUB", "FP16")):
        blocks = [block_of(rng, config, operation, type_name, 30, 30, 32) for _ in range(8)]
        lines = blocks[0].tile_bytes // config.vector_bytes
        await bench.run(blocks)
        apart = (bench.done_cycles[-1] - bench.done_cycles[-8]) / 7
        dut._log.info(f"stream of {blocks[0]}: {apart} cycles a block of {lines} lines")
        assert apart <= 1.02 * lines
