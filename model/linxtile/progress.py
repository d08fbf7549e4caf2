"""A progress bar for runs that take more than two seconds, where standard error is a terminal and tqdm is installed."""

import sys
from types import TracebackType
from typing import Any

DELAY = 2.0
"""Seconds before the bar appears: shorter runs show none."""


def announce(text: str) -> None:
    """Say on standard error what is about to take long, where that is a terminal."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)


class Progress:
    """A context in which a run says how far it is.

    Parameters
    ----------
    what : str
        What runs.
    total : int
        Bytes of program to go through, or what ``unit`` names.
    unit : str
        What is counted.
    """

    def __init__(self, what: str, total: int, unit: str = "B"):
        self._bar = _bar(what, total, unit)

    def at(self, done: int) -> None:
        """Show that ``done`` of the total are behind."""
        if self._bar is not None and done > self._bar.n:
            self._bar.update(done - self._bar.n)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()


def _bar(what: str, total: int, unit: str) -> Any:
    if not sys.stderr.isatty():
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm(total=total, desc=what, unit=unit, unit_scale=True, delay=DELAY, leave=False, file=sys.stderr)
