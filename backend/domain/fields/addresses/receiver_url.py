"""The addresses that organizations have the service send requests to."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Schema, WebAddress
from backend.domain.web.host_names import is_ip_address, is_local_name
from backend.domain.web.public_addresses import is_loopback, is_public

_LONGEST = 2_048
_HTTPS = 443
# Those below are other services', which are not to be knocked at.
_FIRST_FREE_PORT = 1_024


@dataclass(frozen=True, slots=True)
class ReceiverUrl:
    """An https URL that may be public, at port 443 or above 1023.

    What its host's name leads to is checked whenever something is sent. With `allows_loopback`, a URL of this
    machine may be http, at any port: for development, where the service itself is at such an address.
    """

    allows_loopback: bool = False

    def parse(self, field: str, value: object) -> str:
        """The URL, unchanged. Raises InvalidField."""
        url = WebAddress(_LONGEST).parse(field, value)
        parts = urlsplit(url)
        if parts.fragment:
            raise InvalidField(field, "must not have a fragment (#…)")
        host = parts.hostname or ""
        if is_loopback_host(host):
            if self.allows_loopback:
                return url
            raise InvalidField(field, "must be a public address, not one of this machine")
        if parts.scheme != "https":
            raise InvalidField(field, "must be an https URL")
        if is_ip_address(host) and not is_public(host):
            raise InvalidField(field, "must be a public address, not one of a private network")
        port = parts.port or _HTTPS
        if port != _HTTPS and port < _FIRST_FREE_PORT:
            raise InvalidField(field, f"must have the port 443, or one from {_FIRST_FREE_PORT} on")
        return url

    def schema(self) -> Schema:
        """JSON Schema of a URL with https, or with http where that is allowed."""
        scheme = "https?" if self.allows_loopback else "https"
        pattern = f"^{scheme}://[^\\s]+$"
        return {"type": "string", "format": "iri", "maxLength": _LONGEST, "pattern": pattern}


def is_loopback_host(host: str) -> bool:
    """Whether the name or address of a host means the machine itself."""
    return is_local_name(host.lower().rstrip(".")) or (is_ip_address(host) and is_loopback(host))


def is_loopback_url(url: str) -> bool:
    """Whether the URL is of the machine itself."""
    return is_loopback_host(urlsplit(url).hostname or "")
