"""``linxtile asm``, ``dis`` and ``decode``."""

import argparse
from typing import Any

from linxtile import formats
from linxtile.asm import assemble
from linxtile.asm_program import hex_text, listing
from linxtile.cli_files import (
    UsageError,
    parse_integer,
    parse_program_address,
    read_bytes,
    read_text,
    write_bytes,
)
from linxtile.dis import disassemble
from linxtile.dis_fields import fields_text
from linxtile.dis_words import block_operation, raw_text, word_text
from linxtile.isa.words import decode_word, is_block_start, word_bits

Subparsers = Any
"""What ``argparse.ArgumentParser.add_subparsers`` returns; argparse keeps its class private."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the three commands."""
    parser = subparsers.add_parser("asm", help="assemble a program")
    parser.add_argument("file", metavar="FILE", help="source text, - for standard input")
    parser.add_argument("-o", "--output", metavar="OUT", help="file for the program, - for standard output")
    parser.add_argument("--hex", action="store_true", help="write hex digits, a word a line, instead of bytes")
    parser.add_argument("--listing", action="store_true", help="print addresses, words and source")
    parser.add_argument("--allow-faults", action="store_true", help="accept blocks that can be seen to be illegal")
    parser.add_argument("--base", metavar="ADDRESS", default="0", help="address of the first word (default 0)")
    parser.set_defaults(command=_asm)

    parser = subparsers.add_parser("dis", help="disassemble a program")
    parser.add_argument("file", metavar="FILE", help="program, - for standard input")
    parser.add_argument("--hex", action="store_true", help="FILE holds hex digits, a word a line")
    parser.set_defaults(command=_dis)

    parser = subparsers.add_parser("decode", help="show header words and their fields, or codes of an element type")
    parser.add_argument(
        "words", metavar="WORD", nargs="+",
        help="a word such as 0x000b5493; bit 0 tells its length. After the name of a type: codes of elements",
    )  # fmt: skip
    parser.set_defaults(command=_decode)


def _asm(arguments: argparse.Namespace) -> int:
    if arguments.output is None and not arguments.listing:
        raise UsageError("asm needs -o OUT or --listing, and neither was given")
    name = "<stdin>" if arguments.file == "-" else arguments.file
    program = assemble(
        read_text(arguments.file),
        file=name,
        address=parse_program_address(arguments.base),
        allow_faults=arguments.allow_faults,
    )
    if arguments.output is not None:
        content = hex_text(program).encode("ascii") if arguments.hex else program.image
        write_bytes(arguments.output, content)
    if arguments.listing:
        print(listing(program), end="")
    return 0


def _dis(arguments: argparse.Namespace) -> int:
    image = _hex_image(arguments.file) if arguments.hex else read_bytes(arguments.file)
    if len(image) % 2:
        raise UsageError(f"{arguments.file} must hold an even number of bytes, not {len(image)}")
    print(disassemble(image), end="")
    return 0


def _hex_image(name: str) -> bytes:
    """Return the bytes of words written as four or eight hex digits."""
    image = b""
    for number, line in enumerate(read_text(name).split(), 1):
        try:
            if len(line) not in (4, 8):
                raise ValueError
            image += int(line, 16).to_bytes(len(line) // 2, "little")
        except ValueError:
            raise UsageError(f"{name}: word {number} must be four or eight hex digits, not {line!r}") from None
    return image


def _decode(arguments: argparse.Namespace) -> int:
    name = arguments.words[0]
    if name[0].isalpha():
        return _decode_elements(name, arguments.words[1:])
    operation, legal = None, True
    for text in arguments.words:
        value = parse_integer("word", text, 0, (1 << 32) - 1)
        bits = word_bits(value)
        if value >= 1 << bits:
            raise UsageError(f"word must be at most 0xffff when bit 0 is clear, for it has 16 bits, not {text}")
        operation = block_operation(value, bits) or operation
        decoded = decode_word(value, bits)
        if decoded is None:
            foreign = is_block_start(value, bits)
            meaning = "block start of another kind (ILL_BLOCK_KIND)" if foreign else "no header word (ILL_WORD)"
            legal = False
        else:
            meaning = word_text(value, bits, operation) or raw_text(value, bits)
        print(f"0x{value:0{bits // 4}x}  {meaning}")
        if decoded is not None and decoded[0].fields:
            print(f"{'':12}{fields_text(decoded[0], value)}")
    return 0 if legal else 1


def _decode_elements(name: str, texts: list[str]) -> int:
    try:
        row = formats.get(name)
    except ValueError:
        raise UsageError(
            f"word must be a number such as 4096 or 0x1000, or the name of an element type, not {name!r}"
        ) from None
    if not texts:
        raise UsageError(f"decode {name} needs at least one code, and none was given")
    codes = [parse_integer(f"code of {row.name}", text, 0, row.storage_mask) for text in texts]
    print("\n".join(formats.explain(code, row) for code in codes))
    return 0
