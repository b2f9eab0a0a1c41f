"""Identities in a feed: who a device's customer is, as calls of `identify` told, and what was taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend.domain.feed.facts import Fact
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.feed.named import find_named
from backend.storage.feed.runs import Run, Told
from backend.storage.visitors import identities


async def load_identities(
    database: Database, session: ClientSession, org_id: OrgId, runs: Sequence[Run]
) -> list[list[Told | None]]:
    """What was told of customers, with what is known of each."""
    found = await find_named(database, session, identities.NAME, org_id, (own_id(run.fact) for run in runs))
    return [[_told(run.fact, found)] for run in runs]


def own_id(fact: Fact) -> str:
    """The id of the fact's identity, without the organization's."""
    return f"{fact['device_id'] or ''}/{fact['customer_id'] or ''}"


def _told(fact: Fact, found: Mapping[str, Document]) -> Told | None:
    known = found.get(own_id(fact))
    if known is None:
        return None
    data = {
        "device_id": fact["device_id"],
        "customer_id": fact["customer_id"],
        "taken_back": fact.get("taken_back", False),
        "name": known.get("name"),
        "emails_sha256": known.get("emails_sha256", []),
        "phone_sha256": known.get("phone_sha256"),
    }
    return Told(fact["at"], data)
