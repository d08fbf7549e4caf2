"""The open block: what header words have said so far, and the rules that are checked when it closes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from linxtile.config import CoreConfig
from linxtile.isa.block import Attributes, Block, HeaderFault, Source, Target
from linxtile.isa.codes import CompareMode, Destination, Layout, PadValue, RoundingMode
from linxtile.isa.faults import Rule
from linxtile.isa.operations import Operation, Shape
from linxtile.isa.types import NO_TYPE, DataType, data_type

_NO_ATTRIBUTES: Mapping[str, int] = {
    "compare": CompareMode.EQ, "pad": PadValue.NULL, "saturate": 0, "canonical": 0, "data_type": NO_TYPE,
    "rounding": RoundingMode.NONE, "layout": Layout.NORM,
}  # fmt: skip
"""What an absent B.DATR means."""

# A table is several times as fast as a call of the enumeration, and every block asks.
_LAYOUTS, _PADS, _ROUNDINGS = tuple(Layout), tuple(PadValue), tuple(RoundingMode)
_NO_CONTROL = Attributes()


@dataclass(slots=True)
class OpenBlock:
    """A tile block between its BSTART and its end."""

    address: int
    operation: Operation
    type_code: int
    datr: Mapping[str, int] = field(default_factory=lambda: _NO_ATTRIBUTES)
    datr_address: int | None = None
    catr: Mapping[str, int] | None = None
    iod: Mapping[str, int] | None = None
    hinted: bool = False
    lb: list[int | None] = field(default_factory=lambda: [None, None, None])
    inputs: list[int] = field(default_factory=list)
    input_values: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    last_tiles: bool | None = None
    """L of the newest B.IOT; None before the first."""

    @property
    def first_type(self) -> DataType | None:
        """Type of BSTART, None for NO_TYPE or an operation without a type."""
        return data_type(self.type_code) if self.operation.needs_type else None

    @property
    def second_type(self) -> DataType | None:
        """Type of B.DATR with the default filled in; None if the operation reads none or has no default."""
        if not self.operation.reads_second_type:
            return None
        if self.datr["data_type"] != NO_TYPE:
            return data_type(self.datr["data_type"])
        return self.first_type if self.operation.second_default else None

    def close(self, config: CoreConfig) -> Block | HeaderFault:
        """Check the close rules in their order; return the block or the first rule that it breaks."""
        first, second = self.first_type, self.second_type
        broken = self._late_word_rules(first, second) or self._operand_rules() or self._mode_rules(first)
        if broken is not None:
            rule, word_address = broken
            return HeaderFault(rule, self.address, word_address)
        if not self._supported(first, config):
            return HeaderFault(Rule.UNSUPPORTED, self.address, self.address)
        if 0 in self.lb[: len(self.operation.dimensions)]:
            return HeaderFault(Rule.PARM_ZERO, self.address, self.address)
        return self._block(first, second)

    @property
    def _attributes_address(self) -> int:
        """Address of B.DATR, of BSTART where there is none."""
        return self.address if self.datr_address is None else self.datr_address

    def _late_word_rules(self, first: DataType | None, second: DataType | None) -> tuple[Rule, int] | None:
        """Word rules that need the whole block: ILL_TYPE, ILL_LAYOUT, ILL_DST_QUEUE, PARM_LAST."""
        operation = self.operation
        if operation.reads_second_type:
            if first is None or second is None or not operation.takes_pair(first.name, second.name):
                return Rule.ILL_TYPE, self._attributes_address
        if not operation.takes_layout(_LAYOUTS[self.datr["layout"]]):
            return Rule.ILL_LAYOUT, self._attributes_address
        for target in self.targets:
            if (target.destination is Destination.ACC) is not operation.writes_acc:
                return Rule.ILL_DST_QUEUE, target.word_address
        if self.last_tiles is False:
            return Rule.PARM_LAST, self.address
        return None

    def _operand_rules(self) -> tuple[Rule, int] | None:
        """PARM_TILES and PARM_REGS."""
        operation = self.operation
        if not operation.min_sources <= len(self.sources) <= operation.max_sources:
            return Rule.PARM_TILES, self.address
        if not operation.min_destinations <= len(self.targets) <= operation.max_destinations:
            return Rule.PARM_TILES, self.address
        if not operation.min_scalars <= len(self.inputs) <= operation.max_scalars or self.outputs:
            return Rule.PARM_REGS, self.address
        return None

    def _mode_rules(self, first: DataType | None) -> tuple[Rule, int] | None:
        """ILL_CMODE and ILL_BYTEID; an absent B.DATR breaks neither."""
        if self.operation.reads_compare and self.datr["compare"] > CompareMode.GE:
            return Rule.ILL_CMODE, self._attributes_address
        if self.operation.reads_byte_id and first is not None and self.datr["pad"] >= first.storage_bits // 8:
            return Rule.ILL_BYTEID, self._attributes_address
        return None

    def _supported(self, first: DataType | None, config: CoreConfig) -> bool:
        if first is None or not config.supports(self.operation.name, first.name):
            return False
        if self.operation.shape in (Shape.LOAD, Shape.STORE):
            tiles = max(len(self.sources), len(self.targets))
            return tiles <= config.move_tiles and _LAYOUTS[self.datr["layout"]].name in config.move_layouts
        return True

    def _dimensions(self) -> tuple[int, int, int]:
        """Fill in the defaults: 1, but the valid columns for absent physical columns."""
        lb0, lb1, lb2 = self.lb
        if lb0 is None:
            lb0 = 1
        if lb2 is None:
            lb2 = lb0 if self.operation.dimensions[2:] == ("columns",) else 1
        return lb0, 1 if lb1 is None else lb1, lb2

    def _block(self, first: DataType | None, second: DataType | None) -> Block:
        datr, lb = self.datr, self.lb
        pads = not self.operation.reads_byte_id
        return Block(
            address=self.address,
            operation=self.operation,
            data_type=first,
            second_type=second,
            layout=_LAYOUTS[datr["layout"]],
            pad=_PADS[datr["pad"]] if pads else PadValue.NULL,
            byte_id=0 if pads else datr["pad"],
            saturate=bool(datr["saturate"]),
            canonical=bool(datr["canonical"]),
            rounding=_ROUNDINGS[datr["rounding"]],
            compare=datr["compare"],
            lb=self._dimensions(),
            lb_present=(lb[0] is not None, lb[1] is not None, lb[2] is not None),
            scalars=tuple(self.input_values),
            scalar_registers=tuple(self.inputs),
            sources=tuple(self.sources),
            destinations=tuple(self.targets),
            dependency_sources=self._dependency_sources(),
            dependency_destination=self.iod is not None and bool(self.iod["destination"]),
            attributes=self._attributes(),
        )

    def _dependency_sources(self) -> tuple[int, ...]:
        iod = self.iod
        if iod is None:
            return ()
        return tuple(iod[name] for name in ("source0", "source1", "source2") if iod[name])

    def _attributes(self) -> Attributes:
        catr = self.catr
        return Attributes(*(bool(catr[name]) for name in Attributes._fields)) if catr is not None else _NO_CONTROL
