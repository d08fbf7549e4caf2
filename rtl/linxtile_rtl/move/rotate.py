"""Rotation of a line by parts of any width."""

from amaranth.hdl import Module, Mux, Signal, Value

__all__ = ["rotate_parts"]


def rotate_parts(m: Module, value: Value, count: Value, part_bits: int) -> Value:
    """Return ``value`` rotated towards its high end by ``count`` parts of ``part_bits`` bits."""
    for bit in range(len(count)):
        turned = Signal(len(value), name=f"rotated_{bit}")
        m.d.comb += turned.eq(Mux(count[bit], value.rotate_left(part_bits << bit), value))
        value = turned
    return value
