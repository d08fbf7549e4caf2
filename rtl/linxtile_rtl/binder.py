"""From block descriptions to engine commands: names, rules, placement, hazards."""

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import enum, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from linxtile.config import CoreConfig
from linxtile.isa.operations import Shape

from .arrangement import Arrangement
from .bind_rules import BindRules, by_shape
from .commands import Commands
from .geometry import Geometry
from .hazards import Hazards
from .interleave import stride_bits
from .interval import AddressInterval
from .issue import issue_layout
from .layouts import (
    RULE_BITS,
    WORD_OFFSET_BITS,
    BlockKind,
    block_layout,
    load_layout,
    move_layout,
    store_layout,
    tag_bits,
    vector_layout,
)
from .operands import Operands
from .placement import Placement
from .queues import state_layout
from .reorder import commit_signature, entry_layout, flight_signature, restore_signature
from .tokens import Tokens

__all__ = ["Binder"]


class State(enum.Enum, shape=unsigned(2)):
    """Progress of a block."""

    BIND = 0
    """Names are looked up, destinations placed, sizes and addresses calculated, all at once; then the rules are checked."""
    ENTER = 1
    SEND = 2


class Binder(wiring.Component):
    """Takes block descriptions in program order and gives every engine its commands.

    A block is entered into the reorder ring four cycles after its description appeared, a store two more, and its command is valid in
    the cycle after; later when the allocator has to search or an older store is on its way to memory. A block can follow
    another after six cycles, or nine when that gave up three tiles. After a fault, and after the end of the program, nothing
    is taken until ``start``; after a block with T in B.CATR, not until that has committed and ``resume`` was given.

    Parameters
    ----------
    config : CoreConfig
        What the core can do.

    Members
    -------
    description : In(stream of block_layout(config))
        Blocks; each is held until its command has been accepted.
    loads, stores, moves, vectors : Out(stream of issue_layout(config, ...))
        Commands of the engines, with the blocks that they wait for.
    enter : Out(stream of entry_layout(config))
        Blocks for the reorder ring, of every kind.
    flight : In(flight_signature(config))
        Blocks in flight; under ``flush`` the binder drops its block and stops.
    commit : In(commit_signature(config))
        Commits, for the names.
    restore : In(restore_signature(config))
        Go back to the committed names; takes some 70 cycles.
    start : In(1)
        Go on after a halt or a reset.
    trapped, resume : In(1)
        A block with T has committed; the host lets the core go on. Both in one cycle end the wait.
    committed : Out(state_layout(config))
        Committed names.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        self._shapes = by_shape(config)
        super().__init__({
            "description": In(stream.Signature(block_layout(config))),
            "loads": Out(stream.Signature(issue_layout(config, load_layout(config)))),
            "stores": Out(stream.Signature(issue_layout(config, store_layout(config)))),
            "moves": Out(stream.Signature(issue_layout(config, move_layout(config)))),
            "vectors": Out(stream.Signature(issue_layout(config, vector_layout(config)))),
            "enter": Out(stream.Signature(entry_layout(config))),
            "flight": In(flight_signature(config)),
            "commit": In(commit_signature(config)),
            "restore": In(restore_signature(config)),
            "start": In(1),
            "trapped": In(1),
            "resume": In(1),
            "committed": Out(state_layout(config)),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Connect the units and step through a block."""
        m = Module()
        config, block, flight = self._config, self.description.p, self.flight
        m.submodules.operands = operands = Operands(config=config)
        m.submodules.placement = placement = Placement(config=config)
        m.submodules.geometry = geometry = Geometry(config=config)
        m.submodules.arrangement = arrangement = Arrangement(config=config)
        m.submodules.interval = interval = AddressInterval(config=config)
        m.submodules.rules = rules = BindRules(config=config)
        m.submodules.hazards = hazards = Hazards(config=config)
        m.submodules.tokens = tokens = Tokens(config=config)
        m.submodules.commands = commands = Commands(config=config)

        state = Signal(State)
        stopped = Signal(init=1)
        trapping = Signal()
        is_tile, is_load, is_store, is_move = Signal(), Signal(), Signal(), Signal()
        open_ = Signal()
        rule, word_offset = Signal(RULE_BITS), Signal(WORD_OFFSET_BITS)
        tag = Signal(tag_bits(config))
        ready, entered, accepted = Signal(), Signal(), Signal()
        m.d.comb += [
            is_tile.eq(block.kind == BlockKind.TILE),
            open_.eq(self.description.valid & (state == State.BIND) & ~stopped & ~trapping & ~flight.flush),
            ready.eq(
                operands.done
                & placement.done
                & ((interval.done & hazards.settled) | ~(is_load & hazards.store_pending))
                & arrangement.done
            ),
            # Only younger blocks ask where a store goes, and they are bound after it has been entered.
            self.enter.valid.eq((state == State.ENTER) & ~flight.flush & (interval.done | ~is_store)),
            entered.eq(self.enter.valid & self.enter.ready),
            accepted.eq(entered & is_tile & (rule == 0)),
            self.description.ready.eq((entered & ~accepted) | commands.taken),
        ]
        for shape, signal in ((Shape.LOAD, is_load), (Shape.STORE, is_store), (Shape.MOVE, is_move)):
            with m.Switch(block.operation):
                with m.Case(*self._shapes.get(shape, ())):
                    m.d.comb += signal.eq(is_tile)

        with m.Switch(state):
            with m.Case(State.BIND):
                with m.If(open_ & (ready | ~is_tile)):
                    m.d.sync += [
                        state.eq(State.ENTER),
                        rule.eq(Mux(is_tile, rules.rule, block.rule)),
                        word_offset.eq(rules.word_offset),
                        commands.after_finish.eq(hazards.after_finish | operands.producers | tokens.producers),
                        commands.after_commit.eq(hazards.after_commit),
                    ]
            with m.Case(State.ENTER):
                with m.If(entered):
                    m.d.sync += [state.eq(Mux(accepted, State.SEND, State.BIND)), tag.eq(flight.next_tag)]
            with m.Case(State.SEND):
                with m.If(commands.taken):
                    m.d.sync += state.eq(State.BIND)
        with m.If(flight.flush):
            m.d.sync += state.eq(State.BIND)
        self._stops(m, stopped, trapping, entered, accepted)

        seen = Signal()
        clear = Signal()
        m.d.sync += seen.eq(open_ & is_tile & ~clear)
        m.d.comb += [
            clear.eq(entered | flight.flush),
            interval.start.eq(open_ & is_tile & ~seen),
            arrangement.binding.eq(open_ & is_tile),
            arrangement.clear.eq(clear),
            arrangement.load.eq(is_load),
            arrangement.store.eq(is_store),
            arrangement.move.eq(is_move),
            operands.binding.eq(open_ & is_tile),
            operands.clear.eq(clear),
            operands.bind.eq(accepted),
            operands.tag.eq(flight.next_tag),
            operands.commit.valid.eq(self.commit.valid),
            operands.commit.tag.eq(self.commit.tag),
            operands.commit.names.eq(self.commit.names),
            operands.restore.eq(self.restore.start),
            placement.binding.eq(open_ & is_tile),
            placement.clear.eq(clear),
            placement.release.eq(accepted),
            placement.restore.eq(self.restore.start),
            placement.restore_pointer.eq(self.restore.pointer),
            hazards.allocated.eq(placement.taken),
            hazards.clear.eq(clear),
            hazards.start.eq(interval.start),
            hazards.enter.eq(entered),
            hazards.tag.eq(flight.next_tag),
            hazards.in_flight.eq(flight.in_flight),
            hazards.finished.eq(flight.finished),
            tokens.awaits.eq(block.awaits),
            tokens.produce.eq(accepted & block.produces_token),
            tokens.tag.eq(flight.next_tag),
            tokens.commit.eq(self.commit.valid),
            tokens.commit_tag.eq(self.commit.tag),
            tokens.clear.eq(flight.flush),
            commands.valid.eq((state == State.SEND) & ~flight.flush),
            commands.tag.eq(tag),
            commands.load.eq(is_load),
            commands.store.eq(is_store),
            commands.move.eq(is_move),
            self.restore.busy.eq(operands.restoring),
            self.committed.eq(operands.committed),
        ]
        connect(m, operands.live, placement.live)
        for name in ("loads", "stores", "moves", "vectors"):
            connect(m, getattr(commands, name), flipped(getattr(self, name)))
        self._describe(m, operands, placement, geometry, interval, rules, hazards, commands)
        self._arrange(m, operands, geometry, arrangement, rules, commands)
        self._access(m, hazards, geometry, interval, commands, is_load, is_store)
        self._entry(m, is_tile, rule, word_offset, operands, placement)
        return m

    def _stops(self, m: Module, stopped: Signal, trapping: Signal, entered: Signal, accepted: Signal) -> None:
        """Stop after what has no successor and after a block that traps."""
        kind = self.description.p.kind
        with m.If(entered & ~accepted & (kind != BlockKind.SETUP)):
            m.d.sync += stopped.eq(1)
        with m.If(accepted & self.description.p.trap_after):
            m.d.sync += trapping.eq(1)
        with m.If(self.trapped & self.resume):
            m.d.sync += trapping.eq(0)
        with m.If(self.start):
            m.d.sync += stopped.eq(0)
        with m.If(self.flight.flush):
            m.d.sync += [stopped.eq(1), trapping.eq(0)]

    def _describe(
        self, m: Module, operands: Operands, placement: Placement, geometry: Geometry, interval: AddressInterval,
        rules: BindRules, hazards: Hazards, commands: Commands,
    ) -> None:  # fmt: skip
        """Show the description and what becomes known of it to the units."""
        block = self.description.p
        m.d.comb += [unit.block.eq(block) for unit in (operands, placement, rules, commands)]
        m.d.comb += [
            getattr(geometry, name).eq(block[name]) for name in ("valid_rows", "valid_columns", "columns", "data_type")
        ]
        for name in ("columns_short", "columns_odd", "matrix_code", "row_vector_code", "column_vector_code"):
            m.d.comb += getattr(rules, name).eq(getattr(geometry, name))
        for name in ("width", "row_bytes", "pitch_bytes", "valid_bytes", "matrix_bytes", "odd_nibble"):
            m.d.comb += getattr(commands, name).eq(getattr(geometry, name))
        for unit in (rules, commands):
            m.d.comb += [handle.eq(name.handle) for handle, name in zip(unit.sources, operands.sources, strict=True)]
        for own, run in zip(hazards.released, operands.released, strict=True):
            m.d.comb += own.eq(run)
        for own, run in zip(placement.released, operands.released, strict=True):
            m.d.comb += own.eq(run)
        m.d.comb += [
            placement.wanted.eq(rules.sizes_fit),
            rules.placed.eq(placement.placed),
            operands.bases.eq(placement.bases),
            operands.width.eq(geometry.width),
            commands.bases.eq(placement.bases),
            interval.base.eq(block.scalars[0]),
            interval.stride.eq(commands.stride),
            interval.rows.eq(commands.rows),
            interval.row_bytes.eq(geometry.row_bytes),
        ]

    def _arrange(
        self, m: Module, operands: Operands, geometry: Geometry, arrangement: Arrangement, rules: BindRules,
        commands: Commands,
    ) -> None:  # fmt: skip
        """Tell how the tiles of a move hold their matrix."""
        m.d.comb += [
            arrangement.block.eq(self.description.p),
            arrangement.width.eq(geometry.width),
            arrangement.source_code.eq(operands.sources[0].handle.size_code),
            arrangement.sizes_known.eq(operands.done),
            geometry.part_columns.eq(arrangement.part_columns),
            geometry.by_columns.eq(arrangement.by_columns),
        ]
        for name in ("misaligned", "uneven", "shared_rows", "rows_short"):
            m.d.comb += getattr(rules, name).eq(getattr(arrangement, name))
        for name in ("by_columns", "by_cells", "transposed", "source_order", "tile_order", "row_cells", "cell_step"):
            m.d.comb += getattr(commands, name).eq(getattr(arrangement, name))

    def _access(
        self, m: Module, hazards: Hazards, geometry: Geometry, interval: AddressInterval, commands: Commands,
        is_load: Signal, is_store: Signal,
    ) -> None:  # fmt: skip
        """Tell what the block does to memory."""
        block, memory = self.description.p, hazards.memory
        m.d.comb += [
            memory.load.eq(is_load),
            memory.store.eq(is_store),
            memory.acquire.eq(block.acquire & (block.kind == BlockKind.TILE)),
            memory.release.eq(block.release),
            memory.rows.base.eq(interval.low),
            memory.rows.stride.eq(commands.stride),
            memory.rows.long_stride.eq(commands.stride[stride_bits(self._config) :].any()),
            memory.rows.row_bytes.eq(geometry.row_bytes),
            memory.high.eq(interval.high),
            memory.everything.eq(interval.everything),
        ]

    def _entry(
        self, m: Module, is_tile: Signal, rule: Signal, word_offset: Signal, operands: Operands, placement: Placement
    ) -> None:
        """Describe the block for the reorder ring; a broken rule makes it a FAULT."""
        block, entry = self.description.p, self.enter.p
        m.d.comb += [
            entry.kind.eq(Mux(is_tile & (rule != 0), BlockKind.FAULT, block.kind)),
            entry.operation.eq(block.operation),
            entry.block_address.eq(block.block_address),
            entry.word_address.eq(Mux(is_tile, block.block_address + (word_offset << 1), block.word_address)),
            entry.rule.eq(rule),
            entry.trap_after.eq(block.trap_after & is_tile),
            entry.closed_at.eq(block.closed_at),
            entry.register_writes.eq(block.register_writes),
            entry.pointer.eq(placement.pointer),
            entry.names.eq(operands.names),
        ]
