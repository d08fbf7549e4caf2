"""Fetches the lines of a store whose tile has its cells across the rows of memory, and turns them."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES, byte_count_bits, cell_count_bits, line_bits
from .chunks import block_bytes
from .transposer import ROW_BITS, Transposer, block_word_layout

__all__ = ["ColumnLines", "column_source_layout", "columns_layout"]

LINES_AHEAD = 8
"""Lines asked for and not yet here: as many as a tile RAM port can owe, and more."""


def column_source_layout(config: CoreConfig) -> data.StructLayout:
    """What all tiles of a command have in common: ``rows`` of memory, ``width`` code, ``cell_step`` cells from band to band."""
    return data.StructLayout({"rows": 16, "width": 3, "cell_step": cell_count_bits(config)})


def columns_layout(config: CoreConfig) -> data.StructLayout:
    """Valid part of one tile: ``row_bytes`` of each row of memory, less half a byte with ``odd_nibble``.

    The first row is row ``band_row`` of the cells that begin at ``tile_line``. It is the first of its line unless it is the
    only row.
    """
    return data.StructLayout({
        "row_bytes": byte_count_bits(config),
        "odd_nibble": 1,
        "tile_line": line_bits(config),
        "band_row": ROW_BITS,
    })  # fmt: skip


class ColumnLines(wiring.Component):
    """Give the lines of a row-major tile, made of a tile whose cells hold columns.

    The rows of memory that lie in one line of their cells are a group, 1 or more elements of half to 8 bytes. Of each cell
    of a block, of as many cells as :func:`~.chunks.block_bytes` have elements, the group's line is read; turned, these are up to
    ``block_bytes`` of each row. Lines come group by group, block by block, row by row, a line a cycle in and out.

    Parameters
    ----------
    config : CoreConfig
        ``vector_bytes`` at most 32; ``tile_max_bytes``.

    Members
    -------
    source : In(column_source_layout(config))
        Of the command; holds still while it has tiles under way.
    tiles : In(stream of columns_layout(config))
        Tiles, one after the other without a pause.
    requests : Out(stream of line numbers), responses : In(stream of lines)
        Port of the tile RAM.
    lines : Out(stream of lines)
        Lines with valid bytes; the other bytes of them are arbitrary.
    """

    source: data.View
    tiles: stream.Interface
    requests: stream.Interface
    responses: stream.Interface
    lines: stream.Interface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        line = config.vector_bytes * 8
        super().__init__({
            "source": In(column_source_layout(config)),
            "tiles": In(stream.Signature(columns_layout(config))),
            "requests": Out(stream.Signature(line_bits(config))),
            "responses": In(stream.Signature(line)),
            "lines": Out(stream.Signature(line)),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Ask for lines, keep what the transposer has to know of each until it is here."""
        m = Module()
        m.submodules.transposer = transposer = Transposer(config=self._config)
        layout = data.StructLayout({
            name: field.shape for name, field in block_word_layout(self._config) if name not in ("data", "width")
        })  # fmt: skip
        m.submodules.waiting = waiting = SyncFIFO(width=layout.size, depth=LINES_AHEAD)
        asked, arriving = Signal(layout), data.View(layout, waiting.r_data)
        wanted = Signal()
        m.d.comb += [
            self.requests.valid.eq(wanted & waiting.w_rdy),
            waiting.w_en.eq(self.requests.valid & self.requests.ready),
            waiting.w_data.eq(asked),
            transposer.words.valid.eq(self.responses.valid & waiting.r_rdy),
            transposer.words.p.data.eq(self.responses.payload),
            transposer.words.p.width.eq(self.source.width),
            self.responses.ready.eq(transposer.words.ready & waiting.r_rdy),
            waiting.r_en.eq(self.responses.valid & transposer.words.ready),
            self.lines.valid.eq(transposer.turned.valid),
            self.lines.payload.eq(transposer.turned.p.data),
            transposer.turned.ready.eq(self.lines.ready),
        ]
        for name, _ in layout:
            m.d.comb += transposer.words.p[name].eq(arriving[name])
        self._walk(m, wanted, asked, self.requests.valid & self.requests.ready)
        return m

    def _walk(self, m: Module, wanted: Signal, word: data.View, steps: Signal) -> None:
        """Go through the elements of each group; ``word`` describes the line asked for."""
        line_half_bytes = exact_log2(2 * self._config.vector_bytes)
        cell_lines = exact_log2(CELL_BYTES // self._config.vector_bytes)
        width = self.source.width
        tile = Signal(columns_layout(self._config))
        rows_left = Signal.like(self.source.rows)
        elements, elements_left = Signal(len(tile.row_bytes) + 1), Signal(len(tile.row_bytes) + 1)
        line = Signal.like(tile.tile_line)
        element = Signal(ROW_BITS)

        group_rows = Signal(line_half_bytes + 1)
        block_elements = Signal(ROW_BITS + 1)
        next_row = Signal(ROW_BITS + 1)
        next_tile_line = Signal.like(tile.tile_line)
        block_end, group_end, last = Signal(), Signal(), Signal()
        m.d.comb += [
            group_rows.eq(Const(1 << line_half_bytes) >> width),
            block_elements.eq((block_bytes(self._config, width) << 1) >> width),
            last.eq(group_end & (rows_left <= group_rows)),
            group_end.eq(elements_left == 1),
            block_end.eq(group_end | (element + 1 == block_elements)),
            self.requests.payload.eq(line),
            word.row.eq(element),
            word.word.eq(_line_of_cell(tile.band_row, width, line_half_bytes)),
            word.last.eq(block_end),
            word.first_row.eq(tile.band_row),
            word.last_row.eq(tile.band_row + Mux(rows_left < group_rows, rows_left, group_rows) - 1),
            word.last_word.eq(_line_of_cell(element, width, line_half_bytes)),
            self.tiles.ready.eq(~wanted | (steps & last)),
        ]
        band_end = next_row == Const(2 * CELL_BYTES) >> width
        m.d.comb += [
            next_row.eq(tile.band_row + group_rows),
            next_tile_line.eq(tile.tile_line + Mux(band_end, self.source.cell_step << cell_lines, 0)),
        ]
        with m.If(steps):
            m.d.sync += [
                line.eq(line + (1 << cell_lines)),
                element.eq(Mux(block_end, 0, element + 1)),
                elements_left.eq(elements_left - 1),
            ]
            with m.If(group_end):
                row = Mux(band_end, 0, next_row)
                m.d.sync += [
                    line.eq(next_tile_line + _line_of_cell(row, width, line_half_bytes)),
                    tile.tile_line.eq(next_tile_line),
                    tile.band_row.eq(row),
                    elements_left.eq(elements),
                    rows_left.eq(rows_left - group_rows),
                ]
            with m.If(last):
                m.d.sync += wanted.eq(0)
        with m.If(self.tiles.valid & self.tiles.ready):
            fresh = self.tiles.p
            count = Signal.like(elements)
            m.d.comb += count.eq((Cat(0, fresh.row_bytes) - fresh.odd_nibble) >> width)
            m.d.sync += [
                tile.eq(fresh),
                wanted.eq(1),
                rows_left.eq(self.source.rows),
                elements.eq(count),
                elements_left.eq(count),
                line.eq(fresh.tile_line + _line_of_cell(fresh.band_row, width, line_half_bytes)),
                element.eq(0),
            ]


def _line_of_cell(element: Value, width: Value, line_half_bytes: int) -> Value:
    """Return the line of its cell that holds ``element``."""
    return (element << width) >> line_half_bytes
