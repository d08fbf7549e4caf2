"""The worked examples as data: one description a shape family, and what single operations show instead."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf, nan
from typing import Any

from linxtile.isa.operations import Operation, Shape

Matrix = tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Example:
    """What a worked example computes on.

    Attributes
    ----------
    data_type : str
        Type of the block.
    tiles : tuple of Matrix
        Values of the source tiles in header order; of a mask zeros and ones.
    scalar : float or None
        Scalar operand, a value that the type holds exactly.
    second_type : str or None
        Type of B.DATR.
    options : Mapping[str, Any]
        Keyword arguments of the call, by their names in `linxtile.ops`.
    remark : str
        What to look at.
    element : (int, int)
        The element that is explained step by step, where the operation rounds single elements.
    """

    data_type: str
    tiles: tuple[Matrix, ...] = ()
    scalar: float | None = None
    second_type: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    remark: str = ""
    element: tuple[int, int] = (0, 0)


_FIRST = ((1.5, -2.0, 65504.0, -0.0), (inf, nan, 1.0, 1024.0))
_SECOND = ((0.25, 3.0, 65504.0, 0.0), (-inf, 1.0, 2.0**-11, 0.5))
_PAIR = Example("FP16", (_FIRST, _SECOND), remark="65504 is the largest finite value of FP16.", element=(1, 2))
_MATRIX: Matrix = ((1.0, -2.0, 3.0, 0.5), (4.0, 0.25, -6.0, 8.0), (-1.5, 2.0, 2.5, -4.0))
_SIGNS: Matrix = ((1.5, -1.5, -0.0, 0.0), (-inf, 65504.0, nan, -(2.0**-24)))
_DIVISIONS = Example(
    "FP16",
    (((7.0, -7.0, 7.0, -7.0), (1.0, 0.0, -1.0, 5.5)), ((2.0, 2.0, -2.0, -2.0), (0.0, 0.0, 3.0, -2.0))),
    remark="The four combinations of signs, then divisors of zero.",
    element=(1, 2),
)
_BITS = Example("U8", (((12, 10, 255, 128), (0, 1, 170, 85)), ((10, 6, 15, 129), (255, 1, 85, 85))))
_SHIFTS = Example(
    "S8",
    (((-127, 64, -1, 1), (-128, 100, 3, -3)), ((9, 1, 7, 8), (7, 2, 0, 15))),
    remark="Counts of 8 and more are taken modulo 8.",
)
_BIAS: Matrix = ((10.0, -10.0, 0.5),)
_LEFT: Matrix = ((1.0, 2.0), (-3.0, 0.5))
_RIGHT: Matrix = ((4.0, -1.0, 0.25), (2.0, 8.0, -16.0))

FAMILIES: Mapping[Shape, Example] = {
    Shape.ELEMENTWISE: _PAIR,
    Shape.SCALAR_EXPAND: Example(
        "BF16", scalar=-1.5, options={"shape": (16, 8), "valid_shape": (2, 4), "pad": "Max"},
        remark="What lies outside the two valid rows and four valid columns is padding.",
    ),
    Shape.MASK_RESULT: replace(
        _PAIR, options={"mode": "GT"}, remark="NaN is above nothing. The eight results fill one byte."
    ),
    Shape.SELECT: Example("FP16", (((1, 0, 1, 0), (0, 1, 1, 1)), _FIRST, _SECOND), remark="NaN passes as it is."),
    Shape.ROW_REDUCE: Example("FP16", (_MATRIX,)),
    Shape.COLUMN_REDUCE: Example("FP16", (_MATRIX,)),
    Shape.ROW_EXPAND: Example("FP16", (((1.5,), (-2.0,), (0.0,)),), options={"columns": 4}),
    Shape.ROW_EXPAND_OP: Example("FP16", (_MATRIX, ((1.0,), (0.5,), (-2.0,)))),
    Shape.COLUMN_EXPAND: Example("FP16", (((1.5, -2.0, 0.0, 4.0),),), options={"rows": 3}),
    Shape.COLUMN_EXPAND_OP: Example("FP16", (_MATRIX, ((1.0, 0.5, -2.0, 4.0),)), element=(0, 1)),
    Shape.CONVERT: Example(
        "FP32", (((1.1875, 464.0, 465.0, -0.0), (1.0625, -1000.0, nan, 2.0**-10)),), second_type="E4M3",
        options={"rounding": "RNE"}, remark="464 is a tie that rounds down to 448; 465 overflows.",
    ),
    Shape.HISTOGRAM: Example(
        "U16", (((0x0102, 0x0105, 0x0205, 0x01FF), (0x0301, 0x0302, 0x0302, 0x0000)), ((1,), (3,))),
        second_type="U32", options={"byte": 0}, remark="Row 0 counts the elements with high byte 1, row 1 those with 3.",
    ),
    Shape.LOAD: Example(
        "FP16", (_MATRIX,), options={"shape": (16, 16), "valid_shape": (3, 4), "layout": "ND2NZ", "pad": "Max"},
        remark="From rows in memory to a tile in NZ order; the table shows rows and columns, whatever the order.",
    ),
    Shape.STORE: Example("FP16", (_MATRIX,), options={"stride": 16}, remark="Rows 16 bytes apart; the bytes between stay."),
    Shape.MOVE: Example(
        "FP16", (_MATRIX,), options={"shape": (16, 16), "layout": "ND2NZ"},
        remark="Rows and columns stay, the order of the bytes in the tile changes.",
    ),
    Shape.MATMUL: Example("FP16", (_LEFT, _RIGHT, _BIAS)),
    Shape.GEMV: Example("FP16", (_LEFT[:1], _RIGHT, _BIAS)),
    Shape.ACC_CONVERT: Example(
        "FP32", (_LEFT, _RIGHT), scalar=0.5, second_type="FP16", options={"row_maximum": True},
        remark="The row maximum is taken from the ACC, before the scale.",
    ),
    Shape.GATHER: Example("FP16"),
    Shape.SCATTER: Example("FP16"),
    Shape.STATE: Example(""),
}  # fmt: skip
"""The example of a family."""

_EVERY_OTHER: Mapping[str, Example] = {
    "TDIV TREM TFMOD TDIVS TREMS TFMODS": _DIVISIONS,
    "TAND TOR TXOR TANDS TORS TXORS TNOT": replace(_BITS, scalar=15),
    "TSHL TSHR TSHLS TSHRS": replace(_SHIFTS, scalar=9),
    "TABS TNEG TRELU": Example("FP16", (_SIGNS,)),
    "TPRELU": Example("FP16", (_SIGNS, ((8.0, 8.0, -8.0, 8.0), (0.5, nan, 1.0, 0.5))), element=(0, 1)),
    "TLRELU": Example("FP16", (_SIGNS,), scalar=0.5, element=(0, 1)),
    "TEXP": Example("FP16", (((0.0, 1.0, -1.0, 11.0), (12.0, -17.5, -inf, nan)),), remark="e^12 is above 65504.", element=(0, 1)),
    "TLOG": Example("FP16", (((1.0, 2.0, 10.0, 65504.0), (0.0, -1.0, inf, 2.0**-24)),), element=(0, 1)),
    "TRECIP": Example("FP16", (((1.0, 3.0, -4.0, 65504.0), (0.0, -0.0, -inf, 2.0**-24)),), element=(0, 1)),
    "TSQRT TRSQRT": Example("FP16", (((4.0, 2.0, 0.25, 65504.0), (0.0, -0.0, -1.0, inf)),), element=(0, 1)),
    "TADDC": Example(
        "FP16",
        (((2048.0, 65504.0, inf, -0.0),), ((1.0, 65504.0, 1.0, -0.0),), ((1.0, -65504.0, -inf, -0.0),)),
        remark="2048 + 1 is 2048 in FP16, but 2048 + 1 + 1 is 2050: one rounding.",
    ),
    "TSUBC": Example(
        "FP16",
        (((2048.0, 65504.0, inf, -0.0),), ((-1.0, -65504.0, 1.0, 0.0),), ((1.0, -65504.0, -inf, -0.0),)),
        remark="2048 - -1 is 2048 in FP16, but 2048 - -1 + 1 is 2050: one rounding.",
    ),
    "TADDSC": Example(
        "FP16", (((2048.0, 65504.0, inf, -0.0),), ((1.0, -65504.0, 1.0, -0.0),)), scalar=1.0,
        remark="2048 + 1 is 2048 in FP16, but 2048 + 1 + 1 is 2050: one rounding.",
    ),
    "TSUBSC": Example(
        "FP16", (((2048.0, 65504.0, inf, -0.0),), ((1.0, -65504.0, 1.0, -0.0),)), scalar=-1.0,
        remark="2048 - -1 is 2048 in FP16, but 2048 - -1 + 1 is 2050: one rounding.",
    ),
    "TROWEXPANDEXPDIF": Example("FP16", (_MATRIX, ((3.0,), (8.0,), (2.5,))), element=(0, 3)),
    "TROWEXPANDDIV": Example("FP16", (_MATRIX, ((2.0,), (0.0,), (-3.0,))), element=(2, 1)),
    "TCOLEXPANDDIV": Example("FP16", (_MATRIX, ((2.0, 0.0, -3.0, 0.5),)), element=(2, 2)),
    "TROWPROD TCOLPROD": Example("FP16", (((1.0, -2.0, 3.0, 0.5), (4.0, 0.25, -6.0, 200.0), (256.0, 256.0, 0.5, 0.5)),)),
    "TROWMAX TROWMIN TCOLMAX TCOLMIN": Example(
        "FP16", (((1.0, nan, 3.0, 0.5), (nan, nan, nan, nan), (-0.0, nan, 0.0, -0.0)),),
        remark="NaN loses against any number; a line of NaN alone gives NaN.",
    ),
}  # fmt: skip

_BY_NAME = {name: example for names, example in _EVERY_OTHER.items() for name in names.split()}
_DEFAULT_SCALAR = 2.0


def example(row: Operation) -> Example:
    """Return the example of an operation, cut to the operands that it takes."""
    found = _BY_NAME.get(row.name, FAMILIES[row.shape])
    takes_scalar = row.max_scalars > 0 and row.shape not in (Shape.LOAD, Shape.STORE)
    scalar = (_DEFAULT_SCALAR if found.scalar is None else found.scalar) if takes_scalar else None
    tiles = found.tiles if row.shape in (Shape.LOAD, Shape.STORE, Shape.ACC_CONVERT) else found.tiles[: row.max_sources]
    return replace(found, scalar=scalar, tiles=tiles)
