"""Notes on the figures of an answer: sentences for people."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from backend.domain.analytics.answer import RowKind, plain_count
from backend.domain.analytics.event_properties import MOST_VALUES
from backend.domain.analytics.figures import GroupSums
from backend.domain.analytics.measures import Measure, MeasureKind
from backend.domain.analytics.query import CLICK_FIELDS, COST_FIELDS, Field, Query

_KINDS = {
    RowKind.NOT_CREDITED: "“Not credited” (kind not_credited) is what no touch gets the credit for: by these "
    "rules, no link, campaign or ad led to it.",
    RowKind.PURGED_LINKS: "“Links deleted for good” (kind purged_links) has leads and conversions that such "
    "links get the credit for; their clicks are in the totals only.",
    RowKind.OTHER_VALUES: f"The {MOST_VALUES} most frequent values of the events' properties have rows. All "
    "others are “Other values” (kind other_values); a filter names one, or the beginning of some.",
}
_OF_PURGED_LINKS = {
    Measure.CLICKS: "clicks",
    Measure.NOT_COUNTED: "requests that do not count",
    Measure.OPENS: "opens of apps",
}
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class NotedFacts:
    """The facts behind notes: totals, kinds of separate rows, and conversions left out, by their currency.

    `costs_left_out` are the currencies of costs that are left out.
    """

    total: GroupSums
    kinds: Collection[RowKind]
    left_out: Mapping[str, int | Fraction]
    costs_left_out: Collection[str] = ()


def note_on_waiting(since: datetime) -> str:
    """The note where some of what was stored from this time on could not be counted yet."""
    return (
        f"Not everything that was stored since {since:%Y-%m-%d %H:%M:%S} UTC is counted yet, since MongoDB "
        "confirms no writes at the moment. Nothing is lost; ask again later."
    )


def notes_on(query: Query, counted: NotedFacts, missing: Mapping[Measure, int]) -> list[str]:
    """The notes on what was counted. `missing`: how much more the totals have than all rows, by link."""
    return [
        *_of_clicks(query),
        *_of_people(query),
        *_of_links(query, missing),
        *([query.rules.in_words] if query.needs(MeasureKind.SALES, MeasureKind.PEOPLE) else ()),
        *(note for kind, note in _KINDS.items() if kind in counted.kinds),
        *_of_rates(query, counted),
        *_of_currencies(query, counted),
        *_of_costs(query, counted),
    ]


def notes_on_time(query: Query) -> list[str]:
    """The notes on the parts of the time, and on the time that is compared with."""
    notes = []
    if partial := sorted(query.partial_labels):
        named = ", ".join(partial if len(partial) <= _MOST_NAMED else (*partial[:_MOST_NAMED], "…"))
        notes.append(f"Only a part lies in the time that was asked for, or it is not over: {named}.")
    if query.compare:
        notes.append(query.period.comparison_in_words(query.time_field, query.compare))
    return notes


def notes_on_former_days(query: Query, first: date, cut_days: int) -> list[str]:
    """The notes on days before `first`, whose single clicks have expired.

    So many of them are cut by the time zone's midnight, or by the period.
    """
    notes = []
    by = [field for field in Field if field in CLICK_FIELDS | {Field.HOUR} and field in query.fields]
    if by and Measure.VISITORS in query.measures:
        named = ", ".join(by)
        where = "row" if query.filters.keys().isdisjoint(by) and Field.VARIANT not in by else "figure"
        notes.append(
            f"Single clicks are known from {first} on. Visitors before are known by days and links only: "
            f"by {named} they are in no {where}."
        )
    if query.click_fields and query.needs(MeasureKind.SALES, MeasureKind.PEOPLE):
        named = ", ".join(query.click_fields)
        notes.append(
            f"What came of clicks before {first} has no {named}: single clicks are known from then on."
        )
    if cut_days:
        notes.append(
            f"Visitors before {first} are known by days in UTC only: a day that this time zone or the period "
            "cuts counts as a whole where its noon in UTC is."
        )
    return notes


def _of_clicks(query: Query) -> Iterator[str]:
    if query.rules.as_of and Measure.CLICKS in query.needed:
        yield "Clicks are as they are known now."
    if Field.VARIANT in query.fields:
        yield "What has no variant, since no rule split its visitors, is in no figure."
    if Measure.VISITORS in query.measures:
        yield (
            "A visitor is counted once on each day in UTC, and in each row that it belongs to: the visitors "
            "of rows may be more than those of the totals."
        )


def _of_people(query: Query) -> Iterator[str]:
    if query.asks_for(MeasureKind.PEOPLE) and query.group_by:
        yield "A customer who belongs to several rows counts in each of them, and once in the totals."


def _of_links(query: Query, missing: Mapping[Measure, int]) -> Iterator[str]:
    if names := [field for field in query.link_fields if field not in {Field.LINK, Field.DOMAIN}]:
        named = ", ".join(names)
        yield f"Clicks have the {named} that their link has now, also where it had another one then."
    if Field.TAG in query.group_by:
        yield (
            "What is of a link with several tags counts in each of their rows, and once in the totals: the "
            "rows may come to more. Clicks of links that have been deleted for good are in the totals only."
        )
        return
    for measure, count in missing.items():
        if count:
            what = _OF_PURGED_LINKS[measure]
            yield f"{count} {what} in the totals are in no row: their links have been deleted for good."


def _of_rates(query: Query, counted: NotedFacts) -> Iterator[str]:
    total = counted.total
    others = total.conversions - total.conversions_of_links
    if others and any(measure.is_rate for measure in query.measures):
        yield (
            f"{plain_count(others)} of {plain_count(total.conversions)} conversions came of no link: they "
            "are in no rate, as rates are what came of links by their clicks."
        )


def _of_currencies(query: Query, counted: NotedFacts) -> Iterator[str]:
    if left_out := counted.left_out:
        named = ", ".join(f"{name}: {plain_count(count)}" for name, count in sorted(left_out.items()))
        yield f"Conversions in other currencies than {query.currency} are in no figure ({named})."


def _of_costs(query: Query, counted: NotedFacts) -> Iterator[str]:
    if not query.asks_for(MeasureKind.COSTS):
        return
    if not query.knows_cost:
        others = [
            name for name in dict.fromkeys((*query.filters, *query.group_by)) if name not in COST_FIELDS
        ]
        where = "in the totals only" if query.knows_cost_in_all else "in no figure"
        what = ", ".join(others) or "the links of this key"
        yield f"Costs are told by campaign and day: by {what} they are not known, and {where}."
    total = counted.total
    if total.cost and query.asks_what_came_of_costs:
        yield (
            "Return on ad spend, cost per click and cost per conversion in a currency count what came of "
            "campaigns whose cost in it is known in this time, and nothing else."
        )
    others = sorted(total.revenue_with_other_cost)
    if others and Measure.RETURN_ON_AD_SPEND in query.measures:
        yield (
            f"Some revenue in {', '.join(others)} is in no return on ad spend: what its campaigns cost is "
            "known in other currencies only."
        )
    if counted.costs_left_out:
        named = ", ".join(sorted(counted.costs_left_out))
        yield f"Costs in other currencies than {query.currency} are in no figure ({named})."
    if total.cost and query.period.cuts_days:
        yield "A cost is of a whole day: of a day that the period cuts it counts where that day's noon is."
