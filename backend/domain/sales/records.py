"""Records of what visitors did: leads, conversions and events, with all that was told of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from backend.domain.ids import CallId, CustomerId, DeviceId, OrgId
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.sales.histories import as_told, known_facts, known_tellings
from backend.domain.sales.told_facts import SaleFacts
from backend.domain.visitors.attribution import Credit, Touch
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.tellings import (
    Combined,
    SaleIdentity,
    Telling,
    combine,
    fields_of,
    identities_of,
    with_telling,
)

# The name of the page's address among the fields of a telling.
PAGE = "page"
_ALL = CreditRules()
# A kind, an organization and a call_id.
RecordKey = tuple[Kind, OrgId, CallId]


@dataclass(frozen=True, slots=True)
class Record:
    """A lead, conversion or event to store.

    Everything about it follows from its tellings, of which there is at least one, in order of arrival.
    `credit` is a copy of what follows from the tellings and from the device's touches.
    """

    kind: Kind
    org_id: OrgId
    call_id: CallId
    tellings: tuple[Telling[Touch], ...]
    credit: Credit = field(default_factory=Credit)

    @property
    def key(self) -> RecordKey:
        """The record's unique key."""
        return self.kind, self.org_id, self.call_id

    @property
    def combined(self) -> Combined:
        """The time, device and customer that follow from all tellings."""
        return combine(self.tellings)

    @property
    def at(self) -> datetime:
        """When it happened."""
        return self.combined.at

    @property
    def device_id(self) -> DeviceId | None:
        """The device that did it; None where only servers told of it, and no device."""
        return self.combined.device_id

    @property
    def customer_id(self) -> CustomerId | None:
        """The customer that it was told of."""
        return self.combined.customer_id

    @property
    def page(self) -> str | None:
        """The address of the page on which it happened."""
        page: str | None = fields_of(self.tellings).get(PAGE)
        return page

    @property
    def fields(self) -> dict[str, Any]:
        """The fields that only its kind has."""
        return {name: value for name, value in fields_of(self.tellings).items() if name != PAGE}

    @property
    def identities(self) -> list[SaleIdentity]:
        """The customers that its tellings named for its devices, now and before."""
        return identities_of(self.tellings)

    def facts(self, more: Iterable[Touch] = ()) -> SaleFacts[Touch]:
        """What its credit follows from besides its device. `more` are further touches of the device."""
        return self.facts_known(_ALL, more)

    def facts_known(self, rules: CreditRules, more: Iterable[Touch] = ()) -> SaleFacts[Touch]:
        """What of these facts the rules know."""
        tellings = [
            Telling(*telling[:5], as_told(telling.visit) if telling.visit else None)
            for telling in self.tellings
        ]
        return known_facts(tellings, tuple(map(as_told, (*self.credit.touches, *more))), rules)

    def fields_known(self, rules: CreditRules) -> Mapping[str, Any]:
        """What of its fields the rules know; all of them, if the rules know none of its tellings."""
        return fields_of(known_tellings(self.tellings, rules))

    def told_again(self, telling: Telling[Touch]) -> Record:
        """The record with what another telling of the same sale or lead says; itself if that is nothing new.

        Where another device becomes the record's, its credit is unknown.
        """
        tellings = with_telling(self.tellings, telling)
        if tellings is self.tellings:
            return self
        again = replace(self, tellings=tellings)
        return again if again.device_id == self.device_id else replace(again, credit=Credit())

    def until(self, number: int) -> Record:
        """The record as it was with its telling of this number, counted from 0: without what came later."""
        return replace(self, tellings=self.tellings[: number + 1])

    def credited(self, credit: Credit) -> Record:
        """The record with this credit."""
        # Not by dataclasses.replace, which takes twice as long: this is done for every call.
        return Record(self.kind, self.org_id, self.call_id, self.tellings, credit)

    def differences(self, telling: Telling[Touch]) -> tuple[str, ...]:
        """The names of the fields for which a further telling has other values than count."""
        values = {"device_id": telling.device_id, "customer_id": telling.customer_id, **telling.fields}
        values.pop(PAGE, None)
        counted = {"device_id": self.device_id, "customer_id": self.customer_id, **self.fields}
        return tuple(
            name
            for name, value in values.items()
            if value is not None and counted.get(name) is not None and counted[name] != value
        )
