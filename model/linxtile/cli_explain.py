"""``linxtile explain``: one element of an operation, step by step."""

import argparse

from linxtile import formats
from linxtile.cli_asm import Subparsers
from linxtile.cli_files import UsageError, parse_integer
from linxtile.explanation import explain_codes
from linxtile.explanation_tree import explain_reduction
from linxtile.isa.codes import CompareMode, RoundingMode
from linxtile.isa.operations import Shape, operation


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = subparsers.add_parser("explain", help="show how an operation computes one element")
    parser.add_argument("operation", metavar="OP", help="an operation such as TADD, TEXP or TCVT")
    parser.add_argument("type", metavar="TYPE", help="element type of the operands, such as FP16")
    parser.add_argument("codes", metavar="CODE", nargs="+", help="code of an operand, such as 0x3c00")
    parser.add_argument("--to", metavar="TYPE", help="destination type of TCVT")
    parser.add_argument(
        "--rounding", metavar="MODE", default="NONE", help=f"of TCVT: {', '.join(RoundingMode.__members__)}"
    )
    parser.add_argument("--saturate", action="store_true", help="clamp in TCVT")
    parser.add_argument("--mode", metavar="MODE", default="EQ", help=f"of TCMP: {', '.join(CompareMode.__members__)}")
    parser.set_defaults(command=_explain)


def _explain(arguments: argparse.Namespace) -> int:
    try:
        row = formats.get(arguments.type)
        codes = [parse_integer("code", text, 0, row.storage_mask) for text in arguments.codes]
        name = operation(arguments.operation.upper()).name
        reduces = operation(name).shape in (Shape.ROW_REDUCE, Shape.COLUMN_REDUCE)
        explanation = explain_reduction(name, codes, row) if reduces else explain_codes(
            name, codes, row, to=arguments.to, rounding=arguments.rounding,
            saturate=arguments.saturate, mode=arguments.mode,
        )  # fmt: skip
    except ValueError as error:
        raise UsageError(str(error)) from error
    print(explanation)
    return 0
