"""How far the whole rows of loaded tiles reach: behind them a tile is zero."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import byte_count_bits
from .plan import plans_ahead

__all__ = ["TileImages", "image_layout"]


def image_layout(config: CoreConfig) -> data.StructLayout:
    """End of a tile's image: ``line``, counted in the tile, and ``rest``, the bytes of that line that belong to it."""
    bits = exact_log2(config.vector_bytes)
    return data.StructLayout({"rest": bits, "line": byte_count_bits(config) - bits})


class TileImages(wiring.Component):
    """Find the bytes of all whole rows of a tile, all but ``tile_bytes mod pitch_bytes``, for both writers of a load.

    The remainder of a power of two comes from doubling, a step a cycle: at most log2 of the rows of the tile, none when the
    pitch is a power of two. It is done once for all tiles of a load.

    Parameters
    ----------
    config : CoreConfig
        Sizes.

    Members
    -------
    start : In(1), ready : Out(1)
        A tile is next, allowed while ``ready``.
    first, has_data : In(1)
        The tile is the first one of its load; it has valid bytes.
    pitch_bytes, tile_bytes : In
        Bytes of a row and of the tile, a power of two.
    pads, data : Out(stream of image_layout(config))
        Of every tile, and of those with valid bytes, in order; the first three cycles after ``start``.
    """

    start: Signal
    ready: Signal
    first: Signal
    has_data: Signal
    pitch_bytes: Signal
    tile_bytes: Signal
    pads: stream.Interface
    data: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        bits = byte_count_bits(config)
        super().__init__({
            "start": In(1),
            "ready": Out(1),
            "first": In(1),
            "has_data": In(1),
            "pitch_bytes": In(bits),
            "tile_bytes": In(bits),
            "pads": Out(stream.Signature(image_layout(config))),
            "data": Out(stream.Signature(image_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Divide; hand the answer to both queues before the next tile."""
        m = Module()
        known, answer = self._divide(m)
        pending, with_data, hands_over = Signal(), Signal(), Signal()
        # One tile is with each writer, the others wait for it.
        depth = plans_ahead(self._config) + 1
        rooms = []
        for name, out, wanted in (("pads", self.pads, 1), ("data", self.data, with_data)):
            m.submodules[name] = images = SyncFIFOBuffered(width=answer.shape().width, depth=depth)
            m.d.comb += [
                images.w_en.eq(hands_over & wanted),
                images.w_data.eq(answer),
                out.valid.eq(images.r_rdy),
                out.payload.eq(images.r_data),
                images.r_en.eq(out.ready),
            ]
            rooms.append(images.w_rdy)
        m.d.comb += [
            hands_over.eq(pending & known & Cat(rooms).all()),
            self.ready.eq(~pending | hands_over),
        ]
        m.d.sync += pending.eq((pending & ~hands_over) | self.start)
        with m.If(self.start):
            m.d.sync += with_data.eq(self.has_data)
        return m

    def _divide(self, m: Module) -> tuple[Signal, Signal]:
        """Return whether the image is known, from the cycle after ``start``, and the image."""
        tile, pitch = Signal.like(self.tile_bytes), Signal.like(self.pitch_bytes)
        power, remainder = Signal.like(tile), Signal.like(pitch)
        known, fits = Signal(), Signal()
        less = Signal(len(pitch) + 2)
        image = Signal.like(tile)
        m.d.comb += [
            known.eq((power == tile) | (remainder == 0)),
            less.eq((remainder << 1) - pitch),
            fits.eq(~less[-1]),
            image.eq(tile - remainder),
        ]
        with m.If(~known):
            m.d.sync += [power.eq(power << 1), remainder.eq(Mux(fits, less, remainder << 1))]
        with m.If(self.start & self.first):
            # The highest power of two in the pitch is its own remainder, or leaves none when it is the pitch.
            highest = Signal.like(pitch)
            for bit in range(len(pitch)):
                with m.If(self.pitch_bytes[bit]):
                    m.d.comb += highest.eq(1 << bit)
            m.d.sync += [
                tile.eq(self.tile_bytes),
                pitch.eq(self.pitch_bytes),
                power.eq(highest),
                remainder.eq(Mux(highest == self.pitch_bytes, 0, highest)),
            ]
        return known, image
