"""Rules for the organization of an archive, its users and keys, and its domains, sites and apps."""

from __future__ import annotations

from collections.abc import Mapping

from bson import ObjectId

from backend.domain.accounts.api_keys import NAME_RULE as KEY_NAME_RULE
from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.destination_rules import MOST_PATTERNS, RULE_FIELDS
from backend.domain.accounts.key_input import check_limited
from backend.domain.accounts.link_grants import DESTINATIONS
from backend.domain.accounts.organizations import (
    FEWEST_AUDIT_DAYS,
    FEWEST_CLICK_DAYS,
    MOST_DAYS,
    NAME_RULE,
)
from backend.domain.accounts.origins import parse_origin
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.reach.limited_to import MOST_NAMED
from backend.domain.accounts.roles import Role
from backend.domain.accounts.second_factor.factor import RECOVERY_CODES, is_secret
from backend.domain.accounts.second_factor.passkeys import MOST_PASSKEYS
from backend.domain.accounts.second_factor.passkeys import NAME_RULE as PASSKEY_NAME_RULE
from backend.domain.accounts.users import is_password_hash
from backend.domain.analytics.event_properties import MOST_MARKED, PropertyName
from backend.domain.domains.input import DOMAIN_FIELDS
from backend.domain.domains.json_form import texts_json
from backend.domain.errors import InvalidField
from backend.domain.fields.email_addresses import EmailAddress
from backend.domain.fields.rules import Flag, HostName, Uuid, parse_string
from backend.storage.accounts import api_keys, apps, domains, organizations, origin_refusals, origins
from backend.storage.accounts.domain_settings import FIELD, from_plain, to_plain
from backend.storage.accounts.users import users
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import ArchiveContext, DocumentRule, own_domain
from backend.storage.schema.document_fields import (
    DocumentFields,
    Parse,
    as_stored,
    binary,
    days,
    integer,
    list_of,
    nested,
    one_of,
    or_none,
    sha256,
    text,
    text_of,
    time,
)


def _password_hash(name: str, value: object) -> object:
    if not isinstance(value, str) or not is_password_hash(value):
        raise InvalidField(name, "must be a hash by Argon2id, of no more work than ours")
    return value


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


def _web_key(name: str, value: object) -> object:
    if not parse_string(name, value).startswith(KeyKind.WEB.prefix):
        raise InvalidField(name, "must be a key of the browser SDK")
    return value


def _roles(name: str, value: object) -> object:
    if not isinstance(value, dict):
        raise InvalidField(name, "must be roles by the ids of organizations")
    return {Uuid().parse(name, org_id): one_of(Role)(name, role) for org_id, role in value.items()}


def _secret(name: str, value: object) -> object:
    if not isinstance(value, str) or not is_secret(value):
        raise InvalidField(name, "must be a secret in Base32, as an authenticator app has it")
    return value


def _days_from(fewest: int) -> Parse:
    def days(name: str, value: object) -> object:
        if type(value) is not int or not fewest <= value <= MOST_DAYS:
            raise InvalidField(name, f"must be a number of days from {fewest}")
        return value

    return days


_REFUSAL = nested(DocumentFields({"origin": parse_string, "reason": text, "at": time}))
_REFUSALS = DocumentFields({"recent": list_of(_REFUSAL, origin_refusals.KEPT)})
_ORIGIN = DocumentFields({"origin": lambda _, value: parse_origin(value), "created_at": time})
_DOMAIN = DocumentFields({"created_at": time}, {"is_leaving": Flag().parse, FIELD: _domain_settings})
_DESTINATIONS = list_of(DESTINATIONS.pattern.parse, MOST_PATTERNS)
_RULES = {name: list_of(rule.pattern.parse, MOST_PATTERNS) for name, rule in RULE_FIELDS.items()}
_LINK_REACH = DocumentFields(
    {},
    {
        "tags": or_none(list_of(Uuid().parse, MOST_NAMED)),
        "domains": or_none(list_of(HostName().parse, MOST_NAMED)),
        "links": or_none(list_of(Uuid().parse, MOST_NAMED)),
    },
)
_API_KEY = DocumentFields(
    {
        "kind": one_of(KeyKind),
        "key_hash": sha256,
        "last_four": text_of(4),
        "created_at": time,
    },
    {
        "revoked_at": or_none(time),
        "last_used_at": or_none(time),
        "name": or_none(KEY_NAME_RULE.parse),
        "expires_at": or_none(time),
        "replaced_by": or_none(Uuid().parse),
        "text": or_none(_web_key),
        "scopes": or_none(list_of(one_of(Permission), len(Permission))),
        "limited_to": or_none(nested(_LINK_REACH)),
        "links": or_none(
            nested(DocumentFields({"domain": HostName().parse, "destinations": _DESTINATIONS})),
        ),
    },
)
_PASSKEY = DocumentFields(
    {
        "id": text,
        "public_key": binary,
        "sign_count": integer,
        "name": PASSKEY_NAME_RULE.parse,
        "created_at": time,
    },
    {"last_used_at": or_none(time)},
)
_SECOND_FACTOR = DocumentFields(
    {
        "secret": _secret,
        "used_step": integer,
        "recovery_hashes": list_of(sha256, RECOVERY_CODES),
        "since": time,
    },
    {"passkeys": list_of(nested(_PASSKEY), MOST_PASSKEYS)},
)
_USER = DocumentFields(
    {
        "email": EmailAddress().parse,
        "password_hash": or_none(_password_hash),
        "org_ids": list_of(Uuid().parse, 1),
        "created_at": time,
    },
    {
        "roles": _roles,
        "second_factor": or_none(nested(_SECOND_FACTOR)),
        "sign_ins": integer,
        "managed_by": or_none(Uuid().parse),
        "is_address_proved": Flag().parse,
    },
)
_ORGANIZATION = DocumentFields(
    {"name": NAME_RULE.parse, "created_at": time},
    {
        "subscription_until": or_none(time),
        "retention_days": or_none(days),
        "click_days": or_none(_days_from(FEWEST_CLICK_DAYS)),
        "audit_days": or_none(_days_from(FEWEST_AUDIT_DAYS)),
        "device_cookie": Flag().parse,
        "erases_on_withdrawal": Flag().parse,
        "click_ids": Flag().parse,
        "requires_second_factor": Flag().parse,
        "requires_single_sign_on": Flag().parse,
        "cookie_domain": or_none(HostName().parse),
        "member_changes": integer,
        "event_properties": list_of(PropertyName().parse, MOST_MARKED),
        "destination_rules": nested(DocumentFields({}, _RULES)),
    },
)


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


def _api_key(document: Document, context: ArchiveContext) -> None:
    _by_uuid(_API_KEY)(document, context)
    if document.get("limited_to") is not None:
        check_limited(KeyKind(document["kind"]), document.get("scopes"))


def _user(document: Document, context: ArchiveContext) -> None:
    _by_uuid(_USER)(document, context)
    managed_by = document.get("managed_by")
    if managed_by is None:
        return
    if document["org_ids"] != [managed_by]:
        raise InvalidField("managed_by", "must be the organization of the user")
    if document["password_hash"] is not None or document.get("second_factor") is not None:
        raise InvalidField("managed_by", "must be of a user who has no password and no second factor")


def _by_uuid(fields: DocumentFields) -> DocumentRule:
    def check(document: Document, _: ArchiveContext) -> None:
        fields.check(document)
        as_stored("_id", document["_id"], Uuid().parse)

    return check


RULES: Mapping[str, DocumentRule] = {
    origin_refusals.NAME: lambda document, _: _REFUSALS.check(document),
    apps.NAME: _apps,
    origins.NAME: _origin,
    domains.NAME: _domain,
    api_keys.NAME: _api_key,
    users.NAME: _user,
    organizations.NAME: _by_uuid(_ORGANIZATION),
}
