"""Storage of a block's new tiles, and the storage that it gives up."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from linxtile.config import CoreConfig

from .allocator import Allocator, change_layout, run_layout
from .layouts import block_layout, granule_bits, max_destinations, max_released

__all__ = ["Placement"]


class Placement(wiring.Component):
    """Allocator with the requests and releases of a block.

    A block's destinations are placed in header order, as soon as what older blocks gave up is free. Storage that a
    rejected block has taken stays taken: its fault restores the map.

    Parameters
    ----------
    config : CoreConfig
        Most sources and destinations of a block.

    Members
    -------
    block : In(block_layout(config))
        Description; its destinations are placed while ``binding``, from the start after ``clear``.
    binding, clear : In(1)
        See above.
    wanted : In(1)
        Every destination has a size that can be placed; otherwise nothing is.
    done : Out(1)
        All destinations have been tried. ``placed`` : Out(1): a place was found for each.
    bases : Out
        First granules of the destinations.
    taken : Out(run_layout(config))
        In the cycle in which a place has been found: which one.
    released : In(run_layout(config)).array(...)
        Storage to be freed; ``release`` : In(1): take the list. It must not be given again before all of it is free,
        which is when the next block has been placed.
    live : In(stream of change_layout(config))
        Tiles to be marked after a restore.
    restore, restore_pointer : In
        Free everything and set the rotating pointer.
    pointer : Out
        Rotating pointer after this block.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        self._runs = max_released(config)
        super().__init__({
            "block": In(block_layout(config)),
            "binding": In(1),
            "clear": In(1),
            "wanted": In(1),
            "done": Out(1),
            "placed": Out(1),
            "bases": Out(data.ArrayLayout(granule_bits(config), max_destinations(config))),
            "taken": Out(run_layout(config)),
            "released": In(run_layout(config)).array(self._runs),
            "release": In(1),
            "live": In(stream.Signature(change_layout(config))),
            "restore": In(1),
            "restore_pointer": In(granule_bits(config)),
            "pointer": Out(granule_bits(config)),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Free what is left of the last block, then place this one's destinations."""
        m = Module()
        m.submodules.allocator = allocator = Allocator(config=self._config)
        m.d.comb += [
            allocator.restore.eq(self.restore),
            allocator.restore_pointer.eq(self.restore_pointer),
            self.pointer.eq(allocator.pointer),
        ]

        leaving = Signal(data.ArrayLayout(run_layout(self._config), self._runs))
        some_leave = Signal()
        m.d.comb += some_leave.eq(Cat(run.valid for run in leaving).any())
        connect(m, flipped(self.live), allocator.change)
        with m.If(some_leave):
            m.d.comb += [allocator.change.valid.eq(1), allocator.change.p.taken.eq(0), self.live.ready.eq(0)]
        freed = Signal()
        m.d.comb += freed.eq(some_leave & allocator.change.ready)
        for number in reversed(range(self._runs)):
            run, earlier = leaving[number], Cat(run.valid for run in leaving[:number])
            with m.If(run.valid):
                m.d.comb += [allocator.change.p.base.eq(run.base), allocator.change.p.size_code.eq(run.size_code)]
            with m.If(run.valid & ~earlier.any() & freed):
                m.d.sync += run.valid.eq(0)
        with m.If(self.release):
            m.d.sync += [run.eq(new) for run, new in zip(leaving, self.released, strict=True)]

        asked = Signal()
        at = Signal(range(max_destinations(self._config) + 1))
        failed = Signal()
        m.d.comb += [
            self.done.eq(((at == self.block.destination_count) | ~self.wanted) & ~some_leave),
            self.placed.eq(~failed),
            allocator.request.payload.eq(self.block.destinations[at].size_code),
            allocator.request.valid.eq(self.binding & ~asked & ~self.done & ~some_leave),
            allocator.response.ready.eq(1),
        ]
        with m.If(allocator.request.valid & allocator.request.ready):
            m.d.sync += asked.eq(1)
        answer = allocator.response.p
        m.d.comb += [
            self.taken.valid.eq(allocator.response.valid & answer.found),
            self.taken.base.eq(answer.base),
            self.taken.size_code.eq(allocator.request.payload),
        ]
        with m.If(allocator.response.valid):
            m.d.sync += [
                asked.eq(0),
                at.eq(at + 1),
                self.bases[at].eq(answer.base),
                failed.eq(failed | ~answer.found),
            ]
        with m.If(self.clear):
            m.d.sync += [asked.eq(0), at.eq(0), failed.eq(0)]
        with m.If(self.restore):
            m.d.sync += [run.valid.eq(0) for run in leaving]
        return m
