"""Where moves of comparable machines have failed: single bytes with the places that the ISA's formulas and examples give them.

Every fact is checked on the model, and on the core as far as its configuration runs the move.
"""

import random
from dataclasses import dataclass
from itertools import pairwise

import pytest
from traps import INPUT, OUTPUT, SECOND, Trap, run_and_check, tile_size

from linxtile.config import PRESETS
from linxtile.isa.codes import Layout, PadValue
from linxtile.isa.faults import Rule
from linxtile.isa.types import data_type
from linxtile_sim.cosim import run_scenarios
from linxtile_sim.move_programs import move_program
from linxtile_sim.move_traits import kinds, move_layouts
from linxtile_sim.moves import OUTPUT_BASE, Move
from linxtile_sim.scenario import Pace

pytestmark = pytest.mark.cosim

DEFAULT, REFERENCE = PRESETS["default"], PRESETS["reference"]
FAST, STALLED = Pace(latency=1), Pace(latency=6, stalls=(0.3, 0.4, 0.5, 0.4, 0.5))


@dataclass(frozen=True)
class Fact:
    """A move, and elements that must come out of it.

    Attributes
    ----------
    copied : dict
        Of a load: (tile, byte in the tile) to the memory address it comes from. Of a store: memory address to (tile, byte).
        Of a TMOV: byte in the destination to byte in the source.
    padded : dict
        (tile, byte in the tile) to the code of the element there.
    """

    name: str
    move: Move
    copied: dict
    padded: dict

    def runs_on(self, config):
        """Whether the configuration runs the move."""
        name = self.move.name
        return (
            name in kinds(config)
            and self.move.layout in move_layouts(name, config)
            and self.move.tiles <= config.move_tiles
        )

    def program(self, config):
        # One seed for all: programs of neighbouring seeds share their memory, and filling that takes time.
        return move_program(1, config, [self.move], name=self.name)

    def check(self, program, result):
        """Compare every element with where it must come from."""
        assert result.fault is None, f"{self.name}: {result.fault}"
        size = self.move.element.storage_bits // 8
        blocks = [block for block in result.blocks if block.description is not None]
        tiles = [bytes(tile) for block in blocks for tile in block.new_tiles.values()]
        of_move = [bytes(tile) for tile in blocks[-1].new_tiles.values()]
        for target, origin in self.copied.items():
            if self.move.name == "TSTORE":
                got = written(blocks[-1].writes, target, size)
                expected = tiles[program.steps[-1].sources[origin[0]]][origin[1] : origin[1] + size]
            elif self.move.name == "TLOAD":
                got = of_move[target[0]][target[1] : target[1] + size]
                expected = memory_at(program.scenario.memory, origin, size)
            else:
                got = of_move[0][target : target + size]
                expected = tiles[program.steps[-1].sources[0]][origin : origin + size]
            assert got == expected, f"{self.name}: {target} is {got.hex()}, not the {expected.hex()} of {origin}"
            # Equal neighbours would prove nothing.
            assert any(expected) or self.move.element.storage_bits == 8
        for (tile, place), code in self.padded.items():
            got = int.from_bytes(of_move[tile][place : place + size], "little")
            assert got == code, f"{self.name}: byte {place} of tile {tile} holds {got:#x}, not {code:#x}"


def written(writes, address, size):
    after = {}
    for start, content in writes:
        after.update(enumerate(content, start))
    return bytes(after[address + place] for place in range(size))


def memory_at(pieces, address, size):
    for start, content in pieces.items():
        if start <= address and address + size <= start + len(content):
            return content[address - start : address - start + size]
    raise KeyError(f"the program gives memory no bytes at {address:#x}")


def move(name, layout, element, valid, columns, size, base=INPUT, stride=None, *, tiles=1, pad=PadValue.ZERO, to=None):
    """A move of (rows, columns) valid elements."""
    return Move(
        name, Layout[layout], data_type(element), *valid, columns, tiles, size, to or size, pad, base, stride
    )  # fmt: skip


FACTS = [
    # The distance of fractal columns is the tile's Row, 32, not the 17 valid rows.
    Fact("taller than valid", move("TLOAD", "ND2NZ", "FP16", (17, 32), 32, 2048, stride=64),
         {(0, 32 * 16 * 2): INPUT + 32, (0, (32 * 16 + 16 * 16) * 2): INPUT + 16 * 64 + 32}, {(0, 17 * 16 * 2): 0}),
    Fact("taller than valid, by columns", move("TLOAD", "DN2NZ", "FP16", (17, 32), 32, 2048, stride=34),
         {(0, 32 * 16 * 2): INPUT + 16 * 34, (0, (32 * 16 + 16 * 16) * 2): INPUT + 16 * 34 + 32}, {}),
    Fact("wider than valid in ZN", move("TLOAD", "ND2ZN", "FP16", (32, 17), 32, 2048, stride=34),
         {(0, 32 * 16 * 2): INPUT + 16 * 34, (0, (32 * 16 + 16 * 16) * 2): INPUT + 16 * 34 + 32}, {}),
    Fact("stored from a taller tile", move("TSTORE", "NZ2ND", "FP16", (17, 32), 32, 2048, OUTPUT_BASE, 64),
         {OUTPUT_BASE + 32: (0, 32 * 16 * 2), OUTPUT_BASE + 16 * 64 + 34: (0, (32 * 16 + 16 * 16 + 1) * 2)}, {}),
    Fact("stored by columns", move("TSTORE", "ZN2DN", "FP16", (32, 17), 32, 2048, OUTPUT_BASE, 64),
         {OUTPUT_BASE + 32: (0, 32 * 16 * 2), OUTPUT_BASE + 16 * 64 + 34: (0, (32 * 16 + 16 * 16 + 1) * 2)}, {}),
    Fact("from a taller to a lower tile", move("TMOV", "NZ2ND", "FP16", (17, 32), 32, 4096, to=2048),
         {16 * 2: 64 * 16 * 2, (16 * 32 + 17) * 2: (64 * 16 + 16 * 16 + 1) * 2}, {(0, 17 * 32 * 2): 0}),
    Fact("from a lower to a taller tile", move("TMOV", "ND2NZ", "FP16", (17, 32), 32, 2048, to=4096),
         {64 * 16 * 2: 16 * 2, (64 * 16 + 16 * 16 + 1) * 2: (16 * 32 + 17) * 2}, {(0, 17 * 16 * 2): 0}),
    # A stride of more than 16 or 20 bits must not wrap.
    *(Fact(f"{layout}, stride {stride:#x}", move("TLOAD", layout, "U8", valid, 32, 1024, stride=stride),
           {(0, place): INPUT + stride, (0, place + step): INPUT + stride + 1}, {})
      for layout, valid, place, step in (
          ("NORM", (2, 32), 32, 1), ("ND2NZ", (2, 32), 32, 1), ("ND2ZN", (2, 32), 1, 32),
          ("DN2NZ", (32, 2), 1, 32), ("DN2ZN", (32, 2), 32, 1),
      )
      for stride in (0x1_0000, 0x20_0000)),
    *(Fact(f"stored by {layout}, stride {stride:#x}", move("TSTORE", layout, "U8", (2, 32), 32, 1024, INPUT, stride),
           {INPUT + stride: (0, place), INPUT + stride + 1: (0, place + step)}, {})
      for layout, place, step in (("NORM", 32, 1), ("NZ2ND", 32, 1), ("ZN2ND", 1, 32))
      for stride in (0x1_0000, 0x20_0000)),
    # Lines of memory in column order are a stride apart, not an element.
    Fact("line distance of columns", move("TLOAD", "DN2NZ", "U32", (5, 3), 8, 512, stride=20),
         {(0, 4): INPUT + 20, (0, 8): INPUT + 40, (0, (4 * 8 + 2) * 4): INPUT + 40 + 16}, {(0, 12): 0}),
    Fact("line distance of columns in ZN", move("TLOAD", "DN2ZN", "U32", (5, 3), 16, 512, stride=20),
         {(0, 32): INPUT + 20, (0, 64): INPUT + 40, (0, 64 + 16): INPUT + 40 + 16}, {(0, 96): 0, (0, 20): 0}),
    Fact("line distance of stored columns", move("TSTORE", "NZ2DN", "U32", (5, 3), 8, 512, OUTPUT_BASE, 20),
         {OUTPUT_BASE + 20: (0, 4), OUTPUT_BASE + 56: (0, (4 * 8 + 2) * 4)}, {}),
    # Rows below the valid area and columns beside it are padding, whether or not the whole is larger.
    Fact("padding on two sides", move("TLOAD", "NORM", "FP32", (3, 5), 8, 256, stride=20, pad=PadValue.MIN),
         {(0, 0): INPUT, (0, (2 * 8 + 4) * 4): INPUT + 56},
         {(0, place * 4): 0xFF7FFFFF for place in (5, 6, 7, 13, 23, *range(24, 64))}),
    Fact("padding on two sides of cells", move("TLOAD", "ND2NZ", "FP32", (3, 5), 8, 512, stride=20, pad=PadValue.MIN),
         {(0, 0): INPUT, (0, (2 * 8 + 4) * 4): INPUT + 56},
         {(0, place * 4): 0xFF7FFFFF for place in (5, 6, 7, 13, 23, *range(24, 128))}),
    Fact("padding of a moved tile", move("TMOV", "NORM", "FP32", (3, 5), 8, 512, to=256, pad=PadValue.MIN),
         {0: 0, (2 * 8 + 4) * 4: (2 * 8 + 4) * 4},
         {(0, place * 4): 0xFF7FFFFF for place in (5, 6, 7, 13, 23, *range(24, 64))}),
    # Rows that are longer than a burst, and padded.
    Fact("a padded row of several bursts", move("TLOAD", "NORM", "U8", (1, 300), 512, 1024, INPUT + 0xF03),
         {(0, place): INPUT + 0xF03 + place for place in (0, 252, 253, 299)}, {(0, 300): 0, (0, 511): 0, (0, 512): 0}),
    Fact("a row across 4 KiB", move("TLOAD", "NORM", "U8", (1, 300), 300, 512, INPUT + 0xFE0),
         {(0, place): INPUT + 0xFE0 + place for place in (0, 31, 32, 299)}, {(0, 300): 0}),
    *(Fact(f"unaligned by {by}", move("TLOAD", "NORM", "U32", (4, 16), 16, 256, INPUT + 0x1000 + by),
           {(0, 0): INPUT + 0x1000 + by, (0, 252): INPUT + 0x10FC + by}, {}) for by in (1, 2, 3)),
    # The worked examples of the ISA's load.
    Fact("three parts", move("TLOAD", "ND2NZ", "FP32", (3, 20), 24, 512, stride=128, tiles=3),
         {(0, 0x000): INPUT, (0, 0x01C): INPUT + 0x1C, (0, 0x020): INPUT + 0x80, (0, 0x05C): INPUT + 0x11C,
          (1, 0x000): INPUT + 0x20, (1, 0x024): INPUT + 0xA4, (1, 0x05C): INPUT + 0x13C,
          (2, 0x000): INPUT + 0x40, (2, 0x04C): INPUT + 0x14C},
         {(0, 0x060): 0, (0, 0x1FC): 0, (1, 0x060): 0, (2, 0x010): 0, (2, 0x050): 0, (2, 0x05C): 0}),
    Fact("two parts by columns", move("TLOAD", "DN2NZ", "FP32", (20, 3), 8, 512, stride=128, tiles=2, pad=PadValue.MAX),
         {(0, 0x000): INPUT, (0, 0x004): INPUT + 0x80, (0, 0x008): INPUT + 0x100, (0, 0x020): INPUT + 0x04,
          (0, 0x1E0): INPUT + 0x3C, (0, 0x1E8): INPUT + 0x13C, (1, 0x000): INPUT + 0x40, (1, 0x004): INPUT + 0xC0,
          (1, 0x008): INPUT + 0x140, (1, 0x060): INPUT + 0x4C, (1, 0x068): INPUT + 0x14C},
         {(0, 0x00C): 0x7F7FFFFF, (1, 0x080): 0x7F7FFFFF}),
    Fact("two parts, two fractal columns", move("TLOAD", "DN2NZ", "FP32", (32, 16), 16, 1024, stride=128, tiles=2),
         {(1, 512): INPUT + 8 * 128 + 16 * 4}, {}),
]  # fmt: skip
IDS = [fact.name for fact in FACTS]
assert len(set(IDS)) == len(IDS)


@pytest.mark.parametrize("fact", FACTS, ids=IDS)
def test_the_model_puts_each_byte_where_the_formulas_say(fact):
    program = fact.program(REFERENCE)
    fact.check(program, program.scenario.machine(REFERENCE).run())


def run(scenarios, name):
    """Run in lockstep on the default core and return the results."""
    outcomes, _ = run_scenarios(scenarios, DEFAULT, name=name)
    complaints = [outcome.complaint for outcome in outcomes if not outcome.agrees]
    assert not complaints, complaints[0]
    return [outcome.report.result for outcome in outcomes]


def test_the_core_puts_each_byte_where_the_formulas_say():
    """What it does not run it refuses as unsupported."""
    programs = [(fact, fact.program(DEFAULT), pace) for fact in FACTS for pace in (FAST, STALLED)]
    results = run([program.scenario.at(pace) for _, program, pace in programs], "move_traps")
    checked = 0
    for (fact, program, _), result in zip(programs, results, strict=True):
        if fact.runs_on(DEFAULT):
            fact.check(program, result)
            checked += 1
        else:
            assert result.fault is not None and result.fault.rule is Rule.UNSUPPORTED, fact.name
    assert checked >= 2 * sum(fact.move.layout is Layout.NORM and fact.move.name != "TMOV" for fact in FACTS) >= 20


def store_text(layout):
    """Three stores of which no line begins or ends with a bus beat, in one of the layouts of stores."""
    shape = "<37, 9, 64, U16>" if layout == "NORM" else "<LB0:37, LB1:9, LB2:64, U16>"
    text = ""
    for place in range(3):
        text += f"""
            TLOAD.NORM <64, 16, U16>, [a{place}], ->T<2KB>
            TSTORE.{layout} {shape}, T#1, [a{place + 3}, a6]
        """
    return text


def test_no_beat_of_a_store_is_lost_whatever_the_channels_do():
    """Each of AW, W and B is held back with a chance of its own; data and address may be held back alternately."""
    rng = random.Random(6)
    content = [rng.randbytes(2048) for _ in range(3)]
    bases = {"a0": INPUT, "a1": SECOND, "a2": INPUT + 0x8001}
    targets = [OUTPUT + 1, OUTPUT + 0x4FF9, OUTPUT + 0x8006]
    registers = bases | dict(zip(("a3", "a4", "a5"), targets, strict=True)) | {"a6": 101}
    expected = {
        target + 101 * row: data[128 * row : 128 * row + 74]
        for target, data in zip(targets, content, strict=True)
        for row in range(9)
    }
    # What lies between the rows stays.
    expected |= {target + 101 * row + 74: bytes(27) for target in targets for row in range(9)}
    memory = dict(zip(bases.values(), content, strict=True))
    levels = (0, 0.1, 0.5, 0.9)
    paces = [Pace(1, (0, 0, aw, w, b)) for aw in levels for w in levels for b in levels]
    paces += [Pace(rng.choice([1, 3, 40]), tuple(rng.random() * 0.95 for _ in range(5)), 7) for _ in range(40)]
    run_and_check(
        [Trap("held back", store_text("NORM"), memory, registers, expected)], DEFAULT, paces, name="held_back"
    )


def reused_place(reader, expected):
    """A full tile RAM in which a slow reader gives up a tile whose place a load takes at once."""
    quarter = DEFAULT.tile_ram_bytes // 4
    rng = random.Random(reader)
    shape, size = f"64, {quarter // 64}, U8", tile_size(quarter)
    old, new = rng.randbytes(quarter), rng.randbytes(quarter)
    names = {"old": old, "new": new}
    text = f"""
        TLOAD.NORM <{shape}>, [a0], ->T<{size}>
        TEXPANDS <{shape}>, [a3], ->U<{size}>
        TEXPANDS <{shape}>, [a3], ->U<{size}>
        {"" if "->" in reader else f"TEXPANDS <{shape}>, [a3], ->U<{size}>"}
        {reader}
        TLOAD.NORM <{shape}>, [a1], ->N<{size}>
        TSTORE.NORM <{shape}>, N#1, [a4]
    """
    far = OUTPUT + 0x4_0000
    check = {OUTPUT: names[expected], far: new}
    registers = {"a0": INPUT, "a1": SECOND, "a2": OUTPUT, "a3": 0x55, "a4": far}
    return Trap(
        f"a place that is being read: {reader}", text.replace("SHAPE", shape).replace("SIZE", size),
        {INPUT: old, SECOND: new}, registers, check,
    )  # fmt: skip


def test_no_tile_is_overwritten_while_an_older_block_reads_it():
    traps = [reused_place("TSTORE.NORM <SHAPE>, T#1, [a2]", "old")]
    if "TMOV" in kinds(DEFAULT):
        traps.append(reused_place("TMOV.NORM <SHAPE>, T#1, ->M<SIZE>\nTSTORE.NORM <SHAPE>, M#1, [a2]", "old"))
    paces = [FAST, Pace(1, (0, 0, 0.9, 0.9, 0)), Pace(100, (0, 0, 0, 0, 0.9))]
    run_and_check(traps, DEFAULT, paces, name="reused_place")
    for trap in traps:
        # The load's tile lies where the first tile was.
        blocks = trap.scenario(FAST).machine(DEFAULT).run().blocks
        bases = [tile.base for block in blocks for tile in block.new_tiles.values()]
        assert bases[0] == bases[-1] == 0 and len(bases) == 5


def test_loads_back_to_back_lose_no_beat():
    """R is never held back, and the second load's answers come right behind the first one's."""
    rng = random.Random(5)
    parts = [rng.randbytes(250 * 4) for _ in range(4)]
    bases = [INPUT + 5, SECOND + 10, INPUT + 0x5007, SECOND + 0x6FFF]
    registers = {f"r{12 + place}": base for place, base in enumerate(bases)}
    text = "".join(f"TLOAD.NORM <250, 4, U8>, [r{12 + place}], ->T<1KB>\n" for place in range(4))
    expected = {}
    for place in range(4):
        address = OUTPUT + 0x1000 * place + 3
        text += f"li a0, {address}\nTSTORE.NORM <250, 4, U8>, T#{4 - place}.reuse, [a0]\n"
        expected[address] = parts[place]
    paces = [Pace(latency) for latency in (1, 2, 3, 5, 64)]
    memory = dict(zip(bases, parts, strict=True))
    run_and_check([Trap("back to back", text, memory, registers, expected)], DEFAULT, paces, name="back_to_back")


def test_the_facts_cover_every_layout_of_loads_stores_and_moves_in_fractals():
    """A fact that no configuration runs would be none: each is run by the model, each layout of loads has two strides."""
    layouts = {fact.move.layout.name for fact in FACTS if fact.move.name == "TLOAD"}
    assert layouts == {layout.name for layout in move_layouts("TLOAD", REFERENCE)}
    strides = sorted({fact.move.stride for fact in FACTS if fact.move.stride})
    assert strides[-2:] == [0x1_0000, 0x20_0000]
    assert all(earlier < later for earlier, later in pairwise(strides))
