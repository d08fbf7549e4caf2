"""Placement of tiles: rotating first fit of naturally aligned runs of granules."""

from amaranth.hdl import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import GRANULE_BYTES, CoreConfig
from linxtile.isa.codes import SIZE_CODE_BITS, size_code

from .find_first import find_first
from .layouts import granule_bits

__all__ = ["GRANULE_CODE", "Allocator", "change_layout", "placement_layout", "run_layout"]

GRANULE_CODE = size_code(GRANULE_BYTES)
"""Size code of a tile of one granule."""


def placement_layout(config: CoreConfig) -> data.StructLayout:
    """Answer of a search: first granule, or ``found`` 0 when no run is free."""
    return data.StructLayout({"found": 1, "base": granule_bits(config)})


def run_layout(config: CoreConfig) -> data.StructLayout:
    """Storage of one tile; ``valid`` 0 for none."""
    return data.StructLayout({"valid": 1, "base": granule_bits(config), "size_code": SIZE_CODE_BITS})


def change_layout(config: CoreConfig) -> data.StructLayout:
    """One tile's run becomes ``taken`` or free."""
    return data.StructLayout({"base": granule_bits(config), "size_code": SIZE_CODE_BITS, "taken": 1})


class Step(enum.Enum, shape=unsigned(3)):
    """Where a search is."""

    IDLE = 0
    CHOOSE = 1
    """The row of the pointer has been read: take a run from it, or choose another row."""
    FETCH = 2
    PICK = 3
    """That row has been read: take its first run."""
    ANSWER = 4


class Allocator(wiring.Component):
    """Map of the granules in program order and the rotating pointer (semantics of placement: 4.4).

    A search takes the first aligned run at or after the pointer, wrapping once. The map of free runs of the wanted size is
    cut into rows of about the square root of its length; a search looks at the row of the pointer first. A request that
    finds its run there is answered two cycles later, any other four cycles later.

    Parameters
    ----------
    config : CoreConfig
        ``tile_ram_bytes``, ``tile_min_bytes`` and ``tile_max_bytes``.

    Members
    -------
    request : In(stream of size codes)
        Search for a run of a size from ``tile_min_bytes`` to ``tile_max_bytes``.
    response : Out(stream of placement_layout(config))
        Where it is; the run is taken and the pointer moved when the answer appears.
    change : In(stream of change_layout(config))
        Take or free one run, a run a cycle; goes before a request.
    restore : In(1)
        Drop any search, free everything and set the pointer to ``restore_pointer``; the live tiles follow as changes.
    pointer : Out
        Granule at which the next search starts.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "request": In(stream.Signature(SIZE_CODE_BITS)),
            "response": Out(stream.Signature(placement_layout(config))),
            "change": In(stream.Signature(change_layout(config))),
            "restore": In(1),
            "restore_pointer": In(granule_bits(config)),
            "pointer": Out(granule_bits(config)),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Search a row at a time; update the map from the answer or a change."""
        m = Module()
        granules = self._config.granules
        index_bits = granule_bits(self._config)
        column_bits = index_bits // 2
        columns = 1 << column_bits
        step = Signal(Step)
        free = Signal(granules, init=-1)
        order = Signal(SIZE_CODE_BITS)
        held_order = Signal(SIZE_CODE_BITS)
        m.d.comb += order.eq(Mux(step == Step.IDLE, self.request.payload - GRANULE_CODE, held_order))

        candidates = self._candidates(m, free, order)
        first = Signal(index_bits)
        m.d.comb += first.eq((self.pointer + self._span(order)) >> order)
        start = Signal(index_bits)
        row = Signal(index_bits - column_bits)
        held_row = Signal.like(row)
        window = Signal(columns)
        rows_with_run = Signal(granules // columns)
        m.d.comb += row.eq(Mux(step == Step.IDLE, first[column_bits:], held_row))
        with m.If((step == Step.IDLE) | (step == Step.FETCH)):
            m.d.sync += [
                window.eq(candidates.word_select(row, columns)),
                rows_with_run.eq(Cat(candidates[at : at + columns].any() for at in range(0, granules, columns))),
            ]

        found = Signal()
        index = Signal(index_bits)
        here = Signal(columns)
        later = Signal.like(rows_with_run)
        m.d.comb += [
            here.eq(window & (~0 << start[:column_bits])),
            later.eq(rows_with_run & (~1 << start[column_bits:])),
            self.change.ready.eq((step == Step.IDLE) & ~self.restore),
            self.request.ready.eq((step == Step.IDLE) & ~self.restore & ~self.change.valid),
            self.response.valid.eq(step == Step.ANSWER),
            self.response.p.found.eq(found),
            self.response.p.base.eq(index << held_order),
        ]
        with m.Switch(step):
            with m.Case(Step.IDLE):
                m.d.sync += [held_order.eq(order), start.eq(first)]
                with m.If(self.request.valid & self.request.ready):
                    m.d.sync += step.eq(Step.CHOOSE)
            with m.Case(Step.CHOOSE):
                m.d.sync += [
                    found.eq(rows_with_run.any()),
                    index.eq(Cat(find_first(here), start[column_bits:])),
                    held_row.eq(Mux(later.any(), find_first(later), find_first(rows_with_run))),
                    step.eq(Mux(here.any() | ~rows_with_run.any(), Step.ANSWER, Step.FETCH)),
                ]
            with m.Case(Step.FETCH):
                m.d.sync += step.eq(Step.PICK)
            with m.Case(Step.PICK):
                m.d.sync += [index.eq(Cat(find_first(window), held_row)), step.eq(Step.ANSWER)]
            with m.Case(Step.ANSWER):
                with m.If(self.response.ready):
                    m.d.sync += step.eq(Step.IDLE)

        self._update(m, free, step, found & (step == Step.ANSWER), held_order, column_bits)
        return m

    def _span(self, order: Signal) -> Signal:
        """Granules of a run, less one."""
        return ((1 << order) - 1)[: granule_bits(self._config)]

    def _candidates(self, m: Module, free: Signal, order: Signal) -> Signal:
        """Return bit ``i`` for a free run of ``2**order`` granules with number ``i``, counted in units of its own size."""
        candidates = Signal(len(free))
        orders = [size_code(size) - GRANULE_CODE for size in (self._config.tile_min_bytes, self._config.tile_max_bytes)]
        runs = free
        for exponent in range(orders[1] + 1):
            if exponent:
                shorter, runs = runs, Signal(len(runs) // 2, name=f"runs_{exponent}")
                m.d.comb += runs.eq(shorter[::2] & shorter[1::2])
            if exponent >= orders[0]:
                with m.If(order == exponent):
                    m.d.comb += candidates.eq(runs)
        return candidates

    def _update(self, m: Module, free: Signal, step: Signal, placed: Signal, order: Signal, column_bits: int) -> None:
        """Write the run of the answer or of a change into the map; doing an answer's run again changes nothing."""
        change = self.change.p
        base = Signal(granule_bits(self._config))
        span = Signal(granule_bits(self._config))
        m.d.comb += [
            base.eq(Mux(placed, self.response.p.base, change.base)),
            span.eq(self._span(Mux(placed, order, change.size_code - GRANULE_CODE)[:SIZE_CODE_BITS])),
        ]
        # A bit is in the run when its row and its column are: two small decoders and one gate a bit.
        columns = Signal(1 << column_bits)
        rows = Signal(len(free) >> column_bits)
        for hits, place in ((columns, slice(0, column_bits)), (rows, slice(column_bits, len(base)))):
            m.d.comb += hits.eq(Cat(((base[place] ^ number) & ~span[place]) == 0 for number in range(len(hits))))
        run = Cat(columns & rows[number].replicate(len(columns)) for number in range(len(rows)))
        with m.If(placed):
            m.d.sync += [free.eq(free & ~run), self.pointer.eq(base + span + 1)]
        with m.Elif(self.change.valid & self.change.ready):
            m.d.sync += free.eq(Mux(change.taken, free & ~run, free | run))
        with m.If(self.restore):
            m.d.sync += [free.eq(~0), self.pointer.eq(self.restore_pointer), step.eq(Step.IDLE)]
