"""Front end: header words to blocks, with every word and close rule of the fault table.

The rules of one word are checked in the order of the table. A word that starts a block of any kind, B.HINT TRACE, BSTOP
and C.BSTOP close the open block first; its own close rules come before anything that is wrong with the closing word.
The type of BSTART is checked when that word is decoded, the type pair when the block closes.

B.HINT TRACE opens an *empty* block: it has an address, takes no header words (ILL_NO_BLOCK), commits nothing when it
closes, and is an open block at the end of the stream.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field

from linxtile.config import CoreConfig
from linxtile.fetch import Word, WordStatus
from linxtile.header import OpenBlock
from linxtile.isa.block import HeaderFault, Item, SetupBlock, Source, Target
from linxtile.isa.codes import (
    DEPENDENCY_NAMES,
    DIMENSION_BITS,
    REGISTER_BITS,
    REGISTER_COUNT,
    Destination,
    Engine,
    Layout,
    LoopNest,
    SourceForm,
    size_bytes,
    source_name,
)
from linxtile.isa.faults import NO_BLOCK_ADDRESS, SETUP_WRITE_LIMIT, Rule
from linxtile.isa.operations import find_operation
from linxtile.isa.setup import setup_value
from linxtile.isa.types import NO_TYPE, is_data_type
from linxtile.isa.words import WordFormat, decode_word, is_block_start

# Tables, as a call of an enumeration costs several times a look-up, and every word asks.
_LAST_LOOP = int(max(LoopNest))
_DESTINATIONS = tuple(Destination)
_SOURCE_COUNTS = {int(form): form.count for form in SourceForm}

_DIMENSION_MASK = (1 << DIMENSION_BITS) - 1
_REGISTER_MASK = (1 << REGISTER_BITS) - 1
_SOURCES = ("source0", "source1", "source2")


@dataclass
class _OpenSetup:
    """A set-up block between its BSTART and its end; ``values`` are the registers as its later words see them."""

    address: int
    writes: list[tuple[int, int]] = field(default_factory=list)
    values: dict[int, int] = field(default_factory=dict)


@dataclass
class _EmptyBlock:
    """The block that B.HINT TRACE opens."""

    address: int


class Decoder:
    """Turns words into blocks, one word at a time.

    Parameters
    ----------
    config : CoreConfig
        What is UNSUPPORTED.
    registers : MutableSequence of int
        The general registers, 24 values of 64 bits. Dimensions and scalars are read when their word is decoded; a
        set-up block writes the registers when it closes.
    """

    def __init__(self, config: CoreConfig, registers: MutableSequence[int]) -> None:
        self._config = config
        self._registers = registers
        self._open: OpenBlock | _OpenSetup | _EmptyBlock | None = None

    def run(self, words: Iterable[Word]) -> Iterator[Item]:
        """Decode a program; nothing follows a :class:`HeaderFault`, and the words after it are not looked at."""
        for word in words:
            for item in self.step(word):
                yield item
                if isinstance(item, HeaderFault):
                    return

    def step(self, word: Word) -> Sequence[Item]:
        """Decode one word: return the block it closes, if any, then the fault it is or leads to, if any."""
        if word.status is not WordStatus.WHOLE:
            return (self._fault(Rule.FETCH if word.status is WordStatus.BUS_ERROR else Rule.END_OF_STREAM, word),)
        decoded = decode_word(word.value, word.bits)
        starts = is_block_start(word.value, word.bits)
        if decoded is None and not starts:
            return (self._fault(Rule.ILL_WORD, word),)
        items: tuple[Item, ...] = ()
        if starts or (decoded is not None and decoded[0].closes_block):
            closed = self._close()
            if closed is not None:
                items = (closed,)
                if isinstance(closed, HeaderFault):
                    return items
        rule = Rule.ILL_BLOCK_KIND if decoded is None else self._accept(word, *decoded)
        if rule is not None:
            # A rejected block start has nothing open any more: it stands for its own block.
            address = word.address if starts else self._open_address
            return (*items, HeaderFault(rule, address, word.address))
        if word.last and self._open is not None:
            return (*items, self._fault(Rule.END_OF_STREAM, word))
        return items

    @property
    def _open_address(self) -> int:
        return NO_BLOCK_ADDRESS if self._open is None else self._open.address

    def _fault(self, rule: Rule, word: Word) -> HeaderFault:
        return HeaderFault(rule, self._open_address, word.address)

    def _close(self) -> Item | None:
        """Close the open block; a set-up block's values become visible."""
        opened, self._open = self._open, None
        if isinstance(opened, OpenBlock):
            return opened.close(self._config)
        if isinstance(opened, _OpenSetup):
            for register, value in opened.writes:
                self._registers[register] = value
            return SetupBlock(opened.address, tuple(opened.writes))
        return None

    def _accept(self, word: Word, form: WordFormat, fields: Mapping[str, int]) -> Rule | None:
        """Apply one word to the (already closed, for a closing word) state; return the rule it breaks, if any."""
        if form.opens_block:
            return self._start(word, form, fields)
        if form.closes_block:
            if form.name == "B.HINT TRACE":
                self._open = _EmptyBlock(word.address)
            return None
        opened = self._open
        if form.in_setup:
            if not isinstance(opened, _OpenSetup):
                return Rule.ILL_NO_BLOCK
            return self._setup(opened, form, fields)
        if not isinstance(opened, OpenBlock) or form.name == "B.TEXT":
            return Rule.ILL_NO_BLOCK
        rule: Rule | None = _HANDLERS[form.name](self, opened, word, fields)
        return rule

    def _start(self, word: Word, form: WordFormat, fields: Mapping[str, int]) -> Rule | None:
        if form.name == "BSTART.STD FALL":
            self._open = _OpenSetup(word.address)
            return None
        operation = find_operation(Engine[form.name.removeprefix("BSTART.")], fields.get("mode", 0), fields["function"])
        if operation is None:
            return Rule.ILL_OP
        code = fields["data_type"]
        if code == NO_TYPE:
            if operation.needs_type:
                return Rule.ILL_TYPE
        elif not is_data_type(code) or not operation.takes_type(code):
            return Rule.ILL_TYPE
        self._open = OpenBlock(word.address, operation, code)
        return None

    def _datr(self, opened: OpenBlock, word: Word, fields: Mapping[str, int]) -> Rule | None:
        if fields["data_type"] != NO_TYPE and not is_data_type(fields["data_type"]):
            return Rule.ILL_TYPE
        if fields["layout"] == Layout.RESERVED_16:
            return Rule.ILL_LAYOUT
        if opened.datr_address is not None:
            return Rule.PARM_REPEAT
        opened.datr, opened.datr_address = fields, word.address
        return None

    def _dimension(self, opened: OpenBlock, word: Word, fields: Mapping[str, int]) -> Rule | None:
        loop = fields["loop"]
        if loop > _LAST_LOOP:
            return Rule.ILL_LOOPNEST
        register = fields.get("register", 0)
        if register >= REGISTER_COUNT:
            return Rule.ILL_GPR
        if opened.lb[loop] is not None:
            return Rule.PARM_REPEAT
        opened.lb[loop] = (self._read(register) + fields.get("immediate", 0)) & _DIMENSION_MASK
        return None

    def _tiles(self, opened: OpenBlock, word: Word, fields: Mapping[str, int]) -> Rule | None:
        destination, size = _DESTINATIONS[fields["destination"]], fields["size"]
        wanted = size != 0 and destination is not Destination.NONE
        if wanted and destination in (Destination.STACK, Destination.RESERVED_6):
            return Rule.ILL_DST_QUEUE
        if opened.last_tiles:
            return Rule.PARM_LAST
        opened.last_tiles = bool(fields["last"])
        for place in range(_SOURCE_COUNTS[fields["form"]]):
            queue, index = source_name(fields[f"source{place}"])
            opened.sources.append(Source(queue, index, bool(fields[f"reuse{place}"]), word.address))
        if wanted:
            opened.targets.append(Target(destination, size, size_bytes(size), word.address))
        return None

    def _scalars(self, opened: OpenBlock, word: Word, fields: Mapping[str, int]) -> Rule | None:
        inputs = [fields[name] for name in _SOURCES if fields[name]]
        outputs = [fields["destination"]] if fields["destination"] else []
        if max((*inputs, *outputs), default=0) >= REGISTER_COUNT:
            return Rule.ILL_GPR
        for old, new in ((opened.inputs, inputs), (opened.outputs, outputs)):
            if len({*old, *new}) != len(old) + len(new):
                return Rule.DOUBLESET
        opened.inputs += inputs
        opened.outputs += outputs
        opened.input_values += [self._read(register) for register in inputs]
        return None

    def _dependencies(self, opened: OpenBlock, word: Word, fields: Mapping[str, int]) -> Rule | None:
        if max(fields[source] for source in _SOURCES) > DEPENDENCY_NAMES or fields["destination"] > 1:
            return Rule.ILL_DEP
        if opened.iod is not None:
            return Rule.PARM_REPEAT
        opened.iod = fields
        return None

    def _control(self, opened: OpenBlock, word: Word, fields: Mapping[str, int]) -> Rule | None:
        if opened.catr is not None:
            return Rule.PARM_REPEAT
        opened.catr = fields
        return None

    def _hint(self, opened: OpenBlock, word: Word, fields: Mapping[str, int]) -> Rule | None:
        if opened.hinted:
            return Rule.PARM_REPEAT
        opened.hinted = True
        return None

    def _setup(self, opened: _OpenSetup, form: WordFormat, fields: Mapping[str, int]) -> Rule | None:
        source, destination = fields.get("source", 0), fields["destination"]
        if source >= REGISTER_COUNT or not 0 < destination < REGISTER_COUNT:
            return Rule.ILL_GPR
        if len(opened.writes) == SETUP_WRITE_LIMIT:
            return Rule.SETUP_LIMIT
        value = setup_value(form.name, fields, opened.values.get(source, self._read(source)))
        opened.writes.append((destination, value))
        opened.values[destination] = value
        return None

    def _read(self, register: int) -> int:
        return int(self._registers[register]) & _REGISTER_MASK if register else 0


_Handler = Callable[[Decoder, OpenBlock, Word, Mapping[str, int]], Rule | None]

_HANDLERS: Mapping[str, _Handler] = {
    "B.DATR": Decoder._datr,
    "B.DIM": Decoder._dimension,
    "C.B.DIM": Decoder._dimension,
    "C.B.DIMI": Decoder._dimension,
    "B.IOT": Decoder._tiles,
    "B.IOR": Decoder._scalars,
    "B.IOD": Decoder._dependencies,
    "B.CATR": Decoder._control,
    "B.HINT": Decoder._hint,
}
"""What takes in each header word of a tile block."""
