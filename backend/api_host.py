"""Which host names are the API's; every other one is a link domain's."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from backend.domain.host_names import InvalidHostName, is_ip_address, normalize_host


class ApiHost:
    """The API answers on the host of the base URL, on localhost, and on plain addresses (health checks)."""

    def __init__(self, base_url: str) -> None:
        self._names = {urlsplit(base_url).hostname or "", "localhost"}
        # Asked for each redirect; few hosts are asked for.
        self._owns_header = lru_cache(maxsize=4096)(lambda header: self.owns(header.decode("latin-1")))

    def owns_request(self, host_header: bytes) -> bool:
        """Whether a request with this Host header, as received, is for the API."""
        return self._owns_header(host_header)

    def owns(self, host_header: str) -> bool:
        """Whether a host, with or without a port, is the API's."""
        try:
            host = normalize_host(host_header)
        except InvalidHostName:
            return _is_bracketed_address(host_header)
        return host in self._names or is_ip_address(host)


def _is_bracketed_address(host_header: str) -> bool:
    return host_header.startswith("[") and is_ip_address(host_header[: host_header.find("]") + 1])
