"""The open block: what header words have said so far, and the rules that are checked when it closes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from linxtile.config import CoreConfig
from linxtile.isa.block import Attributes, Block, HeaderFault, Source, Target
from linxtile.isa.codes import CompareMode, Destination, Layout, PadValue, RoundingMode
from linxtile.isa.faults import Rule
from linxtile.isa.operations import Operation, Shape, Uses
from linxtile.isa.types import NO_TYPE, DataType, data_type

_NO_ATTRIBUTES: Mapping[str, int] = {
    "compare": CompareMode.EQ, "pad": PadValue.NULL, "saturate": 0, "canonical": 0, "data_type": NO_TYPE,
    "rounding": RoundingMode.NONE, "layout": Layout.NORM,
}  # fmt: skip
"""What an absent B.DATR means."""


@dataclass
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
        if Uses.SECOND_TYPE not in self.operation.uses:
            return None
        if self.datr["data_type"] != NO_TYPE:
            return data_type(self.datr["data_type"])
        return self.first_type if self.operation.second_default else None

    def close(self, config: CoreConfig) -> Block | HeaderFault:
        """Check the close rules in their order; return the block or the first rule that it breaks."""
        for check in (self._late_word_rules, self._operand_rules, self._mode_rules):
            broken = check()
            if broken is not None:
                rule, word_address = broken
                return HeaderFault(rule, self.address, word_address)
        if not self._supported(config):
            return HeaderFault(Rule.UNSUPPORTED, self.address, self.address)
        if any(self.lb[place] == 0 for place in range(len(self.operation.dimensions))):
            return HeaderFault(Rule.PARM_ZERO, self.address, self.address)
        return self._block()

    def _late_word_rules(self) -> tuple[Rule, int] | None:
        """Word rules that need the whole block: ILL_TYPE, ILL_LAYOUT, ILL_DST_QUEUE, PARM_LAST."""
        operation = self.operation
        datr_address = self.address if self.datr_address is None else self.datr_address
        if Uses.SECOND_TYPE in operation.uses:
            first, second = self.first_type, self.second_type
            if first is None or second is None or not operation.takes_pair(first.name, second.name):
                return Rule.ILL_TYPE, datr_address
        if not operation.takes_layout(Layout(self.datr["layout"])):
            return Rule.ILL_LAYOUT, datr_address
        for target in self.targets:
            if (target.destination is Destination.ACC) != operation.writes_acc:
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

    def _mode_rules(self) -> tuple[Rule, int] | None:
        """ILL_CMODE and ILL_BYTEID; an absent B.DATR breaks neither."""
        datr_address = self.address if self.datr_address is None else self.datr_address
        if Uses.COMPARE in self.operation.uses and self.datr["compare"] > max(CompareMode):
            return Rule.ILL_CMODE, datr_address
        if Uses.BYTE_ID in self.operation.uses:
            bytes_of_source = (self.first_type or data_type("U8")).storage_bits // 8
            if self.datr["pad"] >= bytes_of_source:
                return Rule.ILL_BYTEID, datr_address
        return None

    def _supported(self, config: CoreConfig) -> bool:
        first = self.first_type
        if first is None or not config.supports(self.operation.name, first.name):
            return False
        if self.operation.shape in (Shape.LOAD, Shape.STORE):
            tiles = max(len(self.sources), len(self.targets))
            return tiles <= config.move_tiles and Layout(self.datr["layout"]).name in config.move_layouts
        return True

    def _dimensions(self) -> tuple[int, int, int]:
        """Fill in the defaults: 1, but the valid columns for absent physical columns."""
        lb0, lb1, lb2 = (1 if value is None else value for value in self.lb)
        if self.lb[2] is None and self.operation.dimensions[2:] == ("columns",):
            lb2 = lb0
        return lb0, lb1, lb2

    def _block(self) -> Block:
        datr, catr, iod = self.datr, self.catr, self.iod or {}
        pads = Uses.BYTE_ID not in self.operation.uses
        return Block(
            address=self.address,
            operation=self.operation,
            data_type=self.first_type,
            second_type=self.second_type,
            layout=Layout(datr["layout"]),
            pad=PadValue(datr["pad"]) if pads else PadValue.NULL,
            byte_id=0 if pads else datr["pad"],
            saturate=bool(datr["saturate"]),
            canonical=bool(datr["canonical"]),
            rounding=RoundingMode(datr["rounding"]),
            compare=datr["compare"],
            lb=self._dimensions(),
            lb_present=(self.lb[0] is not None, self.lb[1] is not None, self.lb[2] is not None),
            scalars=tuple(self.input_values),
            scalar_registers=tuple(self.inputs),
            sources=tuple(self.sources),
            destinations=tuple(self.targets),
            dependency_sources=tuple(iod[name] for name in ("source0", "source1", "source2") if iod.get(name)),
            dependency_destination=bool(iod.get("destination")),
            attributes=Attributes(*(bool(catr[name]) for name in Attributes._fields)) if catr else Attributes(),
        )
