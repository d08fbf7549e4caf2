"""Bind rules on shapes, family by family: the rule that wins, its record, and a store before that stays done."""

import pytest

from linxtile import Machine
from linxtile.asm import assemble
from linxtile.isa.codes import REGISTER_NUMBERS
from linxtile.isa.faults import Rule

BASE = 0x4000
BEFORE = """
    li a0, 0x50000
    li a1, 0x51000
    TLOAD.NORM <8, 8, FP32>, [a0], ->T<256B>
    TSTORE.NORM <8, 8, FP32>, T#1.reuse, [a1]
    TEXPANDS <16, 16, U16>, [a0], ->U<512B>
    TEXPANDS <16, 16, U16>, [a0], ->M<32KB>
"""
PRODUCT = "TMATMUL <16, 16, 16, FP16>, U#1.reuse, U#1.reuse, ->ACC<1KB>\n"
TALL_PRODUCT = "TMATMUL <32, 16, 16, FP16>, M#1.reuse, U#1.reuse, ->ACC<2KB>\n"
SPLIT, COLUMNS, ROWS, ALIGN, TOO_SMALL = (
    Rule.PARM_SPLIT, Rule.PARM_VALID_COL, Rule.PARM_VALID_ROW, Rule.PARM_ALIGN, Rule.PARM_CAPACITY,
)  # fmt: skip
EMPTY = Rule.TILE_UNREADABLE

# T#1 has 256 bytes, U#1 has 512, M#1 has 32 KB.
# fmt: off
CASES = {
    # Several tiles of a load or store.
    "columns that 2 parts do not share": (SPLIT, "TLOAD.NORM <6, 1, 7, FP32>, [a0], ->T<256B>, T<256B>"),
    "rows that 3 parts do not share": (SPLIT, "TLOAD.DN2NZ <5, 3, 5, FP32>, [a0], ->T<256B>, T<256B>, T<256B>"),
    "sources of unequal size": (SPLIT, "TSTORE.NORM <8, 8, FP32>, T#1, U#1, [a0]"),
    "columns of a store that 2 parts do not share": (SPLIT, "TSTORE.NORM <6, 1, 7, FP32>, T#1.reuse, T#1, [a0]"),
    "columns of the whole": (COLUMNS, "TLOAD.NORM <17, 1, 16, FP32>, [a0], ->T<256B>, T<256B>"),
    "rows of the whole": (ROWS, "TLOAD.NORM <16, 9, 16, FP32>, [a0], ->T<256B>, T<256B>"),
    "rows of a whole in horizontal parts": (ROWS, "TLOAD.DN2NZ <8, 33, 8, FP32>, [a0], ->T<512B>, T<512B>"),
    "rows of a store of parts": (ROWS, "TSTORE.NORM <16, 9, 16, FP32>, T#1.reuse, T#1, [a0]"),
    "odd columns of a part of nibbles": (ALIGN, "TLOAD.NORM <5, 1, 6, U4x2>, [a0], ->T<256B>, T<256B>"),
    "fractal rows of NZ": (ALIGN, "TLOAD.ND2NZ <8, 8, FP32>, [a0], ->T<256B>"),
    "fractal columns of NZ": (ALIGN, "TLOAD.ND2NZ <4, 8, FP32>, [a0], ->T<256B>"),
    "fractal columns of a part of NZ": (ALIGN, "TLOAD.ND2NZ <8, 8, FP32>, [a0], ->T<256B>, T<256B>"),
    "fractal rows of a part of NZ in column order": (ALIGN, "TLOAD.DN2NZ <8, 8, FP32>, [a0], ->T<256B>, T<256B>"),
    "fractal rows of ZN": (ALIGN, "TLOAD.ND2ZN <16, 4, FP32>, [a0], ->T<256B>"),
    "fractal columns of ZN": (ALIGN, "TLOAD.ND2ZN <8, 8, FP32>, [a0], ->T<256B>"),
    "fractal columns of a store": (ALIGN, "TSTORE.NZ2ND <4, 8, FP32>, T#1, [a0]"),
    "fractal rows of a store": (ALIGN, "TSTORE.ZN2DN <16, 4, FP32>, T#1, [a0]"),
    # Tile to tile.
    "columns of a move": (COLUMNS, "TMOV.NORM <9, 1, 8, FP32>, T#1, ->T<256B>"),
    "rows of the source of a move": (ROWS, "TMOV.NORM <8, 9, FP32>, T#1, ->T<512B>"),
    "rows of the destination of a move": (ROWS, "TMOV.NORM <8, 9, FP32>, U#1, ->T<256B>"),
    "source fractals of a move": (ALIGN, "TMOV.NZ2ND <8, 8, FP32>, T#1, ->T<512B>"),
    "destination fractals of a move": (ALIGN, "TMOV.ND2ZN <16, 4, FP32>, U#1, ->T<256B>"),
    "odd columns of a move of nibbles": (ALIGN, "TMOV.ND2DN <7, 2, S4x2>, T#1, ->T<256B>"),
    # Conversion: each side has its own width.
    "rows of the wide side": (ROWS, "TCVT <8, 9, FP32, FP64>, U#1, ->T<512B>"),
    "rows of the narrow side": (ROWS, "TCVT <16, 17, U16, S4x2>, U#1, ->T<256B>"),
    "odd columns of a nibble result": (ALIGN, "TCVT <5, 1, FP32, S4x2>, T#1, ->T<256B>"),
    "odd columns of a nibble source": (ALIGN, "TCVT <5, 1, S4x2, FP32>, T#1, ->T<256B>"),
    # Masks.
    "rows of a compared tile": (ROWS, "TCMP.EQ <8, 9, FP32>, U#1, T#1, ->T<256B>"),
    "mask of a whole source": (TOO_SMALL, "TCMP.EQ <8, 1, U8>, M#1, M#1, ->T<2KB>"),
    "mask of a selection": (TOO_SMALL, "TSEL <64, 33, U8>, T#1, M#1.reuse, M#1, ->T<4KB>"),
    "mask of a selection with a scalar": (TOO_SMALL, "TSELS <64, 33, U8>, T#1, M#1, [a0], ->T<4KB>"),
    # Vectors.
    "result of rows": (TOO_SMALL, "TROWSUM <1, 65, 2, FP32>, M#1, ->T<256B>"),
    "result of columns": (TOO_SMALL, "TCOLSUM <65, 1, FP32>, M#1, ->T<256B>"),
    "operand of rows": (TOO_SMALL, "TROWEXPANDADD <1, 65, FP32>, M#1, T#1, ->T<512B>"),
    "operand of columns": (TOO_SMALL, "TCOLEXPANDADD <65, 1, FP32>, M#1, T#1, ->T<512B>"),
    "copied operand of columns": (TOO_SMALL, "TCOLEXPAND <65, 1, FP32>, T#1, ->T<512B>"),
    "rows of a matrix beside a vector": (ROWS, "TCOLEXPANDADD <8, 9, FP32>, T#1, M#1, ->T<512B>"),
    # Histogram.
    "rows of a histogram": (ROWS, "THISTOGRAM <16, 17, U16, U8, Byte1>, U#1, T#1, ->T<8KB>"),
    "counters": (TOO_SMALL, "THISTOGRAM <16, 3, U16, U16, Byte1>, U#1, T#1, ->T<1KB>"),
    "filter of a histogram": (TOO_SMALL, "THISTOGRAM <1, 300, 8, U16, U8, Byte0>, M#1, T#1, ->T<32KB>"),
    # Products: U#1 is a fractal of 16-bit elements, on either side.
    "rows of a left operand": (ALIGN, "TMATMUL <8, 16, 16, FP16>, T#1, U#1, ->ACC<1KB>"),
    "columns of a right operand": (ALIGN, "TMATMUL <16, 8, 16, FP16>, U#1, T#1, ->ACC<1KB>"),
    "columns of a right operand of another type": (ALIGN, "TMATMUL <16, 16, 17, FP16, E4M3>, M#1, T#1, ->ACC<1KB>"),
    "too many rows of a left operand": (TOO_SMALL, "TMATMUL <17, 16, 16, FP16>, U#1, U#1, ->ACC<2KB>"),
    "too many columns of a right operand": (TOO_SMALL, "TMATMUL <16, 17, 16, FP16>, U#1, U#1, ->ACC<2KB>"),
    "too deep for a left operand": (TOO_SMALL, "TMATMUL <16, 16, 256, FP16>, T#1, M#1, ->ACC<1KB>"),
    "ACC of one fractal": (TOO_SMALL, "TMATMUL <17, 16, 16, FP16>, M#1, U#1, ->ACC<1KB>"),
    "bias": (TOO_SMALL, "TMATMUL.BIAS <16, 65, 16, FP16>, M#1.reuse, M#1, T#1, ->ACC<8KB>"),
    "two rows of a vector product": (TOO_SMALL, "TGEMV <2, 16, 16, FP16>, U#1, U#1, ->ACC<1KB>"),
    "left vector": (TOO_SMALL, "TGEMV <1, 16, 256, FP16>, T#1, M#1, ->ACC<1KB>"),
    "right operand of a vector product": (ALIGN, "TGEMV <1, 8, 16, FP16>, U#1, T#1, ->ACC<1KB>"),
    "ACC with another M": (TOO_SMALL, PRODUCT + "bad: TMATMUL.ACC <15, 16, 16, FP16>, U#1, U#1, ->ACC<1KB>"),
    "ACC with another N": (TOO_SMALL, PRODUCT + "bad: TMATMUL.ACC <16, 15, 16, FP16>, U#1, U#1, ->ACC<1KB>"),
    "ACC with another M for a vector": (TOO_SMALL, PRODUCT + "bad: TGEMV.ACC <1, 16, 16, FP16>, U#1, U#1, ->ACC<1KB>"),
    "empty ACC of a product": (EMPTY, "TMATMUL.ACC <16, 16, 16, FP16>, U#1, U#1, ->ACC<1KB>"),
    # ACCCVT.
    "empty ACC of a conversion": (EMPTY, "ACCCVT NORM.normal, <16, 16, FP32, FP32>, ACC, ->T<1KB>"),
    "ACC that was released": (EMPTY, PRODUCT + "ACCCVT NORM.normal, <16, 16, FP32, FP32>, ACC, ->T<1KB>\n"
                              "bad: ACCCVT NORM.normal, <16, 16, FP32, FP32>, ACC, ->T<1KB>"),
    "ACC that was released before a product": (
        EMPTY, PRODUCT + "ACCCVT NORM.normal, <16, 16, FP32, FP32>, ACC, ->T<1KB>\n"
               "bad: TMATMUL.ACC <16, 16, 16, FP16>, U#1, U#1, ->ACC<1KB>"),
    "rows of normal fractals": (ALIGN, PRODUCT + "bad: ACCCVT NORM.normal, <8, 16, FP32, FP32>, ACC, ->T<512B>"),
    "rows of canonical fractals": (ALIGN, PRODUCT + "bad: ACCCVT NORM.canon, <8, 8, FP32, FP32>, ACC, ->T<256B>"),
    "odd columns of nibbles": (ALIGN, PRODUCT + "bad: ACCCVT NZ2ND, <16, 5, FP32, E2M1x2>, ACC, ->T<256B>"),
    "rows beyond the ACC": (TOO_SMALL, PRODUCT + "bad: ACCCVT NZ2ND, <17, 16, FP32, FP32>, ACC, ->T<2KB>"),
    "columns beyond the ACC": (TOO_SMALL, PRODUCT + "bad: ACCCVT NZ2ND, <16, 17, FP32, FP32>, ACC, ->T<2KB>"),
    "rows beyond a row-major output": (TOO_SMALL, PRODUCT + "bad: ACCCVT NZ2ND, <16, 16, FP32, FP32>, ACC, ->T<512B>"),
    "rows beyond a column-major output": (TOO_SMALL, PRODUCT + "bad: ACCCVT NZ2DN, <16, 16, FP32, FP32>, ACC, ->T<512B>"),
    "rows beyond an output of fractals": (TOO_SMALL, TALL_PRODUCT + "bad: ACCCVT NORM.normal, <32, 16, FP32, FP32>, ACC, ->T<1KB>"),
}
# fmt: on


def machine_after(source):
    """Return a machine that has run a program, and the program's symbols."""
    machine = Machine()
    machine.memory.write(0x50000, bytes(range(256)))
    machine.gprs[REGISTER_NUMBERS["s1"]] = 0x55
    program = assemble(source, address=BASE, allow_faults=True)
    machine.load(program.image, BASE)
    machine.run()
    return machine, program.symbols


def state(machine):
    """Return everything that a fault must leave as the last commit made it."""
    tiles = {name: (tile.base, tile.element_bits, bytes(tile)) for name, tile in machine.queues.live().items()}
    accumulator = None if machine.accumulator is None else machine.accumulator.codes.tolist()
    queues = machine.queues.released(), machine.pointer, machine.flags
    return tiles, queues, list(machine.gprs), accumulator, machine.memory.read(0x50000, 0x2000)


@pytest.mark.parametrize("name", CASES)
def test_a_shape_that_does_not_fit_faults_and_changes_nothing(name):
    rule, text = CASES[name]
    text = text if "bad:" in text else "bad: " + text
    machine, symbols = machine_after(BEFORE + text + "\nli s1, 0xDEAD")
    fault = machine.fault
    assert fault is not None
    assert fault.rule is rule, str(fault)
    assert (fault.block, fault.word, fault.traparg0) == (symbols["bad"], symbols["bad"], 0)
    assert machine.memory.read(0x51000, 256) == bytes(range(256))
    healthy, _ = machine_after((BEFORE + text).partition("bad:")[0])
    assert healthy.fault is None
    assert state(machine) == state(healthy)
