"""The language around the blocks: symbols, constants, directives, comments, and every complaint in full."""

import random

import pytest

from linxtile.asm import AssemblyErrors, assemble
from linxtile.asm_check import check
from linxtile.asm_program import hex_text, listing
from linxtile.config import CoreConfig
from linxtile.decoder import Decoder
from linxtile.isa.codes import REGISTER_NUMBERS


def words(source, **options):
    return [word.value for word in assemble(source, allow_faults=True, **options).words]


def complaints(source, **options):
    with pytest.raises(AssemblyErrors) as caught:
        assemble(source, file="add.s", **options)
    return [str(error) for error in caught.value.errors]


def registers_after(source):
    registers = [0] * 24
    program = assemble(source)
    list(Decoder(CoreConfig(), registers).run(program.words))
    return registers


SAME = {
    "positional dimensions": ("TADD <8, a0, a1+2, FP32>, T#1, T#2, ->T<256B>", "TADD <LB0:8, LB1:a0, LB2:a1+2, FP32>, T#1, T#2, ->T<256B>"),
    "a position after a named one": ("TADD <LB1:3, 8, FP32>, T#1, T#2, ->T<256B>", "TADD <LB1:3, LB2:8, FP32>, T#1, T#2, ->T<256B>"),
    "letter case": ("tadd <lb0:8, fp32, zero>, t#1, t#2.REUSE, ->t<256b>", "TADD <LB0:8, FP32, Zero>, T#1, T#2.reuse, ->T<256B>"),
    "comments and blanks": ("  TNOT<8,U8>,T#1,->T<256B> ; a # b\n# whole line\n// another", "TNOT <8, U8>, T#1, ->T<256B>"),
    "explicit defaults": ("TCMP.EQ <8, U8, Null>, T#1, T#2, ->M<256B>", "TCMP <8, U8>, T#1, T#2, ->M<256B>"),
    "a layout in front": ("TMOV ND2NZ, <8, U8>, T#1, ->T<256B>", "TMOV.ND2NZ <8, U8>, T#1, ->T<256B>"),
    "an alias": ("SELS <8, U8>, T#1, T#2, [a0], ->T<256B>", "TSELS <8, U8>, T#1, T#2, [a0], ->T<256B>"),
    "register numbers": ("TADDS <r2, U8>, T#1, [r11], ->T<256B>", "TADDS <a0, U8>, T#1, [fp], ->T<256B>"),
    "a symbol as dimension": (".equ N, 0x10\nTNOT <N, a0+N, U8>, T#1, ->T<256B>", "TNOT <16, a0+16, U8>, T#1, ->T<256B>"),
    "register zero by its LB name": ("TNOT <LB0:zero+5, U8>, T#1, ->T<256B>", "TNOT <5, U8>, T#1, ->T<256B>"),
    "sums": (".equ N, 1 + 0b11 - -2\n.equ M, N+N\nTNOT <M, U8>, T#1, ->T<256B>", "TNOT <12, U8>, T#1, ->T<256B>"),
    "an explicit BSTOP at the end": ("TNOT <8, U8>, T#1, ->T<256B>\nBSTOP", "TNOT <8, U8>, T#1, ->T<256B>"),
}  # fmt: skip


@pytest.mark.parametrize(("first", "second"), SAME.values(), ids=SAME)
def test_two_ways_to_write_the_same(first, second):
    assert words(first) == words(second)


def test_header_words_after_a_line_extend_its_block():
    program = words("TNOT <8, U8>, T#1, ->T<256B>\nB.CATR aq")
    assert program == [*words("TNOT <8, U8>, T#1, ->T<256B>")[:-1], *words("B.CATR aq")]


def test_consecutive_constants_share_a_block_up_to_the_limit():
    names = [name for name in REGISTER_NUMBERS if name.startswith(("a", "s")) and name != "sp"]
    source = "\n".join(f"li {names[place % len(names)]}, {0x12345 + place}" for place in range(17))
    starts = [place for place, word in enumerate(words(source)) if word == 0x1001]
    assert starts == [0, 33]


def test_other_lines_end_the_shared_block():
    source = "li a0, 1\nli a1, 2\nTNOT <8, U8>, T#1, ->T<256B>\nli a0, 3\n.equ X, 1\nli a1, X\n\n; comment\nli a2, 4"
    assert words(source).count(0x1001) == 2


def test_constants_of_any_form():
    registers = registers_after(
        "li a0, 0x8000_1230\nli a1, -1\nli a2, 0b1010\nli a3, 1_000_000\nli a4, 18446744073709551615\n.equ E, 7\nli a5, E+1"
    )
    assert registers[2:8] == [0x80001230, (1 << 64) - 1, 10, 1_000_000, (1 << 64) - 1, 8]


def test_labels_have_addresses_before_and_after_their_line():
    registers = registers_after("first: li a0, second\nli a1, first\nBSTOP\nsecond: BSTOP")
    assert registers[3] == 0
    program = assemble("li a0, second\nli a1, first\nfirst: BSTOP\nsecond: BSTOP", address=0x12340)
    addresses = {name: program.symbols[name] for name in ("first", "second")}
    assert addresses["second"] == addresses["first"] + 4
    last = [word.address for word in program.words][-2:]
    assert last == [addresses["first"], addresses["second"]]


def test_raw_words_and_halfwords():
    program = assemble(".word 0x19181, 1\n.half 0, 0xfffe\n.nostop", allow_faults=True)
    assert [(word.value, word.bits) for word in program.words] == [(0x19181, 32), (1, 32), (0, 16), (0xFFFE, 16)]


def test_compression_is_used_where_it_fits():
    source = (
        ".compress on\nTNOT <LB0:255, LB1:a0, LB2:256, U8>, T#1, ->T<256B>\n.compress off\nTNOT <8, U8>, T#1, ->T<256B>"
    )
    assert [word.bits for word in assemble(source, allow_faults=True).words] == [32, 16, 16, 32, 32, 32, 32, 32, 32]


def test_the_empty_program_is_a_stop():
    assert words("") == [1]
    assert words(".nostop") == []


def test_the_listing_shows_address_words_and_source():
    program = assemble("start:\nTNOT <8, U8>, T#1, ->T<256B> ; invert\nC.BSTOP", address=0x100)
    assert listing(program) == (
        "                    start:\n"
        "00000100  d9019181  TNOT <8, U8>, T#1, ->T<256B> ; invert\n"
        "00000104  00800043\n"
        "00000108  000a5013\n"
        "0000010c  0000      C.BSTOP\n"
    )
    assert hex_text(program) == "d9019181\n00800043\n000a5013\n0000\n"


ERRORS = {
    "unknown mnemonic": ("  TFOO <8>", "1:3: 'TFOO' is no operation, header word or directive"),
    "unknown directive": (".data", "1:1: directive must be .equ, .word, .half, .compress or .nostop, not .data"),
    "stray character": ("TNOT <8, U8>, T#1 @", "1:19: nothing in the syntax starts with '@'"),
    "unknown type": ("TNOT <8, FP33>, T#1, ->T<256B>", "1:10: expected a dimension, a data type or an attribute, not 'FP33'"),
    "suffix": ("TNOT.NZ2ND <8, U8>, T#1, ->T<256B>", "1:1: TNOT has no suffix .NZ2ND"),
    "layout": (
        "TSTORE.ND2NX <8, U8>, T#1, [a0]",
        "1:1: TSTORE has no suffix .ND2NX, but NORM, ZN2ND, ZN2DN, NZ2ND, NZ2DN",
    ),
    "two types": ("TNOT <8, U8, S8>, T#1, ->T<256B>", "1:14: TNOT takes 1 data type, not 2"),
    "attribute twice": ("TNOT <8, U8, Max, Min>, T#1, ->T<256B>", "1:19: pad is given twice: 'Min'"),
    "dimension twice": ("TNOT <8, LB0:8, U8>, T#1, ->T<256B>", "1:10: LB0 is given twice"),
    "four dimensions": ("TNOT <1, 1, 1, 1, U8>, T#1, ->T<256B>", "1:16: a block has three dimensions, LB0 to LB2, not more"),
    "large dimension": ("TNOT <131072, U8>, T#1, ->T<256B>", "1:7: dimension must be 0 to 131071, not 131072"),
    "open parameters": ("TNOT <8, U8", "1:12: expected ',' or '>', not 'the end of the line'"),
    "queue": ("TNOT <8, U8>, X#1, ->T<256B>", "1:15: tile queue must be T, U, M or N, not 'X'"),
    "index": ("TNOT <8, U8>, T#17, ->T<256B>", "1:15: tile index must be 1 to 16, not 17"),
    "tile suffix": ("TNOT <8, U8>, T#1.keep, ->T<256B>", "1:15: the only suffix of a tile is .reuse, not .keep"),
    "token": ("TNOT <8, U8>, T#1, D#9, ->T<256B>", "1:20: dependency token must be D#1 to D#8, not D#9"),
    "four tokens": ("TNOT <8, U8>, T#1, D#1, D#1, D#1, D#1, ->T<256B>", "1:35: a block waits for at most 3 tokens, not more"),
    "destination": ("TNOT <8, U8>, T#1, ->Q<256B>", "1:22: destination must be T, U, M, N or ACC, not 'Q'"),
    "size": ("TNOT <8, U8>, T#1, ->T<300B>", "1:24: tile size must be a power of two from 32B to 512KB, not 300B"),
    "size zero": ("TNOT <8, U8>, T#1, ->T<0B>", "1:24: tile size must be a power of two from 32B to 512KB, not 0B"),
    "size form": ("TNOT <8, U8>, T#1, ->T<256>", "1:24: destination size must be written as 256B or 2KB, not '256'"),
    "size in a register": ("TNOT <8, U8>, T#1, ->T<a1>", "1:24: destination size must be written out, for it cannot be a register: 'a1'"),
    "register": ("TADDS <8, U8>, T#1, [q0], ->T<256B>", "1:22: expected a register (zero, sp, a0 to a7, ra, s0 to s8, x0 to x3), not 'q0'"),
    "ACC": ("TNOT <8, U8>, ACC, ->T<256B>", "1:15: TNOT does not read ACC"),
    "operand": ("TNOT <8, U8>, 5, ->T<256B>", "1:15: expected a tile (T#1), registers ([a0]), a token (D#1) or '->', not '5'"),
    "rest of the line": ("BSTOP now", "1:7: nothing may follow here, but there is 'now'"),
    "li of zero": ("li zero, 1", "1:4: li cannot write the register zero"),
    "li too large": ("li a0, 0x1_0000_0000_0000_0000", "1:8: constant must be -9223372036854775808 to 18446744073709551615, not 18446744073709551616"),
    "unknown symbol": ("li a0, nowhere", "1:8: expected a number or a symbol, not 'nowhere'"),
    "symbol twice": (".equ N, 1\n.equ N, 2", "2:6: symbol N is defined twice"),
    "symbol named like a register": (".equ a0, 1", "1:6: symbol must not have the name of a register, a0"),
    "raw word": (".word 0x100000000", "1:7: .word value must be 0 to 4294967295, not 4294967296"),
    "compress": (".compress maybe", "1:11: .compress must be on or off, not 'maybe'"),
    "wrong engine": ("BSTART.TMA TADD, U8", "1:12: 'TADD' is no TMA operation"),
    "B.DIM number": ("B.DIM zero, 131072, ->LB0", "1:13: immediate must be 0 to 131071, not 131072"),
    "B.DIM target": ("B.DIM zero, 1, ->LB3", "1:18: expected LB0, LB1 or LB2, not 'LB3'"),
    "C.B.DIMI number": ("C.B.DIMI 256, ->LB0", "1:10: immediate must be 0 to 255, not 256"),
    "three sources": ("B.IOT T#1, T#2, T#3", "1:17: B.IOT takes at most two sources"),
    "control word": ("B.CATR now", "1:8: expected one of trap, far, atom, aq, rl, DR, not 'now'"),
    "shift": ("SLLI a0, 64, ->a0", "1:10: shift must be 0 to 63, not 64"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "complaint"), ERRORS.values(), ids=ERRORS)
def test_a_syntax_error_names_place_operand_and_rule(source, complaint):
    assert complaints(source) == [f"add.s:{complaint}"]


ILLEGAL = {
    "tiles": ("TADD <8, U8>, T#1, ->T<256B>", "1:1: TADD takes 2 source tiles and 1 destination tile (PARM_TILES)"),
    "registers": ("TADDS <8, U8>, T#1, ->T<256B>", "1:1: TADDS takes 1 register (PARM_REGS)"),
    "load without a base": ("TLOAD.NORM <8, U8>, ->T<256B>", "1:1: TLOAD takes 1 to 2 registers (PARM_REGS)"),
    "columns": ("TNOT <LB0:8, LB2:7, U8>, T#1, ->T<256B>", "1:1: TNOT: ValidCol must not exceed Col, 7, not 8 (PARM_VALID_COL)"),
    "zero": ("TNOT <0, U8>, T#1, ->T<256B>", "1:1: TNOT: a used LB is set to 0 (PARM_ZERO)"),
    "reserved function": (".word 0x09c19181", "1:1: reserved Mode/Function; the open block closes and executes first (ILL_OP)"),
    "register twice": ("TLOAD.NORM <8, U8>, [a0, a0], ->T<256B>", "1:1: TLOAD: register already among the block's inputs (or outputs) (DOUBLESET)"),
    "no block": ("\n  B.DATR Max", "2:3: B.* with no tile block open, a tile header word inside a set-up block, LUI/ADDI/SLLI outside one, B.TEXT in a tile block (ILL_NO_BLOCK)"),
    "open at the end": (".nostop\nBSTART.STD FALL", "2:1: stream ends with a block open, or inside a 32-bit word (END_OF_STREAM)"),
}  # fmt: skip


@pytest.mark.parametrize(("source", "complaint"), ILLEGAL.values(), ids=ILLEGAL)
def test_an_illegal_block_is_an_error_unless_faults_are_allowed(source, complaint):
    assert complaints(source) == [f"add.s:{complaint}"]
    assemble(source, allow_faults=True)


def test_errors_go_on_to_the_next_line():
    source = "TNOT <8, U8>, T#0, ->T<256B>\nTADD <8, U8>, T#1, ->T<256B>\nBSTOP x\nTNOT <8, U8>, T#1, ->T<256B>"
    assert [text.split(":")[1] for text in complaints(source)] == ["1", "2", "3"]


def test_a_dimension_in_a_register_is_not_blamed():
    assemble("TNOT <LB0:a0, LB1:a1+65535, LB2:a2, U8>, T#1, ->T<256B>")
    assert list(check(assemble("TNOT <a0+65534, U8>, T#1, ->T<256B>").words)) == []


def test_faulty_blocks_do_not_hide_each_other():
    assert len(complaints("TADD <8, U8>, T#1, ->T<256B>\nTNOT <0, U8>, T#1, ->T<256B>\nTNOT <8, U8>, ->T<256B>")) == 3


def test_an_odd_address_is_refused():
    with pytest.raises(ValueError, match="program address must be even and of 64 bits, not 0x3"):
        assemble("BSTOP", address=3)


PIECES = "TADD TLOAD.ND2NZ ACCCVT B.IOT B.DATR B.DIM B.IOR B.IOD B.HINT B.CATR TRACE li .equ .word .compress BSTART.TEPL < > [ ] , : -> - + ".split() + [
    "T#1", "T#17", "D#1", "D#x", "U#3.reuse", "LB0", "LB3", "a0", "zero", "Zero", "FP16", "NZ2ND.canon", "2KB", "0B", "0x", "12", "0b2", "N", "\n", ";", "#", "é", "١", "last", "ACC", "D", "1_", "0x1_0000_0000_0000_0000",
]  # fmt: skip


def test_random_source_is_assembled_or_refused_line_by_line():
    generator = random.Random(5)
    refused = 0
    for _ in range(3000):
        source = " ".join(generator.choices(PIECES, k=generator.randint(1, 15)))
        try:
            assemble(source, allow_faults=generator.random() < 0.5)
        except AssemblyErrors as errors:
            refused += 1
            assert all(error.line <= source.count("\n") + 1 for error in errors.errors)
    assert 1000 < refused < 3000


@pytest.mark.parametrize(
    "line",
    [
        ".word 0x{digits}",
        ".word {digits}",
        "li a0, {digits}",
        "TADD <{digits}, FP16>, T#1, T#2, ->T<256B>",
        "TADD <8, FP16>, T#{digits}, T#2, ->T<256B>",
        "TADD <8, FP16>, T#1, T#2, ->T<{digits}KB>",
        "TLOAD.NORM <8, FP16>, [a0], D#{digits}, ->T<256B>",
    ],
)
def test_a_number_of_five_thousand_digits_is_an_error_of_its_line(line):
    with pytest.raises(AssemblyErrors) as refused:
        assemble(f"BSTOP\n{line.format(digits='9' * 5000)}\n")
    assert [error.line for error in refused.value.errors] == [2]
    assert "may have 100 characters, not 50" in str(refused.value)
