"""Random programs on the core against the model: legal ones, mutated ones, and one that breaks each rule."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice

import pytest

from linxtile.config import PRESETS, CoreConfig
from linxtile.isa.faults import Rule
from linxtile.isa.operations import operation
from linxtile_sim.cosim import Outcome, run_scenarios
from linxtile_sim.mutations import breakable, breaking_program, mutated_program
from linxtile_sim.programs import combinations, random_program
from linxtile_sim.scenario import Pace, Scenario
from linxtile_sim.session import memory_holds

pytestmark = pytest.mark.cosim

DEFAULT = PRESETS["default"]
HITS = 5
BLOCKS = 8
PROGRAMS = 400
PACES = (
    Pace(latency=1),
    Pace(latency=10),
    Pace(latency=50),
    Pace(latency=3, stalls=(0.5, 0.3, 0.5, 0.3, 0.5)),
    Pace(latency=20, stalls=(0.2, 0.6, 0.1, 0.7, 0.9)),
)


def legal_programs(config: CoreConfig, count: int = PROGRAMS) -> list[Scenario]:
    """Return programs in which every combination of operation and type comes at least :data:`HITS` times."""
    wanted = [pair for _ in range(HITS) for pair in combinations(config)]
    parts = [wanted[at : at + BLOCKS] for at in range(0, len(wanted), BLOCKS)]
    assert len(parts) <= count
    return [
        random_program(seed, config, blocks=BLOCKS, wanted=parts[seed] if seed < len(parts) else ()).at(
            PACES[seed % len(PACES)]
        )
        for seed in range(count)
    ]


def assert_agreement(outcomes: Sequence[Outcome], expected: int) -> None:
    """Fail with the first complaint, and when not every program ran."""
    complaints = [outcome.complaint for outcome in outcomes if not outcome.agrees]
    assert not complaints, complaints[0]
    assert len(outcomes) == expected


def histogram(title: str, counts: Counter[str]) -> None:
    """Print counts, most frequent first."""
    print(f"\n{title}: {sum(counts.values())} in all")
    for name, count in counts.most_common():
        print(f"  {count:6}  {name}")


def test_legal_programs_agree() -> None:
    scenarios = legal_programs(DEFAULT)
    outcomes, _ = run_scenarios(scenarios, DEFAULT, name="legal")
    assert_agreement(outcomes, PROGRAMS)
    hits: Counter[str] = Counter()
    layouts: Counter[str] = Counter()
    for outcome in outcomes:
        assert outcome.report is not None and outcome.report.result.fault is None, outcome.name
        for block in outcome.report.result.blocks:
            if block.description is not None and block.description.data_type is not None:
                hits[f"{block.operation} {block.description.data_type.name}"] += 1
                if block.operation in ("TLOAD", "TSTORE", "TMOV"):
                    layouts[f"{block.operation} {block.description.layout.name}"] += 1
    histogram("operation and type", hits)
    histogram("operation and layout", layouts)
    wanted = [
        f"{name} {layout.name}" for name in ("TLOAD", "TSTORE", "TMOV") for layout in operation(name).layouts or ()
    ]
    rare = [move for move in wanted if layouts[move] < HITS]
    assert not rare, f"fewer than {HITS} hits: {', '.join(rare)}"
    rare = [f"{name} {type_name}" for name, type_name in combinations(DEFAULT) if hits[f"{name} {type_name}"] < HITS]
    assert not rare, f"fewer than {HITS} hits: {', '.join(rare)}"


def test_programs_that_break_a_rule_agree() -> None:
    scenarios = [
        breaking_program(rule, seed, DEFAULT).at(PACES[seed % len(PACES)])
        for rule in breakable(DEFAULT)
        for seed in range(HITS)
    ]
    outcomes, _ = run_scenarios(scenarios, DEFAULT, name="rules")
    assert_agreement(outcomes, len(scenarios))
    hits: Counter[str] = Counter()
    for outcome in outcomes:
        assert outcome.report is not None and outcome.report.result.fault is not None, outcome.name
        hits[outcome.report.result.fault.rule.name] += 1
    histogram("rules", hits)
    assert {name for name, count in hits.items() if count >= HITS} == {rule.name for rule in breakable(DEFAULT)}
    # No core here gathers, and no memory here stays silent.
    left = set(Rule) - set(breakable(DEFAULT)) - {Rule.PARM_OFFSET, Rule.WATCHDOG}
    assert left == (set() if DEFAULT.move_tiles > 1 else {Rule.PARM_SPLIT})


def test_mutated_programs_agree() -> None:
    scenarios = [mutated_program(seed, DEFAULT).at(PACES[seed % len(PACES)]) for seed in range(PROGRAMS)]
    outcomes, _ = run_scenarios(scenarios, DEFAULT, name="mutated")
    assert_agreement(outcomes, PROGRAMS)
    ends = Counter(_end(outcome) for outcome in outcomes)
    histogram("ends of mutated programs", ends)


@pytest.mark.parametrize("preset", ["small", pytest.param("large", marks=pytest.mark.slow)])
def test_other_presets_agree_too(preset: str) -> None:
    config = PRESETS[preset]
    scenarios = [random_program(seed, config, largest=512).at(PACES[seed % len(PACES)]) for seed in range(40)]
    outcomes, _ = run_scenarios(scenarios, config, name=preset)
    assert_agreement(outcomes, 40)


@pytest.mark.slow
def test_ten_thousand_mutated_programs_never_hang_and_never_differ() -> None:
    count, part = 10_000, 500
    seeds = iter(range(100_000, 200_000))
    ends: Counter[str] = Counter()
    for _ in range(count // part):
        scenarios = list(islice(filter(_fits, (mutated_program(seed, DEFAULT) for seed in seeds)), part))
        outcomes, _ = run_scenarios(
            [s.at(PACES[i % len(PACES)]) for i, s in enumerate(scenarios)], DEFAULT, name="soak"
        )
        assert_agreement(outcomes, part)
        ends.update(_end(outcome) for outcome in outcomes)
    histogram("ends of mutated programs", ends)
    assert ends.total() == count


def _fits(scenario: Scenario) -> bool:
    """Whether the simulated memory can hold what the program stores to; a wild stride can touch thousands of pages."""
    return memory_holds((*scenario.pages(scenario.machine(DEFAULT).run()), *scenario.error_pages))


def _end(outcome: Outcome) -> str:
    assert outcome.report is not None
    fault = outcome.report.result.fault
    return "no fault" if fault is None else fault.rule.name
