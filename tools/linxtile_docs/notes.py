"""Special cases of operations in one sentence each, with the section of the numeric rules that says more."""

from linxtile.isa.operations import Operation, Shape, Uses
from linxtile.isa.types import data_type

_EXPAND_FORMS = ("TROWEXPAND{}", "TCOLEXPAND{}")
_SHAPES_THAT_COMPUTE = (
    Shape.ELEMENTWISE, Shape.ROW_EXPAND_OP, Shape.COLUMN_EXPAND_OP, Shape.ROW_REDUCE, Shape.COLUMN_REDUCE,
)  # fmt: skip
_COPIES = (
    Shape.SELECT, Shape.SCALAR_EXPAND, Shape.ROW_EXPAND, Shape.COLUMN_EXPAND, Shape.LOAD, Shape.STORE, Shape.MOVE,
    Shape.GATHER, Shape.SCATTER,
)  # fmt: skip

# fmt: off
_BY_NAME: tuple[tuple[str, str, str], ...] = (
    ("TADD TSUB TADDS TSUBS {ADD} {SUB}", "integers", "Integers wrap modulo 2^w."),
    ("TMUL TMULS {MUL}", "integers", "Integers keep the low w bits of the product."),
    ("TADD TADDS TSUB TSUBS {ADD} {SUB}", "nan", "Infinities that cancel give NaN and raise NV."),
    ("TMUL TMULS {MUL}", "nan", "0 * inf is NaN and raises NV."),
    ("TDIV TDIVS {DIV}", "division", "Integers: x / 0 is all ones, the most negative number / -1 is itself."),
    ("TDIV TDIVS {DIV}", "division", "Floats: finite / 0 is infinity and raises DZ; 0 / 0 and inf / inf are NaN and raise NV."),
    ("TREM TREMS", "division", "The result has the sign of the divisor, a zero too."),
    ("TFMOD TFMODS", "division", "The result has the sign of the dividend and is exact."),
    ("TREM TREMS TFMOD TFMODS", "division", "Integers: divisor 0 gives the dividend. Floats: divisor 0 or an infinite dividend is NaN, NV."),
    ("TSHL TSHLS TSHR TSHRS", "shifts", "The count is taken modulo w."),
    ("TSHR TSHRS", "shifts", "Signed types keep the sign, unsigned ones shift zeros in."),
    ("TMAX TMIN TMAXS TMINS {MAX} {MIN} TROWMAX TROWMIN TCOLMAX TCOLMIN", "maximum",
     "A number beats a NaN, two NaN give the canonical one, and -0 is below +0."),
    ("TCMP TCMPS", "comparison", "NaN: NE is true, all others are false; only a signalling NaN raises NV. Both zeros are equal."),
    ("TCMP TCMPS TSEL TSELS", "comparison", "Element (r, c) is bit r*Col + c of the mask, the lowest bit of a byte first."),
    ("TPRELU TLRELU", "relu", "Above zero the slope has no effect, not even a NaN; a NaN x gives the canonical NaN."),
    ("TRELU", "relu", "Everything that is not above zero gives +0; a NaN gives the canonical NaN."),
    ("TEXP TLOG", "exponential", "FP64: an integer algorithm, within 0.51 ULP, in place of the one rounding."),
    ("TMATMUL TMATMUL.BIAS TMATMUL.ACC", "accumulator",
     "a is a tile in NZ order, b one in ZN order (layouts), K filled up to a whole number of 32 bytes, M and N to 16; the ACC holds M x N so filled up."),
    ("TGEMV TGEMV.BIAS TGEMV.ACC", "accumulator",
     "a is one row of K elements, b a tile in ZN order (layouts), K filled up to a whole number of 32 bytes, N to 16."),
    ("ACCCVT", "accumulator", "The scale is in the type of the accumulator: an S32 accumulator is scaled by integers only."),
    ("TABS TNEG", "nan", "Floats: only the sign bit changes, of a NaN too, and nothing is raised."),
    ("TABS TNEG", "integers", "The most negative number stays as it is."),
    ("TNEG", "integers", "Unsigned types: 2^w - x modulo 2^w."),
    ("TEXP", "exponential", "e^-inf is +0. Too large results overflow by the rules of rounding."),
    ("TLOG", "exponential", "ln 0 is -inf and raises DZ; a number below zero gives NaN and raises NV."),
    ("TRECIP", "exponential", "1 / 0 is infinity with the sign of the zero and raises DZ."),
    ("TSQRT", "exponential", "-0 gives -0; a number below zero gives NaN and raises NV."),
    ("TRSQRT", "exponential", "Zero gives infinity with its sign and raises DZ; one rounding for root and reciprocal."),
    ("TEXP TLOG TRECIP TSQRT TRSQRT", "exponential", "Integers: the real result, truncated and clamped."),
    ("TADDC TSUBC TADDSC TSUBSC", "three-terms", "The exact sum of three terms is rounded once."),
    ("TADDC TSUBC TADDSC TSUBSC", "three-terms", "Infinities of both signs among the terms: NaN, NV."),
    ("{EXPDIF}", "exponential", "Two roundings: the difference, then its exponential; the flags of both."),
    ("TROWSUM TROWPROD TCOLSUM TCOLPROD", "reductions", "Neighbours are combined first: ((e0 op e1) op (e2 op e3)) op e4, each node rounded."),
    ("TCVT ACCCVT", "conversion", "The range is checked on the rounded value; Sat clamps; a NaN is never clamped."),
    ("TCVT", "modes", "NONE truncates from float to integer and otherwise rounds to nearest even."),
    ("ACCCVT", "accumulator", "Two roundings: the product with the scale, then the conversion. Without a scale nothing is multiplied."),
    ("TMATMUL TMATMUL.BIAS TMATMUL.ACC TGEMV TGEMV.BIAS TGEMV.ACC", "accumulator",
     "k goes upwards, one fused multiply-add each; FP32 for floats, modulo 2^32 for integers."),
    ("TMATMUL.BIAS TGEMV.BIAS", "accumulator", "The bias is added last, with one more rounding."),
)
# fmt: on


def _expanded(names: str) -> set[str]:
    """Spread ``{ADD}`` to the two expand operations of that name."""
    found = set()
    for name in names.split():
        if name.startswith("{"):
            found |= {form.format(name.strip("{}")) for form in _EXPAND_FORMS}
        else:
            found.add(name)
    return found


def special_cases(row: Operation) -> list[tuple[str, str]]:
    """Return sentences and the anchors of their sections, those of the operation before those of its family."""
    found = [(text, anchor) for names, anchor, text in _BY_NAME if row.name in _expanded(names)]
    if row.shape in _SHAPES_THAT_COMPUTE and _takes_floats(row):
        found.append(("Floats: the exact result is rounded once to nearest, ties to even.", "rounding"))
        found.append(("A NaN that comes out is the canonical one; a signalling NaN raises NV.", "nan"))
    if row.shape in _COPIES:
        found.append(("All bits are copied: no NaN changes, no flag is raised.", "nan"))
    if Uses.PAD in row.uses:
        found.append(("Outside the valid area the result is padding; Null is executed as Zero.", "padding"))
    return found


def _takes_floats(row: Operation) -> bool:
    # TABS and TNEG change a bit and round nothing.
    return row.name not in ("TABS", "TNEG") and any(data_type(name).is_float for name in row.source_types or ())
