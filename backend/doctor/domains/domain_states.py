"""What is found about the domains of organizations, kept for pages that do not wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from backend.concurrency.fair_semaphore import FairSemaphore
from backend.concurrency.timed_cache import TimedCache
from backend.doctor.domains.dns import find_target, plan_of, target_host
from backend.doctor.domains.domain_examination import DomainExamination
from backend.domain.domains.claims import DomainClaim
from backend.domain.domains.dns import DnsPlan, DnsTarget
from backend.domain.errors import ItemUnknown
from backend.domain.finding import Area, Finding, Findings, SetupStep, Severity
from backend.domain.ids import OrgId
from backend.storage.accounts.domain_setup.claims import find_claim, keep_claim, settle_claim
from backend.storage.accounts.domain_setup.findings import KeptFindings, find_findings, keep_findings
from backend.storage.accounts.domains import is_domain_of
from backend.storage.driver.deadlines import new_deadline
from backend.web.current import Resources
from backend.web_client.name_servers import DnsSilent, NameServers

_findings = Findings(Area.DOMAINS, SetupStep.OWNERSHIP)
_LATER = "DNS servers may take up to an hour to tell of a new record. Then check again."


async def examine_claim(names: NameServers, claim: DomainClaim) -> Finding:
    """Whether the record of the claim is in the domain's DNS. Nothing else is asked of a name that may be
    another's."""
    record = claim.record
    try:
        texts = await names.find_texts(record.name)
    except DnsSilent as error:
        return _findings.warning(claim.domain, f"DNS {error}.", "Check again in a few minutes.")
    if claim.is_proved_by(texts):
        return _findings.ok(claim.domain, f"The TXT record {record.name} is there.")
    if texts:
        return _findings.error(
            claim.domain,
            f"The TXT record {record.name} has another value, {texts[0]}.",
            f"Replace it with {record.value}, or enter that as one more TXT record.",
        )
    return _findings.error(claim.domain, f"There is no TXT record {record.name} yet.", _LATER)


# Domains that are examined at the same time, half of them of one organization at most. Each examination
# connects to other hosts.
_MOST_CONCURRENT = 4
# Of a list, so many are examined at once. Each domain's own page has it examined too.
_MOST_ANEW = 10
# What was found is taken for true for so long.
FRESH = timedelta(minutes=1)
# A page waits so long for the addresses of the target.
_TARGET_SECONDS = 1.0
_Key = tuple[OrgId, str]


class _Targets(TimedCache[str, DnsTarget]):
    """Where link domains are to lead, by the host that the settings name."""

    LIFETIME = FRESH.total_seconds()


class _Examinations(TimedCache[_Key, KeptFindings]):
    """Those that are under way. What they found is in the database, where all processes read it."""

    CAPACITY = 0


class DomainStates:
    """Examines domains in the background. Whoever asks decides how long to wait for it."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._free = FairSemaphore(_MOST_CONCURRENT)
        self._examinations = _Examinations(self._examine_and_keep)
        self._targets = _Targets(self._find_target)

    async def of(self, org_id: OrgId, names: Sequence[str], seconds: float) -> dict[str, KeptFindings]:
        """What was found last about these domains and claims of the organization, by domain.

        Those whose findings are older than FRESH are examined anew, ten of them. What takes longer than
        `seconds` goes on, so that it is there for the next who asks, and older findings, if there are some,
        are answered.
        """
        kept = await find_findings(self._resources.database, org_id, names)
        stale = [name for name in names if name not in kept or not self.is_fresh(kept[name])]
        tasks = {name: self._examinations.loading((org_id, name)) for name in stale[:_MOST_ANEW]}
        if tasks:
            await asyncio.wait(tasks.values(), timeout=seconds)
        done = {name: task for name, task in tasks.items() if task.done() and not task.exception()}
        return kept | {name: task.result() for name, task in done.items()}

    async def look(self, org_id: OrgId, name: str, seconds: float) -> KeptFindings | None:
        """What is found now about a domain or a claim; None if that takes longer, and then it goes on.

        A claim that is proved is settled: the domain is the organization's, and is examined as such. Raises
        ItemUnknown, and DomainTaken if somebody else has proved that it is theirs.
        """
        found = await self._examined(org_id, name, seconds)
        if found is None or not _is_proved(found.findings):
            return found
        await self._settle(org_id, name)
        return await self._examined(org_id, name, seconds)

    def is_fresh(self, kept: KeptFindings) -> bool:
        """Whether what was found is taken for true without looking again."""
        return kept.at >= self._resources.clock() - FRESH

    async def plan(self, name: str) -> DnsPlan:
        """Where the domain is to lead. The target has no addresses as long as DNS does not tell them."""
        host = target_host(self._resources.settings)
        target = self._targets.fresh(host)
        if target is None:
            loading = self._targets.loading(host)
            await asyncio.wait([loading], timeout=_TARGET_SECONDS)
            target = loading.result() if loading.done() and not loading.exception() else DnsTarget(host)
        return await plan_of(name, target)

    async def stop(self) -> None:
        """Cancel all examinations that are under way."""
        await self._examinations.stop()
        await self._targets.stop()

    async def _examined(self, org_id: OrgId, name: str, seconds: float) -> KeptFindings | None:
        """What is found now; None if that takes longer than `seconds`. Raises ItemUnknown."""
        task = self._examinations.loading((org_id, name))
        await asyncio.wait([task], timeout=seconds)
        return task.result() if task.done() else None

    async def _settle(self, org_id: OrgId, name: str) -> None:
        database, now = self._resources.database, self._resources.clock()
        with suppress(ItemUnknown):  # another look has settled it at the same moment
            await settle_claim(database, await find_claim(database, org_id, name), now)

    async def _examine_and_keep(self, key: _Key) -> KeptFindings:
        org_id, name = key
        database, clock = self._resources.database, self._resources.clock
        async with self._free.place(org_id):
            with new_deadline():  # it may outlive the request that began it
                if await is_domain_of(database, name, org_id):
                    findings = await self._examine_domain(name)
                else:
                    claim = await find_claim(database, org_id, name)
                    findings = await self._examine_claim(claim)
                return await keep_findings(database, org_id, name, findings, clock())

    async def _find_target(self, _: str) -> DnsTarget:
        return await find_target(self._resources.names, self._resources.settings)

    async def _examine_domain(self, name: str) -> list[Finding]:
        resources = self._resources
        examination = DomainExamination(
            resources.database, resources.settings, resources.names, resources.clock()
        )
        return [finding async for finding in examination.examine(name)]

    async def _examine_claim(self, claim: DomainClaim) -> list[Finding]:
        await keep_claim(self._resources.database, claim, self._resources.clock())
        return [await examine_claim(self._resources.names, claim)]


def _is_proved(findings: Sequence[Finding]) -> bool:
    """Whether these are findings about a claim, and its record is there."""
    return any(
        finding.step is SetupStep.OWNERSHIP and finding.severity is Severity.OK for finding in findings
    )
