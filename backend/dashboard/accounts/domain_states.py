"""The findings of `waylink doctor` about link domains, for the dashboard. They are cached for a minute."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import httpx

from backend.concurrency.timed_cache import TimedCache
from backend.doctor.configuration import SECONDS
from backend.doctor.domains import DomainExamination
from backend.doctor.finding import Finding
from backend.web.current import Resources

# Domains examined at the same time, for all users: each opens connections to other hosts.
_AT_ONCE = 4


class _Believed(TimedCache[str, list[Finding]]):
    """The cached findings of each domain."""

    LIFETIME = 60.0
    CAPACITY = 1000


class DomainStates:
    """Examines domains in the background. A page decides how long it waits for the results."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._believed = _Believed(self._examine)
        self._free = asyncio.Semaphore(_AT_ONCE)

    async def of(self, domains: Sequence[str], patience: float) -> dict[str, list[Finding]]:
        """The findings for those of these domains that are done within `patience` seconds.

        The others are left out; their examination goes on, and a later page shows it.
        """
        known = {domain: found for domain in domains if (found := self._believed.fresh(domain))}
        tasks = {domain: self._believed.loading(domain) for domain in domains if domain not in known}
        if tasks:
            await asyncio.wait(tasks.values(), timeout=patience)
        return known | {
            domain: task.result() for domain, task in tasks.items() if task.done() and not task.exception()
        }

    async def stop(self) -> None:
        """Cancel all running examinations."""
        await self._believed.stop()

    async def _examine(self, domain: str) -> list[Finding]:
        settings, database = self._resources.settings, self._resources.database
        async with self._free, httpx.AsyncClient(timeout=SECONDS, follow_redirects=False) as client:
            examination = DomainExamination(database, settings, client, self._resources.clock())
            return [finding async for finding in examination.examine(domain)]
