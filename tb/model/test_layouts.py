"""Places of elements in tiles, against the printed formulas and an enumeration of the fractals."""

import numpy as np
import pytest

from linxtile.isa.types import DATA_TYPES, data_type
from linxtile.operations.layout import TileLayout, band_elements, tile_layout

HALF_BYTES = {"FP64": 16, "FP32": 8, "FP16": 4, "E4M3": 2, "U4x2": 1}
"""Half bytes of an element of one type of each width."""


def printed_place(order, i, j, rows, columns, half_bytes):
    """Return the place of element (i, j) in half bytes, by the formulas as printed (esize in half bytes)."""
    c0 = r0 = 64 // half_bytes
    if order == "ND":
        return (i * columns + j) * half_bytes
    if order == "DN":
        return (j * rows + i) * half_bytes
    if order == "NZ":
        return ((j // c0) * rows * c0 + i * c0 + j % c0) * half_bytes
    return ((i // r0) * columns * r0 + j * r0 + i % r0) * half_bytes


def sizes(order, kind):
    """Return physical sizes that the order allows: one fractal, more of them in each direction, odd ones if it may."""
    band = 64 // HALF_BYTES[kind]
    if order == "NZ":
        return [(16, band), (32, 3 * band), (48, band)]
    if order == "ZN":
        return [(band, 16), (3 * band, 32), (band, 48)]
    return [(1, 2), (5, 14), (13, 6)]


def places(layout):
    """Return the place of each element as the layout reads it, shape (rows, columns)."""
    return layout.read(np.arange(layout.rows * layout.columns + 3), layout.rows, layout.columns)


@pytest.mark.parametrize("kind", HALF_BYTES)
@pytest.mark.parametrize("order", ["ND", "DN", "NZ", "ZN"])
def test_every_element_has_its_printed_place(order, kind):
    for rows, columns in sizes(order, kind):
        found = places(tile_layout(order, rows, columns, data_type(kind)))
        for i in range(rows):
            for j in range(columns):
                expected = printed_place(order, i, j, rows, columns, HALF_BYTES[kind])
                assert found[i, j] * HALF_BYTES[kind] == expected, (order, kind, rows, columns, i, j)


@pytest.mark.parametrize(
    ("rows", "columns", "kind", "element", "offsets"),
    [
        (32, 32, "FP16", (17, 18), {"ND": 1124, "NZ": 1572, "ZN": 1602}),
        (32, 32, "FP32", (17, 18), {"ND": 2248, "NZ": 2600, "ZN": 2628}),
        (64, 64, "E4M3", (17, 40), {"ND": 1128, "NZ": 2600, "ZN": 1297}),
    ],
)
def test_the_worked_offsets(rows, columns, kind, element, offsets):
    row = data_type(kind)
    found = {order: places(tile_layout(order, rows, columns, row))[element] for order in offsets}
    assert {order: place * row.storage_bits // 8 for order, place in found.items()} == offsets


def fractal_walk(order, rows, columns, band):
    """Yield the elements of a tile as they lie in it: fractal after fractal, inside each line after line of 32 bytes."""
    if order == "NZ":
        for left in range(0, columns, band):
            for top in range(0, rows, 16):
                yield from ((top + i, left + j) for i in range(16) for j in range(band))
    else:
        for top in range(0, rows, band):
            for left in range(0, columns, 16):
                yield from ((top + i, left + j) for j in range(16) for i in range(band))


@pytest.mark.parametrize("kind", HALF_BYTES)
@pytest.mark.parametrize("order", ["NZ", "ZN"])
def test_fractals_of_512_bytes_follow_each_other_without_a_gap(order, kind):
    for rows, columns in sizes(order, kind):
        found = places(tile_layout(order, rows, columns, data_type(kind)))
        walk = fractal_walk(order, rows, columns, band_elements(data_type(kind)))
        assert [found[element] for element in walk] == list(range(rows * columns))


@pytest.mark.parametrize("order", ["ND", "DN", "NZ", "ZN"])
@pytest.mark.parametrize("valid", [(1, 1), (1, 37), (31, 1), (17, 33), (32, 64), (0, 5), (5, 0)])
def test_what_is_written_to_a_valid_area_is_read_back_and_nothing_else_changes(order, valid):
    layout = tile_layout(order, 32, 64, data_type("FP16"))
    values = np.arange(1, valid[0] * valid[1] + 1, dtype=np.uint16).reshape(valid)
    codes = np.zeros(32 * 64 + 10, np.uint16)
    layout.write(codes, values)
    np.testing.assert_array_equal(layout.read(codes, *valid), values)
    assert np.count_nonzero(codes) == values.size
    whole = layout.read(codes, 32, 64)
    np.testing.assert_array_equal(whole[: valid[0], : valid[1]], values)


def test_the_fractal_column_of_a_tall_tile_starts_behind_all_its_rows():
    # 17 valid rows of 32: element (0, 16) lies behind 32 rows, not 17.
    codes = np.zeros(32 * 32, np.uint16)
    tile_layout("NZ", 32, 32, data_type("FP16")).write(codes, np.ones((17, 32), np.uint16))
    assert codes[32 * 16] == 1
    assert codes[17 * 16 : 32 * 16].max() == 0


def test_a_band_is_32_bytes_of_every_type():
    assert {row.name: band_elements(row) * row.storage_bits for row in DATA_TYPES} == {
        row.name: 256 for row in DATA_TYPES
    }


def test_only_whole_fractals_are_aligned():
    assert tile_layout("NZ", 48, 24, data_type("FP32")).is_aligned
    assert not tile_layout("NZ", 40, 24, data_type("FP32")).is_aligned
    assert not tile_layout("NZ", 48, 20, data_type("FP32")).is_aligned
    assert tile_layout("ZN", 24, 48, data_type("FP32")).is_aligned
    assert not tile_layout("ZN", 24, 40, data_type("FP32")).is_aligned
    assert not tile_layout("ZN", 20, 48, data_type("FP32")).is_aligned


def test_an_unknown_order_is_refused():
    with pytest.raises(ValueError, match="order of a tile must be ND, DN, NZ or ZN, not 'ZZ'"):
        tile_layout("ZZ", 16, 16, data_type("FP16"))


def test_bands_of_any_width_go_from_top_to_bottom():
    # The ACC's own fractals keep 16 columns whatever the width of the element.
    assert places(TileLayout(32, 32, 16))[1, 17] == 32 * 16 + 16 + 1
