"""The machine: names and storage over several blocks, set-up blocks, tokens, attributes, the host's view."""

import numpy as np
import pytest

from linxtile import CoreConfig, Flag, Machine
from linxtile.asm import assemble
from linxtile.isa.codes import REGISTER_NUMBERS


def run(source, machine=None):
    """Run a program on a machine, a new one if none is given, and return machine and result."""
    machine = Machine() if machine is None else machine
    machine.load(assemble(source, address=0x100, allow_faults=True).image, 0x100)
    result = machine.run()
    return machine, result


def numbers(machine, name, count=1):
    """Return the first 32-bit elements of a tile."""
    return np.frombuffer(machine.tile(name), np.uint32)[:count].tolist()


def fill(queue, value, size="256B"):
    """Return lines that push a tile whose first element is ``value``."""
    return f"li a0, {value}\nTEXPANDS <1, S32>, [a0], ->{queue}<{size}>\n"


def test_a_source_is_resolved_before_the_block_pushes():
    machine, result = run(fill("T", 5) + fill("T", 7) + "TSUB <1, S32>, T#2.reuse, T#1.reuse, ->T<256B>")
    assert result.fault is None
    assert numbers(machine, "T#1") == [(5 - 7) % (1 << 32)]
    assert [numbers(machine, name) for name in ("T#2", "T#3")] == [[7], [5]]


def test_the_same_tile_twice_stays_if_one_of_the_names_says_reuse():
    for first, second, kept in ((".reuse", "", True), ("", ".reuse", True), ("", "", False)):
        _, result = run(fill("T", 5) + f"TADD <1, S32>, T#1{first}, T#1{second}, ->U<256B>")
        assert ("T#1" in result.queues.live()) == kept
        assert result.queues.released() == ([] if kept else ["T#1"])


def test_a_tile_that_falls_out_is_freed_although_it_was_reused():
    machine, result = run("".join(fill("T", value) for value in range(17)))
    assert len(result.queues.live()) == 16
    assert numbers(machine, "T#16") == [1]
    assert result.blocks[-1].pointer == 17 * 256
    live = sorted(tile.base for tile in result.queues.live().values())
    assert live == [256 * place for place in range(1, 17)]


def test_storage_of_tiles_that_fell_out_is_used_again():
    machine, result = run(
        "".join(fill("T", value) for value in range(60)), Machine(CoreConfig(tile_ram_bytes=8192, tile_max_bytes=512))
    )
    assert result.fault is None
    assert numbers(machine, "T#1") == [59]


def test_the_destination_is_placed_before_the_source_is_released():
    config = CoreConfig(tile_ram_bytes=1024, tile_max_bytes=512)
    source = fill("T", 1, "512B") + "TADD <1, S32>, T#1, T#1, ->U<512B>\n" + "TADD <1, S32>, U#1, U#1, ->M<512B>"
    _, result = run(source, Machine(config))
    assert [tile.base for tile in result.queues.live().values()] == [0]
    _, result = run(fill("T", 1, "512B") + fill("U", 1) + "TADD <1, S32>, T#1, T#1, ->U<512B>", Machine(config))
    assert result.fault.rule.name == "CAPACITY"


def test_set_up_blocks_are_seen_by_younger_blocks_and_recorded():
    machine, result = run("li a0, 0x12345\nli a1, -1\nli a0, 3\n" + "TEXPANDS <1, S32>, [a0], ->T<256B>")
    assert (result.gprs[REGISTER_NUMBERS["a0"]], result.gprs[REGISTER_NUMBERS["a1"]]) == (3, (1 << 64) - 1)
    setup = result.blocks[0]
    assert (setup.operation, setup.block, setup.new_tiles, setup.writes) == ("SETUP", 0x100, {}, [])
    assert setup.registers == {REGISTER_NUMBERS["a0"]: 3, REGISTER_NUMBERS["a1"]: (1 << 64) - 1}
    assert numbers(machine, "T#1") == [3]


def test_a_set_up_block_that_faults_writes_no_register():
    machine, result = run("li a0, 1\nBSTOP\nBSTART.STD FALL\nADDI zero, 9, ->a0\n.word 0x00300015")
    assert result.fault.rule.name == "ILL_GPR"
    assert result.gprs[REGISTER_NUMBERS["a0"]] == machine.gprs[REGISTER_NUMBERS["a0"]] == 1


def test_a_dimension_register_is_taken_modulo_65536():
    machine, result = run("li a0, 0x10003\nTEXPANDS <LB0:a0, LB1:1, S32>, [a0], ->T<256B>")
    assert result.fault is None
    assert numbers(machine, "T#1", 4) == [0x10003] * 3 + [0]


def test_a_block_with_a_token_destination_produces_one():
    machine, result = run(fill("T", 1) + "TADD <1, S32>, T#1.reuse, T#1, D#8, ->U<256B>, D")
    assert result.fault is None
    assert [block.token for block in result.blocks] == [False, False, True]
    assert machine.tokens == 1


def test_the_trap_attribute_marks_the_record_and_nothing_else():
    # B.CATR with bit 19 set.
    machine, result = run(
        "BSTART.TEPL TEXPANDS, S32\nB.IOT last, ->T<256B>\nB.IOR a0\n.word 0x00080023\n" + fill("T", 2)
    )
    assert [block.trap for block in result.blocks] == [True, False, False]
    assert numbers(machine, "T#1") == [2]


def test_flags_are_sticky_and_each_block_has_its_own():
    one_and_signalling = "li a0, 0x7F800001\nTEXPANDS <1, FP32>, [a0], ->T<256B>\n"
    machine, result = run(one_and_signalling + "TADD <1, FP32>, T#1.reuse, T#1, ->U<256B>\n" + fill("T", 1))
    flags = [(block.block_flags, block.flags) for block in result.blocks]
    none = Flag(0)
    assert flags == [(none, none), (none, none), (Flag.NV, Flag.NV), (none, Flag.NV), (none, Flag.NV)]
    assert machine.flags is Flag.NV
    machine.clear()
    assert machine.flags == none


def test_an_empty_block_commits_nothing():
    _, result = run("B.HINT TRACE begin\n" + fill("T", 1) + "B.HINT TRACE end\nBSTOP")
    assert [block.operation for block in result.blocks] == ["SETUP", "TEXPANDS"]
    assert result.fault is None


def test_a_restart_keeps_tiles_and_registers_and_a_clear_drops_them():
    machine, _ = run(fill("T", 4))
    run(fill("T", 6), machine)
    assert numbers(machine, "T#2") == [4]
    machine.clear()
    assert machine.queues.live() == {}
    assert machine.pointer == 0
    assert machine.gprs == [0] * 24
    # The program is still loaded and starts again.
    assert len(machine.run().blocks) == 2
    assert numbers(machine, "T#1") == [6]


def test_a_run_can_be_cut_into_pieces():
    whole = run(fill("T", 1) + fill("U", 2))[1]
    machine = Machine()
    machine.load(assemble(fill("T", 1) + fill("U", 2), address=0x100).image, 0x100)
    first = machine.run(max_blocks=2)
    assert (len(first.blocks), list(first.queues.live())) == (2, ["T#1"])
    rest = machine.run()
    assert [block.block for block in first.blocks + rest.blocks] == [block.block for block in whole.blocks]
    assert machine.step() is None


def test_records_do_not_change_when_the_machine_goes_on():
    _, result = run(fill("T", 1) + fill("T", 2))
    pushes = [block for block in result.blocks if block.operation == "TEXPANDS"]
    assert list(pushes[0].queues.live()) == ["T#1"]
    assert list(pushes[1].queues.live()) == ["T#1", "T#2"]
    assert pushes[1].queues.live()["T#2"] is pushes[0].new_tiles["T#1"]


def test_two_machines_share_nothing():
    first, _ = run(fill("T", 1))
    second = Machine()
    assert second.queues.live() == {}
    assert second.memory.read(0x100, 4) == bytes(4) != first.memory.read(0x100, 4)


def test_a_tile_that_cannot_be_read_says_why():
    machine, _ = run(fill("T", 1) + "TADD <1, S32>, T#1, T#1, ->U<256B>")
    with pytest.raises(ValueError, match="tile T#1 cannot be read: released"):
        machine.tile("T#1")
    with pytest.raises(ValueError, match="tile N#3 cannot be read: never written"):
        machine.tile("N#3")


@pytest.mark.parametrize(("image", "address", "message"), [
    (b"\0\0\0", 0, "program length must be even, not 3"),
    (b"\0\0", 1, "program address must be even and below 0x10000000000 with all 2 bytes, not 0x1"),
    (b"\0\0\0\0", (1 << 40) - 2, "program address must be even and below 0x10000000000 with all 4 bytes, not 0xfffffffffe"),
])  # fmt: skip
def test_a_program_that_cannot_lie_there_is_refused(image, address, message):
    with pytest.raises(ValueError, match=message):
        Machine().load(image, address)


def test_an_empty_program_ends_at_once():
    machine = Machine()
    machine.load(b"")
    assert machine.run().blocks == []
    assert machine.fault is None


def test_error_pages_and_registers_set_between_load_and_run_count():
    machine = Machine()
    program = assemble("TEXPANDS <1, S32>, [a0], ->T<256B>", address=0x100)
    machine.load(program.image, 0x100)
    machine.gprs = [0, 0, 7, *machine.gprs[3:]]
    assert machine.run().fault is None
    assert numbers(machine, "T#1") == [7]
    machine.start()
    machine.memory.set_error_pages([0x100])
    fault = machine.run().fault
    assert fault is not None
    assert (fault.rule.name, fault.word) == ("FETCH", 0x100)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: Machine("small"), TypeError, "config must be a CoreConfig, such as CoreConfig.named('small'), not 'small'"),
        (lambda: Machine().load(3), TypeError, "program must be bytes and its address an integer, not int at 0"),
        (lambda: Machine().load(b"ab", "0"), TypeError, "program must be bytes and its address an integer, not bytes at '0'"),
        (lambda: Machine().run(-1), ValueError, "max_blocks must be an integer from 0 on, not -1"),
        (lambda: Machine().run(1.5), ValueError, "max_blocks must be an integer from 0 on, not 1.5"),
        (lambda: Machine().tile(None), ValueError, "a tile name is a queue (T, U, M, N), # and 1 to 16, not None"),
        (lambda: assemble(3), TypeError, "program must be text, not int"),
        (lambda: assemble("", address=-2), ValueError, "program address must be even and of 64 bits, not -0x2"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_named(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == sentence
