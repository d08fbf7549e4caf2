"""A run as trace events, which Perfetto and Chrome draw: a lane for each unit, a microsecond for each clock cycle."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from linxtile.asm_block import NewTile, TileName
from linxtile.isa.block import Block
from linxtile.isa.operations import Shape
from linxtile.operations.lines import Lines

__all__ = ["UNITS", "timeline"]

UNITS: Mapping[str, str] = {
    "decode": "decode, bind",
    "wait": "wait",
    "load": "load engine",
    "store": "store engine",
    "move": "tile mover",
    "vector": "vector engine",
    "commit": "commit",
}
"""What a block passes through, with the title of its lane, from the top of the picture down."""

_LANES = 64
"""Lanes that a unit may have: as many as blocks can be in flight."""


@dataclass(frozen=True)
class _Stay:
    """A block in a unit, from the cycle in which it came to that in which it left."""

    unit: str
    start: int
    end: int
    name: str
    arguments: Mapping[str, Any]


def timeline(
    title: str,
    blocks: Iterable[Mapping[str, Any]],
    descriptions: Mapping[int, Block | None],
    sources: Mapping[int, str],
) -> dict[str, Any]:
    """Return the JSON document of a run in the trace event format.

    Parameters
    ----------
    title : str
        What is shown as the name of the process.
    blocks : iterable of mapping
        In program order: ``block`` (its address), ``operation``, ``engine`` or None, the cycles ``closed_at``, ``bound_at``, with
        an engine ``started_at`` and ``finished_at``, and ``retired_at``; the last one with ``rule`` if it faulted.
    descriptions : mapping of int to Block or None
        Blocks as decoded, by address; one that is missing is shown without types, tiles and bytes.
    sources : mapping of int to str
        Source lines by the address of the block.

    Returns
    -------
    dict
        A unit has as many lanes as it has blocks at once; the events of a lane do not overlap.
    """
    stays = list(_stays(blocks, descriptions, sources))
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": title}},
    ]
    for place, (unit, shown) in enumerate(UNITS.items()):
        lanes = _lanes(stay for stay in stays if stay.unit == unit)
        for lane, held in enumerate(lanes):
            thread = {"pid": 1, "tid": place * _LANES + lane + 1}
            name = shown if lane == 0 else f"{shown} {lane + 1}"
            events += [
                {"ph": "M", "name": "thread_name", **thread, "args": {"name": name}},
                {"ph": "M", "name": "thread_sort_index", **thread, "args": {"sort_index": thread["tid"]}},
            ]
            for stay in held:
                events.append({
                    "ph": "X", "name": stay.name, "cat": unit, **thread,
                    "ts": stay.start, "dur": stay.end - stay.start, "args": stay.arguments,
                })  # fmt: skip
    return {"traceEvents": events, "otherData": {"ts": "1 us is one clock cycle, 0 the start of the program"}}


def _stays(
    blocks: Iterable[Mapping[str, Any]], descriptions: Mapping[int, Block | None], sources: Mapping[int, str]
) -> Iterator[_Stay]:
    """Yield where each block was; what took no cycle is left out."""
    committed = 0
    for block in blocks:
        description = descriptions.get(block["block"])
        name = " ".join([block["operation"], *_types(description)])
        cycles = {key: value for key, value in block.items() if key.endswith("_at")}
        arguments = _arguments(block["block"], description, sources) | cycles
        passed = [("decode", block["closed_at"], block["bound_at"])]
        ready = block["bound_at"]
        if block["engine"] is not None:
            ready = block["finished_at"]
            passed += [("wait", block["bound_at"], block["started_at"]), (block["engine"], block["started_at"], ready)]
        for unit, start, end in passed:
            if end > start:
                yield _Stay(unit, start, end, name, arguments)
        # A block may have finished long before: it is its turn when all older ones have committed.
        yield _Stay("commit", max(ready, committed), block["retired_at"], block.get("rule", name), arguments)
        committed = block["retired_at"]


def _types(description: Block | None) -> list[str]:
    if description is None:
        return []
    return [row.name for row in (description.data_type, description.second_type) if row is not None]


def _arguments(address: int, description: Block | None, sources: Mapping[int, str]) -> dict[str, Any]:
    """Return what is told of a block: its address and source lines, tiles, bytes of new tiles and of memory."""
    arguments: dict[str, Any] = {"block": f"{address:#x}"}
    if address in sources:
        arguments["source"] = sources[address]
    if description is None:
        return arguments
    arguments["sources"] = [TileName(tile.queue, tile.index, tile.reuse).text for tile in description.sources]
    arguments["destinations"] = [NewTile(tile.destination, tile.size_code).text for tile in description.destinations]
    arguments["tile_bytes"] = sum(tile.size_bytes for tile in description.destinations)
    if description.operation.shape in (Shape.LOAD, Shape.STORE):
        lines = Lines.of(description)
        arguments["memory_bytes"] = lines.count * lines.line_bytes
    return arguments


def _lanes(stays: Iterable[_Stay]) -> list[list[_Stay]]:
    """Put each stay into the first lane that is free."""
    lanes: list[list[_Stay]] = []
    for stay in sorted(stays, key=lambda stay: (stay.start, stay.end)):
        for lane in lanes:
            if lane[-1].end <= stay.start:
                lane.append(stay)
                break
        else:
            lanes.append([stay])
    return lanes
