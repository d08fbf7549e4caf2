"""Memory behind the AXI port of a simulated core: pages that the host maps, error pages, latency and random stalls."""

from typing import Any

from amaranth.hdl import Cat, ClockSignal, Instance, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for, exact_log2

from linxtile.config import CoreConfig
from linxtile_rtl.axi import PAGE_BYTES, RESPONSE_BITS, Response, axi4_signature
from linxtile_rtl.fetch import beat_layout

from .digest import mixed
from .stalls import LATENCY_BITS, TRANSFER_BITS, Delay, Stall

__all__ = ["PAGES", "PAGE_BYTES", "SimulatedMemory", "host_signature", "page_slot"]

PAGES = 512
QUEUED_BURSTS = 256
AGE_BITS = 20


def page_slot(page: int, salt: int) -> int:
    """Return the slot of a page number: neighbours never meet, and ``salt`` moves regions that do.

    The hardware computes the same, so the table is a plain memory; who fills it chooses a salt without collisions.
    """
    return (page + _region(page, 64) * salt) % PAGES


def _region(page: Any, width: int) -> Any:
    """Return a number for the upper bits of a page number of ``width`` bits, an int, an array or a value of the hardware."""
    bits = exact_log2(PAGES)
    # Odd weights: pages that differ in one of the fields only do not meet.
    return sum((page >> shift) * (2 * place + 1) for place, shift in enumerate(range(bits, width, bits)))


def host_signature(config: CoreConfig) -> wiring.Signature:
    """What the host drives and sees.

    Members
    -------
    latency
        Cycles from an accepted read address to its first beat, and from a last write beat to its response; at least 1.
    jitter
        Mask of random cycles that are added to each latency.
    stalls
        Chance in 256 that a channel rests in a cycle: AR, R, AW, W, B.
    longest_rest
        Most cycles in a row that a channel rests; 0 for no bound.
    dies, transfers
        Channels, a bit each in the same order, that rest for ever after this number of transfers since the last reset.
    page_write, page_slot, page_number, page_present, page_error
        Let slot ``page_slot`` hold page ``page_number`` (address / 4096); it has to be its :func:`page_slot`. Pages with
        an error answer SLVERR where their number is even, DECERR where it is odd.
    salt
        Second argument of :func:`page_slot`.
    line_write, line, line_data, line_value
        Write or look at a line (of ``axi_data_bytes``) of the slots; ``line_value`` is combinational.
    stray
        Sticky: a write to an unmapped page.
    """
    return wiring.Signature({
        "latency": Out(LATENCY_BITS),
        "jitter": Out(LATENCY_BITS),
        "stalls": Out(8).array(5),
        "longest_rest": Out(10),
        "dies": Out(5),
        "transfers": Out(TRANSFER_BITS),
        "salt": Out(bits_for(PAGES - 1)),
        "page_write": Out(1),
        "page_slot": Out(bits_for(PAGES - 1)),
        "page_number": Out(config.axi_address_bits - 12),
        "page_present": Out(1),
        "page_error": Out(1),
        "line_write": Out(1),
        "line": Out(bits_for(PAGES * PAGE_BYTES // config.axi_data_bytes - 1)),
        "line_data": Out(config.axi_data_bytes * 8),
        "line_value": In(config.axi_data_bytes * 8),
        "stray": In(1),
    })  # fmt: skip


def page_layout(config: CoreConfig) -> data.StructLayout:
    """An entry of the page table."""
    return data.StructLayout({"number": config.axi_address_bits - 12, "present": 1, "error": 1})


class LinePort:
    """Signals of one port of the lines."""

    def __init__(self, config: CoreConfig, name: str):
        self.address = Signal(bits_for(PAGES * PAGE_BYTES // config.axi_data_bytes - 1), name=f"{name}_address")
        self.data = Signal(config.axi_data_bytes * 8, name=f"{name}_data")


class LinePorts:
    """Ports of ``simulation_lines.v``: reads of the host, the fetch unit and AXI; writes with a bit per byte."""

    def __init__(self, config: CoreConfig):
        self.host = LinePort(config, "host")
        self.fetch = LinePort(config, "fetch")
        self.read = LinePort(config, "read")
        self.write = LinePort(config, "write")
        self.write_enable = Signal(config.axi_data_bytes)

    def inputs(self) -> dict[str, Signal]:
        """Return what the module reads, by port name."""
        return {
            "write_enable": self.write_enable,
            "write_data": self.write.data,
            **{f"{name}_address": getattr(self, name).address for name in ("host", "fetch", "read", "write")},
        }

    def outputs(self) -> dict[str, Signal]:
        """Return what the module drives, by port name."""
        return {f"{name}_data": getattr(self, name).data for name in ("host", "fetch", "read")}


class SimulatedMemory(wiring.Component):
    """AXI4 subordinate, fetch port and host port on one set of pages.

    Reads of pages that are not mapped give zeros. A write to one is dropped and sets ``stray``.

    Members
    -------
    axi : In(axi4_signature(config))
        The port that the core masters; bursts are answered in order, one beat a cycle.
    fetch : stream in of beat addresses, ``answer`` : stream out of beats
        Program words, the cycle after the request.
    host : In(host_signature(config))
        Control and inspection.
    written : Out(64)
        Digest of the bytes written since ``written_clear``.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "axi": In(axi4_signature(config)),
            "fetch": In(stream.Signature(64)),
            "answer": Out(stream.Signature(beat_layout(config))),
            "host": In(host_signature(config)),
            "written": Out(64),
            "written_clear": In(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """One array of lines; a page table with three look-up ports."""
        m = Module()
        config = self._config
        self._line_shift = exact_log2(config.axi_data_bytes)
        self._lines = LinePorts(config)
        m.submodules.lines = Instance(
            "simulation_lines",
            p_ADDRESS_BITS=len(self._lines.host.address),
            p_BYTES=config.axi_data_bytes,
            i_clk=ClockSignal(),
            **{f"i_{name}": signal for name, signal in self._lines.inputs().items()},
            **{f"o_{name}": signal for name, signal in self._lines.outputs().items()},
        )
        m.submodules.table = self._table = Memory(shape=page_layout(config), depth=PAGES, init=[])
        port = self._table.write_port()
        m.d.comb += [
            port.en.eq(self.host.page_write),
            port.addr.eq(self.host.page_slot),
            port.data.number.eq(self.host.page_number),
            port.data.present.eq(self.host.page_present),
            port.data.error.eq(self.host.page_error),
        ]
        self._now = Signal(AGE_BITS)
        m.d.sync += self._now.eq(self._now + 1)
        self._host(m)
        self._fetches(m)
        self._reads(m)
        self._writes(m)
        return m

    def _stall(self, m: Module, channel: int, name: str) -> Stall:
        m.submodules[f"stall_{name}"] = stall = Stall(seed=0x1234567 * (channel + 1) % 0x7FFFFFFF)
        m.d.comb += [
            stall.level.eq(self.host.stalls[channel]),
            stall.longest.eq(self.host.longest_rest),
            stall.dies.eq(self.host.dies[channel]),
            stall.transfers.eq(self.host.transfers),
        ]
        return stall

    def _delay(self, m: Module, number: int, name: str, ended: Value) -> Signal:
        """Return the cycles that the answer under way on a channel takes."""
        m.submodules[f"delay_{name}"] = delay = Delay(seed=0x2345678 * (number + 1) % 0x7FFFFFFF)
        m.d.comb += [delay.latency.eq(self.host.latency), delay.jitter.eq(self.host.jitter), delay.ended.eq(ended)]
        return delay.cycles

    @staticmethod
    def _refusal(page_number_bit: Value) -> Value:
        return Mux(page_number_bit, Response.DECERR, Response.SLVERR)

    def _look_up(self, m: Module, address: Signal, name: str) -> tuple[Signal, Signal, Signal]:
        """Return line index, whether the page is mapped, whether it is an error page."""
        number = address[12:]
        slot = Signal(range(PAGES), name=f"{name}_slot")
        region = Signal(range(PAGES), name=f"{name}_region")
        m.d.comb += region.eq(_region(number, len(number)))
        port = self._table.read_port(domain="comb")
        mapped = Signal(name=f"{name}_mapped")
        m.d.comb += [
            slot.eq(number + region * self.host.salt),
            port.addr.eq(slot),
            mapped.eq(port.data.present & (port.data.number == number)),
        ]
        return Cat(address[self._line_shift : 12], slot), mapped, mapped & port.data.error

    def _host(self, m: Module) -> None:
        m.d.comb += [self._lines.host.address.eq(self.host.line), self.host.line_value.eq(self._lines.host.data)]

    def _fetches(self, m: Module) -> None:
        port = self._lines.fetch
        line, mapped, error = self._look_up(m, self.fetch.payload, "fetch")
        m.d.comb += [port.address.eq(line), self.fetch.ready.eq(~self.answer.valid | self.answer.ready)]
        with m.If(self.fetch.ready):
            m.d.sync += [
                self.answer.valid.eq(self.fetch.valid),
                self.answer.p.data.eq(Mux(mapped, port.data, 0)),
                self.answer.p.error.eq(error),
            ]

    def _burst_queue(
        self, m: Module, channel: stream.Interface, stall: Stall, name: str
    ) -> tuple[SyncFIFO, Signal, Signal]:
        """Queue the addresses of one channel; return the queue and the address and age of its head."""
        bits = self._config.axi_address_bits
        m.submodules[f"{name}_queue"] = queue = SyncFIFO(width=bits + 8 + AGE_BITS, depth=QUEUED_BURSTS)
        taken = channel.valid & channel.ready
        m.d.comb += [
            stall.taken.eq(taken),
            channel.ready.eq(queue.w_rdy & stall.open),
            queue.w_en.eq(taken),
            queue.w_data.eq(Cat(channel.p.addr, channel.p.len, self._now)),
        ]
        age = Signal(AGE_BITS, name=f"{name}_age")
        m.d.comb += age.eq(self._now - queue.r_data[bits + 8 :])
        return queue, queue.r_data[:bits], age

    def _reads(self, m: Module) -> None:
        channel = self.axi.r
        queue, start, age = self._burst_queue(m, self.axi.ar, self._stall(m, 0, "ar"), "ar")
        stall = self._stall(m, 1, "r")
        bits = self._config.axi_address_bits
        beat = Signal(8, name="read_beat")
        address = Signal(bits, name="read_address")
        m.d.comb += address.eq(start + (beat << self._line_shift))
        port = self._lines.read
        line, mapped, error = self._look_up(m, address, "read")
        taken = channel.valid & channel.ready
        last = beat == queue.r_data[bits : bits + 8]
        delay = self._delay(m, 0, "r", taken & last)
        page_shift = exact_log2(PAGE_BYTES)
        started = Signal(name="read_started")
        m.d.comb += [
            port.address.eq(line),
            stall.taken.eq(taken),
            channel.valid.eq(queue.r_rdy & stall.open & (started | (age >= delay))),
            channel.p.data.eq(Mux(mapped & ~error, port.data, 0)),
            channel.p.resp.eq(Mux(error, self._refusal(address[page_shift]), Response.OKAY)),
            channel.p.last.eq(last),
            queue.r_en.eq(taken & last),
        ]
        # Once a burst may answer it goes on answering, however long the age counter has run.
        with m.If(channel.valid):
            m.d.sync += started.eq(~(taken & last))
        with m.If(taken):
            m.d.sync += beat.eq(Mux(last, 0, beat + 1))

    def _writes(self, m: Module) -> None:
        channel = self.axi.w
        queue, start, _age = self._burst_queue(m, self.axi.aw, self._stall(m, 2, "aw"), "aw")
        stall = self._stall(m, 3, "w")
        bits = self._config.axi_address_bits
        beat = Signal(8, name="write_beat")
        address = Signal(bits, name="write_address")
        m.d.comb += address.eq(start + (beat << self._line_shift))
        line, mapped, error = self._look_up(m, address, "write")
        port = self._lines.write
        taken = channel.valid & channel.ready
        last = beat == queue.r_data[bits : bits + 8]
        stored = taken & mapped & ~error & ~self.host.line_write
        m.d.comb += [
            stall.taken.eq(taken),
            channel.ready.eq(queue.r_rdy & stall.open),
            port.address.eq(Mux(self.host.line_write, self.host.line, line)),
            port.data.eq(Mux(self.host.line_write, self.host.line_data, channel.p.data)),
            self._lines.write_enable.eq(Mux(self.host.line_write, ~0, Mux(stored, channel.p.strb, 0))),
            queue.r_en.eq(taken & last),
        ]
        refused = Signal()
        with m.If(taken):
            m.d.sync += [beat.eq(Mux(last, 0, beat + 1)), refused.eq(~last & (refused | error))]
            with m.If(~mapped):
                m.d.sync += self.host.stray.eq(1)
        self._digest(m, address, channel, stored)
        refusal = self._refusal(address[exact_log2(PAGE_BYTES)])
        self._responses(m, taken & last, Mux(refused | error, refusal, Response.OKAY))

    def _digest(self, m: Module, address: Signal, channel: stream.Interface, stored: Signal) -> None:
        total = Signal(64)
        pieces = 0
        for byte in range(self._config.axi_data_bytes):
            piece = mixed(m, address + byte, channel.p.data.word_select(byte, 8), f"byte_{byte}")
            pieces += Mux(channel.p.strb[byte], piece, 0)
        m.d.comb += total.eq(pieces)
        kept = Mux(self.written_clear, 0, self.written)
        m.d.sync += self.written.eq(kept + Mux(stored, total, 0))

    def _responses(self, m: Module, finished: Value, answer: Value) -> None:
        channel = self.axi.b
        stall = self._stall(m, 4, "b")
        m.submodules.b_queue = queue = SyncFIFO(width=RESPONSE_BITS + AGE_BITS, depth=QUEUED_BURSTS)
        taken = channel.valid & channel.ready
        delay = self._delay(m, 1, "b", taken)
        age = Signal(AGE_BITS, name="b_age")
        started = Signal(name="response_started")
        m.d.comb += [
            queue.w_en.eq(finished),
            queue.w_data.eq(Cat(Value.cast(answer)[:RESPONSE_BITS], self._now)),
            age.eq(self._now - queue.r_data[RESPONSE_BITS:]),
            stall.taken.eq(taken),
            channel.valid.eq(queue.r_rdy & stall.open & (started | (age >= delay))),
            channel.p.resp.eq(queue.r_data[:RESPONSE_BITS]),
            queue.r_en.eq(taken),
        ]
        m.d.sync += started.eq(channel.valid & ~taken)
