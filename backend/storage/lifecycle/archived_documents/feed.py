"""Rules for the feed of an archive: its entries, and the head with their last place.

The document that a fact names may be gone, as in any feed. Facts affect only readers of the organization's
own feed, so they may have other fields too.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from bson import Timestamp

from backend.domain.accounts.actors import ActorKind
from backend.domain.alerts.rule import AlertKind
from backend.domain.clicks.block import MOST_CLICKS
from backend.domain.costs.cost import LONGEST_CAMPAIGN
from backend.domain.errors import InvalidField
from backend.domain.feed.events import EventType
from backend.domain.feed.facts import BLOCKS, COST, DEVICE, REREAD, SUMMARY, TAG
from backend.domain.fields.rules import Flag
from backend.domain.links.json_form import own_link_json
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import (
    ArchiveContext,
    DocumentRule,
    expires_within,
    own_id,
)
from backend.storage.lifecycle.archived_documents.analytics.alerts import check_figures
from backend.storage.links import links
from backend.storage.outbox import entries, heads
from backend.storage.outbox.entries import REMOVAL_FACTS_KEPT, AgesBy
from backend.storage.schema.document_fields import (
    DocumentFields,
    Parse,
    anything,
    integer,
    list_of,
    nested,
    one_of,
    or_none,
    text,
    text_of,
    time,
    true,
)

_LAST_PLACE = 10**18


def _whole(name: str, value: object) -> object:
    if not isinstance(count := integer(name, value), int) or not 0 <= count < _LAST_PLACE:
        raise InvalidField(name, "must be a whole number from 0")
    return count


def _place(name: str, value: object) -> object:
    if not _whole(name, value):
        raise InvalidField(name, "must be a whole number from 1")
    return value


def _stamp(name: str, value: object) -> object:
    if not isinstance(value, Timestamp) or not value.time:
        raise InvalidField(name, "must be a time of MongoDB's")
    return value


def _link(_: str, value: object) -> object:
    """A link that the feed can show."""
    if not isinstance(value, dict):
        raise InvalidField("link", "must be a document")
    link = links.from_document(value)
    time("modified_at", link.modified_at)
    own_link_json(link, [], ShortUrlForm(), link.modified_at)
    return value


def _pair(name: str, value: object) -> object:
    """A field and its value, as an entry of the audit log has it: whatever it was."""
    match value:
        case [str(), str() | bool() | int() | float() | datetime() | list() | dict() | None]:
            return value
    raise InvalidField(name, "must have a name and a value each")


def _open(required: Mapping[str, Parse], optional: Mapping[str, Parse] | None = None) -> DocumentFields:
    return DocumentFields({"type": text, **required}, optional or {}, is_open=True)


_TEXTS = list_of(text, None)
_PERIOD = nested(DocumentFields({"from": or_none(time), "to": or_none(time)}))
_SHARED = nested(DocumentFields({"device_id": text, "times": list_of(_PERIOD, None)}))
_CALL = _open({"call": text}, {"telling": _whole})
_CHANGE = _open(
    {"at": time, "link": _link, "changed": _TEXTS}, {"has_password": Flag().parse, "purged": Flag().parse}
)
_ALERT = _open(
    {
        "at": time,
        "alert_id": text,
        "rule_id": text,
        "rule_name": text,
        "kind": one_of(AlertKind),
        "link_id": or_none(text),
        "began_at": time,
        "ended_at": or_none(time),
        "figures": anything,
    }
)
_REREAD = _open({"of": text, "ids": _TEXTS})
_VISITORS = {
    EventType.LEAD.value: _CALL,
    EventType.CONVERSION.value: _CALL,
    EventType.EVENT.value: _CALL,
    EventType.REFUND.value: _open({"call": text, "number": _whole}),
    EventType.IDENTIFY.value: _open(
        {"device_id": or_none(text), "customer_id": or_none(text), "at": time}, {"taken_back": Flag().parse}
    ),
    EventType.INSTALL.value: _open({"install_id": or_none(text)}),
    DEVICE: _open({"device_id": or_none(text)}),
    REREAD: _REREAD,
}
_CLICKS = dict.fromkeys(BLOCKS, _open({"block": text, "clicks": _place}))
_FOR_SOME_TIME = {
    EventType.ERASED.value: _open(
        {
            "at": time,
            **dict.fromkeys(("customers", "devices", "emails_sha256", "installs"), _TEXTS),
            "shared_devices": list_of(_SHARED, None),
        }
    ),
    REREAD: _REREAD,
    EventType.ALERT.value: _ALERT,
    SUMMARY: _open({"day": _whole, "summaries": _TEXTS, "blocks": list_of(text, MOST_CLICKS)}),
}
_LINKS = {
    EventType.LINK_CREATED.value: _CHANGE,
    EventType.LINK_CHANGED.value: _CHANGE,
    EventType.LINK_ARCHIVED.value: _CHANGE,
    TAG: _open({"tag_id": text, "name": or_none(text)}),
    COST: _open(
        {
            **dict.fromkeys(("cost_id", "currency"), text),
            "campaign": text_of(LONGEST_CAMPAIGN),
            **dict.fromkeys(("day", "digits"), _whole),
            "units": or_none(_whole),
        }
    ),
}
_ACTOR = DocumentFields({"kind": one_of(ActorKind), "id": or_none(text), "name": text})
_TARGET = DocumentFields({"kind": text, "id": or_none(text), "name": or_none(text)})
_PAIRS = or_none(list_of(_pair, None))
_AUDIT = {
    EventType.AUDIT.value: _open(
        {
            "actor": nested(_ACTOR),
            "action": text,
            "target": nested(_TARGET),
            "before": _PAIRS,
            "after": _PAIRS,
        }
    )
}
_ENTRY = DocumentFields(
    {"stamp": _stamp, "facts": list_of(anything, None)},
    {"waits": true, "place": _place, "ages_by": one_of(AgesBy), "expires_at": time},
)
_HEAD = DocumentFields({"place": _whole, "stamp": _stamp})


def _kinds(entry: Document) -> Mapping[str, DocumentFields]:
    """The checks of the facts that an entry may have, which depend on how long the entry is kept."""
    match entry:
        case {"expires_at": _}:
            return _FOR_SOME_TIME
        case {"ages_by": AgesBy.CLICKS.value}:
            return _CLICKS
        case {"ages_by": AgesBy.AUDIT.value}:
            return _AUDIT
        case {"ages_by": _}:
            return _VISITORS
    return _LINKS


def _entry(document: Document, context: ArchiveContext) -> None:
    _ENTRY.check(document)
    own_id(document, context.org_id, text("_id", str(document["_id"]).partition("/")[2]))
    expires_within(REMOVAL_FACTS_KEPT, document, context)
    if document["stamp"].as_datetime() > context.latest:
        raise InvalidField("stamp", "must not be later than now")
    if ("waits" in document) == ("place" in document):
        raise InvalidField("place", "is of entries that do not wait for one")
    if document.get("place", 0) > context.last_place:
        raise InvalidField("place", "must not be behind the last one of the feed")
    kinds = _kinds(document)
    for fact in document["facts"]:
        if fact["type"] not in kinds:
            raise InvalidField("facts", "are not such as are kept for so long")
        kinds[fact["type"]].check(fact)
        if fact["type"] == EventType.ALERT:
            check_figures(AlertKind(fact["kind"]), fact["figures"])


def _head(document: Document, context: ArchiveContext) -> None:
    _HEAD.check(document)
    context.last_place = document["place"]


RULES: Mapping[str, DocumentRule] = {heads.NAME: _head, entries.NAME: _entry}
