"""Rules for an archive's links, purged links, tags and UTM templates."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from backend.domain.accounts.users import is_password_hash
from backend.domain.errors import InvalidField
from backend.domain.fields.item_names import ItemName, name_key
from backend.domain.fields.rules import Flag, Number, Uuid, parse_string
from backend.domain.fields.time_zones import known_zone
from backend.domain.links.destinations.forwarding import refuse_unused_path
from backend.domain.links.input import (
    HOLD_REASON,
    IMPORTED_FROM,
    LINK_RULES,
    MOST_IMPORTED_CLICKS,
    OPTIONAL,
    body_of,
    parse_new_link,
)
from backend.domain.links.limits import LIMIT_FIELDS, LIMIT_TIMES, NO_LIMITS, LinkLimits
from backend.domain.links.links import CLEARABLE_TOLD_FIELDS, TOLD_FIELDS, UTM_FIELDS, Behavior
from backend.domain.links.tags import MOST_ON_A_LINK, TagColor
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import (
    ArchiveContext,
    DocumentRule,
    own_domain,
    own_id,
    own_link,
)
from backend.storage.links import links, qr_logos, tags, taken_clicks, utm_templates
from backend.storage.links import purged as purged_links
from backend.storage.schema.document_fields import (
    DocumentFields,
    anything,
    as_stored,
    binary,
    integer,
    list_of,
    nested,
    or_none,
    text,
    time,
    time_zone,
)


def _click_count(name: str, value: object) -> object:
    if type(value) is not int or not 0 <= value <= MOST_IMPORTED_CLICKS:
        raise InvalidField(name, f"must be a whole number from 0 to {MOST_IMPORTED_CLICKS}")
    return value


_IMPORTED_CLICKS = nested(
    DocumentFields({"count": _click_count, "source": IMPORTED_FROM.parse, "imported_at": time})
)


def _password_hash(name: str, value: object) -> object:
    if not is_password_hash(parse_string(name, value)):
        raise InvalidField(name, "must be an Argon2id hash")
    return value


_LIMITS = nested(
    DocumentFields(
        {},
        {
            **dict.fromkeys(LIMIT_TIMES, time),
            **{name: LIMIT_FIELDS[name].parse for name in ("max_clicks", "click_to_continue", "expired_url")},
            "is_used_up": Flag().parse,
            "password_hash": _password_hash,
        },
    )
)
_HOLD = nested(DocumentFields({"at": time, "why": HOLD_REASON.parse}))
_TAKEN = DocumentFields({"link_id": text, "taken": integer})
_QR_LOGO = DocumentFields({"image": binary, "set_at": time})
_PNG = b"\x89PNG\r\n\x1a\n"
_LARGEST_LOGO = 2_000_000  # of 400 x 400 pixels that no compression makes smaller, and more
_PURGED_LINK = DocumentFields({"at": time})
_TAG = DocumentFields(
    {"name": ItemName().parse, "color": TagColor().parse, "created_at": time, "key": anything}
)
_UTM = DocumentFields({}, {name: OPTIONAL[name].parse for name in UTM_FIELDS})
_TEMPLATE = DocumentFields(
    {"name": ItemName().parse, "utm": nested(_UTM), "created_at": time, "key": anything}
)
_TAG_IDS = list_of(Uuid().parse, MOST_ON_A_LINK)
_STATE = (
    "created_at", "modified_at", "is_enabled", "archived_at", "was_enabled", "tag_ids",
    "rules", *TOLD_FIELDS,
)  # fmt: skip


def _link(document: Document, context: ArchiveContext) -> None:
    """Raise an error unless create-link would accept the link's fields and store them in this form."""
    Uuid().parse("_id", document["_id"])
    link = links.from_document(document)
    new = parse_new_link(body_of(link))
    own_domain("domain", link.domain, context)
    for name in ("created_at", "modified_at"):
        time(name, document[name])
    for name in ("ios_behavior", "android_behavior"):
        Number(Behavior, "1 or 2").parse(name, document[name])
    Flag().parse("is_enabled", document["is_enabled"])
    made = new.to_link(
        link.path, link_id=link.id, org_id=context.org_id, created_by=link.created_by, now=link.created_at
    )
    if "imported_clicks" in document:
        _IMPORTED_CLICKS("imported_clicks", document["imported_clicks"])
        made = replace(made, imported_clicks=link.imported_clicks)
    as_stored("rules", _with_known_zones(link.rules), LINK_RULES.parse)
    for name, rule in TOLD_FIELDS.items():
        parse = or_none(rule.parse) if name in CLEARABLE_TOLD_FIELDS else rule.parse
        as_stored(name, getattr(link, name), parse)
    refuse_unused_path(link)
    if "hold" in document:
        _HOLD("hold", document["hold"])
        made = replace(made, hold=link.hold)
    or_none(time)("archived_at", link.archived_at)
    _LIMITS("limits", document.get("limits", {}))
    made = replace(made, limits=_limits(document.get("limits", {})))
    as_stored("tag_ids", link.tag_ids, _TAG_IDS)
    Flag().parse("was_enabled", link.was_enabled)
    if link.is_archived and link.is_enabled:
        raise InvalidField("is_enabled", "must not be true while the link is archived")
    stored = links.to_document(made) | {name: document[name] for name in _STATE if name in document}
    for name, value in document.items():
        if name not in stored:
            raise InvalidField(name, "is not a field of a link")
        if stored[name] != value:
            raise InvalidField(name, "is not in the form in which it is stored")


def _with_known_zones(rules: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rules with UTC in place of time zones that this host does not know: they fit nobody here."""
    known = deepcopy(rules)
    for number, rule in enumerate(known if isinstance(known, list) else ()):  # of a forged archive
        match rule:
            case {"if": {"hours": {"timezone": str(name)} as hours}} if known_zone(name) is None:
                time_zone(f"rules[{number}].if.hours.timezone", name)
                hours["timezone"] = "UTC"
    return known


def _limits(document: Document) -> LinkLimits:
    """The limits, as a link could have them. Raises InvalidField."""
    limits = NO_LIMITS.changed(document)
    if document.get("is_used_up") and limits.max_clicks is None:
        raise InvalidField("is_used_up", "is for links with max_clicks")
    return replace(limits, is_used_up=True) if document.get("is_used_up") else limits


def _taken_clicks(document: Document, context: ArchiveContext) -> None:
    _TAKEN.check(document)
    own_link(document["link_id"], context)
    own_id(document, document["link_id"], "taken")
    if document["taken"] < 0:
        raise InvalidField("taken", "must not be negative")


def _purged_link(document: Document, _: ArchiveContext) -> None:
    _PURGED_LINK.check(document)
    as_stored("_id", document["_id"], Uuid().parse)


def _named(fields: DocumentFields) -> DocumentRule:
    def check(document: Document, _: ArchiveContext) -> None:
        fields.check(document)
        as_stored("_id", document["_id"], Uuid().parse)
        if document["key"] != name_key(document["name"]):
            raise InvalidField("key", "does not belong to the name")

    return check


def _qr_logo(document: Document, context: ArchiveContext) -> None:
    _QR_LOGO.check(document)
    if not bytes(document["image"]).startswith(_PNG) or len(document["image"]) > _LARGEST_LOGO:
        raise InvalidField("image", "must be a small PNG file")


RULES: Mapping[str, DocumentRule] = {
    qr_logos.NAME: _qr_logo,
    tags.NAME: _named(_TAG),
    utm_templates.NAME: _named(_TEMPLATE),
    links.NAME: _link,
    taken_clicks.NAME: _taken_clicks,
    purged_links.NAME: _purged_link,
}
