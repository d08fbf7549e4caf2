"""Fault rules: number, trap, cause, stage and order of every way in which a program can be wrong.

A rule's number is its place in this list, FETCH = 1; rules are only ever appended, so the order of the checks is the
column ``order`` inside the stage, not the number. LinxISA v0.56 leaves most of these choices to the implementation.
"""

import enum
from dataclasses import dataclass


class Trap(enum.IntEnum):
    """Trap number of a fault record."""

    E_INST = 0
    E_DATA = 1
    E_BLOCK = 4


class Stage(enum.IntEnum):
    """When a rule is checked. Inside one block the earlier stage wins, inside a stage the lower order."""

    WORD = 0
    CLOSE = 1
    BIND = 2
    EXECUTE = 3


class ReportedWord(enum.Enum):
    """Which word's address the record carries."""

    WORD = "the word"
    BLOCK_START = "BSTART"
    START_OR_ATTRIBUTES = "BSTART or B.DATR"
    ATTRIBUTES = "B.DATR"
    TILES = "the B.IOT"
    REGISTERS = "B.IOR"
    DEPENDENCIES = "B.IOD"
    LAST_WORD = "last word"


class Rule(enum.IntEnum):
    """Rules by number, as a fault record holds it."""

    FETCH = 1
    ILL_WORD = 2
    ILL_BLOCK_KIND = 3
    ILL_NO_BLOCK = 4
    ILL_OP = 5
    ILL_TYPE = 6
    ILL_LAYOUT = 7
    ILL_DST_QUEUE = 8
    ILL_LOOPNEST = 9
    ILL_GPR = 10
    ILL_DEP = 11
    PARM_REPEAT = 12
    DOUBLESET = 13
    PARM_LAST = 14
    SETUP_LIMIT = 15
    END_OF_STREAM = 16
    PARM_TILES = 17
    PARM_REGS = 18
    ILL_CMODE = 19
    ILL_BYTEID = 20
    UNSUPPORTED = 21
    PARM_ZERO = 22
    TILE_UNREADABLE = 23
    PARM_SIZE = 24
    PARM_SPLIT = 25
    PARM_VALID_COL = 26
    PARM_VALID_ROW = 27
    PARM_ALIGN = 28
    PARM_CAPACITY = 29
    CAPACITY = 30
    MEM_READ = 31
    MEM_WRITE = 32
    WATCHDOG = 33
    PARM_OFFSET = 34

    @property
    def row(self) -> "RuleRow":
        """Row of the rule in :data:`RULES`."""
        return RULES[self - 1]


@dataclass(frozen=True)
class RuleRow:
    """One rule: its record codes, when it is checked, the word it reports, and the trigger in words."""

    rule: Rule
    trap: Trap
    cause: int
    stage: Stage
    order: int
    word: ReportedWord
    trigger: str


def _inst(rule: Rule, stage: Stage, order: int, word: ReportedWord, trigger: str, cause: int = 3) -> RuleRow:
    return RuleRow(rule, Trap.E_INST, cause, stage, order, word, trigger)


def _block(rule: Rule, stage: Stage, order: int, word: ReportedWord, trigger: str, cause: int = 2) -> RuleRow:
    return RuleRow(rule, Trap.E_BLOCK, cause, stage, order, word, trigger)


def _data(rule: Rule, order: int, trigger: str) -> RuleRow:
    return RuleRow(rule, Trap.E_DATA, 7, Stage.EXECUTE, order, ReportedWord.BLOCK_START, trigger)


_WORD, _CLOSE, _BIND = Stage.WORD, Stage.CLOSE, Stage.BIND
_THE_WORD, _START, _TILES = ReportedWord.WORD, ReportedWord.BLOCK_START, ReportedWord.TILES

# fmt: off
RULES: tuple[RuleRow, ...] = (
    _inst(Rule.FETCH, _WORD, 1, _THE_WORD, "bus error fetching a word that is needed", cause=6),
    _inst(Rule.ILL_WORD, _WORD, 2, _THE_WORD,
          "word that matches no format and is no block start; the open block is discarded"),
    _inst(Rule.ILL_BLOCK_KIND, _WORD, 3, _THE_WORD,
          "block start of a kind this core does not run, BSTART.TMA or .CUBE with Mode bits not 0 included; "
          "the open block closes and executes first"),
    _inst(Rule.ILL_NO_BLOCK, _WORD, 4, _THE_WORD,
          "B.* with no tile block open, a tile header word inside a set-up block, LUI/ADDI/SLLI outside one, "
          "B.TEXT in a tile block"),
    _inst(Rule.ILL_OP, _WORD, 5, _START, "reserved Mode/Function; the open block closes and executes first"),
    _inst(Rule.ILL_TYPE, _WORD, 6, ReportedWord.START_OR_ATTRIBUTES,
          "reserved DataType code anywhere; type not in the operation's list or missing where required "
          "(of B.DATR: when the block closes)"),
    _inst(Rule.ILL_LAYOUT, _WORD, 7, ReportedWord.ATTRIBUTES,
          "reserved layout code; layout not supported by the operation (when the block closes)"),
    _inst(Rule.ILL_DST_QUEUE, _WORD, 8, _TILES,
          "DstTile 5 or 6; ACC where a queue is needed or a queue where ACC is needed (when the block closes)"),
    _inst(Rule.ILL_LOOPNEST, _WORD, 9, _THE_WORD, "C.B.DIM with LoopNest above 2"),
    _inst(Rule.ILL_GPR, _WORD, 10, _THE_WORD, "register code above 23; set-up block: destination 0"),
    _inst(Rule.ILL_DEP, _WORD, 11, ReportedWord.DEPENDENCIES, "DepSrc above 8, DepDst above 1"),
    _block(Rule.PARM_REPEAT, _WORD, 12, _THE_WORD,
           "second B.DATR, B.CATR, B.IOD or B.HINT, or second setting of the same LB"),
    _block(Rule.DOUBLESET, _WORD, 13, ReportedWord.REGISTERS,
           "register already among the block's inputs (or outputs)", cause=3),
    _block(Rule.PARM_LAST, _WORD, 14, _TILES,
           "B.IOT after one with L = 1; the last B.IOT had L = 0 (when the block closes, BSTART reported)"),
    _block(Rule.SETUP_LIMIT, _WORD, 15, _THE_WORD, "33rd register write of one set-up block"),
    _inst(Rule.END_OF_STREAM, _WORD, 16, ReportedWord.LAST_WORD,
          "stream ends with a block open, or inside a 32-bit word", cause=0),
    _block(Rule.PARM_TILES, _CLOSE, 1, _START, "number of source or destination tiles does not fit the operation"),
    _block(Rule.PARM_REGS, _CLOSE, 2, _START,
           "needed register missing, more inputs than the operation has, or any output"),
    _inst(Rule.ILL_CMODE, _CLOSE, 3, ReportedWord.ATTRIBUTES, "CMode 6 or 7 in TCMP, TCMPS"),
    _inst(Rule.ILL_BYTEID, _CLOSE, 4, ReportedWord.ATTRIBUTES,
          "ByteId not allowed for the source type in THISTOGRAM"),
    _inst(Rule.UNSUPPORTED, _CLOSE, 5, _START, "operation, layout or type pair that this configuration leaves out"),
    _block(Rule.PARM_ZERO, _CLOSE, 6, _START, "a used LB is set to 0"),
    _block(Rule.TILE_UNREADABLE, _BIND, 1, _TILES,
           "source released, never written or fallen out (sources in header order); ACC empty (BSTART reported)",
           cause=1),
    _block(Rule.PARM_SIZE, _BIND, 2, _TILES, "destination size outside the implemented range (header order)"),
    _block(Rule.PARM_SPLIT, _BIND, 3, _START,
           "several outputs or inputs of unequal size, or Col (ND) / Row (DN) not divisible by their number"),
    _block(Rule.PARM_VALID_COL, _BIND, 4, _START, "ValidCol > Col"),
    _block(Rule.PARM_VALID_ROW, _BIND, 5, _START,
           "ValidRow > Row of any matrix-shaped operand (sources, then destinations), Row = 0 included"),
    _block(Rule.PARM_ALIGN, _BIND, 6, _START,
           "NZ / ZN alignment of a part; odd Col of a part for an x2 type; "
           "matrix operand or ACCCVT rows or columns not the multiple they must be"),
    _block(Rule.PARM_CAPACITY, _BIND, 7, _START,
           "tile too small for a mask, a vector operand, a reduction result, a histogram, a matrix operand, "
           "ACCCVT outputs or ACC; shape that the ACC does not hold"),
    _block(Rule.CAPACITY, _BIND, 8, _START, "no aligned free run in the program-order state"),
    _data(Rule.MEM_READ, 1, "bus error or address out of range on a load; TRAPARG0 = first failing element"),
    _data(Rule.MEM_WRITE, 2, "bus error or address at or above 2^axi_address_bits on a store"),
    _data(Rule.WATCHDOG, 3, "no answer within the configured number of cycles; "
          "TRAPARG0 = address of the oldest outstanding element"),
    _block(Rule.PARM_OFFSET, _BIND, 9, _TILES,
           "offset tile of MGATHER / MSCATTER not written with 2, 4 or 8 byte elements, or a mask"),
)
# fmt: on

if tuple(row.rule for row in RULES) != tuple(Rule):
    raise ValueError("rows of RULES must follow the numbers of Rule")

NO_BLOCK_ADDRESS = (1 << 64) - 1
"""Block address of a record when no block is open."""

SETUP_WRITE_LIMIT = 32
"""Register writes of one set-up block."""
