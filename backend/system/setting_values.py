"""Reads the values of settings from the text of their variables: each raises ValueError or KeyError."""

from __future__ import annotations

import re
from email.errors import HeaderParseError
from email.headerregistry import Address
from email.utils import parseaddr
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

# Segments that need no encoding, and none of them `.` or `..`.
_PATH = re.compile(r"(/(?!\.{1,2}(/|$))[A-Za-z0-9._~-]+)+")


def port(text: str) -> int:
    """A port. Raises ValueError or KeyError."""
    port = int(text)
    if not 0 < port < 65536:
        raise ValueError
    return port


def positive(text: str) -> int:
    """A whole number above 0. Raises ValueError or KeyError."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def flag(text: str) -> bool:
    """A truth value. Raises ValueError or KeyError."""
    return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]


def web_address(text: str) -> str:
    """An http or https address without query, without its last slash. Raises ValueError or KeyError."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise ValueError
    return text.rstrip("/")


def mail_sender(text: str) -> str:
    """An e-mail address, with or without a name before it. Raises ValueError."""
    name, address = parseaddr(text)
    if not address.isascii() or not all(address.partition("@")[::2]) or not text.isprintable():
        raise ValueError
    try:
        return str(Address(name, addr_spec=address))
    except HeaderParseError:
        raise ValueError from None


def log_level(text: str) -> str:
    """A level of the log, in lower case. Raises ValueError or KeyError."""
    if text.lower() not in {"debug", "info", "warning", "error"}:
        raise ValueError
    return text.lower()


def seconds(text: str) -> float:
    """Seconds, above 0 and below a day. Raises ValueError or KeyError."""
    number = float(text)
    if not 0 < number < 86400:
        raise ValueError
    return number


def seconds_or_none(text: str) -> float:
    """Seconds, up to a day; 0 is allowed. Raises ValueError or KeyError."""
    number = float(text)
    if not 0 <= number <= 86400:
        raise ValueError
    return number


def hours_or_none(text: str) -> float:
    """Hours, up to a year; 0 is allowed. Raises ValueError."""
    number = float(text)
    if not 0 <= number <= 8784:
        raise ValueError
    return number


def days(text: str) -> int:
    """A whole number of days, from 1 to a year. Raises ValueError."""
    number = int(text)
    if not 1 <= number <= 366:
        raise ValueError
    return number


def networks(text: str) -> tuple[str, ...]:
    """Addresses or networks. Raises ValueError or KeyError."""
    parts = words(text)
    for word in parts:
        ip_network(word, strict=False)
    return parts


def paths(text: str) -> tuple[str, ...]:
    """Paths at which the service has no page. Raises ValueError or KeyError."""
    parts = words(text)
    for word in parts:
        if not _PATH.fullmatch(word) or word.startswith("/serviceCore"):
            raise ValueError
    return parts


def existing_file(text: str) -> Path:
    """A file that exists. Raises ValueError or KeyError."""
    if not Path(text).is_file():
        raise ValueError
    return Path(text)


def words(text: str) -> tuple[str, ...]:
    """The words between commas, without spaces around them."""
    return tuple(word.strip() for word in text.split(",") if word.strip())
