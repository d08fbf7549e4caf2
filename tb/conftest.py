"""Set up what every test needs."""

import gc
import os
from collections.abc import Generator

import pytest

# Amaranth would take any yosys it finds on the machine: the Verilog must be the same everywhere.
os.environ["AMARANTH_USE_YOSYS"] = "builtin"
# Amaranth makes millions of objects that live until the Verilog is written; looking for cycles among them takes a third of its time.
gc.set_threshold(50_000, 20, 100)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Skip a test whose simulator is not installed; the model's tests need no simulation package at all."""
    try:
        return (yield)
    except Exception as error:
        if type(error).__name__ == "SimulatorMissing":
            pytest.skip(str(error))
        raise
