"""What the header decoder knows of every operation: the rows of the ISA tables as small sets and a look-up."""

from collections.abc import Iterable

from amaranth import Cat, Module, Signal
from amaranth.hdl import unsigned
from amaranth.lib import data, enum, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from linxtile.config import CoreConfig
from linxtile.isa.codes import Engine, Layout
from linxtile.isa.operation import Operation, Shape, Uses
from linxtile.isa.operations import OPERATIONS
from linxtile.isa.types import DATA_TYPES, NO_TYPE, TYPE_CODE_BITS, data_type
from linxtile.isa.words import word_format
from linxtile_rtl.layouts import OPERATION_BITS

__all__ = ["CodeSets", "DimensionRoles", "OperationLookup", "OperationSets", "mode_bits", "requirement_layout"]

ENGINE_BITS = bits_for(max(Engine))
FUNCTION_BITS = word_format("BSTART.TEPL").field("function").width
COUNT_BITS = 4
CODES = 1 << TYPE_CODE_BITS


def mode_bits() -> int:
    """Bits of the Mode field."""
    return word_format("BSTART.TEPL").field("mode").width


class DimensionRoles(enum.Enum, shape=unsigned(3)):
    """What LB0, LB1 and LB2 mean; an operation uses as many as its roles name."""

    NONE = 0
    TILE = 1
    """Valid columns, valid rows, columns (as many as the valid ones by default)."""
    MASKED = 2
    """Columns, rows."""
    CONVERT = 3
    """Rows, columns."""
    MATRIX = 4
    """M, N, K."""

    @property
    def count(self) -> int:
        """How many of LB0 to LB2 are used."""
        return len(_ROLES[self])


_ROLES: dict[DimensionRoles, tuple[str, ...]] = {
    DimensionRoles.NONE: (),
    DimensionRoles.TILE: ("valid_columns", "valid_rows", "columns"),
    DimensionRoles.MASKED: ("columns", "rows"),
    DimensionRoles.CONVERT: ("rows", "columns"),
    DimensionRoles.MATRIX: ("m", "n", "k"),
}
_BY_ROLES = {roles: member for member, roles in _ROLES.items()}


class CodeSets:
    """Sets of five-bit codes, each stored once; hardware asks whether a code is in the set of an index."""

    def __init__(self) -> None:
        self._masks: list[int] = []

    def add(self, codes: Iterable[int]) -> int:
        """Return the index of this set."""
        mask = sum(1 << code for code in set(codes))
        if mask not in self._masks:
            self._masks.append(mask)
        return self._masks.index(mask)

    @property
    def index_bits(self) -> int:
        """Bits of an index."""
        return bits_for(max(1, len(self._masks) - 1))

    def contains(self, m: Module, index, code) -> Signal:
        """Return a signal that says whether ``code`` is in set ``index``."""
        mask, found = Signal(CODES), Signal()
        with m.Switch(index):
            for number, value in enumerate(self._masks):
                with m.Case(number):
                    m.d.comb += mask.eq(value)
        m.d.comb += found.eq(mask.bit_select(code, 1))
        return found


class OperationSets:
    """The code sets that the operations refer to, for one configuration.

    Attributes
    ----------
    types : CodeSets
        Types of BSTART that the ISA allows.
    runs : CodeSets
        Types of BSTART that the configuration runs.
    layouts : CodeSets
        Layouts that the ISA allows.
    seconds : CodeSets
        Types of B.DATR that the ISA allows; which set counts depends on the first type too, see :meth:`second_sets`.
    """

    def __init__(self, config: CoreConfig):
        self.types, self.runs, self.layouts, self.seconds = CodeSets(), CodeSets(), CodeSets(), CodeSets()
        self._pairings: list[tuple[int, ...]] = []
        self.rows = {row: self._row(row, config) for row in OPERATIONS}

    def second_sets(self, m: Module, pairing, first) -> Signal:
        """Return the index in ``seconds`` for an operation's ``pairing`` and a first type."""
        index = Signal(self.seconds.index_bits)
        with m.Switch(Cat(first, pairing)):
            for number, sets in enumerate(self._pairings):
                for code, chosen in enumerate(sets):
                    with m.Case(number << TYPE_CODE_BITS | code):
                        m.d.comb += index.eq(chosen)
        return index

    @property
    def pairing_bits(self) -> int:
        """Bits of an operation's pairing."""
        return bits_for(max(1, len(self._pairings) - 1))

    def _row(self, row: Operation, config: CoreConfig) -> dict[str, object]:
        assigned = {entry.code for entry in DATA_TYPES}
        names = row.source_types
        codes = {data_type(name).code for name in names} if names is not None else assigned | {NO_TYPE}
        running = {entry.code for entry in DATA_TYPES if config.supports(row.name, entry.name)}
        return {
            "number": row.number,
            "types": self.types.add(codes),
            "runs": self.runs.add(running),
            "layouts": self.layouts.add(layout for layout in Layout if row.takes_layout(layout)),
            "pairing": self._pairing(row),
            "min_sources": row.min_sources,
            "max_sources": row.max_sources,
            "min_destinations": row.min_destinations,
            "max_destinations": row.max_destinations,
            "min_scalars": row.min_scalars,
            "max_scalars": row.max_scalars,
            "writes_acc": row.writes_acc,
            "compares": Uses.COMPARE in row.uses,
            "counts_bytes": Uses.BYTE_ID in row.uses,
            "moves": row.shape in (Shape.LOAD, Shape.STORE),
            "roles": _BY_ROLES[row.dimensions],
        }

    def _pairing(self, row: Operation) -> int:
        """Return the number of the table first type -> set of second types that the operation follows."""
        sets = []
        for code in range(CODES):
            allowed: set[int] = set(range(CODES))
            first = next((entry for entry in DATA_TYPES if entry.code == code), None)
            if Uses.SECOND_TYPE in row.uses and first is not None:
                allowed = {entry.code for entry in DATA_TYPES if row.takes_pair(first.name, entry.name)}
                if row.second_default and first.code in allowed:
                    allowed.add(NO_TYPE)
            sets.append(self.seconds.add(allowed))
        if tuple(sets) not in self._pairings:
            self._pairings.append(tuple(sets))
        return self._pairings.index(tuple(sets))


def requirement_layout(sets: OperationSets) -> data.StructLayout:
    """What an operation asks of its header; the sets and the pairing are indices into ``sets``."""
    return data.StructLayout({
        "number": OPERATION_BITS,
        "types": sets.types.index_bits,
        "runs": sets.runs.index_bits,
        "layouts": sets.layouts.index_bits,
        "pairing": sets.pairing_bits,
        "min_sources": COUNT_BITS,
        "max_sources": COUNT_BITS,
        "min_destinations": COUNT_BITS,
        "max_destinations": COUNT_BITS,
        "min_scalars": 2,
        "max_scalars": 2,
        "writes_acc": 1,
        "compares": 1,
        "counts_bytes": 1,
        "moves": 1,
        "roles": DimensionRoles,
    })  # fmt: skip


class OperationLookup(wiring.Component):
    """Requirements of the operation that a BSTART selects, in the same cycle.

    Members
    -------
    engine, mode, function : In
        The selector.
    known : Out(1)
        The selector is assigned; otherwise the requirements mean nothing.
    requirements : Out(requirement_layout(sets))
    """

    def __init__(self, sets: OperationSets):
        self._rows = sets.rows
        super().__init__({
            "engine": In(ENGINE_BITS),
            "mode": In(mode_bits()),
            "function": In(FUNCTION_BITS),
            "known": Out(1),
            "requirements": Out(requirement_layout(sets)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        layout = self.requirements.shape()
        m.d.comb += self.known.eq(1)
        with m.Switch(Cat(self.function, self.mode, self.engine)):
            for row, values in self._rows.items():
                with m.Case((row.engine << mode_bits() | row.mode) << FUNCTION_BITS | row.function):
                    m.d.comb += self.requirements.eq(layout.const(values))
            with m.Default():
                m.d.comb += self.known.eq(0)
        return m
