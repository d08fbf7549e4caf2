"""Rows of the TEPL operations (BSTART.TEPL), by Mode and Function."""

from typing import Any

from linxtile.isa.codes import Engine
from linxtile.isa.operation import Shape, Uses
from linxtile.isa.types import DATA_TYPES

INTEGERS = ("S64", "U64", "S32", "U32", "S16", "U16", "S8", "U8")
WIDE_ARITHMETIC = (
    "S64", "U64", "FP64", "S32", "U32", "FP32", "TF32", "HF32", "S16", "U16", "FP16", "BF16",
)  # fmt: skip
ARITHMETIC = (*WIDE_ARITHMETIC, "S8", "U8", "E4M3", "E5M2")
EVERY_TYPE = tuple(row.name for row in DATA_TYPES)

Row = dict[str, Any]


def _row(mode: int, function: int, name: str, shape: Shape, sources: str, semantics: str, **more: Any) -> Row:
    roles = tuple(sources.split())
    return {
        "name": name, "engine": Engine.TEPL, "mode": mode, "function": function, "shape": shape, "sources": roles,
        "min_sources": len(roles), "max_sources": len(roles), "source_types": ARITHMETIC, "semantics": semantics,
    } | more  # fmt: skip


def _tile(function: int, name: str, sources: str, semantics: str, **more: Any) -> Row:
    """Mode 0: tiles only."""
    return _row(0, function, name, more.pop("shape", Shape.ELEMENTWISE), sources, semantics, **more)


def _scalar(function: int, name: str, sources: str, semantics: str, **more: Any) -> Row:
    """Mode 1: tiles and one scalar, the low bits of the first B.IOR input taken as an element."""
    return _row(1, function, name, more.pop("shape", Shape.ELEMENTWISE), sources, semantics,
                **({"min_scalars": 1, "max_scalars": 1} | more))  # fmt: skip


def _logic(types: tuple[str, ...] = INTEGERS) -> Row:
    return {"source_types": types}


_COMPARE: Row = {"shape": Shape.MASK_RESULT, "uses": Uses.PAD | Uses.COMPARE}

# fmt: off
_TILE_TILE = (
    _tile(0,  "TADD", "src0 src1", "dst[r,c] = src0[r,c] + src1[r,c]"),
    _tile(1,  "TSUB", "src0 src1", "dst[r,c] = src0[r,c] - src1[r,c]"),
    _tile(2,  "TMUL", "src0 src1", "dst[r,c] = src0[r,c] * src1[r,c]"),
    _tile(3,  "TDIV", "src0 src1", "dst[r,c] = src0[r,c] / src1[r,c] (integers: truncated toward zero)"),
    _tile(4,  "TREM", "src0 src1", "dst[r,c] = src0[r,c] - src1[r,c] * floor(src0[r,c] / src1[r,c])"),
    _tile(5,  "TFMOD", "src0 src1", "dst[r,c] = src0[r,c] - src1[r,c] * trunc(src0[r,c] / src1[r,c])"),
    _tile(6,  "TAND", "src0 src1", "dst[r,c] = src0[r,c] AND src1[r,c]", **_logic()),
    _tile(7,  "TOR",  "src0 src1", "dst[r,c] = src0[r,c] OR src1[r,c]", **_logic()),
    _tile(8,  "TXOR", "src0 src1", "dst[r,c] = src0[r,c] XOR src1[r,c]", **_logic()),
    _tile(9,  "TSHL", "src0 src1", "dst[r,c] = src0[r,c] << (src1[r,c] mod w), w = element width", **_logic()),
    _tile(10, "TSHR", "src0 src1", "dst[r,c] = src0[r,c] >> (src1[r,c] mod w), arithmetic if signed", **_logic()),
    _tile(11, "TMAX", "src0 src1", "dst[r,c] = max(src0[r,c], src1[r,c])"),
    _tile(12, "TMIN", "src0 src1", "dst[r,c] = min(src0[r,c], src1[r,c])"),
    _tile(13, "TCMP", "src0 src1", "mask bit(r,c) = src0[r,c] CMode src1[r,c]", **_COMPARE),
    _tile(14, "TPRELU", "src0 src1", "dst[r,c] = src0[r,c] if src0[r,c] > 0 else src0[r,c] * src1[r,c]"),
    _tile(15, "TABS", "src0", "dst[r,c] = |src0[r,c]|"),
    _tile(16, "TNOT", "src0", "dst[r,c] = NOT src0[r,c]", **_logic()),
    _tile(17, "TNEG", "src0", "dst[r,c] = -src0[r,c]"),
    _tile(18, "TEXP", "src0", "dst[r,c] = e^src0[r,c]"),
    _tile(19, "TLOG", "src0", "dst[r,c] = ln(src0[r,c])"),
    _tile(20, "TRECIP", "src0", "dst[r,c] = 1 / src0[r,c]"),
    _tile(21, "TSQRT", "src0", "dst[r,c] = sqrt(src0[r,c])"),
    _tile(22, "TRSQRT", "src0", "dst[r,c] = 1 / sqrt(src0[r,c]), one rounding"),
    _tile(23, "TRELU", "src0", "dst[r,c] = src0[r,c] if src0[r,c] > 0 else 0"),
    _tile(24, "TADDC", "src0 src1 src2", "dst[r,c] = src0[r,c] + src1[r,c] + src2[r,c], one rounding"),
    _tile(25, "TSUBC", "src0 src1 src2", "dst[r,c] = src0[r,c] - src1[r,c] + src2[r,c], one rounding"),
    _tile(26, "TSEL", "mask src0 src1", "dst[r,c] = src0[r,c] if mask bit(r,c) else src1[r,c], raw copy",
          shape=Shape.SELECT),
    _tile(27, "TCVT", "src0", "dst[r,c] = Convert(src0[r,c], SrcType -> DstType, RMode, Sat)", shape=Shape.CONVERT,
          source_types=EVERY_TYPE, second_types=EVERY_TYPE,
          uses=Uses.PAD | Uses.SECOND_TYPE | Uses.ROUNDING | Uses.SATURATE),
)

_TILE_SCALAR = (
    _scalar(0,  "TADDS", "src0", "dst[r,c] = src0[r,c] + scalar"),
    _scalar(1,  "TSUBS", "src0", "dst[r,c] = src0[r,c] - scalar"),
    _scalar(2,  "TMULS", "src0", "dst[r,c] = src0[r,c] * scalar"),
    _scalar(3,  "TDIVS", "src0", "dst[r,c] = src0[r,c] / scalar (integers: truncated toward zero)"),
    _scalar(4,  "TREMS", "src0", "dst[r,c] = src0[r,c] - scalar * floor(src0[r,c] / scalar)"),
    _scalar(5,  "TFMODS", "src0", "dst[r,c] = src0[r,c] - scalar * trunc(src0[r,c] / scalar)"),
    _scalar(6,  "TANDS", "src0", "dst[r,c] = src0[r,c] AND scalar", **_logic()),
    _scalar(7,  "TORS", "src0", "dst[r,c] = src0[r,c] OR scalar", **_logic()),
    _scalar(8,  "TXORS", "src0", "dst[r,c] = src0[r,c] XOR scalar", **_logic()),
    _scalar(9,  "TSHLS", "src0", "dst[r,c] = src0[r,c] << (scalar mod w), w = element width", **_logic()),
    _scalar(10, "TSHRS", "src0", "dst[r,c] = src0[r,c] >> (scalar mod w), arithmetic if signed", **_logic()),
    _scalar(11, "TMAXS", "src0", "dst[r,c] = max(src0[r,c], scalar)"),
    _scalar(12, "TMINS", "src0", "dst[r,c] = min(src0[r,c], scalar)"),
    _scalar(13, "TCMPS", "src0", "mask bit(r,c) = src0[r,c] CMode scalar", **_COMPARE),
    _scalar(14, "TLRELU", "src0", "dst[r,c] = src0[r,c] if src0[r,c] > 0 else src0[r,c] * scalar"),
    _scalar(24, "TADDSC", "src0 src1", "dst[r,c] = src0[r,c] + scalar + src1[r,c], one rounding",
            source_types=WIDE_ARITHMETIC),
    _scalar(25, "TSUBSC", "src0 src1", "dst[r,c] = src0[r,c] - scalar + src1[r,c], one rounding",
            source_types=WIDE_ARITHMETIC),
    _scalar(26, "TSELS", "mask src0", "dst[r,c] = src0[r,c] if mask bit(r,c) else scalar, raw copy",
            shape=Shape.SELECT, aliases=("SELS",)),
    _scalar(27, "TEXPANDS", "", "dst[r,c] = scalar", shape=Shape.SCALAR_EXPAND),
)

_REDUCTIONS = (("SUM", "sum"), ("MAX", "maximum"), ("MIN", "minimum"), ("PROD", "product"))
_EXPANSIONS = (
    ("ADD", "{a} + {b}"), ("SUB", "{a} - {b}"), ("MUL", "{a} * {b}"), ("DIV", "{a} / {b}"),
    ("MAX", "max({a}, {b})"), ("MIN", "min({a}, {b})"), ("EXPDIF", "e^({a} - {b}), the difference rounded first"),
)
# fmt: on


def _reduce_expand(base: int, direction: str, index: str, other: str, shapes: tuple[Shape, Shape, Shape]) -> list[Row]:
    """One half of mode 2: four reductions, the copy, seven expand operations, from function ``base`` on."""
    reduce, expand, expand_operation = shapes
    rows = [
        _row(2, base + place, f"T{direction}{name}", reduce, "src0", f"dst[{index}] = {word} over {other} of src0[r,c]")
        for place, (name, word) in enumerate(_REDUCTIONS)
    ]
    rows.append(_row(2, base + 4, f"T{direction}EXPAND", expand, "vector", f"dst[r,c] = vector[{index}], raw copy"))
    for place, (name, formula) in enumerate(_EXPANSIONS):
        text = "dst[r,c] = " + formula.format(a="src0[r,c]", b=f"vector[{index}]")
        rows.append(_row(2, base + 5 + place, f"T{direction}EXPAND{name}", expand_operation, "src0 vector", text))
    return rows


_REDUCE_EXPAND = (
    *_reduce_expand(0, "ROW", "r", "c", (Shape.ROW_REDUCE, Shape.ROW_EXPAND, Shape.ROW_EXPAND_OP)),
    *_reduce_expand(16, "COL", "c", "r", (Shape.COLUMN_REDUCE, Shape.COLUMN_EXPAND, Shape.COLUMN_EXPAND_OP)),
)

_STATE: Row = {"shape": Shape.STATE, "source_types": None, "uses": Uses.NOTHING, "dimensions": ()}

# fmt: off
_COMPLEX = (
    _row(3, 8, "THISTOGRAM", Shape.HISTOGRAM, "src0 filter",
         "dst[r,k] = number of c with byte ByteId of src0[r,c] <= k whose higher bytes equal the filter",
         source_types=("U16", "U32"), second_types=("U8", "U16", "U32", "U64"), second_default=False,
         uses=Uses.SECOND_TYPE | Uses.BYTE_ID),
    _row(3, 30, "ESAVE", semantics="dst0 = private registers of the interrupted block, dst1..dst4 = its output tiles",
         sources="", max_destinations=5, **_STATE),
    _row(3, 31, "ERCOV", semantics="restores what ESAVE saved",
         sources="registers output0 output1 output2 output3", min_destinations=0, max_destinations=0,
         **(_STATE | {"min_sources": 1})),
)
# fmt: on

TEPL_ROWS: tuple[Row, ...] = (*_TILE_TILE, *_TILE_SCALAR, *_REDUCE_EXPAND, *_COMPLEX)
