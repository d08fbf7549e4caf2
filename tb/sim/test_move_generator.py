"""The generator of moves keeps its promises: traits, legality, and cases that cover every pair."""

import random
from collections import Counter
from itertools import combinations, product

import pytest

from linxtile.config import PRESETS
from linxtile.isa.codes import Layout, PadValue
from linxtile.isa.operations import operation
from linxtile.isa.support import RTL_OPERATIONS
from linxtile.isa.types import data_type
from linxtile_sim.move_programs import move_program, random_moves
from linxtile_sim.move_traits import BASES, SHAPES, STRIDES, Traits
from linxtile_sim.moves import REGION_BYTES, make_move, whole_shapes
from linxtile_sim.pairwise import pairs_of, pairwise
from linxtile_sim.programs import random_program

REFERENCE = PRESETS["reference"]
LOADS = operation("TLOAD").layouts


def made(seed, **wanted):
    """A load with some traits fixed, and its traits."""
    rng = random.Random(f"{seed} {wanted}")
    while True:
        traits = Traits(rng.choice(LOADS), "ragged", PadValue.MAX, rng.randint(1, 4), "byte", "gap")._replace(**wanted)
        element = data_type(rng.choice(["U8", "FP16", "FP32", "S64", "U4x2"]))
        move = make_move(rng, "TLOAD", element, traits)
        if move is not None:
            return move


@pytest.mark.parametrize("shape", SHAPES)
def test_valid_areas_are_what_they_are_called(shape):
    for seed in range(50):
        move = made(seed, shape=shape, tiles=3 if shape == "empty parts" else 1)
        rows = move.tiles * move.size * 8 // (move.columns * move.element.storage_bits)
        assert (rows, move.columns) in whole_shapes(move.layout, move.element, move.size, move.tiles)
        assert 1 <= move.valid_rows <= rows and 1 <= move.valid_columns <= move.columns
        if shape == "full":
            assert (move.valid_rows, move.valid_columns) == (rows, move.columns)
        elif shape == "one row":
            assert move.valid_rows == 1
        elif shape == "one column":
            assert move.valid_columns == 1
        elif shape == "empty parts" and move.by_columns:
            assert move.valid_rows <= rows // 3 * 2 or rows == 3
        elif shape == "empty parts":
            assert move.valid_columns <= move.columns // 3 * 2


@pytest.mark.parametrize("base", BASES)
def test_bases_are_what_they_are_called(base):
    for seed in range(50):
        move = made(seed, base=base, stride="absent")
        if base == "line":
            assert move.base % 64 == 0
        elif base == "element":
            assert move.base % max(move.element.storage_bits // 8, 1) == 0 and move.base % 64
        elif base == "byte":
            assert move.base % 2 == 1
        else:
            assert move.base // 4096 != (move.base + move.line_bytes - 1) // 4096 or move.line_bytes == 1


@pytest.mark.parametrize("stride", STRIDES)
def test_strides_are_what_they_are_called(stride):
    for seed in range(50):
        move = made(seed, stride=stride)
        if stride == "absent":
            assert move.stride is None
        elif stride == "exact":
            assert move.stride == move.line_bytes
        elif stride == "gap":
            assert move.stride > move.line_bytes
        elif stride == "overlap":
            assert move.stride < move.line_bytes
        elif stride == "zero":
            assert move.stride == 0
        elif stride == "backwards":
            assert move.stride >= 1 << 63 and (1 << 64) - move.stride >= move.line_bytes
        else:
            assert 1 << 16 <= move.stride < 1 << 40
        if stride != "far":
            addresses = move.line_addresses
            assert max(addresses) + move.line_bytes - min(addresses) <= REGION_BYTES


def test_programs_of_random_moves_are_legal_and_hold_everything():
    counts = Counter()
    for seed in range(120):
        rng = random.Random(seed)
        program = move_program(seed, REFERENCE, random_moves(rng, REFERENCE, 4, sizes=(256, 512, 1024)))
        result = program.scenario.machine(REFERENCE).run()
        assert result.fault is None, f"{program.scenario.name}: {result.fault}"
        for step in program.steps:
            move = step.move
            counts.update([(move.name, move.layout), (move.name, move.tiles), (move.name, move.element.storage_bits)])
            assert (len(step.sources) == move.tiles) is (move.name != "TLOAD")
    for name in ("TLOAD", "TSTORE", "TMOV"):
        most = 1 if name == "TMOV" else 8
        assert {key for of, key in counts if of == name} >= {
            *operation(name).layouts,
            *range(1, most + 1),
            4,
            8,
            16,
            32,
            64,
        }


def test_random_programs_take_in_moves_that_are_added():
    """A core of the present operations and every move."""
    config = PRESETS["default"].replace(
        operations={**RTL_OPERATIONS, "TMOV": REFERENCE.operations["TMOV"]}, move_tiles=8,
        move_layouts=REFERENCE.move_layouts,
    )  # fmt: skip
    seen = set()
    for seed in range(60):
        wanted = [("TLOAD", "U8"), ("TSTORE", "U4x2"), *(("TMOV", name) for name in ("FP16", "U8", "S64", "S4x2"))]
        result = random_program(seed, config, blocks=8, wanted=wanted).machine(config).run()
        assert result.fault is None, f"program {seed}: {result.fault}"
        blocks = [block.description for block in result.blocks if block.description is not None]
        seen |= {(block.operation.name, block.layout) for block in blocks}
        seen |= {(block.operation.name, max(len(block.sources), len(block.destinations))) for block in blocks}
        assert {(block.operation.name, block.data_type.name) for block in blocks} >= set(wanted[:2])
    assert {("TLOAD", layout) for layout in LOADS} <= seen
    assert {("TSTORE", layout) for layout in operation("TSTORE").layouts} <= seen
    assert {("TMOV", layout) for layout in operation("TMOV").layouts} <= seen
    assert ("TLOAD", 8) in seen and any(("TSTORE", tiles) in seen for tiles in range(2, 9))


def test_every_pair_that_can_be_is_covered_by_few_cases():
    factors = {"a": range(6), "b": range(5), "c": range(4), "d": range(2)}

    def allowed(case):
        return (case.get("a"), case.get("b")) != (0, 0)

    cases, impossible = pairwise(
        factors, allowed, lambda case: tuple(case.values()) if case["c"] or case["d"] else None, random.Random(1)
    )
    covered = set().union(*(pairs_of(case, list(factors)) for case, _ in cases))
    every = {
        ((x, i), (y, j)) for x, y in combinations(factors, 2) for i, j in product(factors[x], factors[y])
    } - {(("a", 0), ("b", 0))}  # fmt: skip
    assert impossible == {(("c", 0), ("d", 0))}
    assert covered == every - impossible
    # At least the two longest properties in all combinations.
    assert 29 <= len(cases) <= 45
    assert all(built == tuple(case.values()) for case, built in cases)


def test_layouts_are_codes_and_names():
    assert {layout.name for layout in LOADS} == {"NORM", "ND2NZ", "ND2ZN", "DN2NZ", "DN2ZN"}
    assert Layout.NORM in LOADS
