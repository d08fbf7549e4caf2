"""The command line: what it prints, where, and its exit code."""

import json
import subprocess
import sys

import pytest

from linxtile.asm import assemble
from linxtile.cli import main

SOURCE = "TNOT <8, U8>, T#1, ->T<256B>\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "not.s"
    path.write_text(SOURCE)
    return path


def test_asm_writes_the_program(source, tmp_path, capsys):
    assert main(["asm", str(source), "-o", str(tmp_path / "out.bin")]) == 0
    assert (tmp_path / "out.bin").read_bytes() == assemble(SOURCE).image
    assert capsys.readouterr() == ("", "")


def test_asm_writes_hex_and_dis_reads_it_back(source, tmp_path, capsys):
    assert main(["asm", str(source), "-o", str(tmp_path / "out.hex"), "--hex"]) == 0
    assert main(["dis", "--hex", str(tmp_path / "out.hex")]) == 0
    assert capsys.readouterr().out == "TNOT <LB0:8, U8>, T#1, ->T<256B>\nBSTOP\n"


def test_asm_prints_a_listing(source, capsys):
    assert main(["asm", str(source), "--listing", "--base", "0x100"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("00000100  ")


def test_asm_complains_with_file_line_and_column(tmp_path, capsys):
    path = tmp_path / "bad.s"
    path.write_text("TNOT <8, U8>, T#0, ->T<256B>\nTADD <8, U8>, T#1, ->T<256B>\n")
    assert main(["asm", str(path), "-o", str(tmp_path / "out.bin")]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"linxtile: {path}:1:15: tile index must be 1 to 16, not 0",
        f"linxtile: {path}:2:1: TADD takes 2 source tiles and 1 destination tile (PARM_TILES)",
    ]
    assert not (tmp_path / "out.bin").exists()


def test_asm_accepts_faults_when_asked(tmp_path):
    path = tmp_path / "bad.s"
    path.write_text("TADD <8, U8>, T#1, ->T<256B>\n")
    assert main(["asm", str(path), "-o", str(tmp_path / "out.bin"), "--allow-faults"]) == 0


def test_decode_shows_text_and_fields(capsys):
    assert main(["decode", "0x440cc513", "0x053c", "0x00000001"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "0x440cc513  B.IOT T#1.reuse, U#2, last, ->M<8KB>"
    assert "source1 = 17 (U#2)" in lines[1]
    assert lines[2] == "0x053c  C.B.DIMI 20, ->LB0"
    assert lines[4] == "0x00000001  BSTOP"


def test_decode_shows_attributes_by_name(capsys):
    assert main(["decode", "0x19f01f23"]) == 0
    out = capsys.readouterr().out
    assert "layout = 30 (NZ2ZN)" in out
    assert "data_type = 31 (no type)" in out
    assert "pad = 3 (Null)" in out


@pytest.mark.parametrize(
    ("word", "meaning"),
    [("0xffffffff", "no header word (ILL_WORD)"), ("0x0002", "block start of another kind (ILL_BLOCK_KIND)")],
)
def test_decode_of_an_illegal_word_fails(word, meaning, capsys):
    assert main(["decode", word]) == 1
    assert capsys.readouterr().out == f"{word}  {meaning}\n"


def test_ops_lists_every_operation_and_what_runs_it(capsys):
    assert main(["ops", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert len(table) == 94
    assert table["TADD"]["FP32"] == {"model": True, "rtl": True}
    assert table["TADD"]["BF16"] == {"model": True, "rtl": False}
    assert table["MGATHER"]["FP16"] == {"model": False, "rtl": False}
    assert main(["ops", "TADD"]) == 0
    assert "dst[r,c] = src0[r,c] + src1[r,c]" in capsys.readouterr().out


ERRORS = {
    "missing file": (["asm", "/nowhere/x.s", "-o", "x"], "cannot read /nowhere/x.s: No such file or directory"),
    "unwritable file": (["asm", "{source}", "-o", "/nowhere/x"], "cannot write /nowhere/x: No such file or directory"),
    "no output": (["asm", "{source}"], "asm needs -o OUT or --listing, and neither was given"),
    "odd base": (["asm", "{source}", "--listing", "--base", "3"], "program address must be even, not 3"),
    "bad base": (["asm", "{source}", "--listing", "--base", "x"], "program address must be a number such as 4096 or 0x1000, not 'x'"),
    "odd program": (["dis", "{odd}"], "{odd} must hold an even number of bytes, not 3"),
    "not text": (["asm", "{binary}", "--listing"], "{binary} must be UTF-8 text, but byte 0 is 0xff"),
    "bad hex": (["dis", "--hex", "{source}"], "{source}: word 1 must be four or eight hex digits, not 'TNOT'"),
    "word": (["decode", "xyz"], "word must be a number such as 4096 or 0x1000, or the name of an element type, not 'xyz'"),
    "type without codes": (["decode", "FP16"], "decode FP16 needs at least one code, and none was given"),
    "long word": (["decode", "0x100000000"], "word must be 0x0 to 0xffffffff, not 0x100000000"),
    "16-bit word": (["decode", "0x12340002"], "word must be at most 0xffff when bit 0 is clear, for it has 16 bits, not 0x12340002"),
    "operation": (["ops", "TFOO"], "operation 'TFOO' is not in the operation table"),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "complaint"), ERRORS.values(), ids=ERRORS)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, complaint, source, tmp_path, capsys):
    names = {"source": str(source), "odd": str(tmp_path / "odd.bin"), "binary": str(tmp_path / "x.bin")}
    (tmp_path / "odd.bin").write_bytes(b"\1\0\0")
    (tmp_path / "x.bin").write_bytes(b"\xff\xff")
    assert main([argument.format(**names) for argument in arguments]) == 2
    assert capsys.readouterr() == ("", f"linxtile: {complaint.format(**names)}\n")


@pytest.mark.parametrize("arguments", [[], ["frobnicate"], ["asm"], ["ops", "--colour"]])
def test_wrong_usage_is_exit_code_2(arguments, capsys):
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("usage: linxtile")


def test_the_command_line_needs_neither_amaranth_nor_cocotb():
    program = (
        "import sys; from linxtile.cli import main; main(['ops', '--json']); "
        "sys.exit(any(name.split('.')[0] in ('amaranth', 'cocotb', 'linxtile_rtl', 'linxtile_sim') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL).returncode == 0


def test_a_closed_pipe_is_no_error(source):
    program = f"import sys; from linxtile.cli import main; sys.exit(main(['asm', {str(source)!r}, '--listing']))"
    command = f'{sys.executable} -c "{program}" | true'
    assert subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], stderr=subprocess.PIPE).stderr == b""
