"""Answers to funnels: how many did each step, and how long it took them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.domain.analytics.answer import RATE_DIGITS, NamedLink, RowKind
from backend.domain.analytics.funnels.funnel import FunnelQuery
from backend.domain.analytics.query import Field
from backend.domain.ids import LinkId
from backend.domain.web.short_urls import ShortUrlForm

_MS = 1000


@dataclass(frozen=True, slots=True)
class StepTimes:
    """How many people did a step and the ones before; and the median and the 90th percentile of their times.

    Times are milliseconds: since the step before, and since the first step. They are None for the first step
    and where nobody did the step. A percentile is the time of a person, by the nearest rank.
    """

    count: int
    median: int | None = None
    p90: int | None = None
    median_since_first: int | None = None
    p90_since_first: int | None = None


@dataclass(frozen=True, slots=True)
class FunnelGroup:
    """The people whose first step has this value; None for none. `kind` tells groups apart that have none."""

    value: str | None
    kind: RowKind | None
    steps: Sequence[StepTimes]


@dataclass(frozen=True, slots=True)
class FunnelAnswer:
    """What the facts say to a funnel. `groups` are those with most people in the first step, most first.

    `links` are those that groups by link are of.
    """

    query: FunnelQuery
    steps: Sequence[StepTimes]
    groups: Sequence[FunnelGroup] = ()
    notes: Sequence[str] = ()
    links: Mapping[LinkId, NamedLink] = field(default_factory=dict)


def funnel_answer_json(answer: FunnelAnswer, form: ShortUrlForm) -> dict[str, Any]:
    """The answer of `POST /analytics/funnel`."""
    grouped = {}
    if answer.query.funnel.group_by:
        grouped["groups"] = [_group_json(answer, group, form) for group in answer.groups]
    return {"steps": steps_json(answer.steps), **grouped, "notes": list(answer.notes)}


def steps_json(steps: Sequence[StepTimes]) -> list[dict[str, Any]]:
    """The figures of each step, with its shares of the first step and of the one before."""
    return [
        {
            "count": step.count,
            "of_first": share(step.count, steps[0].count),
            "of_previous": share(step.count, steps[number - 1].count) if number else None,
            "stopped": stopped(steps, number),
            "median_seconds": _seconds(step.median),
            "p90_seconds": _seconds(step.p90),
            "median_seconds_since_first": _seconds(step.median_since_first),
            "p90_seconds_since_first": _seconds(step.p90_since_first),
        }
        for number, step in enumerate(steps)
    ]


def share(count: int, of: int) -> float | None:
    """The count as a share; None of nothing."""
    return round(count / of, RATE_DIGITS) if of else None


def stopped(steps: Sequence[StepTimes], number: int) -> int:
    """How many did this step and no later one. Whoever did the last step went all the way: 0."""
    return steps[number].count - steps[number + 1].count if number + 1 < len(steps) else 0


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / _MS


def _group_json(answer: FunnelAnswer, group: FunnelGroup, form: ShortUrlForm) -> dict[str, Any]:
    """What the group is of, then its steps. A group by link has the link's name and short URL too."""
    field = answer.query.funnel.group_by
    assert field
    of: dict[str, Any] = {field.value: group.value}
    if field is Field.LINK:
        link = answer.links.get(LinkId(group.value or ""))
        of["link_name"] = link.link_name if link else None
        of["short_url"] = form.write(link.domain, link.path) if link else None
    if group.kind:
        of["kind"] = group.kind
    return of | {"steps": steps_json(group.steps)}
