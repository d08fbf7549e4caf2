"""Worked examples: the call executed, and the program that does the same on the machine."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from linxtile import Flag, Machine, Mask, Tile, formats
from linxtile.asm import assemble
from linxtile.asm_block import NewTile
from linxtile.config import PRESETS
from linxtile.flags import NO_FLAG
from linxtile.isa.codes import Destination, size_code
from linxtile.isa.operations import Operation, Shape, operation
from linxtile.isa.support import MODEL_OPERATIONS
from linxtile_docs.calls import results, source, variables
from linxtile_docs.examples import Example, example
from linxtile_docs.program import SMALLEST_TILE, Program, attributes, line, tile_bytes

_FRACTAL_ROWS = 16
_ACC_BYTES = 1024
_OPERAND_BYTES = 512
_STORE_BYTES = 48


@dataclass(frozen=True)
class Worked:
    """An executed example.

    Attributes
    ----------
    source : str
        Python of the call.
    operands, results : dict of str to Tile or Mask
        What it computes on and what it gives, by Python name.
    flags : Flag or None
        Flags raised; None where the call takes no collector.
    program : Program
        The same on the machine: sources are loaded from memory.
    """

    row: Operation
    example: Example
    source: str
    operands: dict[str, Tile | Mask]
    results: dict[str, Tile | Mask]
    flags: Flag | None
    program: Program


@cache
def worked(name: str) -> Worked | None:
    """Execute the example of an operation; None if the model does not run the operation."""
    row = operation(name)
    if row.name not in MODEL_OPERATIONS:
        return None
    shown = example(row)
    text = source(row, shown)
    namespace: dict[str, Any] = {}
    exec(compile(text, f"example of {row.name}", "exec"), namespace)
    operands = {variable: namespace[variable] for variable in variables(row, shown)}
    found = {variable: namespace[variable] for variable in results(row)}
    flags = namespace["flags"].raised if "flags" in namespace else None
    return Worked(row, shown, text, operands, found, flags, _program(row, shown, operands, found))


def _program(
    row: Operation, shown: Example, operands: dict[str, Tile | Mask], found: dict[str, Tile | Mask]
) -> Program:
    program = Program()
    match row.shape:
        case Shape.LOAD:
            _load(program, row, shown, operands["first"])
        case Shape.STORE:
            _store(program, row, shown, operands["first"])
        case Shape.MATMUL | Shape.GEMV | Shape.ACC_CONVERT:
            _product(program, row, shown, operands)
        case _:
            _compute(program, row, shown, operands, found["result"])
    return program


def _load(program: Program, row: Operation, shown: Example, tile: Tile | Mask) -> None:
    (rows, columns), (valid_rows, valid_columns) = shown.options["shape"], shown.options["valid_shape"]
    size = tile_bytes(rows * columns * formats.get(shown.data_type).storage_bits // 8)
    registers = (program.place(tile.to_bytes()),)
    program.main(
        line(row, (shown.data_type,), (valid_columns, valid_rows, columns), registers=registers,
             destinations=_targets(size), **attributes(shown.options))
    )  # fmt: skip


def _store(program: Program, row: Operation, shown: Example, tile: Tile | Mask) -> None:
    rows, columns = tile.shape
    program.load(tile.to_bytes(), shown.data_type, tile.shape, SMALLEST_TILE)
    registers = (program.place(bytes(_STORE_BYTES)), program.constant(shown.options["stride"]))
    program.main(
        line(row, (shown.data_type,), (columns, rows, columns), registers=registers, sources=program.sources())
    )


def _product(program: Program, row: Operation, shown: Example, operands: dict[str, Tile | Mask]) -> None:
    """Load both operands in fractals, multiply, and read the ACC by an ACCCVT, which may be the block itself."""
    a, b = (operands[name] for name in ("a", "b"))
    (m, k), n = a.shape, b.shape[1]
    converts = row.shape is Shape.ACC_CONVERT
    type_name = _type_name(a)
    if row.shape is Shape.GEMV:
        program.load(a.to_bytes(), type_name, (m, k), SMALLEST_TILE)
    else:
        _load_fractals(program, a, "ND2NZ")
    _load_fractals(program, b, "ND2ZN")
    if "bias" in operands:
        program.load(operands["bias"].to_bytes(), "FP32", operands["bias"].shape, SMALLEST_TILE)
    accumulator = (NewTile(Destination.ACC, size_code(_ACC_BYTES)),)
    if row.reads_acc:
        plain = operation("TMATMUL" if converts else row.name.removesuffix(".ACC"))
        sources = program.sources(reuse=not converts)
        program.add(line(plain, (type_name,), (m, n, k), sources=sources, destinations=accumulator))
    if not converts:
        program.main(line(row, (type_name,), (m, n, k), sources=program.sources(), destinations=accumulator))
        options, types = {"layout": "NZ2ND"}, ("FP32", "FP32")
        program.add(
            line(operation("ACCCVT"), types, (m, n), destinations=_targets(SMALLEST_TILE), **attributes(options))
        )
        return
    registers = (program.constant(formats.encode(shown.scalar or 0.0, shown.data_type)),)
    program.main(
        line(row, (shown.data_type, shown.second_type or ""), (m, n), registers=registers,
             destinations=_targets(SMALLEST_TILE, SMALLEST_TILE), **attributes({"layout": "NZ2ND"} | dict(shown.options)))
    )  # fmt: skip


def _load_fractals(program: Program, tile: Tile | Mask, layout: str) -> None:
    rows, columns = tile.shape
    program.load(
        tile.to_bytes(), _type_name(tile), tile.shape, _OPERAND_BYTES, dimensions=(columns, rows, _FRACTAL_ROWS),
        **attributes({"layout": layout}),
    )  # fmt: skip


def _compute(
    program: Program, row: Operation, shown: Example, operands: dict[str, Tile | Mask], found: Tile | Mask
) -> None:
    """Load the sources, then the block; its dimensions are those of the matrix operand, or of the result."""
    for tile in operands.values():
        data = tile.to_bytes()
        if isinstance(tile, Mask):
            program.load(data, "U8", (1, len(data)), SMALLEST_TILE)
        else:
            program.load(data, tile.data_type.name, tile.shape, tile_bytes(len(data)))
    matrices = [tile for name, tile in operands.items() if isinstance(tile, Tile) and name not in ("vector", "filters")]
    shape = matrices[0] if matrices else found
    valid_rows, valid_columns = shape.valid_shape if isinstance(shape, Tile) else shape.shape
    registers: tuple[int, ...] = ()
    if shown.scalar is not None:
        registers = (program.constant(formats.encode(shown.scalar, shown.data_type)),)
    program.main(
        line(row, (shown.data_type, shown.second_type or ""), (valid_columns, valid_rows, shape.shape[1]),
             sources=program.sources(), registers=registers, destinations=_targets(tile_bytes(len(found.to_bytes()))),
             **attributes(shown.options))
    )  # fmt: skip


def _type_name(tile: Tile | Mask) -> str:
    return tile.data_type.name if isinstance(tile, Tile) else "U8"


def _targets(*sizes: int) -> tuple[NewTile, ...]:
    """Return new tiles on queue U, so that the sources keep their names."""
    return tuple(NewTile(Destination.U, size_code(size)) for size in sizes)


def run_on_machine(example: Worked) -> tuple[list[bytes], Flag]:
    """Run the program and return the bytes of the results, those of a store from memory, and the flags of the program.

    Raises
    ------
    ValueError
        The program faults.
    """
    machine = Machine(PRESETS["reference"])
    for address, data in example.program.memory.items():
        machine.memory.write(address, data)
    machine.load(assemble(example.program.text).image, _PROGRAM_ADDRESS)
    fault = machine.run().fault
    if fault is not None:
        raise ValueError(f"the example of {example.row.name} faults: {fault}")
    if example.row.shape is Shape.STORE:
        return [machine.memory.read(max(example.program.memory), _STORE_BYTES)], machine.flags
    count = len(example.results)
    return [machine.tile(f"U#{count - place}") for place in range(count)], machine.flags


_PROGRAM_ADDRESS = 0x100000


def differences(example: Worked) -> list[str]:
    """Return the results that the machine has otherwise than the call, each with both contents in hex digits."""
    contents, flags = run_on_machine(example)
    wrong = []
    for (name, tile), data in zip(example.results.items(), contents, strict=True):
        wanted = tile.to_bytes().ljust(len(data), b"\0")
        if data != wanted:
            wrong.append(f"{name}: {wanted.hex()} by the call, {data.hex()} on the machine")
    if (example.flags or NO_FLAG) != flags:
        wrong.append(f"flags: {example.flags!r} by the call, {flags!r} on the machine")
    return wrong
