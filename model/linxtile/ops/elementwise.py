"""Element-wise operations on tiles. LinxISA v0.56, TEPL block, mode 0.

Operands have one type, shape and valid shape, and so has the result; what lies outside the valid area is padding (``pad``:
Zero, Max, Min, or Null, which is executed as Zero).
``flags`` collects the status flags of the valid area. Arithmetic rounds to nearest, ties to even, once.
"""

import numpy as np

from linxtile.isa.codes import PadValue
from linxtile.operations.kernels import kernel
from linxtile.ops.arguments import Scalar, require_flags, require_same, require_tile, require_type, scalar_code
from linxtile.ops.blocks import Call, image_bytes, result, stored
from linxtile.ops.flags import Flags
from linxtile.tile import Tile
from linxtile.tile_arguments import pad_value

Pad = str | PadValue


def apply(name: str, tiles: tuple[Tile, ...], pad: Pad, flags: Flags | None, *scalar: Scalar) -> Tile:
    """Run an operation whose result has the geometry of its operands; ``scalar`` is one or none."""
    for place, tile in enumerate(tiles):
        require_tile(name, f"operand {place}", tile)
    require_same(name, tiles)
    first = tiles[0]
    row = require_type(name, first.data_type)
    scalars = tuple([scalar_code(name, value, row) for value in scalar])
    padding, collector = pad_value(pad), require_flags(name, flags)
    if first.valid_shape == first.shape:
        return _without_padding(name, tiles, scalars, collector)
    call = Call(
        name, row, (first.valid_shape[1], first.valid_shape[0], first.shape[1]), (image_bytes(first.shape, row),),
        scalars=scalars, pad=padding, flags=collector,
    )  # fmt: skip
    return result(call.run([stored(tile) for tile in tiles]), 0, row, first.shape, first.valid_shape)


def _without_padding(name: str, tiles: tuple[Tile, ...], scalars: tuple[int, ...], flags: Flags | None) -> Tile:
    """Apply the kernel of an operation to whole tiles: what a block does, when no byte is padding."""
    row = tiles[0].data_type
    operands = [tile.codes for tile in tiles]
    operands[1:1] = [np.array([[code]], operands[0].dtype) for code in scalars]
    codes, raised = kernel(name, row, flags is not None)(*operands)
    if flags is not None:
        flags.raised |= raised
    return Tile.adopt(codes, row, tiles[0].shape)


def TADD(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Sum; integers modulo ``2**w``."""
    return apply("TADD", (first, second), pad, flags)


def TSUB(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Difference; integers modulo ``2**w``."""
    return apply("TSUB", (first, second), pad, flags)


def TMUL(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Product; integers keep the low bits."""
    return apply("TMUL", (first, second), pad, flags)


def TDIV(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Quotient; integers truncate toward zero, and x / 0 gives all ones."""
    return apply("TDIV", (first, second), pad, flags)


def TREM(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Remainder with the sign of the divisor: ``x - y*floor(x/y)``."""
    return apply("TREM", (first, second), pad, flags)


def TFMOD(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Remainder with the sign of the dividend: ``x - y*trunc(x/y)``."""
    return apply("TFMOD", (first, second), pad, flags)


def TAND(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Bitwise AND of integers."""
    return apply("TAND", (first, second), pad, flags)


def TOR(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Bitwise OR of integers."""
    return apply("TOR", (first, second), pad, flags)


def TXOR(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Bitwise exclusive OR of integers."""
    return apply("TXOR", (first, second), pad, flags)


def TSHL(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Left shift of integers by a count modulo the width."""
    return apply("TSHL", (first, second), pad, flags)


def TSHR(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Right shift of integers by a count modulo the width; signed types keep their sign."""
    return apply("TSHR", (first, second), pad, flags)


def TMAX(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Larger operand: a number wins against NaN, +0 against -0."""
    return apply("TMAX", (first, second), pad, flags)


def TMIN(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Smaller operand: a number wins against NaN, -0 against +0."""
    return apply("TMIN", (first, second), pad, flags)


def TPRELU(first: Tile, second: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``x`` where it is above zero, else ``x`` times the slope in ``second``."""
    return apply("TPRELU", (first, second), pad, flags)


def TABS(first: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Absolute value; floats only lose their sign bit, the most negative integer stays."""
    return apply("TABS", (first,), pad, flags)


def TNOT(first: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Bitwise complement of integers."""
    return apply("TNOT", (first,), pad, flags)


def TNEG(first: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Negation; floats only flip their sign bit, integers wrap."""
    return apply("TNEG", (first,), pad, flags)


def TEXP(first: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``e**x``, correctly rounded up to 32 bits; integers: truncated and saturated."""
    return apply("TEXP", (first,), pad, flags)


def TLOG(first: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Natural logarithm, correctly rounded up to 32 bits; integers: truncated."""
    return apply("TLOG", (first,), pad, flags)


def TRECIP(first: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``1 / x``, rounded once."""
    return apply("TRECIP", (first,), pad, flags)


def TSQRT(first: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Square root, rounded once; negative values give NaN."""
    return apply("TSQRT", (first,), pad, flags)


def TRSQRT(first: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``1 / sqrt(x)``, rounded once."""
    return apply("TRSQRT", (first,), pad, flags)


def TRELU(first: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``x`` where it is above zero, else +0; NaN gives the canonical NaN."""
    return apply("TRELU", (first,), pad, flags)


def TADDC(first: Tile, second: Tile, third: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first + second + third``, rounded once."""
    return apply("TADDC", (first, second, third), pad, flags)


def TSUBC(first: Tile, second: Tile, third: Tile, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first - second + third``, rounded once."""
    return apply("TSUBC", (first, second, third), pad, flags)
