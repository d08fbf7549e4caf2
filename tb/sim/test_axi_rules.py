"""The protocol rules in simulated hardware: traffic that breaks none, and one driver that breaks each."""

import cocotb
import pytest
from amaranth.hdl import Const

from linxtile.config import PRESETS
from linxtile_sim.hardware.axi_rules import CHANNELS, RULES, AxiRules, payload_shapes
from linxtile_sim.streams import cycles, pack, start
from linxtile_sim.unit import run_unit

CONFIG = PRESETS["small"]
SHAPES = payload_shapes(CONFIG)
SIZE = 3
"""Code of beats of eight bytes."""


def burst(addr=0x1008, beats=2, **more):
    return {"addr": addr, "len": beats - 1, "size": SIZE, "burst": 1, **more}


def taken(payload):
    return (True, True, payload)


def waiting(payload):
    return (True, False, payload)


WITHDRAWN = (False, False, {})
READ = {"ar": taken(burst())}
WRITE = {"aw": taken(burst())}
FIRST, LAST = {"w": taken({"data": 1, "last": 0})}, {"w": taken({"data": 2, "last": 1})}
ANSWER = {"b": taken({})}


def read(last):
    return {"r": taken({"last": last})}


# fmt: off
LEGAL = {
    "read and write together": [{**READ, **WRITE}, {**read(0), **FIRST}, {**read(1), **LAST}, ANSWER],
    "data before its address": [FIRST, LAST, WRITE, ANSWER],
    "data half way before":    [FIRST, {**WRITE, **LAST}, ANSWER],
    "two bursts ahead":        [FIRST, LAST, {"w": taken({"last": 1})}, WRITE, {"aw": taken(burst(0x20, 1))}, ANSWER, ANSWER],
    "answers later":           [WRITE, FIRST, LAST, {}, {}, WRITE, FIRST, LAST, {}, ANSWER, ANSWER],
    "payloads that wait":      [{"ar": waiting(burst())}] * 3 + [READ, {"r": waiting({"last": 0})}, read(0), read(1)],
    "ends before 4 KiB":       [{"ar": taken(burst(0x0FF0))}, read(0), read(1)],
    "256 beats":               [{"aw": taken(burst(0x800, 256))}, *[FIRST] * 255, LAST, ANSWER],
    "256 beats before it":     [*[FIRST] * 255, LAST, {"aw": taken(burst(0x800, 256))}, ANSWER],
}
BROKEN = {
    **{f"{name}_withdrawn": [{name: waiting({})}, {name: WITHDRAWN}] for name in ("ar", "aw", "w")},
    "r_withdrawn": [READ, {"r": waiting({})}, {"r": WITHDRAWN}],
    "b_withdrawn": [WRITE, FIRST, LAST, {"b": waiting({})}, {"b": WITHDRAWN}],
    "ar_changed": [{"ar": waiting(burst(0x10))}, {"ar": taken(burst(0x20))}, read(0), read(1)],
    "aw_changed": [{"aw": waiting(burst(0x10, 2))}, {"aw": taken(burst(0x10, 1))}, LAST, ANSWER],
    "w_changed":  [WRITE, {"w": waiting({"strb": 1})}, FIRST, LAST, ANSWER],
    "r_changed":  [READ, {"r": waiting({"resp": 2})}, read(0), read(1)],
    "b_changed":  [WRITE, FIRST, LAST, {"b": waiting({"resp": 2})}, ANSWER],
    **{f"{name}_{kind}": [{name: taken(payload)}]
       for name in ("ar", "aw")
       for kind, payload in (
           ("burst", burst() | {"burst": 2}), ("size", burst() | {"size": 2}), ("aligned", burst(0x100C)),
           ("crossing", burst(0x0FF8)), ("identifier", burst(id=1)),
       )},
    "r_unasked": [read(1)],
    "r_last":    [READ, read(1)],
    "w_last":    [WRITE, LAST],
    "b_unasked": [WRITE, FIRST, ANSWER],
}
MORE_BROKEN = {
    "answer in the cycle of its request":   ("r_unasked", [{**READ, **read(0)}]),
    "data after the last beat":             ("r_unasked", [READ, read(0), read(1), read(0)]),
    "data of another identifier":           ("r_unasked", [READ, {"r": taken({"id": 1, "last": 0})}]),
    "last missing":                         ("r_last", [READ, read(0), read(0)]),
    "last of a write missing":              ("w_last", [WRITE, FIRST, FIRST]),
    "last of a write too early, before it": ("w_last", [LAST, WRITE]),
    "more beats than any burst has":        ("w_last", [FIRST] * 256),
    "answer twice":                         ("b_unasked", [WRITE, FIRST, LAST, ANSWER, ANSWER]),
    "answer in the cycle of the last beat": ("b_unasked", [WRITE, FIRST, {**LAST, **ANSWER}]),
    "answer before the address":            ("b_unasked", [FIRST, LAST, ANSWER]),
    "answer of another identifier":         ("b_unasked", [WRITE, FIRST, LAST, {"b": taken({"id": 1})}]),
    "256 beats across 4 KiB":               ("aw_crossing", [{"aw": taken(burst(0x808, 256))}]),
}
# fmt: on


async def drive(dut, edges):
    """Reset, let the watcher see the edges, and return the names of the rules that were broken."""
    dut.valid.value = dut.ready.value = 0
    dut.rst.value = 1
    await cycles(dut, 2)
    dut.rst.value = 0
    for edge in [*edges, {}, {}, {}]:
        valid = ready = 0
        for place, name in enumerate(CHANNELS):
            shown, taking, payload = edge.get(name, WITHDRAWN)
            valid |= shown << place
            ready |= taking << place
            # A payload without valid is noise.
            noise = Const(0x5A5A5A5A5A5A5A5A5A5A, len(getattr(dut, name))).value
            getattr(dut, name).value = pack(SHAPES[name], payload) if shown else noise
        dut.valid.value, dut.ready.value = valid, ready
        await cycles(dut)
    await cycles(dut, 2)
    return {name for place, name in enumerate(RULES) if int(dut.broken.value) >> place & 1}


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def only_the_broken_rule_is_named(dut):
    for name in ("valid", "ready", *CHANNELS):
        getattr(dut, name).value = 0
    await start(dut)
    for name, edges in LEGAL.items():
        assert await drive(dut, edges) == set(), name
        for count, channel in (dut.reads, "ar"), (dut.writes, "aw"):
            assert count.value == sum(edge.get(channel, WITHDRAWN)[:2] == (True, True) for edge in edges), name
        assert dut.open.value == 0, name
    for name, (rule, edges) in ({name: (name, edges) for name, edges in BROKEN.items()} | MORE_BROKEN).items():
        assert await drive(dut, edges) == {rule}, name
    for edges in ([READ], [READ, read(0)], [WRITE], [FIRST], [FIRST, LAST], [WRITE, FIRST, LAST]):
        await drive(dut, edges)
        assert dut.open.value == 1, edges


@pytest.mark.parametrize("simulator", ["icarus", "verilator"])
def test_each_rule_fires_alone_and_legal_traffic_breaks_none(simulator):
    assert run_unit(AxiRules(config=CONFIG), __file__, simulator=simulator).tests == 1


def test_every_rule_has_a_driver_that_breaks_it():
    assert BROKEN.keys() == RULES.keys()
