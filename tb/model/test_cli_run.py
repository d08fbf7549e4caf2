"""``linxtile run``: files in and out, exit codes, one-line complaints."""

import json
import subprocess
import sys

import numpy as np
import pytest

from linxtile import backend, cli_run
from linxtile.backend import BackendError, Finished, ModelBackend, find_backend
from linxtile.cli import main

ADD = """
    li a2, 0x3000
    TLOAD.NORM <8, 4, FP32>, [a0], ->T<256B>
    TLOAD.NORM <8, 4, FP32>, [a1], ->T<256B>
    TADD <8, 4, FP32>, T#2, T#1, ->U<256B>
    TSTORE.NORM <8, 4, FP32>, U#1.reuse, [a2]
"""
FAULT = "TEXPANDS <8, FP32>, [a0], ->T<256B>\nMGATHER <8, FP32>, T#1.reuse, [a0], ->T<256B>"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Work in an empty directory with two arrays and two programs."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    np.save("x.npy", rng.standard_normal((4, 8), np.float32))
    rng.standard_normal((4, 8), np.float32).tofile("y.bin")
    (tmp_path / "add.s").write_text(ADD, encoding="utf-8")
    (tmp_path / "fault.s").write_text(FAULT, encoding="utf-8")
    return tmp_path


ADD_ARGUMENTS = ["add.s", "--load", "0x1000=x.npy", "--load", "0x2000=y.bin", "--gpr", "a0=0x1000", "--gpr", "a1=8192"]


def complaint(capsys, *arguments):
    """Run a command that is refused and return its single line without the prefix."""
    assert main(["run", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("linxtile: ")
    assert captured.err.count("\n") == 1
    return captured.err.removeprefix("linxtile: ").strip()


def test_a_program_computes_what_numpy_computes(here, capsys):
    dumps = ["--dump", "0x3000:128=z.bin", "--dump", "0x3000:128=z.npy", "--dump-tile", "U#1=u.bin"]
    assert main(["run", *ADD_ARGUMENTS, *dumps]) == 0
    expected = np.load("x.npy") + np.fromfile("y.bin", np.float32).reshape(4, 8)
    np.testing.assert_array_equal(np.fromfile("z.bin", np.float32).reshape(4, 8), expected)
    np.testing.assert_array_equal(np.load("z.npy").view(np.float32).reshape(4, 8), expected)
    assert (here / "u.bin").read_bytes() == expected.tobytes() + bytes(128)
    assert capsys.readouterr() == ("", "")


def test_a_binary_and_its_source_run_alike(here):
    assert main(["asm", "add.s", "-o", "add.bin"]) == 0
    for program in ("add.s", "add.bin"):
        assert main(["run", program, *ADD_ARGUMENTS[1:], "--dump", f"0x3000:128={program}.out"]) == 0
    assert (here / "add.s.out").read_bytes() == (here / "add.bin.out").read_bytes() != bytes(128)


def test_an_array_in_column_order_is_loaded_row_by_row(here):
    np.save("x.npy", np.asfortranarray(np.load("x.npy")))
    assert main(["run", *ADD_ARGUMENTS, "--dump", "0x1000:128=back.bin"]) == 0
    assert (here / "back.bin").read_bytes() == np.load("x.npy").tobytes()


def test_statistics_and_json_tell_what_happened(here, capsys):
    assert main(["run", *ADD_ARGUMENTS, "--stats"]) == 0
    assert capsys.readouterr().out.split() == (
        "blocks 4 set-up blocks 1 tile bytes written 768 memory bytes written 128".split()
    )
    assert main(["run", *ADD_ARGUMENTS, "--stats", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["fault"] is None
    assert [block["operation"] for block in document["blocks"]] == ["SETUP", "TLOAD", "TLOAD", "TADD", "TSTORE"]
    assert document["blocks"][0]["registers"] == {"a2": 0x3000}
    assert document["blocks"][4]["writes"][0][0] == 0x3000
    assert document["queues"] == {"U#1": [512, 256, 32]}
    assert document["released"] == ["T#1", "T#2"]
    assert (document["pointer"], document["flags"], document["gprs"]["a1"]) == (768, [], 8192)
    assert document["statistics"]["blocks"] == 4


def test_a_faulting_program_gives_exit_code_1_its_record_and_still_its_dumps(here, capsys):
    assert main(["run", "fault.s", "--base", "0x100", "--json", "--dump-tile", "T#1=t.bin"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("linxtile: UNSUPPORTED (E_INST/3) at block 0x110, word 0x110: ")
    assert json.loads(captured.out)["fault"] == {
        "rule": "UNSUPPORTED", "number": 21, "stage": "close", "trap": 0, "cause": 3,
        "block": 0x110, "word": 0x110, "traparg0": 0,
    }  # fmt: skip
    assert (here / "t.bin").read_bytes() == bytes(256)


def test_a_block_that_can_be_seen_to_be_illegal_needs_leave_to_run(here, capsys):
    (here / "bad.s").write_text("TADD <9, 1, 8, FP32>, T#1, T#2, ->T<256B>", encoding="utf-8")
    assert "bad.s:1:" in complaint(capsys, "bad.s")
    assert main(["run", "bad.s", "--allow-faults"]) == 1
    assert capsys.readouterr().err.startswith("linxtile: TILE_UNREADABLE (E_BLOCK/1) at block 0x0, word 0x")


def test_without_a_configuration_the_model_is_the_reference_and_a_simulator_the_default_core(here, monkeypatch):
    (here / "move.s").write_text("TEXPANDS <16, FP32>, [a0], ->T<1KB>\nTMUL <16, FP32>, T#1, T#1, ->T<1KB>", "utf-8")
    assert main(["run", "move.s"]) == 0
    assert main(["run", "move.s", "--config", "default"]) == 1
    monkeypatch.setattr(cli_run, "find_backend", lambda name: Differing())
    for arguments, expected in ([], "default"), (["--config", "small"], "small"):
        main(["run", *ADD_ARGUMENTS, "--on", "other", "--check", *arguments])
        job = Differing.asked[-1]
        assert job.config.name == job.machine().config.name == expected


def test_a_program_comes_through_a_pipe(here):
    command = [sys.executable, "-m", "linxtile.cli", "run", "-", "--stats"]
    done = subprocess.run(command, input=b"TEXPANDS <8, FP32>, [a0], ->T<256B>", capture_output=True, check=True)
    assert done.stdout.split()[:2] == [b"blocks", b"1"]
    assert done.stderr == b""


REFUSED = {
    "missing program": (["none.s"], "cannot read none.s: No such file or directory"),
    "odd binary": (["odd.bin"], "a binary program must have an even number of bytes, but odd.bin has 3"),
    "load without a file": (["add.s", "--load", "0x1000"], "--load must be ADDR=FILE, not '0x1000'"),
    "load of a missing file": (["add.s", "--load", "0x1000=none"], "cannot read none: No such file or directory"),
    "load of a bad number": (["add.s", "--load", "x=y.bin"],
                             "--load address must be a number such as 4096 or 0x1000, not 'x'"),
    "load above memory": (["add.s", "--load", "0x10000000000=y.bin"],
                          "--load address must be 0x0 to 0xffffffffff, not 0x10000000000"),
    "load across the end": (["add.s", "--load", "0xffffffffc0=y.bin"],
                            "--load: 128 bytes at 0xffffffffc0 do not fit below the end of memory, 0x10000000000"),
    "load over the program": (["add.s", "--load", "0x10=y.bin"],
                              "--load 0x10=y.bin: its 128 bytes overlap the program at 0x0"),
    "misformed array": (["add.s", "--load", "0x1000=bad.npy"], "bad.npy must hold an array of numbers in .npy form: "),
    "empty array file": (["add.s", "--load", "0x1000=empty.npy"],
                         "empty.npy must hold an array of numbers in .npy form: "),
    "array of objects": (["add.s", "--load", "0x1000=objects.npy"],
                         "objects.npy must hold an array of numbers in .npy form: "),
    "archive by the name of an array": (["add.s", "--load", "0x1000=zip.npy"],
                                        "zip.npy must hold an array of numbers in .npy form: "),
    "array whose header stops": (["add.s", "--load", "0x1000=open.npy"],
                                 "open.npy must hold an array of numbers in .npy form: "),
    "array with a boolean shape": (["add.s", "--load", "0x1000=true.npy"],
                                   "true.npy must hold an array of numbers in .npy form: "),
    "array too large for this machine": (["add.s", "--load", "0x1000=large.npy"],
                                         "large.npy must hold an array of numbers in .npy form: "),
    "dump larger than this machine": (["add.s", "--dump", "0:0x10000000000=z"],
                                      "--dump bytes must be 0x1 to 0x10000000, not 0x10000000000"),
    "configuration beyond the model": (["add.s", "--config", "more.toml"],
                                       "the model does not execute MGATHER, which the configuration 'default' asks for"),
    "dump without a length": (["add.s", "--dump", "0x1000=z"], "--dump must be ADDR:BYTES=FILE, not '0x1000=z'"),
    "dump of no bytes": (["add.s", "--dump", "0:0=z"], "--dump bytes must be 0x1 to 0x10000000, not 0"),
    "dump above memory": (["add.s", "--dump", "0xfffffffff0:17=z"],
                          "--dump: 17 bytes at 0xfffffffff0 do not fit below the end of memory, 0x10000000000"),
    "dump into a directory": (["fault_free.s", "--dump", "0:4=."], "cannot write .: Is a directory"),
    "tile of no queue": (["add.s", "--dump-tile", "X#1=z"],
                         "--dump-tile: a tile name is a queue (T, U, M, N), # and 1 to 16, not 'X#1'"),
    "tile that is not live": (["fault_free.s", "--dump-tile", "T#2=z"],
                              "--dump-tile T#2: no such tile is live at the end; there are T#1"),
    "unknown register": (["add.s", "--gpr", "a9=1"],
                         "--gpr register must be sp, a0 to a7, ra, s0 to s8 or x0 to x3, not 'a9'"),
    "register zero": (["add.s", "--gpr", "zero=1"], "--gpr cannot set the register zero, as 'zero=1' asks"),
    "register value": (["add.s", "--gpr", "a0=18446744073709551616"],
                       "--gpr a0 must be -0x8000000000000000 to 0xffffffffffffffff, not 18446744073709551616"),
    "odd base": (["add.s", "--base", "3"], "program address must be even, not 3"),
    "base above memory": (["add.s", "--base", "0xfffffffffe"], "--base: "),
    "unknown configuration": (["add.s", "--config", "huge"],
                              "--config: configuration must be small, default, large, reference or a TOML file, not 'huge'"),
    "unknown backend": (["add.s", "--on", "spice"], "backend must be model, "),
    "check on the model": (["add.s", "--check"], "--check needs a simulator (--on), not 'model'"),
    "waves on the model": (["add.s", "--waves"], "--waves needs a simulator (--on), not 'model'"),
    "timeline on the model": (["add.s", "--timeline", "x.json"], "--timeline needs a simulator (--on), not 'model'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_misuse_gives_one_line_and_exit_code_2(name, here, capsys):
    (here / "odd.bin").write_bytes(b"\x00\x01\x02")
    (here / "bad.npy").write_bytes(b"\x93NUMPY\x01\x00garbage")
    (here / "empty.npy").write_bytes(b"")
    (here / "zip.npy").write_bytes(b"PK\3\4" + bytes(30))
    for file, shape in (("open", "(1"), ("true", "(True,)}"), ("large", "(4000000000000000,)}")):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}".ljust(117).encode() + b"\n"
        (here / f"{file}.npy").write_bytes(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header)
    (here / "more.toml").write_text('operations = {MGATHER = ["FP32"]}', encoding="utf-8")
    np.save("objects.npy", np.array([None, 1], object), allow_pickle=True)
    (here / "fault_free.s").write_text("TEXPANDS <8, FP32>, [a0], ->T<256B>", encoding="utf-8")
    arguments, expected = REFUSED[name]
    assert complaint(capsys, *arguments).startswith(expected)


def test_a_negative_register_value_is_taken_modulo_two_to_the_64(here, capsys):
    (here / "one.s").write_text("TEXPANDS <1, S64>, [a0], ->T<256B>", encoding="utf-8")
    assert main(["run", "one.s", "--gpr", "a0=-2", "--dump-tile", "T#1=t.bin"]) == 0
    assert (here / "t.bin").read_bytes()[:8] == b"\xfe" + 7 * b"\xff"


class Differing:
    """A simulator that finds a difference and notes what it was asked."""

    asked: list = []

    def run(self, job):
        """Run on the model and add a difference."""
        self.asked.append(job)
        finished = ModelBackend().run(job)
        return Finished(
            None, finished.tiles, finished.regions, {"cycles": 7}, finished.document, "U#1 element (0, 1)",
            timeline={"traceEvents": []},
        )  # fmt: skip


def test_a_simulator_gets_the_job_and_its_difference_gives_exit_code_1(here, capsys, monkeypatch):
    monkeypatch.setattr(cli_run, "find_backend", lambda name: Differing() if name == "other" else None)
    assert main(["run", *ADD_ARGUMENTS, "--on", "other", "--check", "--waves", "--stats"]) == 1
    captured = capsys.readouterr()
    assert captured.err == "linxtile: differs from the model: U#1 element (0, 1)\n"
    assert captured.out.split() == ["cycles", "7"]
    job = Differing.asked[-1]
    assert (job.name, job.check, str(job.waves)) == ("add", True, "build/waves/add.fst")
    assert job.machine().memory.read(0x1000, 128) == np.load("x.npy").tobytes()


def test_a_timeline_is_written_also_of_a_run_that_differs(here, capsys, monkeypatch):
    monkeypatch.setattr(cli_run, "find_backend", lambda name: Differing())
    assert main(["run", *ADD_ARGUMENTS, "--on", "other", "--timeline", "out.json"]) == 1
    assert json.loads((here / "out.json").read_text(encoding="utf-8")) == {"traceEvents": []}
    assert main(["run", *ADD_ARGUMENTS, "--on", "other", "--timeline", "none/out.json"]) == 2
    assert capsys.readouterr().err.endswith("linxtile: cannot write none/out.json: No such file or directory\n")


BLOCKS = """
.compress on
    li a1, 0x12345      ; two words
    li a2, 1
label:
    TADD <8, FP32>, T#1, T#2, ->U<256B>   // one line
    B.CATR trap
    BSTOP
    .half 0
BSTART.TEPL TSEL, FP32
    C.B.DIMI 8, ->LB0
    B.IOT T#1, T#2
    B.IOT T#1, last, ->U<256B>
"""


def test_a_simulator_is_told_the_source_lines_of_each_block(here, monkeypatch):
    monkeypatch.setattr(cli_run, "find_backend", lambda name: Differing())
    (here / "blocks.s").write_text(BLOCKS, encoding="utf-8")
    main(["run", "blocks.s", "--on", "other", "--allow-faults", "--base", "0x100"])
    sources = Differing.asked[-1].sources
    assert [text.splitlines() for _, text in sorted(sources.items())] == [
        ["li a1, 0x12345      ; two words", "li a2, 1"],
        ["TADD <8, FP32>, T#1, T#2, ->U<256B>   // one line", "B.CATR trap"],
        ["BSTART.TEPL TSEL, FP32", "C.B.DIMI 8, ->LB0", "B.IOT T#1, T#2", "B.IOT T#1, last, ->U<256B>"],
    ]
    assert min(sources) == 0x100
    assert main(["asm", "blocks.s", "--allow-faults", "-o", "blocks.bin"]) == 0
    main(["run", "blocks.bin", "--on", "other"])
    assert Differing.asked[-1].sources == {}


class Entry:
    """An installed entry point whose package may be broken."""

    def __init__(self, name, result):
        self.name, self._result = name, result

    def load(self):
        """Import the package."""
        if isinstance(self._result, Exception):
            raise self._result
        return self._result


def test_backends_are_found_through_entry_points(monkeypatch):
    entries = [Entry("other", Differing), Entry("broken", ImportError("No module named 'cocotb'"))]
    monkeypatch.setattr(
        backend, "entry_points", lambda group, name=None: [one for one in entries if name in (None, one.name)]
    )
    assert backend.backend_names() == ["model", "broken", "other"]
    assert isinstance(find_backend("other"), Differing)
    assert isinstance(find_backend("model"), ModelBackend)
    with pytest.raises(
        BackendError, match="backend broken needs the extra `sim` of linxtile: No module named 'cocotb'"
    ):
        find_backend("broken")
    with pytest.raises(BackendError, match="backend must be model, broken, other, not 'none'"):
        find_backend("none")


def test_importing_the_model_loads_neither_amaranth_nor_cocotb():
    code = "import linxtile, linxtile.cli, sys; print([m for m in sys.modules if m.split('.')[0] in ('amaranth', 'cocotb')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
