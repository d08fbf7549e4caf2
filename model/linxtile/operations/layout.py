"""Order of the elements in a tile: the one place for the offsets of ND, DN, NZ and ZN.

Every order is a matter of *bands*. A matrix is cut into vertical bands of ``width`` columns; the bands follow each other,
each row by row, so that element (i, j) has the place ``(j // width) * rows * width + i * width + j % width``. One band as
wide as the matrix is row-major order (ND), bands of 32 bytes are NZ. DN and ZN are the same with rows and columns exchanged.
LinxISA v0.56, TMA block, TLOAD.
"""

from typing import NamedTuple

from linxtile.arrays import Codes
from linxtile.isa.types import DataType

FRACTAL_ROWS = 16
"""Rows of an NZ fractal, columns of a ZN fractal."""

_BAND_BITS = 32 * 8


def band_elements(data_type: DataType) -> int:
    """Return the columns of an NZ fractal, which are the rows of a ZN fractal: 32 bytes of elements."""
    return _BAND_BITS // data_type.storage_bits


class TileLayout(NamedTuple):
    """Physical size and order of a tile.

    Attributes
    ----------
    rows, columns : int
        Physical size in elements.
    width : int
        Elements of a band; it divides the columns, or the rows of a transposed tile.
    transposed : bool
        Whether the bands are horizontal and go column by column (DN, ZN).
    """

    rows: int
    columns: int
    width: int
    transposed: bool = False

    @property
    def is_aligned(self) -> bool:
        """Whether the tile consists of whole fractals: rows and columns are multiples of the fractal's. Bands only."""
        along, across = (self.columns, self.rows) if self.transposed else (self.rows, self.columns)
        return along % FRACTAL_ROWS == 0 and across % self.width == 0

    def read(self, codes: Codes, valid_rows: int, valid_columns: int) -> Codes:
        """Return the elements of the valid area, shape (valid_rows, valid_columns).

        ``codes`` are the elements of the tile by place, at least ``rows * columns`` of them. The result may be a view.
        """
        if self.transposed:
            return self._flipped().read(codes, valid_columns, valid_rows).T
        bands = -(-valid_columns // self.width)
        grid = self._grid(codes)[:valid_rows, :bands]
        return grid.reshape(valid_rows, bands * self.width)[:, :valid_columns]

    def write(self, codes: Codes, values: Codes) -> None:
        """Put ``values``, the elements of the valid area, into their places in ``codes``."""
        if self.transposed:
            self._flipped().write(codes, values.T)
            return
        valid_rows, valid_columns = values.shape
        grid = self._grid(codes)[:valid_rows]
        bands, left = divmod(valid_columns, self.width)
        whole = bands * self.width
        if bands:
            grid[:, :bands] = values[:, :whole].reshape(valid_rows, bands, self.width)
        if left:
            grid[:, bands, :left] = values[:, whole:]

    def _flipped(self) -> "TileLayout":
        return TileLayout(self.columns, self.rows, self.width)

    def _grid(self, codes: Codes) -> Codes:
        """Return the elements as a view of shape (rows, bands, width)."""
        bands = self.columns // self.width
        view: Codes = codes[: self.rows * self.columns].reshape(bands, self.rows, self.width)
        return view.transpose(1, 0, 2)


def tile_layout(order: str, rows: int, columns: int, data_type: DataType) -> TileLayout:
    """Return the layout of a tile in order ``ND``, ``DN``, ``NZ`` or ``ZN``."""
    if order == "ND":
        return TileLayout(rows, columns, columns)
    if order == "DN":
        return TileLayout(rows, columns, rows, True)
    if order in ("NZ", "ZN"):
        return TileLayout(rows, columns, band_elements(data_type), order == "ZN")
    raise ValueError(f"order of a tile must be ND, DN, NZ or ZN, not {order!r}")


def is_fractal(order: str) -> bool:
    """Whether tiles in this order consist of fractals, so that rows and columns come in multiples."""
    return order in ("NZ", "ZN")
