"""Verilog in which a memory that begins with the same value everywhere says so in a loop."""

import re

__all__ = ["with_loops"]

_MEMORY = re.compile(r"^  initial begin\n((?:    \S+ ?\[\d+\] = [^;\n]+;\n)+)  end\n", re.MULTILINE)
_PLACE = re.compile(r"^    (\S+ ?)\[(\d+)\] = ([^;\n]+);\n", re.MULTILINE)
SHORTEST = 16
"""Places of a memory that is worth a loop."""


def with_loops(text: str) -> str:
    """Return Verilog as :func:`linxtile_rtl.verilog.emit` writes it, shorter, with the same meaning.

    Yosys writes a line for every place of a memory; simulators translate each of them.
    """
    loops = 0

    def shortened(block: re.Match[str]) -> str:
        nonlocal loops
        places = _PLACE.findall(block[1])
        names, numbers, values = zip(*places, strict=True)
        if len(places) < SHORTEST or len({*names}) > 1 or len({*values}) > 1:
            return block[0]
        if [int(number) for number in numbers] != list(range(len(places))):
            return block[0]
        loops += 1
        index = f"initial_place_{loops}"
        return (
            f"  integer {index};\n  initial begin\n    for ({index} = 0; {index} < {len(places)}; {index} = {index} + 1)\n"
            f"      {names[0]}[{index}] = {values[0]};\n  end\n"
        )

    return _MEMORY.sub(shortened, text)
