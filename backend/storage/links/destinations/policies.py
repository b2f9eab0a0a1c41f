"""Reads the policies that say where links of organizations may lead."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from backend.concurrency.timed_cache import TimedCache
from backend.domain.fields.addresses.address_patterns import AddressPatterns
from backend.domain.ids import OrgId
from backend.domain.links.destinations.policy import DestinationPolicy
from backend.storage.accounts.organizations import find_destination_rules
from backend.storage.driver.mongo import Database

_NOTHING = AddressPatterns()


def nothing_blocked() -> AddressPatterns:
    """The block list of an operator who has none."""
    return _NOTHING


class DestinationPolicies:
    """The rules of organizations, remembered for two seconds, and the operator's block list as it is now."""

    def __init__(self, database: Database, blocked: Callable[[], AddressPatterns] = nothing_blocked) -> None:
        self._database = database
        self._blocked = blocked
        self._rules: TimedCache[OrgId, DestinationPolicy] = TimedCache(self._load)

    async def of(self, org_ids: Iterable[OrgId]) -> dict[OrgId, DestinationPolicy]:
        """The policy of each of these organizations."""
        blocked = self._blocked()
        policies = {org_id: await self._rules.get(org_id) for org_id in set(org_ids)}
        return {org_id: policy.with_blocked(blocked) for org_id, policy in policies.items()}

    async def _load(self, org_id: OrgId) -> DestinationPolicy:
        return DestinationPolicy.of(await find_destination_rules(self._database, org_id))
