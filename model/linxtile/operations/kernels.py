"""Which arithmetic each computing operation applies to its elements."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from linxtile.arrays import Result
from linxtile.isa.types import DataType
from linxtile.numerics import Arithmetic, arithmetic

_TILES = {
    "TADD": "add",
    "TSUB": "subtract",
    "TMUL": "multiply",
    "TDIV": "divide",
    "TREM": "remainder",
    "TFMOD": "fmod",
    "TAND": "bit_and",
    "TOR": "bit_or",
    "TXOR": "bit_xor",
    "TSHL": "shift_left",
    "TSHR": "shift_right",
    "TMAX": "maximum",
    "TMIN": "minimum",
    "TPRELU": "leaky_relu",
    "TABS": "absolute",
    "TNOT": "bit_not",
    "TNEG": "negate",
    "TEXP": "exponential",
    "TLOG": "logarithm",
    "TRECIP": "reciprocal",
    "TSQRT": "square_root",
    "TRSQRT": "reciprocal_root",
    "TRELU": "relu",
    "TADDC": "add_three",
    "TSUBC": "subtract_add",
}
# The forms with a scalar: the same name with an S behind it, but for TLRELU.
_SCALARS = "TADD TSUB TMUL TDIV TREM TFMOD TAND TOR TXOR TSHL TSHR TMAX TMIN TADDC TSUBC"
_REDUCTIONS = {"SUM": "add", "MAX": "maximum", "MIN": "minimum", "PROD": "multiply"}
_EXPANSIONS = {
    "ADD": "add",
    "SUB": "subtract",
    "MUL": "multiply",
    "DIV": "divide",
    "MAX": "maximum",
    "MIN": "minimum",
    "EXPDIF": "exponential_difference",
}


def _table() -> dict[str, str]:
    """Spread the forms with scalars, and those of rows and columns."""
    table = dict(_TILES)
    for name in _SCALARS.split():
        stem, carry = (name[:-1], "SC") if name in ("TADDC", "TSUBC") else (name, "S")
        table[stem + carry] = _TILES[name]
    table["TLRELU"] = _TILES["TPRELU"]
    for direction in ("ROW", "COL"):
        table |= {f"T{direction}{name}": method for name, method in _REDUCTIONS.items()}
        table |= {f"T{direction}EXPAND{name}": method for name, method in _EXPANSIONS.items()}
    return table


KERNELS: Mapping[str, str] = MappingProxyType(_table())
"""Method of `linxtile.numerics` (and function of `linxtile.exact`) by operation."""


@cache
def kernel(operation: str, data_type: DataType, track_flags: bool = True) -> Callable[..., Result]:
    """Return the array function of an operation: codes in, codes and flags out."""
    kind: Arithmetic = arithmetic(data_type, track_flags)
    function: Callable[..., Result] = getattr(kind, KERNELS[operation])
    return function
