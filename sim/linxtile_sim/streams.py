"""Drivers and monitors for the ready/valid streams of generated Verilog.

All of them sample right after the rising edge, when the signals still have the values that the flip-flops saw, and draw
their stalls from the seed of the run and the name of the stream: the same on both simulators.
"""

import random
from collections import deque
from collections.abc import Callable
from typing import Any

import cocotb
from amaranth.hdl import Const, Shape, ShapeCastable, ShapeLike
from amaranth.lib import data
from amaranth.lib import enum as amaranth_enum
from cocotb.clock import Clock
from cocotb.triggers import Event, RisingEdge, with_timeout

from .pins import driver, is_high, number

__all__ = ["HoldChecker", "Sink", "Source", "cycles", "pack", "start", "unpack"]

CLOCK_NANOSECONDS = 10


def pack(shape: ShapeLike, value: Any) -> int:
    """Return the bits of ``value``: an int, an enum member, or for a layout a dict (nested, absent fields zero)."""
    if isinstance(shape, ShapeCastable):
        bits: int = Const.cast(shape.const(value)).value
    else:
        bits = int(value)
    width = Shape.cast(shape).width
    if not -(1 << width) < bits < 1 << width:
        raise ValueError(f"payload of {width} bits cannot hold {value!r}")
    return bits & ((1 << width) - 1)


def unpack(shape: ShapeLike, bits: int) -> Any:
    """Return what ``bits`` mean: a dict for a structure, a list for an array, an enum member if the code has one, an int."""
    known = _DECODERS.get(id(shape))
    if known is None:
        if len(_DECODERS) == MOST_DECODERS:
            _DECODERS.clear()
        # The shape is kept beside its decoder: while it lives no other object has its identity.
        known = _DECODERS[id(shape)] = (shape, _decoder(shape))
    return known[1](bits)


MOST_DECODERS = 64
_DECODERS: dict[int, tuple[ShapeLike, Callable[[int], Any]]] = {}


def _decoder(shape: ShapeLike) -> Callable[[int], Any]:
    """Return :func:`unpack` of one shape; asking Amaranth for widths and places at every payload costs more than simulating."""
    if isinstance(shape, ShapeCastable) and not isinstance(shape, amaranth_enum.EnumType):
        layout = data.Layout.cast(shape)
        fields = [
            (key, field.offset, (1 << Shape.cast(field.shape).width) - 1, _decoder(field.shape))
            for key, field in layout
        ]
        if isinstance(layout, data.ArrayLayout):
            return lambda bits: [decode(bits >> offset & mask) for _, offset, mask, decode in fields]
        return lambda bits: {key: decode(bits >> offset & mask) for key, offset, mask, decode in fields}
    cast = Shape.cast(shape)
    if isinstance(shape, amaranth_enum.EnumType):
        names: dict[str, Any] = dict(shape.__members__)
        members = {member.value: member for member in names.values()}
        return lambda bits: members.get(value := _signed(bits, cast), value)
    return lambda bits: _signed(bits, cast)


def _signed(bits: int, shape: Shape) -> int:
    return bits - (1 << shape.width) if shape.signed and bits >> (shape.width - 1) else bits


async def start(dut: Any, *, reset_cycles: int = 2) -> None:
    """Start the clock and reset the design; returns right after the edge that saw the last cycle of reset.

    Create sources and sinks, and drive all other inputs, before: nothing may float at the first edge.
    """
    dut.rst.value = 1
    Clock(dut.clk, CLOCK_NANOSECONDS, unit="ns").start(start_high=False)
    await cycles(dut, reset_cycles)
    dut.rst.value = 0


async def cycles(dut: Any, count: int = 1) -> None:
    """Wait for ``count`` rising edges."""
    for _ in range(count):
        await RisingEdge(dut.clk)


class _Stream:
    """The three signals of stream ``name`` and a random source of its own."""

    def __init__(self, dut: Any, name: str, *, shape: ShapeLike | None, stall: float):
        if not 0 <= stall < 1:
            raise ValueError(f"stall must be a probability from 0 to below 1, not {stall!r}")
        self.name = name
        self.shape = shape
        self.stall = stall
        self.random = random.Random(f"{cocotb.RANDOM_SEED}/{name}")
        self._clock = dut.clk
        self._reset = dut.rst
        self._valid = getattr(dut, f"{name}_valid")
        self._ready = getattr(dut, f"{name}_ready")
        # A stream can carry nothing but the fact that it carries: then Verilog has no payload port.
        self._payload = getattr(dut, f"{name}_payload", None)
        self._in_reset, self._is_valid, self._is_ready = map(is_high, (self._reset, self._valid, self._ready))
        self._bits = (lambda: 0) if self._payload is None else number(self._payload)

    def _show(self, bits: int) -> Any:
        return bits if self.shape is None else unpack(self.shape, bits)


class Source(_Stream):
    """Sends payloads on an input stream of the design; ``stall`` is the probability of an idle cycle before each.

    Parameters
    ----------
    dut : handle
        The design; the ports are ``{name}_payload``, ``{name}_valid`` and ``{name}_ready``.
    shape : ShapeLike, optional
        Shape of a payload: :meth:`put` then takes what :func:`pack` takes. Without it payloads are ints.
    """

    def __init__(self, dut: Any, name: str, *, shape: ShapeLike | None = None, stall: float = 0.0):
        super().__init__(dut, name, shape=shape, stall=stall)
        self._queue: deque[int] = deque()
        self._empty = Event()
        self._empty.set()
        self._valid.value = 0
        self._scramble()
        cocotb.start_soon(self._run())

    def put(self, *payloads: Any) -> None:
        """Queue payloads to be sent in this order."""
        for payload in payloads:
            self._queue.append(payload if self.shape is None else pack(self.shape, payload))
            self._empty.clear()

    async def send(self, *payloads: Any) -> None:
        """Queue payloads and wait until the design has taken the last one."""
        self.put(*payloads)
        await self.drained()

    async def drained(self) -> None:
        """Wait until everything queued has been taken."""
        await self._empty.wait()

    def _scramble(self) -> None:
        # A payload without valid is noise: a design that looks at it shows itself.
        if self._payload is not None:
            self._payload.value = self.random.getrandbits(len(self._payload))

    async def _run(self) -> None:
        while True:
            await RisingEdge(self._clock)
            if self._in_reset():
                continue
            if (valid := self._is_valid()) and self._is_ready():
                self._queue.popleft()
                self._valid.value = 0
                self._scramble()
                if not self._queue:
                    self._empty.set()
            elif valid:
                continue
            if self._queue and self.random.random() >= self.stall:
                self._valid.value = 1
                if self._payload is not None:
                    self._payload.value = self._queue[0]


class Sink(_Stream):
    """Takes payloads from an output stream of the design and checks that a stalled one holds still.

    Parameters
    ----------
    stall : float
        Probability that ``ready`` is low in a cycle.
    check : callable, optional
        Called with each payload; what it raises fails the test.

    Attributes
    ----------
    received : list
        Payloads in order: ints, or what :func:`unpack` makes of them when there is a ``shape``.
    ready : bool
        Set to False to close the stream for good, True to open it again.
    """

    def __init__(
        self,
        dut: Any,
        name: str,
        *,
        shape: ShapeLike | None = None,
        stall: float = 0.0,
        check: Callable[[Any], None] | None = None,
    ):
        super().__init__(dut, name, shape=shape, stall=stall)
        self.received: list[Any] = []
        self.ready = True
        self._check = check
        self._arrived = Event()
        self._drive = driver(self._ready, 0)
        HoldChecker(dut, name, shape=shape)
        cocotb.start_soon(self._run())

    async def wait(self, count: int, *, within: int = 10_000) -> list[Any]:
        """Wait until ``count`` payloads have come in all, at most ``within`` cycles for each, and return all that came."""
        while len(self.received) < count:
            self._arrived.clear()
            try:
                await with_timeout(self._arrived.wait(), within * CLOCK_NANOSECONDS, "ns")
            except TimeoutError:
                raise AssertionError(
                    f"{self.name}: {len(self.received)} of {count} payloads came, then nothing for {within} cycles"
                ) from None
        return self.received

    async def _run(self) -> None:
        while True:
            await RisingEdge(self._clock)
            if self._is_valid() and self._is_ready() and self._reset.value == 0:
                payload = self._show(self._bits())
                self.received.append(payload)
                self._arrived.set()
                if self._check is not None:
                    self._check(payload)
            self._drive(int(self.ready and self.random.random() >= self.stall))


class HoldChecker(_Stream):
    """Fails the test when an output stream takes back or changes a payload that has not been taken."""

    def __init__(self, dut: Any, name: str, *, shape: ShapeLike | None = None):
        super().__init__(dut, name, shape=shape, stall=0.0)
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        stalled: int | None = None
        while True:
            await RisingEdge(self._clock)
            if self._in_reset():
                stalled = None
                continue
            valid = self._is_valid()
            assert valid or self._valid.value.is_resolvable, f"{self.name}: valid is {self._valid.value}"
            if stalled is not None:
                assert valid, f"{self.name}: took back {self._show(stalled)} before it was taken"
                bits = self._bits()
                assert bits == stalled, (
                    f"{self.name}: changed from {self._show(stalled)} to {self._show(bits)} in a stall"
                )
            stalled = self._bits() if valid and self._ready.value == 0 else None
