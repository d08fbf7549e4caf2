"""A program with what must come of it, calculated by the test itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from linxtile.asm import assemble
from linxtile.config import CoreConfig
from linxtile.flags import Flag
from linxtile.isa.codes import REGISTER_NUMBERS
from linxtile.isa.faults import Rule
from linxtile_sim.cosim import Outcome, run_scenarios
from linxtile_sim.scenario import Pace, Scenario

PROGRAM, INPUT, SECOND, OUTPUT = 0x8000, 0x2_0000, 0x4_0000, 0x6_0000


@dataclass(frozen=True)
class Trap:
    """A program, what it finds in memory, and what must come of it: bytes by address, tile bases, flags, fault, bursts."""

    name: str
    text: str
    memory: dict[int, bytes] = field(default_factory=dict)
    registers: dict[str, int] = field(default_factory=dict)
    expected: dict[int, bytes] = field(default_factory=dict)
    bases: tuple[int, ...] | None = None
    flags: Flag = Flag(0)
    fault: Rule | None = None
    bursts: tuple[int, int] | None = None

    def scenario(self, pace: Pace) -> Scenario:
        """Return the program at a pace of the memory."""
        image = assemble(self.text, address=PROGRAM, allow_faults=True).image
        registers = {REGISTER_NUMBERS[name]: value for name, value in self.registers.items()}
        return Scenario(self.name, image, PROGRAM, registers, self.memory, pace=pace)

    def check(self, outcome: Outcome) -> None:
        """Compare a run in which model and core agreed with what must come of it."""
        assert outcome.report is not None
        result = outcome.report.result
        assert (result.fault.rule if result.fault else None) == self.fault, self.name
        assert self.bursts in (None, outcome.report.bursts), f"{self.name}: bursts {outcome.report.bursts}"
        assert result.flags == self.flags, f"{self.name}: flags {result.flags!r}"
        if self.bases is not None:
            bases = tuple(tile.base for block in result.blocks for tile in block.new_tiles.values())
            assert bases == self.bases, f"{self.name}: tiles at {bases}"
        after: dict[int, int] = {}
        for address, content in [*self.memory.items(), *(write for block in result.blocks for write in block.writes)]:
            after.update(enumerate(content, address))
        for address, content in self.expected.items():
            for place, byte in enumerate(content, address):
                assert after.get(place, 0) == byte, (
                    f"{self.name}: byte {place:#x} is {after.get(place, 0):#x}, not {byte:#x}"
                )


def little(values: Sequence[int], size: int) -> bytes:
    """Return elements of ``size`` bytes, modulo their width."""
    return b"".join((value % (1 << 8 * size)).to_bytes(size, "little") for value in values)


def tile_size(count: int) -> str:
    """Return the smallest tile of this many bytes, as the assembler writes it."""
    size = 256
    while size < count:
        size *= 2
    return f"{size}B" if size < 1024 else f"{size // 1024}KB"


def run_and_check(traps: Sequence[Trap], config: CoreConfig, paces: Sequence[Pace], **more: object) -> None:
    """Run every trap at every pace; model and core must agree, and give what the formulas say."""
    scenarios = [trap.scenario(pace) for trap in traps for pace in paces]
    outcomes, _ = run_scenarios(scenarios, config, **more)  # type: ignore[arg-type]
    complaints = [outcome.complaint for outcome in outcomes if not outcome.agrees]
    assert not complaints, complaints[0]
    assert len(outcomes) == len(scenarios)
    for trap, outcome in zip((trap for trap in traps for _ in paces), outcomes, strict=True):
        trap.check(outcome)
