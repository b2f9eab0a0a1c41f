"""Facts: what the entries of the feed say, in few bytes.

A fact names a document that is stored elsewhere and that is read when somebody reads the feed
(storage/feed/reading). Only links are copied into facts, since links are changed afterwards. A fact about
persons has their ids in the fields `device_id`, `customer_id` and `install_id`, so that an erasure finds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypeAlias

from backend.domain.costs.cost import ToldCost
from backend.domain.feed.events import EventType
from backend.domain.fields.money import digits_of, in_units
from backend.domain.ids import CallId, CustomerId, DeviceId, InstallId, TagId
from backend.domain.ledger.receipts import Receipt
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.persons import Person

# Its `type` is that of the events it stands for, or the name of something that only analytics reads.
Fact: TypeAlias = dict[str, Any]
TAG = "tag"
COST = "cost"
# The types of facts about blocks of clicks.
BLOCKS = frozenset({EventType.CLICK.value, EventType.OPEN.value})
DEVICE = "device"
REREAD = "reread"
SUMMARY = "summary"


def clicks_fact(receipt: Receipt) -> Fact:
    """The clicks of the block with this receipt. The fact stays after the block has expired."""
    return {"type": EventType.CLICK.value, **asdict(receipt)}


def opens_fact(receipt: Receipt) -> Fact:
    """As `clicks_fact`, of a block whose clicks are opens of apps."""
    return {"type": EventType.OPEN.value, **asdict(receipt)}


def call_fact(kind: Kind, call_id: CallId, telling: int = 0) -> Fact:
    """A lead, conversion or event was told: the telling with this number of the record with this id."""
    return {"type": kind.value, "call": call_id} | ({"telling": telling} if telling else {})


def refund_fact(call_id: CallId, number: int) -> Fact:
    """The refund with this number, counted from 0, of the conversion with this id was told."""
    return {"type": EventType.REFUND.value, "call": call_id, "number": number}


def identify_fact(
    device_id: DeviceId | None, customer_id: CustomerId, at: datetime, *, taken_back: bool = False
) -> Fact:
    """A device was identified as a customer, a customer was told of without one, or that was taken back."""
    fact = {"type": EventType.IDENTIFY.value, "device_id": device_id, "customer_id": customer_id, "at": at}
    return fact | ({"taken_back": True} if taken_back else {})


def device_fact(device_id: DeviceId) -> Fact:
    """A device's visits or customers have changed. No event: analytics reads what has become of the device.

    Also records may be credited to other visits of the device now.
    """
    return {"type": DEVICE, "device_id": device_id}


def install_fact(install_id: InstallId) -> Fact:
    """An app was launched for the first time."""
    return {"type": EventType.INSTALL.value, "install_id": install_id}


def erased_fact(person: Person, belongings: Mapping[str, Sequence[Any]], at: datetime) -> Fact:
    """Everything about a person was erased.

    `belongings` are the person's `devices`, `shared_devices` and `installs`. All names are lists, so that
    no erasure takes them for facts about the person: they tell readers whom to erase.
    """
    return {
        "type": EventType.ERASED.value,
        "at": at,
        "customers": sorted(person.customers),
        "emails_sha256": sorted(person.emails),
        **belongings,
    }


def tag_fact(tag_id: TagId, name: str | None) -> Fact:
    """From now on a tag has this name, on all links that have its id; None if it stands for nothing any more.

    No event: a link has many fields, and an organization's tags are on many links. Analytics groups by names.
    """
    return {"type": TAG, "tag_id": tag_id, "name": name}


def cost_fact(cost: ToldCost, *, is_known: bool = True) -> Fact:
    """From now on this is what a campaign cost on a day; nothing is known of it if not `is_known`.

    No event: the organization told it, and nothing happened. Analytics adds it up.
    """
    digits = digits_of(cost.amount, cost.currency)
    return {
        "type": COST,
        "cost_id": cost.id,
        "campaign": cost.campaign,
        "day": cost.day_number,
        "currency": cost.currency,
        "digits": digits,
        "units": in_units(cost.amount, digits) if is_known else None,
    }


def summary_fact(day: int, summaries: Sequence[str], blocks: Sequence[str]) -> Fact:
    """These blocks of a day, counted from 1970, are gone: their clicks are added up in these summaries.

    Both are ids without the organization's; blocks have those under which they were stored first. No event:
    that the clicks happened was told before.
    """
    return {"type": SUMMARY, "day": day, "summaries": list(summaries), "blocks": list(blocks)}


def reread_fact(of: str, ids: Sequence[str]) -> Fact:
    """Documents have changed, or are gone, and nothing else tells of it. Analytics reads them again.

    `of` is the type of the facts that name such documents. As in `erased_fact`, no erasure takes this for
    facts about a person.
    """
    return {"type": REREAD, "of": of, "ids": list(ids)}


def events_of(fact: Fact) -> int:
    """How many events the fact stands for."""
    return int(fact.get("clicks", 1))
