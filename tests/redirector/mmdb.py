"""A MaxMind database with one network in it, written byte by byte (MaxMind DB File Format 2.0)."""

from __future__ import annotations

from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

_MARKER = b"\xab\xcd\xefMaxMind.com"
_SEPARATOR = bytes(16)
# How many bytes a whole number has, by its key in the metadata; 2 where it is not named.
_WIDTHS = {"node_count": 4, "build_epoch": 8}


def write_mmdb(path: Path, network: IPv4Network, country: str) -> Path:
    """Write a database in which the addresses of one network are of one country."""
    bits = f"{int(network.network_address):032b}"[: network.prefixlen]
    tree = b"".join(_node(number, bit, len(bits)) for number, bit in enumerate(bits))
    metadata = {
        "binary_format_major_version": 2,
        "binary_format_minor_version": 0,
        "build_epoch": 1,
        "database_type": "Test",
        "description": {},
        "ip_version": 4,
        "languages": [],
        "node_count": len(bits),
        "record_size": 32,
    }
    found = _value({"country": {"iso_code": country}})
    path.write_bytes(tree + _SEPARATOR + found + _MARKER + _value(metadata))
    return path


def _node(number: int, bit: str, count: int) -> bytes:
    """Where an address goes on after this bit: to the next node, at the last one to the data, or nowhere."""
    onward = count + len(_SEPARATOR) if number == count - 1 else number + 1
    records = (onward, count) if bit == "0" else (count, onward)
    return b"".join(record.to_bytes(4, "big") for record in records)


def _value(value: Any, width: int = 2) -> bytes:
    """Maps, texts, whole numbers and empty lists; sizes below 29."""
    match value:
        case dict():
            parts = (_value(key) + _value(member, _WIDTHS.get(key, 2)) for key, member in value.items())
            return bytes([7 << 5 | len(value)]) + b"".join(parts)
        case str():
            return bytes([2 << 5 | len(value)]) + value.encode()
        case int():
            kind = {2: bytes([5 << 5 | 2]), 4: bytes([6 << 5 | 4]), 8: bytes([8, 9 - 7])}[width]
            return kind + value.to_bytes(width, "big")
    return bytes([len(value), 11 - 7])
