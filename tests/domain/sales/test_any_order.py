"""The same facts give the same credit, in whatever order they were told, and as of any moment."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings

from backend.domain.sales.credit import Credited, share_credit
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model
from backend.domain.sales.explanation import Explanation, explain
from backend.domain.sales.histories import History, customer_of
from backend.domain.sales.told_facts import SaleFacts
from backend.domain.visitors.attribution import Device, Touch
from tests.domain.sales.shelf import Shelf
from tests.domain.sales.told_facts import (
    IN_ITS_OWN_HOUR,
    Fact,
    Follows,
    histories,
    moments,
    numbered,
    orders,
    shelf_after,
    ways,
)
from tests.examples import examples

ALL_RULES = [CreditRules(*options) for options in product(CreditTo, Model)]
_KEPT = [CreditRules(model=Model.FIRST), CreditRules(model=Model.LAST_NON_DIRECT)]
ALL_RULES += [CreditRules(CreditTo.CUSTOMER, Model.LINEAR, 1), CreditRules(lookback_days=1)]


def answers(shelf: Shelf, rules: CreditRules) -> dict[str, Any]:
    """Whose each sale is, and what each touch gets, as the rules know it."""
    sales, devices = shelf.sales(rules), list(shelf.devices.values())
    credits = share_credit(sales.values(), devices, rules)
    return {name: _summary(credited) for name, credited in zip(sales, credits, strict=True)}


def _summary(credited: Credited[Touch]) -> object:
    if not credited.shares:
        return None
    return credited.customer_id, credited.amount, credited.refunded, credited.shares


def everything(shelf: Shelf) -> dict[str, Any]:
    """All that credit says: by all rules, what explanations say, and what records keep."""
    answers_by_name: dict[str, Any] = {f"{rules}": answers(shelf, rules) for rules in ALL_RULES}
    devices = deepcopy(list(shelf.devices.values()))  # a database has no object in two places
    for name, sale in shelf.sales().items():
        explained = explain(sale, _of_sale(sale, devices), CreditRules(CreditTo.CUSTOMER, Model.LINEAR))
        answers_by_name[f"{name} explained"] = _shown(explained)
        answers_by_name[f"{name} has"] = sale[0], sale[2:4], shelf.record(name).fields
        answers_by_name[f"{name} keeps"] = kept = shelf.record(name).credit
        assert [kept.first, kept.last] == [_first_of(answers_by_name[f"{rules}"][name]) for rules in _KEPT]
    return answers_by_name


def _first_of(credited: Any) -> Touch | None:
    touch: Touch | None = credited[-1][0].touch
    return touch


def _of_sale(sale: SaleFacts[Touch], devices: list[Device]) -> list[Device]:
    """The sale's device, and those that were ever its customer's."""
    device_histories = [
        History.of_device(device, CreditRules()) for device in devices if device.id == sale.device_id
    ]
    whose = customer_of(sale, device_histories[0] if device_histories else None)
    return [
        device
        for device in devices
        if device.id == sale.device_id or any(one.customer_id == whose for one in device.customers)
    ]


def _shown(explained: Explanation) -> object:
    # A take-back happens when it is told.
    steps = [
        (step.kind, step.kind != "identity_taken_back" and step.at, step.in_words, step.device_id, step.touch)
        for step in explained.steps
    ]
    return sorted(steps, key=lambda step: (step[1] is False, step[1] is False and step[2:4]))


def check_every_order(
    facts: Sequence[Fact], follows: Sequence[Follows] = IN_ITS_OWN_HOUR, most: int = 120
) -> None:
    """All orders in which these can be told, each as it follows another, end in the same; or so many."""
    first, *others = orders(facts, most)
    expected = everything(shelf_after(first))
    for order in others:
        assert everything(shelf_after(order, follows=follows)) == expected, order


@settings(max_examples=examples(10))
@given(histories(), ways(5))
def test_credit_does_not_depend_on_the_order_of_tellings(facts: list[Fact], follows: list[Follows]) -> None:
    """By every model, by device and by customer, with its explanation, and as records keep it.

    Nor does it on what is told in one moment and decided together, in one list or in several requests.
    """
    check_every_order(facts, follows)


@settings(max_examples=examples(6))
@given(histories(most=9), ways(9))
def test_credit_of_longer_histories_does_not_depend_on_the_order(
    facts: list[Fact], follows: list[Follows]
) -> None:
    """Nor does that of more facts, in some of their orders."""
    check_every_order(facts, follows, most=24)


@pytest.mark.parametrize("follow", Follows)
def test_a_sale_that_was_said_of_another_device_identifies_that_no_more(follow: Follows) -> None:
    """Also where both were said in one moment, and in whichever order: the sale after it is nobody's."""
    facts = numbered(
        Fact("conversion", 2, "e", "y", "t", is_server=True),
        Fact("conversion", 1, "d", None, "t", is_server=True),
        Fact("conversion", 3, "e", None, "u", is_server=True),
    )
    check_every_order(facts, [follow] * 3)
    for order in permutations(facts):
        shelf = shelf_after(order, follows=[follow] * 3)
        assert list(shelf.customers().values()).count(None) == 1, order


@settings(max_examples=examples(10))
@given(histories(most=6), ways(6))
def test_as_of_a_moment_counts_what_had_been_told_before(facts: list[Fact], follows: list[Follows]) -> None:
    """Whatever is told later, the past is answered as it was answered then: also what is told once more."""
    for order in orders(facts, most=6):
        shelf, times = shelf_after(order, follows=follows), moments(len(order) + 1, follows)
        for place in (number for number in range(len(times)) if times[number] not in times[:number]):
            then, moment = shelf_after(order, place, follows), times[place]
            for rules in ALL_RULES:
                as_of = answers(shelf, replace(rules, as_of=moment))
                told_answers = {name: answer for name, answer in as_of.items() if answer}
                assert told_answers == answers(then, rules), (order, place, rules)
