"""The decoder: every word and close rule, which of two rules wins, and what a good block says.

Each case is a program (assembled with every fault allowed, at 0x1000), the rule it must break, and the places, counted in
words, of the block and of the reported word; block ``None`` is "no block open".
"""

import pytest

from linxtile.asm import assemble
from linxtile.config import CoreConfig
from linxtile.decoder import Decoder
from linxtile.fetch import Word, WordStatus, split_words
from linxtile.isa.block import Block, HeaderFault, SetupBlock
from linxtile.isa.codes import Destination, Layout, PadValue, Queue, RoundingMode
from linxtile.isa.faults import NO_BLOCK_ADDRESS, RULES, Rule, Stage
from linxtile.isa.operations import OPERATIONS
from linxtile.isa.words import encode_word

BASE = 0x1000
EVERYTHING = CoreConfig(
    operations={row.name: frozenset(row.source_types or ()) for row in OPERATIONS},
    move_tiles=8,
    move_layouts=frozenset(layout.name for layout in Layout),
)


def decode(source, config=EVERYTHING, registers=None):
    """Return the words of a program and what the decoder makes of them."""
    program = assemble(source, address=BASE, allow_faults=True)
    words = list(split_words(program.image, BASE))
    return words, list(Decoder(config, [0] * 24 if registers is None else registers).run(words))


def datr(**fields):
    """Return a B.DATR line with raw fields."""
    return f".word {encode_word('B.DATR', **({'data_type': 31, 'pad': 3} | fields)):#x}"


def word(name, **fields):
    """Return a raw word as a line."""
    return f".word {encode_word(name, **fields):#x}"


TADD = "BSTART.TEPL TADD, FP32"
TILES = "B.IOT T#1, T#2, last, ->T<256B>"
WRITES = "\n".join(["ADDI zero, 1, ->a0"] * 32)
ACC = ["BSTART.CUBE TMATMUL, FP16", "B.IOT T#1, M#1, last"]

CASES = [
    # ILL_WORD: no format and no block start
    ("reserved 16-bit word", ".half 0xfffe", Rule.ILL_WORD, None, 0),
    ("reserved 32-bit word inside a block", f"{TADD}\n.word 0xffffffff", Rule.ILL_WORD, 0, 1),
    ("opcode 0x13 with Func 2", f"{TADD}\n.word 0x00002013", Rule.ILL_WORD, 0, 1),
    ("opcode 0x13 with Func 3", f"{TADD}\n.word 0x00003013", Rule.ILL_WORD, 0, 1),
    ("opcode 0x13 with Func 7", f"{TADD}\n.word 0x00007013", Rule.ILL_WORD, 0, 1),
    ("B.DIM with LoopNest 3", f"{TADD}\n.word 0x00003043", Rule.ILL_WORD, 0, 1),
    ("B.DATR with a fixed bit set", f"{TADD}\n.word 0x00041023", Rule.ILL_WORD, 0, 1),
    ("BSTOP with a fixed bit set is no BSTOP", f"{TADD}\n.word 0x00000081", Rule.ILL_WORD, 0, 1),
    ("16-bit word with only bits 10:6", ".half 0x0040", Rule.ILL_WORD, None, 0),
    # ILL_BLOCK_KIND
    ("BSTART.FIXP", ".word 0x00039181", Rule.ILL_BLOCK_KIND, 0, 0),
    ("BSTART.TMA with Mode 1", ".word 0x02011181", Rule.ILL_BLOCK_KIND, 0, 0),
    ("BSTART.CUBE with Mode 2", ".word 0x04031181", Rule.ILL_BLOCK_KIND, 0, 0),
    ("long-range scalar start", ".word 0x00000011", Rule.ILL_BLOCK_KIND, 0, 0),
    ("other long-range scalar start", ".word 0x00000021", Rule.ILL_BLOCK_KIND, 0, 0),
    ("compressed scalar start", ".half 0x0800", Rule.ILL_BLOCK_KIND, 0, 0),
    ("compressed branch start", ".half 0x0002", Rule.ILL_BLOCK_KIND, 0, 0),
    ("other compressed branch start", ".half 0x0004", Rule.ILL_BLOCK_KIND, 0, 0),
    ("scalar start of another branch type", ".word 0x00002001", Rule.ILL_BLOCK_KIND, 0, 0),
    # ILL_NO_BLOCK
    ("tile header before any block", "B.DIM zero, 1, ->LB0", Rule.ILL_NO_BLOCK, None, 0),
    (
        "tile header after BSTOP",
        f"{TADD}\nB.DIM zero, 8, ->LB0\n{TILES}\nBSTOP\nB.DATR Max",
        Rule.ILL_NO_BLOCK,
        None,
        4,
    ),
    ("tile header in a set-up block", "BSTART.STD FALL\nB.DIM zero, 1, ->LB0", Rule.ILL_NO_BLOCK, 0, 1),
    ("set-up word in a tile block", f"{TADD}\nADDI zero, 1, ->a0", Rule.ILL_NO_BLOCK, 0, 1),
    ("set-up word outside a block", "LUI 1, ->a0", Rule.ILL_NO_BLOCK, None, 0),
    ("B.TEXT in a tile block", f"{TADD}\nB.TEXT", Rule.ILL_NO_BLOCK, 0, 1),
    ("tile header in the empty block of TRACE", "B.HINT TRACE begin\nB.DATR Max", Rule.ILL_NO_BLOCK, 0, 1),
    # ILL_OP, ILL_TYPE, ILL_LAYOUT, ILL_DST_QUEUE at word stage
    ("reserved TEPL function", ".word 0x09c19181", Rule.ILL_OP, 0, 0),
    ("reserved TMA function", word("BSTART.TMA", function=3), Rule.ILL_OP, 0, 0),
    ("reserved CUBE function", word("BSTART.CUBE", function=3), Rule.ILL_OP, 0, 0),
    ("reserved type code in BSTART", word("BSTART.TEPL", data_type=15), Rule.ILL_TYPE, 0, 0),
    ("type not in the list", "BSTART.TEPL TAND, FP32", Rule.ILL_TYPE, 0, 0),
    ("no type where one is needed", "BSTART.TEPL TADD", Rule.ILL_TYPE, 0, 0),
    ("reserved type code for ESAVE", word("BSTART.TEPL", data_type=21, mode=3, function=30), Rule.ILL_TYPE, 0, 0),
    ("TLOAD of a six-bit type", "BSTART.TMA TLOAD, E3M2", Rule.ILL_TYPE, 0, 0),
    ("reserved type code in an ignored B.DATR field", f"{TADD}\n{datr(data_type=29)}", Rule.ILL_TYPE, 0, 1),
    ("reserved layout code in an ignored field", f"{TADD}\n{datr(layout=16)}", Rule.ILL_LAYOUT, 0, 1),
    ("stack destination", f"{TADD}\n{word('B.IOT', form=6, destination=5, size=4)}", Rule.ILL_DST_QUEUE, 0, 1),
    ("reserved destination", f"{TADD}\n{word('B.IOT', form=6, destination=6, size=4)}", Rule.ILL_DST_QUEUE, 0, 1),
    # ILL_LOOPNEST, ILL_GPR, ILL_DEP
    ("C.B.DIM with LoopNest 3", f"{TADD}\n.half {encode_word('C.B.DIM', loop=3):#x}", Rule.ILL_LOOPNEST, 0, 1),
    ("C.B.DIM with LoopNest 7", f"{TADD}\n.half {encode_word('C.B.DIM', loop=7):#x}", Rule.ILL_LOOPNEST, 0, 1),
    ("B.DIM of register 24", f"{TADD}\n{word('B.DIM', register=24)}", Rule.ILL_GPR, 0, 1),
    ("C.B.DIM of register 31", f"{TADD}\n.half {encode_word('C.B.DIM', register=31):#x}", Rule.ILL_GPR, 0, 1),
    ("B.IOR input 24", f"{TADD}\n{word('B.IOR', source2=24)}", Rule.ILL_GPR, 0, 1),
    ("B.IOR output 24", f"{TADD}\n{word('B.IOR', destination=24)}", Rule.ILL_GPR, 0, 1),
    ("set-up destination zero", "BSTART.STD FALL\n" + word("LUI", immediate=1), Rule.ILL_GPR, 0, 1),
    ("set-up destination 24", "BSTART.STD FALL\n" + word("ADDI", destination=24), Rule.ILL_GPR, 0, 1),
    ("set-up source 24", "BSTART.STD FALL\n" + word("SLLI", source=24, destination=2), Rule.ILL_GPR, 0, 1),
    ("token 9", f"{TADD}\n{word('B.IOD', source1=9)}", Rule.ILL_DEP, 0, 1),
    ("token destination 2", f"{TADD}\n{word('B.IOD', destination=2)}", Rule.ILL_DEP, 0, 1),
    # PARM_REPEAT, DOUBLESET, PARM_LAST, SETUP_LIMIT
    ("second B.DATR", f"{TADD}\nB.DATR Max\nB.DATR Max", Rule.PARM_REPEAT, 0, 2),
    ("second B.CATR", f"{TADD}\nB.CATR aq\nB.CATR rl", Rule.PARM_REPEAT, 0, 2),
    ("second B.IOD", f"{TADD}\nB.IOD D#1\nB.IOD D#2", Rule.PARM_REPEAT, 0, 2),
    ("second B.HINT", f"{TADD}\nB.HINT\nB.HINT", Rule.PARM_REPEAT, 0, 2),
    ("LB1 twice, in two forms", f"{TADD}\nB.DIM zero, 1, ->LB1\nC.B.DIMI 1, ->LB1", Rule.PARM_REPEAT, 0, 2),
    ("input twice in one word", f"{TADD}\nB.IOR a0, a0", Rule.DOUBLESET, 0, 1),
    ("input twice in two words", f"{TADD}\nB.IOR a0\nB.IOR a1, a0", Rule.DOUBLESET, 0, 2),
    ("output twice", f"{TADD}\nB.IOR ->a0\nB.IOR ->a0", Rule.DOUBLESET, 0, 2),
    ("B.IOT after the last one", f"{TADD}\n{TILES}\nB.IOT T#3", Rule.PARM_LAST, 0, 2),
    ("last B.IOT without L", f"{TADD}\nB.DIM zero, 1, ->LB0\nB.IOT T#1, T#2, ->T<256B>", Rule.PARM_LAST, 0, 0),
    ("33rd register write", f"BSTART.STD FALL\n{WRITES}\nLUI 1, ->a1", Rule.SETUP_LIMIT, 0, 33),
    # END_OF_STREAM
    ("end with a tile block open", f".nostop\n{TADD}\n{TILES}", Rule.END_OF_STREAM, 0, 1),
    ("end with a set-up block open", ".nostop\nBSTART.STD FALL", Rule.END_OF_STREAM, 0, 0),
    ("end with an empty block open", ".nostop\nB.HINT TRACE begin", Rule.END_OF_STREAM, 0, 0),
    ("end inside a word, no block open", ".nostop\nBSTOP\n.half 0x0001", Rule.END_OF_STREAM, None, 1),
    ("end inside a word of a block", f".nostop\n{TADD}\n.half 0x0001", Rule.END_OF_STREAM, 0, 1),
    # close stage
    ("second type not in the list", f"BSTART.TEPL THISTOGRAM, U16\nB.DATR S8, Byte0\n{TILES}", Rule.ILL_TYPE, 0, 1),
    ("second type missing, no B.DATR", f"BSTART.TEPL THISTOGRAM, U16\n{TILES}", Rule.ILL_TYPE, 0, 0),
    ("second type missing in B.DATR", f"BSTART.TEPL THISTOGRAM, U16\nB.DATR Byte0\n{TILES}", Rule.ILL_TYPE, 0, 1),
    ("classes mixed", "BSTART.CUBE TMATMUL, FP16\nB.DATR S8\nB.IOT T#1, M#1, last, ->ACC<1KB>", Rule.ILL_TYPE, 0, 1),
    (
        "TLOAD with a store layout",
        "BSTART.TMA TLOAD, U8\nB.DATR NZ2ND\nB.IOT last, ->T<1KB>\nB.IOR a0",
        Rule.ILL_LAYOUT,
        0,
        1,
    ),
    ("TADD to ACC", f"{TADD}\nB.IOT T#1, T#2, last, ->ACC<1KB>", Rule.ILL_DST_QUEUE, 0, 1),
    ("TSTORE to ACC", "BSTART.TMA TSTORE, U8\nB.IOT T#1, last, ->ACC<1KB>\nB.IOR a0", Rule.ILL_DST_QUEUE, 0, 1),
    ("TMATMUL to a queue", "BSTART.CUBE TMATMUL, FP16\nB.IOT T#1, M#1, last, ->T<1KB>", Rule.ILL_DST_QUEUE, 0, 1),
    ("too few sources", f"{TADD}\nB.IOT T#1, last, ->T<256B>", Rule.PARM_TILES, 0, 0),
    ("no B.IOT at all", f"{TADD}\nB.DIM zero, 8, ->LB0", Rule.PARM_TILES, 0, 0),
    ("too many sources", f"{TADD}\nB.IOT T#1, T#2\nB.IOT T#3, last, ->T<256B>", Rule.PARM_TILES, 0, 0),
    ("two destinations", f"{TADD}\nB.IOT T#1, T#2, ->T<256B>\nB.IOT last, ->T<256B>", Rule.PARM_TILES, 0, 0),
    ("no destination", f"{TADD}\nB.IOT T#1, T#2, last", Rule.PARM_TILES, 0, 0),
    (
        "nine loads",
        "BSTART.TMA TLOAD, U8\n" + "B.IOT ->T<256B>\n" * 8 + "B.IOT last, ->T<256B>\nB.IOR a0",
        Rule.PARM_TILES,
        0,
        0,
    ),
    ("TMATMUL without ACC", "\n".join(ACC), Rule.PARM_TILES, 0, 0),
    ("missing scalar", "BSTART.TEPL TADDS, U8\nB.IOT T#1, last, ->T<256B>", Rule.PARM_REGS, 0, 0),
    ("a scalar too many", f"{TADD}\n{TILES}\nB.IOR a0", Rule.PARM_REGS, 0, 0),
    ("three scalars of TLOAD", "BSTART.TMA TLOAD, U8\nB.IOT last, ->T<256B>\nB.IOR a0, a1, a2", Rule.PARM_REGS, 0, 0),
    ("an output register", f"{TADD}\n{TILES}\nB.IOR ->a0", Rule.PARM_REGS, 0, 0),
    ("CMode 6 of TCMP", f"BSTART.TEPL TCMP, U8\n{datr(compare=6)}\n{TILES}", Rule.ILL_CMODE, 0, 1),
    ("Byte2 of a 16-bit source", f"BSTART.TEPL THISTOGRAM, U16\nB.DATR U8, Byte2\n{TILES}", Rule.ILL_BYTEID, 0, 1),
    ("ESAVE", "BSTART.TEPL ESAVE\nB.IOT last, ->T<32KB>", Rule.UNSUPPORTED, 0, 0),
    ("LB1 of zero", f"{TADD}\nB.DIM zero, 0, ->LB1\n{TILES}", Rule.PARM_ZERO, 0, 0),
    ("LB0 of 65536", f"{TADD}\nB.DIM zero, 65536, ->LB0\n{TILES}", Rule.PARM_ZERO, 0, 0),
    ("LB2 of an empty register", f"{TADD}\nC.B.DIM a5, ->LB2\n{TILES}", Rule.PARM_ZERO, 0, 0),
    # which of two rules wins
    ("word format before block state", ".word 0xffffffff\nB.DATR", Rule.ILL_WORD, None, 0),
    ("reserved function before reserved type", word("BSTART.TMA", function=3, data_type=15), Rule.ILL_OP, 0, 0),
    ("type before layout", f"{TADD}\n{datr(data_type=15, layout=16)}", Rule.ILL_TYPE, 0, 1),
    ("layout before repetition", f"{TADD}\nB.DATR\n{datr(layout=16)}", Rule.ILL_LAYOUT, 0, 2),
    ("queue before L", f"{TADD}\n{TILES}\n{word('B.IOT', form=6, destination=5, size=4)}", Rule.ILL_DST_QUEUE, 0, 2),
    (
        "LoopNest before register",
        f"{TADD}\n.half {encode_word('C.B.DIM', loop=3, register=31):#x}",
        Rule.ILL_LOOPNEST,
        0,
        1,
    ),
    ("register before repetition", f"{TADD}\nB.DIM zero, 1, ->LB0\n{word('B.DIM', register=31)}", Rule.ILL_GPR, 0, 2),
    (
        "register code before double set",
        f"{TADD}\n{word('B.IOR', source0=2, source1=2, source2=31)}",
        Rule.ILL_GPR,
        0,
        1,
    ),
    ("token code before repetition", f"{TADD}\nB.IOD D#1\n{word('B.IOD', source0=9)}", Rule.ILL_DEP, 0, 2),
    ("register before the write limit", f"BSTART.STD FALL\n{WRITES}\n{word('LUI')}", Rule.ILL_GPR, 0, 33),
    ("a word fault before the end", f".nostop\n{TADD}\n{datr(layout=16)}", Rule.ILL_LAYOUT, 0, 1),
    ("close rules before the closing word", f"{TADD}\n.word 0x09c19181", Rule.PARM_TILES, 0, 0),
    ("L before the number of tiles", f"{TADD}\nB.IOT T#1", Rule.PARM_LAST, 0, 0),
    ("queue before L at the close", f"{TADD}\nB.IOT T#1, T#2, ->ACC<1KB>", Rule.ILL_DST_QUEUE, 0, 1),
    ("layout before queue", "BSTART.TMA TLOAD, U8\nB.DATR NZ2ND\nB.IOT last, ->ACC<1KB>", Rule.ILL_LAYOUT, 0, 1),
    ("tiles before registers", "BSTART.TEPL TADDS, U8\nB.IOT T#1, T#2, last, ->T<256B>", Rule.PARM_TILES, 0, 0),
    ("registers before CMode", f"BSTART.TEPL TCMP, U8\n{datr(compare=7)}\n{TILES}\nB.IOR a0", Rule.PARM_REGS, 0, 0),
    (
        "CMode before zero",
        f"BSTART.TEPL TCMP, U8\n{datr(compare=7)}\n{TILES}\nB.DIM zero, 0, ->LB0",
        Rule.ILL_CMODE,
        0,
        1,
    ),
]


@pytest.mark.parametrize(
    ("source", "rule", "block", "reported"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_a_bad_header_breaks_its_rule(source, rule, block, reported):
    words, items = decode(source)
    assert items, "the program decoded to nothing"
    address = NO_BLOCK_ADDRESS if block is None else words[block].address
    assert items[-1] == HeaderFault(rule, address, words[reported].address)


def test_every_word_and_close_rule_has_a_case():
    tested = {case[2] for case in CASES} | {Rule.FETCH}
    assert tested == {row.rule for row in RULES if row.stage in (Stage.WORD, Stage.CLOSE)}


@pytest.mark.parametrize("start", [".word 0x00039181", ".word 0x09c19181", "BSTART.TEPL TAND, FP32", ".half 0x0002"])
def test_a_rejected_block_start_lets_the_block_before_it_run(start):
    words, items = decode(f"TADD <8, FP32>, T#1, T#2, ->T<256B>\n{start}\n.word 0xffffffff")
    assert isinstance(items[0], Block)
    assert items[1].block_address == items[1].word_address == words[3].address
    assert len(items) == 2


def test_a_word_fault_discards_the_open_block():
    _, items = decode("TADD <8, FP32>, T#1, T#2, ->T<256B>\n.word 0xffffffff")
    assert [type(item) for item in items] == [HeaderFault]


@pytest.mark.parametrize("ending", ["BSTOP", "C.BSTOP", "B.HINT TRACE end\nBSTOP", "BSTART.STD FALL\nBSTOP"])
def test_every_closing_word_closes_the_block(ending):
    _, items = decode(f"TADD <8, FP32>, T#1, T#2, ->T<256B>\n{ending}")
    assert isinstance(items[0], Block)
    assert not any(isinstance(item, HeaderFault) for item in items)


def test_stops_without_a_block_and_empty_blocks_do_nothing():
    assert decode("BSTOP\nC.BSTOP\nB.HINT TRACE begin\nB.HINT TRACE end\nBSTOP")[1] == []


def test_a_refused_word_is_a_fetch_fault_of_the_open_block():
    words, _ = decode("TADD <8, FP32>, T#1, T#2, ->T<256B>")
    bad = Word(0, 32, words[2].address, status=WordStatus.BUS_ERROR)
    assert list(Decoder(EVERYTHING, [0] * 24).run([words[0], bad])) == [HeaderFault(Rule.FETCH, BASE, bad.address)]
    assert list(Decoder(EVERYTHING, [0] * 24).run([bad])) == [HeaderFault(Rule.FETCH, NO_BLOCK_ADDRESS, bad.address)]


def test_the_configuration_decides_what_is_unsupported():
    config = CoreConfig(
        operations={"TADD": frozenset({"FP32"}), "TLOAD": frozenset({"U8"})},
        move_layouts=frozenset({"NORM"}),
        move_tiles=1,
    )
    load = "TLOAD.{} <8, U8>, [a0], ->{}\nBSTOP"
    assert isinstance(decode("TADD <8, FP32>, T#1, T#2, ->T<256B>", config)[1][0], Block)
    assert isinstance(decode(load.format("NORM", "T<256B>"), config)[1][0], Block)
    for source in (
        "TADD <8, FP16>, T#1, T#2, ->T<256B>",
        "TSUB <8, FP32>, T#1, T#2, ->T<256B>",
        load.format("DN2NZ", "T<256B>"),
        load.format("NORM", "T<256B>, T<256B>"),
    ):
        assert decode(source, config)[1][0].rule is Rule.UNSUPPORTED


def test_unsupported_comes_after_cmode_and_before_zero():
    nothing = CoreConfig(operations={})
    zero = "B.DIM zero, 0, ->LB0"
    assert decode(f"BSTART.TEPL TCMP, U8\n{datr(compare=7)}\n{TILES}", nothing)[1][0].rule is Rule.ILL_CMODE
    assert decode(f"{TADD}\n{zero}\n{TILES}", nothing)[1][0].rule is Rule.UNSUPPORTED


def test_a_block_says_what_its_header_says():
    registers = [0] * 24
    registers[2], registers[3] = 0x1_0007, (1 << 64) - 3
    _, items = decode(
        "TLOAD.ND2NZ <LB0:100, LB1:a0, LB2:a1+120, FP16, Max>, [a1, a0], D#3, D#1, ->U<512B>, N<1KB>, D\nB.CATR aq, trap",
        registers=registers,
    )
    (block,) = items
    assert block.operation.name == "TLOAD"
    assert block.data_type.name == "FP16"
    assert block.second_type is None
    assert (block.layout, block.pad) == (Layout.ND2NZ, PadValue.MAX)
    assert (block.valid_columns, block.valid_rows, block.columns) == (100, 7, 117)
    assert block.lb_present == (True, True, True)
    assert block.scalars == ((1 << 64) - 3, 0x1_0007)
    assert block.scalar_registers == (3, 2)
    assert block.sources == ()
    targets = [(target.destination, target.size_bytes, target.word_address - BASE) for target in block.destinations]
    assert targets == [(Destination.U, 512, 20), (Destination.N, 1024, 24)]
    assert block.dependency_sources == (3, 1)
    assert block.dependency_destination
    assert (block.attributes.acquire, block.attributes.trap, block.attributes.release) == (True, True, False)


def test_sources_keep_header_order_and_reuse():
    _, items = decode("TSEL <40, 32, 48, FP16>, T#1, T#2.reuse, U#16, ->T<4KB>")
    names = [(source.queue, source.index, source.reuse, source.word_address - BASE) for source in items[0].sources]
    assert names == [(Queue.T, 1, False, 16), (Queue.T, 2, True, 16), (Queue.U, 16, False, 20)]


def test_absent_fields_have_their_defaults():
    (block,) = decode("TADD <9, FP32>, T#1, T#2, ->T<256B>")[1]
    assert (block.valid_columns, block.valid_rows, block.columns) == (9, 1, 9)
    assert block.lb_present == (True, False, False)
    assert (block.layout, block.pad, block.rounding) == (Layout.NORM, PadValue.NULL, RoundingMode.NONE)
    assert (block.saturate, block.canonical, block.compare) == (False, False, 0)
    (product,) = decode("TMATMUL <16, 16, FP16>, T#1, M#1, ->ACC<1KB>")[1]
    assert product.lb == (16, 16, 1)
    assert product.second_type.name == "FP16"


def test_a_histogram_has_a_byte_id_and_no_pad():
    (block,) = decode("THISTOGRAM <64, 4, U32, U16, Byte1>, T#3, U#1, ->T<4KB>")[1]
    assert (block.byte_id, block.pad, block.second_type.name) == (1, PadValue.NULL, "U16")


def test_register_zero_in_the_middle_of_b_ior_is_skipped():
    registers = list(range(24))
    (block,) = decode(
        f"BSTART.TMA TLOAD, U8\nB.IOT last, ->T<256B>\n{word('B.IOR', source1=4, source2=7)}", registers=registers
    )[1]
    assert block.scalars == (4, 7)


def test_a_setup_block_writes_registers_that_later_blocks_see():
    registers = [0] * 24
    _, items = decode(
        "li a0, 0x123456789abcdef0\nli a1, 5\nTADD <LB0:a1, FP32>, T#1, T#2, ->T<256B>", registers=registers
    )
    setup, block = items
    assert isinstance(setup, SetupBlock)
    assert setup.address == BASE
    assert setup.writes[-1] == (3, 5)
    assert registers[2] == 0x123456789ABCDEF0
    assert block.valid_columns == 5


def test_a_faulty_setup_block_writes_nothing():
    registers = [0] * 24
    assert decode("BSTART.STD FALL\nADDI zero, 7, ->a0\nB.DATR", registers=registers)[1][-1].rule is Rule.ILL_NO_BLOCK
    assert registers == [0] * 24


def test_setup_words_see_the_registers_from_before_and_each_other():
    registers = [0] * 24
    registers[5] = (1 << 64) - 1
    decode(
        "BSTART.STD FALL\nADDI a3, 0x2, ->a0\nSLLI a0, 63, ->a1\nLUI 0x80000, ->a2\nADDI a3, 0x0, ->a3",
        registers=registers,
    )
    assert registers[2:6] == [1, 1 << 63, 0xFFFF_FFFF_8000_0000, (1 << 64) - 1]


def test_32_writes_fit_one_setup_block():
    _, items = decode(f"BSTART.STD FALL\n{WRITES}\nBSTOP")
    assert len(items[0].writes) == 32
