"""Compares what the service says of histories with what the documents' rules say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tests.model.documented_reports import Key, Report, Row, known_of, rounded_to, rows, value_of
from tests.model.documented_rules import DECIMAL_PLACES, Rules, Source, customer_of, shares
from tests.model.history import Fact, History, Telling
from tests.model.storyteller import Storyteller

MEASURES = (
    "clicks",
    "leads",
    "conversions",
    "customers",
    "contacts",
    "revenue",
    "refunds",
    "net_revenue",
    "conversion_rate",
    "revenue_per_click",
)
TOTALS = Key(("totals",))
NewTeller = Callable[[], Awaitable[Storyteller]]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where the service and the rules disagree."""

    number: int | None  # of the history; None: the row is of several
    report: Report | None  # None: about the answer to a telling
    row: object  # its key, or the fact that was answered
    measure: str
    ours: object
    theirs: object

    def in_words(self) -> str:
        """What was asked, and what either says."""
        asked = f"by {', '.join(self.report.group_by)}, {self.report.rules}" if self.report else "when told"
        if self.report and self.report.currency:
            asked += f", {self.report.currency} only"
        return f"{self.measure} of {self.row}, {asked}:\n  documents {self.ours}\n  service   {self.theirs}"


async def differences(
    teller: Storyteller, histories: Sequence[History], reports: Iterable[Report]
) -> list[Difference]:
    """All differences about reports of histories that were told."""
    found: list[Difference] = []
    for report in reports:
        found += await _of_report(teller, histories, report)
    return found


async def _of_report(teller: Storyteller, histories: Sequence[History], report: Report) -> list[Difference]:
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
    return [
        Difference(_number(key), report, key, measure, our, their)
        for key, our_row, their_row in compared
        for measure, our, their in _compared(our_row, their_row)
    ]


def of_outcomes(teller: Storyteller, histories: Iterable[History]) -> Iterator[Difference]:
    """The differences about what was answered to refunds and take-backs."""
    for history in histories:
        for fact, expected in known_of(history, None).outcomes.items():
            answered = teller.outcomes[history.name(fact)]
            if answered != expected:
                yield Difference(history.number, None, fact, "outcome", expected, answered)


def _number(key: Key) -> int | None:
    """The number of the history whose row this is, by the first name in it; None: of several."""
    names = (each for each in key.values if each is not None and each.startswith("h"))
    name = next(names, None)
    return None if name is None else int(name[1:].partition("-")[0])


def _compared(ours: Row, theirs: dict[str, Any]) -> Iterator[tuple[str, object, object]]:
    for measure in MEASURES:
        if measure in theirs or theirs == {}:
            our, their = _plain(ours.shown(measure)), _plain(theirs.get(measure))
            if our != their:
                yield measure, our, their


def _plain(value: Any) -> object:
    """A measure in a form in which no amount and nothing are the same."""
    if isinstance(value, list):
        value = {each["currency"]: Decimal(each["amount"]) for each in value}
    elif isinstance(value, str):
        value = {"": Decimal(value)}
    if isinstance(value, dict):
        return {name: amount for name, amount in sorted(value.items()) if amount} or None
    return value or None


def compare_explanation(
    teller: Storyteller, history: History, key: str, rules: Rules, theirs: dict[str, Any]
) -> str | None:
    """What an explanation of a sale says otherwise than the rules, if anything."""
    facts = known_of(history, rules.as_of)
    sale = facts.sales.get(key)
    ours: list[tuple[object, ...]] = []
    customer = None
    if sale is not None:
        customer = customer_of(facts, sale)
        paid, refunded = Fraction(sale.amount), Fraction(sum(sale.refunds))
        places = DECIMAL_PLACES[sale.currency]
        ours = [
            (_of_touch(history, source), *(rounded_to(part * each, places) for each in (paid, refunded)))
            for source, part in shares(facts, sale, rules)
            if part
        ]
        customer = customer and history.name(customer)
    names = teller.link_names
    told = [
        (_of_shown_touch(names, each["touch"]), Decimal(each["revenue"]), Decimal(each["refunds"]))
        for each in theirs["shares"]
    ]
    if ours == told and (sale is None or customer == theirs["customer_id"]):
        return None
    return f"{key}, {rules}:\n  documents {customer}, {ours}\n  service   {theirs['customer_id']}, {told}"


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


async def alone(
    histories: Sequence[History], difference: Difference, new_teller: NewTeller
) -> tuple[History, Difference]:
    """One of the histories about which the service and the rules disagree likewise, looked for by halves."""
    while len(histories) > 1:
        half = histories[: len(histories) // 2]
        wrong = await _likewise(half, difference, new_teller)
        histories = half if wrong else histories[len(half) :]
    (found,) = (await _likewise(histories, difference, new_teller))[:1] or [difference]
    return histories[0], found


async def _likewise(
    histories: Sequence[History], difference: Difference, new_teller: NewTeller
) -> list[Difference]:
    """The differences of the same measure and report about these histories, told to a new organization."""
    teller = await new_teller()
    await teller.tell(histories)
    await teller.count_clicks(histories)
    report = difference.report
    found = await differences(teller, histories, [report]) if report else of_outcomes(teller, histories)
    return [each for each in found if each.measure == difference.measure]


async def smallest(
    history: History, difference: Difference, new_teller: NewTeller
) -> tuple[History, Difference]:
    """A history with as little in it as possible about which the service and the rules disagree likewise.

    All histories with one fact less are told at once, in an organization of their own, and one that still
    disagrees is the next to be made smaller.
    """
    while True:
        smaller = [replace(each, number=number) for number, each in enumerate(_with_less(history))]
        found = await _likewise(smaller, difference, new_teller)
        wrong = {each.number: each for each in reversed(found) if each.number is not None}
        if not wrong:
            return history, difference
        history, difference = smaller[min(wrong)], wrong[min(wrong)]


def _with_less(history: History) -> Iterator[History]:
    """The history without one telling, without one fact, and with plainer facts."""
    for place in range(len(history.tellings)):
        yield _without(history, place, ())
    for place, telling in enumerate(history.tellings):
        if len(telling.facts) > 1:
            for fact in telling.facts:
                yield _without(history, place, tuple(each for each in telling.facts if each is not fact))
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
    for each in shorter.tellings:
        facts = (replace(fact, click=None) if fact.click in gone else fact for fact in each.facts)
        valid = tuple(fact for fact in facts if each.by != "server" or _is_valid(fact))
        if valid:
            tellings.append(replace(each, facts=valid))
    return replace(shorter, tellings=tuple(tellings))


def _is_valid(fact: Fact) -> bool:
    """Whether a server may tell this: something must say whose it is."""
    if fact.kind == "take_back":
        return fact.customer is not None and fact.device is not None
    if fact.kind == "identity" and fact.customer is None:
        return False
    return fact.kind == "refund" or bool(fact.device or fact.customer or fact.click)
