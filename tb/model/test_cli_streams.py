"""Standard input and output of the command line when they are full, closed, or begin with a byte order mark."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from linxtile.cli import main

SOURCE = "TEXPANDS <8, FP32>, [a0], ->T<256B>\n"
COMMANDS = {
    "table": ["ops"],
    "one line": ["decode", "1"],
    "bytes": ["asm", "{source}", "-o", "-"],
    "dump": ["run", "{source}", "--dump", "0:16=-"],
    "JSON": ["run", "{source}", "--json"],
    "help": ["--help"],
}


def run(name, source, *, unbuffered, **streams):
    """Run a command of the table with the given streams and return what it leaves."""
    arguments = [argument.format(source=source) for argument in COMMANDS[name]]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    if unbuffered:
        environment["PYTHONUNBUFFERED"] = "1"
    return subprocess.run(
        [sys.executable, "-m", "linxtile.cli", *arguments], stderr=subprocess.PIPE, env=environment, **streams
    )


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "x.s"
    file.write_text(SOURCE, encoding="utf-8")
    return file


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("name", ["table", "one line", "bytes", "dump", "JSON"])
def test_output_that_nobody_can_keep_is_one_line_and_exit_code_2(name, source):
    with open("/dev/full", "wb") as full:
        done = run(name, source, unbuffered=False, stdout=full)
    assert done.returncode == 2
    assert done.stderr.startswith(b"linxtile: ")
    assert done.stderr.endswith(b"No space left on device\n")
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_has_gone_is_no_error(name, unbuffered, source):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(name, source, unbuffered=unbuffered, stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_closed_standard_input_is_one_line_and_exit_code_2():
    done = subprocess.run(["sh", "-c", f"{sys.executable} -m linxtile.cli run - <&-"], capture_output=True)
    assert (done.returncode, done.stderr) == (2, b"linxtile: cannot read -: standard input is closed\n")


@pytest.mark.parametrize("command", [["run"], ["asm", "-o", "x.bin"]])
def test_a_byte_order_mark_in_front_of_a_source_is_skipped(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("x.s").write_bytes(b"\xef\xbb\xbf" + SOURCE.encode())
    assert main([*command, "x.s"]) == 0
    assert capsys.readouterr() == ("", "")
