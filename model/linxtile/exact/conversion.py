"""TCVT of one element, between any two types."""

from linxtile.flags import NO_FLAG
from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import DataType
from linxtile.rounding import Outcome, largest, round_value
from linxtile.values import decode


def convert(
    code: int,
    source: DataType,
    destination: DataType,
    rounding: RoundingMode = RoundingMode.NONE,
    saturate: bool = False,
) -> Outcome:
    """Convert the exact value of a code with one rounding. LinxISA v0.56, TCVT.

    Between integers a value out of range is taken modulo ``2**w``, or clamped with ``saturate``, and raises nothing.
    All other pairs follow `linxtile.rounding.round_value`. The code of a packed type is one nibble.
    """
    value = decode(code, source)
    if not (source.is_integer and destination.is_integer):
        return round_value(value, destination, rounding, saturate)
    limit = largest(value.negative, destination)
    if saturate and value.magnitude > decode(limit, destination).magnitude:
        return limit, NO_FLAG
    return int(value.signed) & destination.storage_mask, NO_FLAG
