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
from backend.domain.sales.histories import History, SaleFacts, customer_of
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
    told,
    ways,
)

ALL_RULES = [CreditRules(*each) for each in product(CreditTo, Model)]
_KEPT = [CreditRules(model=Model.FIRST), CreditRules(model=Model.LAST_NON_DIRECT)]
ALL_RULES += [CreditRules(CreditTo.CUSTOMER, Model.LINEAR, 1), CreditRules(lookback_days=1)]


def answers(shelf: Shelf, rules: CreditRules) -> dict[str, Any]:
    """Whose each sale is, and what each touch gets, as the rules know it."""
    sales, devices = shelf.sales(rules), list(shelf.devices.values())
    credits = share_credit(sales.values(), devices, rules)
    return {name: _said(each) for name, each in zip(sales, credits, strict=True)}


def _said(credited: Credited[Touch]) -> object:
    if not credited.shares:
        return None
    return credited.customer_id, credited.amount, credited.refunded, credited.shares


def everything(shelf: Shelf) -> dict[str, Any]:
    """All that credit says: by all rules, what explanations say, and what records keep."""
    said: dict[str, Any] = {f"{rules}": answers(shelf, rules) for rules in ALL_RULES}
    devices = deepcopy(list(shelf.devices.values()))  # a database has no object in two places
    for name, sale in shelf.sales().items():
        explained = explain(sale, _of_sale(sale, devices), CreditRules(CreditTo.CUSTOMER, Model.LINEAR))
        said[f"{name} explained"] = _shown(explained)
        said[f"{name} has"] = sale[0], sale[2:4]
        said[f"{name} keeps"] = kept = shelf.record(name).credit
        assert [kept.first, kept.last] == [_first_of(said[f"{rules}"][name]) for rules in _KEPT]
    return said


def _first_of(credited: Any) -> Touch | None:
    touch: Touch | None = credited[-1][0].touch
    return touch


def _of_sale(sale: SaleFacts[Touch], devices: list[Device]) -> list[Device]:
    """The sale's device, and those that were ever its customer's."""
    own = [History.of_device(each, CreditRules()) for each in devices if each.id == sale.device_id]
    whose = customer_of(sale, own[0] if own else None)
    return [
        each
        for each in devices
        if each.id == sale.device_id or any(one.customer_id == whose for one in each.customers)
    ]


def _shown(explained: Explanation) -> object:
    # A take-back happens when it is told.
    steps = [
        (each.kind, each.kind != "identity_taken_back" and each.at, each.in_words, each.device_id, each.touch)
        for each in explained.steps
    ]
    return sorted(steps, key=lambda each: (each[1] is False, each[1] is False and each[2:4]))


def check_every_order(
    facts: Sequence[Fact], follows: Sequence[Follows] = IN_ITS_OWN_HOUR, most: int = 120
) -> None:
    """All orders in which these can be told, each as it follows another, end in the same; or so many."""
    first, *others = orders(facts, most)
    expected = everything(told(first))
    for each in others:
        assert everything(told(each, follows=follows)) == expected, each


@settings(max_examples=150)
@given(histories(), ways(5))
def test_credit_does_not_depend_on_the_order_of_tellings(facts: list[Fact], follows: list[Follows]) -> None:
    """By every model, by device and by customer, with its explanation, and as records keep it.

    Nor does it on what is told in one moment and decided together, in one list or in several requests.
    """
    check_every_order(facts, follows)


@settings(max_examples=40)
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
        shelf = told(order, follows=[follow] * 3)
        assert list(shelf.customers().values()).count(None) == 1, order


@settings(max_examples=100)
@given(histories(most=6), ways(6))
def test_as_of_a_moment_counts_what_had_been_told_before(facts: list[Fact], follows: list[Follows]) -> None:
    """Whatever is told later, the past is answered as it was answered then: also what is told once more."""
    for order in orders(facts, most=6):
        shelf, times = told(order, follows=follows), moments(len(order) + 1, follows)
        for place in (each for each in range(len(times)) if times[each] not in times[:each]):
            then, moment = told(order, place, follows), times[place]
            for rules in ALL_RULES:
                as_of = answers(shelf, replace(rules, as_of=moment))
                known = {name: each for name, each in as_of.items() if each}
                assert known == answers(then, rules), (order, place, rules)
