"""Walk over the rows of a tile in memory in which a cell of the tile lies across the rows.

Such a load turns squares around: as many rows as there are elements in a line of the tile, and of each row one line's worth
of bytes, a *word*. The rows of a square are a strip of memory; its squares are read one after the other. No square is
smaller: any smaller one would leave a line incomplete, any larger one would make the first line wait.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from linxtile.config import CoreConfig
from linxtile.isa.codes import Layout

from ..layouts import FRACTAL_ORDERS, fractal_layouts, lies_across
from .rows import SKEW_BITS, element_mask, rows_layout

__all__ = ["StripWalk", "square_bits", "step_layout", "strips_layout", "transposed_layouts"]


def transposed_layouts(config: CoreConfig) -> tuple[Layout, ...]:
    """Return the layouts of the configuration that load cells across the lines of memory."""
    return tuple(
        layout
        for layout in fractal_layouts(config)
        if layout.destination_order in FRACTAL_ORDERS and lies_across(layout)
    )


def square_bits(config: CoreConfig) -> int:
    """Bits of the number of a row or column in a square of the smallest elements, half bytes."""
    return exact_log2(2 * config.vector_bytes)


def strips_layout(config: CoreConfig) -> data.StructLayout:
    """Rows as in :func:`~.rows.rows_layout`, with the elements' width code; ``odd_nibble`` when a row ends with half a byte."""
    rows = {name: field.shape for name, field in rows_layout(config)}
    return data.StructLayout({**rows, "width": 3, "odd_nibble": 1})


def step_layout(config: CoreConfig) -> data.StructLayout:
    """At most one beat from the bus, at most one word for a square.

    ``beat``: a beat is read, ``address`` is its first needed byte; ``skew``, ``element_mask``, ``rows_left`` and ``beyond`` are
    those of :func:`~.rows.burst_layout`, but a beat beyond the address space ends nothing. It is kept for row ``beat_index`` of
    its strip. ``word``: row ``index`` of the square has a word. Its bytes begin with byte ``shift`` of the beat before in this
    row and go on with this one, or they are this one when it is ``aligned``. ``square_end`` marks the last word of a square
    with columns 0 to ``last_column``, of elements of width code ``width``; ``last`` the last step of the command.
    """
    return data.StructLayout({
        "beat": 1,
        "address": 64,
        "skew": SKEW_BITS,
        "element_mask": SKEW_BITS,
        "rows_left": 16,
        "beyond": 1,
        "beat_index": square_bits(config),
        "index": square_bits(config),
        "word": 1,
        "shift": exact_log2(config.axi_data_bytes),
        "aligned": 1,
        "square_end": 1,
        "last_column": square_bits(config),
        "width": 3,
        "last": 1,
    })  # fmt: skip


class StripWalk(wiring.Component):
    """Walk strip by strip, in a strip square by square, in a square row by row; a step a cycle.

    A word that is not aligned needs two beats, the second of which the next word of its row needs again: it is kept, so
    that every beat is read once. The first beat of each row is read ahead, for the first strip before everything else, for
    others in the last square of the strip before: there the last word of a row often needs no beat of its own. When fewer rows
    follow than are there, they are read in such places as far as possible. So a step without a beat is a last word of that
    kind, where nothing is left to read ahead. Rows that all begin with a beat need nothing ahead.

    Parameters
    ----------
    config : CoreConfig
        ``axi_data_bytes``, ``axi_address_bits`` and ``tile_max_bytes`` matter.

    Members
    -------
    command : In(stream of strips_layout(config))
        Rows to walk.
    steps : Out(stream of step_layout(config))
        The first one two cycles after its command; the next command is taken without a pause.
    busy : Out(1)
        Steps follow.
    """

    command: stream.Interface
    steps: stream.Interface
    busy: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "command": In(stream.Signature(strips_layout(config))),
            "steps": Out(stream.Signature(step_layout(config))),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Keep the place of the word, and that of the row to be read ahead; step when the output register is free."""
        m = Module()
        beat_bytes = self._config.axi_data_bytes
        bits = exact_log2(beat_bytes)
        walk = Signal(strips_layout(self._config))
        active, aligned = Signal(), Signal()

        # Where the steps are: in rows read ahead of everything, in a square, or in the second step of a row of its last one.
        opening, second, first_square = Signal(), Signal(), Signal()
        index, ahead_index = Signal(square_bits(self._config)), Signal(square_bits(self._config))
        # Address of the second beat of the word (the only one when aligned), in this row, in the first row of the square, in
        # the first row of the next strip; and the first byte of the next row to be read ahead.
        place, square, next_strip, ahead = Signal(64), Signal(64), Signal(64), Signal(64)
        row_left, strip_left, ahead_left = Signal(16), Signal(16), Signal(16)
        left = Signal.like(walk.row_bytes)

        height = Signal(bits_for(2 * beat_bytes))
        last_square, last_row, fits, wants_ahead, reads_ahead = Signal(), Signal(), Signal(), Signal(), Signal()
        takes_ahead, row_done, last = Signal(), Signal(), Signal()
        word = ~opening & ~second
        m.d.comb += [
            height.eq((2 * beat_bytes) >> walk.width),
            last_square.eq(left <= beat_bytes),
            last_row.eq((index + 1 == height) | (Mux(opening, ahead_left, row_left) == 1)),
            # The last word of a row can be whole without a beat of its own.
            fits.eq(~aligned & last_square & (place[:bits] + left <= beat_bytes)),
            # No row reads ahead twice, so from here on every one has to.
            wants_ahead.eq(ahead_left + index >= height),
            reads_ahead.eq(~aligned & last_square & (ahead_left != 0) & (fits | wants_ahead)),
            takes_ahead.eq(opening | second | (fits & reads_ahead)),
            row_done.eq(~word | fits | ~reads_ahead),
            last.eq(word & last_square & (row_left == 1)),
            self.busy.eq(active | self.steps.valid),
        ]

        free = ~self.steps.valid | self.steps.ready
        address = Signal(64)
        out = self.steps.p
        m.d.comb += address.eq(Mux(takes_ahead, ahead, Cat(Const(0, bits), place[bits:])))
        with m.If(free):
            beat = takes_ahead | ~fits
            m.d.sync += [
                self.steps.valid.eq(active),
                out.beat.eq(beat),
                out.address.eq(address),
                out.skew.eq(Mux(takes_ahead, ahead, place)[:SKEW_BITS]),
                out.element_mask.eq(element_mask(walk.element_shift)),
                out.rows_left.eq(Mux(takes_ahead, ahead_left, row_left)),
                out.beyond.eq(beat & address[self._config.axi_address_bits :].any()),
                out.beat_index.eq(Mux(takes_ahead, ahead_index, index)),
                out.index.eq(index),
                out.word.eq(word),
                out.shift.eq(place[:bits]),
                out.aligned.eq(aligned),
                out.square_end.eq(word & last_row),
                out.last_column.eq(Mux(last_square, ((left << 1) - walk.odd_nibble) >> walk.width, height) - 1),
                out.width.eq(walk.width),
                out.last.eq(last),
            ]

        next_row, next_square = (place + walk.stride)[:64], Signal(64)
        m.d.comb += next_square.eq(Cat(square[:bits], square[bits:] + 1))
        with m.If(free & active):
            m.d.sync += second.eq(~row_done)
            with m.If(takes_ahead):
                m.d.sync += [
                    ahead.eq(ahead + walk.stride),
                    ahead_left.eq(ahead_left - 1),
                    ahead_index.eq(ahead_index + 1),
                ]
            with m.If(row_done & last_row & (opening | last_square)):
                m.d.sync += ahead_index.eq(0)
            with m.If(row_done):
                m.d.sync += index.eq(Mux(last_row, 0, index + 1))
                with m.If(opening):
                    m.d.sync += opening.eq(~last_row)
                with m.Else():
                    m.d.sync += [place.eq(next_row), row_left.eq(row_left - 1)]
            with m.If(row_done & ~opening & last_row):
                m.d.sync += [first_square.eq(last_square), left.eq(Mux(last_square, walk.row_bytes, left - beat_bytes))]
                with m.If(first_square):
                    m.d.sync += next_strip.eq(next_row)
                with m.If(last_square):
                    following = Mux(first_square, next_row, next_strip)
                    m.d.sync += [place.eq(following), square.eq(following), strip_left.eq(row_left - 1)]
                with m.Else():
                    m.d.sync += [place.eq(next_square), square.eq(next_square), row_left.eq(strip_left)]
            with m.If(last):
                m.d.sync += active.eq(0)

        m.d.comb += self.command.ready.eq(~active | (free & last))
        with m.If(self.command.valid & self.command.ready):
            command = self.command.p
            begins_aligned = ~(command.base | command.stride)[:bits].any()
            first = Cat(command.base[:bits], command.base[bits:] + ~begins_aligned)
            m.d.sync += [
                walk.eq(command),
                active.eq(1),
                aligned.eq(begins_aligned),
                opening.eq(~begins_aligned),
                second.eq(0),
                first_square.eq(1),
                index.eq(0),
                ahead_index.eq(0),
                place.eq(first),
                square.eq(first),
                ahead.eq(command.base),
                row_left.eq(command.rows),
                strip_left.eq(command.rows),
                ahead_left.eq(command.rows),
                left.eq(command.row_bytes),
            ]
        return m
