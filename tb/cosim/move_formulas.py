"""What a program of moves does, by the printed formulas alone: address and place of each element (LinxISA v0.56, TLOAD)."""

import numpy as np

from linxtile.isa.codes import PadValue

PAGE = 2 * 4096
"""Half bytes of a page."""
PADS = {PadValue.ZERO: lambda row: 0, PadValue.NULL: lambda row: 0}
PADS |= {PadValue.MAX: lambda row: row.pad_max, PadValue.MIN: lambda row: row.pad_min}


def cut(content):
    """Half bytes of bytes, the lower one first."""
    data = np.frombuffer(content, np.uint8)
    return np.stack([data & 15, data >> 4], axis=1).reshape(-1)


def joined(half_bytes):
    """Bytes of half bytes."""
    return (half_bytes[0::2] | half_bytes[1::2] << 4).astype(np.uint8).tobytes()


class HalfBytes:
    """Memory by the address of its half bytes, (byte address, upper); what was never written is zero."""

    def __init__(self, pieces):
        self.pages = {}
        for address, content in pieces.items():
            half_bytes = cut(content)
            places = np.arange(len(half_bytes), dtype=np.uint64)
            self.put(np.uint64(address) + places // np.uint64(2), places % np.uint64(2), half_bytes)

    def _split(self, addresses, upper):
        numbers = addresses // np.uint64(PAGE // 2)
        for number in np.unique(numbers):
            here = numbers == number
            page = self.pages.setdefault(int(number), np.zeros(PAGE, np.uint8))
            yield page, here, (addresses[here] % np.uint64(PAGE // 2) * np.uint64(2) + upper[here]).astype(int)

    def get(self, addresses, upper):
        values = np.zeros(len(addresses), np.uint8)
        for page, here, places in self._split(addresses, upper):
            values[here] = page[places]
        return values

    def put(self, addresses, upper, values):
        """Write in this order: of two values for one place the later one stays."""
        for page, here, places in self._split(addresses, upper):
            # Of an index that comes twice numpy keeps the last value.
            page[places] = values[here]


def half_byte_places(order, i, j, rows, columns, half_bytes):
    """First half byte of elements (i, j) in a tile; ``half_bytes`` is the size of an element."""
    c = r = 64 // half_bytes
    if order == "ND":
        place = i * columns + j
    elif order == "DN":
        place = j * rows + i
    elif order == "NZ":
        place = (j // c) * rows * c + i * c + j % c
    else:
        place = (i // r) * columns * r + j * r + i % r
    return place * half_bytes


def grid(rows, columns):
    """Indices (i, j) of all elements of a matrix."""
    return np.divmod(np.arange(rows * columns), columns)


def orders(layout):
    """Names before and after the 2."""
    return layout.name.split("2") if "2" in layout.name else ["ND", "ND"]


class Part:
    """A tile of a move: which elements of the whole it holds, and where."""

    def __init__(self, move, number):
        size = move.element.half_bytes
        memory_by_columns = "DN" in orders(move.layout)
        whole_rows = move.tiles * move.size * 2 // (move.columns * size)
        self.rows = whole_rows // move.tiles if memory_by_columns else whole_rows
        self.columns = move.columns if memory_by_columns else move.columns // move.tiles
        self.row = number * self.rows if memory_by_columns else 0
        self.column = 0 if memory_by_columns else number * self.columns
        self.order = next((order for order in orders(move.layout) if order in ("NZ", "ZN")), "ND")
        self.valid_rows = min(max(move.valid_rows - self.row, 0), self.rows)
        self.valid_columns = min(max(move.valid_columns - self.column, 0), self.columns)

    def elements(self):
        """Valid elements as they follow each other in a part: (i, j) of the part."""
        return grid(self.valid_rows, self.valid_columns)


def addresses(move, i, j):
    """Byte address and half of every half byte of elements (i, j) of the whole, shape (elements, half bytes)."""
    line, place = (j, i) if "DN" in orders(move.layout) else (i, j)
    length = move.valid_rows if "DN" in orders(move.layout) else move.valid_columns
    size = move.element.half_bytes
    stride = -(-length * size // 2) if move.stride is None else move.stride
    half = place[:, None] * size + np.arange(size)
    starts = np.uint64(move.base) + line.astype(np.uint64) * np.uint64(stride)
    return starts[:, None] + (half // 2).astype(np.uint64), (half % 2).astype(np.uint64)


def background(tile_bytes, rows, columns, move):
    """Half bytes of a tile that holds padding in its image and zeros behind."""
    row = move.element
    pad = PADS[move.pad](row)
    element = [pad >> 4 * k & 15 for k in range(row.half_bytes)]
    image = np.zeros(2 * tile_bytes, np.uint8)
    image[: rows * columns * row.half_bytes] = np.tile(element, rows * columns)
    return image


def loaded(move, memory):
    """Tiles of a load, in header order."""
    size, tiles = move.element.half_bytes, []
    for number in range(move.tiles):
        part = Part(move, number)
        image = background(move.size, part.rows, part.columns, move)
        i, j = part.elements()
        places = half_byte_places(part.order, i, j, part.rows, part.columns, size)[:, None] + np.arange(size)
        address, upper = addresses(move, i + part.row, j + part.column)
        image[places.ravel()] = memory.get(address.ravel(), upper.ravel())
        tiles.append(joined(image))
    return tiles


def stored(move, sources, memory):
    """Change memory as a store of these tiles does; return the addresses of the bytes that it wrote."""
    size, by_columns = move.element.half_bytes, "DN" in orders(move.layout)
    pieces = []
    for number, source in enumerate(map(cut, sources)):
        part = Part(move, number)
        i, j = part.elements()
        places = half_byte_places(part.order, i, j, part.rows, part.columns, size)
        whole = i + part.row, j + part.column
        pieces.append((*whole, source[places[:, None] + np.arange(size)]))
    i, j, values = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    # Line by line of memory, so that the last line wins where they overlap.
    order = np.lexsort((i, j) if by_columns else (j, i))
    address, upper = addresses(move, i[order], j[order])
    memory.put(address.ravel(), upper.ravel(), values[order].ravel())
    return np.unique(address)


def moved(move, source):
    """Destination of a TMOV."""
    size = move.element.half_bytes
    rows = [count * 2 // (move.columns * size) for count in (move.size, move.destination_size)]
    image, content = background(move.destination_size, rows[1], move.columns, move), cut(source)
    i, j = grid(move.valid_rows, move.valid_columns)
    order = orders(move.layout)
    sources = half_byte_places(order[0], i, j, rows[0], move.columns, size)
    targets = half_byte_places(order[1], i, j, rows[1], move.columns, size)
    for k in range(size):
        image[targets + k] = content[sources + k]
    return joined(image)


def check(program, blocks):
    """Compare the tiles and the memory of committed blocks (without set-up blocks) with the formulas."""
    memory, actual = HalfBytes(program.scenario.memory), HalfBytes(program.scenario.memory)
    tiles = []
    assert len(blocks) == len(program.steps), f"{program.scenario.name}: {len(blocks)} of {len(program.steps)} blocks"
    for step, block in zip(program.steps, blocks, strict=True):
        move, what = step.move, f"{program.scenario.name}: {step.move}"
        sources = [tiles[number] for number in step.sources]
        new = []
        if move.name == "TLOAD":
            new = loaded(move, memory)
        elif move.name == "TMOV":
            new = [moved(move, *sources)]
        else:
            check_writes(what, block.writes, stored(move, sources, memory), memory, actual)
        found = [bytes(tile) for tile in block.new_tiles.values()]
        assert len(found) == len(new), what
        for number, (got, expected) in enumerate(zip(found, new, strict=True)):
            at = next((k for k in range(len(expected)) if got[k : k + 1] != expected[k : k + 1]), None)
            assert at is None and len(got) == len(expected), f"{what}: byte {at} of tile {number} differs"
        tiles += new


def check_writes(what, writes, written, memory, actual):
    """Apply the bytes that a block stored to ``actual`` and compare it with ``memory``; only ``written`` may change."""
    for address, content in writes:
        touched = np.uint64(address) + np.arange(len(content), dtype=np.uint64)
        stray = np.setdiff1d(touched, written)
        assert not len(stray), f"{what}: wrote to {int(stray[0]):#x}"
        for upper, half_bytes in enumerate((cut(content)[0::2], cut(content)[1::2])):
            actual.put(touched, np.full(len(content), upper, np.uint64), half_bytes)
    for upper in range(2):
        place = np.full(len(written), upper, np.uint64)
        differing = np.flatnonzero(actual.get(written, place) != memory.get(written, place))
        assert not len(differing), f"{what}: memory byte {int(written[differing[0]]):#x} differs"
