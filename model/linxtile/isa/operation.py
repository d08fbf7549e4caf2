"""What a row of the operation tables says: :class:`Operation` and its shape families."""

import enum
from dataclasses import dataclass
from functools import cached_property

from linxtile.isa.codes import Engine, Layout
from linxtile.isa.types import data_type


class Shape(enum.Enum):
    """Family of an operation: what its tiles look like and which checks they need."""

    ELEMENTWISE = "elementwise"
    SCALAR_EXPAND = "scalar_expand"
    MASK_RESULT = "mask_result"
    SELECT = "select"
    CONVERT = "convert"
    ROW_REDUCE = "row_reduce"
    COLUMN_REDUCE = "column_reduce"
    ROW_EXPAND = "row_expand"
    ROW_EXPAND_OP = "row_expand_op"
    COLUMN_EXPAND = "column_expand"
    COLUMN_EXPAND_OP = "column_expand_op"
    HISTOGRAM = "histogram"
    STATE = "state"
    LOAD = "load"
    STORE = "store"
    MOVE = "move"
    GATHER = "gather"
    SCATTER = "scatter"
    MATMUL = "matmul"
    GEMV = "gemv"
    ACC_CONVERT = "acc_convert"


class Uses(enum.Flag):
    """Fields of B.DATR that an operation reads; the others may hold any legal code."""

    NOTHING = 0
    LAYOUT = enum.auto()
    PAD = enum.auto()
    SECOND_TYPE = enum.auto()
    ROUNDING = enum.auto()
    SATURATE = enum.auto()
    CANONICAL = enum.auto()
    COMPARE = enum.auto()
    BYTE_ID = enum.auto()


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes
    ----------
    number : int
        Place in :data:`linxtile.isa.operations.OPERATIONS`; the RTL's operation code.
    sources : tuple of str
        Roles of the source tiles in header order, all that the operation can take.
    min_sources, max_sources, min_scalars, max_scalars, min_destinations, max_destinations : int
        Tiles and B.IOR inputs the operation takes. A destination may be the ACC (``writes_acc``).
    source_types : tuple of str or None
        Types allowed in BSTART; None: no type, any code but the reserved ones.
    second_types : tuple of str or None
        Types allowed in B.DATR; None: the field is ignored.
    second_default : bool
        Without a second type the operation uses the BSTART type; otherwise it is a fault.
    type_pairs : frozenset of (str, str) or None
        Legal pairs (BSTART, B.DATR) where not every combination of the two lists is legal.
    layouts : tuple of Layout or None
        Layouts supported by the ISA; None: the field is ignored.
    dimensions : tuple of str
        Roles of LB0, LB1, LB2; a used dimension that is set to 0 is a fault.
    """

    name: str
    engine: Engine
    mode: int
    function: int
    number: int
    shape: Shape
    semantics: str
    aliases: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    min_sources: int = 0
    max_sources: int = 0
    min_scalars: int = 0
    max_scalars: int = 0
    min_destinations: int = 1
    max_destinations: int = 1
    source_types: tuple[str, ...] | None = None
    second_types: tuple[str, ...] | None = None
    second_default: bool = True
    type_pairs: frozenset[tuple[str, str]] | None = None
    layouts: tuple[Layout, ...] | None = None
    uses: Uses = Uses.PAD
    dimensions: tuple[str, ...] = ("valid_columns", "valid_rows", "columns")
    writes_acc: bool = False
    reads_acc: bool = False

    @property
    def needs_type(self) -> bool:
        """Whether BSTART must name a type."""
        return self.source_types is not None

    @property
    def page(self) -> str:
        """Page of the LinxISA v0.56 manual that defines the operation."""
        return f"LinxISA v0.56, {self.engine.name} block, {self.name}"

    @cached_property
    def _source_codes(self) -> frozenset[int]:
        return frozenset(data_type(name).code for name in self.source_types or ())

    @cached_property
    def reads_second_type(self) -> bool:
        """Whether the operation reads DataType of B.DATR."""
        return Uses.SECOND_TYPE in self.uses

    @cached_property
    def reads_compare(self) -> bool:
        """Whether the operation reads CMode of B.DATR."""
        return Uses.COMPARE in self.uses

    @cached_property
    def reads_byte_id(self) -> bool:
        """Whether the operation reads ByteId of B.DATR, which takes the place of PadValue."""
        return Uses.BYTE_ID in self.uses

    @cached_property
    def columns_place(self) -> int:
        """Number of the LB that holds the physical columns."""
        return self.dimensions.index("columns")

    @cached_property
    def valid_columns_place(self) -> int:
        """Number of the LB that holds the valid columns, or the columns where there is no such dimension."""
        return self.dimensions.index("valid_columns" if "valid_columns" in self.dimensions else "columns")

    @cached_property
    def valid_rows_place(self) -> int:
        """Number of the LB that holds the valid rows, or the rows where there is no such dimension."""
        return self.dimensions.index("valid_rows" if "valid_rows" in self.dimensions else "rows")

    def takes_type(self, code: int) -> bool:
        """Whether a legal type code of BSTART is in the operation's list."""
        return self.source_types is None or code in self._source_codes

    def takes_layout(self, layout: Layout) -> bool:
        """Whether the ISA supports the layout; operations that ignore the field take every one."""
        return self.layouts is None or layout in self.layouts

    def takes_pair(self, first: str, second: str) -> bool:
        """Whether the two types may stand in BSTART and B.DATR (both resolved, no default left)."""
        if self.second_types is None:
            return True
        if self.type_pairs is not None:
            return (first, second) in self.type_pairs
        return second in self.second_types
