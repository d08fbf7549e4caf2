"""Words for the first byte in which model and core differ: operation, tile, element, values, what went in."""

from linxtile.isa.block import Block
from linxtile.isa.codes import Layout
from linxtile.isa.operations import Shape
from linxtile.isa.types import DataType, Kind
from linxtile.queues import QueueState
from linxtile.retired import Retired
from linxtile.stored_tile import StoredTile
from linxtile.values import decode

__all__ = ["describe_tile", "element_code", "show_code"]


def element_code(content: bytes, index: int, bits: int) -> int:
    """Return the code of element ``index`` of packed little-endian elements of ``bits`` bits."""
    low = index * bits
    piece = int.from_bytes(content[low // 8 : (low + bits + 7) // 8], "little")
    return piece >> low % 8 & ((1 << bits) - 1)


def show_code(code: int, data_type: DataType) -> str:
    """Return a code in hex with its value, such as ``0x3f800000 (1)``."""
    digits = data_type.storage_bits // 4
    if data_type.kind is Kind.UNSIGNED:
        value = str(code)
    elif data_type.kind is Kind.SIGNED:
        value = str(code - (1 << data_type.storage_bits) if code >> data_type.storage_bits - 1 else code)
    else:
        value = str(decode(code, data_type))
    return f"{code:#0{digits + 2}x} ({value})"


def describe_tile(retired: Retired, tile_ram: bytes, before: QueueState | None) -> str:
    """Tell the first element of a new tile that differs from ``tile_ram``.

    Parameters
    ----------
    retired : Retired
        The block as the model executed it.
    tile_ram : bytes
        Contents of the simulated tile RAM after the block.
    before : QueueState or None
        Names before the block, for its sources; None for the first block.
    """
    head = f"{retired.operation} at {retired.block:#x}"
    for name, tile in retired.new_tiles.items():
        expected = bytes(tile)
        actual = tile_ram[tile.base : tile.base + tile.size]
        if expected == actual:
            continue
        offset = next(i for i in range(tile.size) if expected[i] != actual[i])
        block = retired.description
        if block is None or block.data_type is None:
            return f"{head}: {name} byte {offset}: got {actual[offset]:#04x}, expected {expected[offset]:#04x}"
        return f"{head} {block.data_type.name}: {name} {_element(block, tile, offset, actual, before)}"
    return f"{head}: the digest of its tiles differs although the bytes agree: a line was written twice, or elsewhere"


def _element(block: Block, tile: StoredTile, offset: int, actual: bytes, before: QueueState | None) -> str:
    data_type = block.data_type
    assert data_type is not None
    bits = data_type.storage_bits
    index = offset * 8 // bits
    expected = bytes(tile)
    # Of two elements in a byte the lower one may agree.
    if element_code(actual, index, bits) == element_code(expected, index, bits):
        index += 1
    got = show_code(element_code(actual, index, bits), data_type)
    wanted = show_code(element_code(expected, index, bits), data_type)
    if block.operation.shape in (Shape.LOAD, Shape.MOVE) and (
        block.layout is not Layout.NORM or len(block.destinations) > 1
    ):
        return f"element number {index}, byte {offset}: got {got}, expected {wanted}, {block.layout.name}"
    columns = 1 if block.operation.shape is Shape.ROW_REDUCE else block.columns
    row, column = divmod(index, columns)
    place = f"element ({row}, {column}), byte {offset}: got {got}, expected {wanted}"
    valid_columns = 1 if block.operation.shape is Shape.ROW_REDUCE else block.valid_columns
    if row >= block.valid_rows or column >= valid_columns:
        return f"{place}, padding"
    return place + _sources(block, row, index, bits, before)


def _sources(block: Block, row: int, index: int, bits: int, before: QueueState | None) -> str:
    """Tell the source elements that make one result element."""
    data_type = block.data_type
    assert data_type is not None
    parts = []
    for place, source in enumerate(block.sources):
        tile = None if before is None else before.live().get(f"{source.queue.name}#{source.index}")
        if tile is None:
            continue
        vector = block.operation.shape is Shape.ROW_EXPAND or (
            block.operation.shape is Shape.ROW_EXPAND_OP and place == 1
        )
        elements = [row if vector else index]
        if block.operation.shape is Shape.ROW_REDUCE:
            elements = [row * block.columns + column for column in range(min(block.valid_columns, 8))]
        codes = [show_code(element_code(bytes(tile), element, bits), data_type) for element in elements]
        parts.append(f"{source.queue.name}#{source.index} {', '.join(codes)}")
    if block.scalars and block.operation.shape is not Shape.LOAD:
        parts.append(f"scalar {show_code(block.scalars[0] & ((1 << bits) - 1), data_type)}")
    return f"; sources: {'; '.join(parts)}" if parts else ""
