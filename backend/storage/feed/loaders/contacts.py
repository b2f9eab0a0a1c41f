"""Loads identities of feeds: the contacts of calls of `identify`, and of what was taken back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from backend.domain.feed.event_shapes import IdentifyJson
from backend.domain.feed.facts import Fact
from backend.domain.ids import OrgId
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.feed.loaders.fact_documents import find_documents
from backend.storage.feed.loaders.runs import EventContent, Run
from backend.storage.visitors import contacts


async def load_contacts(
    database: Database, session: ClientSession, org_id: OrgId, runs: Sequence[Run]
) -> list[list[EventContent | None]]:
    """The contents of these runs' identities; None where the contact was deleted."""
    own_ids = (own_id(run.fact) for run in runs)
    documents = await find_documents(database, session, contacts.NAME, org_id, own_ids)
    return [[_content(run.fact, documents)] for run in runs]


def own_id(fact: Fact) -> str:
    """The id of the fact's contact, without the organization's."""
    return f"{fact['device_id'] or ''}/{fact['customer_id'] or ''}"


def _content(fact: Fact, documents: Mapping[str, Document]) -> EventContent | None:
    document = documents.get(own_id(fact))
    if document is None:
        return None
    data: IdentifyJson = {
        "device_id": fact["device_id"],
        "customer_id": fact["customer_id"],
        "taken_back": fact.get("taken_back", False),
        "name": document.get("name"),
        "emails_sha256": document.get("emails_sha256", []),
        "phone_sha256": document.get("phone_sha256"),
    }
    return EventContent(fact["at"], data)
