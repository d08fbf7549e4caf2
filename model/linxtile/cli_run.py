"""``linxtile run``: execute a program on the model or on a simulator."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from linxtile.backend import MODEL, BackendError, Finished, Job, backend_names, find_backend
from linxtile.cli_files import UsageError, parse_program_address, write_bytes
from linxtile.config import PRESETS, CoreConfig
from linxtile.run import (
    parse_dump,
    parse_dump_tile,
    parse_load,
    parse_register,
    read_program,
    write_data,
)

_EPILOG = """Exit code 0: done, 1: the program faulted or differs from the model, 2: wrong input or usage.
A PROGRAM that is text is assembled, anything else is taken as header words. Of a .npy FILE a load takes the bytes of
the array; a dump writes an array of uint8."""

MODEL_CONFIG, RTL_CONFIG = "reference", "default"
"""Configuration where none is named: the model has every operation, a simulator what the RTL does."""


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("run", help="execute a program", epilog=_EPILOG)
    add = parser.add_argument
    add("program", metavar="PROGRAM", help="assembly or binary, - for standard input")
    add("--base", metavar="ADDR", default="0", help="address of the first word (default 0)")
    add("--allow-faults", action="store_true", help="accept source blocks that can be seen to be illegal")
    add("--load", metavar="ADDR=FILE", action="append", default=[], help="put a file into memory before the start")
    add("--gpr", metavar="REG=N", action="append", default=[], help="set a general register before the start")
    add("--dump", metavar="ADDR:BYTES=FILE", action="append", default=[], help="write memory to a file at the end")
    add("--dump-tile", metavar="TILE=FILE", action="append", default=[], help="write a tile such as T#1 to a file")
    add("--on", metavar="BACKEND", default=MODEL, help=f"one of {', '.join(backend_names())} (default {MODEL})")
    add(
        "--config",
        metavar="NAME|FILE",
        help=f"{', '.join(PRESETS)}, or a TOML file (default {MODEL_CONFIG} on the model, {RTL_CONFIG} on a simulator)",
    )
    add("--check", action="store_true", help="compare every block of a simulator with the model")
    add("--waves", metavar="FILE", nargs="?", const="", help="write the waves of a simulator (default build/waves/)")
    add("--timeline", metavar="FILE", help="write the blocks of a simulator as a trace for Perfetto or Chrome, in JSON")
    add("--stats", action="store_true", help="print counts")
    add("--json", action="store_true", help="print the run as JSON")
    parser.set_defaults(command=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command and return its exit code."""
    job = _job(arguments)
    dumps = [parse_dump(text, 1 << job.config.axi_address_bits) for text in arguments.dump]
    tiles = [parse_dump_tile(text) for text in arguments.dump_tile]
    job.regions.extend((dump.address, dump.count) for dump in dumps)
    try:
        finished = find_backend(arguments.on).run(job)
    except BackendError as error:
        raise UsageError(str(error)) from error
    for dump, data in zip(dumps, finished.regions, strict=True):
        write_data(dump.file, data)
    if arguments.timeline is not None:
        write_bytes(arguments.timeline, f"{json.dumps(finished.timeline)}\n".encode())
    _report(arguments, finished)
    if finished.fault is not None:
        print(f"linxtile: {finished.fault}", file=sys.stderr)
    if finished.difference is not None:
        print(f"linxtile: differs from the model: {finished.difference}", file=sys.stderr)
    for name, file in tiles:
        if name not in finished.tiles:
            raise UsageError(f"--dump-tile {name}: no such tile is live at the end; there are {_names(finished)}")
        write_data(file, finished.tiles[name])
    return 1 if finished.fault is not None or finished.difference is not None else 0


def _job(arguments: argparse.Namespace) -> Job:
    """Read everything that the arguments name."""
    if arguments.on == MODEL:
        for option in ("check", "waves", "timeline"):
            if getattr(arguments, option) not in (False, None):
                raise UsageError(f"--{option} needs a simulator (--on), not {MODEL!r}")
    try:
        config = CoreConfig.named(arguments.config or (MODEL_CONFIG if arguments.on == MODEL else RTL_CONFIG))
    except (ValueError, OSError) as error:
        raise UsageError(f"--config: {error}") from None
    limit = 1 << config.axi_address_bits
    address = parse_program_address(arguments.base)
    image, sources = read_program(arguments.program, address, allow_faults=arguments.allow_faults)
    if address + len(image) > limit:
        raise UsageError(f"--base: {len(image)} bytes at {address:#x} do not fit below the end of memory, {limit:#x}")
    memory = []
    for text in arguments.load:
        start, data = parse_load(text, limit)
        if start < address + len(image) and address < start + len(data):
            raise UsageError(f"--load {text}: its {len(data)} bytes overlap the program at {address:#x}")
        memory.append((start, data))
    name = "stdin" if arguments.program == "-" else Path(arguments.program).stem
    return Job(
        name=name,
        image=image,
        address=address,
        config=config,
        registers=dict(parse_register(text) for text in arguments.gpr),
        memory=memory,
        check=arguments.check,
        waves=None if arguments.waves is None else Path(arguments.waves or f"build/waves/{name}.fst"),
        sources=sources,
    )


def _report(arguments: argparse.Namespace, finished: Finished) -> None:
    """Print counts and JSON; with both, the counts are part of the document."""
    if arguments.json:
        document = dict(finished.document)
        if arguments.stats:
            document["statistics"] = finished.statistics
        print(json.dumps(document, indent=2))
    elif arguments.stats:
        for name, count in finished.statistics.items():
            print(f"{name:<22} {count:>12}")


def _names(finished: Finished) -> str:
    return ", ".join(finished.tiles) or "none"
