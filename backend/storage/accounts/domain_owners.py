"""Remembers for two seconds whose link domains are, so that new links need not ask for it each time."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable

from backend.domain.ids import OrgId
from backend.storage.accounts.domains import find_owners
from backend.storage.driver.mongo import Database


class DomainOwners:
    """The owners of link domains.

    No TimedCache: many hosts are asked for in one query, and those that are no link domains are remembered as
    such, since most links lead to them.
    """

    LIFETIME = 2.0
    CAPACITY = 10_000

    def __init__(self, database: Database, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._monotonic = monotonic
        self._known: OrderedDict[str, tuple[float, OrgId | None]] = OrderedDict()

    async def find(self, hosts: Iterable[str]) -> dict[str, OrgId]:
        """Those of these hosts that are link domains, each with its owner."""
        now = self._monotonic()
        remembered = {host: known[1] for host in hosts if (known := self._known.get(host)) and now < known[0]}
        if unknown := [host for host in hosts if host not in remembered]:
            found = await find_owners(self._database, None, unknown)
            for host in unknown:
                remembered[host] = found.get(host)
                self._remember(host, now, found.get(host))
        return {host: owner for host, owner in remembered.items() if owner is not None}

    def _remember(self, host: str, now: float, owner: OrgId | None) -> None:
        self._known.pop(host, None)
        self._known[host] = (now + self.LIFETIME, owner)
        while len(self._known) > self.CAPACITY:
            self._known.popitem(last=False)
