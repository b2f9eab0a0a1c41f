"""What is decided about calls that arrive, and what is known when it is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from backend.domain.clicks.clicks import Click
from backend.domain.feed.facts import Fact
from backend.domain.ids import CallId, CustomerId, DeviceId, OrgId
from backend.domain.sales.records import Record, RecordKey
from backend.domain.visitors.attribution import Credit, Device
from backend.domain.visitors.calls import Kind

# An organization and a device ID.
DeviceKey = tuple[OrgId, DeviceId]
# An organization and a call_id.
CallKey = tuple[OrgId, CallId]
# An organization, a kind, and the id under which a call of this kind counts once.
OnceKey = tuple[OrgId, Kind, str]


class Status(StrEnum):
    """The result of a valid call."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a valid call: its status, and the id of its record or of the one that counted before.

    `differs` names the fields for which other values count than the call has.
    """

    status: Status
    record_id: CallId
    differs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredState:
    """What the database already has about the arriving calls.

    `calls` are the arriving calls that were stored before. `counted` are the ids, of those that arrive, which
    were counted before, and `counted_records` the records of these ids that are still there. `devices` are
    the devices of the calls (`devices_of`) and of `counted_records`. `records` are stored records that may
    have to be credited to touches that arrive only now (see `late_touches`).
    """

    calls: frozenset[CallKey] = frozenset()
    counted: frozenset[OnceKey] = frozenset()
    devices: Mapping[DeviceKey, Device] = field(default_factory=dict)
    counted_records: Mapping[OnceKey, Record] = field(default_factory=dict)
    records: Mapping[DeviceKey, Sequence[Record]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contact:
    """What a call told of a customer, on a device if one is named: in `details` the name and hashes.

    `is_server` says whether a server told both the customer and the details. Browsers can name anyone, so an
    erasure follows an address from one customer to another only where a server told it.
    """

    org_id: OrgId
    device_id: DeviceId | None
    customer_id: CustomerId
    at: datetime
    details: dict[str, str]
    is_server: bool


@dataclass(slots=True)
class Decisions:
    """A result for each call of each batch, and everything that is to be written.

    `calls` and `counted` are ids to mark as stored or counted, each with its time of arrival. `completed` are
    stored records of which another telling says more. `credited` are stored records whose credit changes
    because an earlier touch arrived late. `devices` has the device of every call that is stored, even if
    nothing about it changed: so two transactions for the same device write the same document, and MongoDB
    lets only one of them through. `clicks` are those opens of apps that no browser asked for. `facts` are for
    the feeds of the organizations, in order of arrival.
    """

    results: list[list[Result]] = field(default_factory=list)
    calls: dict[CallKey, datetime] = field(default_factory=dict)
    counted: dict[OnceKey, datetime] = field(default_factory=dict)
    records: dict[RecordKey, Record] = field(default_factory=dict)
    completed: dict[RecordKey, Record] = field(default_factory=dict)
    contacts: list[Contact] = field(default_factory=list)
    devices: dict[DeviceKey, Device] = field(default_factory=dict)
    credited: dict[RecordKey, Credit] = field(default_factory=dict)
    clicks: list[Click] = field(default_factory=list)
    facts: dict[OrgId, list[Fact]] = field(default_factory=dict)

    def tell(self, org_id: OrgId, fact: Fact) -> None:
        """Add a fact for the organization's feed."""
        self.facts.setdefault(org_id, []).append(fact)
