"""Fetches the lines of a store from the tile RAM, in the order in which the bus needs them."""

from amaranth.hdl import Module, ResetInserter, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

from ..layouts import store_layout
from ..tile_ram import BUFFERED_LINES, line_read_signature
from .chunks import transposes
from .columns import ColumnLines
from .jobs import tile_job_layout
from .lines import LineWalk

__all__ = ["StoreLines"]


class StoreLines(wiring.Component):
    """Fetch the lines with valid bytes of one job after the other: as they lie in the tile, or turned.

    Members
    -------
    kept : In(store_layout(config)), rows : In(16)
        Of the command, while it has jobs under way; ``rows`` are those of a job whose cells lie across them.
    jobs : In(stream of tile_job_layout(config))
        Jobs.
    read : Out(line_read_signature(config))
        Port of the tile RAM.
    lines : Out(stream of lines)
        Lines, whole.
    drop : In(1)
        Forget all jobs and throw away what was asked for.
    settled : Out(1)
        Nothing that was asked for is still to come.
    """

    def __init__(self, *, config: CoreConfig):
        self._config = config
        super().__init__({
            "kept": In(store_layout(config)),
            "rows": In(16),
            "jobs": In(stream.Signature(tile_job_layout(config))),
            "read": Out(line_read_signature(config)),
            "lines": Out(stream.Signature(config.vector_bytes * 8)),
            "drop": In(1),
            "settled": Out(1),
        })  # fmt: skip

    def elaborate(self, platform: object) -> Module:
        """Let one of two walks ask; count what is owed."""
        m = Module()
        config = self._config
        job = self.jobs.p
        request, response = self.read.request, self.read.response
        clear = Signal()
        walk = LineWalk(config=config)
        m.submodules.walk = ResetInserter(clear)(walk)
        turned = self._add_columns(m, clear)
        transposed = self.kept.transposed if turned else Value.cast(0)

        m.d.comb += [
            self.jobs.ready.eq(walk.rows.ready),
            walk.rows.valid.eq(self.jobs.valid & ~transposed),
            walk.rows.payload.eq(job.lines),
            walk.by_cells.eq(self.kept.by_cells),
            walk.cell_step.eq(self.kept.cell_step),
            request.valid.eq(walk.requests.valid),
            request.payload.eq(walk.requests.payload),
            walk.requests.ready.eq(request.ready),
            self.lines.valid.eq(response.valid & ~self.drop),
            self.lines.payload.eq(response.payload),
            response.ready.eq(self.drop | self.lines.ready),
        ]
        if turned:
            with m.If(transposed):
                m.d.comb += [
                    self.jobs.ready.eq(turned.tiles.ready),
                    request.valid.eq(turned.requests.valid),
                    request.payload.eq(turned.requests.payload),
                    self.lines.valid.eq(turned.lines.valid & ~self.drop),
                    self.lines.payload.eq(turned.lines.payload),
                    response.ready.eq(self.drop | turned.responses.ready),
                ]
            m.d.comb += [
                turned.requests.ready.eq(request.ready),
                turned.lines.ready.eq(self.lines.ready),
                turned.responses.valid.eq(response.valid & transposed & ~self.drop),
                turned.responses.payload.eq(response.payload),
            ]

        # The tile RAM takes no request whose answer has no place.
        owed = Signal(range(BUFFERED_LINES + 1))
        m.d.sync += owed.eq(owed + (request.valid & request.ready) - (response.valid & response.ready))
        m.d.comb += [
            # A line that the tile RAM was asked for cannot be taken back.
            clear.eq(self.drop & ~(request.valid & ~request.ready)),
            self.settled.eq((owed == 0) & ~request.valid),
        ]
        return m

    def _add_columns(self, m: Module, clear: Signal) -> ColumnLines | None:
        """Return the part that turns cells, where the configuration needs it."""
        config = self._config
        if not transposes(config):
            return None
        job = self.jobs.p
        columns = ColumnLines(config=config)
        m.submodules.columns = ResetInserter(clear)(columns)
        m.d.comb += [
            columns.source.rows.eq(self.rows),
            columns.source.width.eq(self.kept.width),
            columns.source.cell_step.eq(self.kept.cell_step),
            columns.tiles.valid.eq(self.jobs.valid & self.kept.transposed),
            columns.tiles.p.row_bytes.eq(job.rows.last_byte + 1),
            columns.tiles.p.odd_nibble.eq(job.rows.odd_nibble),
            columns.tiles.p.tile_line.eq(job.lines.line),
            columns.tiles.p.band_row.eq(job.band_row),
        ]
        return columns
