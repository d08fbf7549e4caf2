"""Notices a memory that has stopped answering."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from linxtile.config import CoreConfig

__all__ = ["Watchdog"]


class Watchdog(wiring.Component):
    """Count cycles of waiting; too many in a row are told once and for all.

    Parameters
    ----------
    config : CoreConfig
        ``watchdog_cycles`` is the number of cycles in a row; 0 switches the watchdog off.

    Members
    -------
    waiting : In(1)
        Something is owed by the memory and nothing moves in this cycle.
    expired : Out(1)
        From the cycle after the last one of waiting until reset; a memory that answers late changes nothing any more.
    """

    waiting: Signal
    expired: Signal

    def __init__(self, *, config: CoreConfig):
        self._cycles = config.watchdog_cycles
        super().__init__({"waiting": In(1), "expired": Out(1)})

    def elaborate(self, platform: object) -> Module:
        """Begin again in each cycle without waiting."""
        m = Module()
        if self._cycles == 0:
            return m
        waited = Signal(bits_for(self._cycles - 1))
        with m.If(~self.waiting):
            m.d.sync += waited.eq(0)
        with m.Elif(waited == self._cycles - 1):
            m.d.sync += self.expired.eq(1)
        with m.Else():
            m.d.sync += waited.eq(waited + 1)
        return m
