"""Loads beside older stores: side by side in one matrix they run at the same time, on common bytes one after the other."""

import pytest

from linxtile.asm import assemble
from linxtile.config import PRESETS
from linxtile.memory import PAGE_BYTES
from linxtile_sim.cosim import run_scenarios
from linxtile_sim.lockstep import Report
from linxtile_sim.programs import INPUT_BASE, OUTPUT_BASE, PROGRAM_BASE
from linxtile_sim.scenario import Pace, Scenario

pytestmark = pytest.mark.cosim

CONFIG = PRESETS["small"]
STRIDE, ROWS, ROW_BYTES = 128, 8, 32
MATRIX = OUTPUT_BASE

# Offset of the load from the store, its stride, bytes of its rows; whether it may run beside the store.
LOADS = {
    "the next columns": (ROW_BYTES, STRIDE, ROW_BYTES, True),
    "the columns before": (-ROW_BYTES, STRIDE, ROW_BYTES, True),
    "the last columns that fit": (STRIDE - ROW_BYTES, STRIDE, ROW_BYTES, True),
    "the same columns": (0, STRIDE, ROW_BYTES, False),
    "one byte of the last column": (ROW_BYTES - 1, STRIDE, ROW_BYTES, False),
    "one byte of the next row": (STRIDE - ROW_BYTES + 1, STRIDE, ROW_BYTES, False),
    "rows that wander into the store": (ROW_BYTES, STRIDE - 8, ROW_BYTES, False),
    "one row of the store and what follows": (STRIDE, 2 * STRIDE, 2 * ROW_BYTES, False),
}


def program(name: str) -> Scenario:
    """Return a program: a tile is loaded, stored into the matrix, and another one loaded out of the matrix and stored away."""
    offset, stride, row_bytes, _ = LOADS[name]
    text = f"""
        li a0, {INPUT_BASE}
        li a1, {MATRIX + STRIDE}
        li a2, {STRIDE}
        li a3, {MATRIX + STRIDE + offset}
        li a4, {stride}
        li a5, {INPUT_BASE + PAGE_BYTES}
        TLOAD <LB0:{ROW_BYTES}, LB1:{ROWS}, U8>, [a0], ->T<256B>
        TSTORE <LB0:{ROW_BYTES}, LB1:{ROWS}, U8>, T#1, [a1, a2]
        TLOAD <LB0:{row_bytes}, LB1:{256 // row_bytes}, U8>, [a3, a4], ->U<256B>
        TSTORE <LB0:{row_bytes}, LB1:{256 // row_bytes}, U8>, U#1, [a5]
    """
    content = bytes(1 + index % 251 for index in range(2 * PAGE_BYTES))
    memory = {INPUT_BASE: content, MATRIX: content[PAGE_BYTES:]}
    return Scenario(name, assemble(text, address=PROGRAM_BASE).image, PROGRAM_BASE, {}, memory, pace=Pace(latency=20))


def overlap(report: Report) -> bool:
    """Whether the second load began before the store before it had ended."""
    store, load = report.stages[-3:-1]
    return load["started_at"] < store["finished_at"]


def test_a_load_passes_an_older_store_only_where_they_share_no_byte() -> None:
    outcomes, _ = run_scenarios([program(name) for name in LOADS], CONFIG, name="overlap")
    for outcome in outcomes:
        assert outcome.report is not None, outcome.complaint
        assert overlap(outcome.report) == LOADS[outcome.name][3], outcome.name
    assert len(outcomes) == len(LOADS)


def test_a_load_waits_for_a_store_of_a_row_as_long_as_two_tiles() -> None:
    row = 2 * CONFIG.tile_max_bytes
    source, target, result = 0x20000, 0x40000, 0x60000
    size = f"{CONFIG.tile_max_bytes}B"
    text = f"""
        li a0, {source}
        li a1, {target}
        li a2, {target + 256}
        li a3, {row}
        li a4, {result}
        TLOAD <LB0:{row}, LB1:1, U8>, [a0], ->T<{size}>, T<{size}>
        TSTORE <LB0:{row}, LB1:1, U8>, T#2, T#1, [a1]
        TLOAD <LB0:256, LB1:1, U8>, [a2, a3], ->U<256B>
        TSTORE <LB0:256, LB1:1, U8>, U#1, [a4]
    """
    memory = {source: bytes(1 + index % 251 for index in range(row)), target: bytes(row), result: bytes(PAGE_BYTES)}
    image = assemble(text, address=PROGRAM_BASE).image
    scenario = Scenario("a row of two tiles", image, PROGRAM_BASE, {}, memory, pace=Pace(latency=20))
    outcomes, _ = run_scenarios([scenario], CONFIG, name="long-row")
    (outcome,) = outcomes
    assert outcome.report is not None, outcome.complaint
    assert not overlap(outcome.report)
