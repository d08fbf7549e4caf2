"""What a load has to know about its destination tile before it writes the first line."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import byte_count_bits, line_bits, tag_bits

__all__ = ["ImageFinder", "background", "plan_layout"]

PATTERN_BYTES = 8


def plan_layout(config: CoreConfig) -> data.StructLayout:
    """Destination of a load: ``rows`` of ``row_bytes``, ``pitch_bytes`` apart, from line ``tile_line`` on.

    ``gap_free`` says that all rows are one row; ``valid_span`` are the bytes from the first to the last valid one,
    ``image_bytes`` those of all whole rows; what lies beyond them reads as zero.
    """
    bits = byte_count_bits(config)
    return data.StructLayout({
        "tag": tag_bits(config),
        "rows": 16,
        "row_bytes": bits,
        "pitch_bytes": bits,
        "valid_span": bits,
        "odd_nibble": 1,
        "tile_line": line_bits(config),
        "tile_bytes": bits,
        "image_bytes": bits,
        "pad_pattern": PATTERN_BYTES * 8,
    })  # fmt: skip


def background(m: Module, config: CoreConfig, plan: data.View, line: Value, name: str = "background") -> Signal:
    """Return the padding of ``line`` (counted in the tile): the pattern in whole rows, zero beyond them."""
    vector_bytes = config.vector_bytes
    offset_bits = exact_log2(vector_bytes)
    image_line = plan.image_bytes[offset_bits:]
    image_rest = plan.image_bytes[:offset_bits]
    inside = Signal(name=f"{name}_inside")
    across = Signal(name=f"{name}_across")
    content = Signal(vector_bytes * 8, name=name)
    m.d.comb += [inside.eq(line < image_line), across.eq(line == image_line)]
    for byte in range(vector_bytes):
        with m.If(inside | (across & (image_rest > byte))):
            m.d.comb += content.word_select(byte, 8).eq(plan.pad_pattern.word_select(byte % PATTERN_BYTES, 8))
    return content


class ImageFinder(wiring.Component):
    """Fill in ``image_bytes`` of a plan: the tile without ``tile_bytes mod pitch_bytes``.

    The remainder of a power of two comes from doubling: one cycle when the pitch is a power of two, else about log2 of the
    rows of the tile.

    Members
    -------
    i : In(stream of plan_layout(config))
        Plans; ``image_bytes`` is ignored, ``pitch_bytes`` is 1 to ``tile_bytes``.
    o : Out(stream of plan_layout(config))
        The same plans, complete.
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, *, config: CoreConfig):
        super().__init__({
            "i": In(stream.Signature(plan_layout(config))),
            "o": Out(stream.Signature(plan_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep ``power`` and ``remainder = power mod pitch``; double both until the power is the tile."""
        m = Module()
        plan = self.o.p
        busy = Signal()
        power = Signal.like(plan.tile_bytes)
        remainder = Signal.like(plan.pitch_bytes)
        known = (power == plan.tile_bytes) | (remainder == 0)
        held = Signal.like(self.o.payload)
        m.d.comb += [
            self.o.valid.eq(busy & known),
            self.o.payload.eq(held),
            self.o.p.image_bytes.eq(held.tile_bytes - remainder),
            self.i.ready.eq(~busy | (known & self.o.ready)),
        ]
        doubled = remainder << 1
        with m.If(~known):
            m.d.sync += [
                power.eq(power << 1),
                remainder.eq(Mux(doubled >= held.pitch_bytes, doubled - held.pitch_bytes, doubled)),
            ]
        with m.If(self.i.ready):
            pitch = self.i.p.pitch_bytes
            # The highest power of two in the pitch is its own remainder, or none when it is the pitch.
            highest = Signal.like(pitch)
            for bit in range(len(pitch)):
                with m.If(pitch[bit]):
                    m.d.comb += highest.eq(1 << bit)
            m.d.sync += [
                busy.eq(self.i.valid),
                held.eq(self.i.payload),
                power.eq(highest),
                remainder.eq(Mux(highest == pitch, 0, highest)),
            ]
        return m
