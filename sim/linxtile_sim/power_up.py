"""Verilog as hardware that wakes up with anything in its registers and memories."""

import re

__all__ = ["POWER_UP_ARGUMENTS", "power_up_plusargs", "without_initial_values"]

POWER_UP_ARGUMENTS = ("--x-initial", "unique", "--x-assign", "unique")
"""Verilator's compiler: what has no initial value gets one at run time."""

_MODULE = re.compile(r"^module (\\?)(\S+?)(?: |\().*?^endmodule$", re.MULTILINE | re.DOTALL)
_REGISTER = re.compile(r"^(  reg (?:\[\d+:\d+\] )?(?!\\\$auto\$)\S+) +?= [^;]+;$", re.MULTILINE)
_MEMORY = re.compile(r"^  initial begin\n    (\S+?) ?\[0\] = .*?^  end\n", re.MULTILINE | re.DOTALL)


def power_up_plusargs(seed: int) -> tuple[str, ...]:
    """Return what makes a simulation built with :data:`POWER_UP_ARGUMENTS` begin with random values."""
    return ("+verilator+rand+reset+2", f"+verilator+seed+{seed}")


def without_initial_values(text: str, keep: tuple[str, ...] = ()) -> str:
    """Return Verilog as :func:`linxtile_rtl.verilog.emit` writes it, registers and memories without initial values.

    Parameters
    ----------
    text : str
        Verilog.
    keep : tuple of str
        Modules that stay as they are, each with all that stands in it.
    """

    def stripped(module: re.Match[str]) -> str:
        name, body = module[2], module[0]
        if any(name == kept or name.startswith(f"{kept}.") for kept in keep):
            return body
        # A memory that is never written is a table: its contents are not a state.
        body = _MEMORY.sub(lambda memory: "" if f"    {memory[1]}[" in body.replace(memory[0], "") else memory[0], body)
        return _REGISTER.sub(r"\1 ;", body)

    return _MODULE.sub(stripped, text)
