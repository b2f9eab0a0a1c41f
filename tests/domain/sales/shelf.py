"""Calls that arrive, and a shelf that keeps what is decided about them, as a database would."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from backend.domain.fields.money import digits_of, in_units
from backend.domain.ids import CallId, CustomerId, DeviceId, OrgId
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.sales.decisions import CallKey, Decisions, DeviceKey, OnceKey, StoredState
from backend.domain.sales.histories import History, customer_of
from backend.domain.sales.intake import ONCE_FIELDS, decide, late_touches
from backend.domain.sales.records import Record
from backend.domain.sales.refunds import Refund
from backend.domain.sales.told_facts import SaleFacts
from backend.domain.visitors.attribution import Device, Touch
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import Call, Kind
from backend.domain.visitors.sources import Source

START = datetime(2026, 1, 1, tzinfo=UTC)


def arrived(
    kind: str, second: float = 0, *, call_id: str | None = None, customer: str | None = None, **fields: Any
) -> ArrivedCall:
    """A call of this kind, so many seconds after the start; a check's `source` is its utm_source."""
    source = Source(utm={"utm_source": fields.pop("source")}) if "source" in fields else None
    at = START + timedelta(seconds=second)
    who = None if customer is None else CustomerId(customer)
    own_id = CallId(call_id or str(uuid.uuid4()))
    return ArrivedCall(Call(Kind(kind), own_id, at, None, who, fields), source or _organic(kind))


def _organic(kind: str) -> Source | None:
    return Source() if kind == "attribution" else None


def batch(*calls: ArrivedCall, device: str = "d", org: str = "o", second: float = 60) -> Batch:
    """A request that was sent and received in the same moment."""
    at = START + timedelta(seconds=second)
    return Batch(OrgId(org), DeviceId(device), at, at, calls)


@dataclass(slots=True)
class Shelf:
    """What stays between groups, as a database would keep it."""

    calls: set[CallKey] = field(default_factory=set)
    counted: set[OnceKey] = field(default_factory=set)
    devices: dict[DeviceKey, Device] = field(default_factory=dict)
    records: dict[CallKey, Record] = field(default_factory=dict)
    refunds: dict[str, list[Refund]] = field(default_factory=dict)

    def store(self, batches: Sequence[Batch]) -> Decisions:
        """Decide about a group, and keep what was decided."""
        since = late_touches(batches, self.devices)
        records = {key: self._since(key, at) for key, at in since.items()}
        stored = StoredState(
            frozenset(self.calls),
            frozenset(self.counted),
            dict(self.devices),
            self._counted_records(),
            records,
        )
        decisions = decide(batches, stored)
        self.calls |= set(decisions.calls)
        self.counted |= set(decisions.counted)
        self.devices |= decisions.devices
        changed = decisions.records | decisions.completed
        self.records |= {(org, call_id): record for (_, org, call_id), record in changed.items()}
        for (_, org, call_id), credit in decisions.credited.items():
            at = org, call_id
            self.records[at] = replace(self.records[at], credit=credit)
        return decisions

    def take_back(self, device_id: DeviceId, customer_id: CustomerId, at: datetime) -> bool:
        """Take back that a device is a customer's. False: it was not known to be."""
        key = OrgId("o"), device_id
        device = self.devices.get(key)
        if device is None or not any(identity.customer_id == customer_id for identity in device.standing):
            return False
        self.devices[key] = device.taken_back(customer_id, at)
        return True

    def refund(self, order: str, at: datetime, received_at: datetime) -> bool:
        """Pay back a part of a sale. False: it is not known."""
        if not any(record.fields.get("transaction_id") == order for record in self.records.values()):
            return False
        refund = Refund(str(received_at), Decimal(10), "EUR", at, received_at)
        self.refunds.setdefault(order, []).append(refund)
        return True

    def sales(self, rules: CreditRules | None = None) -> dict[str, SaleFacts[Touch]]:
        """What the credit of each record follows from, by its kind and id, as far as the rules know."""
        facts_by_name = {}
        for record in self.records.values():
            facts = record.facts_known(rules or CreditRules())
            fields = record.fields_known(rules or CreditRules())
            if "currency" in fields:
                revenue, currency = fields["revenue"], fields["currency"]
                digits, refunds = digits_of(revenue, currency), self.refunds.get(_own_id(record), ())
                paid_back = tuple(refund.fact(currency, digits) for refund in refunds)
                facts = facts._replace(refunds=paid_back, amount=in_units(revenue, digits))
            facts_by_name[f"{record.kind} {_own_id(record)}"] = facts
        return dict(sorted(facts_by_name.items()))

    def customers(self) -> dict[str, CustomerId | None]:
        """Whose each record is, by call id."""
        histories = {key: History.of_device(device, CreditRules()) for key, device in self.devices.items()}
        return {
            record.call_id: customer_of(
                record.facts(), histories.get((record.org_id, record.device_id or DeviceId("")))
            )
            for record in self.records.values()
        }

    def record(self, name: str) -> Record:
        """The record with this kind and id."""
        return next(record for record in self.records.values() if f"{record.kind} {_own_id(record)}" == name)

    def _counted_records(self) -> dict[OnceKey, Record]:
        return {
            (record.org_id, record.kind, record.fields[name]): record
            for record in self.records.values()
            if (name := ONCE_FIELDS.get(record.kind)) and record.fields.get(name)
        }

    def _since(self, device: DeviceKey, since: datetime) -> list[Record]:
        return [
            record
            for record in self.records.values()
            if (record.org_id, record.device_id) == device and record.at >= since
        ]

    def sources(self) -> dict[str, tuple[str | None, str | None]]:
        """The sources that each record is credited to, first and last touch, by call id."""
        return {
            key[1]: (_source(record.credit.first), _source(record.credit.last))
            for key, record in self.records.items()
        }


def _own_id(record: Record) -> str:
    return str(record.fields.get(ONCE_FIELDS.get(record.kind, ""), record.call_id))


def _source(touch: Touch | None) -> str | None:
    return touch.utm["utm_source"] if touch else None
