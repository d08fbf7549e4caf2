"""Command line ``linxtile``: results on standard output, complaints as ``linxtile: ...`` on standard error.

Exit codes: 0 done, 1 the program faulted (``decode``: a word is illegal), 2 wrong input or usage. Commands of other
packages are entry points of the group ``linxtile.commands``: functions that take the arguments after the name and
return the exit code. They are loaded only when they are called.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

from linxtile import cli_asm, cli_explain, cli_ops, cli_run
from linxtile.asm import AssemblyErrors
from linxtile.cli_files import UsageError

_COMMANDS = (cli_asm, cli_explain, cli_ops, cli_run)


def _foreign_commands() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="linxtile.commands")}


def _parser(foreign: dict[str, EntryPoint]) -> argparse.ArgumentParser:
    others = f"further commands: {', '.join(sorted(foreign))}" if foreign else None
    parser = argparse.ArgumentParser(prog="linxtile", description="Tile processor for LinxISA v0.56.", epilog=others)
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for module in _COMMANDS:
        module.add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    code = _answered(list(sys.argv[1:] if argv is None else argv))
    try:
        if sys.stdout is not None:
            # Here and not at exit, where a failure can only be shown as a traceback.
            sys.stdout.flush()
    except OSError as error:
        if code == 0 and not isinstance(error, BrokenPipeError):
            code = _refused(f"cannot write standard output: {error.strerror}")
        # Nobody takes what is left of the output: keep the interpreter from trying again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _answered(arguments: list[str]) -> int:
    """Run one command; everything that a user can get wrong becomes a complaint and an exit code."""
    foreign = _foreign_commands()
    try:
        if arguments and arguments[0] in foreign:
            return int(foreign[arguments[0]].load()(arguments[1:]))
        parsed = _parser(foreign).parse_args(arguments)
        return int(parsed.command(parsed))
    except SystemExit as stop:
        return int(stop.code or 0)
    except AssemblyErrors as error:
        return _refused(*map(str, error.errors))
    except ImportError as error:
        return _refused(f"{arguments[0]} needs the package {error.name}, which is not installed")
    except UsageError as error:
        return _refused(str(error))
    except BrokenPipeError:
        return 0
    except OSError as error:
        return _refused(f"{error.filename or 'standard output'}: {error.strerror}")


def _refused(*complaints: str) -> int:
    for complaint in complaints:
        print(f"linxtile: {complaint}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
