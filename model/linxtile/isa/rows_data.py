"""Rows of the TMA (memory) and CUBE (matrix) operations, by Function."""

from typing import Any

from linxtile.isa.codes import MAX_DESTINATIONS, MAX_SOURCES, Engine, Layout
from linxtile.isa.operation import Shape, Uses
from linxtile.isa.rows_tepl import EVERY_TYPE, Row
from linxtile.isa.types import data_type

MOVE_TYPES = tuple(name for name in EVERY_TYPE if name not in ("E3M2", "E2M3"))
WHOLE_BYTE_TYPES = tuple(name for name in EVERY_TYPE if not data_type(name).is_packed)
_NOT_MATRIX = ("HiF8", "E8M0", "HiF4x2")
MATRIX_TYPES = tuple(name for name in EVERY_TYPE if name not in _NOT_MATRIX)
VECTOR_TYPES = tuple(name for name in EVERY_TYPE if name not in ("E8M0", "E3M2", "E2M3"))
SCALED_TYPES = ("E2M1x2", "E1M2x2", "HiF4x2", "S4x2", "U4x2", "E4M3", "E5M2", "FP16", "BF16")
ACC_TYPES = ("FP32", "S32", "U32")
ACC_RESULT_TYPES = tuple(name for name in EVERY_TYPE if name not in ("HiF8", "S4x2", "U4x2"))

_FP4, _FP8, _FP16 = ("E2M1x2", "E1M2x2"), ("E4M3", "E5M2"), ("FP16", "BF16")

_LOADS = (Layout.NORM, Layout.ND2ZN, Layout.ND2NZ, Layout.DN2ZN, Layout.DN2NZ)
_STORES = (Layout.NORM, Layout.ZN2ND, Layout.ZN2DN, Layout.NZ2ND, Layout.NZ2DN)
_MOVES = (
    Layout.NORM, Layout.ND2DN, Layout.ND2ZN, Layout.ND2NZ, Layout.DN2ND, Layout.DN2ZN, Layout.DN2NZ,
    Layout.ZN2ND, Layout.ZN2DN, Layout.ZN2NZ, Layout.NZ2ND, Layout.NZ2DN, Layout.NZ2ZN,
)  # fmt: skip


def _pairs(first: tuple[str, ...], second: tuple[str, ...]) -> frozenset[tuple[str, str]]:
    """Every pair of one class: float with float, signed with signed, unsigned with unsigned."""
    return frozenset((a, b) for a in first for b in second if data_type(a).kind is data_type(b).kind)


def _tma(function: int, name: str, shape: Shape, sources: str, semantics: str, **more: Any) -> Row:
    roles = tuple(sources.split())
    return {
        "name": name, "engine": Engine.TMA, "mode": 0, "function": function, "shape": shape, "sources": roles,
        "min_sources": len(roles), "max_sources": len(roles), "semantics": semantics, "source_types": MOVE_TYPES,
    } | more  # fmt: skip


_STORED: Row = {"min_destinations": 0, "max_destinations": 0}
_ADDRESS: Row = {"min_scalars": 1, "max_scalars": 1, "source_types": WHOLE_BYTE_TYPES}
_PITCHED: Row = {"min_scalars": 1, "max_scalars": 2}
_MASKED: Row = {"dimensions": ("columns", "rows")}

# fmt: off
TMA_ROWS: tuple[Row, ...] = (
    _tma(0, "TLOAD", Shape.LOAD, "",
         "dst(i,j) = Mem[base + i*stride + j*esize] (ND), Mem[base + j*stride + i*esize] (DN)",
         aliases=("TCOPYIN",), max_destinations=MAX_DESTINATIONS, layouts=_LOADS, uses=Uses.LAYOUT | Uses.PAD,
         **_PITCHED),
    _tma(1, "TSTORE", Shape.STORE, " ".join(f"src{place}" for place in range(MAX_SOURCES)),
         "Mem[base + i*stride + j*esize] (ND), Mem[base + j*stride + i*esize] (DN) = src(i,j)",
         aliases=("TCOPYOUT",), min_sources=1, layouts=_STORES, uses=Uses.LAYOUT, **_STORED, **_PITCHED),
    _tma(2, "TMOV", Shape.MOVE, "src0", "dst(i,j) = src0(i,j), each in its own order",
         aliases=("TCOPY",), layouts=_MOVES, uses=Uses.LAYOUT | Uses.PAD, source_types=EVERY_TYPE),
    _tma(4, "MGATHER", Shape.GATHER, "offsets", "dst[i,j] = Mem[base + offsets[i,j]]", **_ADDRESS),
    _tma(5, "MSCATTER", Shape.SCATTER, "src0 offsets", "Mem[base + offsets[i,j]] = src0[i,j]",
         uses=Uses.NOTHING, **_STORED, **_ADDRESS),
    _tma(6, "MGATHER.MASK", Shape.GATHER, "offsets mask",
         "dst[i,j] = Mem[base + offsets[i,j]] if mask bit(i,j) else pad",
         **_ADDRESS, **_MASKED),
    _tma(7, "MSCATTER.MASK", Shape.SCATTER, "src0 offsets mask",
         "if mask bit(i,j): Mem[base + offsets[i,j]] = src0[i,j]",
         uses=Uses.NOTHING, **_STORED, **_ADDRESS, **_MASKED),
)
# fmt: on


def _cube(function: int, name: str, shape: Shape, sources: str, semantics: str, **more: Any) -> Row:
    return _tma(function, name, shape, sources, semantics) | {"engine": Engine.CUBE} | more


def _product(function: int, name: str, shape: Shape, types: dict[str, Any], left: str, old_name: str) -> list[Row]:
    """The plain, ``.BIAS`` and ``.ACC`` form of one product; MX forms take a scale tile after each operand."""
    scaled = name.endswith("MX")
    a, b = ("(a[i,k]*scale_a)", "(b[k,j]*scale_b)") if scaled else ("a[i,k]", "b[k,j]")
    sources = "a scale_a b scale_b" if scaled else "a b"
    product = f"sum over k of {a}*{b}"
    common: Row = {"uses": Uses.SECOND_TYPE, "dimensions": ("m", "n", "k"), "writes_acc": True} | types

    def counts(tiles: str) -> Row:
        most = len(tiles.split())
        # 16-bit operands of an MX product bring no scale tile; TGEMVMX allows them on the left only.
        fewer = len(left.split()) if scaled else 0
        return {"min_sources": most - fewer, "max_sources": most}

    def old(suffix: str) -> tuple[str, ...]:
        return (old_name + suffix,) if old_name else ()

    biased = sources + " bias"
    return [
        _cube(function, name, shape, sources, f"ACC[i,j] = {product}", aliases=old(""), **common, **counts(sources)),
        _cube(function + 1, f"{name}.BIAS", shape, biased, f"ACC[i,j] = bias[j] + {product}",
              aliases=old("AC"), **common, **counts(biased)),
        _cube(function + 2, f"{name}.ACC", shape, sources, f"ACC[i,j] = ACC[i,j] + {product}",
              aliases=old(".ACC"), reads_acc=True, **common, **counts(sources)),
    ]  # fmt: skip


def _types(first: tuple[str, ...], second: tuple[str, ...], pairs: frozenset[tuple[str, str]]) -> Row:
    return {"source_types": first, "second_types": second, "type_pairs": pairs}


_SCALED_VECTOR_PAIRS = _pairs(_FP4, _FP4) | _pairs(_FP8, _FP8) | _pairs(_FP8, _FP4) | _pairs(_FP16, _FP4)

# fmt: off
CUBE_ROWS: tuple[Row, ...] = (
    *_product(0, "TMATMUL", Shape.MATMUL, _types(MATRIX_TYPES, MATRIX_TYPES, _pairs(MATRIX_TYPES, MATRIX_TYPES)),
              "", "MAMULB"),
    *_product(4, "TMATMULMX", Shape.MATMUL, _types(SCALED_TYPES, SCALED_TYPES, _pairs(SCALED_TYPES, SCALED_TYPES)),
              "scale_a scale_b", "MAMULBMX"),
    _cube(8, "ACCCVT", Shape.ACC_CONVERT, "", "dst0(i,j) = Convert(ACC[i,j] * scale, SrcType -> DstType); "
          "dst1[i] = maximum over j of ACC[i,j]", max_scalars=1, max_destinations=2, source_types=ACC_TYPES,
          second_types=ACC_RESULT_TYPES, layouts=(Layout.NORM, Layout.NZ2ND, Layout.NZ2DN), reads_acc=True,
          uses=Uses.LAYOUT | Uses.CANONICAL | Uses.SECOND_TYPE | Uses.ROUNDING | Uses.SATURATE,
          dimensions=("rows", "columns")),
    *_product(16, "TGEMV", Shape.GEMV, _types(VECTOR_TYPES, VECTOR_TYPES, _pairs(VECTOR_TYPES, VECTOR_TYPES)), "", ""),
    *_product(20, "TGEMVMX", Shape.GEMV, _types((*_FP4, *_FP8, *_FP16), (*_FP4, *_FP8), _SCALED_VECTOR_PAIRS),
              "scale_a", ""),
)
# fmt: on
