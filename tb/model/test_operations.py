"""Blocks against a walk over single elements: geometry, padding, flags, for every operation and type."""

import random

import pytest

from linxtile import CoreConfig, Flag, Machine, exact
from linxtile.asm import assemble
from linxtile.isa.codes import PadValue
from linxtile.isa.operations import Shape, operation
from linxtile.isa.support import MODEL_OPERATIONS
from linxtile.isa.types import data_type
from linxtile.operations import IMPLEMENTATIONS, KERNELS, implementation

DATA = 0x10000
ROW_SHAPES = (Shape.ROW_REDUCE, Shape.ROW_EXPAND, Shape.ROW_EXPAND_OP)
SHAPES = {
    *(Shape.ELEMENTWISE, Shape.SCALAR_EXPAND), *ROW_SHAPES,
    *(Shape.COLUMN_REDUCE, Shape.COLUMN_EXPAND, Shape.COLUMN_EXPAND_OP),
}  # fmt: skip
COMPUTING = [
    (name, kind)
    for name in MODEL_OPERATIONS
    if operation(name).shape in SHAPES
    for kind in sorted(MODEL_OPERATIONS[name])
]
SPECIALS = ("canonical_nan", "positive_infinity", "max_finite", "min_finite")


def pad(row, name):
    """Return the code of a padding element."""
    return {"Zero": 0, "Null": 0, "Max": row.pad_max, "Min": row.pad_min}[name]


def tile_bytes(row, size, rng):
    """Return random bytes of which some elements are special values of the type."""
    width = row.storage_bits // 8
    codes = [rng.getrandbits(row.storage_bits) for _ in range(size // width)]
    specials = [getattr(row, name) for name in SPECIALS if getattr(row, name) is not None] if row.is_float else [0]
    for place in rng.sample(range(len(codes)), len(codes) // 4):
        codes[place] = rng.choice(specials) ^ (rng.choice([0, row.sign_bit]) if row.is_float else 0)
    return b"".join(code.to_bytes(width, "little") for code in codes)


def element(data, at, row):
    """Return element number ``at`` of a tile."""
    width = row.storage_bits // 8
    return int.from_bytes(data[at * width : (at + 1) * width], "little")


def tree(values, combine):
    """Reduce a list by the adjacent pairwise tree, written as recursion over the largest power of two below."""
    if len(values) == 1:
        return values[0]
    half = 1 << (len(values) - 1).bit_length() - 1
    return combine(tree(values[:half], combine), tree(values[half:], combine))


class Walk:
    """What a block should give, element by element."""

    def __init__(self, name, row, shape, columns, padding):
        self.row, self.shape, self.columns, self.padding = row, shape, columns, padding
        self.operation = operation(name)
        self.function = getattr(exact, KERNELS[name]) if name in KERNELS else None
        self.flags = Flag(0)

    def combine(self, *codes):
        """Apply the kernel to one element."""
        code, flags = self.function(*codes, self.row)
        self.flags |= flags
        return code

    def read(self, code):
        """Read one leaf of a reduction."""
        code, flags = exact.read(code, self.row)
        self.flags |= flags
        return code

    def value(self, r, c, sources, scalars):
        """Return the valid element (r, c)."""
        shape, at = self.operation.shape, r * self.columns + c
        if shape is Shape.ELEMENTWISE:
            codes = [element(source, at, self.row) for source in sources]
            return self.combine(*codes[:1], *scalars, *codes[1:])
        if shape is Shape.SCALAR_EXPAND:
            return scalars[0]
        vector = element(sources[-1], r if shape in ROW_SHAPES else c, self.row)
        if shape in (Shape.ROW_EXPAND, Shape.COLUMN_EXPAND):
            return vector
        return self.combine(element(sources[0], at, self.row), vector)

    def reduced(self, source):
        """Return the results of a reduction."""
        rows, valid_columns = self.shape
        places = [[r * self.columns + c for c in range(valid_columns)] for r in range(rows)]
        if self.operation.shape is Shape.COLUMN_REDUCE:
            places = zip(*places, strict=True)
        return [tree([self.read(element(source, at, self.row)) for at in line], self.combine) for line in places]

    def expected(self, size, sources, scalars):
        """Return the bytes of the destination."""
        rows, valid_columns = self.shape
        width = self.row.storage_bits // 8
        out = []
        if self.operation.shape in (Shape.ROW_REDUCE, Shape.COLUMN_REDUCE):
            out = self.reduced(sources[0])
            out += [self.padding] * (size // width - len(out))
        else:
            for r in range(size // (self.columns * width)):
                for c in range(self.columns):
                    inside = r < rows and c < valid_columns
                    out.append(self.value(r, c, sources, scalars) if inside else self.padding)
        return b"".join(code.to_bytes(width, "little") for code in out).ljust(size, b"\0")


def run_block(name, kind, geometry, padding, sizes, scalars, data):
    """Load the sources as raw bytes, run one block, return its record."""
    machine = Machine()
    lines = []
    for place, source in enumerate(data):
        machine.memory.write(DATA + place * 0x10000, source)
        lines += [
            f"li a0, {DATA + place * 0x10000:#x}",
            f"TLOAD.NORM <{len(source) // 8}, 8, U8>, [a0], ->T<{len(source)}B>",
        ]
    rows, valid_columns, columns = geometry
    tiles = [f"T#{len(data) - place}" for place in range(len(data))]
    lines += [f"li a1, {scalar:#x}" for scalar in scalars]
    operands = ", ".join([*tiles, *(["[a1]"] if scalars else [])])
    lines.append(
        f"{name} <LB0:{valid_columns}, LB1:{rows}, LB2:{columns}, {kind}, {padding}>, {operands}, ->U<{sizes}B>"
    )
    machine.load(assemble("\n".join(lines)).image, 0x100)
    result = machine.run()
    assert result.fault is None, (str(result.fault), lines)
    return result.blocks[-1]


def geometries(row, rng):
    """Return two of these: full, ragged, with a tail, one column; as (rows, valid columns, columns) and two sizes."""
    width = row.storage_bits // 8
    result = []
    for columns in rng.sample([64 // width, 7, 256 // width // 3, 1], 2):
        sizes = [256, 256] if columns == 64 // width else [rng.choice([256, 512]) for _ in range(2)]
        rows, valid = 256 // (columns * width), columns
        if rng.random() < 0.7:
            rows, valid = rng.randrange(1, min(rows, 12) + 1), rng.randrange(1, min(columns, 12) + 1)
        result.append(((rows, valid, columns), *sizes))
    return result


@pytest.mark.parametrize(("name", "kind"), COMPUTING)
def test_a_block_gives_what_a_walk_over_its_elements_gives(name, kind):
    row = data_type(kind)
    rng = random.Random(f"{name} {kind}")
    for geometry, size, source_size in geometries(row, rng):
        padding = rng.choice([value.text for value in PadValue])
        data = [tile_bytes(row, source_size, rng) for _ in operation(name).sources]
        scalars = [rng.getrandbits(64)] if operation(name).max_scalars else []
        got = run_block(name, kind, geometry, padding, size, scalars, data)
        rows, valid, columns = geometry
        walk = Walk(name, row, (rows, valid), columns, pad(row, padding))
        expected = walk.expected(size, data, [scalar & row.storage_mask for scalar in scalars])
        assert bytes(got.new_tiles["U#1"]) == expected, (geometry, size, padding)
        assert got.block_flags == walk.flags
        assert got.new_tiles["U#1"].element_bits == row.storage_bits


@pytest.mark.parametrize("kind", ["FP32", "FP16"])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13, 31, 32, 33, 161])
@pytest.mark.parametrize("name", ["TROWSUM", "TCOLSUM"])
def test_a_sum_takes_the_tree_for_every_count(name, kind, count):
    row, rng = data_type(kind), random.Random(count)
    codes = [
        rng.randrange(row.max_finite // 2, row.max_finite * 3 // 4) | rng.choice([0, row.sign_bit])
        for _ in range(count)
    ]
    width = row.storage_bits // 8
    data = b"".join(code.to_bytes(width, "little") for code in codes).ljust(1024, b"\xff")
    shape, columns = ((1, count), count) if name == "TROWSUM" else ((count, 1), 1)
    got = run_block(name, kind, (*shape, columns), "Max", 256, [], [data])
    walk = Walk(name, row, shape, columns, row.pad_max)
    assert bytes(got.new_tiles["U#1"]) == walk.expected(256, [data], [])


@pytest.mark.parametrize(("name", "shape"), [("TCOLSUM", (1, 161)), ("TROWSUM", (161, 1))])
def test_a_sum_of_single_elements_is_a_copy_as_long_as_the_other_side(name, shape):
    data = b"".join(place.to_bytes(4, "little") for place in range(1, 162)).ljust(1024, b"\xff")
    got = run_block(name, "S32", (*shape, shape[1]), "Zero", 1024, [], [data])
    assert bytes(got.new_tiles["U#1"]) == data[: 161 * 4].ljust(1024, b"\0")


def test_a_maximum_of_negative_values_ignores_the_padding_of_its_source():
    # Row maximum of all -1 over 4 of 8 columns, zeros beside them.
    minus_one, zero = (0xBC00).to_bytes(2, "little"), bytes(2)
    data = ((4 * minus_one + 4 * zero) * 3).ljust(256, b"\0")
    got = run_block("TROWMAX", "FP16", (3, 4, 8), "Zero", 256, [], [data])
    assert bytes(got.new_tiles["U#1"])[:8] == 3 * minus_one + zero


def test_flags_of_padding_and_of_other_columns_are_not_raised():
    signalling = (0x7F800001).to_bytes(4, "little")
    data = (bytes(4) + signalling * 7).ljust(256, b"\0")
    assert run_block("TADD", "FP32", (1, 1, 8), "Max", 256, [], [data, data]).block_flags == Flag(0)
    assert run_block("TADD", "FP32", (1, 2, 8), "Max", 256, [], [data, data]).block_flags == Flag.NV


def test_what_the_model_lacks_is_refused_in_a_configuration():
    for name, types in MODEL_OPERATIONS.items():
        assert implementation(operation(name)) is IMPLEMENTATIONS[operation(name).shape]
        assert types
    assert implementation(operation("MGATHER")) is None
    assert implementation(operation("TMATMULMX")) is None
    with pytest.raises(ValueError, match="the model does not execute MGATHER, which the configuration 'default' asks"):
        Machine(CoreConfig(operations={"MGATHER": frozenset({"FP32"})}))
    with pytest.raises(
        ValueError, match="the model does not move in layout NZ2ZN, which the configuration 'default' a"
    ):
        Machine(CoreConfig(move_layouts=frozenset({"NORM", "NZ2ZN"})))


def test_every_operation_of_a_family_that_computes_has_a_kernel():
    computing = (
        Shape.ELEMENTWISE, Shape.ROW_REDUCE, Shape.ROW_EXPAND_OP, Shape.COLUMN_REDUCE, Shape.COLUMN_EXPAND_OP,
    )  # fmt: skip
    assert set(KERNELS) == {name for name in MODEL_OPERATIONS if operation(name).shape in computing}


def test_a_smaller_configuration_leaves_operations_out():
    machine = Machine(CoreConfig(operations={"TEXPANDS": frozenset({"S32"})}))
    machine.load(assemble("li a0, 1\nTEXPANDS <4, S32>, [a0], ->T<256B>\nTEXPANDS <4, FP32>, [a0], ->T<256B>").image)
    result = machine.run()
    assert len(result.blocks) == 2
    assert result.fault.rule.name == "UNSUPPORTED"
