"""Merging of the windows of a row, in the canonical order."""

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from linxtile.config import CoreConfig

from .lanes import merge_request_layout
from .slot import Slot

__all__ = ["Combiner"]

ROWS = 8
"""Numbers of rows. At most ``LATENCY + 2`` rows are under way: a row of ``n`` windows comes every ``n`` cycles and is
merged in about ``LATENCY * (log2(n) + 1) + n``."""

QUEUED_MERGES = 4


class Combiner(wiring.Component):
    """Merges the values of a row's windows with the adjacent pairwise tree, one merge a cycle, in slot 0.

    Window ``j`` is value ``j`` of level 0; values ``2i`` and ``2i + 1`` of a level make value ``i`` of the next. A last value
    without partner goes up until it has one. Values of a level come in order of their index, except the last of a row, which
    may come early: it waits in a place of its own (``late``), all others in one place a level (``waiting``).

    Members
    -------
    enable : In(1)
        As for slot 0.
    last_index : In
        Windows of a row less one; stays while rows are under way.
    restart : In(1)
        The next window is the first of a row. Nothing is under way then.
    window, window_valid, window_ready : In(64), In(1), Out(1)
        Value of the next window; taken in enabled cycles in which both are high.
    merge : Out(merge_request_layout())
        Request for slot 0. A row of one window passes it alone.
    merged : In(64)
        Result of slot 0.
    row_valid : Out(1)
        ``merged`` is the value of a row, rows in order; lasts until the next enabled cycle.
    """

    def __init__(self, *, config: CoreConfig):
        self._index_bits = bits_for(config.tile_max_bytes // config.vector_bytes - 1)
        super().__init__({
            "enable": In(1),
            "last_index": In(self._index_bits),
            "restart": In(1),
            "window": In(64),
            "window_valid": In(1),
            "window_ready": Out(1),
            "merge": Out(merge_request_layout()),
            "merged": In(64),
            "row_valid": Out(1),
        })  # fmt: skip

    def _place_layout(self) -> data.StructLayout:
        """Where a value stands in the tree of its row; ``last``: it includes the row's last window."""
        return data.StructLayout({
            "row": range(ROWS), "level": range(self._index_bits + 1), "index": self._index_bits, "last": 1,
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Pair new windows, match the results that come back, and choose the merge of this cycle."""
        m = Module()
        queue_layout = data.StructLayout({"a": 64, "b": 64, "pair": 1, "place": self._place_layout()})
        m.submodules.queue = queue = SyncFIFO(width=queue_layout.size, depth=QUEUED_MERGES)
        head = Signal(queue_layout)
        head_valid, take = Signal(), Signal()
        self._pair_windows(m, queue, head, head_valid, take)

        under_way = [
            Signal(data.StructLayout({"valid": 1, "place": self._place_layout()}), name=f"stage_{index}")
            for index in range(Slot.LATENCY)
        ]
        issued = Signal.like(under_way[0])
        with m.If(self.enable):
            m.d.sync += [after.eq(before) for before, after in zip([issued, *under_way], under_way, strict=False)]
        back = under_way[-1]
        m.d.comb += self.row_valid.eq(back.valid & back.place.last & (back.place.index == 0))

        levels = self._index_bits + 1
        m.submodules.waiting = waiting = Memory(shape=64, depth=levels, init=[])
        m.submodules.late = late = Memory(shape=64, depth=ROWS, init=[])
        waiting_write, late_write = waiting.write_port(), late.write_port()
        back_waiting, back_late = waiting.read_port(domain="comb"), late.read_port(domain="comb")
        head_waiting = waiting.read_port(domain="comb")
        waiting_valid, late_valid = Signal(levels), Signal(ROWS)
        pair_layout = data.StructLayout({"row": range(ROWS), "pair": self._index_bits - 1})
        waiting_pair = Signal(data.ArrayLayout(pair_layout, levels))
        late_place = Signal(data.ArrayLayout(self._place_layout(), ROWS))

        # A result of slot 0 is matched, or stored, in its cycle: it cannot wait.
        work, hits_waiting, hits_late, back_merges = (Signal() for _ in range(4))
        partner_late = late_place[back.place.row]
        m.d.comb += [
            work.eq(back.valid & ~self.row_valid),
            back_waiting.addr.eq(back.place.level),
            back_late.addr.eq(back.place.row),
            hits_waiting.eq(work & _waits(waiting_valid, waiting_pair, back.place)),
            hits_late.eq(
                work
                & ~back.place.last
                & late_valid.bit_select(back.place.row, 1)
                & (partner_late.level == back.place.level)
                & (partner_late.index[1:] == back.place.index[1:])
            ),
            back_merges.eq(hits_waiting | hits_late),
        ]

        # The head of the queue takes the cycles that results leave free.
        place = self._promoted(m, "head", head.place)
        alone, needs_slot = Signal(), Signal()
        head_hits, partner_arrives, late_taken = (Signal() for _ in range(3))
        m.d.comb += [
            alone.eq(head.place.last & (head.place.index == 0)),
            head_waiting.addr.eq(place.level),
            head_hits.eq(~head.pair & ~alone & _waits(waiting_valid, waiting_pair, place)),
            needs_slot.eq(head.pair | alone | head_hits),
            partner_arrives.eq(
                work
                & (back.place.row == place.row)
                & (back.place.level == place.level)
                & (back.place.index[1:] == place.index[1:])
            ),
            late_taken.eq(work & ~back_merges & back.place.last),
            take.eq(head_valid & Mux(needs_slot, ~back_merges, ~partner_arrives & ~late_taken)),
        ]

        merges_head = take & needs_slot
        above = Signal(self._place_layout())
        m.d.comb += [
            issued.valid.eq(back_merges | merges_head),
            self.merge.a_present.eq(issued.valid),
            self.merge.b_present.eq(back_merges | (merges_head & ~alone)),
            above.eq(Mux(back_merges, back.place, place)),
            above.level.eq(Mux(back_merges, back.place.level, place.level) + 1),
            above.index.eq(Mux(back_merges, back.place.index, place.index) >> 1),
            above.last.eq(Mux(back_merges, back.place.last | hits_late, place.last)),
            issued.place.eq(self._promoted(m, "above", above)),
        ]
        with m.If(back_merges):
            m.d.comb += [
                self.merge.a.eq(Mux(hits_waiting, back_waiting.data, self.merged)),
                self.merge.b.eq(Mux(hits_waiting, self.merged, back_late.data)),
            ]
        with m.Else():
            m.d.comb += [
                self.merge.a.eq(Mux(head_hits, head_waiting.data, head.a)),
                self.merge.b.eq(Mux(head_hits, head.a, head.b)),
            ]

        with m.If(self.enable):
            with m.If(take):
                with m.If(head_hits):
                    m.d.sync += waiting_valid.bit_select(place.level, 1).eq(0)
                with m.Elif(~needs_slot):
                    m.d.comb += [late_write.en.eq(1), late_write.addr.eq(place.row), late_write.data.eq(head.a)]
                    m.d.sync += [late_valid.bit_select(place.row, 1).eq(1), late_place[place.row].eq(place)]
            with m.If(hits_waiting):
                m.d.sync += waiting_valid.bit_select(back.place.level, 1).eq(0)
            with m.Elif(hits_late):
                m.d.sync += late_valid.bit_select(back.place.row, 1).eq(0)
            with m.Elif(work & back.place.last):
                m.d.comb += [late_write.en.eq(1), late_write.addr.eq(back.place.row), late_write.data.eq(self.merged)]
                m.d.sync += [late_valid.bit_select(back.place.row, 1).eq(1), late_place[back.place.row].eq(back.place)]
            with m.Elif(work):
                m.d.comb += [
                    waiting_write.en.eq(1), waiting_write.addr.eq(back.place.level), waiting_write.data.eq(self.merged),
                ]  # fmt: skip
                m.d.sync += [
                    waiting_valid.bit_select(back.place.level, 1).eq(1),
                    waiting_pair[back.place.level].row.eq(back.place.row),
                    waiting_pair[back.place.level].pair.eq(back.place.index[1:]),
                ]
        return m

    def _pair_windows(self, m: Module, queue: SyncFIFO, head: data.View, head_valid: Signal, take: Signal) -> None:
        """Make two neighbouring windows one merge, a last one without neighbour one by itself; queue what is not taken."""
        item = Signal.like(head)
        index = Signal(self._index_bits)
        row = Signal(range(ROWS))
        even = Signal(64)
        taken, is_last, complete = Signal(), Signal(), Signal()
        m.d.comb += [
            is_last.eq(index == self.last_index),
            self.window_ready.eq(~(index[0] | is_last) | queue.w_rdy),
            taken.eq(self.window_valid & self.window_ready & self.enable),
            complete.eq(taken & (index[0] | is_last)),
            item.a.eq(Mux(index[0], even, self.window)),
            item.b.eq(self.window),
            item.pair.eq(index[0]),
            item.place.row.eq(row),
            item.place.index.eq(index),
            item.place.last.eq(is_last),
            head.eq(Mux(queue.r_rdy, queue.r_data, item)),
            head_valid.eq(queue.r_rdy | complete),
            queue.w_data.eq(item),
            queue.w_en.eq(complete & (queue.r_rdy | ~take)),
            queue.r_en.eq(take & self.enable),
        ]
        with m.If(taken):
            m.d.sync += [even.eq(self.window), index.eq(Mux(is_last, 0, index + 1)), row.eq(row + is_last)]
        with m.If(self.restart):
            m.d.sync += [index.eq(0), row.eq(0)]

    def _promoted(self, m: Module, name: str, place: data.View) -> data.View:
        """Return ``place`` at the level where it has a partner: a row's last value goes up while its index is even."""
        promoted = Signal(self._place_layout(), name=f"{name}_promoted")
        m.d.comb += promoted.eq(place)
        for rise in reversed(range(1, self._index_bits)):
            with m.If(place.last & (place.index[: rise + 1] == Const(1 << rise, rise + 1))):
                m.d.comb += [promoted.level.eq(place.level + rise), promoted.index.eq(place.index >> rise)]
        return promoted


def _waits(valid: Value, pairs: data.View, place: data.View) -> Value:
    """Return whether the partner of the value at ``place`` is in the place of its level."""
    entry = pairs[place.level]
    return valid.bit_select(place.level, 1) & (entry.row == place.row) & (entry.pair == place.index[1:])
