"""Fetches the half byte that a store of 4-bit elements must leave alone."""

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from linxtile.config import CoreConfig

from ..axi import INCR, read_signature
from .axi_reader import REFUSED
from .bursts import store_burst_layout

__all__ = ["NibbleGate"]


class NibbleGate(wiring.Component):
    """Pass bursts on; before one that ends with an odd nibble read the byte that holds it.

    Such a burst waits until the older ones are in memory, because they may have written the byte. Others pass without
    delay.

    Members
    -------
    i, o : In, Out(stream of store_burst_layout(config))
        Bursts, those of a row in order.
    quiet : In(1)
        All bursts passed on so far have been answered.
    stop : In(1)
        Pass no further burst of that kind.
    memory : Out(read_signature(config))
        AR and R.
    nibble : Out(4)
        Upper half of the byte, until the next one is read.
    refused : Out(1)
        The bus refuses the byte, in this cycle.
    busy : Out(1)
        A read is under way.
    """

    i: stream.Interface
    o: stream.Interface
    quiet: Signal
    stop: Signal
    memory: wiring.PureInterface
    nibble: Signal
    refused: Signal
    busy: Signal

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(store_burst_layout(config))),
            "o": Out(stream.Signature(store_burst_layout(config))),
            "quiet": In(1),
            "stop": In(1),
            "memory": Out(read_signature(config)),
            "nibble": Out(4),
            "refused": Out(1),
            "busy": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Stop the burst until its byte is here."""
        m = Module()
        config = self._config
        beat_bits = exact_log2(config.axi_data_bytes)
        ar, r, burst = self.memory.ar, self.memory.r, self.i.p
        fetched, begins, held, wanted = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [
            begins.eq(burst.note.half & burst.chunk_end & ~fetched),
            held.eq(begins & self.stop),
            # A byte that may not be accessed fails anyway.
            wanted.eq(begins & ~burst.beyond),
            self.o.payload.eq(self.i.payload),
            ar.p.id.eq(0),
            ar.p.addr.eq(Cat(Const(0, beat_bits), burst.last[beat_bits:], burst.address[len(burst.last) :])),
            ar.p.len.eq(0),
            ar.p.size.eq(beat_bits),
            ar.p.burst.eq(INCR),
        ]
        with m.FSM():
            with m.State("PASS"):
                passes = ~wanted & ~held
                m.d.comb += [self.o.valid.eq(self.i.valid & passes), self.i.ready.eq(self.o.ready & passes)]
                with m.If(self.i.valid & self.i.ready):
                    m.d.sync += fetched.eq(0)
                with m.Elif(self.i.valid & wanted & self.quiet & ~held):
                    m.next = "ASK"
            with m.State("ASK"):
                m.d.comb += [ar.valid.eq(1), self.busy.eq(1)]
                with m.If(ar.ready):
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += [r.ready.eq(1), self.busy.eq(1), self.refused.eq(r.valid & r.p.resp[REFUSED])]
                with m.If(r.valid):
                    m.d.sync += [
                        fetched.eq(1),
                        self.nibble.eq(r.p.data.word_select(burst.last[:beat_bits], 8)[4:]),
                    ]
                    m.next = "PASS"
        return m
