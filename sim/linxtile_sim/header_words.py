"""Random header words for the decoder bench: blocks that are nearly right, mutations, and noise."""

import random

from linxtile.config import CoreConfig
from linxtile.fetch import Word, WordStatus
from linxtile.isa.codes import Destination, Engine, Layout, SourceForm
from linxtile.isa.faults import SETUP_WRITE_LIMIT
from linxtile.isa.operation import Operation, Shape, Uses
from linxtile.isa.operations import OPERATIONS, operation
from linxtile.isa.types import DATA_TYPES, NO_TYPE, data_type
from linxtile.isa.words import BLOCK_STARTS, WORDS, encode_word, word_bits, word_format

SPECIAL = (
    *(row for row in OPERATIONS if row.shape is Shape.STATE),
    *[row for row in OPERATIONS if Uses.COMPARE in row.uses] * 3,
    *[row for row in OPERATIONS if Uses.BYTE_ID in row.uses] * 4,
)
"""Operations that no configuration runs, and those that have close rules of their own, these more often."""

DESTINATIONS = (Destination.T, Destination.U, Destination.M, Destination.N)


class Generator:
    """Programs of header words.

    Each block starts right in every respect; with small probability a choice is made at random instead, so that every
    rule breaks now and then and most blocks break none.
    """

    def __init__(self, rng: random.Random, config: CoreConfig) -> None:
        self._rng = rng
        self._runs = sorted(name for name, types in config.operations.items() if types)
        self._config = config

    def _odd(self, probability: float = 0.02) -> bool:
        return self._rng.random() < probability

    def program(self) -> list[Word]:
        """Return the words of a program with addresses, the last one marked."""
        rng = self._rng
        values: list[int] = []
        for _ in range(rng.randint(1, 6)):
            values += self._setup() if rng.random() < 0.2 else self._block()
            if self._odd(0.05):
                values += rng.choice(
                    ([encode_word("BSTOP")], [0], [encode_word("B.HINT TRACE", end=rng.getrandbits(1))])
                )
        if not self._odd(0.05):
            values.append(rng.choice((0, encode_word("BSTOP"))))
        for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
            self._mutate(values)
        return self._place(values)

    def plain_program(self, blocks: int) -> tuple[list[Word], list[int]]:
        """Return a program of running blocks and set-up blocks, and the places of the words that close one."""
        values: list[int] = []
        closing: list[int] = []
        for _ in range(blocks):
            values += [
                encode_word("BSTART.STD FALL"),
                encode_word("ADDI", source=0, immediate=self._rng.randrange(100), destination=5),
                encode_word("BSTART.TEPL", data_type=data_type("S32").code, function=operation("TADD").function),
                encode_word("C.B.DIMI", loop=0, immediate=9),
                encode_word("B.IOT", form=SourceForm.TWO, last=1, size=4),
            ]
            closing += [len(values) - 3, len(values)]
        return self._place([*values, 0], sound=True), closing

    def _place(self, values: list[int], *, sound: bool = False) -> list[Word]:
        """Give the words addresses; unless all must be ``sound``, rarely one cannot be fetched or the last one is cut."""
        rng = self._rng
        address = rng.getrandbits(40) * 2
        words: list[Word] = []
        for number, value in enumerate(values):
            bits = word_bits(value & 0xFFFF)
            value &= (1 << bits) - 1
            last = number == len(values) - 1
            status = WordStatus.BUS_ERROR if not sound and self._odd(0.002) else WordStatus.WHOLE
            if last and bits == 32 and not sound and self._odd(0.3):
                status, value = WordStatus.TRUNCATED, value & 0xFFFF
            words.append(Word(value, bits, address, last, status))
            address += bits // 8
        return words

    def _mutate(self, values: list[int]) -> None:
        """Change one word: flip a bit, drop, repeat, swap, replace by noise, by any format, by another block start."""
        rng = self._rng
        if not values:
            return
        place = rng.randrange(len(values))
        kind = rng.randrange(7)
        if kind == 0:
            values[place] ^= 1 << rng.randrange(1, 32)
        elif kind == 1:
            del values[place]
        elif kind == 2:
            values.insert(place, values[place])
        elif kind == 3:
            other = rng.randrange(len(values))
            values[place], values[other] = values[other], values[place]
        elif kind == 4:
            values[place] = rng.getrandbits(32)
        elif kind == 5:
            values[place] = self._any_word()
        else:
            _, match, mask = rng.choice(BLOCK_STARTS)
            values[place] = match | (rng.getrandbits(32) & ~mask)

    def _any_word(self) -> int:
        """Return a word of any format with any field values."""
        form = self._rng.choice(WORDS)
        fields = {
            field.name: self._rng.choice(field.allowed) if field.allowed else self._rng.getrandbits(field.width)
            for field in form.fields
        }
        return encode_word(form.name, **fields)

    def _register(self, low: int = 0) -> int:
        return self._rng.randrange(32) if self._odd() else self._rng.randrange(low, 24)

    def _setup(self) -> list[int]:
        rng = self._rng
        count = SETUP_WRITE_LIMIT + 1 if self._odd(0.15) else rng.choice((0, 1, 2, 3, 5, SETUP_WRITE_LIMIT))
        values = [encode_word("BSTART.STD FALL", offset=rng.getrandbits(17))]
        for _ in range(count):
            form = word_format(rng.choice(("LUI", "ADDI", "SLLI")))
            fields = {
                field.name: self._register(field.name == "destination")
                if field.name in ("source", "destination")
                else rng.getrandbits(field.width)
                for field in form.fields
            }
            values.append(form.encode(**fields))
        return values

    def _block(self) -> list[int]:
        rng = self._rng
        row = operation(rng.choice(self._runs)) if rng.random() < 0.8 else rng.choice(OPERATIONS)
        if self._odd(0.2):
            row = rng.choice(SPECIAL)
        types = sorted(self._config.operations.get(row.name, ())) or list(row.source_types or ())
        code = data_type(rng.choice(types)).code if types else NO_TYPE
        if self._odd():
            code = rng.randrange(32)
        start = {"function": row.function, "data_type": code}
        if row.engine is Engine.TEPL:
            start["mode"] = row.mode
        if self._odd():
            # Most selectors of the last mode are reserved.
            start |= {"function": rng.randrange(32)} | ({"mode": 3} if row.engine is Engine.TEPL else {})
        rest = self._dimensions(row) + self._control()
        if row.uses & ~Uses.PAD or rng.random() < 0.4:
            rest.append(self._attributes(row, code))
        rng.shuffle(rest)
        for chain in (self._tiles(row), self._scalars(row)):
            for value in chain:
                # Chains keep their own order and mix with everything else.
                rest.insert(rng.randint(0, len(rest)), value) if len(chain) == 1 else rest.append(value)
        return [encode_word(f"BSTART.{row.engine.name}", **start), *rest]

    def _attributes(self, row: Operation, first: int) -> int:
        rng = self._rng
        names = [data_type_row.name for data_type_row in DATA_TYPES]
        pairs = [name for name in names if self._pairs(row, first, name)]
        fields = {
            "compare": rng.randrange(8),
            "pad": rng.randrange(4),
            "saturate": rng.getrandbits(1),
            "canonical": rng.getrandbits(1),
            "rounding": rng.randrange(8),
            "data_type": data_type(rng.choice(pairs)).code if pairs and rng.random() < 0.8 else NO_TYPE,
            "layout": int(rng.choice(row.layouts)) if row.layouts and rng.random() < 0.3 else 0,
        }
        if self._odd():
            fields["data_type"] = rng.randrange(32)
        if self._odd(0.05):
            fields["layout"] = rng.choice((Layout.RESERVED_16, rng.randrange(32)))
        return encode_word("B.DATR", **fields)

    @staticmethod
    def _pairs(row: Operation, first: int, second: str) -> bool:
        names = {entry.code: entry.name for entry in DATA_TYPES}
        return Uses.SECOND_TYPE in row.uses and first in names and row.takes_pair(names[first], second)

    def _dimensions(self, row: Operation) -> list[int]:
        rng = self._rng
        values: list[int] = []
        for loop in range(3):
            if rng.random() < 0.4:
                continue
            zero = self._odd(0.01)
            form = rng.choice(("B.DIM", "C.B.DIM", "C.B.DIMI"))
            if form == "B.DIM":
                immediate = 0 if zero else rng.getrandbits(17)
                values.append(
                    encode_word(form, loop=loop, register=0 if zero else self._register(), immediate=immediate)
                )
            elif form == "C.B.DIM":
                loop = rng.randrange(8) if self._odd(0.05) else loop
                values.append(encode_word(form, loop=min(loop, 7), register=0 if zero else self._register(1)))
            else:
                values.append(encode_word(form, loop=loop, immediate=0 if zero else rng.randrange(1, 256)))
        if values and self._odd():
            values.append(rng.choice(values))
        return values

    def _control(self) -> list[int]:
        rng = self._rng
        values: list[int] = []
        if rng.random() < 0.2:
            values.append(encode_word("B.CATR", **{
                name: rng.getrandbits(1) for name in ("reduction_group", "trap", "far", "atomic", "acquire", "release")
            }))  # fmt: skip
        if rng.random() < 0.2:
            values.append(encode_word("B.HINT", prefetch_size=rng.getrandbits(12), temperature=rng.randrange(4)))
        if rng.random() < 0.2:
            tokens = {name: rng.randrange(9) for name in ("source0", "source1", "source2")}
            if self._odd(0.1):
                tokens["source1"] = rng.randrange(32)
            values.append(encode_word("B.IOD", **tokens, destination=rng.randrange(32) if self._odd(0.1) else 1))
        if values and self._odd(0.05):
            values.append(rng.choice(values))
        if self._odd(0.01):
            values.append(encode_word("B.TEXT"))
        return values

    def _tiles(self, row: Operation) -> list[int]:
        rng = self._rng
        sources = rng.randint(row.min_sources, row.max_sources)
        destinations = rng.randint(row.min_destinations, row.max_destinations)
        if row.shape in (Shape.LOAD, Shape.STORE) and rng.random() < 0.7:
            sources, destinations = min(sources, 1), min(destinations, 1)
        if self._odd():
            sources = rng.randint(0, 9)
        if self._odd():
            destinations = rng.choice((0, 1, 2, 8, 9, 17))
        # A destination of the wrong kind, ACC or queue, is told from the first B.IOT that has one.
        to_acc = row.writes_acc
        if self._odd(0.05):
            to_acc, destinations = not to_acc, rng.randint(1, 3)
        values: list[int] = []
        while sources or destinations or (not values and self._odd(0.1)):
            count = min(sources, rng.randint(1, 2)) if sources else 0
            fields = {"form": SourceForm.ZERO - count, "reuse0": rng.getrandbits(1), "reuse1": rng.getrandbits(1)}
            fields |= {"source0": rng.getrandbits(6), "source1": rng.getrandbits(6)}
            sources -= count
            if destinations and (not sources or rng.random() < 0.5):
                destinations -= 1
                queue = Destination.ACC if to_acc and not self._odd(0.05) else rng.choice(DESTINATIONS)
                fields |= {"destination": rng.randrange(8) if self._odd() else queue, "size": rng.randrange(1, 16)}
            else:
                fields |= rng.choice(({"destination": 7, "size": rng.randrange(16)}, {"destination": rng.randrange(8)}))
            fields["last"] = int(not sources and not destinations) ^ self._odd(0.01)
            values.append(encode_word("B.IOT", **fields))
        return values

    def _scalars(self, row: Operation) -> list[int]:
        rng = self._rng
        count = rng.randint(0, 5) if self._odd(0.03) else rng.randint(row.min_scalars, row.max_scalars)
        registers = rng.sample(range(1, 24), count)
        if registers and self._odd(0.1):
            registers.append(rng.choice(registers))
        if registers and self._odd():
            registers[-1] = rng.randrange(32)
        values: list[int] = []
        while registers or (not values and self._odd(0.02)):
            places = rng.sample(("source0", "source1", "source2"), min(len(registers), rng.randint(1, 3)))
            fields = dict(zip(sorted(places), registers, strict=False))
            registers = registers[len(places) :]
            if self._odd(0.01):
                fields["destination"] = rng.randrange(32)
            values.append(encode_word("B.IOR", **fields))
        return values
