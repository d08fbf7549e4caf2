"""Programs with matrix products: operands laid out by the printed formulas, the ACC set to any bits."""

import random

from linxtile import Machine
from linxtile.asm import assemble
from linxtile.isa.codes import REGISTER_NUMBERS
from linxtile.isa.types import data_type


def put_code(data, place, bits, code):
    """Write element number ``place`` of a bytearray; the even one of two nibbles is the low one."""
    low = place * bits
    end = (low + bits + 7) // 8
    piece = int.from_bytes(data[low // 8 : end], "little")
    piece = piece & ~(((1 << bits) - 1) << low % 8) | code << low % 8
    data[low // 8 : end] = piece.to_bytes(end - low // 8, "little")


def code_of(data, place, bits):
    """Return element number ``place`` of bytes."""
    low = place * bits
    piece = int.from_bytes(data[low // 8 : (low + bits + 7) // 8], "little")
    return piece >> low % 8 & (1 << bits) - 1


def padded(value, step):
    """Return the next multiple of ``step``."""
    return (value + step - 1) // step * step


def left_tile(codes, kind, size, rng):
    """Return a left operand: NZ, ``RowA = SizeA / (KA * esize)``, everything outside M x K is garbage."""
    bits = data_type(kind).storage_bits
    c0 = 256 // bits
    rows = size * 8 // (padded(len(codes[0]), c0) * bits)
    tile = bytearray(rng.randbytes(size))
    for i, line in enumerate(codes):
        for k, code in enumerate(line):
            put_code(tile, (k // c0) * rows * c0 + i * c0 + k % c0, bits, code)
    return bytes(tile)


def right_tile(codes, kind, size, rng):
    """Return a right operand: ZN, ``ColB = SizeB / (KB * esize)``, everything outside K x N is garbage."""
    bits = data_type(kind).storage_bits
    r0 = 256 // bits
    columns = size * 8 // (padded(len(codes), r0) * bits)
    tile = bytearray(rng.randbytes(size))
    for k, line in enumerate(codes):
        for j, code in enumerate(line):
            put_code(tile, (k // r0) * columns * r0 + j * r0 + k % r0, bits, code)
    return bytes(tile)


def row_tile(codes, kind, size, rng):
    """Return a vector of codes with garbage behind it."""
    tile = bytearray(rng.randbytes(size))
    for place, code in enumerate(codes):
        put_code(tile, place, data_type(kind).storage_bits, code)
    return bytes(tile)


def run(tiles, lines, machine=None):
    """Load each of ``tiles``, the first to the oldest name of T, run the lines and return machine and result."""
    machine = machine or Machine()
    loads = []
    for place, data in enumerate(tiles):
        machine.memory.write(0x100000 + place * 0x10000, data)
        loads.append(
            f"li x0, {0x100000 + place * 0x10000:#x}\nTLOAD.NORM <{len(data) // 8}, 8, U8>, [x0], ->T<{len(data)}B>\n"
        )
    machine.load(assemble("".join(loads) + lines, address=0x1000).image, 0x1000)
    return machine, machine.run()


def machine_with_accumulator(patterns, scale=0):
    """Return a machine whose ACC holds these 32-bit patterns, at most 64 a row, and whose a3 holds the scale.

    They get there as integers, by their product with the identity.
    """
    n, depth, rng = len(patterns[0]), 64, random.Random(1)
    left = [[*line, *[0] * (depth - n)] for line in patterns]
    identity = [[int(k == j) for j in range(n)] for k in range(depth)]
    tiles = [left_tile(left, "U32", 32 * 1024, rng), right_tile(identity, "U32", 32 * 1024, rng)]
    machine, result = run(tiles, f"TMATMUL <{len(patterns)}, {n}, {depth}, U32>, T#2, T#1, ->ACC<32KB>")
    assert result.fault is None, str(result.fault)
    assert machine.accumulator.codes.tolist() == patterns
    machine.gprs[REGISTER_NUMBERS["a3"]] = scale
    return machine
