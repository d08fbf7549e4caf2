"""Position of the lowest set bit."""

from amaranth.hdl import Cat, Const, Mux, Value

__all__ = ["find_first"]


def find_first(bits: Value) -> Value:
    """Return the number of the lowest set bit; what it returns when no bit is set means nothing.

    A tree of multiplexers: depth and width grow with the logarithm of ``len(bits)``.
    """
    if len(bits) <= 1:
        return Const(0, 0)
    # The low half is a power of two, so the upper half's numbers differ in the top bit only.
    half = 1 << ((len(bits) - 1).bit_length() - 1)
    low, high = bits[:half], bits[half:]
    some_low = low.any()
    low_index, high_index = find_first(low), find_first(high)
    return Cat(Mux(some_low, low_index, high_index)[: half.bit_length() - 1], ~some_low)
