"""Which arithmetic each computing operation applies to its elements."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from linxtile.arrays import Result
from linxtile.isa.types import DataType
from linxtile.numerics import arithmetic

KERNELS: Mapping[str, str] = MappingProxyType(
    {
        "TADD": "add",
        "TSUB": "subtract",
        "TMAX": "maximum",
        "TMIN": "minimum",
        "TAND": "bit_and",
        "TOR": "bit_or",
        "TXOR": "bit_xor",
        "TSHL": "shift_left",
        "TSHR": "shift_right",
        "TABS": "absolute",
        "TNOT": "bit_not",
        "TNEG": "negate",
        "TRELU": "relu",
        "TADDS": "add",
        "TSUBS": "subtract",
        "TMAXS": "maximum",
        "TMINS": "minimum",
        "TANDS": "bit_and",
        "TORS": "bit_or",
        "TXORS": "bit_xor",
        "TSHLS": "shift_left",
        "TSHRS": "shift_right",
        "TROWSUM": "add",
        "TROWMAX": "maximum",
        "TROWMIN": "minimum",
        "TROWEXPANDSUB": "subtract",
    }
)
"""Method of `linxtile.numerics` (and function of `linxtile.exact`) by operation."""


def kernel(operation: str, data_type: DataType) -> Callable[..., Result]:
    """Return the array function of an operation: codes in, codes and flags out."""
    function: Any = getattr(arithmetic(data_type), KERNELS[operation])
    return function  # type: ignore[no-any-return]
