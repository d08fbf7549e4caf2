"""The four tile queues: 64 names in program order and as they were at the last commit."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from linxtile.config import CoreConfig
from linxtile.isa.codes import QUEUE_DEPTH, Queue

from .layouts import handle_layout, max_destinations, max_sources, tag_bits

__all__ = ["INDEX_BITS", "NAMES", "QUEUE_BITS", "TileQueues", "name_layout", "names_layout", "state_layout"]

QUEUE_BITS = bits_for(max(Queue))
INDEX_BITS = exact_log2(QUEUE_DEPTH)
NAMES = QUEUE_DEPTH * len(Queue)


def names_layout(config: CoreConfig) -> data.StructLayout:
    """What a block does to the names: ``releases`` by absolute slot, then ``pushes`` in header order."""
    return data.StructLayout({
        "releases": data.ArrayLayout(
            data.StructLayout({"valid": 1, "queue": QUEUE_BITS, "slot": INDEX_BITS}), max_sources(config)
        ),
        "pushes": data.ArrayLayout(
            data.StructLayout({"valid": 1, "queue": QUEUE_BITS, "handle": handle_layout(config)}), max_destinations(config)
        ),
    })  # fmt: skip


def state_layout(config: CoreConfig) -> data.StructLayout:
    """All names: ``handles[16 * queue + slot]``, and the slot of ``#1`` of each queue."""
    return data.StructLayout({
        "handles": data.ArrayLayout(handle_layout(config), NAMES),
        "heads": data.ArrayLayout(INDEX_BITS, len(Queue)),
    })  # fmt: skip


def name_layout(config: CoreConfig) -> data.StructLayout:
    """Answer of a look-up: absolute slot, tile, and the block that writes it while that is on its way (``pending``)."""
    return data.StructLayout({
        "slot": INDEX_BITS,
        "handle": handle_layout(config),
        "pending": 1,
        "producer": tag_bits(config),
    })  # fmt: skip


class TileQueues(wiring.Component):
    """Names of the tiles. A queue is a ring of 16 handles and a head; a push moves the head and takes the slot of ``#16``.

    A released name keeps its slot, and a tile its absolute slot for life: what a block does to the names can be
    repeated at its commit without a look-up.

    Parameters
    ----------
    config : CoreConfig
        Sizes of the handles; most sources and destinations of a block.

    Members
    -------
    queue, index : In
        Name to look up in program order; ``index`` 0 is ``#1``.
    entry : Out(name_layout(config))
        What it stands for, in the same cycle.
    bind, bind_names, bind_tag : In
        Change the names in program order; tag of the block, which becomes the producer of what it pushes.
    commit, commit_names, commit_tag : In
        Make the same change to the committed names; the block's tiles are pending no more.
    restore : In(1)
        Copy the committed names back. The block must not commit in the same cycle.
    committed : Out(state_layout(config))
        Committed names.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "queue": In(QUEUE_BITS),
            "index": In(INDEX_BITS),
            "entry": Out(name_layout(config)),
            "bind": In(1),
            "bind_names": In(names_layout(config)),
            "bind_tag": In(tag_bits(config)),
            "commit": In(1),
            "commit_names": In(names_layout(config)),
            "commit_tag": In(tag_bits(config)),
            "restore": In(1),
            "committed": Out(state_layout(config)),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Apply the changes to both copies; follow the producers of the working one."""
        m = Module()
        working = Signal(state_layout(self._config))
        producers = Signal(data.ArrayLayout(tag_bits(self._config), NAMES))
        pending = Signal(NAMES)

        slot = Signal(INDEX_BITS)
        place = Signal(range(NAMES))
        m.d.comb += [
            slot.eq(working.heads[self.queue] - self.index),
            place.eq((self.queue << INDEX_BITS) | slot),
            self.entry.slot.eq(slot),
            self.entry.handle.eq(working.handles[place]),
            self.entry.pending.eq(pending.bit_select(place, 1)),
            self.entry.producer.eq(producers[place]),
        ]

        for name in range(NAMES):
            with m.If(self.commit & (producers[name] == self.commit_tag)):
                m.d.sync += pending[name].eq(0)
        pushed = self._apply(m, "committed", self.committed, self.commit, self.commit_names)
        pushed = self._apply(m, "working", working, self.bind, self.bind_names)
        for name in range(NAMES):
            with m.If(pushed[name]):
                m.d.sync += [producers[name].eq(self.bind_tag), pending[name].eq(1)]
        with m.If(self.restore):
            m.d.sync += [working.eq(self.committed), pending.eq(0)]
        return m

    def _apply(self, m: Module, copy: str, state: data.View, enable: Signal, names: data.View) -> Signal:
        """Change one copy of the names: drop the releases, then push. Return which names were pushed."""
        pushed = Signal(NAMES, name=f"{copy}_pushed")
        for release in names.releases:
            with m.If(enable & release.valid):
                m.d.sync += state.handles[(release.queue << INDEX_BITS) | release.slot].live.eq(0)
        for number, push in enumerate(names.pushes):
            earlier = sum((other.valid & (other.queue == push.queue) for other in names.pushes[:number]), 0)
            slot = Signal(INDEX_BITS, name=f"{copy}_slot_{number}")
            m.d.comb += slot.eq(state.heads[push.queue] + 1 + earlier)
            with m.If(enable & push.valid):
                m.d.comb += pushed.bit_select((push.queue << INDEX_BITS) | slot, 1).eq(1)
                m.d.sync += [
                    state.handles[(push.queue << INDEX_BITS) | slot].eq(push.handle),
                    state.heads[push.queue].eq(slot),
                ]
        return pushed
