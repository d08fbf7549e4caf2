"""Blocks for the vector engine; the pytest side is test_vector_engine.py."""

import random

import cocotb
from vector_bench import Block, VectorBench

from linxtile.config import PRESETS
from linxtile_sim.streams import start
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


@cocotb.test(timeout_time=50, timeout_unit="ms")
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


@cocotb.test(timeout_time=50, timeout_unit="ms")
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


@cocotb.test(timeout_time=50, timeout_unit="ms")
async def mixed_blocks(dut):
    config = configuration()
    bench = VectorBench(dut, config, parameters()["stall"])
    await start(dut)
    rng = random.Random(cocotb.RANDOM_SEED)
    blocks = [random_block(rng, config, rng.choice(ELEMENTWISE + REDUCTIONS)) for _ in range(parameters()["blocks"])]
    await run_in_batches(bench, blocks)
