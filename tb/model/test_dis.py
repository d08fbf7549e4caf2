"""The disassembler against the assembler: every string of halfwords comes back unchanged."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linxtile.asm import assemble
from linxtile.dis import disassemble
from linxtile.fetch import words_image
from linxtile.isa.words import WORDS, WordFormat, encode_word


def assert_round_trip(image: bytes) -> None:
    text = disassemble(image)
    assert assemble(text, allow_faults=True).image == image, text


def legal_codes(form: WordFormat, name: str) -> st.SearchStrategy[int]:
    """Mostly small codes, which often have names; now and then any code."""
    field = form.field(name)
    if field.allowed is not None:
        return st.sampled_from(field.allowed)
    largest = (1 << field.width) - 1
    return st.one_of(st.integers(0, min(4, largest)), st.integers(0, largest))


def words_of(form: WordFormat) -> st.SearchStrategy[tuple[int, int]]:
    fields = {field.name: legal_codes(form, field.name) for field in form.fields}
    return st.fixed_dictionaries(fields).map(lambda values: (form.encode(**values), form.bits))


HEADER_WORDS = st.sampled_from(WORDS).flatmap(words_of)
RAW_WORDS = st.one_of(
    st.integers(0, (1 << 16) - 1).map(lambda value: (value, 16)),
    st.integers(0, (1 << 32) - 1).map(lambda value: (value, 32)),
)


@given(st.binary(max_size=40).filter(lambda image: len(image) % 2 == 0))
@settings(deadline=None, max_examples=300)
def test_any_bytes_come_back(image: bytes) -> None:
    assert_round_trip(image)


@given(st.lists(st.one_of(HEADER_WORDS, HEADER_WORDS, RAW_WORDS), max_size=14))
@settings(deadline=None, max_examples=600)
def test_any_header_words_come_back(words: list[tuple[int, int]]) -> None:
    assert_round_trip(words_image(words))


@given(st.lists(words_of(next(row for row in WORDS if row.name == "ADDI")), min_size=1, max_size=40))
@settings(deadline=None, max_examples=100)
def test_any_set_up_block_comes_back(words: list[tuple[int, int]]) -> None:
    start = (encode_word("BSTART.STD FALL"), 32)
    assert_round_trip(words_image([start, *words, start, *words]))


def test_random_programs_in_a_long_string_come_back() -> None:
    generator = random.Random(7)
    image = generator.randbytes(20_000)
    assert_round_trip(image)


CASES = {
    "a block that a line can say is one line": (
        "TADD <LB0:100, LB1:a0, LB2:a1+10, FP16>, T#1, T#2.reuse, ->T<2KB>\nBSTOP\n",
        "TADD <LB0:100, LB1:a0, LB2:a1+10, FP16>, T#1, T#2.reuse, ->T<2KB>\nBSTOP\n",
    ),
    "compressed dimensions keep their line behind a directive": (
        "BSTART.TEPL TNOT, U8\nC.B.DIMI 7, ->LB0\nB.IOT T#1, last, ->T<256B>\nBSTOP\n",
        ".compress on\nTNOT <LB0:7, U8>, T#1, ->T<256B>\nBSTOP\n",
    ),
    "mixed dimension forms are written out": (
        "BSTART.TEPL TNOT, U8\nC.B.DIMI 7, ->LB0\nB.DIM zero, 7, ->LB1\nB.IOT T#1, last, ->T<256B>\nBSTOP\n",
        "BSTART.TEPL TNOT, U8\nC.B.DIMI 7, ->LB0\nB.DIM zero, 7, ->LB1\nB.IOT T#1, last, ->T<256B>\nBSTOP\n",
    ),
    "another order of header words is written out": (
        "BSTART.TEPL TNOT, U8\nB.IOT T#1, last, ->T<256B>\nB.DIM zero, 7, ->LB0\nBSTOP\n",
        "BSTART.TEPL TNOT, U8\nB.IOT T#1, last, ->T<256B>\nB.DIM zero, 7, ->LB0\nBSTOP\n",
    ),
    "a B.DATR that says nothing is written out": (
        "BSTART.TEPL TNOT, U8\nB.DATR\nB.IOT T#1, last, ->T<256B>\nBSTOP\n",
        "BSTART.TEPL TNOT, U8\nB.DATR\nB.IOT T#1, last, ->T<256B>\nBSTOP\n",
    ),
    "canonical constants become li": (
        "BSTART.STD FALL\nADDI zero, 5, ->a0\nLUI 0x12, ->a1\nADDI a1, 0x344, ->a1\nBSTOP\n",
        "li a0, 5\nli a1, 0x12344\nBSTOP\n",
    ),
    "other sums of registers are written out": (
        "BSTART.STD FALL\nADDI a1, 0x344, ->a0\nBSTOP\n",
        "BSTART.STD FALL\nADDI a1, 0x344, ->a0\nBSTOP\n",
    ),
    "a second set-up block does not melt into the first": (
        "BSTART.STD FALL\nADDI zero, 5, ->a0\nBSTART.STD FALL\nADDI zero, 6, ->a0\nBSTOP\n",
        "li a0, 5\nBSTART.STD FALL\nADDI zero, 6, ->a0\nBSTOP\n",
    ),
    "a non-canonical 'no destination' is a word": (
        ".word 0x02285413\nBSTOP\n",
        ".word 0x02285413  ; B.IOT M#3.reuse, last\nBSTOP\n",
    ),
    "a program without a stop says so": (
        ".nostop\nBSTART.STD FALL\n",
        ".nostop\nBSTART.STD FALL\n",
    ),
    "an end inside a 32-bit word is a halfword": (
        ".nostop\n.half 0x9181\n",
        ".nostop\n.half 0x9181\n",
    ),
}


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES)
def test_a_program_is_written_as_expected(source: str, expected: str) -> None:
    image = assemble(source, allow_faults=True).image
    assert disassemble(image) == expected
    assert_round_trip(image)
