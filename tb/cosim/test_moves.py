"""Moves in every combination of two properties: core against model in lockstep, and both against the printed formulas.

What the configuration runs decides which layouts, tiles and moves are tried, so an ability that is added is covered at once.
"""

import random
from collections import Counter
from itertools import combinations

import move_formulas
import pytest

from linxtile.config import PRESETS
from linxtile.isa.codes import Layout, PadValue
from linxtile.isa.faults import Rule
from linxtile.isa.operations import operation
from linxtile.isa.types import data_type
from linxtile_sim.cosim import run_scenarios
from linxtile_sim.move_mutations import broken_move, mutated_move
from linxtile_sim.move_programs import move_program, random_moves
from linxtile_sim.move_traits import (
    BASES,
    SHAPES,
    STRIDES,
    Traits,
    kinds,
    move_layouts,
    random_traits,
    unsupported_layouts,
)
from linxtile_sim.moves import SIZES, make_move
from linxtile_sim.pairwise import pairs_of, pairwise
from linxtile_sim.scenario import Pace
from linxtile_sim.session import memory_holds

pytestmark = pytest.mark.cosim

DEFAULT, SMALL, REFERENCE = (PRESETS[name] for name in ("default", "small", "reference"))
MOVES_A_PROGRAM = 4
HITS = 3
"""Least number of moves with each single value of a property."""
GROWTH = ("smaller", "same size", "larger")
"""Destination of a TMOV against its source."""
RULES = (
    Rule.PARM_ZERO, Rule.PARM_SIZE, Rule.PARM_SPLIT, Rule.PARM_VALID_COL, Rule.PARM_VALID_ROW, Rule.PARM_ALIGN,
)  # fmt: skip


def pace(rng):
    """A memory that holds back each of the five channels with a chance of its own."""
    stalls = tuple(rng.choice([0, 0.25, 0.5, 0.75]) for _ in range(5))
    return Pace(latency=rng.choice([1, 4, 20]), stalls=stalls, jitter=rng.choice([0, 0, 3, 15]))


def factors_of(name, config):
    """Values of each property of a move."""
    widths = {data_type(element).storage_bits for element in config.operations[name]}
    factors = {
        "layout": move_layouts(name, config), "width": sorted(widths), "shape": list(SHAPES), "pad": list(PadValue),
        "tiles": list(range(1, config.move_tiles + 1)), "base": list(BASES), "stride": list(STRIDES),
    }  # fmt: skip
    if name == "TMOV":
        del factors["tiles"], factors["base"], factors["stride"]
        factors |= {"shape": list(SHAPES[:-1]), "growth": list(GROWTH)}
    if config.move_tiles == 1:
        factors["shape"] = list(SHAPES[:-1])
    return factors


def build(name, case, config, rng):
    """A move with the properties of a case, or None."""
    types = [element for element in config.operations[name] if data_type(element).storage_bits == case["width"]]
    traits = Traits(
        case["layout"], case["shape"], case["pad"], case.get("tiles", 1), case.get("base", "line"), case.get("stride", "exact")
    )  # fmt: skip
    sizes = {"smaller": (1024, 2048), "larger": (512, 1024)}.get(case.get("growth"), SIZES)
    for _ in range(20):
        size = rng.choice(sizes)
        other = {"smaller": size // 2, "larger": size * 2}.get(case.get("growth"), size)
        element = data_type(rng.choice(sorted(types)))
        move = make_move(rng, name, element, traits, sizes=(size,), destinations=(other,))
        if move is not None:
            return move
    return None


def design(name, config, seed):
    """Moves in which all pairs of values come together, as (case, move)."""
    factors = factors_of(name, config)
    rng = random.Random(f"{name} {seed}")

    def allowed(case):
        return case.get("shape") != "empty parts" or case.get("tiles", 2) > 1

    made, impossible = pairwise(factors, allowed, lambda case: build(name, case, config, rng), rng)
    assert not impossible, f"{name}: {sorted(map(str, impossible))[:5]}"
    for factor, values in factors.items():
        for value in values:
            while sum(case[factor] == value for case, _ in made) < HITS:
                made.append(rng.choice([entry for entry in made if entry[0][factor] == value]))
    return made


def histogram(name, cases):
    """Print how often each value came, and check that it came often enough and that no pair is missing."""
    names = list(cases[0])
    counts = {factor: Counter(getattr(case[factor], "name", case[factor]) for case in cases) for factor in names}
    for factor, values in counts.items():
        print(f"{name} {factor}: " + ", ".join(f"{value} {count}" for value, count in values.items()))
    rare = [f"{factor} {value}" for factor in names for value, count in counts[factor].items() if count < HITS]
    assert not rare, f"{name}: fewer than {HITS} moves with {', '.join(rare)}"
    pairs = set().union(*(pairs_of(case, names) for case in cases))
    print(f"{name}: {len(cases)} moves, {len(pairs)} pairs of values")
    return pairs


def every_pair(name, config):
    """Pairs of values that can come together."""
    factors = factors_of(name, config)
    return {
        ((a, value), (b, other))
        for a, b in combinations(factors, 2)
        for value in factors[a]
        for other in factors[b]
        if {a: value, b: other} != {"shape": "empty parts", "tiles": 1}
    }


def programs(config, seed):
    """All designs of a configuration cut into programs, and the cases by move."""
    moves, cases = [], {}
    for name in kinds(config):
        designed = design(name, config, seed)
        cases[name] = [case for case, _ in designed]
        moves += [move for _, move in designed]
    random.Random(seed).shuffle(moves)
    parts = [moves[at : at + MOVES_A_PROGRAM] for at in range(0, len(moves), MOVES_A_PROGRAM)]
    return [move_program(number, config, part) for number, part in enumerate(parts)], cases


def tile_blocks(result):
    assert result.fault is None, result.fault
    return [block for block in result.blocks if block.description is not None]


def check_coverage(cases, config):
    for name, of_name in cases.items():
        assert histogram(name, of_name) == every_pair(name, config), name


def run(scenarios, config, name):
    """Run in lockstep under random back-pressure and return the results; every one agrees with the model."""
    rng = random.Random(name)
    outcomes, _ = run_scenarios([scenario.at(pace(rng)) for scenario in scenarios], config, name=name)
    complaints = [outcome.complaint for outcome in outcomes if not outcome.agrees]
    assert not complaints, complaints[0]
    assert len(outcomes) == len(scenarios)
    return [outcome.report.result for outcome in outcomes]


@pytest.mark.parametrize("config", [DEFAULT, SMALL], ids=lambda config: config.name)
def test_every_pair_of_properties_gives_what_the_formulas_say(config):
    made, cases = programs(config, 1)
    results = run([program.scenario for program in made], config, f"pairs_{config.name}")
    for program, result in zip(made, results, strict=True):
        move_formulas.check(program, tile_blocks(result))
    check_coverage(cases, config)


def test_the_model_gives_what_the_formulas_say_for_every_pair_of_all_moves():
    made, cases = programs(REFERENCE, 1)
    assert set(cases) == {"TLOAD", "TSTORE", "TMOV"}
    assert {case["tiles"] for case in cases["TLOAD"]} == set(range(1, 9))
    for program in made:
        move_formulas.check(program, tile_blocks(program.scenario.machine(REFERENCE).run()))
    check_coverage(cases, REFERENCE)


def broken(config, rule, count):
    """Programs whose last move breaks a rule."""
    rng = random.Random(f"{rule.name} {config.name}")
    made = []
    while len(made) < count:
        move = broken_move(rng, config, rng.choice(kinds(config)), rule)
        if move is not None:
            made.append(move_program(len(made), config, [], last=move, name=rule.name).scenario)
    return made


def reachable(config):
    """Bind and close rules that a move of the configuration can break: one tile cannot be split."""
    return [rule for rule in RULES if rule is not Rule.PARM_SPLIT or config.move_tiles > 1]


def test_each_rule_of_moves_is_told_by_core_and_model():
    wanted = [rule for rule in reachable(DEFAULT) for _ in range(10)]
    scenarios = [scenario for rule in reachable(DEFAULT) for scenario in broken(DEFAULT, rule, 10)]
    results = run(scenarios, DEFAULT, "move_rules")
    assert [result.fault.rule for result in results] == wanted


def test_each_rule_of_all_moves_is_told_by_the_model():
    assert reachable(REFERENCE) == list(RULES)
    for rule in RULES:
        for scenario in broken(REFERENCE, rule, 30):
            result = scenario.machine(REFERENCE).run()
            assert result.fault is not None and result.fault.rule is rule, f"{scenario.name}: {result.fault}"


def test_a_layout_or_tile_count_that_is_left_out_is_refused():
    """Always some: layouts that the ISA has for no such move, beside those that this core lacks."""
    rng = random.Random(1)
    left_out = [(*entry, Rule.UNSUPPORTED) for entry in unsupported_layouts(DEFAULT)]
    for name in ("TLOAD", "TSTORE", "TMOV"):
        lacking = [layout for layout in Layout if layout not in operation(name).layouts]
        left_out += [(name, layout, 1, Rule.ILL_LAYOUT) for layout in rng.sample(lacking, 3)]
    scenarios = []
    for number, (name, layout, tiles, rule) in enumerate(left_out):
        legal = operation(name).layouts
        traits = Traits(layout if layout in legal else legal[0], "ragged", PadValue.ZERO, tiles, "line", "exact")
        move = make_move(rng, name, data_type("U8"), traits, sizes=(512, 1024))
        move = type(move)(**{**move.__dict__, "layout": layout})
        scenarios.append(
            move_program(number, DEFAULT, [], last=move, name=f"{rule.name} {name} {layout.name}").scenario
        )
    results = run(scenarios, DEFAULT, "left_out")
    assert [result.fault.rule for result in results] == [rule for *_, rule in left_out]


def test_moves_with_one_property_changed_agree():
    scenarios, ends = [], Counter()
    for seed in range(1000):
        rng = random.Random(f"mutated {seed}")
        move = mutated_move(rng, random_moves(rng, DEFAULT, 1, sizes=(256, 512, 1024))[0], DEFAULT)
        scenario = move_program(seed, DEFAULT, [], last=move, name="mutated move").scenario
        if memory_holds(scenario.pages(scenario.machine(DEFAULT).run())):
            scenarios.append(scenario)
        if len(scenarios) == 150:
            break
    for result in run(scenarios, DEFAULT, "mutated_moves"):
        ends["no fault" if result.fault is None else result.fault.rule.name] += 1
    print(ends.most_common())
    assert ends["no fault"] > 10 and ends["MEM_READ"] and ends["MEM_WRITE"] and ends["PARM_VALID_ROW"]


def test_random_traits_stay_within_the_configuration():
    rng = random.Random(1)
    for config in (DEFAULT, REFERENCE):
        for name in kinds(config):
            made = [random_traits(rng, name, config) for _ in range(400)]
            assert {traits.layout for traits in made} == set(move_layouts(name, config))
            most = 1 if name == "TMOV" else config.move_tiles
            assert {traits.tiles for traits in made} == set(range(1, most + 1))
