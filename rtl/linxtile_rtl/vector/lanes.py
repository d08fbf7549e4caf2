"""The slots of a line: side by side for element-wise work, as a tree for row reductions."""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import flags_layout
from ..verilog import Shared
from .control import slot_control_layout
from .slot import Slot

__all__ = ["MAX_SHIFT", "Lanes", "lanes_request_layout", "merge_request_layout", "slot_bytes", "tree_levels"]

MAX_SHIFT = 3
"""log2 of the bytes of the largest element."""


def slot_bytes(position: int) -> int:
    """Return the largest element, in bytes, that sits at byte ``position`` of a line."""
    return min(position & -position, 1 << MAX_SHIFT) if position else 1 << MAX_SHIFT


def tree_levels(line_bytes: int, shift: int) -> int:
    """Return the levels of the tree over a line of elements of ``2**shift`` bytes."""
    return exact_log2(line_bytes) - shift


def lanes_request_layout(config: CoreConfig) -> data.StructLayout:
    """Two lines of operands. ``present``: bytes that belong to elements; ``binary``: ``b`` is an operand."""
    line = config.vector_bytes
    return data.StructLayout({"a": 8 * line, "b": 8 * line, "present": line, "binary": 1})


def merge_request_layout() -> data.StructLayout:
    """Operands of slot 0 as the combiner of a reduction."""
    return data.StructLayout({"a": 64, "b": 64, "a_present": 1, "b_present": 1})


class Lanes(wiring.Component):
    """One line of slots, ``Slot.LATENCY`` enabled cycles from request to result.

    As a tree (``tree`` high) the line on ``request.a`` goes to the leaves, and ``root`` is the value of the whole line
    ``tree_levels`` latencies later; slot 0 is free for ``merge``. Flags of elements that are not there are zero.

    Members
    -------
    enable, tree_enable : In(1)
        Let slot 0 and the other slots go on.
    control : In(slot_control_layout())
        Operation and type of the request; while ``tree`` is high it does not change.
    shift, result_shift : In(2)
        log2 of the element bytes of the request and of the result.
    tree : In(1)
        The slots are a tree.
    request : In(lanes_request_layout(config))
        Operands of the slots.
    merge : In(merge_request_layout())
        Operands of slot 0 while ``tree`` is high.
    value : Out(8 * vector_bytes)
        Results of all slots as a line.
    merged : Out(64)
        Result of slot 0.
    root : Out(64)
        Result of the tree, for elements smaller than the line.
    flags : Out(flags_layout())
        OR over the flags of all slots.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "enable": In(1),
            "tree_enable": In(1),
            "control": In(slot_control_layout()),
            "shift": In(2),
            "result_shift": In(2),
            "tree": In(1),
            "request": In(lanes_request_layout(config)),
            "merge": In(merge_request_layout()),
            "value": Out(8 * config.vector_bytes),
            "merged": Out(64),
            "root": Out(64),
            "flags": Out(flags_layout()),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Wire the operands of every slot, and the line of results."""
        m = Module()
        line = self._config.vector_bytes
        slots = []
        for position in range(line):
            size = slot_bytes(position)
            slot = Shared(Slot(element_bytes=size, config=self._config), key=f"slot_{8 * size}")
            m.submodules[f"slot_{position}"] = slot
            slots.append(slot)
            m.d.comb += [
                slot.enable.eq(self.tree_enable if position else self.enable),
                slot.request.control.eq(self.control),
            ]
        self._operands(m, slots)
        # Lines of the block before may still be in the slots when the tree begins: their results are no nodes.
        history = Signal(Slot.LATENCY)
        with m.If(self.tree_enable):
            m.d.sync += history.eq(Cat(self.tree, history[:-1]))
        with m.If(self.tree):
            self._combiner(m, slots[0])
            for position in range(1, line):
                self._tree(m, slots, position, history[-1])
        self._results(m, slots)
        return m

    def _operands(self, m: Module, slots: list) -> None:
        """Give each slot the element that begins at its byte, if one does."""
        for position, slot in enumerate(slots):
            bits = 8 * slot_bytes(position)
            # Bit ``shift``: an element of that size can begin here.
            begins = Const(
                sum((position % (1 << shift) == 0) << shift for shift in range(MAX_SHIFT + 1)), MAX_SHIFT + 1
            )
            present = Signal(name=f"present_{position}")
            m.d.comb += [
                present.eq(self.request.present[position] & begins.bit_select(self.shift, 1)),
                slot.request.a.eq(self.request.a.bit_select(8 * position, bits)),
                slot.request.b.eq(self.request.b.bit_select(8 * position, bits)),
                slot.request.a_present.eq(present),
                slot.request.b_present.eq(present & self.request.binary),
            ]

    def _combiner(self, m: Module, slot: Slot) -> None:
        m.d.comb += [
            slot.request.a.eq(self.merge.a),
            slot.request.b.eq(self.merge.b),
            slot.request.a_present.eq(self.merge.a_present),
            slot.request.b_present.eq(self.merge.b_present),
        ]

    def _tree(self, m: Module, slots: list, position: int, nodes: Signal) -> None:
        """Make a slot a leaf for the width that it is an odd multiple of, a node for smaller ones; wider ones leave it idle.

        ``nodes``: what the slots show comes from the tree.
        """
        request = slots[position].request
        lowest = position & -position
        bits = 8 * slot_bytes(position)
        if lowest <= 1 << MAX_SHIFT:
            below = position - lowest
            with m.If((1 << self.shift) == lowest):
                m.d.comb += [
                    request.a.eq(self.request.a.bit_select(8 * below, bits)),
                    request.b.eq(self.request.a.bit_select(8 * position, bits)),
                    request.a_present.eq(self.request.present[below]),
                    request.b_present.eq(self.request.present[position]),
                ]
        if half := lowest // 2:
            low, high = slots[position - half].result, slots[position + half].result
            with m.If((1 << self.shift) < lowest):
                m.d.comb += [
                    request.a.eq(low.value[:bits]),
                    request.b.eq(high.value[:bits]),
                    request.a_present.eq(low.present & nodes),
                    request.b_present.eq(high.present & nodes),
                ]

    def _results(self, m: Module, slots: list) -> None:
        """Take each byte of the line from the slot of the element around it."""
        line = len(slots)
        with m.Switch(self.result_shift):
            for shift in range(MAX_SHIFT + 1):
                size = 1 << shift
                with m.Case(shift):
                    values = [slots[position].result.value[: 8 * size] for position in range(0, line, size)]
                    m.d.comb += self.value.eq(Cat(values))
        root = slots[line // 2].result.value
        m.d.comb += [
            self.merged.eq(slots[0].result.value),
            self.root.eq(root),
            self.flags.eq(reduce(or_, (slot.result.flags.as_value() for slot in slots))),
        ]
