"""Tile operands of a block: what its names stand for, and what the block does to the names."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig
from linxtile.isa.codes import QUEUE_DEPTH

from .allocator import change_layout, run_layout
from .layouts import (
    BlockKind,
    block_layout,
    granule_bits,
    handle_layout,
    max_destinations,
    max_released,
    max_sources,
    tag_bits,
)
from .queues import INDEX_BITS, NAMES, TileQueues, name_layout, names_layout, state_layout
from .reorder import commit_signature

__all__ = ["Operands"]


class Operands(wiring.Component):
    """Tile queues with the look-ups of a block, one name a cycle: the sources, then the slots that the destinations take.

    Parameters
    ----------
    config : CoreConfig
        Most sources and destinations of a block.

    Members
    -------
    block : In(block_layout(config))
        Description; its tile operands are looked up while ``binding``, from the start after ``clear``.
    binding, clear : In(1)
        See above.
    done : Out(1)
        All names are looked up; the following outputs hold from then on.
    sources : Out(ArrayLayout of name_layout(config))
        What the source names stand for.
    released : Out(run_layout(config)).array(...)
        Storage that the block gives up at its commit: sources, then the tile that falls out of the windows, or several of
        those of a block without sources.
    producers : Out
        Blocks that write the sources, a bit a tag.
    bases, width : In
        Placement and width code of the new tiles.
    names : Out(names_layout(config))
        What the block does to the names.
    bind, tag : In
        Do it, as block ``tag``.
    commit : In(commit_signature(config))
        Commits.
    restore : In(1)
        Go back to the committed names and tell of every live tile on ``live``, a name a cycle; ``restoring`` until then.
    live : Out(stream of change_layout(config))
        Live tiles after a restore.
    restoring : Out(1)
        From ``restore`` on until the last live tile was taken.
    committed : Out(state_layout(config))
        Committed names.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        self._sources, self._destinations = max_sources(config), max_destinations(config)
        super().__init__({
            "block": In(block_layout(config)),
            "binding": In(1),
            "clear": In(1),
            "done": Out(1),
            "sources": Out(data.ArrayLayout(name_layout(config), self._sources)),
            "released": Out(run_layout(config)).array(max_released(config)),
            "producers": Out(config.blocks_in_flight),
            "bases": In(data.ArrayLayout(granule_bits(config), self._destinations)),
            "width": In(3),
            "names": Out(names_layout(config)),
            "bind": In(1),
            "tag": In(tag_bits(config)),
            "commit": In(commit_signature(config)),
            "restore": In(1),
            "live": Out(stream.Signature(change_layout(config))),
            "restoring": Out(1),
            "committed": Out(state_layout(config)),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Look names up for a block, or all of them after a restore."""
        m = Module()
        m.submodules.queues = queues = TileQueues(config=self._config)
        m.d.comb += [
            queues.bind.eq(self.bind),
            queues.bind_names.eq(self.names),
            queues.bind_tag.eq(self.tag),
            queues.commit.eq(self.commit.valid),
            queues.commit_names.eq(self.commit.names),
            queues.commit_tag.eq(self.commit.tag),
            queues.restore.eq(self.restore),
            self.committed.eq(queues.committed),
        ]
        fallen = self._look_up(m, queues)
        self._effects(m, fallen)
        self._walk(m, queues)
        return m

    def _same_queue(self, number: int) -> Value:
        """How many earlier destinations go to the queue of destination ``number``."""
        tiles, count = self.block.destinations, self.block.destination_count
        return sum(((count > at) & (tiles[at].queue == tiles[number].queue) for at in range(number)), 0)

    def _look_up(self, m: Module, queues: TileQueues) -> data.View:
        """Take one name a cycle; return the tiles that the pushes will drop from the windows."""
        fallen = Signal(data.ArrayLayout(handle_layout(self._config), self._destinations))
        asked = Signal(range(self._sources + self._destinations + 1))
        at = Signal.like(asked)
        # Places of sources that the block does not have are passed over.
        m.d.comb += at.eq(Mux((asked < self.block.source_count) | (asked > self._sources), asked, self._sources))
        with m.Switch(at):
            for number, source in enumerate(self.block.sources):
                with m.Case(number):
                    m.d.comb += [queues.queue.eq(source.queue), queues.index.eq(source.index)]
                    with m.If(self.binding):
                        m.d.sync += self.sources[number].eq(queues.entry)
            for number, tile in enumerate(self.block.destinations):
                with m.Case(self._sources + number):
                    # The slot that a push takes is that of the oldest name, one younger for each earlier push.
                    oldest = QUEUE_DEPTH - 1 - self._same_queue(number)
                    m.d.comb += [queues.queue.eq(tile.queue), queues.index.eq(oldest)]
                    with m.If(self.binding):
                        m.d.sync += fallen[number].eq(queues.entry.handle)
        m.d.comb += self.done.eq(at == self._sources + self.block.destination_count)
        with m.If(self.binding & ~self.done):
            m.d.sync += asked.eq(at + 1)
        with m.If(self.clear):
            m.d.sync += asked.eq(0)
        return fallen

    def _effects(self, m: Module, fallen: data.View) -> None:
        """A source is released unless one of its references says reuse; the new tiles go to the fronts of their queues."""
        block = self.block
        is_tile = block.kind == BlockKind.TILE
        run = run_layout(self._config)
        given_up = Signal(data.ArrayLayout(run, self._sources))
        dropped = Signal(data.ArrayLayout(run, self._destinations))
        for number, (operand, source) in enumerate(zip(block.sources, self.sources, strict=True)):
            kept = Signal(name=f"kept_{number}")
            for other_number, other in enumerate(block.sources):
                same = (other.queue == operand.queue) & (other.index == operand.index)
                with m.If((block.source_count > other_number) & same & other.reuse):
                    m.d.comb += kept.eq(1)
            release = self.names.releases[number]
            m.d.comb += [
                release.valid.eq(is_tile & (block.source_count > number) & ~kept),
                release.queue.eq(operand.queue),
                release.slot.eq(source.slot),
                given_up[number].valid.eq(release.valid),
                given_up[number].base.eq(source.handle.base),
                given_up[number].size_code.eq(source.handle.size_code),
            ]
            with m.If((block.source_count > number) & source.pending):
                m.d.comb += self.producers.bit_select(source.producer, 1).eq(1)
        for number, (tile, old) in enumerate(zip(block.destinations, fallen, strict=True)):
            push = self.names.pushes[number]
            m.d.comb += [
                push.valid.eq(is_tile & (block.destination_count > number)),
                push.queue.eq(tile.queue),
                push.handle.live.eq(1),
                push.handle.base.eq(self.bases[number]),
                push.handle.size_code.eq(tile.size_code),
                push.handle.width_code.eq(self.width),
                dropped[number].valid.eq(push.valid & old.live),
                dropped[number].base.eq(old.base),
                dropped[number].size_code.eq(old.size_code),
            ]
        has_sources = block.source_count != 0
        for number, released in enumerate(self.released):
            # Without sources the drops stand from the front; with them there is one destination at most.
            first = dropped[number] if number < self._destinations else run.const({"valid": 0})
            then = given_up[number] if number < self._sources else run.const({"valid": 0})
            if number == self._sources:
                then = dropped[0]
            m.d.comb += released.eq(Mux(has_sources, then, first))

    def _walk(self, m: Module, queues: TileQueues) -> None:
        """After a restore, show all names one by one."""
        name = Signal(range(NAMES))
        walking = Signal()
        handle = queues.entry.handle
        m.d.comb += [
            self.restoring.eq(self.restore | walking),
            self.live.valid.eq(walking & handle.live),
            self.live.p.base.eq(handle.base),
            self.live.p.size_code.eq(handle.size_code),
            self.live.p.taken.eq(1),
        ]
        with m.If(walking):
            m.d.comb += [queues.queue.eq(name[INDEX_BITS:]), queues.index.eq(name[:INDEX_BITS])]
            with m.If(self.live.ready | ~handle.live):
                m.d.sync += [name.eq(name + 1), walking.eq(name != NAMES - 1)]
        with m.If(self.restore):
            m.d.sync += walking.eq(1)
