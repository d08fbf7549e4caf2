"""Looks at signals in every cycle: what a handle shows, without the objects that cocotb makes of it.

``handle.value == 1`` builds two numbers of four-valued logic and costs as much as all else that a monitor does in a cycle.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["driver", "is_high", "number"]


def is_high(handle: Any) -> Callable[[], bool]:
    """Return a function that tells whether a signal of one bit is 1; X and Z are not."""
    read: Callable[[], str] = handle._handle.get_signal_val_binstr
    return lambda: read() == "1"


def number(handle: Any) -> Callable[[], int]:
    """Return a function that gives the unsigned number on a signal, and raises ValueError while a bit is X or Z."""
    read: Callable[[], str] = handle._handle.get_signal_val_binstr
    return lambda: int(read(), 2)


def driver(handle: Any, value: int) -> Callable[[int], None]:
    """Return a function that writes an input, and nothing while it stays as it is; begin with ``value``.

    Nobody else may write to this input.
    """
    driven = handle.value = value

    def drive(value: int) -> None:
        nonlocal driven
        if value != driven:
            driven = handle.value = value

    return drive
