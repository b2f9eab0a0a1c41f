"""Notes on the figures of a funnel: sentences for people."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend.domain.analytics.answer import RowKind
from backend.domain.analytics.funnels.funnel import MOST_GROUPS, FunnelQuery, FunnelStepKind
from backend.domain.analytics.query import CLICK_FIELDS, LINK_FIELDS, Field
from backend.domain.sales.credit_rules import CreditTo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelFacts:
    """The facts behind notes.

    `counted_clicks` can be the first step, None if that is no click, and devices told of `told_clicks`.
    Of `nobodys_facts` it is not known who did them. Single clicks have expired up to the day
    `days_added_up_until`, counted from 1970.
    """

    counted_clicks: int | None
    told_clicks: int
    nobodys_facts: int
    groups_in_all: int
    kinds: Collection[RowKind]
    retention_days: int | None
    days_added_up_until: int | None


def notes_on_funnel(query: FunnelQuery, facts: FunnelFacts) -> list[str]:
    """The notes: what counts, what is missing, and what may still change."""
    return [*_of_people(query), *_of_nobody(query, facts), *_of_time(query), *_of_fields(query, facts)]


def _of_people(query: FunnelQuery) -> Iterator[str]:
    funnel, days = query.funnel, query.funnel.within_days
    who = "A device"
    if funnel.by is CreditTo.CUSTOMER:
        who = "A customer, with all devices while they were this customer's, or a device that is nobody's,"
    most = f"{days} {'day' if days == 1 else 'days'}"
    when = (
        f"at most {most} later" if funnel.is_ordered else f"at most {most} before or after it, in any order"
    )
    yield (
        f"{who} counts once: with the earliest first step in the period from which most others followed, "
        f"{when}. Times are those since the step before."
    )


def _of_nobody(query: FunnelQuery, facts: FunnelFacts) -> Iterator[str]:
    if facts.counted_clicks is not None:
        yield (
            f"{facts.counted_clicks:,} clicks were counted that can be the first step; devices told of "
            f"{facts.told_clicks:,} clicks. Only those are in a step: what comes after a click is not known "
            "without the SDK on the page that it leads to, or without the visitor's consent."
        )
    if facts.nobodys_facts:
        names = "device" if query.funnel.by is CreditTo.DEVICE else "customer, no device"
        yield (
            f"{facts.nobodys_facts:,} leads, events and conversions name no {names} and no click: they are "
            "in no step."
        )


def _of_time(query: FunnelQuery) -> Iterator[str]:
    over = query.now - timedelta(query.funnel.within_days)
    if over < query.period.end:
        shown = max(over, query.period.start).astimezone(query.period.zone)
        yield (
            f"Who began after {shown:%Y-%m-%d %H:%M} may still go on: the time that an attempt may take is "
            "not over."
        )


def _of_fields(query: FunnelQuery, facts: FunnelFacts) -> Iterator[str]:
    funnel = query.funnel
    if funnel.credited_fields:
        yield funnel.rules.in_words
    links = [name for name in Field if name in funnel.asked_fields & LINK_FIELDS]
    if named := [name for name in links if name not in {Field.LINK, Field.DOMAIN}]:
        fields = ", ".join(named)
        yield f"Clicks have the {fields} that their link has now, also where it had another one then."
    if funnel.group_by is Field.TAG:
        yield "Whose first step is of a link with several tags counts in each of their groups."
    yield from _of_groups(facts)
    yield from _of_expired(query, facts)


def _of_groups(facts: FunnelFacts) -> Iterator[str]:
    if RowKind.NOT_CREDITED in facts.kinds:
        yield "“Not credited” (kind not_credited) are those whose first step no touch gets the credit for."
    if RowKind.PURGED_LINKS in facts.kinds:
        yield "“Links deleted for good” (kind purged_links) are those whose first step is of such a link."
    if facts.groups_in_all > MOST_GROUPS:
        yield (
            f"There are {facts.groups_in_all:,} groups; the {MOST_GROUPS} with most people in the first step "
            "are shown."
        )


def _of_expired(query: FunnelQuery, facts: FunnelFacts) -> Iterator[str]:
    fields = [name for name in Field if name in query.funnel.asked_fields & CLICK_FIELDS]
    named = ", ".join(name for name in fields if name is not Field.VARIANT)
    if named and facts.days_added_up_until is not None:
        first = _EPOCH + timedelta(facts.days_added_up_until + 1)
        if first > query.period.start:
            yield f"Clicks before {first:%Y-%m-%d} have no {named}: single clicks are known from then on."
    if facts.retention_days is not None and any(
        step.kind is not FunnelStepKind.CLICK for step in query.funnel.steps
    ):
        yield (
            f"Leads, events, conversions and devices are deleted after {facts.retention_days} days: older "
            "ones are in no step."
        )
