"""AXI4 as the core speaks it: INCR bursts of full beats, one identifier, answers in order."""

import enum

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from linxtile.config import CoreConfig

__all__ = [
    "BURST_BEATS", "INCR", "PAGE_BYTES", "Response", "address_layout", "axi4_signature", "burst_bytes", "read_data_layout",
    "read_signature", "write_data_layout", "write_response_layout", "write_signature",
]  # fmt: skip

PAGE_BYTES = 4096
"""A burst never crosses a multiple of this; errors are a property of such pages."""

BURST_BEATS = 256
"""Most beats of a burst."""

INCR = 1
"""Burst type with addresses that count up."""

IDENTIFIER_BITS = 1
RESPONSE_BITS = 2


class Response(enum.IntEnum):
    """Answer of the bus to a beat read or a burst written; bit 1 means refused."""

    OKAY = 0
    EXOKAY = 1
    SLVERR = 2
    DECERR = 3


def burst_bytes(config: CoreConfig) -> int:
    """Bytes of memory, naturally aligned, that a burst may not leave: 4 KiB, or what the most beats can carry."""
    return min(PAGE_BYTES, BURST_BEATS * config.axi_data_bytes)


def address_layout(config: CoreConfig) -> data.StructLayout:
    """Payload of AR and AW. ``addr`` is a multiple of the beat, ``len`` beats minus one, ``id`` always 0."""
    return data.StructLayout({"id": IDENTIFIER_BITS, "addr": config.axi_address_bits, "len": 8, "size": 3, "burst": 2})


def read_data_layout(config: CoreConfig) -> data.StructLayout:
    """Payload of R."""
    return data.StructLayout(
        {"id": IDENTIFIER_BITS, "data": config.axi_data_bytes * 8, "resp": RESPONSE_BITS, "last": 1}
    )


def write_data_layout(config: CoreConfig) -> data.StructLayout:
    """Payload of W."""
    return data.StructLayout({"data": config.axi_data_bytes * 8, "strb": config.axi_data_bytes, "last": 1})


def write_response_layout() -> data.StructLayout:
    """Payload of B."""
    return data.StructLayout({"id": IDENTIFIER_BITS, "resp": RESPONSE_BITS})


def _read_members(config: CoreConfig) -> dict[str, wiring.Member]:
    return {
        "ar": Out(stream.Signature(address_layout(config))),
        "r": In(stream.Signature(read_data_layout(config))),
    }


def _write_members(config: CoreConfig) -> dict[str, wiring.Member]:
    return {
        "aw": Out(stream.Signature(address_layout(config))),
        "w": Out(stream.Signature(write_data_layout(config))),
        "b": In(stream.Signature(write_response_layout())),
    }


def read_signature(config: CoreConfig) -> wiring.Signature:
    """The two channels of a port that only reads, as the manager sees them."""
    return wiring.Signature(_read_members(config))


def write_signature(config: CoreConfig) -> wiring.Signature:
    """The three channels of a port that only writes, as the manager sees them."""
    return wiring.Signature(_write_members(config))


def axi4_signature(config: CoreConfig) -> wiring.Signature:
    """All five channels, as the manager sees them."""
    return wiring.Signature({**_read_members(config), **_write_members(config)})
