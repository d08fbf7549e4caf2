"""Plant the bugs of tools/mutants.toml one by one and name the test that catches each.

Every bug is planted in a copy of the tree under build/mutants, alone; the tree itself is never changed. Before the first bug of a
test the test has to pass on the unchanged copy. A bug that no test catches, one whose place in the source is gone, and one
that only keeps the design from being built make the run fail.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "mutants"
TABLE = Path(__file__).with_suffix(".toml")
COPIED = ("model", "rtl", "sim", "tb", "pyproject.toml")

FAILED_TEST = re.compile(r"^FAILED ([^\s:]+)", re.MULTILINE)
FAILED_BENCH = re.compile(r"\*\* (\S+) +FAIL ")
"""Line of cocotb's summary."""
OUTCOME = re.compile(r"\d+ of \d+ tests failed|^E +AssertionError|^E +assert ", re.MULTILINE)
"""What a test says that ran and found a difference."""


class MutantError(Exception):
    """The table or the tree is not as it must be; the message says what to change."""


@dataclass(frozen=True)
class Mutant:
    """A planted bug: in ``file`` the text ``old``, which stands there once, becomes ``new``; ``test`` should then fail."""

    name: str
    file: str
    old: str
    new: str
    test: str


def read_mutants(path: Path = TABLE) -> list[Mutant]:
    """Return the table of planted bugs."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return [Mutant(name, **entry) for name, entry in table.items()]


def mutated_text(mutant: Mutant, root: Path = ROOT) -> str:
    """Return the text of the mutant's file with the bug in it.

    Raises
    ------
    MutantError
        The old text does not stand there exactly once.
    """
    file = root / mutant.file
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    if text.count(mutant.old) != 1:
        raise MutantError(
            f"mutant {mutant.name}: {mutant.file} must hold {mutant.old!r} once, not {text.count(mutant.old)} times"
        )
    return text.replace(mutant.old, mutant.new)


def copy_tree(folder: Path) -> None:
    """Copy what the tests need to ``folder``, in place of what is there."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)


def failing_test(test: str, folder: Path) -> str | None:
    """Run a test in ``folder`` and return what failed, with the first bench that did, or None.

    Raises
    ------
    MutantError
        The test did not run to its end.
    """
    paths = os.pathsep.join(str(folder / name) for name in ("model", "rtl", "sim"))
    environment = {
        "PYTHONPATH": paths,
        # Two runs of one test at a time would write to the same files.
        "LINXTILE_BUILD": str(folder.with_name(f"build_{folder.name}")),
        "AMARANTH_USE_YOSYS": "builtin",
        "COCOTB_MAX_FAILURES": "1",
        # A bug as long as what it replaces, planted within the same second, has the time stamp of the bytecode before it.
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-rf", "-p", "no:cacheprovider", test],
        cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode == 0:
        if "skipped" in run.stdout:
            raise MutantError(f"{test} was skipped:\n{run.stdout[-2000:]}")
        return None
    failed = FAILED_TEST.search(run.stdout)
    if failed is None or OUTCOME.search(run.stdout) is None:
        raise MutantError(f"{test} did not run:\n{run.stdout[-3000:]}{run.stderr[-500:]}")
    bench = FAILED_BENCH.search(run.stdout)
    return test if bench is None else f"{test} in {bench[1].partition('.')[2]}"


def main() -> int:
    """Run all mutants, or those named; return 1 if one survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="run these only")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="bugs at a time (one a processor)")
    options = parser.parse_args()
    mutants = read_mutants()
    unknown = set(options.names) - {mutant.name for mutant in mutants}
    if unknown:
        parser.error(f"no mutant is called {sorted(unknown)[0]!r}")
    chosen = [mutant for mutant in mutants if not options.names or mutant.name in options.names]
    try:
        survivors = run_mutants(chosen, max(1, options.jobs))
    except MutantError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(chosen)} bugs planted, {len(chosen) - survivors} caught")
    return 1 if survivors else 0


class Baseline:
    """Which tests pass on the unchanged tree; each is run once, whoever asks for it first."""

    def __init__(self) -> None:
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)
        self._passing: set[str] = set()

    def require(self, mutant: Mutant, folder: Path) -> None:
        """Return when the test of ``mutant`` has passed without it.

        Raises
        ------
        MutantError
            It fails.
        """
        with self._locks[mutant.test]:
            if mutant.test in self._passing:
                return
            failed = failing_test(mutant.test, folder)
            if failed is not None:
                raise MutantError(f"mutant {mutant.name}: {failed} fails without it")
            self._passing.add(mutant.test)


def run_mutants(mutants: Sequence[Mutant], jobs: int = 1) -> int:
    """Plant each bug, ``jobs`` at a time in a tree of their own, print what catches it, and return how many survive."""
    trees: SimpleQueue[Path] = SimpleQueue()
    for number in range(jobs):
        folder = FOLDER / f"tree_{number}"
        copy_tree(folder)
        trees.put(folder)
    baseline = Baseline()

    def caught(mutant: Mutant) -> bool:
        folder = trees.get()
        try:
            return run_mutant(mutant, folder, baseline)
        finally:
            trees.put(folder)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            return sum(not found for found in pool.map(caught, mutants))
        except MutantError:
            pool.shutdown(cancel_futures=True)
            raise


def run_mutant(mutant: Mutant, folder: Path, baseline: Baseline) -> bool:
    """Plant one bug in ``folder``, print what catches it, and return whether anything does; the folder is as before then."""
    started = time.monotonic()
    changed = mutated_text(mutant, folder)
    baseline.require(mutant, folder)
    file = folder / mutant.file
    original = file.read_text(encoding="utf-8")
    file.write_text(changed, encoding="utf-8")
    try:
        caught_by = failing_test(mutant.test, folder)
    except MutantError as error:
        raise MutantError(f"mutant {mutant.name}: {error}") from error
    finally:
        file.write_text(original, encoding="utf-8")
    outcome = f"SURVIVED {mutant.test}" if caught_by is None else f"caught by {caught_by}"
    print(f"{mutant.name:28} {time.monotonic() - started:5.0f} s  {outcome}", flush=True)
    return caught_by is not None


if __name__ == "__main__":
    sys.exit(main())
