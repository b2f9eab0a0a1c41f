"""Addresses of DNS servers, as settings name them."""

from __future__ import annotations

from ipaddress import ip_address

_PORT = 53


def parse_name_server(text: str) -> tuple[str, int]:
    """The IP address and port of `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`.

    Raises ValueError.
    """
    address, port = text, ""
    if text.startswith("["):
        address, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    elif text.count(":") == 1:
        address, _, port = text.partition(":")
    number = int(port) if port else _PORT
    if not 0 < number < 65536:
        raise ValueError(f"{number} is not a port")
    return str(ip_address(address)), number
