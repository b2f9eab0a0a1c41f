"""The `api_keys` collection: hashes of keys, and of the keys themselves only those that are public."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Mapping, Set
from datetime import datetime, timedelta
from typing import Any

from pymongo import IndexModel, ReturnDocument, WriteConcern

from backend.domain.accounts.api_keys import NAME_RULE, ApiKey, KeyKind, key_text, new_key
from backend.domain.accounts.destination_rules import MOST_PATTERNS
from backend.domain.accounts.key_input import (
    KEY_FIELDS,
    KeyEnded,
    check_fields,
    check_grant,
    check_grant_of,
)
from backend.domain.accounts.link_grants import DESTINATIONS, LinkGrant
from backend.domain.accounts.permissions import Permission, stored_permissions
from backend.domain.accounts.reach.limited_to import MOST_NAMED
from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.errors import InvalidField, OperatorError
from backend.domain.fields.rules import HostName, Uuid, parse_string
from backend.domain.ids import KeyId, OrgId
from backend.storage.accounts.domains import is_domain_of
from backend.storage.driver.mongo import ClientSession, Database, Document, in_transaction
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.schema.audited import Audited
from backend.storage.schema.collection import Collection, NoRetention, NotPersonal, NotSharded, Stage
from backend.storage.schema.document_fields import list_of, nested, one_of, sha256, text_of
from backend.storage.schema.document_shape import DocumentShape, with_default
from backend.storage.schema.ownership import ByField

NAME = "api_keys"


def _hint(document: Document) -> str:
    return f"{KeyKind(document['kind']).prefix}…{document['last_four']}"


_USE_NOTED_EVERY = timedelta(days=1)
COLLECTION = Collection(
    name=NAME,
    indexes=[IndexModel("key_hash", unique=True), IndexModel([("org_id", 1), ("created_at", 1)])],
    owned_by=ByField(),
    personal=NotPersonal("the organization made it, and its own people delete it"),
    retention=NoRetention("the organization made it, and its own people delete it"),
    archived=Stage.SETUP,
    shard_key=NotSharded("an organization has few, and `key_hash` is unique over all"),
    audited=Audited(
        kind="key",
        name=lambda document: document.get("name") or _hint(document),
        hidden=frozenset({"key_hash", "text"}),
        ignored=frozenset({"last_used_at"}),
        verbs={"revoked_at": "revoked", "replaced_by": "rotated"},
    ),
)


def _web_key(name: str, value: object) -> object:
    if not parse_string(name, value).startswith(KeyKind.WEB.prefix):
        raise InvalidField(name, "must be a key of the browser SDK")
    return value


_GRANT = DocumentShape(
    record=LinkGrant,
    rules={
        "domain": HostName().parse,
        "destinations": list_of(DESTINATIONS.pattern.parse, MOST_PATTERNS),
    },
    id_field=None,
)
_REACH = DocumentShape(
    record=LinkReach,
    rules={
        **dict.fromkeys(("tags", "links"), list_of(Uuid().parse, MOST_NAMED)),
        "domains": list_of(HostName().parse, MOST_NAMED),
    },
    optional=with_default(LinkReach),
    id_field=None,
)
SHAPE = DocumentShape(
    record=ApiKey,
    rules={
        "key_hash": sha256,
        "last_four": text_of(4),
        "name": NAME_RULE.parse,
        "text": _web_key,
        "scopes": list_of(one_of(Permission), len(Permission)),
        "limited_to": nested(_REACH.fields),
        "links": nested(_GRANT.fields),
    },
    loads={"scopes": stored_permissions, "limited_to": LinkReach.from_stored},
    optional=with_default(ApiKey),
)


class UnknownKey(OperatorError):
    """The organization has no key with this id."""

    def __init__(self, key_id: KeyId) -> None:
        super().__init__(
            f"There is no key with the id {key_id!r}; `waylink key list --org ID` shows the ids."
        )


async def create_api_key(
    database: Database,
    org_id: OrgId,
    kind: KeyKind,
    now: datetime,
    *,
    name: str | None = None,
    links: LinkGrant | None = None,
    scopes: tuple[Permission, ...] | None = None,
    expires_at: datetime | None = None,
    limited_to: LinkReach | None = None,
) -> tuple[str, ApiKey]:
    """Create and store a key. Returns its text, which is stored for web keys only, and its record."""
    text, key = _random_key(
        org_id, kind, now,
        name=name, links=links, scopes=scopes, expires_at=expires_at, limited_to=limited_to,
    )  # fmt: skip
    await _insert(database, key)
    return text, key


async def make_api_key(
    database: Database, org_id: OrgId, fields: Mapping[str, Any], *, granted: Set[Permission], now: datetime
) -> tuple[str, ApiKey]:
    """Create a key with these values of `kind` and KEY_FIELDS, for somebody with these permissions.

    `limited_to` is a LinkReach, if it is given. Raises InvalidField and ScopesNotGrantable.
    """
    kind = KeyKind(fields["kind"])
    details = {name: fields.get(name) for name in KEY_FIELDS}
    check_fields(kind, details, now)
    check_grant(kind, details["scopes"], granted, details["links"])
    if details["links"] and not await is_domain_of(database, details["links"].domain, org_id):
        raise InvalidField("links.domain", "must be one of the organization's")
    return await create_api_key(database, org_id, kind, now, **details)


async def change_api_key(
    database: Database,
    org_id: OrgId,
    key_id: KeyId,
    fields: Mapping[str, Any],
    *,
    granted: Set[Permission],
    now: datetime,
) -> ApiKey:
    """Change the name or the end of a key, for somebody with these permissions.

    Raises UnknownKey, InvalidField and ScopesNotGrantable.
    """
    key = await get_own_api_key(database, org_id, key_id)
    check_grant_of(key, granted)
    check_fields(key.kind, fields, now)
    if not fields:
        return key
    return await _change(database, key_id, {"org_id": org_id}, {"$set": dict(fields)})


async def rotate_api_key(
    database: Database,
    org_id: OrgId,
    key_id: KeyId,
    overlap: timedelta,
    *,
    granted: Set[Permission],
    now: datetime,
) -> tuple[str, ApiKey]:
    """Create a key that may do the same as this one, which stays valid for `overlap`.

    It has the other's values of KEY_FIELDS. Returns its text and its record. Raises UnknownKey,
    ScopesNotGrantable, and KeyEnded for a key that is not valid any more or was replaced before.
    """
    old = await get_own_api_key(database, org_id, key_id)
    check_grant_of(old, granted)
    text, new = _random_key(org_id, old.kind, now, **{name: getattr(old, name) for name in KEY_FIELDS})

    async def work(session: ClientSession) -> None:
        document = await database[NAME].find_one({"_id": key_id, "org_id": org_id}, session=session)
        key = SHAPE.from_document(document) if document else old
        if not key.is_valid(now) or key.replaced_by:
            raise KeyEnded
        end = min(now + overlap, key.expires_at or now + overlap)
        ends = {"$set": {"expires_at": end, "replaced_by": new.id}}
        await database[NAME].update_one({"_id": key_id, "org_id": org_id}, ends, session=session)
        await _insert(database, new, session)

    await in_transaction(database, work)
    return text, new


async def find_active_key(database: Database, key_hash: str, now: datetime) -> ApiKey | None:
    """The key with this hash; None if there is none, it was revoked, or its time is over."""
    document = await database[NAME].find_one({"key_hash": key_hash, "revoked_at": None})
    key = SHAPE.from_document(document) if document else None
    return key if key and key.is_valid(now) else None


async def note_use(database: Database, key: ApiKey, now: datetime) -> None:
    """Note that the key was used at this time. Writes at most once a day, and waits for no majority: requests
    wait for it, also those that only read, and if it is lost, the next use is noted."""
    if key.last_used_at is None or now - key.last_used_at > _USE_NOTED_EVERY:
        collection = unrecorded(database).get_collection(NAME, write_concern=WriteConcern(w=1))
        await collection.update_one({"_id": key.id}, {"$max": {"last_used_at": now}})


async def list_api_keys(database: Database, org_id: OrgId) -> list[ApiKey]:
    """All keys of the organization, oldest first, including revoked ones."""
    cursor = database[NAME].find({"org_id": org_id}).sort("created_at", 1)
    return [SHAPE.from_document(document) async for document in cursor]


async def get_own_api_key(database: Database, org_id: OrgId, key_id: KeyId) -> ApiKey:
    """The organization's key with this id. Raises UnknownKey."""
    return _existing(await database[NAME].find_one({"_id": key_id, "org_id": org_id}), key_id)


async def get_api_key(database: Database, key_id: KeyId) -> ApiKey:
    """The key with this id, of any organization. Raises UnknownKey."""
    return _existing(await database[NAME].find_one({"_id": key_id}), key_id)


async def rename_any_api_key(database: Database, key_id: KeyId, name: str) -> ApiKey:
    """Give a key of any organization another name. Raises UnknownKey."""
    return await _change(database, key_id, {}, {"$set": {"name": name}})


async def revoke_api_key(database: Database, key_id: KeyId, org_id: OrgId, now: datetime) -> ApiKey:
    """Revoke a key of the organization. A revoked key keeps its first time. Raises UnknownKey."""
    return await _change(database, key_id, {"org_id": org_id}, _revoked(now))


async def revoke_any_api_key(database: Database, key_id: KeyId, now: datetime) -> ApiKey:
    """Revoke a key of any organization, as `revoke_api_key` does."""
    return await _change(database, key_id, {}, _revoked(now))


def _random_key(org_id: OrgId, kind: KeyKind, now: datetime, **details: Any) -> tuple[str, ApiKey]:
    """The text and the record of a key that nobody has yet, with these values of KEY_FIELDS."""
    secret, key_id = secrets.token_urlsafe(24), KeyId(str(uuid.uuid4()))
    key = new_key(kind, secret, key_id=key_id, org_id=org_id, now=now, **details)
    return key_text(kind, secret), key


async def _insert(database: Database, key: ApiKey, session: ClientSession | None = None) -> None:
    await database[NAME].insert_one(SHAPE.to_document(key), session=session)


async def _change(
    database: Database, key_id: KeyId, owner: Document, change: Document | list[Document]
) -> ApiKey:
    document = await database[NAME].find_one_and_update(
        {"_id": key_id, **owner}, change, return_document=ReturnDocument.AFTER
    )
    return _existing(document, key_id)


def _revoked(now: datetime) -> list[Document]:
    return [{"$set": {"revoked_at": {"$ifNull": ["$revoked_at", now]}}}]


def _existing(document: Document | None, key_id: KeyId) -> ApiKey:
    if document is None:
        raise UnknownKey(key_id)
    return SHAPE.from_document(document)
