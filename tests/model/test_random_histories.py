"""Random histories: what the service answers follows from the documents' rules and nothing else.

`pytest tests/model --seed 7 --histories 10000` tells others, and more of them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest

from tests.model.comparison import Explanations, Outcomes, Question, Rows
from tests.model.conftest import ToldHistories
from tests.model.documented_reports import Field, Report, rows
from tests.model.documented_rules import Credit, Model, Rules
from tests.model.history import History
from tests.model.random_histories import ROUNDS, WINDOWS

KOLKATA = ZoneInfo("Asia/Kolkata")
MODELS: tuple[Model, ...] = get_args(Model)
CREDITS: tuple[Credit, ...] = get_args(Credit)
MOMENTS = tuple(ROUNDS[number] + 3600 for number in (8, 16, 24))  # between what was told
EXPLAINED = 3  # of the histories, by each set of rules

Told = ToldHistories


async def agree(told: Told, *questions: Question, histories: Sequence[History] | None = None) -> None:
    """Fail with the smallest history about which the service does not say what the documents do."""
    asked = told.histories if histories is None else histories
    found = [
        difference for question in questions for difference in await question.differences(told.teller, asked)
    ]
    if found:
        pytest.fail(await told.explain(found), pytrace=False)


def report(told: Told, rules: Rules, *fields: Field, **options: Any) -> Rows:
    """The rows of a report of all histories."""
    return Rows(Report(fields, rules, told.teller.beginning, **{"timezone": UTC, **options}))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("credit", CREDITS)
async def test_whose_credit_it_is(told_histories: Told, credit: Credit, model: Model) -> None:
    """By every model, by device and by customer, in windows of days, and as it stood at several moments."""
    place = (MODELS.index(model) + CREDITS.index(credit)) % len(WINDOWS)
    wanted = [Rules(credit, model), Rules(credit, model, WINDOWS[place - 1], MOMENTS[place])]
    await agree(told_histories, *(report(told_histories, rules, "campaign") for rules in wanted))


@pytest.mark.parametrize(
    "fields",
    [(), ("link",), ("source",), ("day",), ("campaign", "day"), ("day", "link"), ("event.plan", "link")],
    ids=" and ".join,
)
async def test_in_which_row_it_is(told_histories: Told, fields: tuple[Field, ...]) -> None:
    """By fields of links, what events tell, and days of a zone, whose midnight cuts a day in UTC in two."""
    rules = Rules("customer", "linear") if "day" in fields else Rules()
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
    await agree(told_histories, Outcomes())


@pytest.mark.parametrize("credit", CREDITS)
@pytest.mark.parametrize("model", MODELS)
async def test_explanations(told_histories: Told, credit: Credit, model: Model) -> None:
    """Of each sale the customer and what each touch gets, also in a window, and as it stood before."""
    chance = random.Random(f"{told_histories.seed}-{credit}-{model}")
    for days, as_of in ((None, None), (WINDOWS[1], None), (None, MOMENTS[1])):
        some = chance.sample(told_histories.histories, min(EXPLAINED, len(told_histories.histories)))
        await agree(told_histories, Explanations(Rules(credit, model, days, as_of)), histories=some)


async def test_rules_matter(told_histories: Told) -> None:
    """No two sets of rules say the same of all histories, so that agreeing means something."""
    wanted = [Rules(credit, model) for credit in CREDITS for model in MODELS]
    wanted += [Rules(lookback_days=days) for days in WINDOWS] + [Rules(as_of=moment) for moment in MOMENTS]
    some = told_histories.histories[:200]
    answers = [rows(report(told_histories, rules, "campaign").report, some) for rules in wanted]
    shown = [
        {(key, row.shown("conversions"), row.shown("leads")) for key, row in answer.items()}
        for answer in answers
    ]
    assert all(one != other for place, one in enumerate(shown) for other in shown[:place])
