"""The core as one Verilog file: ``linxtile verilog [CONFIG...]`` writes build/verilog/linxtile_<name>.v."""

import argparse
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
    return emit(TileCore(config=config), f"linxtile_{config.name}", names=axi_names("memory", "m_axi_mem"))


def write_core(config: CoreConfig, folder: Path = FOLDER) -> Path:
    """Write the core's Verilog into ``folder`` and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"linxtile_{config.name}.v"
    file.write_text(core_verilog(config))
    return file


def main(argv: Sequence[str] | None = None) -> int:
    """Write the configurations named on the command line; 0 done, 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="linxtile verilog", description="Write the core as Verilog-2001.")
    parser.add_argument(
        "configs", metavar="CONFIG", nargs="*", default=["default"], help=f"{', '.join(PRESETS)}, or a TOML file"
    )
    parser.add_argument("-o", dest="folder", type=Path, default=FOLDER, help=f"folder for the files (default {FOLDER})")
    parsed = parser.parse_args(argv)
    try:
        for config in [CoreConfig.named(name) for name in parsed.configs]:
            print(write_core(config, parsed.folder))
    except (OSError, ValueError) as error:
        print(f"linxtile: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
