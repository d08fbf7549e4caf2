"""Programs for the scheduler bench: random ones, each bind rule, and the order of blocks that depend on each other."""

import dataclasses
import random

import cocotb
from bind_reference import Block
from cocotb.triggers import RisingEdge
from scheduler_bench import Bench

from linxtile.config import CoreConfig
from linxtile.isa.codes import PadValue, size_bytes
from linxtile.isa.faults import Rule
from linxtile.isa.operations import operation
from linxtile_sim.streams import cycles
from linxtile_sim.unit import parameters

FINISH = Block(kind="FINISH", address=0xF000)
ELEMENTWISE = {"TADD": 2, "TABS": 1, "TADDS": 1, "TMAX": 2}
OTHERS = {"TROWSUM": 1, "TEXPANDS": 0, "TROWEXPAND": 1, "TROWEXPANDSUB": 2}
MOVES = {"TLOAD": 0, "TSTORE": 1, "TMOV": 1}
LAYOUTS = {name: [layout.name for layout in operation(name).layouts] for name in MOVES}


def configuration():
    return CoreConfig(**parameters()["config"])


class Generator:
    """Random blocks that mostly fit the tiles there are."""

    def __init__(self, bench, rng, wrong):
        self.bench, self.rng, self.wrong = bench, rng, wrong
        self.address = 0x1000

    def program(self, length):
        """Return nothing; put ``length`` blocks and an end."""
        for _ in range(length):
            self.bench.put(self.block())
        self.bench.put(
            FINISH if self.rng.random() < 0.7 else Block(kind="FAULT", rule=Rule.ILL_WORD, address=8, word=12)
        )

    def block(self):
        rng = self.rng
        self.address += rng.randrange(4, 64, 2)
        if rng.random() < 0.1:
            return Block(kind="SETUP", address=self.address, writes=rng.randrange(33))
        name = rng.choice([*ELEMENTWISE, *OTHERS, *MOVES, *MOVES])
        live = [
            (queue, index, tile)
            for queue, names in enumerate(self.bench.ahead.names)
            for index, tile in enumerate(names)
            if tile is not None
        ]
        wanted = {**ELEMENTWISE, **OTHERS, **MOVES}[name]
        if len(live) < 2 and wanted:
            name, wanted = "TEXPANDS", 0
        types = sorted(self.bench.config.operations[name])
        block = Block(name=name, type=rng.choice(types), address=self.address, pad=rng.choice(list(PadValue)))
        count = rng.choice((1, 1, 2, 3, 4, 8)) if name in ("TLOAD", "TSTORE") else 1
        if name == "TSTORE":
            same = rng.choice(live)[2].code
            live = [entry for entry in live if entry[2].code == same]
            wanted = count
        chosen = [rng.choice(live) for _ in range(wanted)]
        config = self.bench.config
        codes = [code for code in range(16) if config.tile_min_bytes <= size_bytes(code) <= config.tile_max_bytes]
        used = sum(len(tile.granules) for _, _, tile in live)
        # Near the limit tiles are small and nothing is kept, or most programs would end for want of space.
        crowded = used > config.granules * rng.choice((0.4, 0.6, 0.9))
        code = codes[0] if crowded else min(rng.choice(codes), rng.choice(codes), rng.choice(codes))
        block.sources = tuple(
            (queue, index, int(rng.random() < 0.3 * (not crowded)), 2 * place + 3)
            for place, (queue, index, _) in enumerate(chosen)
        )
        if name != "TSTORE":
            block.destinations = tuple((rng.choice((0, rng.randrange(4))), code, 9 + 2 * at) for at in range(count))
        smallest = min([size_bytes(tile.code) for _, _, tile in chosen] + [size_bytes(code)] * (name != "TSTORE"))
        if name in MOVES and smallest >= 512:
            block.layout = rng.choice(LAYOUTS[name])
        self._dimensions(block, smallest * 8 // block.bits, count)
        if name in ("TLOAD", "TSTORE"):
            block.scalars = (rng.randrange(1 << 12) << rng.choice((0, 0, 4)), rng.choice((0, 64, 333, 1 << 12)))[
                : rng.choice((1, 2))
            ]
            block.acquire, block.release = int(rng.random() < 0.1), int(rng.random() < 0.1)
        elif name in ("TADDS", "TEXPANDS"):
            block.scalars = (rng.getrandbits(64),)
        block.trap = int(rng.random() < 0.04)
        block.awaits = tuple(rng.randrange(9) for _ in range(rng.choice((0, 0, 1, 3))))
        block.token = int(rng.random() < 0.3)
        block.flags = rng.choice((0, 0, 0, rng.randrange(8)))
        if rng.random() < self.wrong:
            self._spoil(block)
        return block

    def _dimensions(self, block, elements, count):
        """Rows and columns that fit into ``count`` tiles with a number of elements, often exactly."""
        rng = self.rng
        block.columns = rng.randint(1, max(1, min(elements, rng.choice((4, 64, elements)))))
        if block.bits == 4:
            block.columns += block.columns % 2
        if any(order in ("NZ", "ZN") for order in block.orders) and block.name in MOVES:
            # A power of two of fractals beside each other always leaves whole ones.
            unit = 16 if "ZN" in block.orders else 256 // block.bits
            if block.orders in (("NZ", "ZN"), ("ZN", "NZ")):
                unit = max(16, 256 // block.bits)
            block.columns = unit << rng.randrange(max(1, (elements * block.bits // 8 // 32 // unit).bit_length()))
        if block.engine in ("loads", "stores") and not block.by_columns:
            block.columns *= count
            most = max(1, elements * count // block.columns)
        else:
            most = max(1, elements // block.columns) * (count if block.by_columns else 1)
        block.rows = rng.choice((most, rng.randint(1, most)))
        block.valid_columns = rng.choice((block.columns, rng.randint(1, block.columns)))

    def _spoil(self, block):
        """Break something, not always a rule."""
        rng = self.rng
        kind = rng.randrange(7)
        if kind == 0 and block.sources:
            queue, _, reuse, word = block.sources[-1]
            block.sources = (*block.sources[:-1], (queue, rng.randrange(16), reuse, word))
        elif kind == 1 and block.destinations:
            queue, _, word = block.destinations[-1]
            block.destinations = (*block.destinations[:-1], (queue, rng.choice((1, 3, 6, 12, 15)), word))
        elif kind == 2:
            block.valid_columns = rng.choice((block.columns + 1, 65535))
        elif kind == 3:
            block.rows = rng.choice((block.rows + 1, 65535))
        elif kind == 4:
            block.columns = min(block.columns + 1, 65535)
        elif kind == 5 and block.name == "TLOAD":
            block.engine_fault = (int(Rule.MEM_READ), rng.getrandbits(64))
        elif block.name in ("TLOAD", "TSTORE"):
            block.scalars = (
                rng.choice((rng.getrandbits(64), (1 << 64) - 8)),
                rng.choice((rng.getrandbits(64), (1 << 64) - 64)),
            )
            if block.name == "TSTORE" and rng.random() < 0.5:
                block.engine_fault = (int(Rule.MEM_WRITE), rng.getrandbits(64))


@cocotb.test(timeout_time=20, timeout_unit="ms")
async def random_programs(dut):
    """Several programs on one state, faults and ends between them."""
    given = parameters()
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Bench(dut, configuration(), stall=given["stall"], latency=tuple(given["latency"]))
    await bench.begin()
    rules = []
    for _ in range(given["programs"]):
        await bench.restart()
        Generator(bench, rng, given["wrong"]).program(rng.randint(5, 60))
        rules.append(bench.expected_records[-1][0].rule)
        await bench.halted()
        await cycles(dut, rng.randrange(3))
    dut._log.info(
        "%d records, ends: %s",
        bench.records,
        {Rule(rule).name if rule else "FINISH": rules.count(rule) for rule in set(rules)},
    )
    assert bench.records > 8 * given["programs"]


def tile(code=8, queue=0, word=5):
    """A block that makes a tile."""
    return Block(name="TEXPANDS", type="U8", scalars=(7,), destinations=((queue, code, word),))


def load(base, *, code=4, name="TLOAD", **more):
    """A load, or a block like it, of four rows of 16 bytes."""
    operand = {"destinations": ((3, code, 5),)} if name == "TLOAD" else {"sources": ((0, 0, 1, 5),)}
    block = Block(name=name, type="U8", rows=4, valid_columns=16, columns=16, scalars=(base, 64), **operand)
    return dataclasses.replace(block, **more)


def store(base, **more):
    return load(base, name="TSTORE", **more)


def move(layout, **more):
    """A move from tile to tile of four rows of 16 bytes."""
    return load(0, name="TMOV", layout=layout, scalars=(), destinations=((3, 4, 9),), **more)


NOTHING = (1, 9, 0, 7)
"""A source name that was never written."""
ADD = Block(name="TADD", type="U32", rows=8, valid_columns=8, columns=8, destinations=((1, 4, 9),), word=0)
T1, T2 = (0, 0, 1, 3), (0, 1, 1, 3)

RULES = {
    # Both sources are wrong: the first one is reported. It wins over everything else that is wrong.
    "first_source": (Rule.TILE_UNREADABLE, dataclasses.replace(ADD, sources=(NOTHING, (2, 0, 0, 3)), valid_columns=9)),
    "second_source": (Rule.TILE_UNREADABLE, dataclasses.replace(ADD, sources=(T1, NOTHING))),
    "size_below": (
        Rule.PARM_SIZE,
        dataclasses.replace(ADD, sources=(T1, T2), destinations=((1, 3, 9),), valid_columns=9),
    ),
    "size_above": (Rule.PARM_SIZE, dataclasses.replace(ADD, sources=(T1, T2), destinations=((1, 12, 9),))),
    "columns": (Rule.PARM_VALID_COL, dataclasses.replace(ADD, sources=(T1, T2), valid_columns=9, rows=65535)),
    "rows_of_source": (
        Rule.PARM_VALID_ROW,
        dataclasses.replace(ADD, sources=(T1, T2), destinations=((1, 8, 9),), rows=9),
    ),
    "rows_of_destination": (Rule.PARM_VALID_ROW, dataclasses.replace(ADD, sources=((0, 2, 1, 3),) * 2, rows=9)),
    "no_row": (Rule.PARM_VALID_ROW, dataclasses.replace(ADD, sources=(T1, T2), columns=65)),
    "largest": (Rule.PARM_VALID_ROW, load(0, type="FP64", rows=65535, columns=65535)),
    "odd_columns": (Rule.PARM_ALIGN, load(0, type="U4x2", valid_columns=3, columns=5)),
    "columns_of_nz": (Rule.PARM_ALIGN, load(0, code=5, layout="ND2NZ")),
    "rows_of_nz": (Rule.PARM_ALIGN, load(0, code=6, columns=96, layout="ND2NZ")),
    "rows_of_small_nz": (Rule.PARM_ALIGN, load(0, columns=32, layout="ND2NZ")),
    "no_row_of_nz": (Rule.PARM_VALID_ROW, load(0, rows=1, columns=512, layout="ND2NZ")),
    "columns_of_zn": (Rule.PARM_ALIGN, load(0, code=5, valid_columns=8, columns=8, layout="DN2ZN")),
    "rows_of_zn": (Rule.PARM_ALIGN, load(0, code=6, columns=48, layout="DN2ZN")),
    "rows_of_small_zn": (Rule.PARM_ALIGN, load(0, columns=16, layout="DN2ZN")),
    "columns_before_fractals": (Rule.PARM_VALID_COL, load(0, code=5, valid_columns=9, columns=8, layout="DN2ZN")),
    "vector_source": (
        Rule.PARM_CAPACITY,
        Block(name="TROWEXPAND", type="U32", rows=65, columns=1, sources=(T1,), destinations=((1, 8, 9),)),
    ),
    "vector_result": (
        Rule.PARM_CAPACITY,
        Block(name="TROWMAX", type="FP16", rows=129, columns=1, sources=((0, 2, 1, 3),), destinations=((1, 4, 9),)),
    ),
    "columns_of_parts": (Rule.PARM_SPLIT, load(0, columns=17, valid_columns=18, destinations=((1, 4, 5), (2, 4, 7)))),
    "rows_of_parts": (
        Rule.PARM_SPLIT,
        load(0, columns=96, rows=99, layout="DN2ZN", destinations=((1, 5, 5), (2, 5, 5), (1, 5, 7))),
    ),
    "sizes_of_parts": (Rule.PARM_SPLIT, load(0, columns=32, destinations=((1, 4, 5), (2, 5, 7)))),
    "sizes_of_sources": (Rule.PARM_SPLIT, store(0, columns=32, sources=(T1, (0, 2, 1, 5)))),
    "whole_size_of_parts": (
        Rule.PARM_SIZE,
        load(0, columns=17, destinations=((1, 4, 5), (2, 4, 7), (2, 3, 9))),
    ),
    "valid_columns_of_parts": (
        Rule.PARM_VALID_COL,
        load(0, columns=32, valid_columns=33, destinations=((1, 4, 5), (2, 4, 7))),
    ),
    "rows_of_two_slices": (Rule.PARM_VALID_ROW, load(0, columns=32, rows=17, destinations=((1, 4, 5), (2, 4, 7)))),
    "rows_of_two_halves": (
        Rule.PARM_VALID_ROW,
        load(0, columns=16, rows=65, layout="DN2ZN", destinations=((1, 5, 5), (2, 5, 7))),
    ),
    "odd_columns_of_parts": (
        Rule.PARM_ALIGN,
        load(0, type="U4x2", columns=10, valid_columns=3, destinations=((1, 4, 5), (2, 4, 7))),
    ),
    "columns_of_nz_parts": (
        Rule.PARM_ALIGN,
        load(0, columns=32, layout="ND2NZ", destinations=((1, 5, 5), (2, 5, 7))),
    ),
    "rows_of_zn_source": (Rule.PARM_ALIGN, move("ZN2ND", columns=48, sources=((0, 2, 1, 5),))),
    "rows_of_zn_result": (Rule.PARM_ALIGN, move("NZ2ZN", columns=32, sources=((0, 2, 1, 5),))),
    "rows_of_move": (Rule.PARM_VALID_ROW, move("NORM", rows=17, sources=((0, 2, 1, 5),))),
    "space": (Rule.CAPACITY, tile(code=8)),
    "space_for_parts": (Rule.CAPACITY, load(0, columns=32, destinations=((1, 7, 5), (2, 7, 7)))),
}


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def bind_rules(dut):
    """Each rule, behind a store that is slow and before a load; then the program goes on from the state before."""
    bench = Bench(dut, configuration(), latency=(1, 30))
    await bench.begin()
    # T#4 fills half of the 8 KiB, T#3 has 512 bytes, T#2 and T#1 have 256: no run is left for another 4 KiB.
    await bench.program([tile(code=8), tile(code=5), tile(code=4), tile(code=4), FINISH])
    for name, (rule, block) in RULES.items():
        block = dataclasses.replace(block, address=0x4000)
        await bench.restart()
        bench.put(store(0x100, address=0x1000), block, load(0x100, address=0x2000), FINISH)
        outcome, _ = bench.expected_records[-1]
        assert outcome.rule == rule, f"{name}: the reference says {outcome.rule}"
        await bench.halted()
    await bench.program([load(0x100), FINISH])
    assert bench.records == 4 + 1 + 2 * len(RULES) + 2


async def starts(bench, number, within=60):
    """Whether the command of a block is taken in the next cycles."""
    for _ in range(within):
        await RisingEdge(bench.dut.clk)
        if number in bench.command_cycles:
            return True
    return False


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def loads_and_stores(dut):
    """A load passes a store to other addresses, and waits for one that may touch a byte of its own."""
    bench = Bench(dut, configuration())
    await bench.begin()
    await bench.program([tile(code=4, queue=0), FINISH])
    # The store touches 0x1000 to 0x10cf.
    columns = {"code": 5, "valid_columns": 2, "columns": 16, "layout": "DN2ZN"}
    apart = [load(0x10D0), load(0x1000 - 0xD0), load(0x1000, rows=1, scalars=(0xFF0,)), load(1 << 20),
             load(0x1000 - 0x44, **columns), load(0x1010), load(0x1030), load(0xFF0), load(0xFD0), load(0x1010, rows=7),
             load(0x1010, **columns | {"valid_columns": 4})]  # fmt: skip
    touching = [load(0x10CF), load(0x1000 - 0xCF), load(0x1040, rows=1), load(0x1000 - 0x43, **columns), load(0x100F), load(0x1031), load(0xFF1),
                load(0xFCF), load(0x100E, **columns), load(0x1010, scalars=(0x1010, 63)), load((1 << 40) + 0x1010), load(0, scalars=(0, 1 << 63)),
                load(0, scalars=((1 << 64) - 1, 64)), load(0, scalars=(1 << 39, 1 << 38))]  # fmt: skip
    # The last row of the wide one begins at 3 << 33 and some.
    wide = store(0, scalars=(0x1000, 1 << 33))
    for older, blocks, passes in (
        (store(0x1000), apart, True), (store(0x1000), touching, False),
        (wide, [load(4 << 33), load(0)], True), (wide, [load((3 << 33) + 0x1000), load(3 << 32)], False),
    ):  # fmt: skip
        for block in blocks:
            await bench.restart()
            first = bench.reference.number
            bench.held = {first}
            bench.put(older, block, FINISH)
            assert await starts(bench, first + 1) == passes, block
            bench.held = set()
            await bench.halted()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def attributes(dut):
    """Acquire holds younger loads, release waits for older blocks, a trap holds everything; a token is waited for."""
    bench = Bench(dut, configuration())
    await bench.begin()
    await bench.program([tile(code=4), FINISH])
    for blocks in (
        [load(0, acquire=1), load(0x1000)],
        [load(0), load(0x1000, release=1)],
        [load(0, trap=1), load(0x1000)],
        [store(0, token=1), load(0x1000, awaits=(2, 1))],
    ):
        await bench.restart()
        first = bench.reference.number
        bench.held = {first}
        bench.put(*blocks, FINISH)
        assert not await starts(bench, first + 1), blocks
        bench.held, bench.resume = set(), False
        assert await starts(bench, first + 1) == (not blocks[0].trap), blocks
        bench.resume = True
        await bench.halted()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def released_storage(dut):
    """Storage that a block in flight gives up is written once that block has committed, by a smaller tile or a larger one."""
    bench = Bench(dut, configuration())
    await bench.begin()
    # All of the 8 KiB, halved: T#1, then U#2 and U#1.
    await bench.program([tile(code=8), tile(code=7, queue=1), tile(code=7, queue=1), FINISH])
    upper_half = [store(0x100, sources=((0, 0, 0, 5),)), tile(code=7, queue=2), load(0x2000, code=7)]
    around = [store(0x100, sources=((1, 1, 0, 5),)), load(0x2000, code=8)]
    for blocks, before in ((upper_half, []), (around, [store(0x100, sources=((1, 0, 0, 5),))])):
        await bench.program([*before, FINISH])
        await bench.restart()
        first, last = bench.reference.number, bench.reference.number + len(blocks) - 1
        bench.held = {first}
        bench.put(*blocks, FINISH)
        assert not await starts(bench, last), blocks
        bench.held = set()
        assert await starts(bench, last), blocks
        await bench.halted()


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def cycle_counts(dut):
    """Idle core: command in the fifth cycle, of a store in the sixth; record two cycles after the report. A stream: a block every 12 cycles."""
    bench = Bench(dut, configuration(), latency=(20, 20))
    await bench.begin()
    await bench.program([tile(code=4), tile(code=4), FINISH])
    fractals = load(0x100, code=5, columns=32, layout="ND2NZ")
    for block in (dataclasses.replace(ADD, sources=(T1, T2)), load(0x100), fractals, store(0x100)):
        await bench.restart()
        number = bench.reference.number
        bench.put(block)
        while number not in bench.record_cycles:
            await RisingEdge(dut.clk)
        bind = bench.command_cycles[number] - bench.appeared[number]
        commit = bench.record_cycles[number] - bench.command_cycles[number] - 20
        dut._log.info(
            "%s: command %d cycles after its description, record %d after the report", block.name, bind, commit
        )
        assert bind <= (6 if block.name == "TSTORE" else 5)
        assert commit <= 2
        bench.put(FINISH)
        await bench.halted()

    bench.latency = (1, 1)
    await bench.restart()
    first = bench.reference.number
    chain = [dataclasses.replace(ADD, sources=((1, 0, 0, 3), (2, 0, 0, 3))), tile(4, 1), tile(4, 2)]
    bench.put(tile(4, 1), tile(4, 2), *chain * 20, FINISH)
    await bench.halted()
    spent = bench.record_cycles[first + 60] - bench.record_cycles[first]
    dut._log.info("stream: %.2f cycles a block", spent / 60)
    assert spent <= 60 * 12
