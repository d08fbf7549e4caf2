"""The golden model of a tile core: blocks one after the other, each a precise commit or a fault."""

from collections.abc import Callable, Iterator
from itertools import islice

from linxtile.accumulator import Accumulator
from linxtile.allocator import Allocator
from linxtile.config import PRESETS, CoreConfig
from linxtile.decoder import Decoder
from linxtile.faults import BlockFault, FaultRecord
from linxtile.fetch import split_words
from linxtile.flags import NO_FLAG
from linxtile.isa.block import Block, HeaderFault, Item, SetupBlock
from linxtile.isa.codes import QUEUE_DEPTH, REGISTER_COUNT, Destination, Queue
from linxtile.isa.faults import Rule
from linxtile.isa.operations import operation
from linxtile.isa.support import MODEL_LAYOUTS
from linxtile.memory import Memory
from linxtile.operations import Context, Implementation, Outcome, implementation
from linxtile.queues import QueueState, TileQueues, parse_name
from linxtile.retired import Retired, RunResult
from linxtile.stored_tile import StoredTile

_DECODED_AHEAD = 64

SETUP = "SETUP"
"""Name of a set-up block in the records."""

_QUEUES = tuple(Queue)
_NAMES = tuple(tuple(f"{queue.name}#{index}" for index in range(QUEUE_DEPTH + 1)) for queue in Queue)
"""Names of tiles by queue and index."""


class Machine:
    """A tile core with its memory.

    Parameters
    ----------
    config : CoreConfig, optional
        Architectural parameters; the preset ``reference`` when absent. What it leaves out is UNSUPPORTED.

    Attributes
    ----------
    gprs : list of int
        The 24 general registers, unsigned 64-bit values; number 0 reads as zero.
    memory : Memory
        Byte memory, with the host's access and its error pages.
    flags : Flag
        Sticky status flags.
    fault : FaultRecord or None
        What ended the program, once it has ended by a fault. The state is then that of the last commit.
    """

    def __init__(self, config: CoreConfig | None = None):
        if config is not None and not isinstance(config, CoreConfig):
            raise TypeError(f"config must be a CoreConfig, such as CoreConfig.named('small'), not {config!r}")
        self.config = PRESETS["reference"] if config is None else config
        self._implementations = _implementations(self.config)
        self.memory = Memory(self.config.axi_address_bits)
        self._allocator = Allocator(self.config.tile_ram_bytes)
        self._queues = TileQueues()
        self._program = 0, 0
        self.clear()

    def clear(self) -> None:
        """Reset queues, ACC, allocator, registers, tokens and flags; memory and the loaded program stay."""
        self.gprs = [0] * REGISTER_COUNT
        self.flags = NO_FLAG
        self.tokens = 0
        self._accumulator: Accumulator | None = None
        self._allocator.clear()
        self._queues.clear()
        self.start()

    def load(self, image: bytes, address: int = 0) -> None:
        """Put a program into memory and make it the one that runs next.

        Parameters
        ----------
        image : bytes
            Header words, an even number of bytes.
        address : int
            Byte address of the first word, even.
        """
        if not isinstance(image, (bytes, bytearray, memoryview)) or not isinstance(address, int):
            raise TypeError(
                f"program must be bytes and its address an integer, not {type(image).__name__} at {address!r}"
            )
        if len(image) % 2:
            raise ValueError(f"program length must be even, not {len(image)}")
        if address % 2 or not 0 <= address or address + len(image) > self.memory.limit:
            raise ValueError(
                f"program address must be even and below {self.memory.limit:#x} with all {len(image)} bytes, "
                f"not {address:#x}"
            )
        self.memory.write(address, image)
        self._program = address, len(image)
        self.start()

    def start(self) -> None:
        """Go back to the first word of the loaded program; queues, registers and flags keep their values."""
        self.fault: FaultRecord | None = None
        self._items = self._decode()

    def run(self, max_blocks: int | None = None, after: Callable[[Retired], None] | None = None) -> RunResult:
        """Execute until the program ends, faults, or ``max_blocks`` blocks have committed; call ``after`` for each."""
        if max_blocks is not None and (not isinstance(max_blocks, int) or max_blocks < 0):
            raise ValueError(f"max_blocks must be an integer from 0 on, not {max_blocks!r}")
        retired: list[Retired] = []
        while max_blocks is None or len(retired) < max_blocks:
            block = self.step()
            if block is None:
                break
            retired.append(block)
            if after is not None:
                after(block)
        return RunResult(
            retired, self.fault, self._queues.state(), self.pointer, self.flags, list(self.gprs), self._accumulator
        )

    def step(self) -> Retired | None:
        """Execute one block and return its record, or None at the end of the program and after a fault."""
        if self.fault is not None:
            return None
        item = next(self._items, None)
        if item is None:
            return None
        if isinstance(item, SetupBlock):
            for register, value in item.writes:
                self.gprs[register] = value
            return Retired(
                item.address, SETUP, {}, [], NO_FLAG, dict(item.writes), False, False,
                self._queues.state(), self._allocator.pointer, self.flags, None, self._accumulator,
            )  # fmt: skip
        if isinstance(item, HeaderFault):
            self.fault = FaultRecord(item.rule, item.block_address, item.word_address)
            return None
        try:
            return self._execute(item)
        except BlockFault as fault:
            self.fault = fault.record(item.address)
            return None

    @property
    def pointer(self) -> int:
        """Byte address in the tile RAM at which the next placement starts."""
        return self._allocator.pointer

    @property
    def queues(self) -> QueueState:
        """The 64 tile names as they stand."""
        return self._queues.state()

    @property
    def accumulator(self) -> Accumulator | None:
        """Contents of the ACC; None while it is empty."""
        return self._accumulator

    def tile(self, name: str) -> bytes:
        """Return the bytes of a live tile such as ``T#1``."""
        entry = self._queues.get(*parse_name(name))
        if not isinstance(entry, StoredTile):
            raise ValueError(f"tile {name} cannot be read: {entry.value}")
        return bytes(entry)

    def _decode(self) -> Iterator[Item]:
        """Fetch and decode; memory and its error pages count as they are when the first block is asked for."""
        address, length = self._program
        image = self.memory.read(address, length)
        memory = self.memory
        # Asked for every halfword, so only where the answer can be no.
        readable = (lambda byte: not memory.fails(byte)) if memory.error_pages else None
        words = split_words(image, address, readable)
        # The decoder goes some blocks ahead, on its own copy of the registers: by turns a block at a time, decoding and
        # executing push each other out of the host's caches, which costs a quarter of the time.
        items = Decoder(self.config, list(self.gprs)).run(words)
        while ahead := list(islice(items, _DECODED_AHEAD)):
            yield from ahead

    def _execute(self, block: Block) -> Retired:
        """Bind, execute and commit; the rules in the order of the fault table."""
        implementation = self._implementations[block.operation.name]
        sources = self._resolve(block)
        accumulator = self._read_accumulator() if block.operation.reads_acc else None
        smallest, largest = self.config.tile_min_bytes, self.config.tile_max_bytes
        sizes = []
        for target in block.destinations:
            if not smallest <= target.size_bytes <= largest:
                raise BlockFault(Rule.PARM_SIZE, target.word_address)
            # The ACC has its own storage.
            if target.destination != Destination.ACC:
                sizes.append(target.size_bytes)
        implementation.check(block, sources, accumulator)
        pointer = self._allocator.pointer
        bases = self._allocator.place(sizes)
        if bases is None:
            raise BlockFault(Rule.CAPACITY)
        try:
            outcome = implementation.execute(block, sources, Context(self.memory, accumulator))
        except BlockFault:
            self._allocator.restore(bases, sizes, pointer)
            raise
        return self._commit(block, bases, outcome)

    def _resolve(self, block: Block) -> list[StoredTile]:
        tiles = []
        for source in block.sources:
            entry = self._queues.get(source.queue, source.index)
            if not isinstance(entry, StoredTile):
                raise BlockFault(Rule.TILE_UNREADABLE, source.word_address)
            tiles.append(entry)
        return tiles

    def _read_accumulator(self) -> Accumulator:
        if self._accumulator is None:
            raise BlockFault(Rule.TILE_UNREADABLE)
        return self._accumulator

    def _commit(self, block: Block, bases: list[int], outcome: Outcome) -> Retired:
        """Release the sources, push the destinations, merge flags and tokens."""
        if block.sources:
            self._release(block)
        new_tiles = self._push(block, bases, outcome) if bases else {}
        if block.operation.reads_acc or block.operation.writes_acc:
            self._accumulator = outcome.accumulator
        if outcome.flags:
            self.flags |= outcome.flags
        self.tokens += block.dependency_destination
        return Retired(
            block.address, block.operation.name, new_tiles, outcome.writes, outcome.flags, {},
            block.dependency_destination, block.attributes.trap,
            self._queues.state(), self._allocator.pointer, self.flags, block, self._accumulator,
        )  # fmt: skip

    def _release(self, block: Block) -> None:
        """Release the sources; a tile that is named twice stays if any of the names says reuse."""
        names = {(source.queue, source.index) for source in block.sources if not source.reuse}
        if not names:
            return
        for name in names - {(source.queue, source.index) for source in block.sources if source.reuse}:
            self._free(self._queues.get(*name))
            self._queues.release(*name)

    def _push(self, block: Block, bases: list[int], outcome: Outcome) -> dict[str, StoredTile]:
        """Push the destinations in header order and return them by their names after the block."""
        common = block.data_type.storage_bits if block.data_type is not None else 0
        widths = outcome.element_bits or [common] * len(bases)
        queues = [_QUEUES[target.destination] for target in block.destinations]
        new_tiles: dict[str, StoredTile] = {}
        for place, queue in enumerate(queues):
            tile = StoredTile(outcome.outputs[place], widths[place], bases[place])
            self._free(self._queues.push(queue, tile))
            # Of several tiles on one queue the last is #1.
            new_tiles[_NAMES[queue][queues[place:].count(queue)]] = tile
        return new_tiles

    def _free(self, entry: object) -> None:
        if isinstance(entry, StoredTile):
            self._allocator.release(entry.base, entry.size)


def _implementations(config: CoreConfig) -> dict[str, Implementation]:
    """Return what executes each operation of a configuration; refuse one that asks for more than the model has."""
    table = {}
    for name, types in config.operations.items():
        found = implementation(operation(name))
        if found is not None:
            table[name] = found
        elif types:
            raise ValueError(f"the model does not execute {name}, which the configuration {config.name!r} asks for")
    beyond = sorted(config.move_layouts - {layout.name for layout in MODEL_LAYOUTS})
    if beyond:
        raise ValueError(
            f"the model does not move in layout {beyond[0]}, which the configuration {config.name!r} asks for"
        )
    return table
