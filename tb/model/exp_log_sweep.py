"""Exponential and logarithm of every FP32, TF32 and HF32 operand against the truth.

The truth is numpy's result in binary64, rounded here; where that is too close to a tie, MPFR decides. A run takes up where
the last one stopped (`build/exp_log_sweep`) and ends by writing the hardest cases to `docs/exp_log_sweep.md`::

    .venv/bin/python tb/model/exp_log_sweep.py [PROCESSES]
"""

import json
import multiprocessing
import sys
from pathlib import Path
from typing import NamedTuple

import gmpy2
import numpy as np
from number_oracles import FORMATS, finished, mpfr_context

from linxtile.isa.types import data_type
from linxtile.numerics import arithmetic

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "build" / "exp_log_sweep"
TABLE = ROOT / "docs" / "exp_log_sweep.md"
TYPES = ("FP32", "TF32", "HF32")
FUNCTIONS = {"exponential": (np.exp, gmpy2.exp), "logarithm": (np.log, gmpy2.log)}
PART_BITS = 26
BLOCK_BITS = 16
DOUBTFUL = {"FP32": 2.0**-20, "TF32": 2.0**-14, "HF32": 2.0**-14}
"""Distance from a tie, in steps of the last bit: a relative error of ``2**-45``, far above that of numpy's functions, or
more, so that there are cases to list."""

KEPT = 10


class Part(NamedTuple):
    """Operands ``index << PART_BITS`` and following, dead bits aside."""

    name: str
    function: str
    index: int

    @property
    def file(self):
        """Where the hard cases of a finished part are kept."""
        return RESULTS / f"{self.name}_{self.function}_{self.index}.json"


class Case(NamedTuple):
    """An operand whose exact result lies ``2**-bits`` steps of the last bit from a tie."""

    bits: float
    code: int
    result: int


def parts():
    """Return all parts of the sweep."""
    return [
        Part(name, function, index)
        for name in TYPES
        for function in FUNCTIONS
        for index in range(-(-(1 << data_type(name).value_bits) >> PART_BITS))
    ]


def check(part):
    """Compare one part with the truth and return its hardest cases.

    Raises
    ------
    AssertionError
        A result is wrong; the message names operand, result and truth.
    """
    dead_bits = data_type(part.name).dead_bits
    count = 1 << min(data_type(part.name).value_bits, PART_BITS)
    cases = []
    for start in range(part.index << PART_BITS, (part.index << PART_BITS) + count, 1 << BLOCK_BITS):
        codes = np.arange(start, start + (1 << BLOCK_BITS), dtype=np.uint32) << np.uint32(dead_bits)
        cases += _check_block(part, codes)
    return sorted(cases, reverse=True)[:KEPT]


def _check_block(part, codes):
    form, (by_numpy, by_mpfr) = FORMATS[part.name], FUNCTIONS[part.function]
    got, _ = getattr(arithmetic(data_type(part.name), track_flags=False), part.function)(codes)
    with np.errstate(all="ignore"):
        values = codes.view(np.float32).astype(np.float64)
        results = by_numpy(values)
        # The power of two below each result: its exponent bits alone. Beyond all formats any finite one will do.
        leading = (results.view(np.uint64) & np.uint64(0x7FF << 52)).view(np.float64)
        unit = np.clip(leading, 2.0 ** (1 - form.bias), 2.0**1000) * 2.0 ** (1 - form.precision)
        steps = results / unit
        truth = (np.rint(steps) * unit).astype(np.float32).view(np.uint32)
        doubtful = np.abs(np.abs(steps - np.floor(steps)) - 0.5) < DOUBTFUL[part.name]
    truth[np.isnan(results)] = form.nan
    cases = []
    for at in np.flatnonzero(doubtful):
        truth[at], bits = _by_mpfr(by_mpfr, part.name, float(values[at]), float(unit[at]))
        cases.append(Case(round(bits, 2), int(codes[at]), int(truth[at])))
    wrong = np.flatnonzero(got != truth)
    assert not wrong.size, f"{part.function} {part.name}: " + ", ".join(
        f"{codes[at]:#010x} gives {got[at]:#010x}, not {truth[at]:#010x}" for at in wrong[:5]
    )
    return cases


def _by_mpfr(function, name, value, unit):
    """Return the code of a function, and how close the exact result is to a tie, as a number of bits."""
    with mpfr_context(name):
        code, _ = finished(function(gmpy2.mpfr(value)), name)
    with gmpy2.context(precision=400):
        steps = function(gmpy2.mpfr(value)) / unit
        return code, float(-gmpy2.log2(abs(steps - gmpy2.floor(steps) - 0.5)))


def _run(part):
    part.file.write_text(json.dumps(check(part)), encoding="utf-8")
    return part


def _write_table():
    lines = [
        "# Hard cases of the exponential and the logarithm",
        "",
        "Every FP32, TF32 and HF32 operand was compared with the correctly rounded result by",
        "`.venv/bin/python tb/model/exp_log_sweep.py` (FP16, BF16 and the types of eight bits are in `make test`). No result was",
        "wrong. These are the operands whose exact results are closest to a tie between two neighbours: at a distance of 2^-n of",
        "the last place. Hardware that decides the rounding from fewer than n bits below the last place must look at them.",
        "",
        "| Type | Function | Operand | Result | n |",
        "|---|---|---|---|---|",
    ]
    for name in TYPES:
        for function in FUNCTIONS:
            files = [part.file for part in parts() if (part.name, part.function) == (name, function)]
            cases = [Case(*case) for file in files for case in json.loads(file.read_text(encoding="utf-8"))]
            for case in sorted(cases, reverse=True)[:KEPT]:
                lines.append(f"| {name} | {function} | `{case.code:08X}` | `{case.result:08X}` | {case.bits:.1f} |")
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main(processes):
    """Run the parts that are missing, then write the table."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    missing = [part for part in parts() if not part.file.exists()]
    with multiprocessing.Pool(processes) as pool:
        for done, part in enumerate(pool.imap_unordered(_run, missing), start=1):
            print(f"{done} of {len(missing)}: {part.name} {part.function} {part.index}", flush=True)
    _write_table()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2)
