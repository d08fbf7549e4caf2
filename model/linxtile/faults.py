"""Fault records: what a program sees of the rule that ended it."""

from dataclasses import dataclass

from linxtile.isa.faults import Rule, Stage


@dataclass(frozen=True, slots=True)
class FaultRecord:
    """The record that a fault leaves.

    Attributes
    ----------
    rule : Rule
        The rule that was broken; its value is the rule's number.
    block : int
        Byte address of the block's BSTART; all ones when no block was open.
    word : int
        Byte address of the reported word.
    traparg0 : int
        Address of the first failing element for a memory fault, else 0.
    """

    rule: Rule
    block: int
    word: int
    traparg0: int = 0

    @property
    def number(self) -> int:
        """Number of the rule."""
        return int(self.rule)

    @property
    def trap(self) -> int:
        """Trap number."""
        return int(self.rule.row.trap)

    @property
    def cause(self) -> int:
        """Cause within the trap."""
        return self.rule.row.cause

    @property
    def stage(self) -> Stage:
        """Stage that found it."""
        return self.rule.row.stage

    def as_dict(self) -> dict[str, str | int]:
        """Return the record for JSON: names for the rule and the stage, integers for the rest."""
        return {
            "rule": self.rule.name,
            "number": self.number,
            "stage": self.stage.name.lower(),
            "trap": self.trap,
            "cause": self.cause,
            "block": self.block,
            "word": self.word,
            "traparg0": self.traparg0,
        }

    def __str__(self) -> str:
        where = f"block {self.block:#x}, word {self.word:#x}"
        argument = f", address {self.traparg0:#x}" if self.stage is Stage.EXECUTE else ""
        return (
            f"{self.rule.name} ({self.rule.row.trap.name}/{self.cause}) at {where}{argument}: {self.rule.row.trigger}"
        )


class BlockFault(Exception):
    """Raised while a block is bound or executed; nothing of the machine has changed yet.

    ``word`` is the address of the reported word, None for the block's BSTART.
    """

    def __init__(self, rule: Rule, word: int | None = None, traparg0: int = 0):
        super().__init__(rule.name)
        self.rule = rule
        self.word = word
        self.traparg0 = traparg0

    def record(self, block: int) -> FaultRecord:
        """Return the record of this fault in the block at ``block``."""
        return FaultRecord(self.rule, block, block if self.word is None else self.word, self.traparg0)
