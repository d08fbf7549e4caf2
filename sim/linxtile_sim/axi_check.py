"""Assertions on the AXI4 protocol of a memory port: what both sides of the bus owe each other."""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge

from .pins import is_high, number

__all__ = ["AxiChecker", "AxiError", "AxiProtocol", "Burst"]

PAGE_BYTES = 4096
INCR = 1

CHANNELS: dict[str, tuple[str, ...]] = {
    "aw": ("id", "addr", "len", "size", "burst"),
    "w": ("data", "strb", "last"),
    "b": ("id", "resp"),
    "ar": ("id", "addr", "len", "size", "burst"),
    "r": ("id", "data", "resp", "last"),
}


class AxiError(AssertionError):
    """A rule of AXI4 was broken; the message says on which channel, which rule, and by what."""


@dataclass(frozen=True)
class Burst:
    """One address handshake: identifier, first byte address, beats, and bytes of a beat."""

    id: int
    addr: int
    beats: int
    beat_bytes: int

    def lanes(self, beat: int, data_bytes: int) -> int:
        """Return the mask of byte lanes that ``beat`` may use on a bus of ``data_bytes``."""
        aligned = self.addr - self.addr % self.beat_bytes + beat * self.beat_bytes
        start = max(aligned, self.addr) if beat == 0 else aligned
        low, high = start % data_bytes, aligned % data_bytes + self.beat_bytes
        return (1 << high) - (1 << low)


class AxiProtocol:
    """The rules, apart from any simulator: give it what each clock edge saw.

    Fields that a port leaves out have AXI's defaults: identifier 0, bursts INCR, beats as wide as the bus.

    Parameters
    ----------
    data_bytes : int
        Width of the data bus.

    Attributes
    ----------
    reads, writes : list of Burst
        Address handshakes so far.
    """

    def __init__(self, data_bytes: int):
        if data_bytes < 1 or data_bytes & (data_bytes - 1) or data_bytes > 128:
            raise ValueError(f"data_bytes must be a power of two from 1 to 128, not {data_bytes!r}")
        self.data_bytes = data_bytes
        self.reads: list[Burst] = []
        self.writes: list[Burst] = []
        self._waiting: dict[str, dict[str, int]] = {}
        self._open_reads: dict[int, deque[tuple[Burst, int]]] = {}
        self._addresses: deque[Burst] = deque()
        self._beats: deque[dict[str, int]] = deque()
        self._beat = 0
        self._answers: dict[int, int] = {}

    def edge(self, seen: Mapping[str, tuple[bool, bool, dict[str, int]]]) -> None:
        """Check one clock edge: for each channel ``valid``, ``ready`` and the payload's fields (empty when not valid)."""
        for channel, (valid, ready, payload) in seen.items():
            before = self._waiting.pop(channel, None)
            if before is not None:
                if not valid:
                    raise AxiError(f"{channel}: valid was taken back before ready")
                for field, value in payload.items():
                    if value != before[field]:
                        raise AxiError(f"{channel}: {field} changed from {before[field]:#x} to {value:#x} before ready")
            if valid and not ready:
                self._waiting[channel] = payload
        # An answer may follow its cause by a cycle at the earliest, so answers are taken before causes.
        for channel in ("b", "r", "aw", "ar", "w"):
            valid, ready, payload = seen.get(channel, (False, False, {}))
            if valid:
                getattr(self, f"_{channel}_valid", lambda payload: None)(payload)
            if valid and ready:
                getattr(self, f"_{channel}")(payload)
        self._match_writes()

    def assert_idle(self) -> None:
        """Check that every burst has been answered in full and nothing waits."""
        reads = sum(map(len, self._open_reads.values()))
        answers = sum(self._answers.values())
        if self._waiting or reads or self._addresses or self._beats or answers:
            raise AxiError(
                f"bus is not idle: {reads} reads, {len(self._addresses)} writes and {len(self._beats)} beats without address "
                f"are open, {answers} answers owed, waiting for ready: {', '.join(self._waiting) or 'none'}"
            )

    def _burst(self, channel: str, payload: dict[str, int]) -> Burst:
        kind = payload.get("burst", INCR)
        if kind != INCR:
            raise AxiError(f"{channel}: burst must be INCR ({INCR}), not {kind}")
        beat_bytes = 1 << payload["size"] if "size" in payload else self.data_bytes
        if beat_bytes > self.data_bytes:
            raise AxiError(f"{channel}: a beat must fit the bus of {self.data_bytes} bytes, not be {beat_bytes} bytes")
        burst = Burst(payload.get("id", 0), payload["addr"], payload.get("len", 0) + 1, beat_bytes)
        if burst.beats > 256:
            raise AxiError(f"{channel}: a burst must have at most 256 beats, not {burst.beats}")
        end = burst.addr - burst.addr % beat_bytes + burst.beats * beat_bytes - 1
        if burst.addr // PAGE_BYTES != end // PAGE_BYTES:
            raise AxiError(f"{channel}: a burst must not cross 4 KiB, but {burst.addr:#x} to {end:#x} does")
        return burst

    def _ar(self, payload: dict[str, int]) -> None:
        burst = self._burst("ar", payload)
        self.reads.append(burst)
        self._open_reads.setdefault(burst.id, deque()).append((burst, 0))

    def _r_valid(self, payload: dict[str, int]) -> None:
        if not self._open_reads.get(payload.get("id", 0)):
            raise AxiError(f"r: data for identifier {payload.get('id', 0)} without a burst that is open")

    def _r(self, payload: dict[str, int]) -> None:
        queue = self._open_reads[payload.get("id", 0)]
        burst, beat = queue.popleft()
        last = beat + 1 == burst.beats
        if bool(payload["last"]) != last:
            raise AxiError(f"r: last is {payload['last']} in beat {beat + 1} of {burst.beats} from {burst.addr:#x}")
        if not last:
            queue.appendleft((burst, beat + 1))

    def _aw(self, payload: dict[str, int]) -> None:
        burst = self._burst("aw", payload)
        self.writes.append(burst)
        self._addresses.append(burst)

    def _w(self, payload: dict[str, int]) -> None:
        self._beats.append(payload)

    def _match_writes(self) -> None:
        while self._addresses and self._beats:
            burst, payload = self._addresses[0], self._beats.popleft()
            last = self._beat + 1 == burst.beats
            if bool(payload["last"]) != last:
                raise AxiError(
                    f"w: last is {payload['last']} in beat {self._beat + 1} of {burst.beats} to {burst.addr:#x}"
                )
            stray = payload.get("strb", 0) & ~burst.lanes(self._beat, self.data_bytes)
            if stray:
                raise AxiError(
                    f"w: strobes {stray:#x} lie outside beat {self._beat + 1} of the burst to {burst.addr:#x}"
                )
            self._beat += 1
            if last:
                self._addresses.popleft()
                self._beat = 0
                self._answers[burst.id] = self._answers.get(burst.id, 0) + 1

    def _b_valid(self, payload: dict[str, int]) -> None:
        if not self._answers.get(payload.get("id", 0)):
            raise AxiError(f"b: answer for identifier {payload.get('id', 0)} without a write that is complete")

    def _b(self, payload: dict[str, int]) -> None:
        self._answers[payload.get("id", 0)] -= 1


class AxiChecker(AxiProtocol):
    """Watch the channels that port ``prefix`` of the design has and fail the test when a rule is broken.

    Start it beside the memory model; call :meth:`assert_idle` at the end of the test.

    Parameters
    ----------
    dut : handle
        Design with ports ``{prefix}_arvalid`` and so on; a port that only reads or only writes is fine.
    """

    def __init__(self, dut: Any, prefix: str, *, data_bytes: int):
        super().__init__(data_bytes)
        self._clock, self._reset = dut.clk, dut.rst
        self._channels = dict(self._find(dut, prefix))
        if not self._channels:
            raise ValueError(f"design has no AXI channel with the prefix {prefix!r}")
        cocotb.start_soon(self._run())

    @staticmethod
    def _find(dut: Any, prefix: str) -> Iterator[tuple[str, tuple[Any, Any, dict[str, Any]]]]:
        for channel, fields in CHANNELS.items():
            valid, ready = (getattr(dut, f"{prefix}_{channel}{name}", None) for name in ("valid", "ready"))
            if valid is None or ready is None:
                continue
            handles = {field: getattr(dut, f"{prefix}_{channel}{field}", None) for field in fields}
            numbers = {field: number(handle) for field, handle in handles.items() if handle is not None}
            yield channel, (is_high(valid), is_high(ready), numbers)

    async def _run(self) -> None:
        in_reset = is_high(self._reset)
        while True:
            await RisingEdge(self._clock)
            if in_reset():
                continue
            seen: dict[str, tuple[bool, bool, dict[str, int]]] = {}
            for channel, (valid, ready, fields) in self._channels.items():
                if valid():
                    seen[channel] = (True, ready(), {field: read() for field, read in fields.items()})
                else:
                    seen[channel] = (False, False, {})
            self.edge(seen)
