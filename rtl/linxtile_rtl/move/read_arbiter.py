"""Lets both engines read through one port."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..axi import read_signature

__all__ = ["ReadArbiter"]


class ReadArbiter(wiring.Component):
    """Share AR and R between the load engine and the odd nibbles of the store engine; no latency.

    The few reads of a store go first. All reads have one identifier, so answers come in the order of the requests.

    Members
    -------
    load, nibble : In(read_signature(config))
        The engines; ``nibble`` has one read of one beat under way.
    memory : Out(read_signature(config))
        The port.
    """

    load: wiring.PureInterface
    nibble: wiring.PureInterface
    memory: wiring.PureInterface

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "load": In(read_signature(config)),
            "nibble": In(read_signature(config)),
            "memory": Out(read_signature(config)),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Remember whose turn each burst was."""
        m = Module()
        ar, r = self.memory.ar, self.memory.r
        m.submodules.owners = owners = SyncFIFO(width=1, depth=self._config.reads_outstanding + 1)

        # A request that the bus has seen keeps its turn.
        load_shown = Signal()
        nibble_turn = Signal()
        m.d.comb += [
            nibble_turn.eq(self.nibble.ar.valid & ~load_shown),
            ar.valid.eq((self.nibble.ar.valid | self.load.ar.valid) & owners.w_rdy),
            ar.payload.eq(Mux(nibble_turn, self.nibble.ar.payload, self.load.ar.payload)),
            self.nibble.ar.ready.eq(nibble_turn & ar.ready & owners.w_rdy),
            self.load.ar.ready.eq(~nibble_turn & ar.ready & owners.w_rdy),
            owners.w_en.eq(ar.valid & ar.ready),
            owners.w_data.eq(nibble_turn),
        ]
        m.d.sync += load_shown.eq(ar.valid & ~ar.ready & ~nibble_turn)

        for port, turn in (
            (self.load, owners.r_rdy & ~owners.r_data[0]),
            (self.nibble, owners.r_rdy & owners.r_data[0]),
        ):
            m.d.comb += [port.r.valid.eq(r.valid & turn), port.r.payload.eq(r.payload)]
            with m.If(turn):
                m.d.comb += r.ready.eq(port.r.ready)
        m.d.comb += owners.r_en.eq(r.valid & r.ready & r.p.last)
        return m
