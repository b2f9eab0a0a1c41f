"""Rules for an archive's visitors: their devices, their contacts, and what they did on sites and in apps.

What browsers and apps report affects only their own organization, so it may have other fields too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from bson import Decimal128

from backend.domain.apps.installs import AppPlatform, Match
from backend.domain.errors import InvalidField
from backend.domain.fields import money
from backend.domain.fields.rules import JsonObject, Uuid
from backend.domain.sales.refunds import MOST_REFUNDS
from backend.domain.visitors.call_metadata import Metadata
from backend.domain.visitors.calls import ID_LENGTH
from backend.domain.visitors.tellings import MOST_TELLINGS
from backend.storage.apps import installs
from backend.storage.driver.mongo import Document
from backend.storage.lifecycle.archive_context import (
    ArchiveContext,
    DocumentRule,
    own_id,
    own_link,
)
from backend.storage.sales import conversions, leads
from backend.storage.schema.document_fields import (
    DocumentFields,
    Parse,
    integer,
    list_of,
    nested,
    one_of,
    or_none,
    sha256,
    text,
    text_of,
    texts,
    time,
)
from backend.storage.visitors import contacts, devices, events
from backend.storage.visitors.records import FIELDS, TELLINGS


def _currency(name: str, value: object) -> object:
    # A sale keeps its currency even if that is withdrawn later.
    if not isinstance(value, str) or not re.fullmatch(r"[A-Z]{3}", value):
        raise InvalidField(name, "must be a currency code of three capital letters")
    return value


# What a page, an app or a server tells of a person, a call or a product.
_of_call = text_of(ID_LENGTH)
_TOLD: Mapping[str, Parse] = {"received_at": or_none(time)}
_CLICK: Mapping[str, Parse] = {"click_at": or_none(time), "click_mark": or_none(integer)}
_OF_LINK: Mapping[str, Parse] = {"link_id": or_none(text), "variant": or_none(text)}
_TOUCH = nested(
    DocumentFields(
        {"at": time, "utm": texts, "click_ids": texts}, {**_OF_LINK, **_TOLD, **_CLICK}, is_open=True
    )
)
_VISIT = nested(DocumentFields({"at": time}, _TOLD, is_open=True))
_CUSTOMER = nested(
    DocumentFields(
        {"at": time}, {**_TOLD, "taken_back_at": or_none(time), "replaced_at": or_none(time)}, is_open=True
    )
)
_MOMENT = nested(DocumentFields({"at": time}, is_open=True))
_MOST_TELLINGS = 2 * MOST_TELLINGS  # by servers and by browsers
_TELLING: Mapping[str, Parse] = {
    "received_at": time,
    "at": time,
    "device_id": or_none(text),
    "customer_id": or_none(_of_call),
}
_TELLING_MORE: Mapping[str, Parse] = {"occurred_at": or_none(time), "visit": _TOUCH}
_EXPIRES: Mapping[str, Parse] = {"expires_at": or_none(time)}
_RECORD: Mapping[str, Parse] = {
    "device_id": or_none(Uuid().parse),
    "customer_id": or_none(_of_call),
    "at": time,
    "occurred_at": time,
    "received_at": time,
    "first_touch": or_none(_TOUCH),
    "touch": or_none(_TOUCH),
}
_DEVICE = DocumentFields(
    {
        "device_id": Uuid().parse,
        "first_seen_at": time,
        "last_seen_at": time,
        "first_touch": or_none(_TOUCH),
        "touches": list_of(_TOUCH, None),
        "click_ids": list_of(_MOMENT, None),
        "customers": list_of(_CUSTOMER, None),
        "clocks": list_of(integer, None),
        "direct_visits": list_of(_VISIT, None),
    },
    {"revision": integer, **_EXPIRES},
    is_open=True,
)
_CONTACT = DocumentFields(
    {"customer_id": _of_call, "last_at": time},
    {
        "device_id": Uuid().parse,
        "emails_sha256": list_of(sha256, contacts.EMAILS_KEPT),
        contacts.EMAILS_BY_SERVERS: list_of(sha256, contacts.EMAILS_KEPT),
        "told_by": list_of(one_of(contacts.SaidBy), 2),
        "phone_sha256": sha256,
        "name": _of_call,
        **_EXPIRES,
    },
    is_open=True,
)
# What is stored may be longer than what was sent: 1e15 becomes 1000000000000000.0.
_metadata = JsonObject(max_bytes=5 * Metadata.MOST_BYTES).parse


def _amount(name: str, value: object) -> object:
    if not isinstance(value, Decimal128):
        raise InvalidField(name, "must be an exact decimal")
    amount = value.to_decimal()
    if not amount.is_finite() or not 0 <= amount <= money.LARGEST:
        raise InvalidField(name, f"must be from 0 to {money.LARGEST:f}")
    return value


def _told(required: Mapping[str, Parse], optional: Mapping[str, Parse]) -> DocumentFields:
    """A record with these fields. Where it was told several times, so has each of its tellings."""
    fields = nested(DocumentFields(required, optional, is_open=True))
    once = nested(DocumentFields(_TELLING, _TELLING_MORE, is_open=True))
    again = nested(DocumentFields({**_TELLING, FIELDS: fields}, _TELLING_MORE, is_open=True))

    def tellings(name: str, value: object) -> object:
        is_again = isinstance(value, list) and len(value) > 1
        return list_of(again if is_again else once, _MOST_TELLINGS)(name, value)

    return DocumentFields({**_RECORD, **required}, {**optional, TELLINGS: tellings, **_EXPIRES}, is_open=True)


_LEAD = _told({}, {"email_sha256": sha256, "name": _of_call, "event_id": _of_call, "metadata": _metadata})
_EVENT = _told({"name": _of_call}, {"product_id": _of_call, "metadata": _metadata})
_REFUND = DocumentFields(
    {"refund_id": _of_call, "amount": _amount, "currency": _currency, "at": time, "received_at": time}
)
_CONVERSION = _told(
    {"revenue": _amount, "currency": _currency},
    {
        "transaction_id": _of_call,
        "product_id": _of_call,
        "metadata": _metadata,
        "refunds": list_of(nested(_REFUND), MOST_REFUNDS),
    },
)
_INSTALL = DocumentFields(
    {"platform": one_of(AppPlatform), "link_id": or_none(text), "match": one_of(Match), "at": time},
    _EXPIRES,
    is_open=True,
)


def _device(document: Document, context: ArchiveContext) -> None:
    _DEVICE.check(document)
    own_id(document, context.org_id, document["device_id"])


def _contact(document: Document, context: ArchiveContext) -> None:
    _CONTACT.check(document)
    own_id(document, context.org_id, document.get("device_id", ""), document["customer_id"])


def _record(fields: DocumentFields) -> DocumentRule:
    def check(document: Document, context: ArchiveContext) -> None:
        fields.check(document)
        call_id = str(document["_id"]).removeprefix(f"{context.org_id}/")
        own_id(document, context.org_id, Uuid().parse("_id", call_id))

    return check


def _install(document: Document, context: ArchiveContext) -> None:
    _INSTALL.check(document)
    if document["link_id"] is not None:
        own_link(document["link_id"], context)


RULES: Mapping[str, DocumentRule] = {
    devices.NAME: _device,
    contacts.NAME: _contact,
    events.NAME: _record(_EVENT),
    leads.NAME: _record(_LEAD),
    conversions.NAME: _record(_CONVERSION),
    installs.NAME: _install,
}
