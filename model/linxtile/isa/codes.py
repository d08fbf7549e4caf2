"""Code tables of the header fields: pads, layouts, modes, queues, destinations, sizes and register names."""

import enum


class Engine(enum.IntEnum):
    """Data engine of a block: the Engine field of BSTART (block type 3, fall through)."""

    MPAR = 0
    MSEQ = 1
    TMA = 2
    TEPL = 3
    VPAR = 4
    VSEQ = 5
    CUBE = 6
    FIXP = 7


class PadValue(enum.IntEnum):
    """What the elements outside the valid area become; absent means NULL, which is executed as ZERO."""

    ZERO = 0
    MAX = 1
    MIN = 2
    NULL = 3

    @property
    def text(self) -> str:
        """Name in assembly."""
        return self.name.capitalize()


class Layout(enum.IntEnum):
    """Order of source and destination: ``XX2YY`` reads order XX and writes order YY."""

    NORM = 0
    ND2DN = 1
    ND2ZZ = 2
    ND2ZN = 3
    ND2NZ = 4
    ND2NN = 5
    DN2ND = 6
    DN2ZZ = 7
    DN2ZN = 8
    DN2NZ = 9
    DN2NN = 10
    ZZ2ND = 11
    ZZ2DN = 12
    ZZ2ZN = 13
    ZZ2NZ = 14
    ZZ2NN = 15
    RESERVED_16 = 16
    ZN2ND = 17
    ZN2DN = 18
    ZN2ZZ = 19
    ZN2NZ = 20
    ZN2NN = 21
    NN2ND = 22
    NN2DN = 23
    NN2ZZ = 24
    NN2ZN = 25
    NN2NZ = 26
    NZ2ND = 27
    NZ2DN = 28
    NZ2ZZ = 29
    NZ2ZN = 30
    NZ2NN = 31

    @property
    def source_order(self) -> str:
        """Order of the source: ND, DN, ZZ, ZN, NZ or NN; ND for NORM."""
        return self.name[:2] if "2" in self.name else "ND"

    @property
    def destination_order(self) -> str:
        """Order of the destination; ND for NORM."""
        return self.name[3:] if "2" in self.name else "ND"


class CompareMode(enum.IntEnum):
    """Relation of TCMP and TCMPS; codes 6 and 7 are reserved."""

    EQ = 0
    NE = 1
    LT = 2
    GT = 3
    LE = 4
    GE = 5


class RoundingMode(enum.IntEnum):
    """Rounding of a conversion; NONE is the default of the operation."""

    NONE = 0
    RNE = 1
    RTZ = 2
    RDN = 3
    RUP = 4
    RNA = 5
    RTO = 6
    RHB = 7


class Queue(enum.IntEnum):
    """Tile queues; a source code is ``16 * queue + index - 1``."""

    T = 0
    U = 1
    M = 2
    N = 3


QUEUE_DEPTH = 16
"""Relative names of a queue, #1 (newest) to #16."""


class Destination(enum.IntEnum):
    """DstTile field of B.IOT. NONE, or a size code of 0, means that the word has no destination."""

    T = 0
    U = 1
    M = 2
    N = 3
    ACC = 4
    STACK = 5
    RESERVED_6 = 6
    NONE = 7


class LoopNest(enum.IntEnum):
    """Dimension that a B.DIM, C.B.DIM or C.B.DIMI sets."""

    LB0 = 0
    LB1 = 1
    LB2 = 2


class SourceForm(enum.IntEnum):
    """Func field of B.IOT: how many of its source slots are used."""

    TWO = 4
    ONE = 5
    ZERO = 6

    @property
    def count(self) -> int:
        """Source tiles of the word: 2, 1 or 0."""
        return SourceForm.ZERO - self


# fmt: off
REGISTERS: tuple[tuple[str, ...], ...] = (
    ("zero", "r0"), ("sp", "r1"),  ("a0", "r2"),  ("a1", "r3"),  ("a2", "r4"),  ("a3", "r5"),
    ("a4", "r6"),   ("a5", "r7"),  ("a6", "r8"),  ("a7", "r9"),  ("ra", "r10"), ("s0", "fp", "r11"),
    ("s1", "r12"),  ("s2", "r13"), ("s3", "r14"), ("s4", "r15"), ("s5", "r16"), ("s6", "r17"),
    ("s7", "r18"),  ("s8", "r19"), ("x0", "r20"), ("x1", "r21"), ("x2", "r22"), ("x3", "r23"),
)
"""Names of each general register, the preferred one first; register 0 reads as zero."""
# fmt: on

REGISTER_COUNT = len(REGISTERS)
REGISTER_BITS = 64
DIMENSION_BITS = 16

MAX_SOURCES = 8
MAX_DESTINATIONS = 8
MAX_SCALAR_INPUTS = 12
MAX_DEPENDENCY_SOURCES = 3
DEPENDENCY_NAMES = 8
"""Tokens that can be named: D#1 to D#8."""

REGISTER_NUMBERS: dict[str, int] = {name: number for number, names in enumerate(REGISTERS) for name in names}


def register_name(number: int) -> str:
    """Return the preferred name of a register."""
    return REGISTERS[number][0]


_QUEUES = tuple(Queue)

SIZE_CODE_BITS = 4


def size_bytes(code: int) -> int:
    """Return the bytes of a destination size code: 0 for code 0, else 16 * 2**code."""
    return 16 << code if code else 0


TILE_SIZES: tuple[int, ...] = tuple(size_bytes(code) for code in range(1 << SIZE_CODE_BITS))
"""Bytes of each size code."""


def size_code(byte_count: int) -> int:
    """Return the code of a tile size in bytes.

    Raises
    ------
    ValueError
        No code has this size.
    """
    try:
        return TILE_SIZES.index(byte_count)
    except ValueError:
        raise ValueError(f"tile size must be 0 or a power of two from 32 to 524288 bytes, not {byte_count!r}") from None


def size_text(byte_count: int) -> str:
    """Return a tile size as assembly writes it: ``256B``, ``2KB``."""
    return f"{byte_count // 1024}KB" if byte_count >= 1024 else f"{byte_count}B"


def source_code(queue: Queue, index: int) -> int:
    """Return the six-bit operand code of a tile name, index 1 to 16."""
    return QUEUE_DEPTH * queue + index - 1


def source_name(code: int) -> tuple[Queue, int]:
    """Return queue and index (1 to 16) of a six-bit operand code."""
    return _QUEUES[code // QUEUE_DEPTH], code % QUEUE_DEPTH + 1
