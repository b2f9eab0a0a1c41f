"""A cache of the owners of link domains, so that not every new link needs a query. It lasts two seconds."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable

from backend.storage.accounts.domains import DomainOwner, find_owners
from backend.storage.driver.mongo import Database


class DomainOwners:
    """The owners of link domains.

    It is no TimedCache, since one query asks for many hosts. Hosts that are no link domains are cached too,
    since most links lead to such hosts.
    """

    LIFETIME = 2.0
    CAPACITY = 10_000

    def __init__(self, database: Database, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._monotonic = monotonic
        self._cached: OrderedDict[str, tuple[float, DomainOwner | None]] = OrderedDict()

    async def find(self, hosts: Iterable[str]) -> dict[str, DomainOwner]:
        """Those of these hosts that are link domains, each with its owner."""
        now = self._monotonic()
        hosts = list(hosts)
        cached = ((host, self._cached.get(host)) for host in hosts)
        owners = {host: entry[1] for host, entry in cached if entry and now < entry[0]}
        if missing := [host for host in hosts if host not in owners]:
            stored = await find_owners(self._database, None, missing)
            for host in missing:
                owners[host] = stored.get(host)
                self._remember(host, now, stored.get(host))
        return {host: owner for host, owner in owners.items() if owner is not None}

    def _remember(self, host: str, now: float, owner: DomainOwner | None) -> None:
        self._cached.pop(host, None)
        self._cached[host] = (now + self.LIFETIME, owner)
        while len(self._cached) > self.CAPACITY:
            self._cached.popitem(last=False)
