"""Randomness of the simulated memory: channels that rest, and answers that take longer than others."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

__all__ = ["LATENCY_BITS", "TRANSFER_BITS", "Delay", "Stall"]

LATENCY_BITS = 10
TRANSFER_BITS = 16

_STATE_BITS = 31
_TAPS = (30, 27)
_STEPS = 8


def _noise(m: Module, seed: int) -> Signal:
    """Return a shift register that goes eight steps a cycle."""
    state = Signal(_STATE_BITS, init=seed)
    bits = list(state)
    for _ in range(_STEPS):
        bits = [bits[_TAPS[0]] ^ bits[_TAPS[1]], *bits[:-1]]
    m.d.sync += state.eq(Cat(*bits))
    return state


class Stall(wiring.Component):
    """Holds a stream back at random: opens with probability ``1 - level / 256``, then stays open until a transfer.

    Members
    -------
    level : In(8)
        Zero never holds back.
    longest : In(10)
        Opens after so many cycles whatever is drawn; 0 for no bound.
    dies : In(1), transfers : In(TRANSFER_BITS)
        Hold back for ever after this number of transfers.
    taken : In(1)
        A transfer happens in this cycle.
    open : Out(1)
        Whether valid (or ready) may be shown.
    """

    level: Signal
    longest: Signal
    dies: Signal
    transfers: Signal
    taken: Signal
    open: Signal

    def __init__(self, *, seed: int):
        self._seed = seed
        super().__init__({
            "level": In(8),
            "longest": In(10),
            "dies": In(1),
            "transfers": In(TRANSFER_BITS),
            "taken": In(1),
            "open": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Draw in each cycle; count rests and transfers."""
        m = Module()
        state = _noise(m, self._seed)
        held = Signal()
        rested = Signal.like(self.longest)
        done = Signal.like(self.transfers)
        dead = self.dies & (done >= self.transfers)
        rested_enough = self.longest.any() & (rested >= self.longest)
        m.d.comb += self.open.eq((held | (state[:8] >= self.level) | rested_enough) & ~dead)
        m.d.sync += [held.eq(self.open & ~self.taken), rested.eq(Mux(self.open, 0, rested + 1))]
        with m.If(self.taken):
            m.d.sync += done.eq(done + 1)
        return m


class Delay(wiring.Component):
    """Draws how many cycles each answer takes.

    Members
    -------
    latency : In(LATENCY_BITS)
        Cycles that every answer takes.
    jitter : In(LATENCY_BITS)
        Mask of the random cycles on top; zero gives the same latency each time.
    ended : In(1)
        An answer is complete: draw for the next one.
    cycles : Out(LATENCY_BITS + 1)
        What the answer under way takes.
    """

    latency: Signal
    jitter: Signal
    ended: Signal
    cycles: Signal

    def __init__(self, *, seed: int):
        self._seed = seed
        super().__init__({
            "latency": In(LATENCY_BITS), "jitter": In(LATENCY_BITS), "ended": In(1), "cycles": Out(LATENCY_BITS + 1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep what was drawn until the answer is complete."""
        m = Module()
        drawn = Signal(LATENCY_BITS)
        noise = _noise(m, self._seed)
        with m.If(self.ended):
            m.d.sync += drawn.eq(noise[:LATENCY_BITS])
        m.d.comb += self.cycles.eq(self.latency + (drawn & self.jitter))
        return m
