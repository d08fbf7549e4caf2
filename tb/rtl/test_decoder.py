"""Header decoder with its register file against the decoder of the golden model, on valid, mutated and random words."""

import random
from collections import Counter

import cocotb
import pytest
from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from cocotb.triggers import ReadOnly, RisingEdge

from linxtile.config import CoreConfig
from linxtile.decoder import Decoder
from linxtile.isa.block import Block, HeaderFault, SetupBlock
from linxtile.isa.codes import REGISTER_BITS, REGISTER_COUNT, Destination, Layout
from linxtile.isa.faults import RULES, Rule, Stage
from linxtile.isa.operation import Uses
from linxtile.isa.operations import OPERATIONS
from linxtile.isa.types import NO_TYPE
from linxtile.isa.words import WORDS, decode_word
from linxtile_rtl.decoder import HeaderDecoder
from linxtile_rtl.gpr import INDEX_BITS, GprFile, commit_layout
from linxtile_rtl.layouts import BlockKind, WordStatus, block_layout, max_destinations, max_sources, word_layout
from linxtile_sim.header_words import Generator
from linxtile_sim.streams import Sink, Source, cycles, start
from linxtile_sim.unit import parameters, run_unit

STALLS = [0.0, 0.4]
ALL_OPERATIONS = {row.name: frozenset(row.source_types or ()) for row in OPERATIONS}
CONFIGS = {
    "foundation": CoreConfig(register_log=32),
    "everything": CoreConfig(
        operations=ALL_OPERATIONS, move_tiles=8, move_layouts=frozenset(layout.name for layout in Layout)
    ),
}
HEADER_RULES = [row.rule for row in RULES if row.stage in (Stage.WORD, Stage.CLOSE)]


class FrontEnd(wiring.Component):
    """Decoder and register file as they are wired in the core, with a cycle counter."""

    def __init__(self, config):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(word_layout())),
            "o": Out(stream.Signature(block_layout(config))),
            "commit": In(stream.Signature(commit_layout())),
            "restart": In(1),
            "busy": Out(1),
            "cycle": Out(32),
            "host_index": In(INDEX_BITS),
            "host_write": In(1),
            "host_write_data": In(REGISTER_BITS),
            "host_read_data": Out(REGISTER_BITS),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.decoder = decoder = HeaderDecoder(self._config)
        m.submodules.registers = registers = GprFile(self._config)
        cycle = Signal(32)
        m.d.sync += cycle.eq(cycle + 1)
        wiring.connect(m, wiring.flipped(self.i), decoder.i)
        wiring.connect(m, decoder.o, wiring.flipped(self.o))
        wiring.connect(m, decoder.write, registers.write)
        wiring.connect(m, wiring.flipped(self.commit), registers.commit)
        for port in range(2):
            m.d.comb += [
                registers.read_index[port].eq(decoder.read_index[port]),
                decoder.read_data[port].eq(registers.read_data[port]),
            ]
        m.d.comb += [
            decoder.cycle.eq(cycle),
            self.cycle.eq(cycle),
            decoder.restart.eq(self.restart),
            registers.restore.eq(self.restart),
            self.busy.eq(registers.busy),
            registers.host_index.eq(self.host_index),
            registers.host_write.eq(self.host_write),
            registers.host_write_data.eq(self.host_write_data),
            self.host_read_data.eq(registers.host_read_data),
        ]
        return m


def payload(word):
    """Return a word as the stream carries it."""
    return {
        "bits": word.value,
        "is_long": int(word.bits == 32),
        "address": word.address,
        "last": int(word.last),
        "status": WordStatus[word.status.name],
    }


def expected_fault(item):
    return {
        "kind": BlockKind.FAULT,
        "rule": int(item.rule),
        "block_address": item.block_address,
        "word_address": item.word_address,
    }


def expected_block(block, config):
    """Return the fields of the description that a block defines."""
    operation = block.operation
    named = {
        name: getattr(block, name)
        for name in ("valid_columns", "valid_rows", "columns")
        if "m" not in operation.dimensions
    } or dict(zip(("valid_columns", "valid_rows", "columns"), block.lb, strict=True))

    def offset(address):
        return (address - block.address) // 2

    sources = [
        {"queue": int(s.queue), "index": s.index - 1, "reuse": int(s.reuse), "word_offset": offset(s.word_address)}
        for s in block.sources[: max_sources(config)]
    ]
    destinations = [
        {"size_code": d.size_code, "word_offset": offset(d.word_address)}
        | ({} if d.destination is Destination.ACC else {"queue": int(d.destination)})
        for d in block.destinations[: max_destinations(config)]
    ]
    return named | {
        "kind": BlockKind.TILE,
        "block_address": block.address,
        "operation": operation.number,
        "data_type": block.data_type.code,
        "layout": int(block.layout),
        "pad": block.byte_id if Uses.BYTE_ID in operation.uses else int(block.pad),
        "compare": block.compare,
        "rounding": int(block.rounding),
        "saturate": int(block.saturate),
        "canonical": int(block.canonical),
        "acquire": int(block.attributes.acquire),
        "release": int(block.attributes.release),
        "trap_after": int(block.attributes.trap),
        "awaited": tuple(block.dependency_sources),
        "produces_token": int(block.dependency_destination),
        "scalar_count": len(block.scalars),
        "scalars": list(block.scalars),
        "source_count": len(block.sources),
        "sources": sources,
        "destination_count": len(block.destinations),
        "destinations": destinations,
    }


def expected_setup(item):
    return {"kind": BlockKind.SETUP, "block_address": item.address, "register_writes": len(item.writes)}


def differences(got, wanted, path=""):
    """Return where ``got`` differs from what ``wanted`` asks for."""
    if isinstance(wanted, dict):
        return [text for key, value in wanted.items() for text in differences(got[key], value, f"{path}.{key}")]
    if isinstance(wanted, list):
        return [
            text for place, value in enumerate(wanted) for text in differences(got[place], value, f"{path}[{place}]")
        ]
    return [] if got == wanted else [f"{path[1:]}: got {got!r}, expected {wanted!r}"]


def check(got, item, config, context):
    """Compare one description with what the model yields; None stands for the end of the program."""
    got = got | {"awaited": tuple(token for token in got["awaits"] if token)}
    if item is None:
        wanted = {"kind": BlockKind.FINISH}
    elif isinstance(item, HeaderFault):
        wanted = expected_fault(item)
    elif isinstance(item, SetupBlock):
        wanted = expected_setup(item)
    else:
        wanted = expected_block(item, config)
    found = differences(got, wanted)
    if isinstance(item, Block) and item.second_type is not None and got["second_type"] != item.second_type.code:
        if (got["second_type"], item.second_type) != (NO_TYPE, item.data_type):
            found.append(f"second_type: got {got['second_type']}, expected {item.second_type.name}")
    rule = f" ({Rule(got['rule']).name})" if got["kind"] is BlockKind.FAULT and got["rule"] else ""
    assert not found, f"{context}: {got['kind']}{rule}: " + "; ".join(found)


class Bench:
    """Front end in simulation: runs programs one after the other, as the core would."""

    def __init__(self, dut, stall):
        self.dut = dut
        self.config = CONFIGS[parameters()["config"]]
        self.registers = [0] * REGISTER_COUNT
        self.words = Source(dut, "i", shape=word_layout(), stall=stall)
        self.commits = Source(dut, "commit", shape=commit_layout(), stall=stall)
        self.blocks = Sink(dut, "o", shape=block_layout(self.config), stall=stall, check=self._taken)
        for name in ("restart", "host_index", "host_write", "host_write_data"):
            getattr(dut, name).value = 0

    def _taken(self, description):
        if description["kind"] is BlockKind.SETUP:
            self.commits.put({"count": description["register_writes"]})

    async def begin(self, rng):
        await start(self.dut)
        await self._settled()
        for index in range(1, REGISTER_COUNT):
            self.registers[index] = rng.getrandbits(64)
            self.dut.host_index.value = index
            self.dut.host_write_data.value = self.registers[index]
            self.dut.host_write.value = 1
            await cycles(self.dut)
        self.dut.host_write.value = 0

    async def _settled(self):
        for _ in range(100):
            await RisingEdge(self.dut.clk)
            if self.dut.busy.value == 0:
                return
        raise AssertionError("registers stayed busy")

    async def run(self, program, label):
        """Run a program to its FAULT or FINISH, check all descriptions, and return what the model yields."""
        decoder = Decoder(self.config, self.registers)
        items, used = [], []
        for word in program:
            used.append(word)
            items += decoder.step(word)
            if items and isinstance(items[-1], HeaderFault):
                break
        else:
            items.append(None)
        self.blocks.received.clear()
        self.words.put(*map(payload, used))
        received = await self.blocks.wait(len(items), within=400)
        for place, item in enumerate(items):
            check(received[place], item, self.config, f"{label}, description {place}")
        await self.commits.drained()
        await self._end(len(items))
        return items

    async def _end(self, count):
        """Nothing may follow; then take back what was not committed and compare registers now and then."""
        for _ in range(2):
            await RisingEdge(self.dut.clk)
            assert self.dut.i_ready.value == 0, "a word would be accepted after the end"
        assert len(self.blocks.received) == count, "descriptions after the end"
        self.dut.restart.value = 1
        await cycles(self.dut)
        self.dut.restart.value = 0
        await self._settled()

    async def check_registers(self):
        for index in range(REGISTER_COUNT):
            self.dut.host_index.value = index
            await ReadOnly()
            value = self.dut.host_read_data.value.to_unsigned()
            assert value == self.registers[index], f"register {index}: {value:#x}, expected {self.registers[index]:#x}"
            await RisingEdge(self.dut.clk)


@cocotb.test(timeout_time=100, timeout_unit="ms")
@cocotb.parametrize(stall=STALLS)
async def programs_decode_as_in_the_model(dut, stall):
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Bench(dut, stall)
    await bench.begin(rng)
    generator = Generator(rng, bench.config)
    rules, kinds, forms = Counter(), Counter(), Counter()
    for number in range(parameters()["programs"]):
        program = generator.program()
        items = await bench.run(program, f"program {number}")
        for item in items:
            kinds[type(item).__name__] += 1
            if isinstance(item, HeaderFault):
                rules[item.rule] += 1
        for word in program:
            decoded = decode_word(word.value, word.bits)
            forms[decoded[0].name if decoded else None] += 1
        if number % 20 == 0:
            await bench.check_registers()
    dut._log.info("rules: %s", ", ".join(f"{rule.name} {rules[rule]}" for rule in HEADER_RULES))
    dut._log.info("descriptions: %s; words: %s", dict(kinds), dict(forms))
    hits = parameters()["hits"]
    rare = [rule.name for rule in HEADER_RULES if rules[rule] < hits]
    assert not rare, f"fewer than {hits} hits of {rare}"
    assert all(forms[row.name] >= hits for row in WORDS), forms
    assert min(kinds.values()) >= 10 * hits, kinds


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_word_a_cycle_and_no_bubble_between_blocks(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    bench = Bench(dut, 0.0)
    await bench.begin(rng)
    generator = Generator(rng, bench.config)
    program, closing = generator.plain_program(60)
    await bench.run(program, "plain program")
    stamps = [item["closed_at"] for item in bench.blocks.received[:-1]]
    late = [stamp - stamps[0] - (place - closing[0]) for stamp, place in zip(stamps, closing, strict=True)]
    assert not any(late), f"cycles lost before each block closed: {late}"


@pytest.mark.parametrize("programs, hits", [(400, 1), pytest.param(2000, 5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("config", CONFIGS)
def test_headers_decode_as_in_the_model(config, programs, hits):
    run_unit(
        FrontEnd(CONFIGS[config]),
        __file__,
        simulator="verilator",
        parameters={"config": config, "programs": programs, "hits": hits},
    )


def test_icarus_decodes_headers_as_in_the_model():
    run_unit(
        FrontEnd(CONFIGS["foundation"]),
        __file__,
        parameters={"config": "foundation", "programs": 60, "hits": 0},
    )
