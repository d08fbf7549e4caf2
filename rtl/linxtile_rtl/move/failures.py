"""Which element of a load fails first."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..layouts import tag_bits

__all__ = ["FirstFailure"]


class FirstFailure(wiring.Component):
    """Keep the first failing element of a load, row of memory by row of memory, over all its tiles.

    The tiles, and the blocks of a transposed one, are read one after the other, so a later failure may be in an earlier
    row. Inside a row they come in order.

    Parameters
    ----------
    config : CoreConfig
        ``blocks_in_flight`` matters.

    Members
    -------
    taken : In(1)
        A beat has been taken, or the place of one that may not be asked for. The other inputs describe it.
    error : In(1)
        It failed.
    rows_left, address : In
        Rows from its own on; own address of its first needed element.
    ends : In(1)
        It is the last one of the load of block ``tag``.
    expired : In(1), awaited_address : In(64)
        The memory will never answer: the load of block ``tag`` fails for the element at this address, if for none before.
    failed : Out(1)
        This load has failed, from the cycle after its end until reset: no later one may be taken in.
    failed_tag, failed_address, late : Out
        Its block and the element; whether that was waited for in vain.
    """

    def __init__(self, *, config: CoreConfig):
        super().__init__({
            "taken": In(1),
            "error": In(1),
            "rows_left": In(16),
            "address": In(64),
            "ends": In(1),
            "tag": In(tag_bits(config)),
            "expired": In(1),
            "awaited_address": In(64),
            "failed": Out(1),
            "failed_tag": Out(tag_bits(config)),
            "failed_address": Out(64),
            "late": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Replace what is kept when the row is an earlier one."""
        m = Module()
        found = Signal()
        kept_rows_left = Signal.like(self.rows_left)
        with m.If(self.taken):
            with m.If(self.error & (~found | (self.rows_left > kept_rows_left))):
                m.d.sync += [self.failed_address.eq(self.address), kept_rows_left.eq(self.rows_left)]
            m.d.sync += found.eq((found | self.error) & ~self.ends)
            with m.If(self.ends):
                m.d.sync += [self.failed.eq(found | self.error), self.failed_tag.eq(self.tag)]
        with m.If(self.expired & ~self.failed):
            m.d.sync += [self.failed.eq(1), self.failed_tag.eq(self.tag), self.late.eq(~found)]
            with m.If(~found):
                m.d.sync += self.failed_address.eq(self.awaited_address)
        return m
