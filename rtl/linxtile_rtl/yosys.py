"""Native Yosys as a program: ``python -m linxtile_rtl.yosys SCRIPT LOG`` runs one script in a process of its own."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["YosysError", "run_script"]


class YosysError(Exception):
    """A script that Yosys refused; the message has the end of the log."""


def run_script(script: str, folder: Path, name: str) -> str:
    """Run ``script`` in ``folder``, leaving ``<name>.ys`` and ``<name>.log`` there, and return the log.

    Yosys ends the process on an error and crashes at a normal exit, so it gets a process.
    """
    file, log = folder / f"{name}.ys", folder / f"{name}.log"
    file.write_text(script)
    log.unlink(missing_ok=True)
    command = [sys.executable, "-m", "linxtile_rtl.yosys", file.name, log.name]
    code = subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode
    text = log.read_text() if log.exists() else ""
    if code:
        tail = "\n".join(text.splitlines()[-8:])
        raise YosysError(f"yosys ended with exit code {code} on {file}:\n{tail}")
    return text


def main(script: str, log: str) -> None:
    """Run ``script``; never returns."""
    from pyosys import libyosys

    libyosys.run_pass(f"tee -q -o {log} script {script}", libyosys.Design())
    libyosys.log_flush()
    ctypes.CDLL(None).fflush(None)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
