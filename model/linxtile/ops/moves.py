"""Loads, stores and changes of order. LinxISA v0.56, TMA block.

Memory is a one-dimensional array of bytes; ``base`` is the index of the first element, and all elements must lie in the
array. They lie in rows (NORM, ND) or columns (DN) that are ``stride`` bytes apart, or without a stride one after the other.
"""

from collections.abc import Sequence
from typing import overload

from linxtile import formats
from linxtile.arrays import Bytes
from linxtile.isa.codes import MAX_DESTINATIONS, Layout
from linxtile.isa.operations import operation
from linxtile.isa.types import DataType
from linxtile.memory import ADDRESS_SPACE
from linxtile.ops.arguments import require_dimension, require_tile, require_type
from linxtile.ops.array_memory import ArrayMemory
from linxtile.ops.blocks import Call, image_bytes, result, stored
from linxtile.ops.elementwise import Pad
from linxtile.tile import Tile
from linxtile.tile_arguments import checked_shape, pad_value, raw_bytes

Content = bytes | bytearray | memoryview | Bytes


@overload
def TLOAD(
    memory: Content, data_type: str | DataType, shape: tuple[int, int], *, base: int = 0, stride: int | None = None,
    valid_shape: tuple[int, int] | None = None, layout: str | Layout = "NORM", outputs: None = None, pad: Pad = "Null",
) -> Tile: ...  # fmt: skip
@overload
def TLOAD(
    memory: Content, data_type: str | DataType, shape: tuple[int, int], *, base: int = 0, stride: int | None = None,
    valid_shape: tuple[int, int] | None = None, layout: str | Layout = "NORM", outputs: int, pad: Pad = "Null",
) -> tuple[Tile, ...]: ...  # fmt: skip
def TLOAD(
    memory: Content, data_type: str | DataType, shape: tuple[int, int], *, base: int = 0, stride: int | None = None,
    valid_shape: tuple[int, int] | None = None, layout: str | Layout = "NORM", outputs: int | None = None,
    pad: Pad = "Null",
) -> Tile | tuple[Tile, ...]:  # fmt: skip
    """Load a matrix, transposed or not, into one tile, or cut into ``outputs`` equal tiles.

    Parameters
    ----------
    memory : bytes-like or array of uint8
        Addresses are its indices.
    shape : (int, int)
        Rows and columns of the whole image, padding included.
    base, stride : int
        Byte address of the first element, bytes between rows (ND) or columns (DN); a stride may be negative.
    valid_shape : (int, int), optional
        Rows and columns that are read; all of them when absent.
    layout : str or Layout
        NORM, ND2NZ, ND2ZN, DN2NZ or DN2ZN.
    outputs : int, optional
        Cut the whole into this many tiles, by columns (ND) or rows (DN), and return a tuple.
    """
    name = "TLOAD"
    row, order = require_type(name, formats.get(data_type)), _layout(name, layout)
    whole = checked_shape("shape", shape)
    valid = whole if valid_shape is None else checked_shape("valid_shape", valid_shape)
    count = 1 if outputs is None else require_dimension(name, "outputs", outputs)
    axis = 0 if "DN" in order.name else 1
    if count > MAX_DESTINATIONS or whole[axis] % count:
        raise ValueError(
            f"{name}: outputs must be at most {MAX_DESTINATIONS} and divide the {whole[axis]} "
            f"{'columns' if axis else 'rows'}, not {count}"
        )
    length = whole[axis] // count
    part = (whole[0], length) if axis else (length, whole[1])
    call = Call(
        name, row, (valid[1], valid[0], whole[1]), (image_bytes(part, row),) * count, scalars=_place(name, base, stride),
        pad=pad_value(pad), layout=order, memory=ArrayMemory(_content(name, memory, base)),
    )  # fmt: skip
    outcome = call.run([])
    tiles = []
    for place in range(count):
        inside = min(max(valid[axis] - place * length, 0), length)
        part_valid = (valid[0], inside) if axis else (inside, valid[1])
        tiles.append(result(outcome, place, row, part, part_valid, order.destination_order))
    return tiles[0] if outputs is None else tuple(tiles)


def TSTORE(
    tiles: Tile | Sequence[Tile], memory: bytearray | Bytes, *, base: int = 0, stride: int | None = None,
    layout: str | Layout = "NORM",
) -> None:  # fmt: skip
    """Store the valid area of a tile, or of the parts of a matrix, and nothing else.

    Parameters
    ----------
    tiles : Tile or sequence of Tile
        One tile, or up to eight of one shape: slices by columns (memory ND) or rows (memory DN).
    memory : bytearray or writable array of uint8
        Addresses are its indices.
    layout : str or Layout
        NORM, NZ2ND, ZN2ND, NZ2DN or ZN2DN; its first half is the order of the tiles.
    """
    name = "TSTORE"
    if not isinstance(tiles, (Tile, Sequence)):
        raise TypeError(f"{name}: tiles must be a Tile or a sequence of them, not {type(tiles).__name__}")
    parts = [tiles] if isinstance(tiles, Tile) else list(tiles)
    if not 1 <= len(parts) <= MAX_DESTINATIONS:
        raise ValueError(f"{name}: tiles must be 1 to {MAX_DESTINATIONS}, not {len(parts)}")
    order = _layout(name, layout)
    first = require_tile(name, "tile 0", parts[0], orders=(order.source_order,))
    axis = 0 if "DN" in order.name else 1
    for place, tile in enumerate(parts[1:], 1):
        require_tile(name, f"tile {place}", tile, orders=(order.source_order,), empty=True)
        if (tile.data_type, tile.shape) != (first.data_type, first.shape):
            raise ValueError(
                f"{name}: tile {place} must be {first.data_type.name} {first.shape} as tile 0, not {tile!r}"
            )
    valid = _whole_valid(name, parts, axis)
    columns = first.shape[1] * (len(parts) if axis else 1)
    content = _content(name, memory, base)
    if not content.flags.writeable:
        raise ValueError(f"{name}: memory must be writable, and {type(memory).__name__} is not")
    call = Call(
        name, require_type(name, first.data_type), (valid[1], valid[0], columns), (), scalars=_place(name, base, stride),
        layout=order, memory=ArrayMemory(content),
    )  # fmt: skip
    call.run([stored(tile) for tile in parts])


def _whole_valid(name: str, parts: Sequence[Tile], axis: int) -> tuple[int, int]:
    """Return the valid shape of the whole; every part but the last that holds anything must be full along the cut."""
    across, length = parts[0].valid_shape[1 - axis], parts[0].shape[axis]
    total = sum(tile.valid_shape[axis] for tile in parts)
    for place, tile in enumerate(parts):
        inside = min(max(total - place * length, 0), length)
        wanted = (across, inside) if axis else (inside, across)
        if tile.valid_shape != wanted:
            raise ValueError(
                f"{name}: tile {place} must have the valid_shape {wanted} of a slice, not {tile.valid_shape}"
            )
    return (across, total) if axis else (total, across)


def TMOV(first: Tile, layout: str | Layout, *, pad: Pad = "Null") -> Tile:
    """Copy the valid area into another order.

    ``layout`` is NORM (row-major to row-major) or names source and destination order, such as ND2NZ.
    """
    order = _layout("TMOV", layout)
    require_tile("TMOV", "first", first, orders=(order.source_order,))
    row = require_type("TMOV", first.data_type)
    call = Call(
        "TMOV", row, (first.valid_shape[1], first.valid_shape[0], first.shape[1]), (image_bytes(first.shape, row),),
        pad=pad_value(pad), layout=order,
    )  # fmt: skip
    return result(call.run([stored(first)]), 0, row, first.shape, first.valid_shape, order.destination_order)


def _layout(name: str, layout: str | Layout) -> Layout:
    allowed = operation(name).layouts or ()
    if not isinstance(layout, (str, Layout)):
        raise TypeError(f"{name}: layout must be a name such as {allowed[-1].name!r}, not {layout!r}")
    found = layout if isinstance(layout, Layout) else Layout.__members__.get(layout.upper())
    if found not in allowed:
        raise ValueError(f"{name}: layout must be one of {', '.join(entry.name for entry in allowed)}, not {layout!r}")
    return found


def _place(name: str, base: object, stride: object) -> tuple[int, ...]:
    start = _integer(name, "base", base)
    if start < 0:
        raise ValueError(f"{name}: base must be at least 0, not {start}")
    return (start,) if stride is None else (start, _integer(name, "stride", stride) % ADDRESS_SPACE)


def _integer(name: str, what: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: {what} must be an integer, not {value!r}")
    return value


def _content(name: str, memory: object, base: object) -> Bytes:
    """Return the bytes of a memory that holds the first element at least."""
    content = raw_bytes("memory", memory)
    if _integer(name, "base", base) >= len(content):
        raise ValueError(f"{name}: base must lie in the {len(content)} bytes of memory, not at {base}")
    return content
