"""JSON Schemas of the `data` of events, by their types, for the OpenAPI document and for tests.

Events always have every field, which is null if nothing is known. Later versions only add fields.
"""

from __future__ import annotations

from collections.abc import Mapping

from backend.domain.accounts.actors import ActorKind
from backend.domain.alerts.rule import AlertKind
from backend.domain.apps.installs import AppPlatform, Match
from backend.domain.feed.events import EventType
from backend.domain.fields.rules import Schema
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.links import FALLBACK_FIELDS, SOCIAL_FIELDS, UTM_FIELDS, CreatedBy, LinkState
from backend.domain.visitors.sources import CLICK_ID_SIGNALS

_TEXT: Schema = {"type": "string"}
_ANYTHING: Schema = {"type": "object", "additionalProperties": True}
_UUID: Schema = {"type": "string", "format": "uuid"}
_TIME: Schema = {"type": "string", "format": "date-time"}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
_FLAG: Schema = {"type": "boolean"}
_AMOUNT: Schema = {"type": "string", "pattern": r"^[0-9]+([.][0-9]+)?$"}
_CURRENCY: Schema = {"type": "string", "pattern": "^[A-Z]{3}$"}
_SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def _described(schema: Schema, description: str) -> Schema:
    return schema | {"description": description}


def _or_null(schema: Schema, description: str) -> Schema:
    return {"anyOf": [schema, {"type": "null"}], "description": description}


def _list_of(schema: Schema, description: str) -> Schema:
    return {"type": "array", "items": schema, "description": description}


def _object(description: str, properties: Mapping[str, Schema]) -> Schema:
    """The schema of an object that has all of these fields."""
    return {
        "type": "object",
        "description": description,
        "required": list(properties),
        "properties": dict(properties),
    }


_DEVICE_ID = "The browser's id, from its cookie cl_device_id."
_TOUCH = _object(
    "The visit that is credited with it by its device, as far as is known when the event is read.",
    {
        "at": _TIME,
        "link_id": _or_null(_UUID, "The link that led to the visit."),
        "variant": _or_null(_TEXT, "The part of a split of the link that was shown."),
        "utm": {
            "type": "object",
            "properties": dict.fromkeys(UTM_FIELDS, _TEXT),
            "description": "Those that are known.",
        },
        "click_ids": _list_of(
            {"type": "string", "enum": list(CLICK_ID_SIGNALS)}, "The names of the ad click ids it came with."
        ),
    },
)


def _record(description: str, fields: Mapping[str, Schema]) -> Schema:
    """The schema of a lead, a conversion or an event of a site's own."""
    return _object(
        f"{description} It says what was known with this telling, and nothing that was only told later.",
        {
            "id": _described(_UUID, "The same for everything that is told of it."),
            "told_by": _described({"type": "string", "enum": ["browser", "server"]}, "Who told this."),
            "told_again": _described(_FLAG, "Whether it was told before: this completes or corrects it."),
            "customer_id": _or_null(_TEXT, "Your own id of the customer that it was told of."),
            "device_id": _or_null(_UUID, _DEVICE_ID),
            "page": _or_null(_TEXT, "The page that it happened on."),
            **fields,
            "link_id": _or_null(_UUID, "The link that is credited with it."),
            "touch": _or_null(_TOUCH, "The visit that is credited with it by its device."),
        },
    )


_METADATA = _or_null(_ANYTHING, "Your own data.")
_CLICK_FIELDS: Mapping[str, Schema] = {
    "link_id": _UUID,
    "short_url": _or_null(_TEXT, "The link's; null if the link was deleted for good."),
    "counted": _described(_FLAG, "Whether it counts. Those of bots, and repeats, do not."),
    "reason": _or_null(_TEXT, "Why it does not count."),
    "outcome": _described(
        {"type": "string", "enum": [outcome.value for outcome in Outcome]}, "Where the visitor was led."
    ),
    "platform": _TEXT,
    "system": _or_null(_TEXT, "The operating system's name; null if it is not known."),
    "browser": _or_null(_TEXT, "The browser's name; null if it is not known."),
    "client_kind": _TEXT,
    "country": _or_null(_TEXT, "ISO 3166 code."),
    "referrer_host": _or_null(_TEXT, "The site that the visitor came from."),
    "variant": _or_null(_TEXT, "The part of a split of the link that was shown."),
}
_CLICK = _object("Somebody followed a link.", _CLICK_FIELDS)
_OPEN = _object("A link opened the app, and no browser asked for it. It is a click too.", _CLICK_FIELDS)
_LEAD = _record(
    "A lead.",
    {
        "event_id": _or_null(_TEXT, "Your own id of the lead."),
        "name": _or_null(_TEXT, "The customer's name."),
        "email_sha256": _or_null(_SHA256, "SHA-256 of the e-mail address."),
        "client_timestamp": _or_null(_TEXT, "When it happened by the visitor's clock."),
        "metadata": _METADATA,
    },
)
_CONVERSION = _record(
    "A sale.",
    {
        "transaction_id": _or_null(_TEXT, "Your own id of the order."),
        "revenue": _described(_AMOUNT, "What was paid, in major units."),
        "currency": _described(_CURRENCY, "ISO 4217 code."),
        "product_id": _or_null(_TEXT, "Your own id of what was sold."),
        "metadata": _METADATA,
    },
)
_EVENT = _record(
    "An event of your own naming.",
    {
        "name": _TEXT,
        "product_id": _or_null(_TEXT, "Your own id of what it is about."),
        "metadata": _METADATA,
    },
)
_REFUND = _object(
    "What was paid back of a sale.",
    {
        "id": _described(_TEXT, "Your own id of the refund."),
        "conversion_id": _described(_UUID, "The `id` of the sale's events."),
        "transaction_id": _described(_TEXT, "Your own id of the order."),
        "amount": _described(_AMOUNT, "In major units: the whole or a part of the revenue."),
        "currency": _described(_CURRENCY, "ISO 4217 code."),
        "link_id": _or_null(_UUID, "The link that is credited with the sale."),
    },
)
_IDENTIFY = _object(
    "A device was identified as a customer, a customer was told of without a device, or that was taken back. "
    "Name and hashes are what is known of them when the event is read.",
    {
        "device_id": _or_null(_UUID, _DEVICE_ID),
        "customer_id": _described(_TEXT, "Your own id of the customer."),
        "taken_back": _described(
            _FLAG, "Whether it was told to be wrong: the device never was this customer's."
        ),
        "name": _or_null(_TEXT, "The customer's name."),
        "emails_sha256": _list_of(_SHA256, "SHA-256 of the customer's e-mail addresses, the latest last."),
        "phone_sha256": _or_null(_SHA256, "SHA-256 of the customer's phone number."),
    },
)
_INSTALL = _object(
    "The first launch of an app on a device.",
    {
        "install_id": _described(_TEXT, "The app's own id of the installation."),
        "platform": {"type": "string", "enum": [platform.value for platform in AppPlatform]},
        "link_id": _or_null(_UUID, "The link that led to it."),
        "match": _described(
            {"type": "string", "enum": [match.value for match in Match]}, "How the link was found."
        ),
    },
)
_PERIOD = _object(
    "A time from `from` on, and before `to`. Null is without limit.",
    {"from": _or_null(_TIME, "Its start."), "to": _or_null(_TIME, "Its end.")},
)
_SHARED_DEVICE = _object(
    "A device that others use too. What it did in these times is the person's, unless it names a customer.",
    {"device_id": _UUID, "times": _list_of(_PERIOD, "When it was the person's.")},
)
_ERASED = _object(
    "Everything about a person was erased here. Erase what you have of these.",
    {
        "customers": _list_of(_TEXT, "Your own ids of the customer."),
        "devices": _list_of(_UUID, "Devices that nobody else uses."),
        "shared_devices": _list_of(_SHARED_DEVICE, "Devices that others use too."),
        "emails_sha256": _list_of(_SHA256, "SHA-256 of the person's e-mail addresses."),
        "installs": _list_of(_TEXT, "Installations of an app."),
    },
)
_ALERT = _object(
    "An alert rule has told of something, or what it told of is over.",
    {
        "id": _described(_UUID, "The alert's, as `GET /alerts` has it."),
        "rule_id": _UUID,
        "rule_name": _described(_TEXT, "The rule's name at that time."),
        "kind": {"type": "string", "enum": [kind.value for kind in AlertKind]},
        "link_id": _or_null(_UUID, "The link that it is about."),
        "began_at": _described(_TIME, "When what it tells of began."),
        "ended_at": _or_null(_TIME, "When it was over; null while it goes on."),
        "why": _described(_TEXT, "Why it fired, as a sentence in English."),
        "figures": _described(_ANYTHING, "Why it fired: numbers, texts and times, which depend on the kind."),
    },
)
_ACTOR = _object(
    "Who did it.",
    {
        "kind": {"type": "string", "enum": [kind.value for kind in ActorKind]},
        "id": _or_null(_TEXT, "Of a person or a key."),
        "name": _described(_TEXT, "A person's address, or a key's name or last characters."),
    },
)
_TARGET = _object(
    "What was changed.",
    {
        "kind": _described(_TEXT, "Such as `link`."),
        "id": _or_null(_TEXT, "Its id; of a customer a hash of it."),
        "name": _or_null(_TEXT, "What people know it by."),
    },
)
_AUDIT_FIELDS: Mapping[str, Schema] = {
    "actor": _ACTOR,
    "action": _described(_TEXT, "What they did, such as `link.changed`."),
    "target": _TARGET,
    "before": _or_null(_ANYTHING, "The fields that changed, as they were; null where there was nothing."),
    "after": _or_null(_ANYTHING, "The fields that changed, as they are now; null where it is gone."),
}
_AUDIT = _object("Somebody changed what the organization owns, or signed in.", _AUDIT_FIELDS)
# An entry of the audit log by itself, as `GET /audit` has it.
AUDIT_ENTRY = _object(
    "Who changed what, and how it was before.",
    {"id": _described(_TEXT, "The same whenever it is read."), "at": _TIME, **_AUDIT_FIELDS},
)
_RULE = _object("What applies to a part of the visits.", {"if": _ANYTHING, "then": _ANYTHING})
_LINK = _object(
    "The link as it was then, by the names of the REST API, but for what is counted of it.",
    {
        "id": _UUID,
        "external_id": _or_null(_TEXT, "Your own id of the link."),
        "org_id": _TEXT,
        "domain": _TEXT,
        "path": _TEXT,
        "short_url": _TEXT,
        "destination_url": _TEXT,
        "link_name": _TEXT,
        "is_enabled": _FLAG,
        "is_archived": _FLAG,
        "state": _described(
            _TEXT, f"What it did for visitors then: {', '.join(LinkState)}; there may be more."
        ),
        "ios_behavior": {"type": "integer"},
        "android_behavior": {"type": "integer"},
        **dict.fromkeys((*UTM_FIELDS, *SOCIAL_FIELDS, *FALLBACK_FIELDS), _TEXT_OR_NULL),
        "custom_data": _or_null(_ANYTHING, "Your own data."),
        "rules": _list_of(_RULE, "Its rules; the first one that applies decides."),
        "forwards_path": _described(_FLAG, "Whether what follows its path is passed on."),
        "forwards_query": _or_null(
            _list_of(_TEXT, "Names."), "The query parameters that are passed on; null: all."
        ),
        "adds_link_id": _described(_FLAG, "Whether anything is added to its addresses."),
        "query_precedence": _or_null(
            _TEXT, "Whose parameter arrives of equal names, destination or visitor; null: both."
        ),
        "starts_at": _or_null(_TIME, "From when on it leads anywhere."),
        "expires_at": _or_null(_TIME, "Until when it does."),
        "max_clicks": _or_null({"type": "integer"}, "For how many clicks it does."),
        "click_to_continue": _described(_FLAG, "Whether a click is taken by a button on a page before."),
        "expired_url": _or_null(_TEXT, "Where it leads who comes too late."),
        "has_password": _FLAG,
        "tags": _list_of(_TEXT, "The names that its tags have when the event is read."),
        "created_by": {"type": "string", "enum": [creator.value for creator in CreatedBy]},
        "created_at": _TIME,
        "modified_at": _TIME,
        "archived_at": _or_null(_TIME, "When it was archived."),
        "hold": _or_null(
            _object("Since when and why.", {"at": _TIME, "why": _TEXT}), "Whoever runs Waylink stopped it."
        ),
        "imported_clicks": _or_null(
            _object("Its count.", {"count": {"type": "integer"}, "source": _TEXT, "imported_at": _TIME}),
            "What another service had counted.",
        ),
    },
)
_LINK_FIELDS: Mapping[str, Schema] = {
    "link": _LINK,
    "changed": _list_of(
        _TEXT, "Which fields of the link have changed. `has_password` also where it got another password."
    ),
}
_PURGED = _described(
    _FLAG, "Whether it was deleted for good; its short URL may be another link's from then on."
)
DATA_SCHEMAS: Mapping[EventType, Schema] = {
    EventType.LINK_CREATED: _object("A link was made.", _LINK_FIELDS),
    EventType.LINK_CHANGED: _object("A link was changed, or taken out of the archive.", _LINK_FIELDS),
    EventType.LINK_ARCHIVED: _object(
        "A link was archived, or deleted for good.", {**_LINK_FIELDS, "purged": _PURGED}
    ),
    EventType.CLICK: _CLICK,
    EventType.LEAD: _LEAD,
    EventType.CONVERSION: _CONVERSION,
    EventType.REFUND: _REFUND,
    EventType.EVENT: _EVENT,
    EventType.IDENTIFY: _IDENTIFY,
    EventType.INSTALL: _INSTALL,
    EventType.OPEN: _OPEN,
    EventType.ERASED: _ERASED,
    EventType.ALERT: _ALERT,
    EventType.AUDIT: _AUDIT,
}
