"""The AXI protocol rules, one broken at a time."""

import re

import pytest

from linxtile_sim.axi_check import AxiError, AxiProtocol, Burst

IDLE = (False, False, {})


def taken(**payload):
    return (True, True, payload)


def waiting(**payload):
    return (True, False, payload)


def run(*edges):
    bus = AxiProtocol(16)
    for edge in edges:
        bus.edge(edge)
    return bus


READ = taken(id=1, addr=0x1008, len=1, size=4, burst=1)
WRITE = taken(id=0, addr=0x1008, len=1, size=4, burst=1)
FIRST = taken(data=0, strb=0xFF00, last=0)
LAST = taken(data=0, strb=0x00FF, last=1)


def test_a_read_and_a_write_are_followed_to_their_end():
    bus = run(
        {"ar": READ, "aw": WRITE},
        {"r": taken(id=1, last=0), "w": FIRST},
        {"r": taken(id=1, last=1), "w": LAST},
        {"b": taken(id=0, resp=0)},
    )
    bus.assert_idle()
    assert bus.reads == [Burst(1, 0x1008, 2, 16)]
    assert bus.writes == [Burst(0, 0x1008, 2, 16)]


def test_write_data_may_come_before_its_address():
    run({"w": FIRST}, {"w": LAST}, {"aw": WRITE}, {"b": taken(id=0)}).assert_idle()


def test_reads_of_two_identifiers_may_interleave():
    other = taken(id=2, addr=0x40, len=0, size=4, burst=1)
    run(
        {"ar": READ}, {"ar": other}, {"r": taken(id=1, last=0)}, {"r": taken(id=2, last=1)}, {"r": taken(id=1, last=1)}
    ).assert_idle()


def test_a_burst_may_end_right_before_the_4_kib_line():
    run({"ar": taken(id=0, addr=0x0FE8, len=1, size=4, burst=1)})


# fmt: off
BROKEN = {
    "valid taken back":      ([{"ar": waiting(addr=0x10)}, {"ar": IDLE}],                        "ar: valid was taken back before ready"),
    "address moves":         ([{"ar": waiting(addr=0x10)}, {"ar": waiting(addr=0x20)}],          "ar: addr changed from 0x10 to 0x20 before ready"),
    "data moves":            ([{"w": waiting(data=1, last=0)}, {"w": taken(data=2, last=0)}],    "w: data changed from 0x1 to 0x2 before ready"),
    "crosses 4 KiB":         ([{"ar": taken(addr=0x0FF1, len=1)}],                               "ar: a burst must not cross 4 KiB, but 0xff1 to 0x100f does"),
    "wrapping burst":        ([{"aw": taken(addr=0, len=0, burst=2)}],                           "aw: burst must be INCR (1), not 2"),
    "beat too wide":         ([{"ar": taken(addr=0, len=0, size=5)}],                            "ar: a beat must fit the bus of 16 bytes, not be 32 bytes"),
    "burst too long":        ([{"ar": taken(addr=0, len=256, size=0)}],                          "ar: a burst must have at most 256 beats, not 257"),
    "read data unasked":     ([{"r": taken(id=0, last=1)}],                                      "r: data for identifier 0 without a burst that is open"),
    "read data same cycle":  ([{"ar": READ, "r": taken(id=1, last=0)}],                          "r: data for identifier 1 without a burst that is open"),
    "read last too early":   ([{"ar": READ}, {"r": taken(id=1, last=1)}],                        "r: last is 1 in beat 1 of 2 from 0x1008"),
    "write last too early":  ([{"aw": WRITE}, {"w": LAST}],                                      "w: last is 1 in beat 1 of 2 to 0x1008"),
    "write last missing":    ([{"aw": WRITE}, {"w": FIRST}, {"w": taken(strb=0, last=0)}],       "w: last is 0 in beat 2 of 2 to 0x1008"),
    "strobe before address": ([{"aw": WRITE}, {"w": taken(strb=0xFF80, last=0)}],                "w: strobes 0x80 lie outside beat 1 of the burst to 0x1008"),
    "answer too early":      ([{"aw": WRITE}, {"w": FIRST}, {"b": taken(id=0)}],                 "b: answer for identifier 0 without a write that is complete"),
    "answer same cycle":     ([{"aw": WRITE}, {"w": FIRST}, {"w": LAST, "b": taken(id=0)}],      "b: answer for identifier 0 without a write that is complete"),
    "answer twice":          ([{"aw": WRITE}, {"w": FIRST}, {"w": LAST}, {"b": taken(id=0)}, {"b": taken(id=0)}],
                              "b: answer for identifier 0 without a write that is complete"),
}
# fmt: on


@pytest.mark.parametrize("edges, message", BROKEN.values(), ids=BROKEN)
def test_a_broken_rule_is_named(edges, message):
    with pytest.raises(AxiError, match=f"^{re.escape(message)}$"):
        run(*edges)


def test_an_open_burst_is_not_idle():
    with pytest.raises(
        AxiError, match="^bus is not idle: 1 reads, 0 writes and 0 beats without address are open, 0 answers owed"
    ):
        run({"ar": READ}).assert_idle()


def test_narrow_beats_use_their_own_lanes():
    burst = Burst(0, 0x1006, 3, 4)
    assert [burst.lanes(beat, 16) for beat in range(3)] == [0x00C0, 0x0F00, 0xF000]
