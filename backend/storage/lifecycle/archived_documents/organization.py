"""Rules for the organization of an archive, its users and keys, and its domains, sites and apps."""

from __future__ import annotations

from collections.abc import Mapping

from bson import ObjectId

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.key_input import check_limited
from backend.domain.accounts.origins import parse_origin
from backend.domain.domains.input import DOMAIN_FIELDS
from backend.domain.domains.json_form import texts_json
from backend.domain.errors import InvalidField
from backend.domain.fields.rules import Flag, HostName, parse_string
from backend.storage.accounts import api_keys, apps, domains, origin_refusals, origins
from backend.storage.accounts.domain_settings import FIELD, from_plain, to_plain
from backend.storage.accounts.users import users
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import ArchiveContext, DocumentRule, own_domain
from backend.storage.schema.document_fields import (
    DocumentFields,
    as_stored,
    list_of,
    nested,
    text,
    time,
)


def _domain_settings(name: str, value: object) -> object:
    """Settings of a domain, each as its rule in a request leaves it."""
    if not isinstance(value, dict):
        raise InvalidField(name, "must be a document")
    for field, inner in value.items():
        if field not in DOMAIN_FIELDS:
            raise InvalidField(f"{name}.{field}", "is not a field of such a document")
        parsed = DOMAIN_FIELDS[field].parse(f"{name}.{field}", inner)
        if (texts_json(parsed) if field == "texts" else parsed) != inner:
            raise InvalidField(f"{name}.{field}", "is not in the form in which it is stored")
    return to_plain(from_plain(value))


_REFUSAL = nested(DocumentFields({"origin": parse_string, "reason": text, "at": time}))
_REFUSALS = DocumentFields({"recent": list_of(_REFUSAL, origin_refusals.KEPT)})
_ORIGIN = DocumentFields({"origin": lambda _, value: parse_origin(value), "created_at": time})
_DOMAIN = DocumentFields({"created_at": time}, {"is_leaving": Flag().parse, FIELD: _domain_settings})


def _apps(document: Document, context: ArchiveContext) -> None:
    own_domain("_id", document["_id"], context)
    if apps.to_document(apps.from_document(document), document["org_id"]) != {
        name: value for name, value in document.items() if name != "_id"
    }:
        raise InvalidField("apps", "must be apps as they are stored")


def _origin(document: Document, _: ArchiveContext) -> None:
    _ORIGIN.check(document)
    if not isinstance(document["_id"], ObjectId):
        raise InvalidField("_id", "must be an ObjectId")


def _domain(document: Document, _: ArchiveContext) -> None:
    _DOMAIN.check(document)
    as_stored("_id", document["_id"], HostName().parse)


def _api_key(document: Document, _: ArchiveContext) -> None:
    api_keys.SHAPE.check_with_uuid(document)
    if document.get("limited_to") is not None:
        check_limited(KeyKind(document["kind"]), document.get("scopes"))


def _user(document: Document, _: ArchiveContext) -> None:
    users.SHAPE.check_with_uuid(document)
    managed_by = document.get("managed_by")
    if managed_by is None:
        return
    if document["org_ids"] != [managed_by]:
        raise InvalidField("managed_by", "must be the organization of the user")
    if document["password_hash"] is not None or document.get("second_factor") is not None:
        raise InvalidField("managed_by", "must be of a user who has no password and no second factor")


RULES: Mapping[str, DocumentRule] = {
    origin_refusals.NAME: lambda document, _: _REFUSALS.check(document),
    apps.NAME: _apps,
    origins.NAME: _origin,
    domains.NAME: _domain,
    api_keys.NAME: _api_key,
    users.NAME: _user,
}
