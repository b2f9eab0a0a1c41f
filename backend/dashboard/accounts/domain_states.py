"""The findings of `waylink doctor` about link domains, for the dashboard. They are cached for a minute."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from backend.concurrency.timed_cache import TimedCache
from backend.doctor.domains.domain_examination import DomainExamination
from backend.domain.finding import Finding
from backend.web.current import Resources

# Domains that are examined at the same time, for all users. Each examination connects to other hosts.
_MOST_CONCURRENT = 4


class _FindingsCache(TimedCache[str, list[Finding]]):
    """The cached findings of each domain."""

    LIFETIME = 60.0
    CAPACITY = 1000


class DomainStates:
    """Examines domains in the background. A page decides how long it waits for the results."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._cache = _FindingsCache(self._examine)
        self._free = asyncio.Semaphore(_MOST_CONCURRENT)

    async def of(self, domains: Sequence[str], seconds: float) -> dict[str, list[Finding]]:
        """The findings by domain, for those domains whose examination ends within `seconds`.

        Other domains are left out. Their examination goes on, so that a later page shows its findings.
        """
        cached = {domain: findings for domain in domains if (findings := self._cache.fresh(domain))}
        tasks = {domain: self._cache.loading(domain) for domain in domains if domain not in cached}
        if tasks:
            await asyncio.wait(tasks.values(), timeout=seconds)
        return cached | {
            domain: task.result() for domain, task in tasks.items() if task.done() and not task.exception()
        }

    async def stop(self) -> None:
        """Cancel all running examinations."""
        await self._cache.stop()

    async def _examine(self, domain: str) -> list[Finding]:
        settings, database = self._resources.settings, self._resources.database
        async with self._free:
            examination = DomainExamination(
                database, settings, self._resources.names, self._resources.clock()
            )
            return [finding async for finding in examination.examine(domain)]
