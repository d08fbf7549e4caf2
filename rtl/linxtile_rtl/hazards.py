"""Which older blocks a block must wait for."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig
from linxtile.isa.codes import SIZE_CODE_BITS

from .allocator import GRANULE_CODE, run_layout
from .interleave import RowsApart, strided_layout
from .layouts import max_released, tag_bits

__all__ = ["Hazards", "memory_layout"]


def memory_layout(config: CoreConfig) -> data.StructLayout:
    """What a block does to memory: its rows and last byte address, or ``everything``; attributes of B.CATR."""
    return data.StructLayout({
        "load": 1,
        "store": 1,
        "acquire": 1,
        "release": 1,
        "rows": strided_layout(config),
        "high": config.axi_address_bits,
        "everything": 1,
    })  # fmt: skip


class Hazards(wiring.Component):
    """Remembers storage that blocks in flight have released and memory that they store to.

    Storage that an older block released may be written only when that block has committed, for a fault brings the old tile
    back. A load waits for older stores that may touch its bytes: the intervals from first to last byte overlap, and the rows
    are not seen to interleave (:class:`~linxtile_rtl.interleave.RowsApart`). Rows of the tables belong to tags; rows of
    blocks that are not in flight are never cleared, as nobody waits for them.

    Parameters
    ----------
    config : CoreConfig
        ``blocks_in_flight`` is the number of rows.

    Members
    -------
    memory : In(memory_layout(config))
        The block's memory accesses.
    allocated : In(run_layout(config))
        Storage that it writes, a tile a cycle, before it is entered; ``clear`` : In(1) forgets them.
    released : In(run_layout(config)).array(max_released(config))
        Storage that it gives up: sources and tiles that fall out of the windows.
    enter, tag : In
        Write these into the row of ``tag``.
    in_flight, finished : In
        State of the blocks, a bit a tag.
    start : In(1)
        ``memory`` but for the last byte address is there in the next cycle; it holds still until ``enter``.
    settled : Out(1)
        Rows have been compared, or need not be; means something once the last byte address is there.
    store_pending : Out(1)
        A store is in flight and not finished: a load needs its interval.
    after_finish, after_commit : Out
        Blocks to wait for, a bit a tag, when ``settled``; bits of blocks that are not older mean nothing. They include storage
        that was shown up to the cycle before.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "memory": In(memory_layout(config)),
            "allocated": In(run_layout(config)),
            "clear": In(1),
            "released": In(run_layout(config)).array(max_released(config)),
            "enter": In(1),
            "tag": In(tag_bits(config)),
            "in_flight": In(config.blocks_in_flight),
            "finished": In(config.blocks_in_flight),
            "start": In(1),
            "settled": Out(1),
            "store_pending": Out(1),
            "after_finish": Out(config.blocks_in_flight),
            "after_commit": Out(config.blocks_in_flight),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Compare the block with every row."""
        m = Module()
        blocks = self._config.blocks_in_flight
        stores = Signal(blocks)
        reused = Signal(blocks)
        m.d.comb += self.store_pending.eq((stores & self.in_flight & ~self.finished).any())
        mine = self.memory
        m.submodules.rows = rows = RowsApart(config=self._config)
        overlapping = Signal(blocks)
        m.d.comb += [
            rows.rows.eq(mine.rows),
            rows.start.eq(self.start),
            rows.enter.eq(self.enter),
            rows.tag.eq(self.tag),
            self.settled.eq(rows.done | ~(overlapping & self.in_flight & ~self.finished).any()),
        ]
        # A store, and with release a load, starts when nothing older is left: every bit.
        alone = mine.store | (mine.load & mine.release)
        for tag in range(blocks):
            memory = Signal(memory_layout(self._config), name=f"memory_{tag}")
            released = [
                Signal(run_layout(self._config), name=f"released_{tag}_{at}") for at in range(len(self.released))
            ]
            with m.If(self.enter & (self.tag == tag)):
                m.d.sync += memory.eq(mine)
                m.d.sync += [run.eq(new) for run, new in zip(released, self.released, strict=True)]
            unknown = memory.everything | mine.everything
            before, after = memory.high < mine.rows.base, mine.high < memory.rows.base
            with m.If(Cat(self._overlap(run, self.allocated) for run in released).any()):
                m.d.sync += reused[tag].eq(1)
            m.d.comb += [
                stores[tag].eq(memory.store),
                overlapping[tag].eq(mine.load & memory.store & (unknown | ~(before | after))),
                self.after_finish[tag].eq(overlapping[tag] & (unknown | ~rows.apart[tag])),
                self.after_commit[tag].eq(alone | reused[tag] | (mine.load & memory.acquire)),
            ]
        with m.If(self.clear):
            m.d.sync += reused.eq(0)
        return m

    def _overlap(self, one: data.View, other: data.View) -> Value:
        """Whether two runs share a granule: their bases agree above the larger run's own bits."""
        larger = Mux(one.size_code > other.size_code, one.size_code, other.size_code) - GRANULE_CODE
        return one.valid & other.valid & (((one.base ^ other.base) >> larger[:SIZE_CODE_BITS]) == 0)
