"""Turns the rows of square blocks into columns."""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..layouts import CELL_BYTES
from ..verilog import Shared
from .assembler import rotate_bytes

__all__ = ["Transposer", "block_word_layout", "turned_word_layout"]

HALF_BYTE_BITS = 4
ROW_BITS = exact_log2(2 * CELL_BYTES)
"""Bits of a row number: a block of half bytes has the most rows."""
BUFFERS = 4
"""Blocks held: a store reads ahead where a group of rows has more beats than lines, and so hides one that has fewer."""


def _word_bits(config: CoreConfig) -> int:
    """Bits of the number of a word in its row; none when a row is one word."""
    return exact_log2(CELL_BYTES // config.vector_bytes)


def _order_layout(config: CoreConfig) -> data.StructLayout:
    """What is wanted of a block: rows ``first_row`` to ``last_row`` of the turned one, of each words 0 to ``last_word``."""
    return data.StructLayout({
        "width": 3,
        "first_row": ROW_BITS,
        "last_row": ROW_BITS,
        "last_word": _word_bits(config),
    })  # fmt: skip


def block_word_layout(config: CoreConfig) -> data.StructLayout:
    """Word ``word`` of row ``row`` of a block; ``last`` ends the block.

    ``width`` is the width code of the elements (:func:`~linxtile_rtl.layouts.width_code`), the same in all words of a block.
    ``first_row``, ``last_row`` and ``last_word`` say with the last word which rows of the turned block, columns of this
    one, are wanted, and up to which word.
    """
    return data.StructLayout({
        "row": ROW_BITS,
        "word": _word_bits(config),
        "data": config.vector_bytes * 8,
        "last": 1,
        **{name: field.shape for name, field in _order_layout(config)},
    })  # fmt: skip


def turned_word_layout(config: CoreConfig) -> data.StructLayout:
    """Word ``word`` of row ``row`` of a turned block; ``last`` marks the last one that was wanted."""
    return data.StructLayout({
        "row": ROW_BITS,
        "word": _word_bits(config),
        "data": config.vector_bytes * 8,
        "last": 1,
    })  # fmt: skip


class HalfByteBank(wiring.Component):
    """Memory of half bytes: one write and one read a cycle.

    Members
    -------
    write, write_address, write_data : In
        Write a half byte.
    read, read_address : In
        Read one: ``read_data`` shows it from the next cycle until the next read.
    """

    def __init__(self, *, address_bits: int):
        super().__init__({
            "write": In(1),
            "write_address": In(address_bits),
            "write_data": In(HALF_BYTE_BITS),
            "read": In(1),
            "read_address": In(address_bits),
            "read_data": Out(HALF_BYTE_BITS),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """A memory and its two ports."""
        m = Module()
        # Made of distributed RAM, as Yosys would for the wider words, the banks take more logic than all the rest.
        m.submodules.memory = memory = Memory(
            shape=HALF_BYTE_BITS, depth=1 << len(self.read_address), init=[], attrs={"ram_style": "block"}
        )
        read_port, write_port = memory.read_port(), memory.write_port()
        m.d.comb += [
            write_port.en.eq(self.write),
            write_port.addr.eq(self.write_address),
            write_port.data.eq(self.write_data),
            read_port.en.eq(self.read),
            read_port.addr.eq(self.read_address),
            self.read_data.eq(read_port.data),
        ]
        return m


class Transposer(wiring.Component):
    """Take the rows of a block and give out its columns, a word a cycle on both sides at the same time.

    A block is a square of elements whose rows are 32 bytes: 64 rows of 4-bit elements, 32, 16, 8 or 4 rows of wider ones. Its
    words come in any order; those that nobody needs need not come. The first word leaves two cycles after the last
    one was taken; the next block comes in meanwhile.

    Half byte n of row i, with e half bytes an element, is in bank ``i * e + n`` modulo the ``2 * vector_bytes`` banks. So each
    word of row i is spread over all banks, in order, from bank ``i * e`` on. Half byte k of a word of column j is k banks after
    bank ``j * e``, whatever row it comes from: all banks again, each with an address of its own.

    Parameters
    ----------
    config : CoreConfig
        ``vector_bytes`` is a word, at most 32.

    Members
    -------
    words : In(stream of block_word_layout(config))
        Blocks, word by word. A block has at least one word.
    turned : Out(stream of turned_word_layout(config))
        Of each block the words that were wanted, row by row. Half bytes of words that did not come are
        arbitrary: the receiver masks them.
    clear : In(1)
        Forget all blocks, also the word that is being offered or taken in this cycle.
    """

    words: stream.Interface
    turned: stream.Interface
    clear: Signal

    def __init__(self, *, config: CoreConfig):
        if config.vector_bytes > CELL_BYTES:
            raise ValueError(f"Transposer vector_bytes must be at most {CELL_BYTES}, not {config.vector_bytes}")
        self._config = config
        self._bank_bits = exact_log2(2 * config.vector_bytes)
        super().__init__({
            "words": In(stream.Signature(block_word_layout(config))),
            "turned": Out(stream.Signature(turned_word_layout(config))),
            "clear": In(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Fill one buffer, empty another; a buffer that is full waits with its order."""
        m = Module()
        orders = Signal(data.ArrayLayout(_order_layout(self._config), BUFFERS))
        full, filling, emptying = Signal(BUFFERS), Signal(range(BUFFERS)), Signal(range(BUFFERS))
        banks = self._banks(m)

        word = self.words.p
        writes = self.words.valid & self.words.ready
        m.d.comb += self.words.ready.eq(~full.bit_select(filling, 1))
        self._write(m, banks, writes, filling)
        with m.If(writes & word.last):
            m.d.sync += [
                full.bit_select(filling, 1).eq(1),
                filling.eq(filling + 1),
                *(orders[filling][name].eq(word[name]) for name, _ in _order_layout(self._config)),
            ]

        # The memory holds its output while the word waits, so reading goes on when the word leaves.
        order = orders[emptying]
        present, moves = Signal(), Signal()
        m.d.comb += [
            present.eq(full.bit_select(emptying, 1)),
            moves.eq(~self.turned.valid | self.turned.ready),
        ]
        reads = present & moves
        row, number, last = self._walk(m, order, reads)
        self._read(m, banks, reads, emptying, order.width, row, number)
        shown_row, shown_number, shown_last = Signal.like(row), Signal.like(number), Signal()
        m.d.comb += [
            self.turned.p.row.eq(shown_row),
            self.turned.p.word.eq(shown_number),
            self.turned.p.last.eq(shown_last),
        ]
        with m.If(moves):
            m.d.sync += [
                self.turned.valid.eq(present),
                shown_row.eq(row),
                shown_number.eq(number),
                shown_last.eq(last),
            ]
        with m.If(reads & last):
            m.d.sync += [full.bit_select(emptying, 1).eq(0), emptying.eq(emptying + 1)]
        with m.If(self.clear):
            m.d.sync += [full.eq(0), filling.eq(0), emptying.eq(0), self.turned.valid.eq(0)]
        return m

    def _banks(self, m: Module) -> list[Shared]:
        """Return the banks; an address is a word, the first half byte of a row in its column, and a buffer."""
        address_bits = _word_bits(self._config) + ROW_BITS + exact_log2(BUFFERS)
        banks = []
        for number in range(1 << self._bank_bits):
            bank = Shared(HalfByteBank(address_bits=address_bits), key=f"half_byte_bank_{1 << address_bits}")
            m.submodules[f"bank_{number}"] = bank
            banks.append(bank)
        return banks

    def _write(self, m: Module, banks: list[Shared], enable: Value, buffer: Value) -> None:
        """Write the word on offer, turned to the bank where its row begins."""
        word = self.words.p
        place = Signal(ROW_BITS)
        m.d.comb += place.eq(word.row << word.width)
        turned = rotate_bytes(m, word.data, place[: self._bank_bits], HALF_BYTE_BITS)
        for number, bank in enumerate(banks):
            m.d.comb += [
                bank.write.eq(enable),
                bank.write_address.eq(Cat(word.word, place, buffer)),
                bank.write_data.eq(turned.word_select(number, HALF_BYTE_BITS)),
            ]

    def _walk(self, m: Module, order: data.View, moves: Value) -> tuple[Value, Value, Value]:
        """Return row and word that is to be read next, and whether it is the last of its block."""
        next_row, number = Signal(ROW_BITS), Signal(_word_bits(self._config))
        begun = Signal()
        row = Mux(begun, next_row, order.first_row)
        row_ends, last = Signal(), Signal()
        m.d.comb += [row_ends.eq(number == order.last_word), last.eq(row_ends & (row == order.last_row))]
        with m.If(moves):
            m.d.sync += [
                begun.eq(~last),
                next_row.eq(row + row_ends),
                number.eq(Mux(row_ends, 0, number + 1)),
            ]
        with m.If(self.clear):
            m.d.sync += [begun.eq(0), number.eq(0)]
        return row, number, last

    def _read(
        self, m: Module, banks: list[Shared], enable: Value, buffer: Value, width: Value, row: Value, number: Value
    ) -> None:
        """Read word ``number`` of column ``row`` and show it in the next cycle, turned back."""
        place, elements = Signal(ROW_BITS), Signal(self._bank_bits)
        first_bank, word = place[: self._bank_bits], place[self._bank_bits :]
        m.d.comb += [place.eq(row << width), elements.eq(-1 << width)]
        for position, bank in enumerate(banks):
            half_byte = (position - first_bank)[: self._bank_bits]
            m.d.comb += [
                bank.read.eq(enable),
                bank.read_address.eq(Cat(word, half_byte & elements, number, buffer)),
            ]
        # Turning on by what is left of a whole turn is turning back.
        back = Signal(self._bank_bits)
        with m.If(enable):
            m.d.sync += back.eq(-first_bank)
        line = Cat(bank.read_data for bank in banks)
        m.d.comb += self.turned.p.data.eq(rotate_bytes(m, line, back, HALF_BYTE_BITS))
