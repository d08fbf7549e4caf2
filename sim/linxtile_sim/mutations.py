"""Illegal programs: legal ones with words changed at random, and one block built to break each rule."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from linxtile.config import CoreConfig
from linxtile.isa.codes import Destination, Layout, PadValue, Queue, SourceForm, size_bytes, size_code, source_code
from linxtile.isa.faults import SETUP_WRITE_LIMIT, Rule
from linxtile.isa.operations import OPERATIONS, operation
from linxtile.isa.types import NO_TYPE, data_type
from linxtile.isa.words import WORDS, encode_word
from linxtile.memory import PAGE_BYTES

from .builder import Builder
from .move_programs import BASE_REGISTER
from .programs import INPUT_BASE, OUTPUT_BASE, random_program
from .scenario import Scenario

__all__ = ["BREAKERS", "breakable", "breaking_program", "mutated_program"]

Breaker = Callable[[Builder], None]


def mutated_program(seed: int, config: CoreConfig) -> Scenario:
    """Return a legal program in which one to three words were changed, removed, swapped or invented."""
    rng = random.Random(seed)
    legal = random_program(seed, config, blocks=8, largest=1024)
    image = bytearray(legal.image)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(image) // 2) * 2
        kind = rng.randrange(6)
        if kind == 0:
            image[at + rng.randrange(2)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            image[at : at + 4] = _random_word(rng)
        elif kind == 2 and len(image) > 8:
            del image[at : at + rng.choice([2, 4])]
        elif kind == 3:
            other = rng.randrange(max(len(image) // 2 - 1, 1)) * 2
            image[at : at + 4], image[other : other + 4] = image[other : other + 4], image[at : at + 4]
        elif kind == 4:
            image[at:at] = _random_word(rng)
        else:
            image[at : at + 4] = image[:4] if rng.random() < 0.1 else rng.randbytes(4)
    errors = tuple(rng.choice([(), (), (INPUT_BASE + 2 * PAGE_BYTES,), (OUTPUT_BASE + PAGE_BYTES,)]))
    return replace(legal, name=f"mutated program {seed}", image=bytes(image[: len(image) & ~1]), error_pages=errors)


def _random_word(rng: random.Random) -> bytes:
    """Return a word of a random format with random field values."""
    row = rng.choice(WORDS)
    word = row.match
    for entry in row.fields:
        value = rng.choice(entry.allowed) if entry.allowed else rng.getrandbits(entry.width)
        word |= entry.insert(value)
    return word.to_bytes(row.bits // 8, "little")


def breaking_program(rule: Rule, seed: int, config: CoreConfig) -> Scenario:
    """Return a program whose last executed block breaks ``rule``, with older blocks before it and younger ones behind.

    Raises
    ------
    KeyError
        No block can break the rule.
    """
    rng = random.Random(seed)
    legal = random_program(seed, config, blocks=8, largest=1024)
    builder = Builder(config, rng)
    errors: tuple[int, ...] = ()
    BREAKERS[rule](builder)
    broken = b"".join(word.to_bytes(bits // 8, "little") for word, bits in builder.words)
    younger = random_program(seed + 1, config, blocks=3, largest=512).image
    older = legal.image[:-4]
    image = older + broken + younger
    if rule is Rule.END_OF_STREAM:
        image = older + broken
    if rule in (Rule.MEM_READ, Rule.MEM_WRITE):
        errors = (_ERROR_PAGE,)
    address = legal.address
    if rule is Rule.FETCH:
        # The first word on the page behind the older blocks cannot be fetched.
        address = _ERROR_PAGE - (len(older) & ~3)
        errors = (_ERROR_PAGE,)
    return replace(legal, name=f"{rule.name} program {seed}", image=image, address=address, error_pages=errors)


_ERROR_PAGE = 0x6_0000
_FP32 = data_type("FP32").code
_S32 = data_type("S32").code
_RESERVED_TYPE = 15
_BLOCK = 256
_FRACTAL = 512


def _tepl(builder: Builder, name: str, type_code: int = _FP32) -> None:
    row = operation(name)
    builder.word("BSTART.TEPL", mode=row.mode, function=row.function, data_type=type_code)


def _expand(builder: Builder, size: int = _BLOCK) -> None:
    """Append the body of a legal TEXPANDS but for what the caller has added."""
    builder.word("B.IOR", source0=12)
    builder.word("B.IOT", form=SourceForm.ZERO, last=1, destination=Queue.T, size=size_code(size))


def _word_in_block(**words: Mapping[str, int]) -> Breaker:
    """Return a breaker that puts header words into a TEXPANDS block."""

    def build(builder: Builder) -> None:
        _tepl(builder, "TEXPANDS")
        for name, values in words.items():
            builder.word(name.split("__")[0].replace("_", "."), **values)
        _expand(builder)

    return build


def _raw(builder: Builder, word: int, bits: int = 32) -> None:
    builder.words.append((word, bits))


def _ill_word(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS")
    _raw(builder, encode_word("BSTOP") | 1 << builder.rng.randint(15, 31))


def _ill_block_kind(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS", _S32)
    _expand(builder)
    _raw(
        builder,
        *builder.rng.choice(
            [(0x00001001 | 1 << 7, 32), (0x00000011, 32), (0x0802, 16), (0x00039181, 32), (0x02011181, 32)]
        ),
    )


def _ill_no_block(builder: Builder) -> None:
    builder.word("BSTOP")
    builder.word("B.DIM", loop=0, register=0, immediate=3)


def _ill_op(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS", _S32)
    _expand(builder)
    taken = {
        row.function for row in OPERATIONS if row.name.startswith("T") and row.mode == 2 and row.engine.name == "TEPL"
    }
    free = [function for function in range(32) if function not in taken]
    builder.word("BSTART.TEPL", mode=2, function=builder.rng.choice(free), data_type=_FP32)


def _ill_type(builder: Builder) -> None:
    match builder.rng.randrange(3):
        case 0:
            _tepl(builder, "TEXPANDS", _RESERVED_TYPE)
        case 1:
            _tepl(builder, "TAND", _FP32)
            _expand(builder)
        case _:
            _tepl(builder, "TEXPANDS")
            builder.word("B.DATR", data_type=_RESERVED_TYPE, pad=3)


def _ill_layout(builder: Builder) -> None:
    layout = builder.rng.choice([Layout.RESERVED_16, Layout.NN2ZZ])
    builder.word("BSTART.TMA", function=operation("TLOAD").function, data_type=_FP32)
    builder.word("B.DATR", layout=layout, data_type=NO_TYPE, pad=3)
    _expand(builder)


def _ill_dst_queue(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS")
    builder.word("B.IOR", source0=12)
    destination = builder.rng.choice([Destination.ACC, Destination.STACK, Destination.RESERVED_6])
    builder.word("B.IOT", form=SourceForm.ZERO, last=1, destination=destination, size=size_code(_BLOCK))


def _setup_limit(builder: Builder) -> None:
    builder.word("BSTART.STD FALL")
    for _ in range(SETUP_WRITE_LIMIT + 1):
        builder.word("ADDI", source=0, immediate=builder.rng.randrange(4096), destination=builder.rng.randint(1, 23))


def _doubleset(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS")
    builder.word("B.IOR", source0=9, source1=9)


def _parm_last(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS")
    builder.word("B.IOR", source0=12)
    first = builder.rng.randrange(2)
    builder.word("B.IOT", form=SourceForm.ZERO, last=first, destination=Queue.T, size=size_code(_BLOCK))
    if first:
        builder.word("B.IOT", form=SourceForm.ZERO, last=1, destination=Queue.T, size=size_code(_BLOCK))


def _parm_tiles(builder: Builder) -> None:
    _tepl(builder, builder.rng.choice(["TADD", "TABS", "TROWSUM"]), _S32)
    builder.word("B.IOT", form=SourceForm.ZERO, last=1, destination=Queue.T, size=size_code(_BLOCK))


def _parm_regs(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS")
    if builder.rng.random() < 0.5:
        builder.word("B.IOR", source0=12, source1=13)
    builder.word("B.IOT", form=SourceForm.ZERO, last=1, destination=Queue.T, size=size_code(_BLOCK))


def _ill_cmode(builder: Builder) -> None:
    _tepl(builder, "TCMP")
    builder.word("B.DATR", compare=builder.rng.choice([6, 7]), data_type=NO_TYPE, pad=3)
    builder.word("B.IOT", form=SourceForm.TWO, last=1, destination=Queue.T, size=size_code(_BLOCK), source1=1)


def _ill_byteid(builder: Builder) -> None:
    _tepl(builder, "THISTOGRAM", data_type("U16").code)
    builder.word("B.DATR", data_type=data_type("U32").code, pad=builder.rng.choice([2, 3]))
    builder.word("B.IOT", form=SourceForm.TWO, last=1, destination=Queue.T, size=size_code(1024), source1=1)


def _unsupported(builder: Builder) -> None:
    _tepl(builder, builder.rng.choice(["TEXP", "TSQRT", "TLOG"]))
    builder.word("B.IOT", form=SourceForm.ONE, last=1, destination=Queue.T, size=size_code(_BLOCK))


def _parm_zero(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS")
    builder.word("B.DIM", loop=builder.rng.randrange(3), register=0, immediate=builder.rng.choice([0, 65536]))
    _expand(builder)


def _tile_unreadable(builder: Builder) -> None:
    """Release every name of N, then read one."""
    _tepl(builder, "TEXPANDS")
    builder.word("B.IOR", source0=12)
    builder.word("B.IOT", form=SourceForm.ZERO, last=1, destination=Queue.N, size=size_code(_BLOCK))
    for _ in range(2):
        _tepl(builder, "TADD")
        builder.word("B.IOT", form=SourceForm.TWO, last=1, destination=Queue.M, size=size_code(_BLOCK),
                     source0=source_code(Queue.N, 1), source1=source_code(Queue.N, 1))  # fmt: skip


def _parm_size(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS")
    config = builder.config
    builder.word("B.IOR", source0=12)
    sizes = [
        size for size in map(size_bytes, range(1, 16)) if not config.tile_min_bytes <= size <= config.tile_max_bytes
    ]
    builder.word("B.IOT", form=SourceForm.ZERO, last=1, destination=Queue.T, size=size_code(builder.rng.choice(sizes)))


def _parm_capacity(builder: Builder) -> None:
    """A reduction result that does not fit: 4000 rows of one 4-byte element would need more than 256 bytes."""
    _tepl(builder, "TEXPANDS", data_type("S8").code)
    builder.word("B.IOR", source0=12)
    builder.word("B.IOT", form=SourceForm.ZERO, last=1, destination=Queue.N, size=size_code(512))
    _tepl(builder, "TROWMAX", data_type("S8").code)
    builder.dimensions(1, builder.rng.randint(257, 512), 1)
    builder.word("B.IOT", form=SourceForm.ONE, last=1, destination=Queue.M, size=size_code(_BLOCK),
                 source0=source_code(Queue.N, 1))  # fmt: skip


def _parm_split(builder: Builder) -> None:
    """A load of two tiles that differ in size, or share an odd number of columns."""
    size, columns = builder.rng.choice([(2 * _BLOCK, 4), (_BLOCK, 5)])
    builder.set_registers({BASE_REGISTER: INPUT_BASE})
    builder.word("BSTART.TMA", function=operation("TLOAD").function, data_type=data_type("U8").code)
    builder.dimensions(3, 2, columns)
    builder.word("B.IOR", source0=BASE_REGISTER)
    builder.tile_words([], [(Queue.T, _BLOCK), (Queue.U, size)])


def _parm_align(builder: Builder) -> None:
    """A load with rows that begin in the middle of a byte, or into fractals that are not whole."""
    rng = builder.rng
    layout, type_name, columns, size = rng.choice([
        (Layout.NORM, "S4x2", 2 * rng.randrange(2, 9) + 1, 256),
        (Layout.ND2NZ, "FP32", 8 * rng.choice([3, 5, 6, 7]), 1024),
        (Layout.ND2NZ, "FP32", rng.choice([4, 7, 9, 15]), 1024),
        (Layout.DN2ZN, "U8", 16 * rng.choice([3, 5, 6, 7]), 4096),
        (Layout.DN2ZN, "U8", rng.choice([3, 8, 17, 24]), 4096),
    ])  # fmt: skip
    builder.set_registers({BASE_REGISTER: INPUT_BASE})
    builder.word("BSTART.TMA", function=operation("TLOAD").function, data_type=data_type(type_name).code)
    if layout is not Layout.NORM:
        builder.word("B.DATR", layout=layout, data_type=NO_TYPE, pad=PadValue.NULL)
    builder.dimensions(3, 2, columns)
    builder.word("B.IOR", source0=BASE_REGISTER)
    builder.word("B.IOT", form=SourceForm.ZERO, last=1, destination=Queue.T, size=size_code(size))


def _capacity(builder: Builder) -> None:
    """Fill the tile RAM with tiles of the largest size, all of them kept."""
    config = builder.config
    for number in range(config.tile_ram_bytes // config.tile_max_bytes + 1):
        _tepl(builder, "TEXPANDS")
        builder.word("B.IOR", source0=12)
        builder.word(
            "B.IOT", form=SourceForm.ZERO, last=1, destination=number % 4, size=size_code(config.tile_max_bytes)
        )


def _memory(name: str) -> Breaker:
    """Return a breaker whose move runs into the error page, or beyond the bus."""

    def build(builder: Builder) -> None:
        beyond = 1 << builder.config.axi_address_bits
        reach = builder.rng.randint(1, 120)
        base = builder.rng.choice([_ERROR_PAGE - reach, _ERROR_PAGE - reach, beyond - reach])
        _tepl(builder, "TEXPANDS")
        _expand(builder, 256)
        builder.set_registers({BASE_REGISTER: base})
        builder.word("BSTART.TMA", function=operation(name).function, data_type=_FP32)
        layout = builder.rng.choice([Layout.NORM, Layout.ND2NZ, Layout.DN2ZN]) if name == "TLOAD" else Layout.NORM
        if layout is not Layout.NORM:
            builder.word("B.DATR", layout=layout, data_type=NO_TYPE, pad=PadValue.NULL)
        builder.dimensions(8, 4, 16 if layout is Layout.DN2ZN else 8)
        builder.word("B.IOR", source0=BASE_REGISTER)
        if name == "TLOAD":
            size = _BLOCK if layout is Layout.NORM else _FRACTAL
            builder.word("B.IOT", form=SourceForm.ZERO, last=1, destination=Queue.T, size=size_code(size))
        else:
            builder.word("B.IOT", form=SourceForm.ONE, last=1, destination=Destination.NONE, source0=0)

    return build


def _valid_column(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS")
    columns = builder.rng.randint(1, 8)
    builder.dimensions(columns + builder.rng.randint(1, 5), 1, columns)
    _expand(builder)


def _valid_row(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS")
    builder.dimensions(8, builder.rng.randint(9, 60000), 8)
    _expand(builder)


def _end_of_stream(builder: Builder) -> None:
    _tepl(builder, "TEXPANDS")
    if builder.rng.random() < 0.5:
        _raw(builder, encode_word("BSTOP") & 0xFFFF, 16)


BREAKERS: dict[Rule, Breaker] = {
    Rule.FETCH: lambda builder: _word_in_block(B_HINT={})(builder),
    Rule.ILL_WORD: _ill_word,
    Rule.ILL_BLOCK_KIND: _ill_block_kind,
    Rule.ILL_NO_BLOCK: _ill_no_block,
    Rule.ILL_OP: _ill_op,
    Rule.ILL_TYPE: _ill_type,
    Rule.ILL_LAYOUT: _ill_layout,
    Rule.ILL_DST_QUEUE: _ill_dst_queue,
    Rule.ILL_LOOPNEST: _word_in_block(C_B_DIM={"loop": 5, "register": 3}),
    Rule.ILL_GPR: _word_in_block(B_DIM={"loop": 0, "register": 27, "immediate": 1}),
    Rule.ILL_DEP: _word_in_block(B_IOD={"source1": 9}),
    Rule.PARM_REPEAT: _word_in_block(B_HINT__1={}, B_HINT__2={}),
    Rule.DOUBLESET: _doubleset,
    Rule.PARM_LAST: _parm_last,
    Rule.SETUP_LIMIT: _setup_limit,
    Rule.END_OF_STREAM: _end_of_stream,
    Rule.PARM_TILES: _parm_tiles,
    Rule.PARM_REGS: _parm_regs,
    Rule.ILL_CMODE: _ill_cmode,
    Rule.ILL_BYTEID: _ill_byteid,
    Rule.UNSUPPORTED: _unsupported,
    Rule.PARM_ZERO: _parm_zero,
    Rule.TILE_UNREADABLE: _tile_unreadable,
    Rule.PARM_SIZE: _parm_size,
    Rule.PARM_SPLIT: _parm_split,
    Rule.PARM_VALID_COL: _valid_column,
    Rule.PARM_VALID_ROW: _valid_row,
    Rule.PARM_ALIGN: _parm_align,
    Rule.PARM_CAPACITY: _parm_capacity,
    Rule.CAPACITY: _capacity,
    Rule.MEM_READ: _memory("TLOAD"),
    Rule.MEM_WRITE: _memory("TSTORE"),
}
"""For each rule that one block can break, what writes such a block."""


def breakable(config: CoreConfig) -> list[Rule]:
    """Return the rules that a block of a configuration can break: moves of one tile have nothing to split."""
    return [rule for rule in BREAKERS if rule is not Rule.PARM_SPLIT or config.move_tiles > 1]
