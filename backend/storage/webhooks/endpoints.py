"""The `webhooks` collection: webhook endpoints, each with its cursor in its organization's feed.

The process that delivers to an endpoint is its `holder` (storage/webhooks/endpoint_leases). All writes of a
holder name the `term` in which it took the endpoint. A change by the organization takes the endpoint from its
holder: later writes of that holder are refused, and the next holder sees the change.
"""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Iterable, Mapping, Set
from datetime import datetime
from typing import Any

from pymongo import IndexModel, ReturnDocument

from backend.domain.accounts.permissions import EVERYTHING, Permission
from backend.domain.errors import InvalidField
from backend.domain.feed.cursor import Cursor
from backend.domain.feed.events import EventType
from backend.domain.fields.addresses.receiver_url import ReceiverUrl
from backend.domain.fields.rules import Uuid, parse_string
from backend.domain.ids import EndpointId, OrgId
from backend.domain.webhooks.endpoint import (
    MOST_ENDPOINTS,
    OLD_SECRET_KEPT,
    Endpoint,
    OldSecret,
)
from backend.domain.webhooks.endpoint_fields import MOST_CHOSEN, BatchSize
from backend.domain.webhooks.retries import LONGEST_ERROR
from backend.domain.webhooks.signing import SECRET_BYTES, key_in, secret_text
from backend.storage.driver.mongo import Database, Document
from backend.storage.links.links import find_links
from backend.storage.links.tags import find_tag_ids
from backend.storage.outbox.marks import cursor_at, end_of_feed
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.document_fields import count, list_of, nested, one_of, or_none, text, text_of
from backend.storage.schema.document_shape import DocumentShape, cursor_text, stored_values
from backend.storage.schema.own_documents import OwnDocuments, existing
from backend.storage.schema.ownership import ByField
from backend.storage.webhooks import deliveries

NAME = "webhooks"
COLLECTION = Collection(
    name=NAME,
    indexes=[
        IndexModel([("org_id", 1), ("created_at", 1)]),
        IndexModel([("is_enabled", 1), ("slept_at", 1), ("holder", 1)]),
    ],
    owned_by=ByField(),
    personal=NotPersonal("addresses of the organization's own servers"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("an organization has few"),
    audited=Audited(
        kind="webhook",
        name="url",
        hidden=frozenset({"secret", "old_secrets"}),
        # How far it has come, and who delivers.
        ignored=frozenset(
            {
                *("cursor", "cursor_at", "sent_to", "holder", "term", "delivered", "repeats"),
                *("failing_since", "failures", "next_try_at", "slept_at", "last_error"),
            }
        ),
        verbs={"secret": "secret_rotated"},
    ),
)
_ENDPOINTS = OwnDocuments(NAME, MOST_ENDPOINTS, "url")
# Of secrets that were replaced within a day.
MOST_OLD_SECRETS = 3


def _secret(name: str, value: object) -> object:
    secret = parse_string(name, value)
    try:
        is_ours = len(key_in(secret)) == SECRET_BYTES
    except ValueError:
        is_ours = False
    if not is_ours:
        raise InvalidField(name, "must be a secret as the service makes them")
    return secret


_OLD_SECRET = DocumentShape(record=OldSecret, rules={"secret": _secret}, id_field=None)
_IDS = list_of(Uuid().parse, MOST_CHOSEN)
SHAPE = DocumentShape(
    record=Endpoint,
    rules={
        # Whether loopback addresses are allowed is not for an archive to say: that is checked again before
        # anything is sent.
        "url": ReceiverUrl(allows_loopback=True).parse,
        "secret": _secret,
        "old_secrets": list_of(nested(_OLD_SECRET.fields), MOST_OLD_SECRETS),
        "types": list_of(one_of(EventType), MOST_CHOSEN),
        "link_ids": _IDS,
        "tag_ids": _IDS,
        "batch_size": BatchSize().parse,
        "last_error": text_of(LONGEST_ERROR),
        **dict.fromkeys(("failures", "delivered", "repeats"), count),
    },
    only_stored={"sent_to": cursor_text, "holder": or_none(text), "term": count},
)
# The organization took the endpoint from its holder.
_TAKEN_BACK: Document = {"holder": None}
_NEXT_TERM: Document = {"term": 1}
# The next delivery is tried at once.
_UNTRIED: Document = {"failing_since": None, "failures": 0, "next_try_at": None}


async def create_endpoint(
    database: Database,
    org_id: OrgId,
    values: Mapping[str, Any],
    now: datetime,
    granted: Set[Permission] = EVERYTHING,
) -> Endpoint:
    """Store a new endpoint, which gets the events from now on.

    `values` are its fields, parsed by `endpoint_rules` and with the ids of tags (`with_tag_ids`); at least
    `url`. The secret is shown only once. Raises InvalidField for links or tags that the organization
    does not have, and for types that somebody with these permissions may not read, and TooManyItems.
    """
    _check_granted(values.get("types", ()), granted)
    await _check_chosen(database, org_id, values)
    await _ENDPOINTS.check_room(database, org_id)
    endpoint = Endpoint(
        id=EndpointId(str(uuid.uuid4())),
        org_id=org_id,
        created_at=_to_milliseconds(now),
        cursor=await end_of_feed(database, org_id),
        cursor_at=_to_milliseconds(now),
        secret=_new_secret(),
        **values,
    )
    await database[NAME].insert_one(_new_document(endpoint))
    return endpoint


async def list_endpoints(database: Database, org_id: OrgId) -> list[Endpoint]:
    """All endpoints of the organization, the oldest first."""
    cursor = database[NAME].find({"org_id": org_id}).sort("created_at", 1)
    return [SHAPE.from_document(document) async for document in cursor]


async def get_endpoint(database: Database, org_id: OrgId, given_id: str) -> Endpoint:
    """The organization's endpoint with this id. Raises ItemUnknown."""
    return SHAPE.from_document(await _ENDPOINTS.get(database, org_id, given_id))


async def change_endpoint(
    database: Database,
    org_id: OrgId,
    given_id: str,
    changes: Mapping[str, Any],
    granted: Set[Permission] = EVERYTHING,
) -> Endpoint:
    """Change these fields, which are parsed as those of `create_endpoint`.

    A new URL, and an endpoint that is enabled, are tried at once. An endpoint that sleeps goes on sleeping.
    A disabled endpoint gets nothing, and its cursor stays. Raises InvalidField and ItemUnknown.
    """
    before = await get_endpoint(database, org_id, given_id)
    _check_granted([*before.types, *changes.get("types", ())], granted)
    await _check_chosen(database, org_id, changes)
    update = stored_values(changes)
    if "url" in changes or changes.get("is_enabled"):
        update |= _UNTRIED
    return await _change(database, org_id, given_id, update)


async def delete_endpoint(database: Database, org_id: OrgId, given_id: str) -> None:
    """Delete the endpoint and its deliveries. A request that is under way may still arrive.

    Raises ItemUnknown.
    """
    await _ENDPOINTS.delete(database, org_id, given_id)
    await deliveries.forget(database, org_id, given_id)


async def rotate_secret(database: Database, org_id: OrgId, given_id: str, now: datetime) -> Endpoint:
    """Give the endpoint a new secret, which is shown only once. The old one also signs for another day.

    Raises ItemUnknown.
    """
    while True:
        endpoint = await get_endpoint(database, org_id, given_id)
        former = [OldSecret(endpoint.secret, _to_milliseconds(now) + OLD_SECRET_KEPT), *endpoint.old_secrets]
        old_secrets = [secret for secret in former if now < secret.until][:MOST_OLD_SECRETS]
        update = {"secret": _new_secret(), "old_secrets": old_secrets}
        unchanged = {"_id": given_id, "org_id": org_id, "secret": endpoint.secret}
        if document := await _take_back(database, unchanged, stored_values(update)):
            return SHAPE.from_document(document)


async def go_on(database: Database, org_id: OrgId, given_id: str) -> Endpoint:
    """Wake the endpoint if it sleeps, and deliver all waiting events at once, in order.

    Raises ItemUnknown.
    """
    return await _change(database, org_id, given_id, {"slept_at": None, **_UNTRIED})


async def replay(database: Database, org_id: OrgId, given_id: str, since: datetime) -> Endpoint:
    """Deliver again the events that were stored since this moment, with the same ids, and then go on.

    The cursor moves back, never forward, so that no waiting event is left out. Raises ItemUnknown.
    """
    begin = await cursor_at(database, org_id, since)
    while True:
        document = await _ENDPOINTS.get(database, org_id, given_id)
        endpoint = SHAPE.from_document(document)
        if begin >= endpoint.cursor:
            return endpoint
        update = {
            "cursor": str(begin),
            "cursor_at": _to_milliseconds(since),
            "sent_to": str(max(endpoint.cursor, Cursor.parse(document["sent_to"]))),
        }
        unchanged = {"_id": given_id, "org_id": org_id, "cursor": document["cursor"]}
        if changed_document := await _take_back(database, unchanged, update):
            return SHAPE.from_document(changed_document)


def _new_document(endpoint: Endpoint) -> Document:
    """The endpoint as it is stored when it is new: nothing before the cursor was sent."""
    return {**SHAPE.to_document(endpoint), "sent_to": str(endpoint.cursor), "holder": None, "term": 0}


async def _change(database: Database, org_id: OrgId, given_id: str, update: Document) -> Endpoint:
    return SHAPE.from_document(
        existing(await _take_back(database, {"_id": given_id, "org_id": org_id}, update))
    )


async def _take_back(database: Database, query: Document, update: Document) -> Document | None:
    """Change the endpoint that the query finds, and take it from its holder. None if there is none."""
    document: Document | None = await database[NAME].find_one_and_update(
        query, {"$set": update | _TAKEN_BACK, "$inc": _NEXT_TERM}, return_document=ReturnDocument.AFTER
    )
    return document


def _check_granted(types: Iterable[EventType], granted: Set[Permission]) -> None:
    """Raise InvalidField where the types have the audit log, and whoever asks may not read it."""
    if EventType.AUDIT in types and Permission.AUDIT_READ not in granted:
        raise InvalidField("types", "may have audit only by somebody who may read the audit log")


async def _check_chosen(database: Database, org_id: OrgId, values: Mapping[str, Any]) -> None:
    """Raise InvalidField where the links or tags are not all the organization's."""
    if link_ids := values.get("link_ids"):
        links_by_id = await find_links(database, link_ids, org_id)
        _refuse_others("link_ids", link_ids, links_by_id, "a link")
    if tag_ids := values.get("tag_ids"):
        tags = await find_tag_ids(database, None, org_id, (), tag_ids)
        _refuse_others("tag_ids", tag_ids, tags.values(), "a tag")


def _refuse_others(field: str, chosen_ids: Iterable[str], own_ids: Iterable[str], kind: str) -> None:
    if missing := set(chosen_ids) - set(own_ids):
        raise InvalidField(field, f"must be ids of {kind} of the organization; {min(missing)} is none")


def _new_secret() -> str:
    return secret_text(secrets.token_bytes(SECRET_BYTES))


def _to_milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
