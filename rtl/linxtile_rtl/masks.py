"""Which bytes of a tile's lines hold elements, padding or nothing."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from .layouts import byte_count_bits

__all__ = ["ColumnMask", "first_bytes", "mask_command_layout", "mask_line_layout"]


def mask_command_layout(config: CoreConfig) -> data.StructLayout:
    """Geometry of a row-major tile, in bytes: valid part of a row, row, valid rows together, tile (a power of two)."""
    bits = byte_count_bits(config)
    return data.StructLayout({"row_bytes": bits, "pitch_bytes": bits, "valid_bytes": bits, "tile_bytes": bits})


def mask_line_layout(config: CoreConfig) -> data.StructLayout:
    """Masks of one line, bit ``i`` for byte ``i``.

    ``valid``: in the valid area. ``image``: in a whole row; the bytes beyond the last whole row read as zero.
    ``starts``: first byte of a row. ``last``: last line of the tile.
    """
    line = config.vector_bytes
    return data.StructLayout({"valid": line, "image": line, "starts": line, "last": 1})


def first_bytes(count: Value, width: int) -> Value:
    """Return a mask of ``width`` bits with the first ``count`` set, all of them when ``count`` is larger."""
    return Cat(count > index for index in range(width))


class ColumnMask(wiring.Component):
    """Masks of all lines of one tile after the other, a line a cycle in line order.

    The first line comes in the cycle after the command, for rows shorter than a line log2 of ``vector_bytes`` cycles
    later. The command of the next tile is taken together with the last line.

    Parameters
    ----------
    config : CoreConfig
        ``vector_bytes`` and ``tile_max_bytes`` matter.

    Members
    -------
    command : In(stream of mask_command_layout(config))
        One per tile; ``pitch_bytes`` at least 1 and at most ``tile_bytes``.
    lines : Out(stream of mask_line_layout(config))
        ``tile_bytes / vector_bytes`` lines for each command.
    flush : In(1)
        Drops the command under way; none is taken while it is high.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(mask_command_layout(config))),
            "lines": Out(stream.Signature(mask_line_layout(config))),
            "flush": In(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Walk the lines with one row position a byte; beside it find the end of the last whole row."""
        m = Module()
        line = self._config.vector_bytes
        tile = Signal(mask_command_layout(self._config))
        busy = Signal()
        starting = Signal()
        offset = Signal.like(tile.tile_bytes)

        image_known, image_bytes = self._image(m, tile)
        positions = self._positions(m, tile, starting)

        # Half of the tile is always inside the image (a row is no longer than the tile), the rest has to be known.
        in_first_half = offset < (tile.tile_bytes >> 1)
        m.d.comb += [
            self.lines.valid.eq(busy & ~starting & (image_known | in_first_half)),
            self.lines.p.last.eq(offset + line == tile.tile_bytes),
            self.lines.p.valid.eq(
                Cat(position < tile.row_bytes for position in positions) & _below(tile.valid_bytes, offset, line)
            ),
            self.lines.p.image.eq(Mux(image_known, _below(image_bytes, offset, line), (1 << line) - 1)),
            self.lines.p.starts.eq(Cat(position == 0 for position in positions)),
            self.command.ready.eq((~busy | (self.lines.ready & self.lines.valid & self.lines.p.last)) & ~self.flush),
        ]
        with m.If(self.lines.valid & self.lines.ready):
            m.d.sync += offset.eq(offset + line)
            with m.If(self.lines.p.last):
                m.d.sync += busy.eq(0)
        with m.If(self.command.valid & self.command.ready):
            m.d.sync += [
                tile.eq(self.command.payload),
                busy.eq(1),
                starting.eq(self.command.p.pitch_bytes < line),
                offset.eq(0),
            ]
        with m.If(self.flush):
            m.d.sync += [busy.eq(0), starting.eq(0)]
        return m

    def _image(self, m: Module, tile: data.View) -> tuple[Signal, Signal]:
        """Find the bytes of all whole rows: the tile without ``tile_bytes mod pitch_bytes``, by doubling 1 mod pitch."""
        scale = Signal.like(tile.tile_bytes)
        remainder = Signal.like(tile.pitch_bytes)
        known = Signal()
        image_bytes = Signal.like(tile.tile_bytes)
        m.d.comb += [known.eq(scale == tile.tile_bytes), image_bytes.eq(tile.tile_bytes - remainder)]
        with m.If(~known):
            m.d.sync += [scale.eq(scale << 1), remainder.eq(_modulo_sum(remainder, remainder, tile.pitch_bytes))]
        with m.If(self.command.valid & self.command.ready):
            pitch = self.command.p.pitch_bytes
            # A power of two divides the tile: nothing to find, and nothing to wait for in a tile of few lines.
            divides = (pitch & (pitch - 1))[: len(pitch)] == 0
            m.d.sync += [scale.eq(Mux(divides, self.command.p.tile_bytes, 1)), remainder.eq(~divides)]
        return known, image_bytes

    def _positions(self, m: Module, tile: data.View, starting: Signal) -> list[Signal]:
        """Return the place of every byte in its row.

        Rows of a line or more start with positions 0, 1, 2 ...; for shorter ones the positions double up: those of bytes
        0 .. n-1 plus ``n mod pitch`` are those of bytes n .. 2n-1.
        """
        line = self._config.vector_bytes
        positions = [Signal.like(tile.pitch_bytes, name=f"position_{index}") for index in range(line)]
        step = Signal.like(tile.pitch_bytes)
        round_number = Signal(range(max(2, exact_log2(line))))
        with m.If(self.lines.valid & self.lines.ready):
            m.d.sync += [position.eq(_modulo_sum(position, step, tile.pitch_bytes)) for position in positions]
        with m.If(starting):
            m.d.sync += [step.eq(_modulo_sum(step, step, tile.pitch_bytes)), round_number.eq(round_number + 1)]
            with m.Switch(round_number):
                for index in range(exact_log2(line)):
                    with m.Case(index):
                        for byte in range(1 << index):
                            moved = _modulo_sum(positions[byte], step, tile.pitch_bytes)
                            m.d.sync += positions[byte + (1 << index)].eq(moved)
            with m.If(round_number == exact_log2(line) - 1):
                m.d.sync += starting.eq(0)
        with m.If(self.command.valid & self.command.ready):
            pitch = self.command.p.pitch_bytes
            m.d.sync += [position.eq(index) for index, position in enumerate(positions)]
            m.d.sync += [round_number.eq(0), step.eq(Mux(pitch > line, line, (pitch < line) & (pitch != 1)))]
        return positions


def _modulo_sum(left: Value, right: Value, modulus: Value) -> Value:
    """Return ``(left + right) mod modulus`` of two values below the modulus."""
    total = left + right
    return Mux(total >= modulus, total - modulus, total)[: len(left)]


def _below(limit: Value, offset: Value, line: int) -> Value:
    """Return which bytes of the line at ``offset`` lie below ``limit``; offset a multiple of the line."""
    low_bits = exact_log2(line)
    line_number, limit_line = offset[low_bits:], limit[low_bits:]
    partial = Cat(limit[:low_bits] > index for index in range(line))
    return Mux(line_number < limit_line, (1 << line) - 1, Mux(line_number == limit_line, partial, 0))[:line]
