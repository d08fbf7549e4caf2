"""Storage of the tiles: banks of lines shared by the engines."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from .layouts import line_bits, line_write_layout
from .verilog import Shared

__all__ = ["RoundRobin", "TileRam", "line_read_signature"]

BUFFERED_LINES = 4
"""Lines waiting behind each read port: enough to cover the bank and a lost arbitration or two."""


def line_read_signature(config: CoreConfig) -> wiring.Signature:
    """A read port as its user sees it: line numbers out, lines back in the same order."""
    return wiring.Signature({
        "request": Out(stream.Signature(line_bits(config))),
        "response": In(stream.Signature(config.vector_bytes * 8)),
    })  # fmt: skip


class RoundRobin(wiring.Component):
    """Fair choice among ``count`` requests: the one after the last that was granted comes first.

    Members
    -------
    requests : In(count)
        Who asks.
    grants : Out(count)
        At most one bit, in the same cycle.
    """

    requests: Signal
    grants: Signal

    def __init__(self, *, count: int):
        if count < 1:
            raise ValueError(f"RoundRobin count must be at least 1, not {count!r}")
        self._count = count
        super().__init__({"requests": In(count), "grants": Out(count)})

    def elaborate(self, platform: object) -> Module:
        """Grant the lowest request above the last grant, else the lowest of all."""
        m = Module()
        # Bits at and above the mask's lowest set bit come after the last grant.
        after = Signal(self._count)
        preferred = self.requests & after
        lowest_preferred = preferred & -preferred
        lowest = self.requests & -self.requests
        m.d.comb += self.grants.eq(Mux(preferred.any(), lowest_preferred, lowest))
        with m.If(self.requests.any()):
            # Everything above the granted bit: not (grant | grant - 1).
            m.d.sync += after.eq(~(self.grants | (self.grants - 1)[: self._count]))
        return m


class Bank(wiring.Component):
    """One bank: a read and a write a cycle, each for one of the ports that want it.

    Members
    -------
    read_wants, read_rows, read_grants
        Who wants which row, and who gets it; ``line`` holds that row in the next cycle.
    write_wants, write_rows, write_lines, write_grants
        The same for writes.
    """

    def __init__(self, *, config: CoreConfig, readers: int, writers: int):
        self._depth = config.lines // config.banks
        row = exact_log2(self._depth)
        line = config.vector_bytes * 8
        super().__init__({
            "read_wants": In(readers),
            "read_rows": In(row).array(readers),
            "read_grants": Out(readers),
            "line": Out(line),
            "write_wants": In(writers),
            "write_rows": In(row).array(writers),
            "write_lines": In(line).array(writers),
            "write_grants": Out(writers),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Two arbiters and a memory."""
        m = Module()
        m.submodules.memory = memory = Memory(shape=len(self.line), depth=self._depth, init=[])
        m.submodules.read_arbiter = readers = RoundRobin(count=len(self.read_wants))
        m.submodules.write_arbiter = writers = RoundRobin(count=len(self.write_wants))
        read_port, write_port = memory.read_port(), memory.write_port()
        m.d.comb += [
            readers.requests.eq(self.read_wants),
            self.read_grants.eq(readers.grants),
            read_port.en.eq(readers.grants.any()),
            self.line.eq(read_port.data),
            writers.requests.eq(self.write_wants),
            self.write_grants.eq(writers.grants),
            write_port.en.eq(writers.grants.any()),
        ]
        for granted, row in zip(readers.grants, self.read_rows, strict=True):
            with m.If(granted):
                m.d.comb += read_port.addr.eq(row)
        for granted, row, line in zip(writers.grants, self.write_rows, self.write_lines, strict=True):
            with m.If(granted):
                m.d.comb += [write_port.addr.eq(row), write_port.data.eq(line)]
        return m


class TileRam(wiring.Component):
    """Banked line memory; a line a cycle for every port whose banks are free.

    Line ``n`` is in bank ``n mod banks``. Each bank serves one read and one write a cycle, round robin among
    the ports that want it. Answers of a read port come in request order, two cycles after the grant at the earliest.

    Parameters
    ----------
    config : CoreConfig
        ``tile_ram_bytes``, ``vector_bytes`` and ``banks`` shape the memory.
    readers, writers : int
        Number of ports.

    Members
    -------
    reads : In(line_read_signature(config)).array(readers)
        Read ports.
    writes : In(stream of line_write_layout(config)).array(writers)
        Write ports; a line is in the memory in the cycle after it was accepted.
    """

    def __init__(self, *, config: CoreConfig, readers: int = 4, writers: int = 2):
        self._config = config
        self._readers = readers
        self._writers = writers
        super().__init__({
            "reads": In(line_read_signature(config)).array(readers),
            "writes": In(stream.Signature(line_write_layout(config))).array(writers),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Give every bank an arbiter for each side; bring the read lines back to their ports."""
        m = Module()
        bank_bits = exact_log2(self._config.banks)
        read_grants = [Signal(self._config.banks, name=f"read_grants_{port}") for port in range(self._readers)]
        returns = [Signal(self._config.vector_bytes * 8, name=f"return_{port}") for port in range(self._readers)]
        wants = [self._read_port(m, port, read_grants[port], returns[port]) for port in range(self._readers)]
        write_grants = [Signal(self._config.banks, name=f"write_grants_{port}") for port in range(self._writers)]
        for port, grants in enumerate(write_grants):
            m.d.comb += self.writes[port].ready.eq(grants.any())
        last_grants = [Signal.like(grants, name=f"last_grants_{port}") for port, grants in enumerate(read_grants)]
        m.d.sync += [last.eq(grants) for last, grants in zip(last_grants, read_grants, strict=True)]

        lines = []
        for number in range(self._config.banks):
            bank = Shared(
                Bank(config=self._config, readers=self._readers, writers=self._writers),
                key=f"tile_bank_{self._config.vector_bytes}x{self._config.lines // self._config.banks}",
            )
            m.submodules[f"bank_{number}"] = bank
            lines.append(bank.line)
            for port in range(self._readers):
                line = self.reads[port].request.payload
                m.d.comb += [
                    bank.read_wants[port].eq(wants[port] & (line[:bank_bits] == number)),
                    bank.read_rows[port].eq(line[bank_bits:]),
                    read_grants[port][number].eq(bank.read_grants[port]),
                ]
            for port, write in enumerate(self.writes):
                m.d.comb += [
                    bank.write_wants[port].eq(write.valid & (write.p.line[:bank_bits] == number)),
                    bank.write_rows[port].eq(write.p.line[bank_bits:]),
                    bank.write_lines[port].eq(write.p.data),
                    write_grants[port][number].eq(bank.write_grants[port]),
                ]

        for port in range(self._readers):
            for bank in range(self._config.banks):
                with m.If(last_grants[port][bank]):
                    m.d.comb += returns[port].eq(lines[bank])
        return m

    def _read_port(self, m: Module, port: int, grants: Signal, line: Signal) -> Signal:
        """Buffer the answers of one port; return whether it may ask now.

        A request is let through only when its answer is sure of a place in the buffer.
        """
        interface = self.reads[port]
        m.submodules[f"buffer_{port}"] = buffer = SyncFIFO(width=len(line), depth=BUFFERED_LINES)
        promised = Signal(range(BUFFERED_LINES + 1), name=f"promised_{port}")
        arriving = Signal(name=f"arriving_{port}")
        granted = grants.any()
        taken = interface.response.valid & interface.response.ready
        wants = Signal(name=f"wants_{port}")
        m.d.comb += [
            wants.eq(interface.request.valid & (promised != BUFFERED_LINES)),
            interface.request.ready.eq(granted),
            buffer.w_en.eq(arriving),
            buffer.w_data.eq(line),
            interface.response.valid.eq(buffer.r_rdy),
            interface.response.payload.eq(buffer.r_data),
            buffer.r_en.eq(taken),
        ]
        m.d.sync += [arriving.eq(granted), promised.eq(promised + granted - taken)]
        return wants
