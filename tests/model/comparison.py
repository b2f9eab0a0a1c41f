"""Compares what the service says of histories with what the documents' rules say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol

from tests.model.documented_reports import (
    COST_MEASURES,
    Key,
    Report,
    Row,
    known_of,
    rounded_to,
    rows,
    value_of,
)
from tests.model.documented_rules import DECIMAL_PLACES, Rules, Source, customer_of, shares
from tests.model.history import Fact, History, Telling
from tests.model.storyteller import Storyteller

MEASURES = (
    "clicks",
    "leads",
    "events",
    "identities",
    "conversions",
    "customers",
    "contacts",
    "revenue",
    "refunds",
    "net_revenue",
    "conversion_rate",
    "revenue_per_click",
    *COST_MEASURES,
)
BY_CURRENCY = "conversions_by_currency"  # beside conversions, unless one currency is asked for
TOTALS = Key(("totals",))
NewTeller = Callable[[], Awaitable[Storyteller]]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the service and the rules disagree."""

    number: int | None  # of the history; None: the row is of several
    question: Question
    row: object  # its key, or the fact that was answered
    measure: str
    ours: object
    theirs: object

    def in_words(self) -> str:
        """What was asked, and what either says."""
        asked = f"{self.measure} of {self.row}, {self.question.in_words()}"
        return f"{asked}:\n  documents {self.ours}\n  service   {self.theirs}"


class Question(Protocol):
    """Something that the service is asked about histories that it was told."""

    def in_words(self) -> str:
        """What is asked."""

    async def differences(self, teller: Storyteller, histories: Sequence[History]) -> list[Difference]:
        """Where its answers are not what the rules say."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What was answered to refunds and take-backs."""

    def in_words(self) -> str:
        """What is asked."""
        return "when it was told"

    async def differences(self, teller: Storyteller, histories: Sequence[History]) -> list[Difference]:
        """Where an answer is not what the rules say."""
        return [
            Difference(history.number, self, fact, "outcome", expected, answered)
            for history in histories
            for fact, expected in known_of(history, None).outcomes.items()
            if (answered := teller.outcomes[history.name(fact)]) != expected
        ]


@dataclass(frozen=True, slots=True)
class Explanations:
    """Explanations of sales: whose each is, and what each touch gets. All sales, or some by their keys."""

    rules: Rules
    keys: frozenset[str] | None = None

    def in_words(self) -> str:
        """What is asked."""
        return f"explained by {self.rules}"

    async def differences(self, teller: Storyteller, histories: Sequence[History]) -> list[Difference]:
        """Where an explanation is not what the rules say."""
        found = []
        for history in histories:
            for key, sale in known_of(history, None).sales.items():
                if (self.keys is None or key in self.keys) and sale.has_transaction_id:
                    theirs = await teller.explain(history, key, self.rules)
                    question = replace(self, keys=frozenset({key}))
                    found += [
                        Difference(history.number, question, key, what, our, their)
                        for what, our, their in _explained(teller, history, key, self.rules, theirs)
                        if our != their
                    ]
        return found


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a report, and its totals."""

    report: Report

    def in_words(self) -> str:
        """What is asked."""
        report = self.report
        currency = f", {report.currency} only" if report.currency else ""
        return f"by {' and '.join(report.group_by)}, {report.rules}{currency}"

    async def differences(self, teller: Storyteller, histories: Sequence[History]) -> list[Difference]:
        """Where a row is not what the rules say."""
        compared = await _compared_rows(teller, histories, self.report)
        return [
            Difference(_number(key), self, key, measure, our, their)
            for key, our_row, their_row in compared
            for measure, our, their in _compared(our_row, their_row, self.report.currency)
        ]


async def _compared_rows(
    teller: Storyteller, histories: Sequence[History], report: Report
) -> list[tuple[Key, Row, dict[str, Any]]]:
    """Each row of a report, and of the time that it is compared with: ours, and the service's."""
    theirs, totals = await teller.answer(report, MEASURES)
    whole = replace(report, group_by=())
    ours, our_totals = rows(report, histories), rows(whole, histories).get(Key(()), Row())
    compared = [(key, ours.get(key, Row()), theirs.get(key, {})) for key in ours.keys() | theirs.keys()]
    compared.append((TOTALS, our_totals, totals))
    if report.is_compared:
        before = rows(report.before(), histories)
        our_totals = rows(whole.before(), histories).get(Key(()), Row())
        compared += [
            (key, before.get(report.compared_with(key), Row()), row["previous"])
            for key, row in theirs.items()
        ]
        compared.append((TOTALS, our_totals, totals["previous"]))
    return compared


def _number(key: Key) -> int | None:
    """The number of the history whose row this is, by the first name in it; None: of several."""
    names = (value for value in key.values if value is not None and value.startswith("h"))
    name = next(names, None)
    return None if name is None else int(name[1:].partition("-")[0])


def _compared(
    ours: Row, theirs: dict[str, Any], currency: str | None
) -> Iterator[tuple[str, object, object]]:
    """The measures that differ; where one `currency` was asked for, each amount of theirs is one text."""
    for measure in MEASURES if currency else (*MEASURES, BY_CURRENCY):
        if measure in theirs or theirs == {} or measure == BY_CURRENCY:
            our, their = _plain(measure, ours.shown(measure)), _plain(measure, theirs.get(measure), currency)
            if our != their:
                yield measure, our, their


def _plain(measure: str, value: Any, currency: str | None = None) -> object:
    """A measure in a form in which no amount and nothing are the same."""
    if isinstance(value, list):
        value = {part["currency"]: Decimal(_amount_or_count(part)) for part in value}
    elif isinstance(value, str) or (currency and measure == "return_on_ad_spend" and value is not None):
        value = {currency: Decimal(value)}
    if isinstance(value, dict):
        return {name: amount for name, amount in sorted(value.items()) if amount} or None
    return value or None


def _amount_or_count(of_currency: dict[str, Any]) -> Any:
    """What an entry of a list by currency says of its currency."""
    [found] = (value for name, value in of_currency.items() if name != "currency")
    return found


def _explained(
    teller: Storyteller, history: History, key: str, rules: Rules, theirs: dict[str, Any]
) -> Iterator[tuple[str, object, object]]:
    """What a sale's explanation says, ours and the service's."""
    names = teller.link_names
    told = [
        (_of_shown_touch(names, share["touch"]), Decimal(share["revenue"]), Decimal(share["refunds"]))
        for share in theirs["shares"]
    ]
    facts = known_of(history, rules.as_of)
    sale = facts.sales.get(key)
    customer = customer_of(facts, sale or known_of(history, None).sales[key])
    yield "customer", customer and history.name(customer), theirs["customer_id"]
    if sale is None:
        yield "shares", [], told
        return
    paid, refunded = Fraction(sale.amount), Fraction(sale.refunded)
    places = DECIMAL_PLACES[sale.currency]
    ours = [
        (_of_touch(history, source), *(rounded_to(part * amount, places) for amount in (paid, refunded)))
        for source, part in shares(facts, sale, rules)
        if part
    ]
    yield "shares", ours, told


def _of_touch(history: History, source: Source | None) -> tuple[str | None, str | None] | None:
    """What a touch is known by: the link's name, and the campaign of an address without one."""
    if source is None:
        return None
    return value_of(history, source, "link"), None if source.link else value_of(history, source, "campaign")


def _of_shown_touch(
    names: dict[str, str], touch: dict[str, Any] | None
) -> tuple[str | None, str | None] | None:
    if touch is None:
        return None
    link = names.get(touch["link_id"], touch["link_id"])
    return link, None if link else touch["utm"].get("utm_campaign")


async def smallest(
    histories: Sequence[History], difference: Difference, new_teller: NewTeller
) -> tuple[History, Difference]:
    """A history with as little in it as possible about which the service and the rules disagree likewise.

    Where a row of several histories differs, one of them is looked for by halves. Then all histories with
    one fact less are told to a new organization, and one that still differs is made smaller, and so on.
    """
    while len(histories) > 1:
        half = histories[: len(histories) // 2]
        wrong = await _likewise(half, difference, new_teller)
        histories = half if wrong else histories[len(half) :]
    (history,) = histories
    while found := await _smaller(history, difference, new_teller):
        history, difference = found
    return history, difference


async def _smaller(
    history: History, difference: Difference, new_teller: NewTeller
) -> tuple[History, Difference] | None:
    """The history with something less, if it differs still."""
    tried = [replace(shortened, number=number) for number, shortened in enumerate(_with_less(history))]
    if difference.number is None:  # of rows that have no history's name each needs an organization
        for shortened in tried:
            for found in await _likewise([shortened], difference, new_teller):
                return shortened, found
        return None
    for found in await _likewise(tried, difference, new_teller):
        if found.number is not None:
            return tried[found.number], found
    return None


async def _likewise(
    histories: Sequence[History], difference: Difference, new_teller: NewTeller
) -> list[Difference]:
    """The differences of the same measure and question about these histories, told to a new organization."""
    teller = await new_teller()
    await teller.tell(histories)
    await teller.await_clicks(histories)
    found = await difference.question.differences(teller, histories)
    return [other for other in found if other.measure == difference.measure]


def _with_less(history: History) -> Iterator[History]:
    """The history without one telling, without one fact, and with plainer facts."""
    for place in range(len(history.tellings)):
        yield _without(history, place, ())
    for place, telling in enumerate(history.tellings):
        if len(telling.facts) > 1:
            for fact in telling.facts:
                yield _without(history, place, tuple(other for other in telling.facts if other is not fact))
        if telling.skew:
            yield _with(history, place, replace(telling, skew=0))
        for fact in telling.facts if telling.by == "server" else ():
            for plainer in (
                replace(fact, device=None),
                replace(fact, customer=None),
                replace(fact, click=None),
            ):
                if plainer != fact and _is_valid(plainer):
                    yield _with(history, place, replace(telling, facts=(plainer,)))
    if history.renamed or history.purged:
        yield replace(history, renamed=(), purged=())


def _with(history: History, place: int, telling: Telling | None) -> History:
    tellings = [*history.tellings]
    tellings[place : place + 1] = [telling] if telling else []
    return replace(history, tellings=tuple(tellings))


def _without(history: History, place: int, kept: tuple[Fact, ...]) -> History:
    """The history without what a telling told, but for some facts, and without its click, if it is one."""
    telling = history.tellings[place]
    shorter = _with(history, place, replace(telling, facts=kept) if kept else None)
    gone = {fact.id for fact in telling.facts if fact.kind == "click"}
    if not gone:
        return shorter
    tellings = []
    for remaining in shorter.tellings:
        facts = (replace(fact, click=None) if fact.click in gone else fact for fact in remaining.facts)
        valid = tuple(fact for fact in facts if remaining.by != "server" or _is_valid(fact))
        if valid:
            tellings.append(replace(remaining, facts=valid))
    return replace(shorter, tellings=tuple(tellings))


def _is_valid(fact: Fact) -> bool:
    """Whether a server may tell this: something must say whose it is."""
    if fact.kind == "take_back":
        return fact.customer is not None and fact.device is not None
    if fact.kind == "identity" and fact.customer is None:
        return False
    return fact.kind == "refund" or bool(fact.device or fact.customer or fact.click)
