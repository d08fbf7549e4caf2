"""Unit benches: one component, its generated Verilog and a cocotb module, in one call."""

import json
import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from amaranth.lib import wiring

from linxtile.config import CoreConfig
from linxtile_rtl.verilog import emit

from .kept import kept_verilog
from .runner import Results, available, simulate

__all__ = ["parameters", "run_unit"]

PARAMETERS = "LINXTILE_UNIT"


def run_unit(
    component: wiring.Component | partial[wiring.Component],
    test_file: str | Path,
    *,
    simulator: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    testcase: str | Sequence[str] | None = None,
    seed: int = 1,
    waves: bool = False,
    visible: bool = False,
) -> Results:
    """Emit ``component`` and run the cocotb tests of ``test_file`` on it; raise with the log's end if one fails.

    Parameters
    ----------
    component : wiring.Component or partial
        Component under test, fresh, or ``partial(Class, config=config)``: the Verilog of that is written once for all benches.
        The top module is called after the class.
    test_file : str or Path
        File with ``cocotb.test`` functions; ``__file__`` when they stand beside the pytest function.
    simulator : str, optional
        ``icarus`` or ``verilator``; by default Icarus, which builds at once, or Verilator where Icarus is missing.
    parameters : mapping
        Anything JSON can hold; the cocotb tests get it back from :func:`parameters`.
    names : mapping of str to str
        Port names, see :func:`linxtile_rtl.verilog.emit`.
    """
    simulator = simulator or ("icarus" if available("icarus") else "verilator")
    file = Path(test_file).resolve()
    unit = component.func if isinstance(component, partial) else type(component)
    top = unit.__name__.lower()
    label = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0].rpartition("::")[2] or "run"
    safe = "".join(character if character.isalnum() or character in "-_." else "_" for character in label)
    return simulate(
        simulator,
        top,
        {f"{top}.v": _verilog(component, top, names)},
        file.stem,
        name=f"{file.stem}-{safe}-{simulator}-{seed}",
        search_path=[file.parent],
        testcase=testcase,
        seed=seed,
        waves=waves,
        visible=visible,
        environment={PARAMETERS: json.dumps(dict(parameters or {}))},
    )


def _verilog(component: wiring.Component | partial[wiring.Component], top: str, names: Mapping[str, str] | None) -> str:
    if not isinstance(component, partial):
        return emit(component, top, names=names)
    config = component.keywords.get("config")
    if component.args or len(component.keywords) != 1 or not isinstance(config, CoreConfig):
        raise ValueError(f"the only parameter of a unit that is kept is its configuration, not {component}")
    if not component.func.__module__.startswith("linxtile_rtl."):
        raise ValueError(f"a unit that is kept must be part of linxtile_rtl, not of {component.func.__module__}")
    key = repr((component.func.__module__, component.func.__qualname__, config.plain(), dict(names or {})))
    return kept_verilog(top, key, lambda: emit(component(), top, names=names))


def parameters() -> dict[str, Any]:
    """Return the ``parameters`` that the pytest side gave to :func:`run_unit`; for use inside cocotb tests."""
    result: dict[str, Any] = json.loads(os.environ.get(PARAMETERS, "{}"))
    return result
