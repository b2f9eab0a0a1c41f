"""Compares what the service says of histories with what the documents' rules say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from tests.model.documented_reports import Key, Report, Row, known_of, rows, shown
from tests.model.history import Fact, History, Telling
from tests.model.storyteller import Storyteller

MEASURES = ("clicks", "leads", "conversions", "customers", "revenue", "refunds", "net_revenue")
AMOUNTS = ("revenue", "refunds", "net_revenue")
NewTeller = Callable[[], Awaitable[Storyteller]]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the service and the rules disagree about a history."""

    number: int
    report: Report | None  # None: about the answer to a telling
    key: Key
    measure: str
    ours: object
    theirs: object

    def in_words(self) -> str:
        """What was asked, and what either says."""
        asked = f"by {', '.join(self.report.group_by)}, {self.report.rules}" if self.report else "when told"
        return f"{self.measure} of {self.key} {asked}:\n    documents {self.ours}, service {self.theirs}"


async def differences(
    teller: Storyteller, histories: Sequence[History], reports: Iterable[Report]
) -> list[Difference]:
    """All differences about histories that were told, but about rows of no history alone."""
    found = [*_of_outcomes(teller, histories)]
    for report in reports:
        is_divided = report.rules.model in {"linear", "position_based"}
        theirs = await teller.rows(report, MEASURES)
        ours = rows(report, histories)
        for key in ours.keys() | theirs.keys():
            number = _number(key)
            if number is None:
                continue
            for measure, (our, their) in _compared(
                ours.get(key, Row()), theirs.get(key, {}), 3 if is_divided else 0
            ):
                found.append(Difference(number, report, key, measure, our, their))
    return found


def _of_outcomes(teller: Storyteller, histories: Iterable[History]) -> Iterator[Difference]:
    for history in histories:
        for fact, expected in known_of(history, None).outcomes.items():
            answered = teller.outcomes[history.name(fact)]
            if answered != expected:
                yield Difference(history.number, None, (), "outcome", expected, answered)


def _number(key: Key) -> int | None:
    """The number of the history whose row this is, by the first name in it; None: of several."""
    names = (each for each in key if each is not None and each.startswith("h"))
    name = next(names, None)
    return None if name is None else int(name[1:].partition("-")[0])


def _compared(
    ours: Row, theirs: dict[str, Any], units: int
) -> Iterator[tuple[str, tuple[object, object]]]:
    if ours.clicks != theirs.get("clicks", 0):
        yield "clicks", (ours.clicks, theirs.get("clicks", 0))
    for measure in ("leads", "conversions"):
        count = getattr(ours, measure)
        if abs(float(count) - theirs.get(measure, 0)) > 3e-6:
            yield measure, (count, theirs.get(measure, 0))
    if len(ours.contacts) != theirs.get("customers", 0):
        yield "customers", (sorted(ours.contacts), theirs.get("customers", 0))
    for measure in AMOUNTS:
        told = {each["currency"]: Decimal(each["amount"]) for each in theirs.get(measure, [])}
        exact = getattr(ours, measure)
        amounts = {currency: shown(amount, currency) for currency, amount in exact.items()}
        for currency in amounts.keys() | told.keys():
            our, their = amounts.get(currency, Decimal(0)), told.get(currency, Decimal(0))
            if abs(our - their) > units * shown_unit(currency):
                yield measure, (f"{our} {currency}", f"{their} {currency}")


def shown_unit(currency: str) -> Decimal:
    return Decimal(1).scaleb(-{"EUR": 2, "JPY": 0, "KWD": 3}[currency])


async def smallest(
    history: History, difference: Difference, new_teller: NewTeller
) -> tuple[History, Difference]:
    """A history with as little in it as possible about which the service and the rules disagree likewise.

    All histories with one fact less are told at once, in an organization of their own, and one that still
    disagrees is the next to be made smaller.
    """
    while True:
        smaller = [replace(each, number=number) for number, each in enumerate(_with_less(history))]
        teller = await new_teller()
        await teller.tell(smaller)
        reports = [difference.report] if difference.report else []
        found = await differences(teller, smaller, reports)
        wrong = {each.number: each for each in reversed(found) if each.measure == difference.measure}
        if not wrong:
            return history, difference
        history, difference = smaller[min(wrong)], wrong[min(wrong)]


def _with_less(history: History) -> Iterator[History]:
    """The history without one telling, without one fact, and with plainer facts."""
    for place, telling in enumerate(history.tellings):
        yield _without(history, place, ())
    for place, telling in enumerate(history.tellings):
        if len(telling.facts) > 1:
            for fact in telling.facts:
                yield _without(history, place, tuple(each for each in telling.facts if each is not fact))
        if telling.skew:
            yield _with(history, place, replace(telling, skew=0))
        for fact in telling.facts if telling.by == "server" else ():
            for name in ("device", "customer", "click"):
                plainer = replace(fact, **{name: None})
                if plainer != fact and _is_valid(plainer):
                    yield _with(history, place, replace(telling, facts=(plainer,)))
    if history.renamed:
        yield replace(history, renamed=())


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
    for each in shorter.tellings:
        facts = (replace(fact, click=None) if fact.click in gone else fact for fact in each.facts)
        valid = tuple(fact for fact in facts if each.by != "server" or _is_valid(fact))
        if valid:
            tellings.append(replace(each, facts=valid))
    return replace(shorter, tellings=tuple(tellings))


def _is_valid(fact: Fact) -> bool:
    """Whether a server may tell this: something must say whose it is."""
    if fact.kind in {"identity", "take_back"}:
        return fact.customer is not None and fact.device is not None
    return fact.kind == "refund" or bool(fact.device or fact.customer or fact.click)
