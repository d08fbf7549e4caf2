"""Flat Verilog-2001 from Amaranth components; a repeated unit is written once and instantiated."""

import re
from collections.abc import Mapping, Sequence

from amaranth import ClockDomain, ClockSignal, Instance, Module, ResetSignal, Shape, Signal, Value
from amaranth.back import verilog
from amaranth.hdl import Fragment
from amaranth.hdl._ir import PortDirection
from amaranth.lib import data, wiring

__all__ = ["Shared", "VerilogPlatform", "axi_names", "emit", "port_name"]

CLOCK = "clk"
RESET = "rst"

AXI_CHANNELS = ("aw", "w", "b", "ar", "r")


def port_name(path: tuple[str | int, ...]) -> str:
    """Return the Verilog name of the member at ``path``: its parts in lower case, joined by one underscore."""
    return "_".join(map(str, path)).lower()


def axi_names(member: str, prefix: str, channels: Sequence[str] = AXI_CHANNELS) -> dict[str, str]:
    """Return the ``names`` that give the AXI interface ``member`` the usual flat names.

    Parameters
    ----------
    member : str
        Dotted path of an interface whose members are streams named as the channels; their payloads are structures
        with fields named as in AXI (``addr``, ``len``, ...).
    prefix : str
        What the names start with: ``m_axi_mem`` gives ``m_axi_mem_araddr`` and ``m_axi_mem_arvalid``.
    channels : sequence of str
        The channels that the interface has, all five by default.
    """
    names = {}
    for channel in channels:
        names[f"{member}.{channel}.payload"] = f"{prefix}_{channel}*"
        names[f"{member}.{channel}.valid"] = f"{prefix}_{channel}valid"
        names[f"{member}.{channel}.ready"] = f"{prefix}_{channel}ready"
    return names


class VerilogPlatform:
    """Platform under which every :class:`Shared` becomes an instance of a module emitted once.

    Attributes
    ----------
    shared : dict
        The component behind each key, in the order in which the keys were met.
    """

    def __init__(self) -> None:
        self.shared: dict[str, wiring.Component] = {}

    def instance(self, key: str, interface: wiring.Component, component: wiring.Component) -> Instance:
        """Return an instance of module ``key`` wired to ``interface``, and queue ``component`` to be that module."""
        first = self.shared.setdefault(key, component)
        if type(first) is not type(component) or first.signature != component.signature:
            raise ValueError(f"shared module {key!r} stands for one component, not for {first!r} and {component!r}")
        # The copies are left out on purpose: without this Amaranth warns that they were never elaborated.
        component._MustUse__used = True
        wires = {f"i_{CLOCK}": ClockSignal(), f"i_{RESET}": ResetSignal()}
        for name, (signal, direction) in _ports(interface, {}, Fragment()).items():
            wires[("i_" if direction is PortDirection.Input else "o_") + name] = signal
        return Instance(key, **wires)


class Shared(wiring.Component):
    """Stand-in for ``component`` with the same members; in Verilog all stand-ins of one ``key`` are one module.

    Anywhere else (Amaranth's simulator) it contains the component itself. The component may use the ``sync`` domain only.

    Parameters
    ----------
    component : wiring.Component
        Fresh component, not elaborated elsewhere. Components of one key must be built from the same parameters.
    key : str
        Name of the module, unique in the design.
    """

    def __init__(self, component: wiring.Component, *, key: str):
        if not key.isidentifier():
            raise ValueError(f"key of a shared module must be a Verilog identifier, not {key!r}")
        self._component = component
        self._key = key
        super().__init__(component.signature)

    def elaborate(self, platform):
        if isinstance(platform, VerilogPlatform):
            return platform.instance(self._key, self, self._component)
        m = Module()
        m.submodules.unit = self._component
        wiring.connect(m, wiring.flipped(self), self._component)
        return m


def emit(component: wiring.Component, name: str, *, names: Mapping[str, str] | None = None) -> str:
    """Return ``component`` as Verilog-2001: the same text each time, no path of the machine in it.

    Ports are ``clk``, ``rst`` (synchronous, active high) and the members by :func:`port_name`.

    Parameters
    ----------
    component : wiring.Component
        Component in the ``sync`` domain, not yet elaborated.
    name : str
        Name of the top module; its submodules are called ``name.submodule``.
    names : mapping of str to str
        Other names for ports, by dotted member path: ``{"mem.ar.valid": "m_axi_mem_arvalid"}``. A name with a ``*`` splits
        a structure into a port per field and puts the field's name in place of the star.
    """
    platform = VerilogPlatform()
    texts = [_convert(component, name, names or {}, platform)]
    done: set[str] = set()
    # A shared module may itself hold shared modules, so the list can grow while it is worked through.
    while waiting := [key for key in platform.shared if key not in done]:
        for key in waiting:
            if key == name:
                raise ValueError(f"shared module must not have the name of the top module, {name!r}")
            done.add(key)
            texts.append(_convert(platform.shared[key], key, {}, platform))
    return "\n".join(texts)


def _convert(component: wiring.Component, name: str, names: Mapping[str, str], platform: VerilogPlatform) -> str:
    """Return one component and what it contains, without its shared modules."""
    domain = ClockDomain("sync")
    fragment = Fragment.get(component, platform)
    fragment.add_domains(domain)
    ports = {CLOCK: (domain.clk, PortDirection.Input), RESET: (domain.rst, PortDirection.Input)}
    ports |= _ports(component, names, fragment)
    text = verilog.convert(fragment, name=name, ports=ports, emit_src=False, strip_internal_attrs=True)
    # Yosys declares wires of no width, which nothing uses, as [-1:0]: two bits wide by the rules of Verilog.
    return re.sub(r"^ *wire \[-1:0\] .*;\n", "", text, flags=re.MULTILINE)


def _ports(component, names: Mapping[str, str], fragment: Fragment) -> dict[str, tuple[Value, PortDirection]]:
    """Return the ports of ``component``; the wires of structures that are split into fields go into ``fragment``."""
    ports: dict[str, tuple[Value, PortDirection]] = {}
    unknown = set(names)

    def add(name: str, signal: Value, direction: PortDirection) -> None:
        if name in ports or name in (CLOCK, RESET):
            raise ValueError(f"port names must be unique, two ports are called {name!r}")
        ports[name] = (signal, direction)

    for path, member, value in component.signature.flatten(component):
        direction = PortDirection.Input if member.flow == wiring.In else PortDirection.Output
        dotted = ".".join(map(str, path))
        unknown.discard(dotted)
        name = names.get(dotted, port_name(path))
        signal = Value.cast(value)
        if Shape.cast(member.shape).width == 0:
            continue
        if "*" not in name:
            add(name, signal, direction)
        elif isinstance(member.shape, data.StructLayout) or (
            isinstance(member.shape, type) and issubclass(member.shape, data.Struct)
        ):
            view = data.View(data.Layout.cast(member.shape), signal)
            for field, _ in data.Layout.cast(member.shape):
                inner = Value.cast(view[field])
                outer = Signal(inner.shape(), name=name.replace("*", str(field)))
                statement = inner.eq(outer) if direction is PortDirection.Input else outer.eq(inner)
                fragment.add_statements("comb", statement)
                add(outer.name, outer, direction)
        else:
            raise ValueError(f"only a structure can be split into ports, {dotted!r} is {member.shape!r}")
    if unknown:
        raise ValueError(f"names must be members of the component, not {sorted(unknown)}")
    return ports
