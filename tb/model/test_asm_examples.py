"""The assembler against worked examples that were computed by other programs: words, text and traces."""

import json
import random
from pathlib import Path

import pytest

from linxtile.asm import assemble
from linxtile.asm_block import BlockLine, Dimension, NewTile, TileName
from linxtile.dis import disassemble
from linxtile.dis_words import assemble_word, block_operation, word_text
from linxtile.isa.codes import CompareMode, Destination, PadValue, Queue, RoundingMode
from linxtile.isa.operations import OPERATIONS, Shape, Uses
from linxtile.isa.types import data_type

TRACES = json.loads((Path(__file__).parents[1] / "data" / "traces.json").read_text(encoding="utf-8"))

# Source, and (word, text) pairs. The manual's examples mix 32-bit and compressed forms.
# fmt: off
EXAMPLES = {
    "E1 TLOAD with defaults": ("TLOAD.NORM <LB0:100, LB1:a0, LB2:a1+10, FP16>, [a2], ->T<2KB>", [
        ("20011181", "BSTART.TMA TLOAD, FP16"), ("06400043", "B.DIM zero, 100, ->LB0"), ("00011043", "B.DIM a0, 0, ->LB1"),
        ("00A1A043", "B.DIM a1, 10, ->LB2"), ("000BE013", "B.IOT last, ->T<2KB>"), ("00020013", "B.IOR a2"),
        ("00000001", "BSTOP")]),
    "E2 TLOAD with stride, pad and tokens": (
        "TLOAD.ND2NZ <LB0:100, LB1:a0, LB2:112, FP16, Zero>, [a2, a3], D#1, ->T<8KB>, D", [
        ("20011181", "BSTART.TMA TLOAD, FP16"), ("01F01223", "B.DATR ND2NZ, Zero"), ("06400043", "B.DIM zero, 100, ->LB0"),
        ("00011043", "B.DIM a0, 0, ->LB1"), ("07002043", "B.DIM zero, 112, ->LB2"), ("000CE013", "B.IOT last, ->T<8KB>"),
        ("00520013", "B.IOR a2, a3"), ("00009093", "B.IOD D#1, ->D"), ("00000001", "BSTOP")]),
    "E3 TLOAD with three outputs": (
        ".compress on\nTLOAD.ND2NZ <LB0:20, LB1:3, LB2:24, FP32, Zero>, [a0, a1], ->T<512B>, T<512B>, T<512B>", [
        ("08011181", "BSTART.TMA TLOAD, FP32"), ("01F01223", "B.DATR ND2NZ, Zero"), ("053C", "C.B.DIMI 20, ->LB0"),
        ("40FC", "C.B.DIMI 3, ->LB1"), ("863C", "C.B.DIMI 24, ->LB2"), ("0002E013", "B.IOT ->T<512B>"),
        ("0002E013", "B.IOT ->T<512B>"), ("000AE013", "B.IOT last, ->T<512B>"), ("00310013", "B.IOR a0, a1"),
        ("00000001", "BSTOP")]),
    "E4 TSTORE": ("TSTORE.NZ2ND <LB0:100, LB1:a0, LB2:a1+10, FP32>, U#1, [a2, a1], D#1, D#2, D#3, ->D", [
        ("08111181", "BSTART.TMA TSTORE, FP32"), ("19F01DA3", "B.DATR NZ2ND"), ("06400043", "B.DIM zero, 100, ->LB0"),
        ("00011043", "B.DIM a0, 0, ->LB1"), ("00A1A043", "B.DIM a1, 10, ->LB2"), ("01085393", "B.IOT U#1, last"),
        ("00320013", "B.IOR a2, a1"), ("18209093", "B.IOD D#1, D#2, D#3, ->D"), ("00000001", "BSTOP")]),
    "E5 TADD": ("TADD <LB0:100, LB1:a0, LB2:a1+10, FP16>, T#1, T#2.reuse, ->T<2KB>", [
        ("20019181", "BSTART.TEPL TADD, FP16"), ("06400043", "B.DIM zero, 100, ->LB0"), ("00011043", "B.DIM a0, 0, ->LB1"),
        ("00A1A043", "B.DIM a1, 10, ->LB2"), ("040BC813", "B.IOT T#1, T#2.reuse, last, ->T<2KB>"), ("00000001", "BSTOP")]),
    "E6 TADDS, compressed": (".compress on\nTADDS <LB0:16, LB1:32, E5M2>, T#3.reuse, [a1], ->T<512B>\nC.BSTOP", [
        ("42019181", "BSTART.TEPL TADDS, E5M2"), ("043C", "C.B.DIMI 16, ->LB0"), ("483C", "C.B.DIMI 32, ->LB1"),
        ("002AD413", "B.IOT T#3.reuse, last, ->T<512B>"), ("00018013", "B.IOR a1"), ("0000", "C.BSTOP")]),
    "E7 TCMP": ("TCMP.EQ <LB0:32, LB1:16, LB2:40, E4M3, Zero>, T#1, T#2.reuse, ->M<1KB>", [
        ("38D19181", "BSTART.TEPL TCMP, E4M3"), ("01F01023", "B.DATR Zero, EQ"), ("02000043", "B.DIM zero, 32, ->LB0"),
        ("01001043", "B.DIM zero, 16, ->LB1"), ("02802043", "B.DIM zero, 40, ->LB2"),
        ("040B4913", "B.IOT T#1, T#2.reuse, last, ->M<1KB>"), ("00000001", "BSTOP")]),
    "E8 TSEL": ("TSEL <LB0:40, LB1:32, LB2:48, FP16>, T#1, T#2.reuse, U#4, ->T<4KB>", [
        ("21A19181", "BSTART.TEPL TSEL, FP16"), ("02800043", "B.DIM zero, 40, ->LB0"), ("02001043", "B.DIM zero, 32, ->LB1"),
        ("03002043", "B.DIM zero, 48, ->LB2"), ("04004B93", "B.IOT T#1, T#2.reuse"),
        ("013C5013", "B.IOT U#4, last, ->T<4KB>"), ("00000001", "BSTOP")]),
    "E9 TCVT": ("TCVT <LB0:50, LB1:32, LB2:64, FP32, FP16, RNE, Sat>, T#3, ->T<4KB>", [
        ("09B19181", "BSTART.TEPL TCVT, FP32"), ("1C409023", "B.DATR FP16, RNE, Sat"), ("03200043", "B.DIM zero, 50, ->LB0"),
        ("02001043", "B.DIM zero, 32, ->LB1"), ("04002043", "B.DIM zero, 64, ->LB2"),
        ("002C5013", "B.IOT T#3, last, ->T<4KB>"), ("00000001", "BSTOP")]),
    "E10 TROWSUM": ("TROWSUM <LB0:16, LB1:16, FP16, Zero>, T#4.reuse, ->T<256B>", [
        ("24019181", "BSTART.TEPL TROWSUM, FP16"), ("01F01023", "B.DATR Zero"), ("01000043", "B.DIM zero, 16, ->LB0"),
        ("01001043", "B.DIM zero, 16, ->LB1"), ("003A5413", "B.IOT T#4.reuse, last, ->T<256B>"), ("00000001", "BSTOP")]),
    "E11 TEXPANDS": ("TEXPANDS <LB0:12, LB1:32, LB2:16, FP32, Zero>, [a1], ->T<2KB>", [
        ("0BB19181", "BSTART.TEPL TEXPANDS, FP32"), ("01F01023", "B.DATR Zero"), ("00C00043", "B.DIM zero, 12, ->LB0"),
        ("02001043", "B.DIM zero, 32, ->LB1"), ("01002043", "B.DIM zero, 16, ->LB2"), ("000BE013", "B.IOT last, ->T<2KB>"),
        ("00018013", "B.IOR a1"), ("00000001", "BSTOP")]),
    "E12 THISTOGRAM": ("THISTOGRAM <LB0:64, LB1:4, LB2:64, U32, U32, Byte1>, T#3.reuse, U#1, ->T<4KB>", [
        ("CE819181", "BSTART.TEPL THISTOGRAM, U32"), ("09901023", "B.DATR U32, Byte1"), ("04000043", "B.DIM zero, 64, ->LB0"),
        ("00401043", "B.DIM zero, 4, ->LB1"), ("04002043", "B.DIM zero, 64, ->LB2"),
        ("402C4413", "B.IOT T#3.reuse, U#1, last, ->T<4KB>"), ("00000001", "BSTOP")]),
    "E13 TMATMUL and ACCCVT": (
        "TMATMUL <LB0:32, LB1:64, LB2:16, FP16> T#1, M#1, ->ACC<8KB>\n"
        "ACCCVT NZ2ND, <LB0:32, LB1:64, FP32, FP16>, ACC, [a3], ->T<4KB>, U<256B>", [
        ("20031181", "BSTART.CUBE TMATMUL, FP16"), ("02000043", "B.DIM zero, 32, ->LB0"),
        ("04001043", "B.DIM zero, 64, ->LB1"), ("01002043", "B.DIM zero, 16, ->LB2"),
        ("800CC213", "B.IOT T#1, M#1, last, ->ACC<8KB>"), ("08831181", "BSTART.CUBE ACCCVT, FP32"),
        ("18401DA3", "B.DATR NZ2ND.normal, FP16"), ("02000043", "B.DIM zero, 32, ->LB0"),
        ("04001043", "B.DIM zero, 64, ->LB1"), ("00046013", "B.IOT ->T<4KB>"), ("000A6093", "B.IOT last, ->U<256B>"),
        ("00028013", "B.IOR a3"), ("00000001", "BSTOP")]),
    "E14 ACCCVT with canon": ("ACCCVT NORM.canon, <LB0:32, LB1:32, FP32, FP32>, ACC, ->T<4KB>", [
        ("08831181", "BSTART.CUBE ACCCVT, FP32"), ("1A101023", "B.DATR NORM.canon, FP32"),
        ("02000043", "B.DIM zero, 32, ->LB0"), ("02001043", "B.DIM zero, 32, ->LB1"),
        ("000C6013", "B.IOT last, ->T<4KB>"), ("00000001", "BSTOP")]),
    "E15 ESAVE": ("ESAVE , ->T<32KB>, T<32KB>, U<32KB>, M<32KB>, N<32KB>", [
        ("FFE19181", "BSTART.TEPL ESAVE"), ("0005E013", "B.IOT ->T<32KB>"), ("0005E013", "B.IOT ->T<32KB>"),
        ("0005E093", "B.IOT ->U<32KB>"), ("0005E113", "B.IOT ->M<32KB>"), ("000DE193", "B.IOT last, ->N<32KB>"),
        ("00000001", "BSTOP")]),
}
# fmt: on


def value_and_bits(text):
    digits = text.removeprefix("0x")
    return int(digits, 16), 4 * len(digits)


@pytest.mark.parametrize(("source", "rows"), EXAMPLES.values(), ids=EXAMPLES)
def test_an_example_of_the_manual_assembles_to_its_words(source, rows):
    program = assemble(source)
    assert [(word.value, word.bits) for word in program.words] == [value_and_bits(word) for word, _ in rows]


@pytest.mark.parametrize(("source", "rows"), EXAMPLES.values(), ids=EXAMPLES)
def test_an_example_of_the_manual_has_its_text(source, rows):
    operation = None
    for word, text in rows:
        value, bits = value_and_bits(word)
        operation = block_operation(value, bits) or operation
        assert word_text(value, bits, operation) == text
        assert assemble_word(text) == (value, bits)


@pytest.mark.parametrize(("source", "rows"), EXAMPLES.values(), ids=EXAMPLES)
def test_an_example_of_the_manual_is_disassembled_to_its_line(source, rows):
    lines = disassemble(assemble(source).image).splitlines()
    expected = source.replace("> T#1", ">, T#1").replace("ESAVE , ", "ESAVE ").splitlines()
    stop = [] if expected[-1] == "C.BSTOP" else ["BSTOP"]
    assert lines == expected + stop


@pytest.mark.parametrize("trace", TRACES, ids=[trace["name"] for trace in TRACES])
def test_a_trace_assembles_to_its_words(trace):
    program = assemble("\n".join(trace["asm"]), address=int(trace["program_base"], 16), allow_faults=True)
    words = [[f"{word.address:#x}", f"0x{word.value:0{word.bits // 4}x}"] for word in program.words]
    assert words == [row[:2] for row in trace["words"]]


@pytest.mark.parametrize("trace", TRACES, ids=[trace["name"] for trace in TRACES])
def test_the_words_of_a_trace_have_its_text(trace):
    for _, word, text in trace["words"]:
        value, bits = value_and_bits(word)
        if not text.startswith("."):
            assert word_text(value, bits) == text
            assert assemble_word(text) == (value, bits)


def random_line(generator):
    """Return a block that the ISA need not allow but the syntax can say."""
    row = generator.choice(OPERATIONS)
    uses = row.uses
    types = [data_type(name) for name in row.source_types or ()]
    layouts = row.layouts or ()
    second = Uses.SECOND_TYPE in uses and generator.random() < 0.7

    def dimension():
        if generator.random() < 0.2:
            return None
        return Dimension(generator.choice([0, 0, 1, 23]), generator.choice([0, 1, 255, 256, 131071]))

    return BlockLine(
        operation=row,
        data_type=generator.choice(types) if types else None,
        second_type=data_type(generator.choice(row.second_types)) if second else None,
        layout=generator.choice(layouts) if layouts else 0,
        pad=generator.choice(list(PadValue)),
        compare=generator.choice(list(CompareMode)) if Uses.COMPARE in uses else 0,
        rounding=generator.choice(list(RoundingMode)) if Uses.ROUNDING in uses else RoundingMode.NONE,
        saturate=Uses.SATURATE in uses and generator.random() < 0.5,
        canonical=row.shape is Shape.ACC_CONVERT and generator.random() < 0.5,
        dimensions=(dimension(), dimension(), dimension()),
        sources=tuple(
            TileName(generator.choice(list(Queue)), generator.randint(1, 16), generator.random() < 0.5)
            for _ in range(generator.randint(0, row.max_sources))
        ),
        registers=tuple(generator.sample(range(1, 24), generator.randint(0, 7))),
        tokens=tuple(generator.randint(1, 8) for _ in range(generator.randint(0, 3))),
        destinations=tuple(
            NewTile(Destination(generator.randint(0, 4)), generator.randint(1, 15))
            for _ in range(generator.randint(0, row.max_destinations))
        ),
        makes_token=generator.random() < 0.3,
    )


def test_every_line_that_the_syntax_can_say_is_folded_back_to_itself():
    generator = random.Random(11)
    seen = set()
    for _ in range(1500):
        line = random_line(generator)
        compressed = generator.random() < 0.3
        source = f"{'.compress on' if compressed else ''}\n{line.text()}"
        program = assemble(source, allow_faults=True)
        words = line.words(compressed)
        assert [(word.value, word.bits) for word in program.words[:-1]] == words, line.text()
        assert line.text() in disassemble(program.image).splitlines()
        seen.add(line.operation.name)
    assert seen == {row.name for row in OPERATIONS}


def test_the_examples_of_the_syntax_page_assemble():
    page = (Path(__file__).parents[2] / "docs" / "assembly.md").read_text(encoding="utf-8")
    blocks = page.split("```")[1::2]
    assert len(blocks) == 3
    for block in blocks:
        assemble(block, allow_faults=".nostop" in block)
