"""Operations of tiles and one scalar. LinxISA v0.56, TEPL block, mode 1.

The scalar is a value that the element type holds exactly, or a 1 x 1 tile of the type. Otherwise as
`linxtile.ops.elementwise`.
"""

from linxtile.ops.arguments import Scalar
from linxtile.ops.elementwise import Pad, apply
from linxtile.ops.flags import Flags
from linxtile.tile import Tile


def TADDS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Sum with a scalar."""
    return apply("TADDS", (first,), pad, flags, scalar)


def TSUBS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Tile minus scalar."""
    return apply("TSUBS", (first,), pad, flags, scalar)


def TMULS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Product with a scalar."""
    return apply("TMULS", (first,), pad, flags, scalar)


def TDIVS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Tile divided by a scalar."""
    return apply("TDIVS", (first,), pad, flags, scalar)


def TREMS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Remainder of a division by a scalar, with its sign."""
    return apply("TREMS", (first,), pad, flags, scalar)


def TFMODS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Remainder of a division by a scalar, with the sign of the tile element."""
    return apply("TFMODS", (first,), pad, flags, scalar)


def TANDS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Bitwise AND with a scalar."""
    return apply("TANDS", (first,), pad, flags, scalar)


def TORS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Bitwise OR with a scalar."""
    return apply("TORS", (first,), pad, flags, scalar)


def TXORS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Bitwise exclusive OR with a scalar."""
    return apply("TXORS", (first,), pad, flags, scalar)


def TSHLS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Left shift by a scalar modulo the width."""
    return apply("TSHLS", (first,), pad, flags, scalar)


def TSHRS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Right shift by a scalar modulo the width."""
    return apply("TSHRS", (first,), pad, flags, scalar)


def TMAXS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Larger of element and scalar, as TMAX."""
    return apply("TMAXS", (first,), pad, flags, scalar)


def TMINS(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """Smaller of element and scalar, as TMIN."""
    return apply("TMINS", (first,), pad, flags, scalar)


def TLRELU(first: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``x`` where it is above zero, else ``x * scalar``."""
    return apply("TLRELU", (first,), pad, flags, scalar)


def TADDSC(first: Tile, second: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first + scalar + second``, rounded once; no 8-bit types."""
    return apply("TADDSC", (first, second), pad, flags, scalar)


def TSUBSC(first: Tile, second: Tile, scalar: Scalar, *, pad: Pad = "Null", flags: Flags | None = None) -> Tile:
    """``first - scalar + second``, rounded once; no 8-bit types."""
    return apply("TSUBSC", (first, second), pad, flags, scalar)
