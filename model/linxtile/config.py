"""Configuration of a tile core: one frozen dataclass that the golden model and the RTL both read.

*Architectural* parameters decide what a program means; *speed* parameters only how many cycles it takes.
The model looks at the architectural ones alone.
"""

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from linxtile.isa.codes import MAX_DESTINATIONS, Layout
from linxtile.isa.operations import operation
from linxtile.isa.support import (
    MODEL_LAYOUTS,
    MODEL_MOVE_TILES,
    MODEL_OPERATIONS,
    RTL_LAYOUTS,
    RTL_MOVE_TILES,
    RTL_OPERATIONS,
)

__all__ = ["GRANULE_BYTES", "PRESETS", "RTL_PRESETS", "CoreConfig"]

GRANULE_BYTES = 256
"""Unit of tile storage: the smallest tile, and the natural alignment of tile bases."""


def _power_of_two(name: str, value: int, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if not low <= value <= high or value & (value - 1):
        raise ValueError(f"{name} must be a power of two from {low} to {high}, not {value!r}")


def _in_range(name: str, value: int, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if not low <= value <= high:
        raise ValueError(f"{name} must be {low} to {high}, not {value!r}")


@dataclass(frozen=True, kw_only=True)
class CoreConfig:
    """What a core can do and how wide it is.

    Parameters
    ----------
    name : str
        Name used in file names and reports.
    tile_ram_bytes : int
        Architectural. Storage of all tiles together, a power of two.
    tile_min_bytes, tile_max_bytes : int
        Architectural. Smallest and largest tile, powers of two; the largest fits the tile RAM.
    axi_address_bits : int
        Architectural. An access at or above ``2**axi_address_bits`` faults.
    operations : Mapping[str, frozenset[str]]
        Architectural. Operation name to the element types it supports; everything else raises UNSUPPORTED.
    move_tiles : int
        Architectural. Most tiles of one TLOAD or TSTORE; more raise UNSUPPORTED.
    move_layouts : frozenset[str]
        Architectural. Layouts of TLOAD and TSTORE that are supported; others raise UNSUPPORTED.
    vector_bytes : int
        Speed. Bytes a cycle of the vector engine, and the width of a tile RAM line.
    banks : int
        Speed. Banks of the tile RAM.
    axi_data_bytes : int
        Speed. Width of the memory port; equal to ``vector_bytes``.
    blocks_in_flight : int
        Speed. Blocks between decode and commit, a power of two.
    reads_outstanding : int
        Speed. Most AXI read bursts under way.
    register_log : int
        Speed. Register writes of set-up blocks between decode and commit, at least 32.
    watchdog_cycles : int
        Speed. Cycles that the core waits for a memory in which nothing moves before a WATCHDOG fault; 0 waits for ever. The
        model's memory always answers, so the model never raises that fault.
    """

    name: str = "default"
    tile_ram_bytes: int = 128 * 1024
    tile_min_bytes: int = 256
    tile_max_bytes: int = 32 * 1024
    axi_address_bits: int = 40
    operations: Mapping[str, frozenset[str]] = field(default_factory=lambda: RTL_OPERATIONS)
    move_tiles: int = RTL_MOVE_TILES
    move_layouts: frozenset[str] = frozenset(layout.name for layout in RTL_LAYOUTS)
    vector_bytes: int = 16
    banks: int = 8
    axi_data_bytes: int = 16
    blocks_in_flight: int = 8
    reads_outstanding: int = 64
    register_log: int = 64
    watchdog_cycles: int = 65536

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise ValueError(f"name must be a plain word, not {self.name!r}")
        _power_of_two("tile_ram_bytes", self.tile_ram_bytes, 1024, 1 << 24)
        _power_of_two("tile_min_bytes", self.tile_min_bytes, GRANULE_BYTES, 512 * 1024)
        _power_of_two("tile_max_bytes", self.tile_max_bytes, self.tile_min_bytes, 512 * 1024)
        if self.tile_max_bytes > self.tile_ram_bytes:
            raise ValueError(
                f"tile_max_bytes must not exceed tile_ram_bytes ({self.tile_ram_bytes}), not {self.tile_max_bytes!r}"
            )
        _in_range("axi_address_bits", self.axi_address_bits, 16, 63)
        _in_range("move_tiles", self.move_tiles, 1, MAX_DESTINATIONS)
        _power_of_two("vector_bytes", self.vector_bytes, 8, 64)
        _power_of_two("banks", self.banks, 2, 32)
        _power_of_two("blocks_in_flight", self.blocks_in_flight, 2, 64)
        _power_of_two("reads_outstanding", self.reads_outstanding, 2, 256)
        _power_of_two("register_log", self.register_log, 32, 1024)
        _in_range("watchdog_cycles", self.watchdog_cycles, 0, (1 << 31) - 1)
        if self.axi_data_bytes != self.vector_bytes:
            raise ValueError(
                f"axi_data_bytes must equal vector_bytes ({self.vector_bytes}), not {self.axi_data_bytes!r}"
            )
        if (
            self.tile_min_bytes < self.vector_bytes * self.banks // 2
            and self.tile_ram_bytes < self.vector_bytes * self.banks
        ):
            raise ValueError(
                f"banks must leave at least one line a bank in {self.tile_ram_bytes} bytes, not {self.banks!r}"
            )
        object.__setattr__(self, "operations", self._checked_operations())
        unknown = sorted(set(self.move_layouts) - set(Layout.__members__))
        if unknown:
            raise ValueError(f"move_layouts must be names of layouts such as {Layout.NORM.name}, not {unknown[0]!r}")
        object.__setattr__(self, "move_layouts", frozenset(self.move_layouts))

    def _checked_operations(self) -> Mapping[str, frozenset[str]]:
        checked: dict[str, frozenset[str]] = {}
        # In one order, whoever wrote the configuration down: generated Verilog depends on it.
        for name, types in sorted(self.operations.items(), key=lambda entry: operation(entry[0]).number):
            row = operation(name)
            unknown = set(types) - set(row.source_types or ())
            if unknown:
                raise ValueError(f"operations: {name} has no element type {sorted(unknown)[0]!r}")
            checked[row.name] = frozenset(types)
        return MappingProxyType(checked)

    def supports(self, name: str, data_type: str) -> bool:
        """Whether operation ``name`` runs on elements of ``data_type``."""
        return data_type in self.operations.get(name, frozenset())

    def replace(self, **changes: object) -> "CoreConfig":
        """Return a copy with some parameters changed, checked again."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def plain(self) -> dict[str, object]:
        """Return the parameters as plain values in one order: names, numbers, sorted tuples."""
        values = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        values["operations"] = {name: tuple(sorted(self.operations[name])) for name in sorted(self.operations)}
        values["move_layouts"] = tuple(sorted(self.move_layouts))
        return values

    def __reduce__(self) -> tuple[object, ...]:
        return _from_plain, (self.plain(),)

    @property
    def granules(self) -> int:
        """Number of storage granules."""
        return self.tile_ram_bytes // GRANULE_BYTES

    @property
    def lines(self) -> int:
        """Number of tile RAM lines of ``vector_bytes``."""
        return self.tile_ram_bytes // self.vector_bytes

    @classmethod
    def from_toml(cls, path: str | Path) -> "CoreConfig":
        """Load a configuration; the file may name a ``preset`` and then change some of its parameters.

        Raises
        ------
        ValueError
            The file is no TOML, or a key or value is not allowed.
        """
        try:
            values = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: {error}") from error
        preset = values.pop("preset", "default")
        if not isinstance(preset, str) or preset not in PRESETS:
            raise ValueError(f"{path}: preset must be one of {', '.join(PRESETS)}, not {preset!r}")
        allowed = {f.name for f in dataclasses.fields(cls)}
        for key in values:
            if key not in allowed:
                raise ValueError(f"{path}: {key!r} is no parameter; there are {', '.join(sorted(allowed))}")
        if "operations" in values:
            if not isinstance(values["operations"], dict):
                raise ValueError(f"{path}: operations must be a table of type lists, not {values['operations']!r}")
            values["operations"] = {
                name: _names(f"{path}: operations.{name}", types) for name, types in values["operations"].items()
            }
        if "move_layouts" in values:
            values["move_layouts"] = _names(f"{path}: move_layouts", values["move_layouts"])
        try:
            return dataclasses.replace(PRESETS[preset], **values)
        except (TypeError, ValueError, KeyError) as error:
            raise ValueError(f"{path}: {error}") from error

    @classmethod
    def named(cls, name_or_path: str) -> "CoreConfig":
        """Return a preset by name, or the configuration in a TOML file."""
        if name_or_path in PRESETS:
            return PRESETS[name_or_path]
        if not Path(name_or_path).is_file():
            raise ValueError(f"configuration must be {', '.join(PRESETS)} or a TOML file, not {name_or_path!r}")
        return cls.from_toml(name_or_path)


def _names(what: str, value: object) -> frozenset[str]:
    """Return the names in a list of a TOML file."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"{what} must be a list of names, not {value!r}")
    return frozenset(value)


def _from_plain(values: dict[str, Any]) -> CoreConfig:
    return CoreConfig(**values)


PRESETS: Mapping[str, CoreConfig] = MappingProxyType(
    {
        config.name: config
        for config in (
            CoreConfig(
                name="small", tile_ram_bytes=32 * 1024, tile_max_bytes=8 * 1024, vector_bytes=8, axi_data_bytes=8,
                blocks_in_flight=4,
            ),
            CoreConfig(name="default"),
            CoreConfig(
                name="large", tile_ram_bytes=1024 * 1024, vector_bytes=64, axi_data_bytes=64, blocks_in_flight=16,
                move_layouts=frozenset({Layout.NORM.name}),
            ),
            CoreConfig(
                name="reference", operations=MODEL_OPERATIONS, move_tiles=MODEL_MOVE_TILES,
                move_layouts=frozenset(layout.name for layout in MODEL_LAYOUTS),
            ),
        )
    }
)  # fmt: skip
"""Named configurations; ``reference`` is the default core with every operation of the golden model."""

RTL_PRESETS = ("small", "default", "large")
"""Presets that the RTL can be built as."""
