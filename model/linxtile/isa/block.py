"""The description of a block: what the decoder hands to the rest of the machine, here and in the RTL."""

from dataclasses import dataclass
from typing import NamedTuple

from linxtile.isa.codes import Destination, Layout, PadValue, Queue, RoundingMode
from linxtile.isa.faults import Rule
from linxtile.isa.operations import Operation
from linxtile.isa.types import DataType


class Source(NamedTuple):
    """A source tile: queue, index (``#1`` is 1), reuse flag and the address of its B.IOT."""

    queue: Queue
    index: int  # type: ignore[assignment]  # hides tuple.index, which a source has no use for
    reuse: bool
    word_address: int


class Target(NamedTuple):
    """A destination tile: queue or ACC, size and the address of its B.IOT."""

    destination: Destination
    size_code: int
    size_bytes: int
    word_address: int


class Attributes(NamedTuple):
    """Control attributes of B.CATR; the ones without meaning for tile blocks are not kept."""

    acquire: bool = False
    release: bool = False
    atomic: bool = False
    trap: bool = False


class Block(NamedTuple):
    """A closed tile block that has passed every word and close rule.

    Attributes
    ----------
    address : int
        Byte address of its BSTART.
    data_type : DataType or None
        Type of BSTART; None for an operation without a type.
    second_type : DataType or None
        Type of B.DATR with the default filled in; None where the operation reads none.
    pad, layout, saturate, canonical, rounding, compare : code
        Fields of B.DATR, absent ones with their defaults. For THISTOGRAM ``byte_id`` takes the place of ``pad``.
    lb, lb_present : tuple of 3
        LB0 to LB2 with the defaults filled in, and whether the program set them.
    scalars, scalar_registers : tuple of int
        Inputs of B.IOR in header order: values at decode, register numbers.
    dependency_sources : tuple of int
        Token names 1 to 8; 0 fields are left out.
    """

    address: int
    operation: Operation
    data_type: DataType | None
    second_type: DataType | None
    layout: Layout
    pad: PadValue
    byte_id: int
    saturate: bool
    canonical: bool
    rounding: RoundingMode
    compare: int
    lb: tuple[int, int, int]
    lb_present: tuple[bool, bool, bool]
    scalars: tuple[int, ...]
    scalar_registers: tuple[int, ...]
    sources: tuple[Source, ...]
    destinations: tuple[Target, ...]
    dependency_sources: tuple[int, ...]
    dependency_destination: bool
    attributes: Attributes

    def dimension(self, role: str) -> int:
        """Return the dimension of a role such as ``"columns"``; a role that the operation lacks is an error."""
        return self.lb[self.operation.dimensions.index(role)]

    @property
    def columns(self) -> int:
        """Physical columns; for ACCCVT the columns that are converted."""
        return self.lb[self.operation.columns_place]

    @property
    def valid_columns(self) -> int:
        """Valid columns; all of them where the operation has no such dimension (masked gather and scatter, ACCCVT)."""
        return self.lb[self.operation.valid_columns_place]

    @property
    def valid_rows(self) -> int:
        """Valid rows; all rows where the operation has no such dimension."""
        return self.lb[self.operation.valid_rows_place]


@dataclass(frozen=True)
class SetupBlock:
    """A closed set-up block: its register writes ``(register, value)`` in program order."""

    address: int
    writes: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class HeaderFault:
    """A word or close rule that a program breaks; nothing follows it.

    ``block_address`` is all ones when no block is open.
    """

    rule: Rule
    block_address: int
    word_address: int


Item = Block | SetupBlock | HeaderFault
"""What the decoder yields."""
