"""Lint generated Verilog with Verilator: ``python -m linxtile_sim.lint FILE...``; waivers are in lint.vlt."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .runner import verilator_environment

__all__ = ["lint", "main"]

WAIVERS = Path(__file__).with_name("lint.vlt")


def lint(file: Path) -> str:
    """Return what Verilator has to say about ``file``; nothing if it is clean. The top module is named as the file."""
    command = ["verilator", "--lint-only", "-Wall", "--top-module", file.stem, str(WAIVERS), str(file)]
    result = subprocess.run(command, env=verilator_environment(), capture_output=True, text=True, check=False)
    complaints = result.stderr.strip()
    if result.returncode and not complaints:
        complaints = f"verilator ended with exit code {result.returncode}"
    return complaints


def main(argv: Sequence[str] | None = None) -> int:
    """Lint the files named on the command line; 0 if all are clean."""
    status = 0
    for name in sys.argv[1:] if argv is None else argv:
        complaints = lint(Path(name))
        print(f"{name}: {complaints or 'clean'}")
        status |= bool(complaints)
    return status


if __name__ == "__main__":
    sys.exit(main())
