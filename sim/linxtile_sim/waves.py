"""A GTKWave save file for the waves of a simulated core: signals by unit, codes by the names of the ISA tables."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any

import pywellen
from amaranth.hdl import Fragment
from amaranth.lib.wiring import Component
from vcd.gtkw import GTKWSave

from linxtile.config import PRESETS
from linxtile.isa.codes import PadValue
from linxtile.isa.faults import Rule
from linxtile.isa.operations import OPERATIONS
from linxtile.isa.types import DATA_TYPES
from linxtile_rtl import binder, fetch, reorder
from linxtile_rtl.layouts import BlockKind, WordStatus
from linxtile_rtl.move.load_engine import LoadEngine
from linxtile_rtl.move.store_engine import StoreEngine
from linxtile_rtl.scheduler import ENGINES

__all__ = ["GROUPS", "TABLES", "Shown", "signals", "write_save_file"]

TOP = "simulation_top"
ZOOM = -17.0
"""Some fifteen pixels a clock cycle."""


class Response(IntEnum):
    """Answers of an AXI4 subordinate."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


def _members(members: Iterable[Enum]) -> dict[int, str]:
    return {int(member.value): member.name for member in members}


def _states(unit: Component) -> dict[int, str]:
    """Return the states of a unit that is written as a state machine of Amaranth, which numbers them itself."""
    encoding = Fragment.get(unit, None).find_generated("fsm").encoding
    return {int(code): str(name) for name, code in encoding.items()}


TABLES: Mapping[str, Mapping[int, str]] = {
    "operation": {number: row.name for number, row in enumerate(OPERATIONS)},
    "type": {row.code: row.name for row in DATA_TYPES},
    "rule": {0: "none"} | _members(Rule),
    "pad": _members(PadValue),
    "kind": _members(BlockKind),
    "word": _members(WordStatus),
    "response": _members(Response),
    "fetch": _members(fetch.State),
    "binder": _members(binder.State),
    "reorder": _members(reorder.State),
    "load": _states(LoadEngine(config=PRESETS["default"])),
    "store": _states(StoreEngine(config=PRESETS["default"])),
}
"""Names of the codes of a kind of signal."""


@dataclass(frozen=True)
class Shown:
    """A signal to show: its label, its path under the top, and what turns it into text: a name of `TABLES` or a radix."""

    label: str
    signal: str
    form: str


def _stream(label: str, path: str, **forms: str) -> tuple[Shown, ...]:
    """Return the signals of a stream, of its payload the given fields."""
    handshake = (Shown(f"{label} {name}", f"{path}__{name}", "bin") for name in ("valid", "ready"))
    return *handshake, *(Shown(f"{label} {name}", f"{path}__payload.{name}", form) for name, form in forms.items())


def _done(engine: str) -> tuple[Shown, ...]:
    """Return what an engine reports to the ring."""
    return _stream(
        "done", f"core.scheduler.reorder.done__{ENGINES.index(engine)}", tag="dec", rule="rule", fault_address="hex"
    )


_SHAPE = {"valid_columns": "dec", "valid_rows": "dec", "columns": "dec"}
_MOVE = {"tag": "dec", "base": "hex", "stride": "hex", "valid_rows": "dec", "row_bytes": "dec"}
_ADDRESS = {"addr": "hex", "len": "dec"}

GROUPS: Mapping[str, tuple[Shown, ...]] = {
    "fetch": (
        Shown("state", "aligner.state", "fetch"),
        *_stream("word", "core.decoder.i", address="hex", bits="hex", status="word"),
    ),
    "decoder": _stream(
        "block", "core.decoder.o", kind="kind", operation="operation", data_type="type", **_SHAPE,
        pad="pad", rule="rule", block_address="hex",
    ),
    "binder": (
        Shown("state", "core.scheduler.binder.state", "binder"),
        Shown("block kind", "core.scheduler.binder.block.kind", "kind"),
        Shown("block operation", "core.scheduler.binder.block.operation", "operation"),
        Shown("block data_type", "core.scheduler.binder.block.data_type", "type"),
        Shown("tag", "core.scheduler.binder.tag", "dec"),
        Shown("rule", "core.scheduler.binder.rule", "rule"),
    ),
    "vector engine": (
        *_stream("command", "core.scheduler.vectors.o", tag="dec", operation="operation", data_type="type", valid_rows="dec"),
        Shown("idle", "core.vector.idle", "bin"),
        *_stream("write", "core.tile_ram.writes__0", tag="dec", line="hex", data="hex"),
        *_done("vector"),
    ),
    "tile mover": (
        *_stream("command", "core.scheduler.moves.o", tag="dec", valid_rows="dec", valid_columns="dec", columns="dec"),
        Shown("idle", "core.mover.idle", "bin"),
        *_stream("write", "core.tile_ram.writes__2", tag="dec", line="hex", data="hex"),
        *_done("move"),
    ),
    "load engine": (
        *_stream("command", "core.scheduler.loads.o", **_MOVE),
        Shown("state", "core.load.fsm_state", "load"),
        Shown("idle", "core.load.idle", "bin"),
        *_stream("write", "core.tile_ram.writes__1", tag="dec", line="hex", data="hex"),
        *_done("load"),
    ),
    "store engine": (
        *_stream("command", "core.scheduler.stores.o", **_MOVE),
        Shown("state", "core.store.fsm_state", "store"),
        Shown("idle", "core.store.idle", "bin"),
        *_done("store"),
    ),
    "memory port": (
        *_stream("ar", "memory.axi__ar", **_ADDRESS),
        *_stream("r", "memory.axi__r", data="hex", resp="response", last="bin"),
        *_stream("aw", "memory.axi__aw", **_ADDRESS),
        *_stream("w", "memory.axi__w", data="hex", strb="bin", last="bin"),
        *_stream("b", "memory.axi__b", resp="response"),
    ),
    "commit": (
        Shown("state", "core.scheduler.reorder.state", "reorder"),
        Shown("in flight", "core.scheduler.reorder.flight__in_flight", "bin"),
        Shown("finished", "core.scheduler.reorder.flight__finished", "bin"),
        Shown("oldest", "core.scheduler.reorder.flight__oldest", "dec"),
        Shown("flush", "core.scheduler.reorder.flight__flush", "bin"),
        *_stream(
            "record", "core.scheduler.reorder.retire", kind="kind", operation="operation", tag="dec", rule="rule",
            block_address="hex", fault_address="hex",
        ),
        Shown("trapped", "core.scheduler.reorder.trapped", "bin"),
        Shown("halted", "core.scheduler.reorder.halted", "bin"),
    ),
}  # fmt: skip
"""What is shown, by unit, in the order of the block diagram."""


def signals(waves: Path) -> dict[str, Any]:
    """Return the variables of a wave file by their path under the top, without the marks of escaped names."""
    found: dict[str, Any] = {}
    for variable in pywellen.Waveform(str(waves)).all_vars():
        path = variable.full_name.replace("\\", "").removeprefix(f"{TOP}.")
        found.setdefault(path, variable)
    return found


def write_save_file(waves: Path) -> list[str]:
    """Write ``NAME.gtkw`` and the folder ``NAME_names`` of translation files beside ``NAME.fst``.

    Returns
    -------
    list of str
        Signals of `GROUPS` that the waves do not hold; they are left out.
    """
    found = signals(waves)
    names = waves.with_name(f"{waves.stem}_names").resolve()
    names.mkdir(parents=True, exist_ok=True)
    missing = []
    with open(waves.with_suffix(".gtkw"), "w", encoding="utf-8") as file:
        save = GTKWSave(file)
        save.dumpfile(str(waves))
        start = _first_high(found.get("program_start"))
        save.timestart(start)
        save.zoom_markers(ZOOM, start)
        save.signals_width(320)
        save.size(1600, 1000)
        for title, group in GROUPS.items():
            with save.group(title):
                for shown in group:
                    if shown.signal in found:
                        _trace(save, shown, found[shown.signal], names)
                    else:
                        missing.append(shown.signal)
    return missing


def _trace(save: GTKWSave, shown: Shown, variable: Any, names: Path) -> None:
    bits = variable.bitwidth or 1
    # GTKWave finds a vector only by its name with the range.
    name = variable.full_name + (f"[{bits - 1}:0]" if bits > 1 else "")
    if shown.form in TABLES:
        file = str(_translation(names, shown.form, bits))
        save.trace(name, alias=shown.label, datafmt="hex", translate_filter_file=file)
    else:
        save.trace(name, alias=shown.label, datafmt=shown.form)


def _translation(names: Path, form: str, bits: int) -> Path:
    """Return the file that names the codes of a signal of ``bits`` bits, written as GTKWave shows them."""
    file = names / f"{form}_{bits}.txt"
    digits = (bits + 3) // 4
    lines = [f"{code:0{digits}X} {name}\n" for code, name in TABLES[form].items() if code < 1 << bits]
    file.write_text("".join(lines), encoding="utf-8")
    return file


def _first_high(variable: Any) -> int:
    """Return the first time at which a signal is 1; 0 if it never is."""
    changes = [] if variable is None else variable.tv
    return next((int(time) for time, value in changes if str(value) == "1"), 0)
