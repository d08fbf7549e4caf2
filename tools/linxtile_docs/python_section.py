"""The function of an operation in `linxtile.ops`: its parameters and what its docstring says of them."""

import inspect

from linxtile import ops
from linxtile.isa.operations import Operation
from linxtile_docs.calls import function_name
from linxtile_docs.markdown import code


def python_section(row: Operation) -> list[str]:
    """Return the section, or nothing if no function runs the operation."""
    function = getattr(ops, function_name(row), None)
    if function is None:
        return []
    signature = inspect.signature(function)
    # Names and defaults tell a reader more than the types, which are spelled out in full where they are unions.
    bare = signature.replace(
        parameters=[
            parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()
        ],
        return_annotation=inspect.Signature.empty,
    )
    summary, _, details = (inspect.getdoc(function) or "").partition("\n\n")
    lines = ["## Python\n", code(f"ops.{function_name(row)}{bare}", "python"), summary.replace("``", "`") + "\n"]
    return [*lines, code(details)] if details else lines
