"""One slot of a slice: the datapath of one element."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from linxtile.config import CoreConfig

from ..layouts import flags_layout
from .control import slot_control_layout

__all__ = ["Slot", "slot_request_layout", "slot_result_layout"]


def slot_request_layout(element_bytes: int) -> data.StructLayout:
    """Request of a slot: operands in the low bits of ``a`` and ``b`` (what lies above is ignored), and which are there."""
    bits = 8 * element_bytes
    return data.StructLayout({"a": bits, "b": bits, "a_present": 1, "b_present": 1, "control": slot_control_layout()})


def slot_result_layout(element_bytes: int) -> data.StructLayout:
    """Result of a slot: the element in the low bits of ``value`` (what lies above is undefined), flags, presence."""
    return data.StructLayout({"value": 8 * element_bytes, "flags": flags_layout(), "present": 1})


class Slot(wiring.Component):
    """Datapath of one element: one operation a cycle, latency :attr:`LATENCY` cycles in which ``enable`` is high.

    Parameters
    ----------
    element_bytes : int
        Width of the slot in bytes, 8, 4, 2 or 1: it takes elements of at most this size.
    config : CoreConfig
        Decides which element types there are.

    Members
    -------
    enable : In(1)
        The slot stands still while it is low.
    request : In(slot_request_layout(element_bytes))
        ``a`` and ``b`` present: the operation. Only ``a``: a one-operand operation, or, for a two-operand one, ``a`` read
        as by arithmetic and passed on. Without ``a`` the result is not present, and flags are zero.
    result : Out(slot_result_layout(element_bytes))
        Result of the request :attr:`LATENCY` enabled cycles ago.
    """

    LATENCY = 4

    def __init__(self, *, element_bytes: int, config: CoreConfig):
        if element_bytes not in (1, 2, 4, 8):
            raise ValueError(f"element_bytes must be 1, 2, 4 or 8, not {element_bytes!r}")
        self._element_bytes = element_bytes
        self._config = config
        super().__init__({
            "enable": In(1),
            "request": In(slot_request_layout(element_bytes)),
            "result": Out(slot_result_layout(element_bytes)),
        })
