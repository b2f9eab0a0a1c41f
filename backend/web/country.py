"""The country of a visitor: from a trusted proxy's header, the operator's mmdb file, or a table from PyPI."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import maxminddb
from geoip2fast import GeoIP2Fast

from backend.concurrency.bounded_cache import remember
from backend.web.proxies import TrustedProxies

Lookup = Callable[[str], str | None]
_LONGEST_ADDRESS = 64  # characters; with an IPv6 zone
# Of the package's tables, the one that has IPv6 networks beside IPv4.
_TABLE = "geoip2fast-ipv6.dat.gz"


class Countries:
    """Finds the countries of visitors, without waiting for anything."""

    def __init__(self, proxies: TrustedProxies, header: str, mmdb: Path | None) -> None:
        """`header` is the one in which a trusted proxy names the country; "" if there is none."""
        self.header = header.lower().encode()
        self._proxies = proxies
        self._country_of = country_lookup(mmdb)

    def country(self, peer: str, address: str, named: bytes) -> str | None:
        """The country of the visitor at this address, "" if it is unknown.

        `peer` is the address of the connection, and `named` the value of `header` in the request.
        """
        if not address:
            return None
        if self.header and self._proxies.trusts(peer) and (code := country_code(named.decode("latin-1"))):
            return code
        return self._country_of(address)


def country_lookup(mmdb: Path | None) -> Lookup:
    """A function that returns the ISO 3166 code for an IP address, or None.

    `mmdb` is the operator's file; None uses the table from PyPI. Results of recent addresses are cached.
    """
    return remember(2_000_000, _LONGEST_ADDRESS)(_mmdb_lookup(mmdb) if mmdb else _table_lookup())


def country_code(text: str | None) -> str | None:
    """The text as a country code; None if it is not one (or Cloudflare's XX: unknown, T1: Tor)."""
    code = (text or "").upper()
    is_code = len(code) == 2 and code.isascii() and code.isalpha()
    return code if is_code and code not in {"XX", "ZZ"} else None


def _mmdb_lookup(path: Path) -> Lookup:
    reader = maxminddb.open_database(path)

    def lookup(address: str) -> str | None:
        try:
            entry: Any = reader.get(ip_address(address))
        except ValueError:
            return None
        country = (entry or {}).get("country") or {}
        return country_code(country.get("iso_code"))

    return lookup


@cache
def load_table() -> GeoIP2Fast:
    """The table from PyPI. Read once: it is large, forks share it, and reading it starts `ps` twice."""
    return GeoIP2Fast(geoip2fast_data_file=_TABLE)


def _table_lookup() -> Lookup:
    table = load_table()

    def lookup(address: str) -> str | None:
        return country_code(table.lookup(address).country_code)

    return lookup
