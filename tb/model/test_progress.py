"""The progress bar: only in a terminal, only for long runs."""

import io
import sys

import pytest

from linxtile import progress
from linxtile.progress import Progress


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self):
        return True


def test_a_long_run_in_a_terminal_shows_how_far_it_is(monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with Progress("program", 200) as bar:
        bar.at(50)
        bar.at(40)
        shown = sys.stderr.getvalue()
        assert bar._bar.n == 50
    assert "program" in shown and "200" in shown


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_nothing_is_shown_in_a_pipe_or_before_two_seconds(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream())
    with Progress("program", 10) as bar:
        bar.at(5)
    assert sys.stderr.getvalue().strip() == ""


def test_without_tqdm_nothing_is_shown(monkeypatch):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with Progress("program", 10) as bar:
        bar.at(5)
    assert sys.stderr.getvalue() == ""
