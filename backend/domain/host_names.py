"""Host names of link domains, in the one form in which they are stored and compared."""

from __future__ import annotations

import ipaddress
import re

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


class InvalidHostName(ValueError):
    """The text is not a host name; the message says which rule it breaks."""


def normalize_host(text: str) -> str:
    """The host of a Host header or a typed domain: lower case, punycode, no port, no trailing dot.

    Raises InvalidHostName for what can't be a DNS name (contract, "Link input fields": domain).
    """
    host = _to_ascii(_without_port(text.strip())).lower().removesuffix(".")
    if not host or len(host) > 253:
        raise InvalidHostName("must be a host name of 1 to 253 characters")
    if not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise InvalidHostName("must be a host name: letters, digits and hyphens, separated by dots")
    return host


def is_host_name(text: str) -> bool:
    """Whether the text is a host name in the form of `normalize_host`."""
    try:
        return normalize_host(text) == text
    except InvalidHostName:
        return False


def is_ip_address(host: str) -> bool:
    """Whether the host is an address instead of a name."""
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def _without_port(text: str) -> str:
    host, separator, port = text.rpartition(":")
    return host if separator and port.isdecimal() and port.isascii() else text


def _to_ascii(host: str) -> str:
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii")
    except UnicodeError:
        raise InvalidHostName("must be a host name that can be written in punycode") from None
