"""What can be seen to be illegal before a program runs: word and close rules, and the columns that are plain numbers."""

from collections.abc import Iterator, MutableSequence
from dataclasses import dataclass
from functools import cache

from linxtile.config import CoreConfig
from linxtile.decoder import Decoder
from linxtile.dis_words import block_operation
from linxtile.fetch import Word
from linxtile.isa.block import Block, HeaderFault
from linxtile.isa.codes import MAX_DESTINATIONS, REGISTER_COUNT, Layout
from linxtile.isa.faults import NO_BLOCK_ADDRESS, Rule
from linxtile.isa.operations import OPERATIONS
from linxtile.isa.words import decode_word, encode_word, is_block_start

_CLOSING = Word(encode_word("BSTOP"), 32, NO_BLOCK_ADDRESS - 1)


@dataclass(frozen=True)
class Illegal:
    """A rule that a program breaks, and the address of the word to blame."""

    rule: Rule
    word_address: int
    message: str


@cache
def _everything() -> CoreConfig:
    """Configuration that leaves nothing out: only the ISA decides."""
    return CoreConfig(
        operations={row.name: frozenset(row.source_types or ()) for row in OPERATIONS},
        move_tiles=MAX_DESTINATIONS,
        move_layouts=frozenset(layout.name for layout in Layout),
    )


def check(words: list[Word]) -> Iterator[Illegal]:
    """Yield what is wrong with each block; the value of a register is not known and never blamed."""
    for group in _groups(words):
        illegal = _check_group(group, 1)
        # A dimension that is zero for one value of a register only is the business of the run.
        if illegal is not None and _check_group(group, 2) == illegal:
            yield illegal


def _groups(words: list[Word]) -> Iterator[list[Word]]:
    """Cut the words into blocks, each from its start to the word before the one that closes it."""
    group: list[Word] = []
    for word in words:
        decoded = decode_word(word.value, word.bits)
        if is_block_start(word.value, word.bits) or (decoded is not None and decoded[0].closes_block):
            if group:
                yield group
            group = []
        group.append(word)
    if group:
        yield group


def _check_group(group: list[Word], register_value: int) -> Illegal | None:
    registers: MutableSequence[int] = [register_value] * REGISTER_COUNT
    for item in Decoder(_everything(), registers).run([*group, _CLOSING]):
        if isinstance(item, HeaderFault) and item.rule is not Rule.UNSUPPORTED:
            return Illegal(item.rule, item.word_address, _explain(item.rule, group))
        if isinstance(item, Block):
            return _static_dimensions(item)
    return None


def _static_dimensions(block: Block) -> Illegal | None:
    if block.operation.dimensions[2:] == ("columns",) and block.valid_columns > block.columns:
        message = f"ValidCol must not exceed Col, {block.columns}, not {block.valid_columns}"
        return Illegal(Rule.PARM_VALID_COL, block.address, f"{block.operation.name}: {message} (PARM_VALID_COL)")
    return None


def _explain(rule: Rule, group: list[Word]) -> str:
    row = block_operation(group[0].value, group[0].bits)
    if row is not None:
        if rule is Rule.PARM_TILES:
            sources = count_text(row.min_sources, row.max_sources, "source tile")
            targets = count_text(row.min_destinations, row.max_destinations, "destination tile")
            return f"{row.name} takes {sources} and {targets} (PARM_TILES)"
        if rule is Rule.PARM_REGS:
            return f"{row.name} takes {count_text(row.min_scalars, row.max_scalars, 'register')} (PARM_REGS)"
    return f"{row.name + ': ' if row else ''}{rule.row.trigger} ({rule.name})"


def count_text(low: int, high: int, thing: str) -> str:
    """Return a count of operands in words: ``no register``, ``1 to 8 source tiles``."""
    count = "no" if not high else str(low) if low == high else f"{low} to {high}"
    return f"{count} {thing}{'s' if high > 1 else ''}"
