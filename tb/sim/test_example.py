"""The first example and the session of the README: model, simulators and numpy agree."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from linxtile.backend import BackendError, Finished
from linxtile.cli import main
from linxtile_sim import example
from linxtile_sim.example import CASES, COLUMNS, image, row_normalised
from linxtile_sim.runner import available

pytestmark = pytest.mark.cosim

README = Path("README.md")


@pytest.fixture
def skip_if_missing():
    """Skip where the simulator is not installed: the command line turns that into a complaint."""

    def skip(simulator):
        if not available(simulator):
            pytest.skip(f"{simulator} is not installed")

    return skip


def test_the_image_is_64_scanned_digits():
    picture = image(64)
    assert picture.shape == (64, COLUMNS) and picture.dtype == np.float32
    from sklearn.datasets import load_digits

    digits = load_digits().images
    for number in (0, 7, 8, 63):
        row, column = divmod(number, 8)
        tile = picture[8 * row : 8 * row + 8, 8 * column : 8 * column + 8]
        np.testing.assert_array_equal(tile, digits[number])
    np.testing.assert_array_equal(image(8), picture[:8])


def test_the_expectation_is_each_element_minus_the_largest_of_its_row():
    picture = image(8)
    expected = [[element - max(row) for element in row] for row in picture.tolist()]
    assert row_normalised(picture).tolist() == expected


@pytest.mark.parametrize(
    "program, rows, arguments",
    [
        ("row_normalise", 64, ["--on", "model"]),
        ("row_normalise_8_rows", 8, ["--on", "model", "--config", "small"]),
        ("row_normalise_8_rows", 8, ["--on", "icarus", "--config", "small", "--check"]),
        ("row_normalise", 64, ["--on", "verilator", "--check"]),
    ],
    ids=["model", "model-small", "icarus-small", "verilator"],
)
def test_the_example_gives_the_bytes_that_numpy_gives(tmp_path, capsys, skip_if_missing, program, rows, arguments):
    if arguments[1] != "model":
        skip_if_missing(arguments[1])
    np.save(tmp_path / "image.npy", image(rows))
    files = ["--load", f"0x10000={tmp_path}/image.npy", "--dump", f"0x20000:{rows * COLUMNS * 4}={tmp_path}/result.bin"]
    assert main(["run", f"examples/{program}.s", *files, *arguments]) == 0
    assert capsys.readouterr() == ("", "")
    assert (tmp_path / "result.bin").read_bytes() == row_normalised(image(rows)).tobytes()


def finished(**changes):
    """Return what a run of the small case gives that is right but for ``changes``."""
    facts = {
        "fault": None, "tiles": {}, "regions": [row_normalised(image(8)).tobytes()],
        "statistics": {"blocks": 4, "cycles": 1000, "checks": 69}, "document": {},
    }  # fmt: skip
    return Finished(**facts | changes)


class Fake:
    """A backend with a result made beforehand."""

    def __init__(self, result):
        self._result = result

    def run(self, job):
        """Return the result, or complain."""
        if isinstance(self._result, Exception):
            raise self._result
        return self._result


def ran(monkeypatch, capsys, result):
    """Run the waves case against a fake; return exit code, output and complaints."""
    monkeypatch.setattr(example, "find_backend", lambda name: Fake(result))
    monkeypatch.setattr(example, "CASES", CASES[:1])
    return example.main([]), *capsys.readouterr()


def test_what_ran_its_cycles_and_checks_are_printed(monkeypatch, capsys):
    code, output, complaints = ran(monkeypatch, capsys, finished())
    assert (code, complaints) == (0, "")
    assert output.startswith(
        "row_normalise_8_rows: 8 x 64 FP32 on icarus, preset small: 1000 cycles; "
        "4 blocks agree with the model in 69 checks, 512 elements with numpy ("
    )


def test_a_wrong_element_fails_the_example(monkeypatch, capsys):
    result = row_normalised(image(8))
    result[2, 5] += 1
    code, output, _ = ran(monkeypatch, capsys, finished(regions=[result.tobytes()]))
    assert code == 1 and output.endswith(": differs from numpy in 1 elements, first in (2, 5)\n")


def test_a_difference_from_the_model_fails_the_example(monkeypatch, capsys):
    code, output, _ = ran(monkeypatch, capsys, finished(difference="event 2"))
    assert code == 1 and output.endswith(": differs from the model: event 2\n")


def test_an_example_that_no_simulator_could_run_fails(monkeypatch, capsys):
    code, output, complaints = ran(monkeypatch, capsys, BackendError("icarus needs vvp"))
    assert (code, output) == (1, "")
    assert complaints == "row_normalise_8_rows on icarus: not run: icarus needs vvp\n"


def test_the_session_of_the_readme_runs_as_printed(skip_if_missing):
    skip_if_missing("verilator")
    session = re.search(r"```sh\n(# a session\n.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[1]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-euo", "pipefail", "-c", session]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PATH": path}, check=False)
    assert done.returncode == 0, done.stderr
    assert "TROWEXPANDSUB <64, 64, FP32>" in done.stdout and re.search(r"^cycles +\d+$", done.stdout, re.MULTILINE)
