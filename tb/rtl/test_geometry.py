"""Geometry: sizes of rows and tiles against the quotients they stand for."""

import random

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge

from linxtile.config import CoreConfig
from linxtile.isa.codes import size_bytes
from linxtile.isa.types import DATA_TYPES
from linxtile_rtl.geometry import Geometry
from linxtile_sim.streams import start
from linxtile_sim.unit import run_unit

LARGEST = 15
"""Largest size code there is."""


def matrix_code(rows, columns, bits):
    """Return the smallest size code of at least 1 whose physical rows are enough, LARGEST + 1 if there is none."""
    for code in range(1, LARGEST + 1):
        if size_bytes(code) * 8 // (columns * bits) >= rows:
            return code
    return LARGEST + 1


def shapes(rng):
    """Yield corners first, then shapes near a power of two, then any."""
    yield from ((1, 1, 1), (65535, 65535, 65535), (1, 65535, 65535), (65535, 1, 1), (1, 2, 1))
    for _ in range(400):
        rows, columns = (max(1, (1 << rng.randrange(11)) + rng.choice((-1, 0, 0, 1))) for _ in range(2))
        yield rows, rng.randint(1, columns + 1), columns
    for _ in range(100):
        yield tuple(rng.randrange(1, 65536) for _ in range(3))


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def sizes(dut):
    """A size code is large enough exactly when Row, the floor of a quotient, is at least ValidRow."""
    rng = random.Random(cocotb.RANDOM_SEED)
    for name in ("valid_rows", "valid_columns", "columns", "part_columns", "data_type", "by_columns"):
        getattr(dut, name).value = 1
    await start(dut)
    for rows, valid, columns in shapes(rng):
        row = rng.choice(DATA_TYPES)
        bits = row.storage_bits
        dut.valid_rows.value, dut.valid_columns.value, dut.columns.value = rows, valid, columns
        by_columns = rng.randrange(2)
        part = rng.choice([columns, max(1, columns // rng.randint(2, 8))])
        dut.part_columns.value = part
        dut.data_type.value, dut.by_columns.value = row.code, by_columns
        await RisingEdge(dut.clk)
        await RisingEdge(dut.clk)
        await ReadOnly()
        expected = {
            "row_bytes": ((rows if by_columns else valid) * bits + 7) // 8,
            "pitch_bytes": (part * bits + 7) // 8,
            "odd_nibble": int(bits == 4 and (rows if by_columns else valid) % 2),
            "columns_odd": int(bits == 4 and part % 2),
            "columns_short": int(valid > columns),
        }
        if rows * part * bits // 8 <= 32768:
            expected["valid_bytes"] = rows * part * bits // 8
        if rows * valid * bits // 8 <= 32768:
            expected["matrix_bytes"] = rows * valid * bits // 8
        where = f"{row.name} {rows} x {valid} of {columns}"
        for name, value in expected.items():
            assert getattr(dut, name).value == value, (
                f"{where}: {name} is {getattr(dut, name).value.to_unsigned()}, not {value}"
            )
        needed = {
            "matrix_code": matrix_code(rows, part, bits),
            "row_vector_code": matrix_code(rows, 1, bits),
            "column_vector_code": matrix_code(valid, 1, bits),
        }
        for name, code in needed.items():
            seen = getattr(dut, name).value.to_unsigned()
            # Below size code 1 and above 15 there is no tile to be compared.
            assert min(max(seen, 1), LARGEST + 1) == code, f"{where}: {name} is {seen}, not {code}"
        await RisingEdge(dut.clk)


def test_a_size_code_is_enough_when_the_rows_fit():
    run_unit(Geometry(config=CoreConfig()), __file__)
