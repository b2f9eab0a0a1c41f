"""The `alert_rules` collection: what organizations want to be told of."""

from __future__ import annotations

import hmac
import secrets
import uuid
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pymongo import IndexModel

from backend.domain.alerts.input import RULE_NAME, MailTo, check_change, check_new
from backend.domain.alerts.rule import ALERT_KEY, MOST_RULES, AlertRule
from backend.domain.errors import InvalidField
from backend.domain.fields.item_names import name_key
from backend.domain.ids import AlertRuleId, LinkId, OrgId, TagId
from backend.storage.accounts.users.users import list_users
from backend.storage.alerts import alerts
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_link
from backend.storage.links.tags import find_tag_ids, list_tags
from backend.storage.mail.mails import drop_waiting
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.document_fields import time_zone, url_token
from backend.storage.schema.document_shape import DocumentShape, stored_values
from backend.storage.schema.own_documents import OwnDocuments
from backend.storage.schema.ownership import ByField
from backend.storage.schema.work_item import WorkItem, items_of

NAME = "alert_rules"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("created_at", 1)]),
        IndexModel("is_enabled", partialFilterExpression={"is_enabled": True}),
    ],
    owned_by=ByField(),
    personal=NotPersonal("what the organization's own people want to be told of"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("an organization has few"),
    audited=Audited(kind="alert_rule", name="name", hidden=frozenset({"secret"})),
)
SHAPE = DocumentShape(
    record=AlertRule,
    rules={
        "name": RULE_NAME.parse,
        "mail_to": MailTo().parse,
        "timezone": time_zone,
        "secret": url_token,
    },
)
_RULES = OwnDocuments(NAME, MOST_RULES, "name", "alert rules")
# Nobody can guess a secret of so many bytes.
_SECRET_BYTES = 32


async def drafted_rule(
    database: Database, org_id: OrgId, given: Mapping[str, Any], now: datetime
) -> AlertRule:
    """The rule with these fields (`NEW_FIELDS`), which is not stored.

    Raises InvalidField, also for a link, a tag or a person that the organization does not have.
    """
    values = check_new(given)
    if link_id := values.pop("link_id", None):
        if await find_link(database, LinkId(link_id), org_id) is None:
            raise InvalidField("link_id", "must be the id of a link of yours")
        values["link_id"] = link_id
    if name := values.pop("tag", None):
        tag_ids = await find_tag_ids(database, None, org_id, [name])
        if name_key(name) not in tag_ids:
            raise InvalidField("tag", f"was not found: {name}")
        values["tag_id"] = tag_ids[name_key(name)]
    await _check_people(database, org_id, values.get("mail_to", ()))
    rule_id = AlertRuleId(str(uuid.uuid4()))
    return AlertRule(
        id=rule_id,
        org_id=org_id,
        created_at=now.replace(microsecond=0),
        secret=secrets.token_urlsafe(_SECRET_BYTES),
        **values,
    )


async def create_rule(
    database: Database, org_id: OrgId, given: Mapping[str, Any], now: datetime
) -> AlertRule:
    """Store a new rule. Raises as `drafted_rule`, and TooManyItems."""
    rule = await drafted_rule(database, org_id, given, now)
    await _RULES.check_room(database, org_id)
    await database[NAME].insert_one(SHAPE.to_document(rule))
    return rule


async def list_rules(database: Database, org_id: OrgId) -> list[AlertRule]:
    """All rules of the organization, the oldest first."""
    cursor = database[NAME].find({"org_id": org_id}).sort([("created_at", 1), ("_id", 1)])
    return [SHAPE.from_document(document) async for document in cursor]


async def enabled_rules(database: Database, org_id: OrgId) -> list[WorkItem[AlertRule]]:
    """The organization's rules that are on, the oldest first, each to be looked after by itself."""
    enabled = database[NAME].find({"org_id": org_id, "is_enabled": True})
    return await items_of(enabled.sort([("created_at", 1), ("_id", 1)]), SHAPE.from_document)


async def watched_organizations(database: Database) -> list[OrgId]:
    """The organizations that have a rule which is enabled, or an open alert of any rule, in order."""
    org_ids = await database[NAME].distinct("org_id", {"is_enabled": True})
    return sorted({*map(OrgId, org_ids), *await alerts.organizations_with_open(database)})


async def get_rule(database: Database, org_id: OrgId, given_id: str) -> AlertRule:
    """The organization's rule with this id. Raises ItemUnknown."""
    return SHAPE.from_document(await _RULES.get(database, org_id, given_id))


async def change_rule(
    database: Database, org_id: OrgId, given_id: str, given: Mapping[str, Any]
) -> AlertRule:
    """Change these fields (`CHANGE_FIELDS`). Raises InvalidField and ItemUnknown."""
    before = await get_rule(database, org_id, given_id)
    changes = check_change(before, given)
    await _check_people(database, org_id, changes.get("mail_to", ()))
    # Each by itself: somebody may change another one at this moment.
    changes |= {f"thresholds.{name}": number for name, number in changes.pop("thresholds", {}).items()}
    return SHAPE.from_document(await _RULES.change(database, org_id, given_id, stored_values(changes)))


async def delete_rule(database: Database, org_id: OrgId, given_id: str) -> None:
    """Delete the rule, and its mails that wait. What it has told of stays. Raises ItemUnknown."""
    rule = SHAPE.from_document(await _RULES.delete(database, org_id, given_id))
    for address in rule.mail_to:
        await drop_waiting(database, org_id, address, f"{ALERT_KEY}{rule.id}/")


async def find_rule_of_mail(database: Database, given_id: str, token: str) -> tuple[AlertRule, str] | None:
    """The rule with this id, of whichever organization, and the address that this token is of; else None.

    Also an address that gets no mails of the rule any more, so that its page can say so.
    """
    document = await database[NAME].find_one({"_id": given_id})
    if document is None:
        return None
    rule = SHAPE.from_document(document)
    people = {user.email for user in await list_users(database, rule.org_id)}
    for address in sorted({*rule.mail_to, *people}):
        if hmac.compare_digest(rule.unsubscribe_token(address), token):
            return rule, address
    return None


async def stop_mails(database: Database, rule: AlertRule, address: str) -> None:
    """Send no more mails of the rule to this address."""
    await database[NAME].update_one({"_id": rule.id, "org_id": rule.org_id}, {"$pull": {"mail_to": address}})


async def tag_names_of(database: Database, org_id: OrgId, rules: Iterable[AlertRule]) -> Mapping[TagId, str]:
    """The names of the tags that these rules of the organization are about, without deleted ones."""
    tag_ids = {rule.tag_id for rule in rules if rule.tag_id}
    if not tag_ids:
        return {}
    return {tag.id: tag.name for tag in await list_tags(database, org_id) if tag.id in tag_ids}


async def _check_people(database: Database, org_id: OrgId, addresses: Iterable[str]) -> None:
    """Raise InvalidField for an address of nobody in the organization: others never asked for its mails."""
    if wanted := list(addresses):
        known = {user.email for user in await list_users(database, org_id)}
        for address in wanted:
            if address not in known:
                raise InvalidField(
                    "mail_to",
                    f"must have addresses of people who sign in for the organization; {address} is none",
                )
