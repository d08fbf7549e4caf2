"""Drives a slot with requests and compares every result with the oracle; the tests of test_slot.py start it."""

import itertools
import random
from collections import deque

import cocotb
from amaranth.hdl import Shape
from cocotb.triggers import RisingEdge
from lane_oracle import expected

from linxtile.isa.types import DataType, data_type
from linxtile_rtl.layouts import flags_layout
from linxtile_rtl.vector.control import LANE_PROGRAMS, LaneOperation
from linxtile_rtl.vector.slot import Slot, slot_request_layout, slot_result_layout
from linxtile_sim.streams import start
from linxtile_sim.unit import parameters

RESULT = ("value", "flags", "present")
INVALID, OVERFLOW = (1 << flags_layout()[name].offset for name in ("invalid", "overflow"))


def types_of(operation: LaneOperation, operations: dict[str, list[str]], element_bytes: int) -> list[DataType]:
    """Return the types with which the configuration asks a slot of this size for the operation."""
    names = set().union(
        *(types for name, types in operations.items()
          if name in LANE_PROGRAMS and LANE_PROGRAMS[name].operation is operation)
    )  # fmt: skip
    return sorted(
        (row for row in map(data_type, names) if row.storage_bits <= 8 * element_bytes), key=lambda row: row.code
    )


def corners(row: DataType) -> list[int]:
    """Return codes at and around every boundary of a type: limits, binade edges, subnormals, infinities, NaNs."""
    bits = row.storage_bits
    if row.is_integer:
        near = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 0x55, 0xAA, 1 << (bits - 1)]
        return sorted(
            {(base + step) & row.storage_mask for base in near for step in (-1, 0, 1)} | {row.storage_mask // 3}
        )
    unit = 1 << row.dead_bits
    binade = unit << row.mantissa_bits
    exponents = (1 << row.exponent_bits) - 1
    bases = [0, binade, 2 * binade, exponents // 2 * binade, (exponents // 2 + 1) * binade, (exponents - 1) * binade]
    bases += [(exponents // 2 + row.mantissa_bits + step) * binade for step in (0, 1, 2)]
    bases += [exponents * binade, exponents * binade + binade // 2, (exponents + 1) * binade]
    magnitudes = {base + step * unit for base in bases for step in (-1, 0, 1)} | {exponents // 2 * binade + binade // 2}
    positive = {magnitude for magnitude in magnitudes if 0 <= magnitude < row.sign_bit}
    return sorted(positive | {code | row.sign_bit for code in positive})


class Bench:
    """Sends requests back to back, stops the slot at random, counts and checks every result."""

    def __init__(self, dut, *, pause: float):
        self.dut = dut
        self.element_bytes = parameters()["element_bytes"]
        self.operations = parameters()["operations"]
        self.random = random.Random(cocotb.RANDOM_SEED)
        self.pause = pause
        self.checked = 0
        self._layout = slot_request_layout(self.element_bytes)
        self._offsets = {name: field.offset for name, field in self._layout}
        self._fields = {
            name: (field.offset, (1 << Shape.cast(field.shape).width) - 1)
            for name, field in slot_result_layout(self.element_bytes)
        }
        self._flight: deque = deque()
        dut.enable.value = 0
        dut.request.value = 0

    def request(
        self, operation: LaneOperation, row: DataType, a: int | None, b: int | None
    ) -> tuple[int, tuple | None]:
        """Return the bits of a request and what must come of it; absent operands and spare bits are noise."""
        noise = self.random.getrandbits(128)
        element = row.storage_mask
        slot = (1 << 8 * self.element_bytes) - 1
        bits_a = (noise & slot & ~element) | a if a is not None else noise & slot
        bits_b = (noise >> 64 & slot & ~element) | b if b is not None else noise >> 64 & slot
        offsets = self._offsets
        bits = (
            bits_a << offsets["a"] | bits_b << offsets["b"]
            | (a is not None) << offsets["a_present"] | (b is not None) << offsets["b_present"]
            | (operation.value | row.code << 4) << offsets["control"]
        )  # fmt: skip
        outcome = None if a is None else expected(operation.name, row, a, b)
        return bits, (operation, row, a, b, outcome)

    async def run(self, vectors) -> None:
        """Send all vectors and wait for the last result."""
        await start(self.dut)
        nothing = [(None, None)] * Slot.LATENCY
        for bits, outcome in itertools.chain((self.request(*vector) for vector in vectors), nothing):
            self.dut.request.value = self.random.getrandbits(len(self.dut.request)) if bits is None else bits
            while self.random.random() < self.pause:
                self.dut.enable.value = 0
                await RisingEdge(self.dut.clk)
            self.dut.enable.value = 1
            await RisingEdge(self.dut.clk)
            # Right after the edge: the result that stood before it, LATENCY requests old.
            if len(self._flight) == Slot.LATENCY:
                self.check(self._flight.popleft())
            self._flight.append(outcome)

    def check(self, sent) -> None:
        bits = self.dut.result.value.to_unsigned()
        value, flags, present = (bits >> offset & mask for offset, mask in (self._fields[name] for name in RESULT))
        operation, row, a, b, outcome = sent
        self.checked += 1
        if outcome is None:
            assert not present and not flags, f"{operation.name} {row.name} without a: present={present}, flags={flags}"
            return
        code, invalid, overflow = outcome
        if (value & row.storage_mask, flags, present) != (code, INVALID * invalid | OVERFLOW * overflow, 1):
            operands = f"{a:#x}" if b is None else f"{a:#x}, {b:#x}"
            raise AssertionError(
                f"{operation.name} {row.name} {operands}: got {value & row.storage_mask:#x}, flags {flags:03b}, present "
                f"{present}; expected {code:#x}, NV={invalid} OF={overflow}"
            )


def _present(rng: random.Random, a: int, b: int) -> tuple[int | None, int | None]:
    """Drop an operand now and then."""
    draw = rng.random()
    return (None if draw < 0.03 else a), (None if draw > 0.93 else b)


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def corner_pairs(dut):
    """Float corner codes in all pairs, integer ones with some others, for each operation and type; every corner alone."""
    bench = Bench(dut, pause=0.02)
    vectors = []
    for operation in LaneOperation:
        for row in types_of(operation, bench.operations, bench.element_bytes):
            codes = corners(row)
            # Integers carry from bit to bit: a corner code with a few others shows what all pairs would.
            others = bench.random.sample(codes, 5) if row.is_integer else codes
            vectors += [(operation, row, a, b) for a in codes for b in others]
            vectors += [(operation, row, a, None) for a in codes]
            vectors.append((operation, row, None, codes[0]))
    # Types and operations mixed: what stays in a stage from one request must not leak into the next.
    bench.random.shuffle(vectors)
    vectors = vectors[: parameters().get("most")]
    await bench.run(vectors)
    assert bench.checked == len(vectors)
    dut._log.info(f"{bench.checked} results checked")


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def random_pairs(dut):
    """Random operands, half of them with close exponents, so that additions cancel and round."""
    bench = Bench(dut, pause=0.3)
    choices = [
        (operation, row)
        for operation in LaneOperation
        for row in types_of(operation, bench.operations, bench.element_bytes)
    ]
    floats = [choice for choice in choices if choice[1].is_float and choice[0].name in ("ADD", "SUB", "MAX", "MIN")]
    vectors = []
    for _ in range(parameters().get("count", 6000)):
        operation, row = bench.random.choice(floats if floats and bench.random.random() < 0.6 else choices)
        a, b = bench.random.getrandbits(row.storage_bits), bench.random.getrandbits(row.storage_bits)
        if row.is_float and bench.random.random() < 0.6:
            # b near a: same exponent or a few binades away, either sign.
            field = row.mantissa_bits + row.dead_bits
            b = a ^ bench.random.getrandbits(field) ^ bench.random.choice((0, 1, 2, 3, 6)) << field
            b ^= bench.random.choice((0, row.sign_bit))
            b &= row.storage_mask
        vectors.append((operation, row, *_present(bench.random, a, b)))
    await bench.run(vectors)
    assert bench.checked == len(vectors)


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def every_half(dut):
    """Every ``step``-th FP16 code through the operations on one operand, and through the read that a tree leaf makes."""
    bench = Bench(dut, pause=0.0)
    row = data_type("FP16")
    codes = range(0, 1 << row.storage_bits, parameters()["step"])
    vectors = [(operation, row, code, None) for code in codes for operation in (LaneOperation.RELU, LaneOperation.ADD)]
    # These two only touch the sign bit: every seventh code will do.
    vectors += [
        (operation, row, code, None) for code in codes[::7] for operation in (LaneOperation.ABS, LaneOperation.NEG)
    ]
    await bench.run(vectors)
    assert bench.checked == len(vectors)
