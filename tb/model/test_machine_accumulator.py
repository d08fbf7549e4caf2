"""The ACC as committed state: who fills and empties it, what a fault and a reset leave of it."""

import random

import pytest
from matrix_programs import left_tile, machine_with_accumulator, right_tile, run

from linxtile import Machine
from linxtile.asm import assemble

ONES = "li a0, 0x3C003C00\nTEXPANDS <16, 16, FP16>, [a0], ->T<512B>\n"
"""A fractal of ones in the low and the high half of what the register says: 1.0 in FP16."""
PRODUCT = "TMATMUL <16, 16, 16, FP16>, T#1.reuse, T#1.reuse, ->ACC<1KB>\n"
DRAIN = "ACCCVT NZ2ND, <16, 16, FP32, FP32>, ACC, ->U<1KB>\n"


def execute(source):
    """Run a program and return machine and result."""
    machine = Machine()
    machine.load(assemble(source, allow_faults=True).image)
    return machine, machine.run()


def test_a_product_fills_the_acc_and_a_conversion_empties_it():
    machine, result = execute(ONES + PRODUCT + DRAIN)
    assert result.fault is None
    held = [block.accumulator for block in result.blocks]
    assert [accumulator is not None for accumulator in held] == [False, False, True, False]
    # Sixteen products of one by one.
    assert held[2].shape == (16, 16)
    assert set(held[2].codes.ravel().tolist()) == {0x41800000}
    assert machine.accumulator is None


def test_the_acc_takes_no_tile_storage_and_no_name():
    _, result = execute(ONES + PRODUCT)
    before, after = result.blocks[-2:]
    assert after.new_tiles == {}
    assert (after.pointer, list(after.queues.live())) == (before.pointer, list(before.queues.live()))


def test_a_product_replaces_what_the_acc_held_and_accumulation_adds_to_it():
    machine, _ = execute(ONES + PRODUCT + PRODUCT.replace(".ACC", "").replace("<16, 16, 16", "<8, 4, 16"))
    assert machine.accumulator.shape == (8, 4)
    machine, _ = execute(ONES + PRODUCT + 2 * PRODUCT.replace("TMATMUL", "TMATMUL.ACC"))
    assert set(machine.accumulator.codes.ravel().tolist()) == {0x42400000}


def test_the_sources_of_a_product_follow_the_reuse_rule():
    _, result = execute(ONES + ONES + "TMATMUL <16, 16, 16, FP16>, T#1.reuse, T#2, ->ACC<1KB>")
    assert (list(result.queues.live()), result.queues.released()) == (["T#1"], ["T#2"])


@pytest.mark.parametrize("bad", ["TMATMUL.ACC <16, 15, 16, FP16>, T#1, T#1, ->ACC<1KB>",
                                 "ACCCVT NZ2ND, <17, 16, FP32, FP32>, ACC, ->U<2KB>"])  # fmt: skip
def test_a_fault_keeps_the_acc(bad):
    machine, result = execute(ONES + PRODUCT + bad)
    assert result.fault.rule.name == "PARM_CAPACITY"
    assert result.accumulator is machine.accumulator is result.blocks[-1].accumulator
    assert machine.accumulator.shape == (16, 16)
    # It can still be drained.
    machine.load(assemble(DRAIN).image)
    assert machine.run().fault is None


def test_a_conversion_without_room_keeps_the_acc():
    machine, result = execute(
        ONES + PRODUCT + 3 * "TEXPANDS <1, S8>, [a0], ->N<32KB>\n" + "ACCCVT NZ2ND, <1, 1, FP32, FP32>, ACC, ->U<32KB>"
    )
    assert result.fault.rule.name == "CAPACITY"
    assert machine.accumulator is not None


def test_a_reset_empties_the_acc_and_a_start_keeps_it():
    machine, _ = execute(ONES + PRODUCT)
    machine.start()
    assert machine.accumulator is not None
    machine.clear()
    assert machine.accumulator is None


def test_a_record_and_the_json_hold_the_acc_while_it_is_there():
    _, result = execute(ONES + PRODUCT + DRAIN)
    states = [block.as_dict().get("accumulator") for block in result.blocks]
    assert states == [None, None, {"m": 16, "n": 16, "elements": "00008041" * 256}, None]
    assert "accumulator" not in result.as_dict()


def test_integer_bits_are_taken_over_by_a_product_of_floats():
    machine = machine_with_accumulator([[0x3F800000]])
    tiles = [
        left_tile([[0x3C00]], "FP16", 512, random.Random(1)),
        right_tile([[0x3C00]], "FP16", 512, random.Random(1)),
    ]
    _, result = run(tiles, "TMATMUL.ACC <1, 1, 1, FP16>, T#2, T#1, ->ACC<1KB>", machine)
    assert result.fault is None
    assert machine.accumulator.codes.tolist() == [[0x40000000]]
