"""Rounding of an exact value to an element code: the one place where the definition rounds."""

from fractions import Fraction

from linxtile.flags import NO_FLAG, Flag
from linxtile.isa.types import DataType
from linxtile.values import floor_log2, power_of_two


def round_to(magnitude: Fraction, negative: bool, data_type: DataType) -> tuple[int, Flag]:
    """Round a finite value to nearest, ties to even, in a fixed-field float type.

    Parameters
    ----------
    magnitude : Fraction
        Exact absolute value.
    negative : bool
        Sign of the result, of a zero too.

    Returns
    -------
    (int, Flag)
        Container code, and OF if the rounded value exceeds the largest finite one. Overflow gives infinity,
        in E4M3 the NaN, in finite-only types the largest finite value.
    """
    if not data_type.is_float or data_type.tapered:
        raise ValueError(f"rounding needs a fixed-field float type, not {data_type.name}")
    mantissa_bits = data_type.mantissa_bits
    least = 1 - data_type.bias
    exponent = max(floor_log2(magnitude), least) if magnitude else least
    # Steps of the last mantissa bit; with the hidden bit included, adding it to the exponent field makes carries right.
    steps = round(magnitude / power_of_two(exponent - mantissa_bits))
    code = (((exponent - least) << mantissa_bits) + steps) << data_type.dead_bits
    sign = data_type.sign_bit if negative else 0
    if code <= data_type.max_finite:
        return code | sign, NO_FLAG
    return overflow(negative, data_type), Flag.OF


def overflow(negative: bool, data_type: DataType) -> int:
    """Return the code that stands for a value beyond the largest finite one, or for infinity itself."""
    sign = data_type.sign_bit if negative else 0
    if data_type.positive_infinity is not None:
        return data_type.positive_infinity | sign
    if data_type.canonical_nan is not None:
        return data_type.canonical_nan
    return data_type.max_finite | sign
