"""TCVT: geometry of two element widths, padding in the type of the destination, modes reaching the arithmetic."""

import random
import struct

import pytest

from linxtile import Flag, Machine, exact
from linxtile.asm import assemble
from linxtile.isa.codes import REGISTER_NUMBERS, PadValue, RoundingMode
from linxtile.isa.types import DATA_TYPES, data_type

PAIRS = [
    ("FP64", "E2M1x2"), ("U4x2", "S64"), ("S4x2", "U4x2"), ("FP32", "FP16"), ("HiF8", "FP32"), ("S16", "E8M0"),
    ("E3M2", "S8"), ("TF32", "E2M3"), ("HiF4x2", "HF32"), ("FP16", "S4x2"), ("U64", "BF16"), ("E8M0", "E5M2"),
]  # fmt: skip


def convert(elements, line, size):
    """Load bytes, run one TCVT and return its record."""
    machine = Machine()
    machine.memory.write(0x10000, elements)
    machine.gprs[REGISTER_NUMBERS["a0"]] = 0x10000
    load = f"TLOAD.NORM <{len(elements)}, U8>, [a0], ->T<{len(elements)}B>\n"
    machine.load(assemble(f"{load}{line}, T#1, ->U<{size}B>").image, 0x100)
    result = machine.run()
    assert result.fault is None, (str(result.fault), line)
    return result.blocks[-1]


def code_of(data, place, bits):
    """Return element number ``place`` of bytes."""
    return int.from_bytes(data, "little") >> place * bits & (1 << bits) - 1


@pytest.mark.parametrize(("source", "destination"), PAIRS)
def test_each_side_has_its_own_width_and_the_valid_area_is_counted_in_elements(source, destination):
    rng = random.Random(f"{source} {destination}")
    wide, narrow = data_type(source), data_type(destination)
    for mode in rng.sample(list(RoundingMode), 3):
        columns, size = rng.choice([6, 10]), rng.choice([256, 1024])
        elements, padding, saturate = rng.randbytes(512), rng.choice(list(PadValue)), rng.random() < 0.5
        rows = size * 8 // (columns * narrow.storage_bits)
        valid_rows = rng.randrange(1, min(rows, 4096 // (columns * wide.storage_bits), 9) + 1)
        valid = rng.choice([1, 5, columns])
        attributes = [padding.text, *([mode.name] if mode else []), *(["Sat"] if saturate else [])]
        line = f"TCVT <LB0:{valid}, LB1:{valid_rows}, LB2:{columns}, {source}, {destination}, {', '.join(attributes)}>"
        record = convert(elements, line, size)
        pad = {PadValue.MAX: narrow.pad_max, PadValue.MIN: narrow.pad_min}.get(padding, 0)
        expected, flags = 0, Flag(0)
        for place in range(rows * columns):
            r, c = divmod(place, columns)
            code = pad
            if r < valid_rows and c < valid:
                code, raised = exact.convert(code_of(elements, place, wide.storage_bits), wide, narrow, mode, saturate)
                flags |= raised
            expected |= code << place * narrow.storage_bits
        tile = record.new_tiles["U#1"]
        assert bytes(tile) == expected.to_bytes(size, "little"), line
        assert (record.block_flags, tile.element_bits) == (flags, narrow.storage_bits)


def test_five_valid_nibbles_of_a_row_are_all_there():
    numbers = struct.pack("<6e", 1, 2, 3, -4, -5, 7).ljust(256, b"\0")
    record = convert(numbers, "TCVT <5, 1, 6, FP16, S4x2>", 256)
    assert bytes(record.new_tiles["U#1"])[:3].hex() == "21c30b"


@pytest.mark.parametrize("row", DATA_TYPES, ids=lambda row: row.name)
def test_without_a_second_type_the_source_type_is_kept(row):
    record = convert(bytes([0x11] * 256), f"TCVT <2, 1, 2, {row.name}>", 256)
    tile = record.new_tiles["U#1"]
    assert tile.element_bits == row.storage_bits
    kept = 0x11111111 >> row.dead_bits << row.dead_bits if row.dead_bits else 0x1111111111111111 & row.storage_mask
    assert code_of(bytes(tile), 1, row.storage_bits) == kept


@pytest.mark.parametrize(
    ("kinds", "value", "code"),
    [
        # Rounded first, then tested against the range.
        ("FP32, S8, RNE, Sat", 127.5, 0x7F), ("FP32, S8, RNE, Sat", -128.5, 0x80), ("FP32, U8, RNE, Sat", 255.5, 0xFF),
        ("FP32, E4M3, RNE", 449.0, 0x7E), ("FP32, E4M3, RNE", 465.0, 0x7F), ("FP32, E4M3, RNE, Sat", 465.0, 0x7E),
        ("FP32, E4M3, RNE", 1.1875, 0x3A), ("FP32, E4M3, RUP", 1.03125, 0x39),
    ],
)  # fmt: skip
def test_a_rounding_mode_and_saturation_reach_the_conversion(kinds, value, code):
    record = convert(struct.pack("<f", value).ljust(256, b"\0"), f"TCVT <1, 1, 4, {kinds}>", 256)
    assert bytes(record.new_tiles["U#1"])[0] == code
