"""One-line form of a tile block: ``TADD <LB0:100, LB1:a0, FP16, Zero>, T#1, T#2.reuse, ->T<2KB>``."""

from typing import Any

from linxtile.asm_block import BlockLine, Dimension, NewTile, TileName
from linxtile.asm_lexer import Cursor, SourceError, Token
from linxtile.asm_operands import (
    attribute,
    is_token_name,
    read_dimension,
    read_source,
    read_target,
    read_token_name,
    type_code,
)
from linxtile.isa.codes import MAX_DEPENDENCY_SOURCES, CompareMode, Layout, LoopNest
from linxtile.isa.operations import Operation, Uses, operation
from linxtile.isa.types import DATA_TYPES, data_type

_TYPE_NAMES = frozenset(row.name for row in DATA_TYPES)


def is_operation(mnemonic: str) -> bool:
    """Whether a mnemonic, its suffix included, is an operation."""
    return split_mnemonic(mnemonic) is not None


def split_mnemonic(mnemonic: str) -> tuple[Operation, str] | None:
    """Return operation and suffix; the longest operation name wins (``TMATMUL.ACC`` has no suffix)."""
    for name, suffix in ((mnemonic, ""), tuple(mnemonic.rpartition(".")[::2])):
        try:
            return operation(name), suffix.upper()
        except ValueError:
            continue
    return None


class LineParser:
    """Reads one line into a :class:`BlockLine`."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._attributes: dict[str, int] = {}
        self._types: list[int] = []
        self._dimensions: list[Dimension | None] = [None, None, None]
        self._next_loop = 0
        self._sources: list[TileName] = []
        self._registers: list[int] = []
        self._tokens: list[int] = []
        self._targets: list[NewTile] = []
        self._makes_token = False

    def parse(self) -> BlockLine:
        """Read the line to its end."""
        cursor = self._cursor
        row = self._mnemonic()
        if attribute(cursor.token.text) is not None and Uses.LAYOUT in row.uses:
            self._set(cursor.take())
        cursor.accept(",")
        if cursor.accept("<"):
            self._parameters(row)
            cursor.accept(",")
        while not cursor.at_end and cursor.token.kind != "arrow":
            self._operand(row)
            if not cursor.accept(","):
                break
        if cursor.token.kind == "arrow":
            self._outputs()
        cursor.finish()
        return self._block(row)

    def _mnemonic(self) -> Operation:
        token = self._cursor.take()
        split = split_mnemonic(token.text)
        if split is None:
            raise SourceError(token.column, f"{token.text!r} is no operation, header word or directive")
        row, suffix = split
        if not suffix:
            return row
        if Uses.COMPARE in row.uses and suffix in CompareMode.__members__:
            self._attributes["compare"] = CompareMode[suffix]
        elif Uses.LAYOUT in row.uses and suffix in Layout.__members__:
            self._attributes["layout"] = Layout[suffix]
        else:
            known = [mode.name for mode in CompareMode] if Uses.COMPARE in row.uses else []
            known += [layout.name for layout in row.layouts or ()] if Uses.LAYOUT in row.uses else []
            has = f", but {', '.join(known)}" if known else ""
            raise SourceError(token.column, f"{row.name} has no suffix .{suffix}{has}")
        return row

    def _set(self, token: Token) -> None:
        """Apply an attribute word; each field once."""
        fields = attribute(token.text)
        if fields is None:
            raise SourceError(token.column, f"expected a dimension, a data type or an attribute, not {token.text!r}")
        for name, value in fields.items():
            if name in self._attributes:
                raise SourceError(token.column, f"{name} is given twice: {token.text!r}")
            self._attributes[name] = value

    def _parameters(self, row: Operation) -> None:
        cursor = self._cursor
        while not cursor.accept(">"):
            token = cursor.token
            if token.text.upper() in LoopNest.__members__:
                cursor.take()
                cursor.expect(":")
                self._dimension(token, LoopNest[token.text.upper()])
            elif attribute(token.text) is not None:
                # Before registers, so that Zero is the pad: the register zero needs its LB name.
                self._set(cursor.take())
            elif token.text in _TYPE_NAMES:
                # Before registers, so that S8 is the type: the register is written s8.
                self._type(row, cursor.take())
            elif token.kind == "number" or cursor.is_register or token.text in ("+", "-"):
                self._dimension(token, self._next_loop)
            elif token.kind == "name" and type_code(token.text) is not None:
                self._type(row, cursor.take())
            elif cursor.is_symbol:
                self._dimension(token, self._next_loop)
            elif token.kind == "end":
                raise cursor.error("expected '>' after the parameters")
            else:
                self._set(cursor.take())
            if not cursor.accept(",") and cursor.token.text != ">":
                raise cursor.error(f"expected ',' or '>', not {cursor.token.text!r}")

    def _dimension(self, token: Token, loop: int) -> None:
        if loop >= len(self._dimensions):
            raise SourceError(token.column, "a block has three dimensions, LB0 to LB2, not more")
        if self._dimensions[loop] is not None:
            raise SourceError(token.column, f"{LoopNest(loop).name} is given twice")
        self._dimensions[loop] = read_dimension(self._cursor)
        self._next_loop = loop + 1

    def _type(self, row: Operation, token: Token) -> None:
        most = 2 if Uses.SECOND_TYPE in row.uses else 1
        if len(self._types) == most:
            raise SourceError(token.column, f"{row.name} takes {most} data type{'s' * (most > 1)}, not {most + 1}")
        self._types.append(type_code(token.text) or 0)

    def _operand(self, row: Operation) -> None:
        cursor = self._cursor
        token = cursor.token
        if is_token_name(token):
            if len(self._tokens) == MAX_DEPENDENCY_SOURCES:
                raise cursor.error(f"a block waits for at most {MAX_DEPENDENCY_SOURCES} tokens, not more")
            self._tokens.append(read_token_name(cursor))
        elif token.kind == "tile":
            self._sources.append(read_source(cursor))
        elif cursor.accept("["):
            while not cursor.accept("]"):
                self._registers.append(cursor.register())
                if not cursor.accept(",") and cursor.token.text != "]":
                    raise cursor.error(f"expected ',' or ']', not {cursor.token.text!r}")
        elif token.text.upper() == "ACC":
            if not row.reads_acc:
                raise cursor.error(f"{row.name} does not read ACC")
            cursor.take()
        else:
            raise cursor.error(f"expected a tile (T#1), registers ([a0]), a token (D#1) or '->', not {token.text!r}")

    def _outputs(self) -> None:
        cursor = self._cursor
        cursor.take()
        while True:
            if cursor.accept("D"):
                self._makes_token = True
            else:
                self._targets.append(read_target(cursor))
            if not cursor.accept(","):
                return

    def _block(self, row: Operation) -> BlockLine:
        rows = [data_type(code) for code in self._types]
        values: dict[str, Any] = dict(self._attributes)
        if "layout" in values:
            values["layout"] = Layout(values["layout"])
        return BlockLine(
            operation=row,
            data_type=rows[0] if rows else None,
            second_type=rows[1] if len(rows) > 1 else None,
            dimensions=(self._dimensions[0], self._dimensions[1], self._dimensions[2]),
            sources=tuple(self._sources),
            registers=tuple(self._registers),
            tokens=tuple(self._tokens),
            destinations=tuple(self._targets),
            makes_token=self._makes_token,
            **values,
        )
