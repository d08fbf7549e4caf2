"""The core as one Verilog file: ``python -m linxtile_rtl.export PRESET...`` writes build/verilog/linxtile_<preset>.v."""

import sys
from collections.abc import Sequence
from pathlib import Path

from linxtile.config import PRESETS, CoreConfig

from .core import TileCore
from .verilog import axi_names, emit

__all__ = ["core_verilog", "main", "write_core"]

FOLDER = Path("build/verilog")


def core_verilog(config: CoreConfig) -> str:
    """Return the core as flat Verilog-2001; the top module is ``linxtile_<name>``, its memory port ``m_axi_mem_*``."""
    return emit(TileCore(config=config), f"linxtile_{config.name}", names=axi_names("mem", "m_axi_mem"))


def write_core(config: CoreConfig, folder: Path = FOLDER) -> Path:
    """Write the core's Verilog into ``folder`` and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"linxtile_{config.name}.v"
    file.write_text(core_verilog(config))
    return file


def main(argv: Sequence[str] | None = None) -> int:
    """Write the presets named on the command line."""
    for name in sys.argv[1:] if argv is None else argv:
        if name not in PRESETS:
            print(f"preset must be one of {', '.join(PRESETS)}, not {name!r}", file=sys.stderr)
            return 2
        print(write_core(PRESETS[name]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
