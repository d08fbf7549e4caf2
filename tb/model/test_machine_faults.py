"""Every fault rule that these operations reach, with an older store done and younger blocks that must not happen."""

import pytest

from linxtile import Machine
from linxtile.asm import assemble
from linxtile.config import PRESETS
from linxtile.isa.codes import REGISTER_NUMBERS
from linxtile.isa.faults import NO_BLOCK_ADDRESS, RULES, Rule
from linxtile.isa.words import encode_word

BASE = 0x4000
BEFORE = """
    li a0, 0x50000
    li a1, 0x51001
    li a2, 0x52001
    li a3, 0
    li a4, 0x60FD0
    TLOAD.NORM <8, 8, FP32>, [a0], ->T<256B>
    TEXPANDS <8, 1, FP32>, [a0], ->U<256B>
    TSTORE.NORM <3, 2, 8, FP32>, T#1.reuse, [a1]
"""
AFTER = """
    li s1, 0xDEAD
    TLOAD.NORM <8, 8, FP32>, [a0], ->N<256B>
    TSTORE.NORM <3, 2, 8, FP32>, N#1, [a2]
"""
COMMITTED = 4

TEPL = "BSTART.TEPL TADD, FP32"
# fmt: off
CASES = {
    # Words. ``bad`` is the block that the record names, ``at`` the word; without ``bad`` it is the word's own block.
    "word of no format": (Rule.ILL_WORD, f"bad: {TEPL}\n at: .word 0x00002013"),
    "word of no format outside a block": (Rule.ILL_WORD, "BSTOP\n at: .word 0x00007013"),
    "second row of B.IOD fixed bits": (Rule.ILL_WORD, f"bad: {TEPL}\n at: .word 0x02001013"),
    "block start of the vector engine": (Rule.ILL_BLOCK_KIND, "bad: at: .word 0x00021181"),
    "compressed block start": (Rule.ILL_BLOCK_KIND, "bad: at: .half 0x0800"),
    "mode bits in a move block": (Rule.ILL_BLOCK_KIND, "bad: at: .word 0x0A011181"),
    "header word without a block": (Rule.ILL_NO_BLOCK, "BSTOP\n at: B.DIM zero, 3, ->LB0"),
    "header word in a set-up block": (Rule.ILL_NO_BLOCK, "bad: BSTART.STD FALL\n at: B.DIM zero, 3, ->LB0"),
    "set-up word in a tile block": (Rule.ILL_NO_BLOCK, f"bad: {TEPL}\n at: ADDI zero, 3, ->a0"),
    "B.TEXT in a tile block": (Rule.ILL_NO_BLOCK, f"bad: {TEPL}\n at: .word 0x00000003"),
    "header word in an empty block": (Rule.ILL_NO_BLOCK, "bad: B.HINT TRACE begin\n at: B.DIM zero, 3, ->LB0"),
    "reserved function": (Rule.ILL_OP, "bad: at: .word 0x09C19181"),
    "reserved type in BSTART": (Rule.ILL_TYPE, "bad: at: .word 0x78019181"),
    "type outside the operation's list": (Rule.ILL_TYPE, "bad: at: .word 0x48019181"),
    "no type where one is needed": (Rule.ILL_TYPE, "bad: at: .word 0xF8019181"),
    "reserved type in B.DATR": (Rule.ILL_TYPE, f"bad: {TEPL}\n at: .word 0x18F01023"),
    "reserved layout": (Rule.ILL_LAYOUT, f"bad: {TEPL}\n at: .word 0x19F01823"),
    "layout that no load has": (Rule.ILL_LAYOUT, "bad: BSTART.TMA TLOAD, FP32\n at: B.DATR NZ2ND, Null\n"
                                "B.IOT last, ->T<256B>\n B.IOR a0"),
    "stack destination": (Rule.ILL_DST_QUEUE, f"bad: {TEPL}\n at: .word 0x000A6293"),
    "ACC destination of a TEPL block": (Rule.ILL_DST_QUEUE, f"bad: {TEPL}\n at: B.IOT T#1, T#1, last, ->ACC<256B>"),
    "ACC destination of a load": (Rule.ILL_DST_QUEUE, "bad: BSTART.TMA TLOAD, FP32\n at: B.IOT last, ->ACC<256B>"),
    "compressed dimension of a fourth loop": (Rule.ILL_LOOPNEST, f"bad: {TEPL}\n at: .half 0xD8FC"),
    "register 24 in a dimension": (Rule.ILL_GPR, f"bad: {TEPL}\n at: .word 0x000C0043"),
    "register 31 in B.IOR": (Rule.ILL_GPR, f"bad: {TEPL}\n at: .word 0xF8000013"),
    "register zero written by a set-up block": (Rule.ILL_GPR, "bad: BSTART.STD FALL\n at: .word 0x00300015"),
    "token name 9": (Rule.ILL_DEP, f"bad: {TEPL}\n at: .word 0x00049013"),
    "token destination 2": (Rule.ILL_DEP, f"bad: {TEPL}\n at: .word 0x00001113"),
    "second B.DATR": (Rule.PARM_REPEAT, f"bad: {TEPL}\n B.DATR Max\n at: B.DATR Max"),
    "second LB1": (Rule.PARM_REPEAT, f"bad: {TEPL}\n B.DIM zero, 3, ->LB1\n at: C.B.DIMI 4, ->LB1"),
    "register named twice": (Rule.DOUBLESET, f"bad: {TEPL}\n B.IOR a0\n at: B.IOR a1, a0"),
    "B.IOT after the last": (Rule.PARM_LAST, f"bad: {TEPL}\n B.IOT T#1, last\n at: B.IOT last, ->T<256B>"),
    "no B.IOT is the last": (Rule.PARM_LAST, f"bad: at: {TEPL}\n B.IOT T#1, T#1, ->T<256B>"),
    "33 register writes": (Rule.SETUP_LIMIT, "bad: BSTART.STD FALL\n" + 32 * "ADDI a5, 1, ->a5\n" + "at: ADDI a5, 1, ->a5"),
    # The whole block.
    "one source for two": (Rule.PARM_TILES, "bad: at: TADD <8, FP32>, T#1, ->T<256B>"),
    "no destination": (Rule.PARM_TILES, "bad: at: TADD <8, FP32>, T#1, T#1"),
    "missing scalar": (Rule.PARM_REGS, "bad: at: BSTART.TEPL TADDS, FP32\n B.IOT T#1, last, ->T<256B>"),
    "missing base": (Rule.PARM_REGS, "bad: at: BSTART.TMA TLOAD, FP32\n B.IOT last, ->T<256B>"),
    "too many scalars": (Rule.PARM_REGS, f"bad: at: {TEPL}\n B.IOT T#1, T#1, last, ->T<256B>\n B.IOR a0"),
    "compare mode 7": (Rule.ILL_CMODE, "bad: BSTART.TEPL TCMP, FP32\n at: .word 0xF9F01023\n B.IOT T#1, T#1, last, ->T<256B>"),
    "byte 3 of a 16-bit histogram": (Rule.ILL_BYTEID, "bad: BSTART.TEPL THISTOGRAM, U16\n at: .word 0x19901023\n"
                                     "B.IOT T#1, T#1, last, ->T<1KB>"),
    "operation left out": (Rule.UNSUPPORTED, "bad: at: TMUL <8, FP32>, T#1, T#1, ->T<256B>"),
    "type left out": (Rule.UNSUPPORTED, "bad: at: TADD <8, BF16>, T#1, T#1, ->T<256B>"),
    "layout left out": (Rule.UNSUPPORTED, "bad: at: TLOAD.DN2NZ <8, 8, FP32>, [a0], ->T<256B>"),
    "two tiles left out": (Rule.UNSUPPORTED, "bad: at: TLOAD.NORM <8, 8, FP32>, [a0], ->T<256B>, T<256B>"),
    "gather in the reference": (Rule.UNSUPPORTED, "bad: at: MGATHER <8, FP32>, T#1, [a0], ->T<256B>"),
    "saved state in the reference": (Rule.UNSUPPORTED, "bad: at: ESAVE ->T<32KB>"),
    "scaled product in the reference": (Rule.UNSUPPORTED, "bad: at: TMATMULMX <16, 16, 64, E4M3>, T#1, T#1, T#1, T#1, ->ACC<1KB>"),
    "rows of zero": (Rule.PARM_ZERO, "bad: at: TADD <8, a3, FP32>, T#1, T#1, ->T<256B>"),
    "columns of 65536": (Rule.PARM_ZERO, "bad: at: TADD <8, 1, 65536, FP32>, T#1, T#1, ->T<256B>"),
    # Binding.
    "second source never written": (Rule.TILE_UNREADABLE, f"bad: {TEPL}\n at: B.IOT T#1, M#2, last, ->T<256B>"),
    "size above the largest": (Rule.PARM_SIZE, f"bad: {TEPL}\n at: B.IOT T#1, T#1, last, ->T<64KB>"),
    "size below the smallest": (Rule.PARM_SIZE, f"bad: {TEPL}\n at: B.IOT T#1, T#1, last, ->T<128B>"),
    "outputs of unequal size": (Rule.PARM_SPLIT, "bad: at: TLOAD.NORM <8, 8, FP32>, [a0], ->T<256B>, T<512B>"),
    "valid columns beyond the columns": (Rule.PARM_VALID_COL, "bad: at: TADD <9, 1, 8, FP32>, T#1, T#1, ->T<256B>"),
    "valid rows beyond a source": (Rule.PARM_VALID_ROW, "bad: at: TADD <8, 9, FP32>, T#1, T#1, ->T<512B>"),
    "valid rows beyond the destination": (Rule.PARM_VALID_ROW, "bad: at: TEXPANDS <8, 9, FP32>, [a0], ->T<256B>"),
    "a row longer than the tile": (Rule.PARM_VALID_ROW, "bad: at: TADD <8, 1, 65, FP32>, T#1, T#1, ->T<256B>"),
    "valid rows of a store": (Rule.PARM_VALID_ROW, "bad: at: TSTORE.NORM <8, 9, FP32>, T#1, [a0]"),
    "odd columns of 4-bit elements": (Rule.PARM_ALIGN, "bad: at: TLOAD.NORM <5, 3, 7, U4x2>, [a0], ->T<256B>"),
    "odd columns by default in a store": (Rule.PARM_ALIGN, "bad: at: TSTORE.NORM <5, 3, S4x2>, T#1, [a0]"),
    "result vector too long": (Rule.PARM_CAPACITY, "li x3, 0x50000\nTLOAD.NORM <1, 128, 2, FP32>, [x3], ->T<1KB>\n"
                               "bad: at: TROWSUM <1, 128, 2, FP32>, T#1, ->T<256B>"),
    "operand vector too short": (Rule.PARM_CAPACITY, "bad: at: TROWEXPAND <1, 65, FP32>, T#1, ->T<512B>"),
    "no aligned run": (Rule.CAPACITY, 3 * "TEXPANDS <8, FP32>, [a0], ->M<32KB>\n" + "bad: at: TEXPANDS <8, FP32>, [a0], ->M<32KB>"),
    # Executing.
    "load from an error page": (Rule.MEM_READ, "bad: at: TLOAD.NORM <8, 4, FP32>, [a4], ->T<256B>"),
    "store to an error page": (Rule.MEM_WRITE, "bad: at: TSTORE.NORM <8, 4, FP32>, T#1, [a4]"),
    "load above the bus": (Rule.MEM_READ, "li x3, 0xFFFFFFFFF0\nbad: at: TLOAD.NORM <8, FP32>, [x3], ->T<256B>"),
    "store above the bus": (Rule.MEM_WRITE, "li x3, 0xFFFFFFFFF0\nbad: at: TSTORE.NORM <8, FP32>, T#1, [x3]"),
}
# fmt: on
ARGUMENTS = {"error page": 0x61000, "above the bus": 1 << 40}


def machine(name=""):
    """Return a machine with data in memory and one error page; cases of what is "left out" have a smaller core."""
    narrow = PRESETS["default"].replace(move_layouts=frozenset({"NORM"}), move_tiles=1)
    result = Machine(narrow if "left out" in name else None)
    result.memory.write(0x50000, bytes(range(256)))
    result.memory.set_error_pages([0x61000])
    result.gprs[REGISTER_NUMBERS["s1"]] = 0x55
    return result


def state(one):
    """Return everything that a fault must leave as the last commit made it."""
    queues = one.queues
    tiles = {name: (tile.base, tile.size, tile.element_bits, bytes(tile)) for name, tile in queues.live().items()}
    memory = one.memory.read(0x50000, 0x3000)
    return tiles, queues.released(), one.pointer, one.flags, one.tokens, list(one.gprs), memory


def run(source, base=BASE, name=""):
    """Run a program and return the machine, the result and the symbols."""
    one = machine(name)
    program = assemble(source, address=base, allow_faults=True)
    one.load(program.image, base)
    return one, one.run(), program.symbols


@pytest.mark.parametrize("name", CASES)
def test_a_fault_leaves_the_state_of_the_last_commit_and_its_record(name):
    rule, text = CASES[name]
    one, result, symbols = run(BEFORE + text + AFTER, name=name)
    fault = result.fault
    assert fault is not None
    assert fault.rule is rule
    assert (fault.block, fault.word) == (symbols.get("bad", NO_BLOCK_ADDRESS), symbols["at"])
    row = RULES[rule - 1]
    assert (fault.number, fault.trap, fault.cause, fault.stage) == (rule, row.trap, row.cause, row.stage)
    assert fault.traparg0 == next((value for key, value in ARGUMENTS.items() if key in name), 0)
    assert len(result.blocks) >= COMMITTED
    assert one.memory.read(0x51001, 12) == bytes(range(12))
    assert one.memory.read(0x52001, 12) == bytes(12)
    # A program that ends just before the faulting block leaves the same state.
    healthy, before, _ = run((BEFORE + text).partition("bad:")[0] if "bad:" in text else BEFORE)
    assert before.fault is None
    assert len(before.blocks) == len(result.blocks)
    assert state(one) == state(healthy)


def test_the_cases_reach_every_rule_that_these_operations_can_break():
    elsewhere = {Rule.FETCH, Rule.END_OF_STREAM}
    not_reachable = {Rule.WATCHDOG, Rule.PARM_OFFSET}
    assert {rule for rule, _ in CASES.values()} | elsewhere | not_reachable == set(Rule)


def test_a_word_on_an_error_page_faults_when_it_is_needed():
    one = machine()
    program = assemble(BEFORE + "bad: BSTART.TEPL TADD, FP32\n B.IOT T#1, T#1, last, ->T<256B>" + AFTER, address=0)
    # The program is placed so that the B.IOT straddles into the error page.
    base = 0x61000 - program.symbols["bad"] - 6
    one.load(program.image, base)
    result = one.run()
    assert len(result.blocks) == COMMITTED
    fault = result.fault
    assert (fault.rule, fault.trap, fault.cause) == (Rule.FETCH, 0, 6)
    assert (fault.block, fault.word) == (base + program.symbols["bad"], base + program.symbols["bad"] + 4)


def test_an_error_page_behind_the_program_does_not_matter():
    one = machine()
    program = assemble(BEFORE, address=0)
    one.load(program.image, 0x61000 - len(program.image))
    assert one.run().fault is None


def test_a_stream_that_ends_with_a_block_open_discards_it():
    one, result, symbols = run(BEFORE + "bad: BSTART.TEPL TADD, FP32\n at: B.IOT T#1, T#1, last, ->T<256B>\n.nostop")
    fault = result.fault
    assert (fault.rule, fault.trap, fault.cause) == (Rule.END_OF_STREAM, 0, 0)
    assert (fault.block, fault.word) == (symbols["bad"], symbols["at"])
    assert len(result.blocks) == COMMITTED


def test_a_stream_that_ends_inside_a_word_says_so():
    one = machine()
    image = assemble(BEFORE + "bad: BSTART.TEPL TADD, FP32\n.nostop", address=BASE, allow_faults=True)
    one.load(image.image + (encode_word("B.DIM", immediate=1) & 0xFFFF).to_bytes(2, "little"), BASE)
    fault = one.run().fault
    assert fault.rule is Rule.END_OF_STREAM
    assert (fault.block, fault.word) == (image.symbols["bad"], image.symbols["bad"] + 4)


# Two things wrong in one block: the earlier stage wins, inside a stage the lower order.
ORDER = {
    "source before size": (Rule.TILE_UNREADABLE, "TADD <9, 9, 8, FP32>, T#1, M#1, ->T<64KB>"),
    "size before columns": (Rule.PARM_SIZE, "TADD <9, 9, 8, FP32>, T#1, T#1, ->T<64KB>"),
    "columns before rows": (Rule.PARM_VALID_COL, "TADD <9, 9, 8, FP32>, T#1, T#1, ->T<256B>"),
    "rows before alignment": (Rule.PARM_VALID_ROW, "TLOAD.NORM <5, 700, 7, U4x2>, [a0], ->T<256B>"),
    "alignment before capacity": (Rule.PARM_ALIGN, "TLOAD.NORM <5, 1, 7, U4x2>, [a0], ->T<32KB>"),
    "vector before placement": (Rule.PARM_CAPACITY, "TROWEXPAND <1, 65, FP32>, T#1, ->T<32KB>"),
    "placement before memory": (Rule.CAPACITY, "TLOAD.NORM <8, 8, FP32>, [a4], ->T<32KB>"),
    "operands before support": (Rule.PARM_TILES, "TMUL <8, a3, FP32>, T#1, ->T<64KB>"),
    "support before zero": (Rule.UNSUPPORTED, "MGATHER <8, a3, FP32>, T#1, [a0], ->T<64KB>"),
    "size before split": (Rule.PARM_SIZE, "TLOAD.NORM <9, 9, 8, FP32>, [a0], ->T<64KB>, T<256B>"),
    "split before columns": (Rule.PARM_SPLIT, "TLOAD.NORM <9, 9, 7, FP32>, [a0], ->T<256B>, T<256B>"),
    "a source before the ACC": (Rule.TILE_UNREADABLE, "TMATMUL.ACC <16, 16, 8, FP32>, M#1, T#1, ->ACC<64KB>"),
    "the ACC before a size": (Rule.TILE_UNREADABLE, "TMATMUL.ACC <16, 16, 8, FP32>, T#1, T#1, ->ACC<64KB>"),
    "size of the ACC before alignment": (Rule.PARM_SIZE, "TMATMUL <16, 16, 8, FP32>, T#1, T#1, ->ACC<64KB>"),
    "alignment of operands before their size": (Rule.PARM_ALIGN, "TMATMUL <99, 99, 8, FP32>, T#1, T#1, ->ACC<1KB>"),
    "zero before a source": (Rule.PARM_ZERO, "TADD <8, a3, FP32>, M#1, T#1, ->T<64KB>"),
}


@pytest.mark.parametrize("name", ORDER)
def test_of_two_faults_in_a_block_the_first_rule_wins(name):
    rule, text = ORDER[name]
    fill = 3 * "TEXPANDS <8, FP32>, [a0], ->N<32KB>\n"
    assert run(BEFORE + fill + text + AFTER)[1].fault.rule is rule


def test_an_older_block_faults_before_a_younger_block_with_a_fault_of_an_earlier_stage():
    text = "bad: TADD <9, 1, 8, FP32>, T#1, T#1, ->T<256B>\n .word 0x09C19181"
    _, result, symbols = run(BEFORE + text)
    assert (result.fault.rule, result.fault.block) == (Rule.PARM_VALID_COL, symbols["bad"])


def test_a_block_that_faults_while_executing_gives_its_storage_back():
    one, result, _ = run(BEFORE + "TLOAD.NORM <8, 4, FP32>, [a4], ->T<256B>")
    pointer = one.pointer
    one.load(assemble("TEXPANDS <8, FP32>, [a0], ->M<256B>").image, BASE)
    assert result.fault.rule is Rule.MEM_READ
    assert one.run().blocks[0].new_tiles["M#1"].base == pointer


def test_nothing_runs_after_a_fault_until_the_next_start():
    one, result, _ = run(BEFORE + "TADD <9, 1, 8, FP32>, T#1, T#1, ->T<256B>" + AFTER)
    assert one.step() is None
    assert one.fault is result.fault
    one.start()
    assert one.fault is None
    assert one.step().block == BASE
