"""The shapes of the `data` of events, by their types, and of an entry of the audit log.

Events always have every field, which is null if nothing is known. Later versions only add fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal, TypedDict

from backend.domain.accounts.actors import ActorKind
from backend.domain.alerts.json_form import AlertEventJson
from backend.domain.apps.installs import AppPlatform, Match
from backend.domain.feed.events import EventType
from backend.domain.fields.shapes import (
    ANY_OBJECT,
    AmountText,
    AnyObject,
    CurrencyText,
    InstantText,
    JsonForm,
    JsonShape,
    Sha256Text,
    UuidText,
)
from backend.domain.fields.times.json_times import exact_time_json, with_times
from backend.domain.ids import CustomerId, InstallId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.json_form import OwnLinkJson
from backend.domain.links.links import UTM_FIELDS
from backend.domain.visitors.sources import CLICK_ID_SIGNALS

_UTM = {"type": "object", "properties": {name: {"type": "string"} for name in UTM_FIELDS}}
_ClickIdName = Annotated[str, JsonForm({"type": "string", "enum": list(CLICK_ID_SIGNALS)})]
_DeviceId = Annotated[UuidText | None, "The browser's id, from its cookie cl_device_id."]
_CreditedLink = Annotated[UuidText | None, "The link that is credited with it."]
_Metadata = Annotated[AnyObject | None, "Your own data."]


class LinkCreatedJson(TypedDict):
    """A link was made."""

    link: Annotated[OwnLinkJson, "The link as it was then, but for what is counted of it."]
    changed: Annotated[
        list[str],
        "Which fields of the link have changed. `has_password` also where it got another password.",
    ]


class LinkChangedJson(LinkCreatedJson):
    """A link was changed, or taken out of the archive."""


class LinkArchivedJson(LinkCreatedJson):
    """A link was archived, or deleted for good."""

    purged: Annotated[
        bool, "Whether it was deleted for good; its short URL may be another link's from then on."
    ]


class ClickJson(TypedDict):
    """Somebody followed a link."""

    link_id: UuidText
    short_url: Annotated[str | None, "The link's; null if the link was deleted for good."]
    counted: Annotated[bool, "Whether it counts. Those of bots, and repeats, do not."]
    reason: Annotated[str | None, "Why it does not count."]
    outcome: Annotated[Outcome, "Where the visitor was led."]
    platform: str
    system: Annotated[str | None, "The operating system's name; null if it is not known."]
    browser: Annotated[str | None, "The browser's name; null if it is not known."]
    client_kind: str
    country: Annotated[str | None, "ISO 3166 code."]
    referrer_host: Annotated[str | None, "The site that the visitor came from."]
    variant: Annotated[str | None, "The part of a split of the link that was shown."]


class OpenJson(ClickJson):
    """A link opened the app, and no browser asked for it. It is a click too."""


class TouchJson(TypedDict):
    """The visit that is credited with it by its device, as far as is known when the event is read."""

    at: InstantText
    link_id: Annotated[UuidText | None, "The link that led to the visit."]
    variant: Annotated[str | None, "The part of a split of the link that was shown."]
    utm: Annotated[dict[str, str], JsonForm(_UTM), "Those that are known."]
    click_ids: Annotated[list[_ClickIdName], "The names of the ad click ids it came with."]


class _Told(TypedDict):
    id: Annotated[UuidText, "The same for everything that is told of it."]
    told_by: Annotated[Literal["browser", "server"], "Who told this."]
    told_again: Annotated[bool, "Whether it was told before: this completes or corrects it."]
    customer_id: Annotated[CustomerId | None, "Your own id of the customer that it was told of."]
    device_id: _DeviceId
    page: Annotated[str | None, "The page that it happened on."]


class _Lead(TypedDict):
    email_sha256: Annotated[Sha256Text | None, "SHA-256 of the e-mail address."]
    name: Annotated[str | None, "The customer's name."]
    event_id: Annotated[str | None, "Your own id of the lead."]
    client_timestamp: Annotated[str | None, "When it happened by the visitor's clock."]
    metadata: _Metadata


class _Conversion(TypedDict):
    revenue: Annotated[AmountText, "What was paid, in major units."]
    currency: Annotated[CurrencyText, "ISO 4217 code."]
    transaction_id: Annotated[str | None, "Your own id of the order."]
    product_id: Annotated[str | None, "Your own id of what was sold."]
    metadata: _Metadata


class _Event(TypedDict):
    name: str
    product_id: Annotated[str | None, "Your own id of what it is about."]
    metadata: _Metadata


class _Credited(TypedDict):
    link_id: _CreditedLink
    touch: Annotated[TouchJson | None, "The visit that is credited with it by its device."]


class LeadJson(_Told, _Lead, _Credited):
    """A lead. It says what was known with this telling, and nothing that was only told later."""


class ConversionJson(_Told, _Conversion, _Credited):
    """A sale. It says what was known with this telling, and nothing that was only told later."""


class EventJson(_Told, _Event, _Credited):
    """An event of your own naming. It says what was known with this telling, and nothing that was only told
    later."""


class RefundJson(TypedDict):
    """What was paid back of a sale."""

    id: Annotated[str, "Your own id of the refund."]
    conversion_id: Annotated[UuidText, "The `id` of the sale's events."]
    transaction_id: Annotated[str, "Your own id of the order."]
    amount: Annotated[AmountText, "In major units: the whole or a part of the revenue."]
    currency: Annotated[CurrencyText, "ISO 4217 code."]
    link_id: Annotated[UuidText | None, "The link that is credited with the sale."]


class IdentifyJson(TypedDict):
    """A device was identified as a customer, a customer was told of without a device, or that was taken back.
    Name and hashes are what is known of them when the event is read."""

    device_id: _DeviceId
    customer_id: Annotated[CustomerId, "Your own id of the customer."]
    taken_back: Annotated[bool, "Whether it was told to be wrong: the device never was this customer's."]
    name: Annotated[str | None, "The customer's name."]
    emails_sha256: Annotated[list[Sha256Text], "SHA-256 of the customer's e-mail addresses, the latest last."]
    phone_sha256: Annotated[Sha256Text | None, "SHA-256 of the customer's phone number."]


class InstallJson(TypedDict):
    """The first launch of an app on a device."""

    install_id: Annotated[InstallId, "The app's own id of the installation."]
    platform: AppPlatform
    link_id: Annotated[UuidText | None, "The link that led to it."]
    match: Annotated[Match, "How the link was found."]


# By a call: `from` is a word of Python.
_Period = TypedDict(
    "_Period",
    {"from": Annotated[InstantText | None, "Its start."], "to": Annotated[InstantText | None, "Its end."]},
)
_Period.__doc__ = "A time from `from` on, and before `to`. Null is without limit."


class _SharedDevice(TypedDict):
    """A device that others use too. What it did in these times is the person's, unless it names a
    customer."""

    device_id: UuidText
    times: Annotated[list[_Period], "When it was the person's."]


class ErasedJson(TypedDict):
    """Everything about a person was erased here. Erase what you have of these."""

    customers: Annotated[list[str], "Your own ids of the customer."]
    devices: Annotated[list[UuidText], "Devices that nobody else uses."]
    emails_sha256: Annotated[list[Sha256Text], "SHA-256 of the person's e-mail addresses."]
    installs: Annotated[list[str], "Installations of an app."]
    shared_devices: Annotated[list[_SharedDevice], "Devices that others use too."]


class _Actor(TypedDict):
    """Who did it."""

    kind: ActorKind
    id: Annotated[str | None, "Of a person or a key."]
    name: Annotated[str, "A person's address, or a key's name or last characters."]


class _Target(TypedDict):
    """What was changed."""

    kind: Annotated[str, "Such as `link`."]
    id: Annotated[str | None, "Its id; of a customer a hash of it."]
    name: Annotated[str | None, "What people know it by."]


_Fields = Annotated[dict[str, Any], JsonForm(ANY_OBJECT, partial(with_times, exact_time_json))]


class AuditJson(TypedDict):
    """Somebody changed what the organization owns, or signed in."""

    actor: _Actor
    action: Annotated[str, "What they did, such as `link.changed`."]
    target: _Target
    before: Annotated[_Fields | None, "The fields that changed, as they were; null where there was nothing."]
    after: Annotated[_Fields | None, "The fields that changed, as they are now; null where it is gone."]


class _Entry(TypedDict):
    id: Annotated[str, "The same whenever it is read."]
    at: InstantText


class AuditEntryJson(_Entry, AuditJson):
    """Who changed what, and how it was before."""


EVENT_SHAPES: Mapping[EventType, JsonShape] = {
    EventType.LINK_CREATED: LinkCreatedJson,
    EventType.LINK_CHANGED: LinkChangedJson,
    EventType.LINK_ARCHIVED: LinkArchivedJson,
    EventType.CLICK: ClickJson,
    EventType.LEAD: LeadJson,
    EventType.CONVERSION: ConversionJson,
    EventType.REFUND: RefundJson,
    EventType.EVENT: EventJson,
    EventType.IDENTIFY: IdentifyJson,
    EventType.INSTALL: InstallJson,
    EventType.OPEN: OpenJson,
    EventType.ERASED: ErasedJson,
    EventType.ALERT: AlertEventJson,
    EventType.AUDIT: AuditJson,
}
