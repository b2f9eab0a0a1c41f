"""Host names of link domains, in the one normal form in which they are stored and compared."""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache

import idna

# In characters, without a dot at the end. Longer names are refused before any other check.
LONGEST_NAME = 253
LONGEST_LABEL = 63
# Of a Host header: a name or an address, and a port.
LONGEST_HOST = LONGEST_NAME + len(".:65535")
# What most web addresses begin with, which takes no parser to find the host.
_PLAIN_HOST = re.compile(r"https?://([A-Za-z0-9.-]+)(?=[/?#]|$)")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


class InvalidHostName(ValueError):
    """The text is not a host name. The message states the rule that it breaks."""


def normalize_host(text: str) -> str:
    """A host (from a Host header or typed by a user) in lower case and punycode, without port or final dot.

    Raises InvalidHostName if it can't be a DNS name (contract, "Link input fields": domain).
    """
    return _kept(text) if len(text) <= LONGEST_HOST else _normalized(text)


def _normalized(text: str) -> str:
    host = in_ascii(_without_port(text.strip())).lower().removesuffix(".")
    if not host or len(host) > LONGEST_NAME:
        raise InvalidHostName(f"must be a host name of 1 to {LONGEST_NAME} characters")
    if not all(_LABEL.fullmatch(label) for label in host.split(".")):
        raise InvalidHostName("must be a host name: letters, digits and hyphens, separated by dots")
    return host


_kept = lru_cache(maxsize=2_000)(_normalized)


def in_ascii(host: str) -> str:
    """The host in punycode, as browsers write it (UTS 46, nontransitional): `straße.de` is not `strasse.de`.

    A host that is ASCII already is returned unchanged. Raises InvalidHostName if it is too long or has no
    such form.
    """
    if host.isascii():
        return host
    try:
        _refuse_long(host)
        mapped = idna.uts46_remap(host, std3_rules=False)  # `normalize_host` checks more strictly
        _refuse_long(mapped)
        return ".".join(map(_label_in_ascii, mapped.split(".")))
    except UnicodeError:
        raise InvalidHostName("must be a host name that can be written in punycode") from None


def plainly_written_host(url: str) -> str | None:
    """The host of a web address that needs no parser to be found, as it is written; None of any other."""
    plain = _PLAIN_HOST.match(url)
    return plain[1] if plain else None


def is_host_name(text: str) -> bool:
    """Whether the text is a host name in the form that `normalize_host` returns."""
    try:
        return normalize_host(text) == text
    except InvalidHostName:
        return False


def is_ip_address(host: str) -> bool:
    """Whether the host is an IP address, not a name."""
    if ":" not in host and not host[-1:].isdigit():  # most hosts, told without an exception
        return False
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def is_local_name(name: str) -> bool:
    """Whether the name is localhost or under it, which means the machine itself (RFC 6761)."""
    return f".{name}".endswith(".localhost")


def _without_port(text: str) -> str:
    host, separator, port = text.rpartition(":")
    return host if separator and port.isdecimal() and port.isascii() else text


def _refuse_long(host: str) -> None:
    """Raise InvalidHostName if the host is too long.

    Checked before the conversion to punycode: its time grows with the square of a label's length, and its
    result is never shorter than the label.
    """
    if len(host) > LONGEST_NAME + 1:
        raise InvalidHostName(f"must be a host name of 1 to {LONGEST_NAME} characters")
    if any(len(label) > LONGEST_LABEL for label in host.split(".")):
        raise InvalidHostName(f"must be a host name with at most {LONGEST_LABEL} characters between dots")


def _label_in_ascii(label: str) -> str:
    if label.isascii():
        return label
    try:
        return idna.alabel(label).decode("ascii")
    except idna.InvalidCodepoint:  # symbols such as emoji, which IDNA 2008 leaves out and browsers take
        return f"xn--{label.encode('punycode').decode('ascii')}"
