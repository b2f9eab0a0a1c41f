"""The `organizations` collection: name, subscription, retention and cookie settings of each organization."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pymongo import IndexModel, ReturnDocument

from backend.domain.accounts.destination_rules import MOST_PATTERNS, RULE_FIELDS, DestinationRules
from backend.domain.accounts.organizations import (
    CLICK_DAYS,
    FEWEST_AUDIT_DAYS,
    FEWEST_CLICK_DAYS,
    NAME_RULE,
    EntryRules,
    Organization,
)
from backend.domain.analytics.event_properties import MOST_MARKED, PropertyName
from backend.domain.errors import ItemUnknown, OperatorError
from backend.domain.fields.rules import HostName
from backend.domain.ids import OrgId
from backend.storage.driver.blocking import BlockingDatabase, in_thread
from backend.storage.driver.mongo import ClientSession, Database, Document
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.document_fields import days_from, integer, list_of, nested
from backend.storage.schema.document_shape import DocumentShape, with_default
from backend.storage.schema.ownership import ById
from backend.storage.schema.work_item import WorkItem, items_of

NAME = "organizations"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel("name"),
        IndexModel("click_ids", partialFilterExpression={"click_ids": False}, name="without_click_ids"),
    ],
    owned_by=ById(),
    personal=NotPersonal("the organization made it, and its own people delete it"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("one small document an organization"),
    audited=Audited(kind="organization", name="name", ignored=frozenset({"member_changes"})),
    # Without its provider, nobody could do what it requires.
    withheld={"requires_single_sign_on": False},
)
_RULES = DocumentShape(
    record=DestinationRules,
    rules={name: list_of(rule.pattern.parse, MOST_PATTERNS) for name, rule in RULE_FIELDS.items()},
    optional=with_default(DestinationRules),
    id_field=None,
)
SHAPE = DocumentShape(
    record=Organization,
    rules={
        "name": NAME_RULE.parse,
        "retention_days": days_from(1),
        "click_days": days_from(FEWEST_CLICK_DAYS),
        "audit_days": days_from(FEWEST_AUDIT_DAYS),
        "cookie_domain": HostName().parse,
        "event_properties": list_of(PropertyName().parse, MOST_MARKED),
        "destination_rules": nested(_RULES.fields),
    },
    optional=with_default(Organization),
    stored_at_times={"member_changes": integer},
)


class UnknownOrganization(OperatorError):
    """No organization has this id."""

    def __init__(self, org_id: OrgId) -> None:
        super().__init__(
            f"There is no organization with the id {org_id!r}; `waylink organization list` shows them."
        )


async def create_organization(database: Database, name: str, now: datetime) -> Organization:
    """Store a new organization with a new id, and return it."""
    organization = Organization(OrgId(str(uuid.uuid4())), name, now)
    await database[NAME].insert_one(
        {
            "_id": organization.id,
            "name": organization.name,
            "created_at": organization.created_at,
            "subscription_until": organization.subscription_until,
        }
    )
    return organization


async def get_organization(database: Database, org_id: OrgId) -> Organization:
    """The organization with this id. Raises UnknownOrganization."""
    document = await database[NAME].find_one({"_id": org_id})
    if document is None:
        raise UnknownOrganization(org_id)
    return SHAPE.from_document(document)


async def find_organizations(database: Database, org_ids: Iterable[OrgId]) -> list[Organization]:
    """Those of these organizations that exist, in alphabetical order."""
    cursor = database[NAME].find({"_id": {"$in": list(org_ids)}}).sort("name", 1)
    return [SHAPE.from_document(document) async for document in cursor]


async def find_organization_by_name(database: Database, name: str) -> Organization | None:
    """The oldest organization with this name, since names need not be unique; None if there is none."""
    document = await database[NAME].find_one({"name": name}, sort=[("created_at", 1)])
    return SHAPE.from_document(document) if document else None


async def list_organizations(database: Database) -> list[Organization]:
    """All organizations in alphabetical order."""
    return [item.read() for item in await organization_items(database)]


async def organization_items(database: Database) -> list[WorkItem[Organization]]:
    """All organizations in alphabetical order, for work that is done for each."""
    return await items_of(database[NAME].find().sort("name", 1), SHAPE.from_document, owner_in="_id")


async def rename_organization(database: Database, org_id: OrgId, name: str) -> None:
    """Give the organization another name. Raises UnknownOrganization."""
    await _set(database, org_id, {"name": name})


async def set_subscription(database: Database, org_id: OrgId, until: datetime | None) -> Organization:
    """Set the end of the paid subscription; None removes it. Raises UnknownOrganization."""
    return SHAPE.from_document(await _set(database, org_id, {"subscription_until": until}))


async def set_retention_days(database: Database, org_id: OrgId, days: int | None) -> None:
    """Set for how many days data about visitors is kept; None means without limit.

    Documents already stored keep their dates: see storage/lifecycle/retention. Raises UnknownOrganization.
    """
    await _set(database, org_id, {"retention_days": days})


async def find_retention_days(database: Database, org_ids: Iterable[OrgId]) -> dict[OrgId, int | None]:
    """How many days each of these organizations keeps data about visitors; None means without limit."""
    return await in_thread(database, lambda blocking: read_retention_days(blocking, org_ids))


def read_retention_days(database: BlockingDatabase, org_ids: Iterable[OrgId]) -> dict[OrgId, int | None]:
    """As `find_retention_days`, in the calling thread."""
    organizations = database[NAME].find({"_id": {"$in": list(org_ids)}}, {"retention_days": 1})
    return {document["_id"]: document.get("retention_days") for document in organizations}


@dataclass(frozen=True, slots=True)
class AskedSettings:
    """What questions about an organization's facts depend on: its retention, and the properties it marked."""

    retention_days: int | None = None
    event_properties: tuple[str, ...] = ()


async def find_asked_settings(database: Database, org_id: OrgId) -> AskedSettings:
    """The organization's, as they are now."""
    names = {"retention_days": 1, "event_properties": 1}
    document = await database[NAME].find_one({"_id": org_id}, names) or {}
    return AskedSettings(document.get("retention_days"), _properties_in(document))


async def find_event_properties(database: Database, org_id: OrgId) -> tuple[str, ...]:
    """The properties of events that the organization has marked; none if there is no such organization."""
    return (await find_asked_settings(database, org_id)).event_properties


async def set_event_properties(database: Database, org_id: OrgId, names: Sequence[str]) -> None:
    """Set which properties of events questions may name, from now on. Raises UnknownOrganization."""
    await _set(database, org_id, {"event_properties": list(names)})


async def find_click_days(
    database: Database, org_ids: Iterable[OrgId], session: ClientSession | None = None
) -> dict[OrgId, int | None]:
    """How many days each of these organizations keeps single clicks; None means without limit."""
    org_ids = list(org_ids)
    cursor = database[NAME].find({"_id": {"$in": org_ids}}, {"click_days": 1}, session=session)
    days: dict[OrgId, int | None] = dict.fromkeys(org_ids, CLICK_DAYS)
    async for document in cursor:
        days[OrgId(document["_id"])] = document.get("click_days", CLICK_DAYS)
    return days


async def set_click_days(database: Database, org_id: OrgId, days: int | None) -> None:
    """Set for how many days single clicks are kept, also those that are stored; None means without limit.

    Their sums stay (storage/clicks/expired_days). Raises UnknownOrganization.
    """
    await _set(database, org_id, {"click_days": days})


async def set_audit_days(database: Database, org_id: OrgId, days: int | None) -> None:
    """Set for how many days entries of the audit log are kept, also those that are stored; None means without
    limit. Raises UnknownOrganization.
    """
    await _set(database, org_id, {"audit_days": days})


async def set_device_cookie(database: Database, org_id: OrgId, is_on: bool, domain: str | None) -> None:
    """Set whether answers renew the device cookie, and for which domain. Raises UnknownOrganization."""
    await _set(database, org_id, {"device_cookie": is_on, "cookie_domain": domain})


async def set_erases_on_withdrawal(database: Database, org_id: OrgId, is_on: bool) -> None:
    """Set whether a withdrawal of consent may erase what is stored. Raises UnknownOrganization."""
    await _set(database, org_id, {"erases_on_withdrawal": is_on})


async def note_member_change(database: Database, session: ClientSession, org_id: OrgId) -> None:
    """Note in the caller's transaction that it changes the organization's members, or who lets them in.

    It is what two such transactions both write, so that the later one begins again and sees the earlier. A
    number, since MongoDB does not write what changes nothing, and two may happen at one time of the clock.
    Raises ItemUnknown if the organization was deleted: it gets no members any more.
    """
    changed = {"$inc": {"member_changes": 1}}
    if not (await database[NAME].update_one({"_id": org_id}, changed, session=session)).matched_count:
        raise ItemUnknown


async def set_click_ids(database: Database, org_id: OrgId, is_on: bool) -> None:
    """Set whether redirects append click ids. It holds within seconds. Raises UnknownOrganization."""
    await _set(database, org_id, {"click_ids": is_on})


async def set_requires_second_factor(database: Database, org_id: OrgId, is_on: bool) -> None:
    """Set whether its dashboard opens only for users with a second factor. Raises UnknownOrganization."""
    await _set(database, org_id, {"requires_second_factor": is_on})


async def set_requires_single_sign_on(
    database: Database, org_id: OrgId, *, is_on: bool, session: ClientSession | None = None
) -> None:
    """Set whether its dashboard opens only for who came through its identity provider.

    Raises UnknownOrganization.
    """
    await _set(database, org_id, {"requires_single_sign_on": is_on}, session)


async def find_entry_rules(database: Database, org_id: OrgId) -> EntryRules:
    """What the organization requires of whoever enters its dashboard."""
    names = {"requires_second_factor": 1, "requires_single_sign_on": 1}
    document = await database[NAME].find_one({"_id": org_id}, names) or {}
    return EntryRules(
        second_factor=document.get("requires_second_factor", False),
        single_sign_on=document.get("requires_single_sign_on", False),
    )


async def find_without_click_ids(database: Database) -> frozenset[OrgId]:
    """The organizations whose redirects append no click ids."""
    without = database[NAME].find({"click_ids": False}, {"_id": 1})
    return frozenset([document["_id"] async for document in without])


async def find_destination_rules(database: Database, org_id: OrgId) -> DestinationRules:
    """Where the organization's links may lead; no rules if there is no such organization."""
    document = await database[NAME].find_one({"_id": org_id}, {"destination_rules": 1})
    return _rules_in(document or {})


async def set_destination_rules(database: Database, org_id: OrgId, rules: DestinationRules) -> None:
    """Set where the organization's links may lead, from now on. Raises UnknownOrganization."""
    await change_destination_rules(database, org_id, {"allowed": rules.allowed, "refused": rules.refused})


async def change_destination_rules(
    database: Database, org_id: OrgId, lists: Mapping[str, Sequence[str]]
) -> DestinationRules:
    """Set those of the lists `allowed` and `refused` that are given, one or both, and return all rules.

    Raises UnknownOrganization.
    """
    stored = {f"destination_rules.{name}": list(patterns) for name, patterns in lists.items()}
    return _rules_in(await _set(database, org_id, stored))


async def _set(
    database: Database, org_id: OrgId, changes: Document, session: ClientSession | None = None
) -> Document:
    """Set these fields. Returns the document as it is then. Raises UnknownOrganization."""
    document = await database[NAME].find_one_and_update(
        {"_id": org_id}, {"$set": changes}, return_document=ReturnDocument.AFTER, session=session
    )
    if document is None:
        raise UnknownOrganization(org_id)
    return document


def _rules_in(document: Document) -> DestinationRules:
    return _RULES.from_document(document.get("destination_rules", {}))


def _properties_in(document: Document) -> tuple[str, ...]:
    return tuple(document.get("event_properties", ()))
