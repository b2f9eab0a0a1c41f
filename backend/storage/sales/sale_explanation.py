"""Reads a single sale with the facts that decide its credit, and explains it (domain/sales/explanation)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial

from backend.concurrency.side_threads import LONG_WORK
from backend.domain.clicks.clicks import Click
from backend.domain.clicks.ids import ClickPlace
from backend.domain.fields.money import digits_of, in_units, of_units
from backend.domain.ids import CallId, DeviceId, LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.sales.explanation import Explanation, explain
from backend.domain.sales.histories import History, customer_of
from backend.domain.sales.refunds import Refund
from backend.domain.sales.told_facts import SaleFacts
from backend.domain.visitors.attribution import Device, Touch
from backend.domain.visitors.calls import Kind
from backend.storage.clicks.places import find_click
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession, in_thread
from backend.storage.driver.mongo import Database
from backend.storage.links.links import find_links
from backend.storage.sales import conversions
from backend.storage.sales.refunds import refunds_of
from backend.storage.visitors import devices, identities, records
from backend.storage.visitors.kept import Kept, kept_by

_MOST_CLICKS = 20  # each of them takes a search in the blocks of its day


@dataclass(frozen=True, slots=True)
class ExplainedSale:
    """A sale with the explanation of its credit, and the links and clicks that the explanation names.

    Its time, device, currency and revenue are those that were known as of the moment of the rules. `refunds`
    are all of it. Amounts of the explanation are in units of ten to the power of minus `digits`.
    """

    id: CallId
    transaction_id: str
    at: datetime
    received_at: datetime
    device_id: DeviceId | None
    currency: str
    revenue: Decimal
    refunds: Sequence[Refund]
    digits: int
    explanation: Explanation
    links: Mapping[LinkId, Link]
    clicks: Mapping[ClickPlace, Click]

    @property
    def refunded(self) -> Decimal:
        """What was known to have been paid back of it."""
        return self.amount(Fraction(self.explanation.verdict.refunded))

    def amount(self, units: Fraction) -> Decimal:
        """An amount of the explanation in the currency's main unit, rounded to its decimals."""
        return of_units(units, self.digits)


async def explain_sale(
    database: Database, org_id: OrgId, transaction_id: str, rules: CreditRules, now: datetime
) -> ExplainedSale | None:
    """The organization's sale with this transaction_id, explained by these rules; None if there is none.

    What the organization no longer keeps at the time `now` is not there. The facts are read in one snapshot.
    """
    kept = await kept_by(database, org_id, now)
    async with await database.client.start_session(snapshot=True) as session:
        condition = records.having(org_id, "transaction_id", [transaction_id])
        condition |= kept.condition(records.RETENTION)
        document = await database[conversions.NAME].find_one(condition, session=session)
        if document is None:
            return None
        record = records.record_of(Kind.CONVERSION, document)
        fields = record.fields_known(rules)
        currency, revenue = fields["currency"], fields["revenue"]
        digits = digits_of(revenue, currency)
        facts = record.facts_known(rules)
        paid_back = tuple(refund.fact(currency, digits) for refund in refunds_of(document))
        sale = facts._replace(amount=in_units(revenue, digits), refunds=paid_back)
        read = partial(_devices, session=session.delegate, org_id=org_id, sale=sale, rules=rules, kept=kept)
        device_histories = await in_thread(database, read)
    explanation = await LONG_WORK.run(org_id, partial(explain, sale, device_histories, rules))
    verdicts = (explanation.verdict, *explanation.others)
    touches = [step.touch for step in explanation.steps] + [
        share.touch for step in verdicts for share in step.shares
    ]
    link_ids = {touch.link_id for touch in touches if touch and touch.link_id}
    places = {(touch.link_id, touch.click) for touch in touches if touch and touch.link_id and touch.click}
    return ExplainedSale(
        id=record.call_id,
        transaction_id=transaction_id,
        at=sale.at,
        received_at=sale.received_at,
        device_id=sale.device_id,
        currency=currency,
        revenue=revenue,
        refunds=refunds_of(document),
        digits=digits,
        explanation=explanation,
        links=await find_links(database, link_ids, org_id),
        clicks=await _clicks(database, org_id, places),
    )


def _devices(
    database: BlockingDatabase,
    session: BlockingSession,
    org_id: OrgId,
    *,
    sale: SaleFacts[Touch],
    rules: CreditRules,
    kept: Kept,
) -> list[Device]:
    """The sale's device and all devices of its customer, as far as they are kept."""
    own_keys = {(org_id, sale.device_id)} if sale.device_id else set()
    devices_by_key = kept.devices(devices.find_devices(database, session, own_keys))
    histories = [History.of_device(device, rules) for device in devices_by_key.values()]
    customer_id = customer_of(sale, histories[0] if histories else None)
    if customer_id is not None:
        found = kept.devices(identities.counting_devices(database, session, org_id, customer_id)).values()
        devices_by_key |= {(org_id, device.id): device for device in found}
    return list(devices_by_key.values())


async def _clicks(
    database: Database, org_id: OrgId, places: Iterable[tuple[LinkId, ClickPlace]]
) -> dict[ClickPlace, Click]:
    """The latest clicks at these places of these links, by place; without those that have expired."""
    latest = sorted(places, key=lambda click_place: click_place[1].at)[-_MOST_CLICKS:]
    clicks = {place: await find_click(database, org_id, link_id, place) for link_id, place in latest}
    return {place: click for place, click in clicks.items() if click}
