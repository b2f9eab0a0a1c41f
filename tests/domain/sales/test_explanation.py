"""Why a sale is credited as it is: every touch, identity and refund has its sentence, in order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.ids import CustomerId, DeviceId, LinkId, OrgId
from backend.domain.sales.credit import share_credit
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model
from backend.domain.sales.explanation import MOST_STEPS, StepKind, explain, touch_in_words
from backend.domain.sales.told_facts import RefundFact, SaleFacts
from backend.domain.visitors.attribution import Device, DirectVisit, Identification, Touch

START = datetime(2026, 1, 1, tzinfo=UTC)
ADA, BOB = CustomerId("ada"), CustomerId("bob")
PHONE, LAPTOP = DeviceId("phone"), DeviceId("laptop")


def at(hour: float) -> datetime:
    """So many hours after the start."""
    return START + timedelta(hours=hour)


def touch(hour: float, source: str) -> Touch:
    """A visit from this source, told at once."""
    return Touch(at(hour), None, {"utm_source": source}, {}, at(hour))


def device(device_id: DeviceId, *touches: Touch, **fields: Any) -> Device:
    """A device with these touches."""
    first = touches[0] if touches else None
    return Device(OrgId("o"), device_id, START, at(99), first, touches, **fields)


def sold(
    hour: float, device_id: DeviceId | None = LAPTOP, customer: CustomerId | None = ADA
) -> SaleFacts[Touch]:
    """A sale of 10.00, of which 3.00 came back an hour later."""
    return SaleFacts(at(hour), at(hour), device_id, customer, (), 1000, (RefundFact(at(hour + 1), 300),))


def ada(hour: float, **fields: Any) -> Identification:
    """That a device is ada's."""
    return Identification(ADA, at(hour), at(hour), **fields)


DEVICES = [
    device(PHONE, touch(1, "mail"), touch(2, "ads"), customers=(ada(3),)),
    device(LAPTOP, touch(4, "search"), customers=(ada(5),), direct_visits=(DirectVisit(at(5.5), at(5.5)),)),
]
LAPTOP_S = "It was on another device of the customer, and credit goes by device: it does not count."
HERS = "From here on the device is the customer ada's, and so is what it did before."
REFUND = "It was paid back, and taken from each touch by what that has of the sale."


@pytest.mark.parametrize(
    ("rules", "touches"),
    [
        (CreditRules(), [LAPTOP_S, LAPTOP_S, "It gets all of the sale."]),
        (
            CreditRules(CreditTo.CUSTOMER, Model.FIRST),
            ["It gets all of the sale.", *["It counts, but by these rules others get the credit."] * 2],
        ),
        (
            CreditRules(CreditTo.CUSTOMER, Model.POSITION_BASED),
            ["It gets 40 % of the sale.", "It gets 20 % of the sale.", "It gets 40 % of the sale."],
        ),
        (
            CreditRules(CreditTo.CUSTOMER, Model.LINEAR, as_of=at(10)),
            ["It gets 33.33 % of the sale."] * 3,
        ),
    ],
)
def test_each_step_has_its_sentence(rules: CreditRules, touches: list[str]) -> None:
    """Visits, identities, the sale and its refund, in the order in which they happened."""
    explanation = explain(sold(6), DEVICES, rules)
    assert [(step.kind.value, step.in_words) for step in explanation.steps] == [
        ("touch", touches[0]),
        ("touch", touches[1]),
        ("identity", HERS),
        ("touch", touches[2]),
        ("identity", HERS),
        ("direct_visit", "A direct visit, to which these rules give nothing."),
        ("sale", "It is the sale of the customer ada, of whom it was told."),
        ("refund", REFUND),
    ]
    assert explanation.left_out == 0


def test_what_another_model_says() -> None:
    """All models by device and by customer but the one that was asked for, each with its shares."""
    explanation = explain(sold(6), DEVICES, CreditRules())
    verdicts = {(verdict.rules.to, verdict.rules.model): verdict for verdict in explanation.others}
    assert len(verdicts) == len(CreditTo) * len(Model) - 1
    (first,) = verdicts[CreditTo.CUSTOMER, Model.FIRST].shares
    assert first.touch
    of_first = verdicts[CreditTo.CUSTOMER, Model.FIRST]
    assert (first.touch.utm["utm_source"], first.part) == ("mail", Fraction(1))
    assert (of_first.amount, of_first.refunded) == (1000, 300)
    (nobody,) = verdicts[CreditTo.DEVICE, Model.LAST].shares
    assert nobody.touch is None


@pytest.mark.parametrize(
    ("rules", "devices", "sentences"),
    [
        (
            CreditRules(CreditTo.CUSTOMER, lookback_days=1),
            [device(PHONE, touch(1, "mail"), customers=(ada(2),))],
            {"It was more than 1 days before the sale, so it does not count.", "No touch gets the credit."},
        ),
        (
            CreditRules(CreditTo.CUSTOMER, as_of=at(0.5)),
            [device(PHONE, touch(1, "mail"), customers=(ada(2),))],
            {"The service was told only after the moment that is asked about, so it does not count."},
        ),
        (
            CreditRules(CreditTo.CUSTOMER),
            [device(PHONE, touch(1, "mail"), customers=(Identification(BOB, START, START), ada(2)))],
            {"Its device was another customer's then, so it does not count."},
        ),
        (
            CreditRules(CreditTo.CUSTOMER),
            [device(LAPTOP, touch(1, "mail"), customers=(ada(2, taken_back_at=at(70)),))],
            {
                "The device was told to be the customer ada's, which was taken back.",
                "It was taken back that the device is the customer ada's.",
                "It was told of the customer ada, which was taken back: nobody's customer is known.",
            },
        ),
    ],
)
def test_why_a_touch_does_not_count(rules: CreditRules, devices: list[Device], sentences: set[str]) -> None:
    """It is too old, or was told too late, or the device was another's, or its identity was taken back."""
    text = " ".join(step.in_words for step in explain(sold(60), devices, rules).steps)
    assert all(sentence in text for sentence in sentences), text


def test_a_sale_that_only_a_server_told() -> None:
    """Without a device or a customer's devices, no touch gets the credit, and the sale says so."""
    (sale, _) = explain(sold(6, None, CustomerId("eve")), [], CreditRules()).steps
    assert sale.in_words == (
        "It is the sale of the customer eve, of whom it was told. A server told it, and no device. "
        "No touch gets the credit."
    )


def test_many_visits_are_told_by_the_latest() -> None:
    """The oldest are left out, and how many is said; what gets credit is always told."""
    devices = [
        device(
            DeviceId(f"d{number}"),
            *(touch(hour + number / 10, f"s{hour}") for hour in range(1, 51)),
            customers=(ada(0),),
        )
        for number in range(9)
    ]
    explanation = explain(sold(60, DeviceId("d0")), devices, CreditRules(CreditTo.CUSTOMER, Model.FIRST))
    assert len([step for step in explanation.steps if step.share]) == 1
    assert len(explanation.steps) == MOST_STEPS + 1
    assert explanation.left_out + len(explanation.steps) == 9 * 51 + 2


def test_a_visit_in_words() -> None:
    """By its link, its variant, and what the address said."""
    seen = Touch(START, LinkId("gone"), {"utm_source": "mail"}, {"gclid": "x"}, variant="b")
    words = "A visit from a link that is gone, its variant b, utm_source=mail, an ad (gclid)"
    assert touch_in_words(seen, None) == words


MOMENTS = st.integers(0, 20).map(at)
WHAT = ("mail", "ads", ADA, BOB, "direct")
HISTORIES = st.lists(st.tuples(MOMENTS, st.sampled_from(WHAT)), max_size=8)


def _touch(when: datetime, source: str) -> Touch:
    return touch((when - START) / timedelta(hours=1), source)


def _at(fact: Touch | Identification) -> datetime:
    return fact.at


@given(st.lists(HISTORIES, min_size=1, max_size=3), st.sampled_from(CreditTo), st.sampled_from(Model))
def test_the_explanation_is_what_reports_say(
    histories: list[list[tuple[datetime, str]]], to: CreditTo, model: Model
) -> None:
    """Its shares are those of the report, each with a step of its own, and they add up to the sale."""
    devices = []
    for number, history in enumerate(histories):
        told_of = {what: [when for when, kind in sorted(history) if kind == what] for what in WHAT}
        touches = sorted((_touch(when, what) for what in WHAT[:2] for when in told_of[what]), key=_at)
        names = sorted((Identification(who, when) for who in (ADA, BOB) for when in told_of[who]), key=_at)
        visits = tuple(DirectVisit(when) for when in told_of["direct"])
        fields: dict[str, Any] = {"customers": tuple(names), "direct_visits": visits}
        devices.append(device(DeviceId(f"d{number}"), *touches, **fields))
    sale, rules = sold(10, DeviceId("d0"), None), CreditRules(to, model)
    explanation = explain(sale, devices, rules)
    (credited,) = share_credit([sale], devices, rules)
    assert explanation.verdict.shares == credited.shares
    steps = [step.share for step in explanation.steps if step.kind is StepKind.TOUCH and step.share]
    assert sorted(share.part for share in steps) == sorted(
        share.part for share in credited.shares if share.touch
    )
    assert sum(share.part for share in explanation.verdict.shares) == 1
