"""Header words: patterns, fields, block starts."""

import random

import pytest

from linxtile.isa.words import (
    WORDS,
    Field,
    WordFormat,
    check_disjoint,
    decode_word,
    encode_word,
    is_block_start,
    word_bits,
    word_format,
)

# Match, mask and length of the printed summary (B.DIM and B.IOT one row a form), typed by hand.
# fmt: off
PRINTED = [
    ("BSTART.TEPL", 32, 0x00019181, 0x000FFFFF), ("BSTART.TMA", 32, 0x00011181, 0x060FFFFF),
    ("BSTART.CUBE", 32, 0x00031181, 0x060FFFFF), ("B.DATR", 32, 0x00001023, 0x000C707F),
    ("B.CATR", 32, 0x00000023, 0xFBF07FFF), ("B.DIM", 32, 0x00000043, 0x0000707F),
    ("B.DIM", 32, 0x00001043, 0x0000707F), ("B.DIM", 32, 0x00002043, 0x0000707F),
    ("B.IOR", 32, 0x00000013, 0x0600707F), ("B.IOD", 32, 0x00001013, 0x0600707F),
    ("B.IOT", 32, 0x00004013, 0x0000707F), ("B.IOT", 32, 0x00005013, 0x0000707F),
    ("B.IOT", 32, 0x00006013, 0x0000707F), ("B.HINT", 32, 0x00000033, 0x00087FFF),
    ("B.HINT TRACE", 32, 0x00001033, 0x00007FFF), ("B.TEXT", 32, 0x00000003, 0x0000007F),
    ("BSTOP", 32, 0x00000001, 0xFFFFFFFF), ("C.BSTOP", 16, 0x0000, 0xFFFF), ("C.B.DIM", 16, 0xC03C, 0xC03F),
    ("C.B.DIMI", 16, 0x003C, 0xC03F), ("C.B.DIMI", 16, 0x403C, 0xC03F), ("C.B.DIMI", 16, 0x803C, 0xC03F),
    ("BSTART.STD FALL", 32, 0x00001001, 0x00007FFF), ("LUI", 32, 0x00000017, 0x0000007F),
    ("ADDI", 32, 0x00000015, 0x0000707F), ("SLLI", 32, 0x00007015, 0xFC00707F),
]
FOREIGN = [
    (0x000B5493, "B.IOT", {"source0": 0, "reuse0": 1, "last": 1, "destination": 1, "size": 6, "form": 5}),
    (0x440CC513, "B.IOT", {"source0": 0, "reuse0": 1, "source1": 17, "reuse1": 0, "last": 1, "destination": 2, "size": 9}),
    (0x0009E193, "B.IOT", {"form": 6, "last": 1, "destination": 3, "size": 3}),
    (0x02285413, "B.IOT", {"form": 5, "source0": 34, "reuse0": 1, "last": 1, "destination": 0, "size": 0}),
    (0xD0304813, "B.IOT", {"form": 4, "source0": 3, "reuse0": 0, "source1": 52, "reuse1": 1, "last": 0, "size": 0}),
    (0x19F01F23, "B.DATR", {"layout": 30, "data_type": 31, "pad": 3, "compare": 0, "rounding": 0, "saturate": 0}),
]
# fmt: on


def test_the_patterns_are_the_printed_ones():
    patterns = [(row.name, row.bits, match, mask) for row in WORDS for match, mask in row.patterns]
    assert sorted(patterns) == sorted(PRINTED)


@pytest.mark.parametrize("row", WORDS, ids=lambda row: row.name)
def test_fields_come_back(row):
    generator = random.Random(row.name)
    for _ in range(50):
        values = {
            field.name: generator.choice(field.allowed) if field.allowed else generator.getrandbits(field.width)
            for field in row.fields
        }
        form, fields = decode_word(encode_word(row.name, **values), row.bits)
        assert form is row
        assert fields == values


@pytest.mark.parametrize(("word", "name", "expected"), FOREIGN, ids=[f"{row[0]:#010x}" for row in FOREIGN])
def test_words_of_an_independent_assembler_decode_as_it_printed_them(word, name, expected):
    form, fields = decode_word(word)
    assert form.name == name
    assert {key: fields[key] for key in expected} == expected


def test_random_words_have_the_format_that_the_printed_summary_gives():
    generator = random.Random(1)
    for bits in (16, 32):
        for _ in range(20_000):
            word = generator.getrandbits(bits)
            if generator.random() < 0.5:
                row = generator.choice([row for row in PRINTED if row[1] == bits])
                word = word & ~row[3] | row[2]
            expected = {name for name, length, match, mask in PRINTED if length == bits and word & mask == match}
            found = decode_word(word, bits)
            assert expected == (set() if found is None else {found[0].name})


def test_overlapping_formats_are_refused():
    twin = WordFormat("TWIN", 32, 0x00000013, 0x0000707F)
    with pytest.raises(ValueError, match="word formats B.IOR and TWIN overlap at 0x13"):
        check_disjoint((word_format("B.IOR"), twin))
    check_disjoint((word_format("B.IOT"), twin))


def test_overlapping_fields_are_refused():
    with pytest.raises(ValueError, match="X: field b overlaps other bits"):
        WordFormat("X", 16, 0, 0x000F, (Field("a", ((4, 4),)), Field("b", ((7, 2),))))
    with pytest.raises(ValueError, match="match 0x10 has bits outside mask 0xf"):
        WordFormat("X", 16, 0x10, 0x000F)


def test_a_split_field_keeps_its_value():
    field = word_format("B.DIM").field("immediate")
    assert field.width == 17
    assert field.insert(0x1ABCD) == 0xBCD << 20 | 0x1A << 7
    assert field.extract(field.insert(0x1ABCD)) == 0x1ABCD


def test_a_value_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="field register must be 0 to 31, not 32"):
        encode_word("B.DIM", register=32)
    with pytest.raises(ValueError, match="B.DIM has no field 'colour'"):
        encode_word("B.DIM", colour=1)
    with pytest.raises(ValueError, match="B.DIM does not take {'loop': 3}"):
        encode_word("B.DIM", loop=3)
    with pytest.raises(ValueError, match="word format 'B.DIMM' is not one of BSTART.TEPL"):
        encode_word("B.DIMM")


def test_the_width_bit_tells_the_length():
    assert [word_bits(halfword) for halfword in (0x0000, 0x053C, 0x0001, 0x9181)] == [16, 16, 32, 32]


@pytest.mark.parametrize("bits", [16, 32])
def test_block_starts_are_those_that_the_manual_describes(bits):
    generator = random.Random(2)
    for _ in range(20_000):
        word = generator.getrandbits(bits) & generator.choice([0xFFFFFFFF, 0xFFFFF83F, 0xFFFFFF81, 0x0000707F])
        if bits == 32:
            expected = (word & 0x7F == 0x01 and word >> 12 & 7 != 0) or word & 0x7F in (0x11, 0x21)
        else:
            expected = (word & 0x3F == 0 and word >> 11 != 0) or word & 0xF in (2, 4)
        assert is_block_start(word, bits) == expected, hex(word)
