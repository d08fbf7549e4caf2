"""Sizes of a block's tiles, from its dimensions and its data type."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig
from linxtile.isa.codes import size_bytes
from linxtile.isa.types import DATA_TYPES, TYPE_CODE_BITS

from .find_first import find_first
from .layouts import byte_count_bits, width_code

__all__ = ["NEED_BITS", "ROW_BYTES_BITS", "Geometry"]

DIMENSION_BITS = 16
NEED_BITS = 6
"""Bits of a size code that may lie above the largest one."""
ROW_BYTES_BITS = DIMENSION_BITS + 3
"""Bits of a row's bytes before it is known to fit a tile: 65535 elements of 8 bytes."""
CODE_ZERO_HALF_BYTES = exact_log2(2 * size_bytes(1)) - 1
"""Log2 of the half-bytes that size code 0 would have if it were a size: code ``c`` holds ``2**(c + this)``."""


def _bit_length(value: Signal) -> Value:
    """Bits needed to write ``value``, 0 for 0."""
    return Mux(value.any(), len(value) - find_first(value[::-1]), 0)


class Geometry(wiring.Component):
    """Row and tile sizes; outputs belong to the inputs of two cycles before (``row_bytes``, ``pitch_bytes``: one).

    A tile holds the rows of an operation when its size code is at least the one needed: sizes are powers of two,
    so the physical row count, a quotient, is never formed (3.3).

    Parameters
    ----------
    config : CoreConfig
        ``tile_max_bytes`` bounds what is known to fit.

    Members
    -------
    valid_rows, valid_columns, columns, data_type : In
        Dimensions, at least 1 each, of all tiles together.
    part_columns : In
        Physical columns of each tile, when several share the ``columns``.
    by_columns : In(1)
        The lines of memory are columns.
    width : Out(3)
        Width code of the type, in the same cycle.
    row_bytes, pitch_bytes : Out
        Bytes of the valid elements of a row, of a column if ``by_columns``, and from row to row in a tile; half bytes are
        rounded up.
    valid_bytes : Out
        ``valid_rows * pitch_bytes``; for blocks that pass the rules.
    matrix_bytes : Out
        ``valid_rows * valid_columns`` elements; for blocks that pass the rules.
    odd_nibble : Out(1)
        The last of the ``row_bytes`` holds one 4-bit element only.
    columns_short, columns_odd : Out(1)
        More valid columns than columns; rows of a tile that do not begin on a byte.
    matrix_code, row_vector_code, column_vector_code : Out(NEED_BITS)
        Smallest size code of a tile that holds ``valid_rows`` rows, one element a row, one element a valid column.
    """

    def __init__(self, *, config: CoreConfig):
        byte_bits = byte_count_bits(config)
        super().__init__({
            "valid_rows": In(DIMENSION_BITS),
            "valid_columns": In(DIMENSION_BITS),
            "columns": In(DIMENSION_BITS),
            "part_columns": In(DIMENSION_BITS),
            "data_type": In(TYPE_CODE_BITS),
            "by_columns": In(1),
            "width": Out(3),
            "row_bytes": Out(ROW_BYTES_BITS),
            "pitch_bytes": Out(ROW_BYTES_BITS),
            "valid_bytes": Out(byte_bits),
            "matrix_bytes": Out(byte_bits),
            "odd_nibble": Out(1),
            "columns_short": Out(1),
            "columns_odd": Out(1),
            "matrix_code": Out(NEED_BITS),
            "row_vector_code": Out(NEED_BITS),
            "column_vector_code": Out(NEED_BITS),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Multiply in the first cycle, find the size in the second."""
        m = Module()
        with m.Switch(self.data_type):
            for row in DATA_TYPES:
                with m.Case(row.code):
                    m.d.comb += self.width.eq(width_code(row.storage_bits))
        packed = self.width == 0

        elements, valid_elements = Signal(2 * DIMENSION_BITS), Signal(len(self.matrix_bytes) + 1)
        width = Signal.like(self.width)
        rows, columns = Signal(DIMENSION_BITS), Signal(DIMENSION_BITS)
        row_elements = Signal(DIMENSION_BITS)
        m.d.comb += row_elements.eq(Mux(self.by_columns, self.valid_rows, self.valid_columns))
        m.d.sync += [
            elements.eq(self.valid_rows * self.part_columns),
            valid_elements.eq(self.valid_rows * self.valid_columns),
            width.eq(self.width),
            rows.eq(self.valid_rows),
            columns.eq(self.valid_columns),
            self.row_bytes.eq(((row_elements << self.width) + 1) >> 1),
            self.pitch_bytes.eq(((self.part_columns << self.width) + 1) >> 1),
            self.odd_nibble.eq(packed & row_elements[0]),
            self.columns_odd.eq(packed & self.part_columns[0]),
            self.columns_short.eq(self.valid_columns > self.columns),
            self.valid_bytes.eq((elements << width) >> 1),
            self.matrix_bytes.eq((valid_elements << width) >> 1),
        ]
        # n elements of 2**w half bytes fit into 2**(c + z) of them when n - 1 has at most c + z - w bits.
        for code, count in (
            (self.matrix_code, elements),
            (self.row_vector_code, rows),
            (self.column_vector_code, columns),
        ):
            last = Signal.like(count, name=f"last_{count.name}")
            length = Signal(NEED_BITS, name=f"length_{count.name}")
            m.d.comb += [last.eq(count - 1), length.eq(_bit_length(last) + width)]
            m.d.sync += code.eq(Mux(length > CODE_ZERO_HALF_BYTES, length - CODE_ZERO_HALF_BYTES, 0))
        return m
