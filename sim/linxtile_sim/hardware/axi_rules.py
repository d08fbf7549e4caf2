"""The rules of AXI4 on a memory port, watched each cycle in simulated hardware: Python asks once a program."""

from collections.abc import Mapping
from types import MappingProxyType

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig
from linxtile_rtl.axi import BURST_BEATS, INCR, PAGE_BYTES, axi4_signature

__all__ = ["CHANNELS", "RULES", "AxiRules", "payload_shapes"]

CHANNELS = ("ar", "r", "aw", "w", "b")

_HELD = {
    f"{channel}_{kind}": f"{channel}: {text} before ready"
    for channel in CHANNELS
    for kind, text in (("withdrawn", "valid was taken back"), ("changed", "the payload changed"))
}
_ADDRESS = {
    f"{channel}_{kind}": f"{channel}: {text}"
    for channel in ("ar", "aw")
    for kind, text in (
        ("burst", "a burst must be INCR"),
        ("size", "a beat must be as wide as the bus"),
        ("aligned", "an address must be a multiple of the beat"),
        ("crossing", "a burst must not cross 4 KiB"),
        ("identifier", "the identifier must be 0"),
    )
}
RULES: Mapping[str, str] = MappingProxyType(
    _HELD
    | _ADDRESS
    | {
        "r_unasked": "r: data without a burst that is open",
        "r_last": "r: last must be in the last beat of a burst and nowhere else",
        "w_last": "w: last must be in the last beat of a burst and nowhere else",
        "b_unasked": "b: answer without a write that is complete",
    }
)
"""What can be broken, by name, in the order of the bits of ``AxiRules.broken``.

Bursts of whole aligned beats leave no strobe that lies outside its beat, so the strobes need no rule of their own.
"""

BURSTS = 512
"""Bursts under way that are told apart: more than any core or memory here has."""


def payload_shapes(config: CoreConfig) -> dict[str, data.StructLayout]:
    """Return the payload of each channel."""
    members = axi4_signature(config).members
    return {name: members[name].signature.members["payload"].shape for name in CHANNELS}


class AxiRules(wiring.Component):
    """Watches the five channels of a port; drives none of them.

    Parameters
    ----------
    config : CoreConfig
        Width of the bus.

    Members
    -------
    valid, ready : In(len(CHANNELS))
        Handshakes, a bit a channel in the order of `CHANNELS`.
    ar, r, aw, w, b : In(payload of the channel)
        Payloads.
    broken : Out(len(RULES))
        Sticky: a bit for each rule that was broken, the cycle after.
    open : Out(1)
        A burst has not been answered in full, or an address or a beat waits to be taken.
    reads, writes : Out(32)
        Addresses taken since reset on AR and on AW.
    """

    valid: Signal
    ready: Signal
    broken: Signal
    open: Signal
    reads: Signal
    writes: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        payloads = {name: In(shape) for name, shape in payload_shapes(config).items()}
        super().__init__({
            "valid": In(len(CHANNELS)), "ready": In(len(CHANNELS)), **payloads,
            "broken": Out(len(RULES)), "open": Out(1), "reads": Out(32), "writes": Out(32),
        })  # fmt: skip

    def watch(self, port: wiring.PureInterface) -> list:
        """Return the assignments that connect the watcher to a port."""
        channels: list[stream.Interface] = [getattr(port, name) for name in CHANNELS]
        return [
            self.valid.eq(Cat(channel.valid for channel in channels)),
            self.ready.eq(Cat(channel.ready for channel in channels)),
            *(getattr(self, name).eq(channel.payload) for name, channel in zip(CHANNELS, channels, strict=True)),
        ]

    def elaborate(self, platform: object) -> Module:
        """Look at every channel alone, then count bursts and answers."""
        m = Module()
        self._broken = {name: Signal(name=name) for name in RULES}
        m.d.sync += self.broken.eq(self.broken | Cat(self._broken.values()))
        valid, ready = (dict(zip(CHANNELS, bits, strict=True)) for bits in (self.valid, self.ready))
        taken = {name: valid[name] & ready[name] for name in CHANNELS}
        for name in CHANNELS:
            self._held(m, name, valid[name], ready[name])
        for name in ("ar", "aw"):
            self._address(m, name, taken[name])
        reads = self._reads(m, valid["r"], taken)
        writes = self._writes(m, valid["b"], taken)
        m.d.comb += self.open.eq(reads | writes | self.valid.any())
        m.d.sync += [self.reads.eq(self.reads + taken["ar"]), self.writes.eq(self.writes + taken["aw"])]
        return m

    def _held(self, m: Module, name: str, valid: Value, ready: Value) -> None:
        """What waits for ready stays as it is."""
        payload = Value.cast(getattr(self, name))
        waiting = Signal(name=f"{name}_waiting")
        before = Signal.like(payload, name=f"{name}_before")
        m.d.sync += [waiting.eq(valid & ~ready), before.eq(payload)]
        m.d.comb += [
            self._broken[f"{name}_withdrawn"].eq(waiting & ~valid),
            self._broken[f"{name}_changed"].eq(waiting & valid & (payload != before)),
        ]

    def _address(self, m: Module, name: str, taken: Value) -> None:
        burst = getattr(self, name)
        shift = exact_log2(self._config.axi_data_bytes)
        end = Signal(range(2 * PAGE_BYTES + BURST_BEATS * self._config.axi_data_bytes), name=f"{name}_end")
        in_page = exact_log2(PAGE_BYTES)
        m.d.comb += end.eq(Cat(burst.addr[:shift] & 0, burst.addr[shift:in_page]) + ((burst.len + 1) << shift))
        for kind, broken in (
            ("burst", burst.burst != INCR),
            ("size", burst.size != shift),
            ("aligned", burst.addr[:shift].any()),
            ("crossing", end > PAGE_BYTES),
            ("identifier", burst.id != 0),
        ):
            m.d.comb += self._broken[f"{name}_{kind}"].eq(taken & broken)

    def _queue(self, m: Module, name: str, push: Value, beats: Value) -> SyncFIFO:
        """Return a queue of burst lengths, which are beats minus one."""
        m.submodules[name] = queue = SyncFIFO(width=len(beats), depth=BURSTS)
        m.d.comb += [queue.w_en.eq(push), queue.w_data.eq(beats)]
        return queue

    def _reads(self, m: Module, valid: Value, taken: Mapping[str, Value]) -> Value:
        """Check R against the bursts of AR; return whether one is open. An answer comes a cycle after its cause at the earliest."""
        bursts = self._queue(m, "open_reads", taken["ar"], self.ar.len)
        beat = Signal.like(self.ar.len, name="read_beat")
        last = beat == bursts.r_data
        with m.If(taken["r"]):
            m.d.sync += beat.eq(Mux(last, 0, beat + 1))
        m.d.comb += [
            bursts.r_en.eq(taken["r"] & last),
            self._broken["r_unasked"].eq(valid & (~bursts.r_rdy | (self.r.id != 0))),
            self._broken["r_last"].eq(taken["r"] & bursts.r_rdy & (self.r.last != last)),
        ]
        return bursts.r_rdy

    def _writes(self, m: Module, valid: Value, taken: Mapping[str, Value]) -> Value:
        """Check W and B against the bursts of AW; return whether one is open. Data may come before its address."""
        beat = Signal.like(self.aw.len, name="write_beat")
        overrun = beat.all() & ~self.w.last
        ended = taken["w"] & (self.w.last | overrun)
        with m.If(taken["w"]):
            m.d.sync += beat.eq(Mux(ended, 0, beat + 1))
        addresses = self._queue(m, "write_addresses", taken["aw"], self.aw.len)
        lengths = self._queue(m, "write_lengths", ended, beat)
        matched = addresses.r_rdy & lengths.r_rdy
        # Without a data burst that waits for its address, the oldest address is that of the beat that is here.
        known = addresses.r_rdy & ~lengths.r_rdy
        owed = Signal(range(BURSTS + 1))
        # Address and data may both be there since this cycle only, so a write that is complete is seen one cycle later:
        # too late for no answer, for the memory needs as long.
        m.d.comb += [
            addresses.r_en.eq(matched),
            lengths.r_en.eq(matched),
            self._broken["w_last"].eq(
                (matched & (addresses.r_data != lengths.r_data))
                | (taken["w"] & known & (self.w.last != (beat == addresses.r_data)))
                | (taken["w"] & overrun)
            ),
            self._broken["b_unasked"].eq(valid & (((owed == 0) & ~matched) | (self.b.id != 0))),
        ]
        m.d.sync += owed.eq(owed + matched - (taken["b"] & ((owed != 0) | matched)))
        return addresses.r_rdy | lengths.r_rdy | (owed != 0) | (beat != 0)
