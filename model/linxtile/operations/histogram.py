"""THISTOGRAM: how many elements of a row have a byte of at most k, for k from 0 to 255."""

from collections.abc import Sequence

import numpy as np

from linxtile.accumulator import Accumulator
from linxtile.isa.block import Block
from linxtile.isa.codes import PadValue
from linxtile.operations.base import Context, Outcome, check_shapes, element_type, second_type
from linxtile.operations.image import code_type, read_matrix, write_vector
from linxtile.stored_tile import StoredTile

BINS = 256


def filter_bytes(block: Block) -> int:
    """Return the bytes of the filter that count: one a row, or one for each byte above the counted one.

    16-bit elements are filtered row by row, 32-bit elements all alike.
    """
    bytes_above = element_type(block).storage_bits // 8 - 1 - block.byte_id
    if element_type(block).storage_bits == 16:
        return bytes_above * block.valid_rows
    return bytes_above


class Histogram:
    """``dst[r,k]`` counts the valid elements of row r that pass the filter and whose byte ByteId is at most k."""

    def check(self, block: Block, sources: Sequence[StoredTile], accumulator: Accumulator | None = None) -> None:
        """A matrix and a filter in, 256 counters a row out."""
        counters = block.valid_rows * BINS * second_type(block).storage_bits
        check_shapes(
            block,
            [(sources[0].size, element_type(block).storage_bits)],
            [(sources[1].size, filter_bytes(block) * 8), (block.destinations[0].size_bytes, counters)],
        )

    def execute(self, block: Block, sources: Sequence[StoredTile], context: Context) -> Outcome:
        """Count; what lies behind the counters is zero."""
        codes = read_matrix(sources[0], block)
        # Byte b of an element in the last axis, the most significant first.
        parts = codes.astype(codes.dtype.newbyteorder(">")).view(np.uint8).reshape(*codes.shape, codes.itemsize)
        above = codes.itemsize - 1 - block.byte_id
        wanted = sources[1].data[: filter_bytes(block)]
        if codes.itemsize == 2 and above:
            wanted = wanted.reshape(-1, 1, 1)
        passing = (parts[..., :above] == wanted).all(axis=-1)
        rows = np.broadcast_to(np.arange(len(codes))[:, np.newaxis], codes.shape)[passing]
        places = rows * BINS + parts[..., above][passing]
        counts = np.bincount(places, minlength=len(codes) * BINS).reshape(-1, BINS).cumsum(axis=1)
        counter = second_type(block)
        values = counts.astype(np.uint64).astype(code_type(counter)).reshape(-1)
        data = write_vector(block.destinations[0].size_bytes, values, counter, PadValue.NULL)
        return Outcome([data], element_bits=[counter.storage_bits])
