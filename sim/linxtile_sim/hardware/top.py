# amaranth: UnusedElaboratable=no
"""The core with everything around it in simulated hardware; Python wakes once a retired block."""

from amaranth.hdl import ClockDomain, ClockSignal, DomainRenamer, Instance, Module, Mux, ResetSignal, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Flow, In, Out

from linxtile.config import CoreConfig
from linxtile_rtl.core import TILE_WRITERS, trace_signature
from linxtile_rtl.fetch import WordAligner
from linxtile_rtl.layouts import BlockKind, flags_layout, granule_bits, line_bits, retire_layout
from linxtile_rtl.queues import state_layout

from .axi_rules import RULES, AxiRules
from .digest import WORD_BYTES, mixed
from .memory import SimulatedMemory, host_signature
from .observed import ObservedCore, stages_layout

__all__ = ["SimulationTop", "event_layout"]


def event_layout(config: CoreConfig) -> data.StructLayout:
    """What Python reads after each retired block: the record, its cycles, the digests, and the state that is now committed."""
    return data.StructLayout({
        "record": retire_layout(config),
        "stages": stages_layout(),
        "tile_digest": 64,
        "memory_digest": 64,
        "committed": state_layout(config),
        "pointer": granule_bits(config),
        "flags": flags_layout(),
    })  # fmt: skip


INSIDE = "inside"
"""Clock domain of everything: the clock of the port, and its reset a cycle later."""
SETTINGS = ("latency", "jitter", "stalls", "longest_rest", "dies", "transfers", "salt")
"""Members of the host that change between programs only."""


class SimulationTop(wiring.Component):
    """Core, program fetch and memory. The reset and the :data:`SETTINGS` of the host arrive a cycle late.

    Members
    -------
    host : In(host_signature(config))
        Map pages, write and look at lines of the memory, set latency and stalls, read error flags.
    program_start, program_address, program_bytes
        A pulse starts the program that lies in the memory.
    gpr_write, gpr_index, gpr_data, gpr_value
        Host access to the registers while the core is idle.
    event_toggle : Out(1)
        Changes after each retired block; ``event`` then holds its record and the state.
    halted, dead : Out(1)
        As the core says.
    cycle : Out(32)
        Cycles since reset.
    trace : Out(trace_signature(config)).array(TILE_WRITERS)
        Lines written to the tile RAM, as the core shows them.
    axi_broken : Out(len(RULES)), axi_open : Out(1)
        Rules of AXI4 that the port broke since reset, and whether anything is under way on it.
    axi_reads, axi_writes : Out(32)
        Bursts since reset.
    tile_line, tile_value
        What was last written to a line of the tile RAM; combinational.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "host": In(host_signature(config)),
            "program_start": In(1),
            "program_address": In(64),
            "program_bytes": In(32),
            "gpr_write": In(1),
            "gpr_index": In(5),
            "gpr_data": In(64),
            "gpr_value": Out(64),
            "resume": In(1),
            "event_toggle": Out(1),
            "event": Out(event_layout(config)),
            "halted": Out(1),
            "dead": Out(1),
            "cycle": Out(32),
            "trace": Out(trace_signature(self._config)).array(TILE_WRITERS),
            "axi_broken": Out(len(RULES)),
            "axi_open": Out(1),
            "axi_reads": Out(32),
            "axi_writes": Out(32),
            "tile_line": In(line_bits(config)),
            "tile_value": Out(config.vector_bytes * 8),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Wire the parts; keep one digest per block in flight."""
        m = Module()
        core = ObservedCore(config=self._config)
        aligner = WordAligner(config=self._config)
        memory = SimulatedMemory(config=self._config)
        rules = AxiRules(config=self._config)
        inside = DomainRenamer(INSIDE)
        m.submodules.core = inside(core)
        m.submodules.aligner = inside(aligner)
        m.submodules.memory = inside(memory)
        m.submodules.axi_rules = inside(rules)
        self._register_inputs(m, memory)
        kind = core.retire.p.kind
        wiring.connect(m, aligner.o, core.words)
        wiring.connect(m, aligner.request, memory.fetch)
        wiring.connect(m, memory.answer, aligner.response)
        wiring.connect(m, core.memory, memory.axi)
        m.d.comb += [
            *rules.watch(core.memory),
            self.axi_broken.eq(rules.broken),
            self.axi_open.eq(rules.open),
            self.axi_reads.eq(rules.reads),
            self.axi_writes.eq(rules.writes),
            aligner.start.valid.eq(self.program_start),
            aligner.start.p.address.eq(self.program_address),
            aligner.start.p.length_bytes.eq(self.program_bytes),
            core.start.eq(self.program_start),
            core.resume.eq(self.resume),
            core.host_write.eq(self.gpr_write),
            core.host_index.eq(self.gpr_index),
            core.host_write_data.eq(self.gpr_data),
            self.gpr_value.eq(core.host_read_data),
            self.halted.eq(core.halted),
            self.dead.eq(core.dead),
            core.retire.ready.eq(1),
            aligner.flush.eq(core.retire.valid & ((kind == BlockKind.FAULT) | (kind == BlockKind.FINISH))),
            *(out.valid.eq(write.valid) for out, write in zip(self.trace, core.trace, strict=True)),
            *(out.payload.eq(write.payload) for out, write in zip(self.trace, core.trace, strict=True)),
        ]
        m.submodules.tiles = Instance(
            "simulation_tiles",
            p_ADDRESS_BITS=line_bits(self._config),
            p_BYTES=self._config.vector_bytes,
            i_clk=ClockSignal(INSIDE),
            i_read_address=self.tile_line,
            o_read_data=self.tile_value,
            **{f"i_write_{place}_valid": write.valid for place, write in enumerate(core.trace)},
            **{f"i_write_{place}_address": write.payload.line for place, write in enumerate(core.trace)},
            **{f"i_write_{place}_data": write.payload.data for place, write in enumerate(core.trace)},
        )
        m.d[INSIDE] += self.cycle.eq(self.cycle + 1)
        digest = self._tile_digests(m, core)
        m.d.comb += memory.written_clear.eq(core.retire.valid)
        with m.If(core.retire.valid):
            m.d[INSIDE] += [
                self.event_toggle.eq(~self.event_toggle),
                self.event.record.eq(core.retire.payload),
                self.event.stages.eq(core.stages),
                self.event.tile_digest.eq(digest),
                self.event.memory_digest.eq(memory.written),
                # The next block may commit while Python has not looked yet.
                self.event.committed.eq(core.committed),
                self.event.pointer.eq(core.pointer),
                self.event.flags.eq(core.flags),
            ]
        return m

    def _register_inputs(self, m: Module, memory: SimulatedMemory) -> None:
        """Put a register between the ports and what half of the design would hang on.

        A simulator that compiles has to evaluate all that an input reaches whenever Python may have written to it: with the
        reset alone that is the next state of every register.
        """
        m.domains += (domain := ClockDomain(INSIDE, local=True))
        reset = Signal(init=1, reset_less=True)
        m.d.sync += reset.eq(ResetSignal())
        m.d.comb += [domain.clk.eq(ClockSignal()), domain.rst.eq(reset)]
        for name, member in host_signature(self._config).members.items():
            outer, inner = getattr(self.host, name), getattr(memory.host, name)
            pairs = zip(outer, inner, strict=True) if member.dimensions else [(outer, inner)]
            for port, wire in pairs:
                if member.flow is Flow.In:
                    m.d.comb += port.eq(wire)
                elif name in SETTINGS:
                    m.d.sync += wire.eq(port)
                else:
                    m.d.comb += wire.eq(port)

    def _tile_digests(self, m: Module, core: ObservedCore) -> Signal:
        """Sum the lines that each block in flight has written; return the digest of the block that retires."""
        count = self._config.blocks_in_flight
        digests = [Signal(64, name=f"digest_{tag}") for tag in range(count)]
        additions = []
        for port, write in enumerate(core.trace):
            words = self._config.vector_bytes // WORD_BYTES
            total: object = 0
            for word in range(words):
                place = write.payload.line * words + word
                total += mixed(m, place, write.payload.data.word_select(word, 64), f"line_{port}_{word}")
            addition = Signal(64, name=f"addition_{port}")
            m.d.comb += addition.eq(total)
            additions.append((write.valid, write.payload.tag, addition))
        retiring = Signal(64)
        for tag, digest in enumerate(digests):
            # A fault discards every younger block too, with what it has written.
            leaving = core.retire.valid & ((core.retire.p.tag == tag) | (core.retire.p.kind == BlockKind.FAULT))
            added = sum(Mux(valid & (of == tag), addition, 0) for valid, of, addition in additions)
            m.d[INSIDE] += digest.eq(Mux(leaving, 0, digest) + added)
            with m.If(core.retire.p.tag == tag):
                m.d.comb += retiring.eq(digest)
        return retiring
