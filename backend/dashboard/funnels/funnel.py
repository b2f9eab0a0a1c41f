"""/funnels/ID: how many did each step of a funnel, how long it took them, and where they stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from quart import Response, url_for

from backend.dashboard.analytics.answers import view_of_request
from backend.dashboard.analytics.tables import NAMES, name_of
from backend.dashboard.analytics.view import PRESETS, View
from backend.dashboard.frame.blueprint import dashboard, org_id
from backend.dashboard.frame.page import page
from backend.dashboard.funnels.links import link_names
from backend.domain.analytics.funnels.answer import FunnelAnswer, FunnelGroup, StepTimes, share, stopped
from backend.domain.analytics.funnels.funnel import Funnel, FunnelQuery, FunnelStep
from backend.domain.analytics.funnels.saved import SavedFunnel
from backend.domain.analytics.funnels.words import filters_words, step_words
from backend.domain.analytics.query import TIMES, Field, QueryField
from backend.domain.durations import duration_words
from backend.domain.errors import InvalidField
from backend.domain.ids import FunnelId
from backend.domain.sales.credit_rules import CreditTo
from backend.storage.analytics.query_questions import AskFunnel
from backend.storage.funnels.saved_funnels import get_funnel
from backend.web.current import resources

# In the address: the groups of nothing.
_UNGROUPED = "none"


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step as the page shows it; times are in words, and "" where nobody did it."""

    name: str
    filters: Sequence[str]
    count: int
    percent: float
    of_first: str
    of_previous: str
    stopped: int
    median: str
    p90: str


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """A group: what it is of, of each step the count and share of the step before, and where most stop."""

    name: str
    steps: Sequence[tuple[int, str]]
    all_the_way: str
    most_stop: str


@dashboard.get("/funnels/<funnel_id>")
async def funnels_one(funnel_id: FunnelId) -> Response:
    """The funnel in the days of the address, by the field of the address."""
    saved = await get_funnel(resources().database, org_id(), funnel_id)
    fields = _fields(saved.funnel)
    view = await view_of_request({"by": [_UNGROUPED, *(field.value for field in fields)]})
    view = replace(view, comparison=None, filters={}, currency=None)
    status = 422 if view.errors else 200
    later = partial(_content, saved, view, fields)
    return await page("funnels/funnel.html", status, later=later, view=view, saved=saved)


def _fields(funnel: Funnel) -> list[QueryField]:
    """What the first step can be grouped by."""
    fields: list[QueryField] = [field for field in Field if field not in TIMES and funnel.steps[0].has(field)]
    return fields if funnel.group_by in {None, *fields} else [*fields, funnel.group_by or Field.LINK]


async def _content(saved: SavedFunnel, view: View, fields: Sequence[QueryField]) -> dict[str, Any]:
    funnel = replace(saved.funnel, group_by=_grouping(saved.funnel, view, fields))
    path = url_for("dashboard.funnels_one", funnel_id=saved.id)
    shown: dict[str, Any] = {
        "view": view,
        "path": path,
        "presets": PRESETS,
        "people": "device" if funnel.by is CreditTo.DEVICE else "customer",
        "fields": [(_UNGROUPED, "Nothing"), *((field.value, _name_of(field)) for field in fields)],
        "by": funnel.group_by.value if funnel.group_by else _UNGROUPED,
        "by_name": _name_of(funnel.group_by) if funnel.group_by else "",
    }
    query = FunnelQuery(funnel=funnel, period=view.period, now=resources().clock())
    try:
        answer = await resources().analytics.ask(org_id(), AskFunnel(query))
    except InvalidField as error:  # a property of events that is marked no more
        return shown | {"problem": f"{error}.", "steps": [], "groups": [], "notes": []}
    names = await link_names(funnel.steps)
    return shown | {
        "steps": _steps(answer, names),
        "groups": [_group(answer, group) for group in answer.groups],
        "all_the_way": _percent(share(answer.steps[-1].count, answer.steps[0].count)),
        "median_of_all": _time(answer.steps[-1].median_since_first),
        "notes": answer.notes,
    }


def _name_of(field: QueryField) -> str:
    return NAMES.get(field, field.value.capitalize())


def _grouping(funnel: Funnel, view: View, fields: Sequence[QueryField]) -> QueryField | None:
    """What the address groups by, or else the saved funnel."""
    chosen = view.others.get("by")
    if chosen is None:
        return funnel.group_by
    return next((field for field in fields if field.value == chosen), None)


def _steps(answer: FunnelAnswer, names: Mapping[str, str]) -> list[ShownStep]:
    first = answer.steps[0].count
    return [
        ShownStep(
            _named(number, step),
            filters_words(step, names),
            times.count,
            100 * (share(times.count, first) or 0),
            _percent(share(times.count, first)),
            _percent(share(times.count, answer.steps[number - 1].count)) if number else "",
            stopped(answer.steps, number),
            _time(times.median),
            _time(times.p90),
        )
        for number, (step, times) in enumerate(zip(answer.query.funnel.steps, answer.steps, strict=True))
    ]


def _named(number: int, step: FunnelStep) -> str:
    words = step_words(step)
    return f"{number + 1}. {words[0].upper()}{words[1:]}"


def _group(answer: FunnelAnswer, group: FunnelGroup) -> ShownGroup:
    funnel, steps = answer.query.funnel, group.steps
    assert funnel.group_by
    most = max(range(len(steps)), key=lambda number: stopped(steps, number))
    return ShownGroup(
        name_of(funnel.group_by, group.value, answer.links, group.kind),
        [(step.count, _of_previous(steps, number)) for number, step in enumerate(steps)],
        _percent(share(steps[-1].count, steps[0].count)),
        _named(most, funnel.steps[most]) if stopped(steps, most) else "",
    )


def _of_previous(steps: Sequence[StepTimes], number: int) -> str:
    return _percent(share(steps[number].count, steps[number - 1].count)) if number else ""


def _percent(part: float | None) -> str:
    if part is None:
        return ""
    return f"{100 * part:.1f} %" if 0 < part < 0.1 else f"{100 * part:.0f} %"


def _time(milliseconds: int | None) -> str:
    return "" if milliseconds is None else duration_words(timedelta(milliseconds=milliseconds))
