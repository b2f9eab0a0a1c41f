"""Records of what visitors did: leads, conversions and events, and what a second telling adds to one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from backend.domain.attribution import Credit
from backend.domain.calls import Call, Kind
from backend.domain.ids import CallId, CustomerId, DeviceId, OrgId

# A kind, an organization and a call_id.
RecordKey = tuple[Kind, OrgId, CallId]


@dataclass(frozen=True, slots=True)
class Record:
    """A lead, conversion or event to store.

    `device_id` is None where a server told it, and no device. `customer_id` is the one that was named, or the
    device's at that time. It counts at `credit.at`; `occurred_at` is the time by the teller's clock.
    """

    kind: Kind
    org_id: OrgId
    call_id: CallId
    device_id: DeviceId | None
    customer_id: CustomerId | None
    credit: Credit
    occurred_at: datetime
    received_at: datetime
    page: str | None
    fields: dict[str, Any]

    @property
    def key(self) -> RecordKey:
        """The record's unique key."""
        return self.kind, self.org_id, self.call_id

    def completed(self, told: Record) -> Record:
        """The record with what another telling of the same sale or lead knows more.

        Nothing that is known changes, but for the time: a device knows the order of what it did. So where
        only the other telling names the device, its time counts, and its touches get the credit: the same
        stays whichever of a browser and a server comes first. The clicks that tellings without a device name
        are kept beside these.
        """
        known = replace(
            self,
            customer_id=self.customer_id or told.customer_id,
            page=self.page or told.page,
            fields=told.fields | self.fields,
        )
        if told.device_id is None:
            return replace(known, credit=self.credit.with_touches(told.credit.touches))
        if self.device_id:
            return known
        credit = told.credit.with_touches(self.credit.touches)
        return replace(known, device_id=told.device_id, credit=credit, occurred_at=told.occurred_at)

    def differences(self, call: Call, device_id: DeviceId | None) -> tuple[str, ...]:
        """The names of fields for which another telling has other values than the record."""
        given = {"device_id": device_id, "customer_id": call.customer_id, **call.fields}
        own = {"device_id": self.device_id, "customer_id": self.customer_id, **self.fields}
        return tuple(
            name
            for name, value in given.items()
            if value is not None and own.get(name) is not None and own[name] != value
        )
