"""``linxtile run --timeline``: where each block was in which cycle, as events of the trace format of Chrome and Perfetto."""

import bisect
import contextlib
import io
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from linxtile.cli import main
from linxtile.config import PRESETS
from linxtile_rtl.move.plan import TILES_UNDER_WAY
from linxtile_rtl.vector.engine import MAX_COMMANDS
from linxtile_sim import waves
from linxtile_sim.example import COLUMNS, image, row_normalised
from linxtile_sim.timeline import UNITS, timeline

pytestmark = pytest.mark.cosim

EXAMPLE = Path("examples/row_normalise_buffered.s")
ENGINES = ("load", "store", "move", "vector")
IN_FLIGHT = PRESETS["small"].blocks_in_flight
HOLDS = {"decode": 1, "wait": IN_FLIGHT, "load": TILES_UNDER_WAY, "store": 1, "vector": MAX_COMMANDS, "commit": 1}
"""Most blocks at once in the units that the example uses."""

FAULTING = """
    li a0, 0x30000
    li a1, 0x10000000000
    TEXPANDS <8, 4, FP16>, [a0], ->T<256B>
    TADD <8, 4, FP16>, T#1, T#1.reuse, ->U<256B>
    TMOV.NORM <8, 4, FP16>, U#1.reuse, ->N<256B>
    TSTORE.NORM <8, 4, FP16>, U#1.reuse, [a0]
    TLOAD.NORM <8, 4, FP16>, [a0], ->M<256B>
    TSTORE.NORM <8, 4, FP16>, M#1.reuse, [a1]
    TADD <8, 4, FP16>, U#1, U#1.reuse, ->U<256B>
"""


def run(program, folder, simulator, *arguments):
    """Run a program text on the small core, and return its exit code, its JSON and its timeline."""
    source, file = folder / "program.s", folder / "timeline.json"
    source.write_text(program, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = main(
            ["run", str(source), "--on", simulator, "--config", "small", "--json", "--timeline", str(file), *arguments]
        )
    return code, json.loads(printed.getvalue()), json.loads(file.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def buffered(tmp_path_factory):
    """Run the double buffered example on four rows a quarter, and return its JSON and its timeline."""
    folder = tmp_path_factory.mktemp("buffered")
    np.save(folder / "image.npy", image(64))
    program = EXAMPLE.read_text(encoding="utf-8").replace("16, FP32", "4, FP32").replace("4KB", "1KB")
    code, document, trace = run(program, folder, "verilator", "--check", "--load", f"0x10000={folder}/image.npy")
    assert code == 0
    return document, trace


@pytest.fixture(scope="module")
def faulting(tmp_path_factory):
    """Run a program whose last store faults, with waves; return its JSON, its timeline and the signals of the waves."""
    folder = tmp_path_factory.mktemp("faulting")
    code, document, trace = run(FAULTING, folder, "icarus", "--waves", str(folder / "program.fst"))
    assert code == 1
    return document, trace, waves.signals(folder / "program.fst")


def events_of(trace, unit=None):
    """Return the events with a duration, of one unit or of all."""
    return [event for event in trace["traceEvents"] if event["ph"] == "X" and unit in (None, event["cat"])]


def by_block(trace):
    """Return the events of each block by its address, in the order of time."""
    ordered = sorted(events_of(trace), key=lambda event: (int(event["args"]["block"], 16), event["ts"]))
    return {block: list(held) for block, held in itertools.groupby(ordered, key=lambda event: event["args"]["block"])}


def end_of(event):
    """Return the cycle in which an event ends."""
    return event["ts"] + event["dur"]


def most_at_once(spans):
    """Return how many of (start, end) spans there are at most at one time."""
    changes = sorted(change for start, end in spans for change in ((start, 1), (end, -1)))
    return max(itertools.accumulate(step for _, step in changes), default=0)


def overlap(first, second):
    """Return the cycles that two events have in common."""
    return max(0, min(end_of(first), end_of(second)) - max(first["ts"], second["ts"]))


def test_the_file_has_the_members_that_the_trace_format_asks_for(buffered):
    events = buffered[1]["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "X"}
    for event in events_of(buffered[1]):
        assert set(event) == {"ph", "name", "cat", "pid", "tid", "ts", "dur", "args"}
        assert all(type(event[name]) is int for name in ("pid", "tid", "ts", "dur"))
        assert event["ts"] >= 0 and event["dur"] > 0
    notes = {(event["name"], event.get("tid")): event["args"] for event in events if event["ph"] == "M"}
    assert notes["process_name", None] == {"name": "program on verilator, preset small"}
    threads = sorted({event["tid"] for event in events_of(buffered[1])})
    assert [notes["thread_sort_index", thread]["sort_index"] for thread in threads] == threads
    titles = [notes["thread_name", thread]["name"] for thread in threads]
    # The example moves no tile to a tile.
    used = [title for unit, title in UNITS.items() if unit != "move"]
    assert [title for title in titles if not title[-1].isdigit()] == used
    assert len(set(titles)) == len(titles) == sum(name == "thread_name" for name, _ in notes)


def test_lanes_do_not_overlap_and_no_unit_holds_more_than_it_can(buffered):
    ordered = sorted(events_of(buffered[1]), key=lambda event: (event["tid"], event["ts"]))
    for _, lane in itertools.groupby(ordered, key=lambda event: event["tid"]):
        assert all(end_of(early) <= late["ts"] for early, late in itertools.pairwise(lane))
    for unit, most in HOLDS.items():
        held = events_of(buffered[1], unit)
        assert 0 < most_at_once((event["ts"], end_of(event)) for event in held) <= most, unit
    # The place of a block in the ring is free one cycle before its record is seen.
    blocks = [
        (held[0]["args"]["bound_at"], held[-1]["args"]["retired_at"] - 1) for held in by_block(buffered[1]).values()
    ]
    assert most_at_once(blocks) == IN_FLIGHT


def test_a_block_goes_from_its_closing_word_to_its_record_in_the_order_of_the_units(buffered):
    document, trace = buffered
    blocks = by_block(trace)
    assert list(blocks) == [hex(block["block"]) for block in document["blocks"]]
    for block in document["blocks"]:
        held = blocks[hex(block["block"])]
        units = [event["cat"] for event in held]
        assert units == [unit for unit in ("decode", "wait", block["engine"], "commit") if unit in units]
        assert (held[0]["ts"], end_of(held[-1])) == (block["closed_at"], block["retired_at"])
        assert all(end_of(early) == late["ts"] for early, late in itertools.pairwise(held[:-1]))
        assert end_of(held[-2]) <= held[-1]["ts"]
        if block["operation"] == "SETUP":
            assert (units, block["engine"]) == (["decode", "commit"], None)
        else:
            assert (held[-2]["ts"], end_of(held[-2])) == (block["started_at"], block["finished_at"])
            assert block["engine"] == {"TLOAD": "load", "TSTORE": "store", "TMOV": "move"}.get(
                block["operation"], "vector"
            )


def test_the_next_quarter_is_loaded_while_the_vector_engine_works_on_this_one(buffered):
    loads, stores, work = (events_of(buffered[1], unit) for unit in ("load", "store", "vector"))
    loads, stores = (sorted(events, key=lambda event: event["ts"]) for events in (loads, stores))
    maxima = sorted((event for event in work if event["name"].startswith("TROWMAX")), key=lambda event: event["ts"])
    assert [len(loads), len(stores), len(maxima)] == [4, 4, 4]
    assert max(overlap(loads[0], event) for event in work) == 0
    assert overlap(loads[1], maxima[0]) > 64
    assert all(sum(overlap(load, event) for event in work) > 64 for load in loads[1:])
    assert all(sum(overlap(store, event) for event in work) > 64 for store in stores[:-1])


def test_a_block_tells_its_types_source_tiles_and_bytes(buffered):
    held = next(events for events in by_block(buffered[1]).values() if events[0]["name"] == "TROWEXPANDSUB FP32")
    told = {name: value for name, value in held[0]["args"].items() if not name.endswith("_at")}
    assert told == {
        "block": held[0]["args"]["block"],
        "source": "TROWEXPANDSUB <64, 4, FP32>, T#3, U#2, ->M<1KB>",
        "sources": ["T#3", "U#2"],
        "destinations": ["M<1KB>"],
        "tile_bytes": 1024,
    }
    assert all(event["args"] == held[0]["args"] for event in held)
    assert events_of(buffered[1], "load")[0]["args"]["memory_bytes"] == 4 * 64 * 4
    setup = next(iter(by_block(buffered[1]).values()))[0]
    assert setup["name"] == "SETUP" and setup["args"]["source"].splitlines()[::7] == [
        "li a0, IMAGE",
        "li a7, RESULT + 0x3000",
    ]


def transfers(signals, valid, ready):
    """Return the cycles in which a stream of the waves passes something, by the core's own counter."""

    def before(name, time):
        changes = signals[name].tv
        value = changes[bisect.bisect_left(changes, time, key=lambda change: change[0]) - 1][1]
        return int(value)

    edges = [time for time, value in signals["clk"].tv if str(value) == "1" and before("rst", time) == 0]
    return [before("core.cycle", time) for time in edges if before(valid, time) and before(ready, time)]


def test_the_cycles_are_those_of_the_waves(faulting):
    document, trace, signals = faulting
    blocks = [held[0]["args"] | {"engine": held[-2]["cat"]} for held in by_block(trace).values()]
    started = transfers(signals, "core.retire__valid", "core.retire__ready")[0] - blocks[0]["retired_at"]

    def seen(stream):
        return [cycle - started for cycle in transfers(signals, f"{stream}__valid", f"{stream}__ready")]

    assert seen("core.retire") == [block["retired_at"] for block in blocks]
    bound = [block["bound_at"] for block in blocks]
    assert seen("core.decoder.o")[: len(bound)] == bound
    for place, engine in enumerate(ENGINES):
        mine = [block for block in blocks if block["engine"] == engine]
        count = len(mine)
        assert count > 0
        # The block behind the fault may have run too, and has left no record.
        assert seen(f"core.scheduler.{engine}s.o")[:count] == [block["started_at"] for block in mine]
        assert seen(f"core.scheduler.reorder.done__{place}")[:count] == [block["finished_at"] for block in mine]


def test_a_fault_of_an_engine_is_shown_where_its_block_would_have_committed(faulting):
    document, trace, _ = faulting
    *_, (decoded, waited, stored, ended) = by_block(trace).values()
    assert document["fault"]["rule"] == "MEM_WRITE" and len(document["blocks"]) == len(by_block(trace)) - 1
    assert (decoded["name"], waited["cat"], stored["name"], ended["name"]) == ("TSTORE", "wait", "TSTORE", "MEM_WRITE")
    assert (stored["cat"], ended["cat"]) == ("store", "commit")
    assert decoded["args"]["source"] == "TSTORE.NORM <8, 4, FP16>, M#1.reuse, [a1]"
    assert end_of(stored) <= ended["ts"] < end_of(ended) == ended["args"]["retired_at"] < document["cycles"] + 1


def test_a_fault_before_the_engines_has_the_name_of_its_rule(tmp_path):
    program = "TEXPANDS <8, FP16>, [a0], ->T<256B>\nTADD <8, FP16>, T#1, T#2, ->T<256B>\n"
    code, document, trace = run(program, tmp_path, "icarus", "--allow-faults")
    assert (code, document["fault"]["rule"]) == (1, "TILE_UNREADABLE")
    *_, held = by_block(trace).values()
    assert [(event["cat"], event["name"]) for event in held] == [
        ("decode", "TILE_UNREADABLE"), ("commit", "TILE_UNREADABLE"),
    ]  # fmt: skip


def block(address, engine=None, **cycles):
    """Return a block as a simulator tells it."""
    return {"block": address, "operation": "TADD" if engine else "SETUP", "engine": engine, **cycles}


def test_a_unit_gets_a_second_lane_only_for_what_it_holds_at_the_same_time():
    blocks = [
        block(0, closed_at=1, bound_at=3, retired_at=5),
        block(4, "vector", closed_at=4, bound_at=6, started_at=6, finished_at=20, retired_at=22),
        block(8, "vector", closed_at=8, bound_at=10, started_at=12, finished_at=21, retired_at=23),
        block(12, "vector", closed_at=11, bound_at=13, started_at=20, finished_at=30, retired_at=32),
    ]
    trace = timeline("title", blocks, {}, {4: "text"})
    lanes = {(event["cat"], event["args"]["block"]): event["tid"] for event in events_of(trace)}
    vector = [lanes["vector", address] for address in ("0x4", "0x8", "0xc")]
    assert vector == [vector[0], vector[0] + 1, vector[0]]
    assert ("wait", "0x4") not in lanes and len({lanes["decode", hex(4 * place)] for place in range(4)}) == 1
    spans = {event["args"]["block"]: (event["ts"], event["dur"]) for event in events_of(trace, "commit")}
    assert spans == {"0x0": (3, 2), "0x4": (20, 2), "0x8": (22, 1), "0xc": (30, 2)}
    assert [event["args"].get("source") for event in events_of(trace, "vector")] == ["text", None, None]


def test_the_example_gives_what_numpy_gives(tmp_path):
    np.save(tmp_path / "image.npy", image(64))
    files = ["--load", f"0x10000={tmp_path}/image.npy", "--dump", f"0x20000:{64 * COLUMNS * 4}={tmp_path}/result.bin"]
    assert main(["run", str(EXAMPLE), *files]) == 0
    assert (tmp_path / "result.bin").read_bytes() == row_normalised(image(64)).tobytes()
