"""Reads sales with the histories that their credit follows from (domain/histories).

Reading is what takes most of a report's time. So MongoDB makes a short list of what is asked of each touch,
and times are read without a time zone, in UTC: it takes a tenth of the time that whole documents take.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from bson import CodecOptions
from pymongo.collection import Collection
from pymongo.command_cursor import CommandCursor
from pymongo.cursor import Cursor

from backend.domain.credit_rules import CreditRules, CreditTo, Model
from backend.domain.histories import History, RefundFact, SaleFacts, ToldVisit, known_facts
from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.money import digits_of, in_units
from backend.domain.tellings import Telling
from backend.storage import devices, identities, records, refunds
from backend.storage.mongo import ClientSession, Database, Document
from backend.storage.touches import CLICK_FIELDS

# What was asked of a touch, in the order of the fields.
StoredSource: TypeAlias = tuple[Any, ...]
_AT_ONCE = 2_000
# The driver makes objects of a reply in one go, in which nothing else runs: so of no more than this many.
_IN_A_REPLY = 500
Records: TypeAlias = Cursor[Document] | CommandCursor[Document]
_WITHOUT_ZONE: CodecOptions[Document] = CodecOptions(tz_aware=False)


class ReadSale(NamedTuple):
    """A lead or a conversion. `currency` is None for a lead; amounts are in units with so many `digits`."""

    facts: SaleFacts[StoredSource]
    currency: str | None
    digits: int


@dataclass(frozen=True, slots=True)
class Found:
    """Documents of sales, of their devices and, where credit goes by customer, of all of their customers'."""

    sales: Sequence[Document]
    devices: Sequence[Document]


class HistoryReader:
    """Reads the leads or conversions that a query finds, some thousand at once.

    `fields` is what is asked of a touch, such as "link_id" or "utm.utm_source". All times are in UTC, without
    a time zone, also those of `rules`, by which credit is to be given.
    """

    def __init__(
        self,
        database: Database,
        org_id: OrgId,
        rules: CreditRules,
        fields: Sequence[str],
        session: ClientSession | None = None,
    ) -> None:
        """With a session, it reads what that one shows."""
        self.rules = replace(
            rules, as_of=rules.as_of.astimezone(UTC).replace(tzinfo=None) if rules.as_of else None
        )
        self.database = database
        self._session = session.delegate if session else None
        self._org_id = org_id
        self._fields = fields

    def records(self, collection: str, times: Document) -> Records:
        """The organization's records that may be of a time, to be read by `next_of`.

        `times` is a condition on `at`, or empty. As of a moment, a record has the time that was known then:
        so those of which another time was told are among them as well (see `is_of`).
        """
        # In an order in which what a customer did stands together, so that a device is read once or twice.
        order = [("customer_id", 1), ("device_id", 1)]
        own = {"org_id": self._org_id}
        if not (times and self.rules.as_of):
            return self._find(collection, own | times, self._of_record()).sort(order).allow_disk_use(True)
        # Not by `$or`, in which no partial index is used.
        others = own | {records.TOLD_AT: times["at"], "$nor": [times]}
        wanted = {"$project": {"_id": 0} | self._of_record()}
        pipeline: list[Document] = [
            {"$match": own | times},
            {"$unionWith": {"coll": collection, "pipeline": [{"$match": others}]}},
            wanted,
            {"$sort": dict(order)},
        ]
        return self._stored(collection).aggregate(
            pipeline, session=self._session, allowDiskUse=True, batchSize=_IN_A_REPLY
        )

    def next_of(self, records: Records) -> Found:
        """The next of these records, with what their credit follows from; none at the end."""
        sales = records.to_list(_AT_ONCE)
        own = self._devices({device_id for each in sales for device_id in _devices_of(each)})
        if self.rules.to is CreditTo.DEVICE:
            return Found(sales, own)
        blocking, customers = self.database.delegate, _customers(sales, own)
        others = identities.latest_devices(blocking, self._session, self._org_id, customers)
        others.difference_update(each["device_id"] for each in own)
        return Found(sales, own + self._devices(others))

    def histories(self, found: Found) -> Iterator[History[StoredSource]]:
        """What the rules know of the devices that were found."""
        for device in found.devices:
            touches = list(map(_told, device["touches"]))
            first = _told(device["first_touch"])
            if first[0] is not None and first not in touches:
                touches.insert(0, first)
            direct: list[ToldVisit[StoredSource]] = [
                (at, received_at, None, None, False) for at, received_at in device.get("direct_visits") or ()
            ]
            seen_at, customers = device["last_seen_at"], device["customers"]
            yield History.of(device["device_id"], seen_at, direct + touches, customers, self.rules)

    def _devices(self, device_ids: Iterable[DeviceId]) -> list[Document]:
        ids = [devices.own_id(self._org_id, each) for each in device_ids]
        found: list[Document] = []
        for begin in range(0, len(ids), _AT_ONCE):
            some = {"_id": {"$in": ids[begin : begin + _AT_ONCE]}}
            found += self._find(devices.NAME, some, self._of_device()).to_list()
        return found

    def _find(self, collection: str, scope: Document, wanted: Document) -> Cursor[Document]:
        projection = {"_id": 0} | wanted
        found = self._stored(collection)
        return found.find(scope, projection, session=self._session, batch_size=_IN_A_REPLY)

    def _stored(self, collection: str) -> Collection[Document]:
        found: Collection[Document] = self.database.delegate.get_collection(
            collection, codec_options=_WITHOUT_ZONE
        )
        return found

    def _of_record(self) -> Document:
        amounts = [f"$$this.{name}" for name in ("received_at", "amount")]
        return {
            **dict.fromkeys(("at", "received_at", "device_id", "customer_id", "currency"), 1),
            "revenue": {"$toString": "$revenue"},
            refunds.FIELD: _each(refunds.FIELD, [amounts[0], {"$toString": amounts[1]}]),
            records.TELLINGS: _each(
                records.TELLINGS,
                [*(f"$$this.{name}" for name in _OF_TELLING), self._of_touch("$$this.visit")],
            ),
            **{name: self._of_touch(f"${name}") for name in records.TOUCHES},
        }

    def _of_device(self) -> Document:
        wanted: Document = {
            **dict.fromkeys(("device_id", "last_seen_at"), 1),
            "first_touch": self._of_touch("$first_touch"),
            "touches": _each("touches", self._of_touch("$$this")),
            "customers": _each("customers", [f"$$this.{name}" for name in _OF_IDENTITY]),
        }
        if self.rules.model is Model.LAST:
            wanted["direct_visits"] = _each("direct_visits", ["$$this.at", "$$this.received_at"])
        return wanted

    def _of_touch(self, touch: str) -> list[Any]:
        """What `_told` reads of a touch."""
        names = ("at", "received_at", "link_id", *CLICK_FIELDS, "is_named")
        return [f"{touch}.{name}" for name in (*names, *self._fields)]


def is_of(at: datetime, times: Document) -> bool:
    """Whether a time in UTC, without a time zone, fulfils a condition on `at`."""
    bounds = times.get("at", {})
    begin, end = (
        bound and bound.astimezone(UTC).replace(tzinfo=None) for bound in map(bounds.get, ("$gte", "$lt"))
    )
    return (begin is None or begin <= at) and (end is None or at < end)


_OF_IDENTITY = ("at", "received_at", "customer_id", "taken_back_at", "replaced_at")
_OF_TELLING = ("received_at", "at", "device_id", "customer_id", "is_server")


def read_sale(document: Document, rules: CreditRules) -> ReadSale:
    """A stored lead or conversion, as credit is given for it: its facts, amounts in the smallest unit.

    What it is, and whose, is by what the rules know of its tellings.
    """
    currency = document.get("currency")
    amount, digits = Decimal(), 0
    if currency is not None:
        amount = Decimal(document["revenue"])
        digits = digits_of(amount, currency)
    touches = map(_told, (document[name] for name in records.TOUCHES))
    copies = tuple(each for each in touches if each[0] is not None)
    if document[records.TELLINGS]:
        facts = known_facts(list(map(_telling, document[records.TELLINGS])), copies, rules)
    else:  # nearly always
        received_at = document.get("received_at") or document["at"]
        facts = SaleFacts(document["at"], received_at, document["device_id"], document["customer_id"], copies)
    paid_back = tuple(
        RefundFact(received_at, in_units(Decimal(back), digits))
        for received_at, back in document.get(refunds.FIELD) or ()
    )
    facts = facts._replace(amount=in_units(amount, digits), refunds=paid_back)
    return ReadSale(facts, currency, digits)


def _each(field: str, wanted: list[Any]) -> Document:
    """A list of what is wanted of each item (`$$this`) of a field; None without the field."""
    return {"$map": {"input": f"${field}", "in": wanted}}


def _told(touch: list[Any]) -> ToldVisit[StoredSource]:
    at, received_at, link_id, click_at, click_mark, is_named, *source = touch
    click = None if click_mark is None else (link_id, click_at, click_mark)
    return at, received_at, tuple(source), click, bool(is_named)


def _telling(stored: list[Any]) -> Telling[ToldVisit[StoredSource]]:
    received_at, at, device_id, customer_id, is_server, visit = stored
    told = _told(visit) if visit[0] is not None else None
    return Telling(received_at, at, device_id, customer_id, is_server, told)


def _devices_of(sale: Document) -> set[DeviceId]:
    """All whose sale it may be."""
    told = [device_id for _, _, device_id, *_ in sale[records.TELLINGS] or ()]
    return {each for each in (sale["device_id"], *told) if each}


def _customers_of(sale: Document) -> set[CustomerId | None]:
    """All whose sale it was told to be. None where that may have been nobody."""
    return {sale["customer_id"], *(customer_id for _, _, _, customer_id, *_ in sale[records.TELLINGS] or ())}


def _customers(sales: Sequence[Document], own: Sequence[Document]) -> set[CustomerId]:
    """All whose these sales may be."""
    named = [(_devices_of(each), _customers_of(each)) for each in sales]
    found = {each for _, customers in named for each in customers if each}
    without = {each for device_ids, customers in named if None in customers for each in device_ids}
    for device in own:
        customers = device["customers"]
        if device["device_id"] in without or any(taken_back_at for *_, taken_back_at, _ in customers):
            found.update(customer_id for _, _, customer_id, *_ in customers)
    return found
