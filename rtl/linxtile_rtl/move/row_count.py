"""Counts the physical rows of two tiles with rows of the same length."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..layouts import byte_count_bits

__all__ = ["RowCount"]


class RowCount(wiring.Component):
    """Divide the bytes of two tiles, powers of two, by those of a row.

    The quotient of a power of two comes from doubling, a step a cycle: one pass goes by the smaller tile on its way to the
    larger. The answer is there a cycle after ``start`` when a row is a power of two, otherwise after at most two more than
    ``log2`` of the rows of the larger tile.

    Parameters
    ----------
    config : CoreConfig
        ``tile_max_bytes`` matters.

    Members
    -------
    start : In(1)
        Begin; the other inputs hold still from here on until ``done``.
    row_bytes, source_bytes, destination_bytes : In
        A row, at least 1 byte and not longer than the smaller tile; the tiles.
    done : Out(1)
        The answers are there in the next cycle, until the next ``start``.
    source_rows, destination_rows : Out
        Whole rows of the tiles.
    image : Out
        Bytes of all whole rows of the destination.
    """

    start: Signal
    row_bytes: Signal
    source_bytes: Signal
    destination_bytes: Signal
    done: Signal
    source_rows: Signal
    destination_rows: Signal
    image: Signal

    def __init__(self, *, config: CoreConfig):
        bits = byte_count_bits(config)
        super().__init__({
            "start": In(1),
            "row_bytes": In(bits),
            "source_bytes": In(bits),
            "destination_bytes": In(bits),
            "done": Out(1),
            "source_rows": Out(bits),
            "destination_rows": Out(bits),
            "image": Out(bits),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Double the highest power of two in a row; note the quotient at each tile."""
        m = Module()
        row = self.row_bytes
        highest = Signal.like(row)
        source_share, destination_share = Signal.like(row), Signal.like(row)
        for bit in range(len(row)):
            with m.If(row[bit]):
                m.d.comb += [
                    highest.eq(1 << bit),
                    source_share.eq(self.source_bytes >> bit),
                    destination_share.eq(self.destination_bytes >> bit),
                ]

        # ``power`` holds ``quotient`` rows and ``remainder`` bytes.
        power, quotient, remainder = Signal.like(row), Signal.like(row), Signal.like(row)
        counts = Signal()
        doubled = remainder << 1
        fits = Signal()
        larger = Mux(self.source_bytes > self.destination_bytes, self.source_bytes, self.destination_bytes)
        m.d.comb += [
            fits.eq(doubled >= row),
            self.done.eq(Mux(self.start, highest == row, counts & (power == larger))),
        ]
        m.d.sync += counts.eq((self.start | counts) & ~self.done)
        with m.If(self.start):
            # The shares are right when a row is a power of two; otherwise the pass replaces them.
            m.d.sync += [
                power.eq(highest),
                quotient.eq(0),
                remainder.eq(highest),
                self.source_rows.eq(source_share),
                self.destination_rows.eq(destination_share),
                self.image.eq(self.destination_bytes),
            ]
        with m.Elif(counts):
            m.d.sync += [
                power.eq(power << 1),
                quotient.eq((quotient << 1) | fits),
                remainder.eq(Mux(fits, doubled - row, doubled)),
            ]
            with m.If(power == self.source_bytes):
                m.d.sync += self.source_rows.eq(quotient)
            with m.If(power == self.destination_bytes):
                m.d.sync += [
                    self.destination_rows.eq(quotient),
                    self.image.eq(self.destination_bytes - remainder),
                ]
        return m
