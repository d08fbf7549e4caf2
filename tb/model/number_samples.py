"""Codes to test arithmetic with: every place where something changes, and random ones from a seed."""

import random

from linxtile.isa.types import Kind, data_type


def edges(name):
    """Return the codes of a type at which something changes, both signs: zeros, limits, ones, specials, neighbours."""
    row = data_type(name)
    if row.storage_bits == 4 or row.kind is Kind.SCALE or row.tapered:
        return list(range(1 << row.value_bits))
    if row.is_integer:
        half, most = 1 << (row.value_bits - 1), (1 << row.value_bits) - 1
        codes = {0, 1, 2, 3, 7, 10, half - 2, half - 1, half, half + 1, most - 2, most - 1, most}
        codes |= {1 << bit for bit in range(0, row.value_bits, 5)} | {
            most - (1 << bit) for bit in range(0, row.value_bits, 9)
        }
        return sorted(codes)
    top, unit = row.mantissa_bits + row.dead_bits, 1 << row.dead_bits
    one = row.bias << top
    codes = {0, unit, 2 * unit, 3 * unit, (1 << top) - unit, 1 << top, (1 << top) + unit, one - unit, one, one + unit}
    codes |= {one + (row.mantissa_bits << top), one + ((row.mantissa_bits + 1) << top), 3 << (top - 1)}
    codes |= {row.max_finite, row.max_finite - unit, row.max_finite - (1 << top)}
    if row.has_nan:
        codes.add(row.canonical_nan)
    if row.has_infinity:
        infinity = row.positive_infinity
        codes |= {infinity, infinity + unit, infinity + (1 << (top - 1)) - unit, row.canonical_nan + unit}
    if row.dead_bits:
        codes |= {1, one + 1, row.positive_infinity + 1}
    codes = {code & row.storage_mask & ~row.sign_bit for code in codes}
    return sorted(codes | {code | row.sign_bit for code in codes})


def any_code(source, row):
    """Return a random code of a type, bits outside the value included."""
    return source.randrange(1 << row.storage_bits)


def close_code(source, code, row):
    """Return a random code whose exponent is near that of another one, so that the two interact."""
    top = row.mantissa_bits + row.dead_bits
    exponent = ((code >> top) + source.randrange(-3, row.mantissa_bits + 4)) % (1 << row.exponent_bits)
    return (source.randrange(2) * row.sign_bit) | (exponent << top) | source.randrange(1 << top)


def tuples(name, operands, count, seed=1):
    """Return operands of an operation: edges with edges (all pairs; of three operands a sample), then random ones."""
    row, source = data_type(name), random.Random(seed)
    corners = edges(name)
    if operands == 1:
        grid = [(code,) for code in corners]
    elif operands == 2:
        grid = [(first, second) for first in corners for second in corners]
    else:
        grid = [tuple(source.choice(corners) for _ in range(operands)) for _ in range(2 * count)]
    for index in range(count):
        codes = [any_code(source, row)]
        while len(codes) < operands:
            near = row.is_float and not row.tapered and index % 2
            codes.append(close_code(source, codes[0], row) if near else any_code(source, row))
        grid.append(tuple(codes))
    return grid
