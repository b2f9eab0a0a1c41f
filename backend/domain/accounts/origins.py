"""Web origins: the sites on which browsers may use an organization's public key."""

from __future__ import annotations

from urllib.parse import urlsplit

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import HostName

_DEFAULT_PORTS = {"http": 80, "https": 443}
_FORM = "an origin must look like https://shop.com or https://*.shop.com"


class InvalidOrigin(ValueError):
    """The text is not a web origin. The message states the rule that it breaks."""


def parse_origin(text: str) -> str:
    """An origin as browsers send it: scheme, host in lower case, and the port if it is not the default.

    `https://*.shop.com` allows every subdomain of shop.com. Raises InvalidOrigin.
    """
    try:
        parts = urlsplit(text.strip())
    except ValueError:  # brackets of half an IPv6 address, and characters that mean a slash
        raise InvalidOrigin(_FORM) from None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise InvalidOrigin(_FORM)
    if parts.path not in {"", "/"} or parts.query or parts.fragment or "@" in parts.netloc:
        raise InvalidOrigin("an origin must have no path, query, fragment or user name")
    return f"{parts.scheme}://{_host(parts.hostname)}{_port(parts.scheme, parts.netloc)}"


def origin_matches(origin: str, pattern: str) -> bool:
    """Whether an Origin header equals the allowed origin `pattern` or fits its wildcard (SDK rule 9)."""
    if "://*." not in pattern:
        return origin == pattern
    scheme, _, suffix = pattern.partition("://*")
    if not origin.startswith(f"{scheme}://") or not origin.endswith(suffix):
        return False
    subdomain = origin[len(scheme) + 3 : len(origin) - len(suffix)]
    return bool(subdomain) and all(c.isascii() and (c.isalnum() or c in "-.") for c in subdomain)


def _host(host: str) -> str:
    wildcard, name = ("*.", host[2:]) if host.startswith("*.") else ("", host)
    try:
        return wildcard + HostName().parse("host", name)
    except InvalidField as error:
        raise InvalidOrigin(f"the host of an origin {error.rule}") from None


def _port(scheme: str, netloc: str) -> str:
    try:
        port = urlsplit(f"//{netloc}").port
    except ValueError:
        raise InvalidOrigin("the port of an origin must be from 1 to 65535") from None
    return "" if port in {None, _DEFAULT_PORTS[scheme]} else f":{port}"


def patterns_for(origin: str) -> list[str]:
    """All entries in a list of allowed origins that would match this Origin header: itself and wildcards."""
    scheme, separator, host = origin.partition("://")
    labels = host.split(".")
    # No host name has more labels than this. Each label costs a look-up.
    return [
        origin,
        *(f"{scheme}{separator}*.{'.'.join(labels[n:])}" for n in range(1, min(len(labels), 127))),
    ]
