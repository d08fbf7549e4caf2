"""Python of a worked example: the operands, then one call of `linxtile.ops`."""

from math import isfinite
from typing import Any

from linxtile.isa.operations import Operation, Shape
from linxtile_docs.examples import Example, Matrix

_NAMES = {"src0": "first", "src1": "second", "src2": "third", "filter": "filters"}
_FLAGLESS = (
    Shape.SELECT, Shape.SCALAR_EXPAND, Shape.ROW_EXPAND, Shape.COLUMN_EXPAND, Shape.HISTOGRAM, Shape.LOAD, Shape.STORE,
    Shape.MOVE,
)  # fmt: skip
_ACC_INPUTS = "FP16"


def variables(row: Operation, example: Example) -> tuple[str, ...]:
    """Return the Python names of the source tiles, in header order; of a load and an ACCCVT what comes before them."""
    match row.shape:
        case Shape.LOAD | Shape.STORE:
            return ("first",)
        case Shape.ACC_CONVERT:
            return "a", "b"
        case _:
            return tuple(_NAMES.get(role, role) for role in row.sources[: len(example.tiles)])


def results(row: Operation) -> tuple[str, ...]:
    """Return the Python names of the results."""
    return ("result", "row_maximum") if row.shape is Shape.ACC_CONVERT else ("result",)


def function_name(row: Operation) -> str:
    """Return the name of the function in `linxtile.ops`."""
    return row.name.replace(".", "_")


def source(row: Operation, example: Example) -> str:
    """Return Python that leaves operands, results and, where the call takes them, ``flags`` behind."""
    special = sorted({repr(value).lstrip("-") for value in _values(example) if not isfinite(value)})
    lines = [f"from math import {', '.join(special)}", ""] if special else []
    names = variables(row, example)
    imported = [*["Mask"] * ("mask" in names), *["Tile"] * bool(set(names) - {"mask"}), "ops"]
    lines += [f"from linxtile import {', '.join(imported)}", ""]
    lines += [_operand(row, name, values, example) for name, values in zip(names, example.tiles, strict=True)]
    if row.shape not in _FLAGLESS:
        lines.append("flags = ops.Flags()")
    return "\n".join([*lines, *_statements(row, example)]) + "\n"


def _values(example: Example) -> list[float]:
    return [value for tile in example.tiles for line in tile for value in line]


def _operand(row: Operation, name: str, values: Matrix, example: Example) -> str:
    if name == "mask":
        return f"mask = Mask({[[bool(value) for value in line] for line in values]})"
    type_name = {"filters": "U8", "bias": "FP32"}.get(name, example.data_type)
    if row.shape is Shape.ACC_CONVERT:
        type_name = _ACC_INPUTS
    # A matrix in fractals needs whole ones, so the operand of a change of order says its shape.
    shape = f", shape={example.options['shape']}" if row.shape is Shape.MOVE else ""
    return f'{name} = Tile.from_values({[list(line) for line in values]}, "{type_name}"{shape})'


def _statements(row: Operation, example: Example) -> list[str]:
    call = f"ops.{function_name(row)}({', '.join(_arguments(row, example))})"
    match row.shape:
        case Shape.LOAD:
            return ["memory = first.to_bytes()", f"result = {call}"]
        case Shape.STORE:
            return ["memory = bytearray(48)", call, f'result = Tile.from_bytes(memory, "{example.data_type}", 8)']
        case Shape.ACC_CONVERT:
            return ["accumulator = ops.TMATMUL(a, b)", f"{', '.join(results(row))} = {call}"]
        case Shape.MATMUL | Shape.GEMV if row.reads_acc:
            return [f"accumulator = ops.{function_name(row).removesuffix('_ACC')}(a, b)", f"result = {call}"]
        case _:
            return [f"result = {call}"]


def _arguments(row: Operation, example: Example) -> list[str]:
    """Return the arguments of the call: tiles, scalar, type and what else goes by place, then keywords."""
    options = dict(example.options)
    arguments = list(variables(row, example))
    match row.shape:
        case Shape.LOAD:
            arguments = ["memory", _quoted(example.data_type), _quoted(options.pop("shape"))]
        case Shape.STORE:
            arguments.append("memory")
        case Shape.MOVE:
            arguments.append(_quoted(options.pop("layout")))
            del options["shape"]
        case Shape.SCALAR_EXPAND:
            arguments = [repr(example.scalar), _quoted(example.data_type), _quoted(options.pop("shape"))]
        case Shape.ACC_CONVERT:
            arguments = ["accumulator", _quoted(example.second_type)]
            options = {"scale": example.scalar} | options
        case Shape.MATMUL | Shape.GEMV if row.reads_acc:
            arguments.insert(0, "accumulator")
        case Shape.HISTOGRAM:
            options["counter"] = example.second_type
        case Shape.CONVERT:
            arguments.append(_quoted(example.second_type))
        case _:
            arguments += [repr(example.scalar)] * (example.scalar is not None)
            arguments += [_quoted(options.pop(name)) for name in ("mode", "columns", "rows") if name in options]
    keywords = [f"{name}={_quoted(value)}" for name, value in options.items()]
    return [*arguments, *keywords, *([] if row.shape in _FLAGLESS else ["flags=flags"])]


def _quoted(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
