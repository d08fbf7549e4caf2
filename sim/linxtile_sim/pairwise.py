"""Few cases in which every pair of values of any two properties comes together."""

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

__all__ = ["pairs_of", "pairwise"]

Case = Mapping[str, Any]
Pair = tuple[tuple[str, Any], tuple[str, Any]]

ATTEMPTS = 30


def pairs_of(case: Case, names: Sequence[str]) -> set[Pair]:
    """Return the pairs of values that come together in a case."""
    return {((a, case[a]), (b, case[b])) for a, b in combinations(names, 2)}


def pairwise(
    factors: Mapping[str, Sequence[Any]],
    allowed: Callable[[Case], bool],
    build: Callable[[Case], Any],
    rng: random.Random,
) -> tuple[list[tuple[dict[str, Any], Any]], set[Pair]]:
    """Return cases, each with what was built of it, that cover every pair that can be covered, and the other pairs.

    Greedy: each case begins with a pair that is missing and takes, value by value, what covers the most missing pairs.

    Parameters
    ----------
    factors : mapping of str to sequence
        Values of each property.
    allowed : callable
        Whether a case with some properties, or all, can be; a part of an allowed case must be allowed.
    build : callable
        Makes something of a complete case, or None where that turns out to be impossible.
    """
    names = list(factors)
    missing = {
        ((a, value), (b, other))
        for a, b in combinations(names, 2)
        for value, other in product(factors[a], factors[b])
        if allowed({a: value, b: other})
    }
    made: list[tuple[dict[str, Any], Any]] = []
    impossible: set[Pair] = set()
    while missing:
        # Sorted by text, for the order of a set differs from run to run.
        first = min(missing, key=str)
        # What covers the most may be just what cannot be built: half of the attempts look at nothing that is missing.
        wanted = [missing] * (ATTEMPTS // 2) + [set()] * (ATTEMPTS // 2)
        cases = [case for of in wanted if (case := _completed(dict(first), factors, allowed, of, rng)) is not None]
        cases.sort(key=lambda case: -len(pairs_of(case, names) & missing))
        found = next(((case, built) for case in cases if (built := build(case)) is not None), None)
        if found is None:
            impossible.add(first)
            missing.discard(first)
            continue
        missing -= pairs_of(found[0], names)
        made.append(found)
    return made, impossible


def _completed(
    case: dict[str, Any],
    factors: Mapping[str, Sequence[Any]],
    allowed: Callable[[Case], bool],
    missing: set[Pair],
    rng: random.Random,
) -> dict[str, Any] | None:
    """Return the case with a value for every property, or None when it cannot go on."""
    names = list(factors)
    for name in rng.sample(names, len(names)):
        if name in case:
            continue
        values = [value for value in factors[name] if allowed({**case, name: value})]
        if not values:
            return None
        others = [other for other in names if other in case]

        def gain(value: Any, name: str = name, others: list[str] = others) -> tuple[int, float]:
            ordered = ((name, value),)
            new = sum(
                ((*ordered, (other, case[other])) in missing) or (((other, case[other]), *ordered) in missing)
                for other in others
            )
            return new, rng.random()

        case[name] = max(values, key=gain)
    return {name: case[name] for name in names}
