"""A thousand random histories: what the service answers follows from the documents' rules and nothing else.

`pytest tests/model --seed 7 --histories 10000` tells others, and more of them.
"""

from __future__ import annotations

import random
from datetime import UTC
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest

from tests.model.comparison import compare_explanation, differences, of_outcomes
from tests.model.conftest import ToldHistories
from tests.model.documented_reports import Field, Report, known_of, rows
from tests.model.documented_rules import Credit, Model, Rules
from tests.model.random_histories import ROUNDS, WINDOWS

KOLKATA = ZoneInfo("Asia/Kolkata")
MODELS: tuple[Model, ...] = get_args(Model)
CREDITS: tuple[Credit, ...] = get_args(Credit)
MOMENTS = tuple(ROUNDS[number] + 3600 for number in (8, 16, 24))  # between what was told
EXPLAINED = 150

Told = ToldHistories


async def agree(told: Told, *reports: Report) -> None:
    """Fail with the smallest history about which the service does not say what the documents do."""
    found = await differences(told.teller, told.histories, reports)
    if found:
        pytest.fail(await told.explain(found), pytrace=False)


def report(told: Told, rules: Rules, *fields: Field, **options: Any) -> Report:
    """A report of all histories."""
    return Report(fields, rules, told.teller.beginning, **{"timezone": UTC, **options})


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("credit", CREDITS)
async def test_whose_credit_it_is(told_histories: Told, credit: Credit, model: Model) -> None:
    """By every model, by device and by customer, in windows of days, and as it stood at several moments."""
    wanted = [Rules(credit, model), *(Rules(credit, model, days) for days in WINDOWS[-1:])]
    wanted += [Rules(credit, model, days, as_of) for days, as_of in zip(WINDOWS, MOMENTS, strict=True)]
    await agree(told_histories, *(report(told_histories, rules, "campaign") for rules in wanted))


@pytest.mark.parametrize("rules", [Rules(), Rules("customer", "linear")], ids=["default", "customer"])
@pytest.mark.parametrize(
    "fields", [(), ("link",), ("source",), ("day",), ("campaign", "day"), ("day", "link")], ids=" and ".join
)
async def test_in_which_row_it_is(told_histories: Told, rules: Rules, fields: tuple[Field, ...]) -> None:
    """By fields of links and by days of a time zone, of which a midnight cuts a day in UTC in two."""
    await agree(told_histories, report(told_histories, rules, *fields, timezone=KOLKATA))


@pytest.mark.parametrize("currency", ["EUR", "JPY", "KWD"])
async def test_one_currency(told_histories: Told, currency: str) -> None:
    """Conversions in others are in no figure, and every lead is."""
    rules = Rules("customer", "position_based")
    await agree(told_histories, report(told_histories, rules, "campaign", currency=currency))


@pytest.mark.parametrize("fields", [("campaign",), ("day",)])
async def test_a_time_compared_with_the_one_before(told_histories: Told, fields: tuple[Field, ...]) -> None:
    """Six days with the six before, each day with its counterpart."""
    asked = report(told_histories, Rules(), *fields, first=8, end=14, is_compared=True)
    await agree(told_histories, asked)


async def test_answers_to_refunds_and_take_backs(told_histories: Told) -> None:
    """What is refused is what the documents say is, depending on what had been told before."""
    found = [*of_outcomes(told_histories.teller, told_histories.histories)]
    if found:
        pytest.fail(await told_histories.explain(found), pytrace=False)


async def test_explanations(told_histories: Told) -> None:
    """Explanations of sales name the same customer and give the same shares, by rules of all kinds."""
    chance = random.Random(told_histories.seed)
    sales = [
        (history, key)
        for history in told_histories.histories
        for key, sale in known_of(history, None).sales.items()
        if sale.is_conversion and sale.tellings[0].fact.key is not None
    ]
    for history, key in chance.sample(sales, min(EXPLAINED, len(sales))):
        rules = Rules(
            chance.choice(CREDITS), chance.choice(MODELS), chance.choice((None, *WINDOWS)),
            chance.choice((None, *MOMENTS)),
        )  # fmt: skip
        theirs = await told_histories.teller.explain(history, key, rules)
        found = compare_explanation(told_histories.teller, history, key, rules, theirs)
        if found:
            pytest.fail(f"{found}\n{history.in_words()}\n(--seed {told_histories.seed})", pytrace=False)


def test_rules_matter(told_histories: Told) -> None:
    """No two sets of rules say the same of all histories, so that agreeing means something."""
    wanted = [Rules(credit, model) for credit in CREDITS for model in MODELS]
    wanted += [Rules(lookback_days=days) for days in WINDOWS] + [Rules(as_of=moment) for moment in MOMENTS]
    answers = [rows(report(told_histories, rules, "campaign"), told_histories.histories) for rules in wanted]
    shown = [
        {(key, row.shown("conversions"), row.shown("leads")) for key, row in each.items()} for each in answers
    ]
    assert all(one != other for place, one in enumerate(shown) for other in shown[:place])
