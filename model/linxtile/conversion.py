"""Conversion of arrays of element codes between any two types, bit for bit that of `linxtile.exact.convert`."""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from linxtile.arrays import Codes, Result
from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.codes import RoundingMode
from linxtile.isa.types import DataType, Kind, data_type
from linxtile.numerics.blocks import in_blocks
from linxtile.numerics.rounding import Rounded, resolve, round_to_float, round_to_integer, round_to_scale
from linxtile.numerics.types import Block, Integers, Truths, code_type
from linxtile.numerics.unpacked import Unpacked, unpack_floats, unpack_integers
from linxtile.numerics.values import is_signalling, to_floats, to_integers
from linxtile.rounding import largest, overflow

Values = npt.NDArray[np.floating[Any]] | npt.NDArray[np.integer[Any]]

_HOST_TYPES = {
    "f8": data_type("FP64"), "f4": data_type("FP32"), "f2": data_type("FP16"),
    "i8": data_type("S64"), "i4": data_type("S32"), "i2": data_type("S16"), "i1": data_type("S8"),
    "u8": data_type("U64"), "u4": data_type("U32"), "u2": data_type("U16"), "u1": data_type("U8"),
}  # fmt: skip


def convert(
    codes: Codes,
    source: DataType,
    destination: DataType,
    rounding: RoundingMode = RoundingMode.NONE,
    saturate: bool = False,
    track_flags: bool = True,
) -> Result:
    """Convert the exact values of codes with one rounding each. LinxISA v0.56, TCVT.

    Parameters
    ----------
    codes : ndarray, any shape
        Container codes; those of four-bit types in a byte each.
    rounding : RoundingMode
        NONE means RTZ from float to integer and RNE otherwise.
    saturate : bool
        Give the nearest limit of the destination instead of what overflow gives otherwise.
    track_flags : bool
        Whether to find out the flags; without, they are returned as none.

    Returns
    -------
    (ndarray, Flag)
        New array of the same shape, and the flags raised by any element.

    Raises
    ------
    TypeError
        The codes are not in the unsigned integer type of the source's width.
    ValueError
        The rounding mode is none of the codes.
    """
    rounding = RoundingMode(rounding)
    expected = code_type(source)
    if codes.dtype != expected:
        raise TypeError(f"codes of {source.name} must be an array of {expected}, not of {codes.dtype}")
    if source.storage_bits <= 16:
        table, flags = _table(source, destination, rounding, saturate)
        raised = int(np.bitwise_or.reduce(flags.take(codes), axis=None)) if track_flags and flags.any() else 0
        return table.take(codes), Flag(raised)

    def convert_block(block: Codes) -> Block:
        converted, flags = _convert(block, source, destination, rounding, saturate)
        return converted, flags if track_flags else None

    return in_blocks(convert_block, codes)


def to_values(codes: Codes, data_type: DataType) -> Values:
    """Return the exact values of codes: binary64 for floats and E8M0, else numpy's integer type of the width."""
    return to_integers(codes, data_type).copy() if data_type.is_integer else to_floats(codes, data_type).copy()


def from_values(
    values: Values, data_type: DataType, rounding: RoundingMode = RoundingMode.RNE, saturate: bool = False
) -> Result:
    """Round an array of numpy floats (up to binary64) or integers to codes, each value once.

    Raises
    ------
    TypeError
        The array holds neither floats of up to 64 bits nor integers.
    """
    source = _HOST_TYPES.get(values.dtype.newbyteorder("=").str[1:])
    if source is None:
        raise TypeError(f"values must be floats of up to 64 bits or integers, not {values.dtype}")
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    return convert(native.view(code_type(source)), source, data_type, rounding, saturate)


@lru_cache(maxsize=64)
def _table(source: DataType, destination: DataType, rounding: RoundingMode, saturate: bool) -> Rounded:
    """Return the result and the flags of every code of a type of up to 16 bits."""
    kind = code_type(source)
    return _convert(np.arange(1 << 8 * kind.itemsize).astype(kind), source, destination, rounding, saturate)


def _convert(codes: Codes, source: DataType, destination: DataType, rounding: RoundingMode, saturate: bool) -> Rounded:
    if source.is_integer:
        values = to_integers(codes, source)
        if destination.is_integer:
            return _between_integers(values, destination, saturate)
        return _round(unpack_integers(values), destination, resolve(rounding, destination), saturate)
    floats = to_floats(codes, source)
    converted, flags = _round(unpack_floats(floats), destination, resolve(rounding, destination), saturate)
    special = ~np.isfinite(floats)
    if special.any():
        nan = np.isnan(floats[special])
        negative = np.signbit(floats[special])
        signalling = is_signalling(codes[special], source)
        converted[special], flags[special] = _specials(nan, negative, signalling, destination, saturate)
    return converted, flags


def _round(values: Unpacked, destination: DataType, rounding: RoundingMode, saturate: bool) -> Rounded:
    if destination.is_integer:
        return round_to_integer(values, destination, rounding, saturate)
    if destination.kind is Kind.SCALE:
        return round_to_scale(values, destination, rounding, saturate)
    return round_to_float(values, destination, rounding, saturate)


def _specials(
    nan: Truths,
    negative: Truths,
    signalling: Truths,
    destination: DataType,
    saturate: bool,
) -> Rounded:
    """Convert infinities and NaN."""
    if destination.is_integer:
        indefinite = destination.sign_bit or destination.max_finite
        limits = [largest(sign, destination) if saturate else indefinite for sign in (True, False)]
        of_nan, invalid = 0 if saturate else indefinite, np.ones_like(nan)
    elif destination.kind is Kind.SCALE:
        of_nan = destination.canonical_nan or 0
        limits = [of_nan, destination.max_finite if saturate else of_nan]
        invalid = nan | negative
    else:
        limits = [(largest if saturate else overflow)(sign, destination) for sign in (True, False)]
        of_nan = destination.canonical_nan or 0
        invalid = signalling if destination.has_nan else nan
    kind = code_type(destination).type
    infinities = np.where(negative, kind(limits[0]), kind(limits[1]))
    return np.where(nan, kind(of_nan), infinities), invalid * np.uint8(Flag.NV)


def _between_integers(values: Integers, destination: DataType, saturate: bool) -> Rounded:
    """Take integers modulo ``2**w``, or clamp them; no flag in either case."""
    if saturate:
        limits = np.iinfo(values.dtype)
        bits = destination.storage_bits
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if destination.sign_bit else (0, (1 << bits) - 1)
        values = np.clip(values, max(low, int(limits.min)), min(high, int(limits.max)))
    codes = values.astype(code_type(destination))
    codes &= codes.dtype.type(destination.storage_mask)
    return codes, np.full(values.shape, NO_FLAG, np.uint8)
