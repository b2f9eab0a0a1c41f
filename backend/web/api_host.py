"""Decides whether a host name is the API's. Every other one is a link domain."""

from __future__ import annotations

from urllib.parse import urlsplit

from backend.concurrency.bounded_cache import remember
from backend.domain.web.host_names import LONGEST_HOST, InvalidHostName, is_ip_address, normalize_host


class ApiHost:
    """The API answers on the host of the base URL, on localhost, and on IP addresses (for health checks)."""

    def __init__(self, base_url: str) -> None:
        self._names = {_normal(urlsplit(base_url).hostname or ""), "localhost"}
        # Called for each redirect, but for only a few different hosts.
        self.owns_request = remember(1_000_000, LONGEST_HOST)(self._owns_request)

    def _owns_request(self, host_header: bytes) -> bool:
        """Whether a request with this Host header is for the API."""
        return self.owns(host_header.decode("latin-1"))

    def owns(self, host_header: str) -> bool:
        """Whether this host, with or without a port, is the API's."""
        try:
            host = normalize_host(host_header)
        except InvalidHostName:
            return _is_bracketed_address(host_header)
        return host in self._names or is_ip_address(host)


def _normal(host: str) -> str:
    """The host of the base URL as hosts of requests are compared: in punycode, without a final dot."""
    try:
        return normalize_host(host)
    except InvalidHostName:  # an address in brackets
        return host


def _is_bracketed_address(host_header: str) -> bool:
    return host_header.startswith("[") and is_ip_address(host_header[: host_header.find("]") + 1])
