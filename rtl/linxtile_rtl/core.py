"""The core: front end, binding, engines, tile RAM and commit, wired together."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from linxtile.config import CoreConfig
from linxtile.isa.support import RTL_LAYOUTS, RTL_OPERATIONS

from .axi import axi4_signature
from .decoder import HeaderDecoder
from .gpr import INDEX_BITS, GprFile
from .layouts import (
    CELL_BYTES,
    flags_layout,
    fractal_layouts,
    granule_bits,
    line_write_layout,
    retire_layout,
    word_layout,
)
from .move.load_engine import LoadEngine
from .move.read_arbiter import ReadArbiter
from .move.store_engine import StoreEngine
from .move.tile_mover import TileMover
from .move.watchdog import Watchdog
from .queues import state_layout
from .scheduler import Scheduler
from .tile_ram import TileRam
from .vector.engine import VectorEngine

__all__ = ["TILE_WRITERS", "TileCore", "trace_signature"]

TILE_READERS, TILE_WRITERS = 5, 3
"""Ports of the tile RAM."""


def trace_signature(config: CoreConfig) -> wiring.Signature:
    """A line that was written to the tile RAM in this cycle."""
    return wiring.Signature({"valid": Out(1), "payload": Out(line_write_layout(config))})


def _require_engines(config: CoreConfig) -> None:
    """Refuse a configuration that asks for more than the engines do; its core would answer with wrong results."""
    for name, types in config.operations.items():
        beyond = sorted(types - RTL_OPERATIONS.get(name, frozenset()))
        if beyond:
            raise ValueError(f"operations: the core does not run {name} on {beyond[0]}")
    layouts = sorted(config.move_layouts - {layout.name for layout in RTL_LAYOUTS})
    if layouts:
        raise ValueError(f"move_layouts: the core does not move in layout {layouts[0]}")
    cells = fractal_layouts(config)
    if cells and config.vector_bytes > CELL_BYTES:
        raise ValueError(
            f"move_layouts: the core moves in layout {cells[0].name} only when vector_bytes is at most {CELL_BYTES}, "
            f"not {config.vector_bytes}"
        )


class TileCore(wiring.Component):
    """Runs a stream of header words on tiles; one AXI4 port to memory.

    After reset the core is ``halted``. ``start`` lets it take words until the stream ends or a block faults; the record of
    that is the last one on ``retire``, and then it is halted again, with registers, queues and flags as committed.

    Parameters
    ----------
    config : CoreConfig
        Everything.

    Members
    -------
    words : In(stream of word_layout())
        The program; taken only while running.
    memory : Out(axi4_signature(config))
        Loads and stores.
    retire : Out(stream of retire_layout(config))
        One record a committed block, in program order.
    start : In(1)
        One cycle, while halted and not ``busy``: run. ``halted`` : Out(1), ``busy`` : Out(1) while registers are being cleared after reset.
    dead : Out(1)
        The memory has stopped answering: the core finishes or discards what it has and halts, and ``start`` does nothing
        until core and memory have been reset.
    trapped : Out(1), resume : In(1)
        A block with the T attribute has committed; nothing follows until ``resume``.
    host_index, host_write, host_write_data, host_read_data
        Registers, for the host while halted.
    committed, pointer, flags : Out
        Names of the tiles, granule at which the next placement starts, sticky status flags: as of the last commit.
    cycle : Out(32)
        Cycle counter, as in ``closed_at`` and ``retired_at`` of the records.
    trace : Out(trace_signature(config)).array(3)
        Writes to the tile RAM by the vector engine, the load engine and the tile mover.
    """

    def __init__(self, *, config: CoreConfig):
        _require_engines(config)
        self._config = config
        super().__init__({
            "words": In(stream.Signature(word_layout())),
            "memory": Out(axi4_signature(config)),
            "retire": Out(stream.Signature(retire_layout(config))),
            "start": In(1),
            "halted": Out(1),
            "busy": Out(1),
            "dead": Out(1),
            "trapped": Out(1),
            "resume": In(1),
            "host_index": In(INDEX_BITS),
            "host_write": In(1),
            "host_write_data": In(64),
            "host_read_data": Out(64),
            "committed": Out(state_layout(config)),
            "pointer": Out(granule_bits(config)),
            "flags": Out(flags_layout()),
            "cycle": Out(32),
            "trace": Out(trace_signature(config)).array(TILE_WRITERS),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Connect the parts as the block diagram of docs/architecture.md shows them."""
        m = Module()
        config = self._config
        m.submodules.registers = registers = GprFile(config=config)
        m.submodules.decoder = decoder = HeaderDecoder(config=config)
        m.submodules.scheduler = scheduler = Scheduler(config=config)
        m.submodules.vector = vector = VectorEngine(config=config)
        m.submodules.load = load = LoadEngine(config=config)
        m.submodules.store = store = StoreEngine(config=config)
        m.submodules.mover = mover = TileMover(config=config)
        m.submodules.tile_ram = tile_ram = TileRam(config=config, readers=TILE_READERS, writers=TILE_WRITERS)

        connect(m, flipped(self.words), decoder.i)
        connect(m, decoder.o, scheduler.description)
        connect(m, scheduler.loads, load.command)
        connect(m, scheduler.stores, store.command)
        connect(m, scheduler.moves, mover.command)
        connect(m, scheduler.vectors, vector.command)
        writers = (vector, load, mover)
        for port, line_port in zip((*vector.reads, store.read, mover.read), tile_ram.reads, strict=True):
            connect(m, port, line_port)
        for engine, line_port in zip(writers, tile_ram.writes, strict=True):
            connect(m, engine.write, line_port)
        for engine, done in zip((load, store, mover, vector), scheduler.done, strict=True):
            connect(m, engine.done, done)
            m.d.comb += engine.flush.eq(scheduler.flush)
        connect(m, scheduler.registers, registers.commit)
        connect(m, scheduler.retire, flipped(self.retire))
        self._memory(m, load, store)
        load_dead, store_dead = self._watch(m, load, store)
        m.d.comb += [
            # What waits for a dead memory never becomes idle; a flush does not wait for it.
            scheduler.idle.eq(vector.idle & mover.idle & (load.idle | load_dead) & (store.idle | store_dead)),
            self.dead.eq(load_dead | store_dead),
        ]
        self._registers(m, decoder, registers)
        self._control(m, decoder, scheduler, registers)
        self._trace(m, [engine.write for engine in writers])
        return m

    def _memory(self, m: Module, load: LoadEngine, store: StoreEngine) -> None:
        """Give each engine its channels of the port."""
        m.submodules.read_arbiter = arbiter = ReadArbiter(config=self._config)
        connect(m, load.memory, arbiter.load)
        connect(m, store.nibble_memory, arbiter.nibble)
        connect(m, arbiter.memory.ar, flipped(self.memory.ar))
        connect(m, flipped(self.memory.r), arbiter.memory.r)
        for name in ("aw", "w"):
            connect(m, getattr(store.memory, name), flipped(getattr(self.memory, name)))
        connect(m, flipped(self.memory.b), store.memory.b)

    def _watch(self, m: Module, load: LoadEngine, store: StoreEngine) -> tuple[Signal, Signal]:
        """Give each engine a watchdog; return whether they have expired.

        What moves on the other engine's channels counts as an answer for this one, too: both share AR and R when a store
        fetches an odd nibble. No engine goes on for ever when the other one hangs, as blocks commit in order.
        """
        channels = (getattr(self.memory, name) for name in ("ar", "r", "aw", "w", "b"))
        moves = Signal()
        m.d.comb += moves.eq(Cat(channel.valid & channel.ready for channel in channels).any())
        expired = []
        for name, engine in (("load", load), ("store", store)):
            m.submodules[f"{name}_watchdog"] = watchdog = Watchdog(config=self._config)
            m.d.comb += [watchdog.waiting.eq(engine.waits & ~moves), engine.expired.eq(watchdog.expired)]
            expired.append(watchdog.expired)
        return expired[0], expired[1]

    def _registers(self, m: Module, decoder: HeaderDecoder, registers: GprFile) -> None:
        """Registers: read and written at decode, open to the host."""
        connect(m, decoder.write, registers.write)
        for index in range(len(registers.read_index)):
            m.d.comb += [
                registers.read_index[index].eq(decoder.read_index[index]),
                decoder.read_data[index].eq(registers.read_data[index]),
            ]
        m.d.comb += [
            registers.host_index.eq(self.host_index),
            registers.host_write.eq(self.host_write),
            registers.host_write_data.eq(self.host_write_data),
            self.host_read_data.eq(registers.host_read_data),
        ]

    def _control(self, m: Module, decoder: HeaderDecoder, scheduler: Scheduler, registers: GprFile) -> None:
        """Start, restore and what the host sees."""
        m.d.sync += self.cycle.eq(self.cycle + 1)
        # From the first cycle of a flush on, words that are still there must not change registers.
        running = Signal()
        start = Signal()
        m.d.comb += start.eq(self.start & ~self.dead)
        with m.If(start):
            m.d.sync += running.eq(1)
        with m.Elif(scheduler.flush | scheduler.halted):
            m.d.sync += running.eq(0)
        m.d.comb += [
            decoder.cycle.eq(self.cycle),
            decoder.restart.eq(~running | scheduler.flush),
            scheduler.cycle.eq(self.cycle),
            scheduler.start.eq(start),
            scheduler.resume.eq(self.resume),
            scheduler.registers_busy.eq(registers.busy),
            registers.restore.eq(scheduler.restore),
            self.busy.eq(registers.busy),
            self.halted.eq(scheduler.halted),
            self.trapped.eq(scheduler.trapped),
            self.committed.eq(scheduler.committed),
            self.pointer.eq(scheduler.pointer),
            self.flags.eq(scheduler.flags),
        ]

    def _trace(self, m: Module, writes: list[stream.Interface]) -> None:
        for trace, write in zip(self.trace, writes, strict=True):
            transferred = Signal(name="transferred")
            m.d.comb += [
                transferred.eq(write.valid & write.ready),
                trace.valid.eq(transferred),
                trace.payload.eq(write.payload),
            ]
