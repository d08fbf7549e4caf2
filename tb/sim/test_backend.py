"""``linxtile run --on icarus``: the core's results, faults and differences, told like those of the model."""

import json

import numpy as np
import pytest

from linxtile.backend import Job
from linxtile.cli import main
from linxtile.config import PRESETS
from linxtile_sim import backend, runner
from linxtile_sim.backend import Icarus

pytestmark = pytest.mark.cosim

PROGRAM = """
    li a0, 0x20000
    li a1, 0x20080
    li a2, 0x30001
    TLOAD.NORM <8, 4, FP32>, [a0], ->T<256B>
    TLOAD.NORM <8, 4, FP32, Zero>, [a1], ->T<256B>
    TADD <8, 4, FP32, Zero>, T#2, T#1.reuse, ->U<256B>
    B.CATR trap
    TSTORE.NORM <8, 4, FP32>, U#1.reuse, [a2]
"""
FAULT = "li a0, 0x10000000000\nTSTORE.NORM <8, 4, FP32>, T#1.reuse, [a0]\n"
ON_ICARUS = ["--on", "icarus", "--config", "small"]
WITHOUT_BYTES = ("block", "operation", "block_flags", "trap", "queues", "pointer", "flags")
TILE_BYTES = 256


@pytest.fixture(scope="module")
def arrays():
    """Return two 4 x 8 arrays, the second behind the first in memory."""
    return np.random.default_rng(5).standard_normal((2, 4, 8), np.float32)


@pytest.fixture
def run(tmp_path, arrays, capsys):
    """Return a function that runs a program and gives exit code, output and complaints."""
    np.save(tmp_path / "arrays.npy", arrays)

    def run_program(text, *arguments):
        (tmp_path / "program.s").write_text(text, encoding="utf-8")
        load = ["--base", "0x1000", "--load", f"0x20000={tmp_path / 'arrays.npy'}"]
        code = main(["run", str(tmp_path / "program.s"), *load, *arguments])
        return code, *capsys.readouterr()

    return run_program


def document_of(output):
    """Return the JSON of a run, with only those facts of a block that a core shows."""
    document = json.loads(output)
    blocks = [{name: block[name] for name in WITHOUT_BYTES} for block in document["blocks"]]
    return {name: document[name] for name in ("fault", "gprs", "queues", "pointer", "flags")} | {"blocks": blocks}


def test_dumps_tiles_registers_and_queues_are_those_of_the_core(run, tmp_path, arrays):
    dumps = ["--dump", f"0x30001:128={tmp_path}/z.bin", "--dump", f"0x7ff0:32={tmp_path}/nothing.bin"]
    tiles = ["--dump-tile", f"U#1={tmp_path}/u.bin", "--dump-tile", f"T#1={tmp_path}/t.bin"]
    code, output, complaints = run(PROGRAM, *dumps, *tiles, *ON_ICARUS, "--json", "--stats")
    assert (code, complaints) == (0, "")
    expected = (arrays[0] + arrays[1]).tobytes()
    assert (tmp_path / "z.bin").read_bytes() == expected
    assert (tmp_path / "nothing.bin").read_bytes() == bytes(32)
    assert (tmp_path / "u.bin").read_bytes() == expected.ljust(TILE_BYTES, b"\0")
    assert (tmp_path / "t.bin").read_bytes() == arrays[1].tobytes().ljust(TILE_BYTES, b"\0")
    document = json.loads(output)
    assert document["statistics"] == {"blocks": 4, "set-up blocks": 1, "cycles": document["cycles"]}
    closed, retired = ([block[name] for block in document["blocks"]] for name in ("closed_at", "retired_at"))
    assert 0 < retired[0] < retired[-1] <= document["cycles"] and retired == sorted(retired)
    assert all(early < late for early, late in zip(closed, retired, strict=True))
    assert document_of(output) == document_of(run(PROGRAM, "--json")[1])


@pytest.mark.parametrize("check", [[], ["--check"]], ids=["alone", "checked"])
def test_a_fault_of_the_core_is_told_like_one_of_the_model(run, check):
    program = PROGRAM.replace("U#1.reuse", "U#1") + FAULT
    code, output, complaints = run(program, *ON_ICARUS, *check, "--json")
    on_model = run(program, "--config", "small", "--json")
    assert (code, complaints) == (1, on_model[2])
    assert complaints.startswith("linxtile: MEM_WRITE ") and ", address 0x10000000000: " in complaints
    assert document_of(output) == document_of(on_model[1])


def test_a_wrong_bit_of_the_hardware_is_told_with_its_element(run, arrays, monkeypatch):
    sources = backend.simulation_sources(PRESETS["small"])
    name, text = next((name, text) for name, text in sources.items() if "module simulation_lines" in text)
    broken = text.replace("assign read_data = lines[read_address];", "assign read_data = lines[read_address] ^ 1;", 1)
    assert broken != text
    monkeypatch.setattr(backend, "simulation_sources", lambda config: sources | {name: broken})
    code, output, complaints = run(PROGRAM, *ON_ICARUS, "--check")
    right = int(arrays[0].view(np.uint32)[0, 0])
    assert (code, output) == (1, "")
    assert complaints.startswith(
        "linxtile: differs from the model: event 2: TLOAD at 0x1018 FP32: T#1 element (0, 0), byte 0: "
        f"got {right ^ 1:#010x} ("
    )
    assert f"expected {right:#010x} (" in complaints and complaints.endswith(")\n") and complaints.count("\n") == 1


def test_a_write_to_a_page_of_nobody_is_told_without_a_check(run, monkeypatch):
    pages = backend.Scenario.pages
    monkeypatch.setattr(
        backend.Scenario,
        "pages",
        lambda scenario, result: {page: data for page, data in pages(scenario, result).items() if page != 0x30000},
    )
    code, output, complaints = run(PROGRAM, *ON_ICARUS)
    assert (code, output) == (1, "")
    assert complaints == "linxtile: differs from the model: the core wrote to a page that the program does not own\n"


def refusal(run, *arguments):
    """Run what is refused and return the single line."""
    code, output, complaints = run(PROGRAM, *ON_ICARUS, *arguments)
    assert (code, output, complaints.count("\n")) == (2, "", 1)
    return complaints


def test_waves_are_fst(run, tmp_path):
    expected = f"linxtile: waves are written as FST, so --waves must end in .fst, not '{tmp_path}/x.vcd'\n"
    assert refusal(run, "--waves", f"{tmp_path}/x.vcd") == expected


def test_a_missing_simulator_is_told_in_one_line(run, monkeypatch):
    monkeypatch.setitem(runner.PROGRAMS, "icarus", ("no_such_program",))
    assert refusal(run) == "linxtile: icarus needs no_such_program: run `make setup` as root\n"


def test_data_that_do_not_fit_the_simulated_memory_are_refused(run, tmp_path):
    (tmp_path / "big.bin").write_bytes(bytes(4 << 20))
    assert refusal(run, "--load", f"0x100000={tmp_path}/big.bin") == (
        "linxtile: the simulated memory holds 512 pages of 4096 bytes, not 1027\n"
    )


def test_of_loads_that_overlap_the_later_one_wins():
    job = Job("x", b"", 0, PRESETS["small"], memory=[(0x1FFE, b"abcd"), (0x2000, b"XY")])
    memory = backend.scenario_of(job).memory
    assert sorted(memory) == [0x1000, 0x2000]
    assert memory[0x1000].endswith(b"ab") and memory[0x2000].startswith(b"XY\0")


def test_a_backend_has_the_name_of_its_simulator():
    assert Icarus.name in runner.SIMULATORS and backend.Verilator.name in runner.SIMULATORS
