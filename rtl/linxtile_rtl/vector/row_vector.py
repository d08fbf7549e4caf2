"""Control of the destination's lines, with the row vector spread over the rows of each line."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..masks import ColumnMask
from .plan import OperandSource, context_layout

__all__ = ["RowVector", "destination_line_layout"]


def destination_line_layout(config: CoreConfig) -> data.StructLayout:
    """One line of a destination: masks as in ``mask_line_layout``, the row vector's bytes, the block."""
    line = config.vector_bytes
    return data.StructLayout({
        "valid": line, "image": line, "last": 1, "vector": 8 * line, "context": context_layout(config),
    })  # fmt: skip


class RowVector(wiring.Component):
    """Emits the destination lines of one block after the other; a reduction as a single line without masks.

    A line a cycle; with a row vector, two rows a cycle where a line holds more. Without a row vector ``vector`` is undefined.

    Members
    -------
    command : In(stream of context_layout(config))
        Blocks; the next one is taken together with the last line of the one before.
    elements : In(stream of lines)
        The row vectors, element r at byte r * element size; all lines of a block that hold an element of a valid row.
    lines : Out(stream of destination_line_layout(config))
        Lines in order.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(context_layout(config))),
            "elements": In(stream.Signature(8 * config.vector_bytes)),
            "lines": Out(stream.Signature(destination_line_layout(config))),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Join masks and row vector in an output register."""
        m = Module()
        m.submodules.masks = masks = ColumnMask(config=self._config)
        context = Signal(context_layout(self._config))
        busy = Signal()
        spread = Signal(8 * self._config.vector_bytes)
        spread_done = Signal()
        free, leaving, finishing, begin, alone = (Signal() for _ in range(5))

        m.d.comb += [
            free.eq(~self.lines.valid | self.lines.ready),
            leaving.eq(busy & free & masks.lines.valid & spread_done),
            finishing.eq(leaving & masks.lines.p.last),
            masks.lines.ready.eq(leaving),
            masks.command.valid.eq(begin),
            masks.command.p.row_bytes.eq(self.command.p.row_bytes),
            masks.command.p.pitch_bytes.eq(self.command.p.pitch_bytes),
            masks.command.p.valid_bytes.eq(self.command.p.valid_bytes),
            masks.command.p.tile_bytes.eq(self.command.p.destination_bytes),
            # The masks are ready whenever this unit is: both finish with the same line.
            self.command.ready.eq(Mux(self.command.p.reduction, ~busy & free, ~busy | finishing)),
            begin.eq(self.command.valid & self.command.ready & ~self.command.p.reduction),
            alone.eq(self.command.valid & self.command.ready & self.command.p.reduction),
        ]
        with m.If(free):
            m.d.sync += [
                self.lines.valid.eq(leaving | alone),
                self.lines.p.valid.eq(masks.lines.p.valid),
                self.lines.p.image.eq(masks.lines.p.image),
                self.lines.p.last.eq(alone | masks.lines.p.last),
                self.lines.p.vector.eq(spread),
                self.lines.p.context.eq(Mux(alone, self.command.payload, context)),
            ]
        with m.If(finishing):
            m.d.sync += busy.eq(0)
        with m.If(begin):
            m.d.sync += [busy.eq(1), context.eq(self.command.payload)]
        self._spread(m, masks, context, busy & free & masks.lines.valid, begin, spread, spread_done)
        return m

    def _spread(
        self,
        m: Module,
        masks: ColumnMask,
        context: data.View,
        working: Value,
        begin: Signal,
        spread: Signal,
        spread_done: Signal,
    ) -> None:
        """Fill ``spread`` for the line that the masks show; ``spread_done`` in the cycle that fills its last row.

        ``held`` is the vector line of the next element, at byte ``place``. In each cycle the bytes before the first row
        start that is still pending take the element of the row under way, the bytes after it the next one, and the bytes
        after the second start the one after that.
        """
        line = self._config.vector_bytes
        held = Signal(8 * line)
        held_valid = Signal()
        place = Signal(exact_log2(line))
        current = Signal(64)
        rows_left = Signal(16)
        filled = Signal(line)
        partial = Signal(8 * line)

        element_bytes = Signal(4)
        second_place = Signal(exact_log2(line) + 1)
        first, second = Signal(64), Signal(64)
        m.d.comb += [
            first.eq(_element(held, place, context.shift)),
            element_bytes.eq(1 << context.shift),
            second_place.eq(place + element_bytes),
            second.eq(_element(Mux(second_place[-1], self.elements.payload, held), second_place[:-1], context.shift)),
        ]

        uses_vector = Signal()
        starts, after_first, after_second = Signal(line), Signal(line), Signal(line)
        takes_one, takes_two, more, supplied, step, crosses = (Signal() for _ in range(6))
        m.d.comb += [
            uses_vector.eq((context.a == OperandSource.ROW_VECTOR) | (context.b == OperandSource.ROW_VECTOR)),
            starts.eq(Mux(rows_left == 0, 0, masks.lines.p.starts & ~filled)),
            after_first.eq(starts & (starts - 1)),
            after_second.eq(after_first & (after_first - 1)),
            takes_one.eq(starts.any()),
            takes_two.eq(after_first.any() & (rows_left > 1)),
            more.eq(after_second.any() & (rows_left > 2)),
            supplied.eq(~takes_one | (held_valid & (~takes_two | ~second_place[-1] | self.elements.valid))),
            step.eq(working & uses_vector & supplied),
            spread_done.eq(~uses_vector | (supplied & ~more)),
        ]
        from_first, from_second, from_third = (_from_lowest(bits) for bits in (starts, after_first, after_second))
        for byte in range(line):
            lane = slice(8 * (byte % 8), 8 * (byte % 8) + 8)
            value = Mux(from_second[byte] & takes_two, second[lane], Mux(from_first[byte], first[lane], current[lane]))
            m.d.comb += spread[8 * byte : 8 * byte + 8].eq(Mux(filled[byte], partial[8 * byte : 8 * byte + 8], value))

        next_place = Signal(exact_log2(line) + 1)
        rows_after = Signal(16)
        m.d.comb += [
            next_place.eq(Mux(takes_two, second_place + element_bytes, second_place)),
            crosses.eq(Mux(takes_two, second_place[-1] | (second_place + element_bytes == line), second_place[-1])),
            rows_after.eq(rows_left - takes_one - takes_two),
        ]
        with m.If(step):
            m.d.sync += [partial.eq(spread), filled.eq(Mux(more, ~from_third, 0))]
            with m.If(takes_one):
                m.d.sync += [
                    current.eq(Mux(takes_two, second, first)),
                    rows_left.eq(rows_after),
                    place.eq(next_place[: len(place)]),
                ]
        with m.If(step & takes_one & crosses):
            # The line that follows is of this block only while rows are left, or when its first element was just used.
            follows = (rows_after != 0) | (takes_two & second_place[-1])
            m.d.comb += self.elements.ready.eq(follows)
            m.d.sync += [held.eq(self.elements.payload), held_valid.eq(self.elements.valid & follows)]
        with m.Elif(uses_vector & ~held_valid & (rows_left != 0)):
            m.d.comb += self.elements.ready.eq(1)
            m.d.sync += [held.eq(self.elements.payload), held_valid.eq(self.elements.valid)]
        with m.If(begin):
            m.d.sync += [rows_left.eq(self.command.p.valid_rows), place.eq(0), held_valid.eq(0), filled.eq(0)]


def _from_lowest(bits: Value) -> Value:
    """Return a mask of the lowest set bit and everything above it, nothing for zero."""
    return ~((bits & -bits) - 1)[: len(bits)]


def _element(line: Value, place: Value, shift: Value) -> Value:
    """Return the element at byte ``place`` of a line, repeated to eight bytes."""
    chunks = [line[64 * index : 64 * index + 64] for index in range(len(line) // 64)]
    for bit in range(3, len(place)):
        chunks = [Mux(place[bit], high, low) for low, high in zip(chunks[::2], chunks[1::2], strict=True)]
    word = chunks[0]
    half = Mux(place[2], word[32:], word[:32])
    quarter = Mux(place[1], half[16:], half[:16])
    byte = Mux(place[0], quarter[8:], quarter[:8])
    repeated = (Cat(*[byte] * 8), Cat(*[quarter] * 4), Cat(*[half] * 2), word)
    return Mux(shift[1], Mux(shift[0], repeated[3], repeated[2]), Mux(shift[0], repeated[1], repeated[0]))
