"""What a page shows of the answer to a funnel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from backend.dashboard.analytics.tables import name_of
from backend.domain.analytics.funnels.answer import FunnelAnswer, FunnelGroup, StepTimes, share, stopped
from backend.domain.analytics.funnels.funnel import Funnel, FunnelStep
from backend.domain.analytics.funnels.people import FunnelGroupKey
from backend.domain.analytics.funnels.words import filters_words, step_words
from backend.domain.analytics.query import field_label
from backend.domain.durations import duration_words
from backend.domain.sales.credit_rules import CreditTo


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step as the page shows it; times are in words, and "" where nobody did it.

    `people` and `stoppers` are the addresses of who did it, and of who stopped there; "" where these are not
    shown.
    """

    name: str
    filters: Sequence[str]
    count: int
    percent: float
    of_first: str
    of_previous: str
    stopped: int
    median: str
    p90: str
    people: str = ""
    stoppers: str = ""


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """A group: what it is of, the count of each step, and where most stop.

    Beside a count is its share of the step before, and the address of these people.
    """

    name: str
    steps: Sequence[tuple[int, str, str]]
    all_the_way: str
    most_stop: str


@dataclass(frozen=True, slots=True)
class ShownFunnel:
    """The steps and groups of a funnel. `people` is what one who does a step is called."""

    people: str
    by_name: str
    steps: Sequence[ShownStep]
    groups: Sequence[ShownGroup]
    all_the_way: str
    median_of_all: str
    notes: Sequence[str]


# Of the number of a step, whether those who stopped there are meant, and a group: where they are listed.
PeopleAddress = Callable[[int, bool, FunnelGroupKey | None], str]


def no_people(_: int, __: bool, ___: FunnelGroupKey | None) -> str:
    """Nobody is listed, as for readers of a report."""
    return ""


def people_word(funnel: Funnel) -> str:
    """What one who does a step is called."""
    return "device" if funnel.by is CreditTo.DEVICE else "customer"


def shown_funnel(
    answer: FunnelAnswer, names: Mapping[str, str], address: PeopleAddress = no_people
) -> ShownFunnel:
    """What a page shows of the answer; `names` are those of links in filters, by id."""
    funnel, first, last = answer.query.funnel, answer.steps[0], answer.steps[-1]
    return ShownFunnel(
        people=people_word(funnel),
        by_name=field_label(funnel.group_by) if funnel.group_by else "",
        steps=_steps(answer, names, address),
        groups=[_group(answer, group, address) for group in answer.groups],
        all_the_way=_percent(share(last.count, first.count)),
        median_of_all=_time(last.median_since_first),
        notes=answer.notes,
    )


def _steps(answer: FunnelAnswer, names: Mapping[str, str], address: PeopleAddress) -> list[ShownStep]:
    first = answer.steps[0].count
    return [
        ShownStep(
            step_name(number, step),
            filters_words(step, names),
            times.count,
            100 * (share(times.count, first) or 0),
            _percent(share(times.count, first)),
            _percent(share(times.count, answer.steps[number - 1].count)) if number else "",
            stopped(answer.steps, number),
            _time(times.median),
            _time(times.p90),
            address(number, False, None) if times.count else "",
            address(number, True, None) if stopped(answer.steps, number) else "",
        )
        for number, (step, times) in enumerate(zip(answer.query.funnel.steps, answer.steps, strict=True))
    ]


def step_name(number: int, step: FunnelStep) -> str:
    """The step with its number, as people count."""
    words = step_words(step)
    return f"{number + 1}. {words[0].upper()}{words[1:]}"


def _group(answer: FunnelAnswer, group: FunnelGroup, address: PeopleAddress) -> ShownGroup:
    funnel, steps = answer.query.funnel, group.steps
    assert funnel.group_by
    key = FunnelGroupKey(group.value, group.kind)
    most = max(range(len(steps)), key=lambda number: stopped(steps, number))
    return ShownGroup(
        name_of(funnel.group_by, group.value, answer.links, group.kind),
        [
            (step.count, _of_previous(steps, number), address(number, False, key) if step.count else "")
            for number, step in enumerate(steps)
        ],
        _percent(share(steps[-1].count, steps[0].count)),
        step_name(most, funnel.steps[most]) if stopped(steps, most) else "",
    )


def _of_previous(steps: Sequence[StepTimes], number: int) -> str:
    return _percent(share(steps[number].count, steps[number - 1].count)) if number else ""


def _percent(part: float | None) -> str:
    if part is None:
        return ""
    return f"{100 * part:.1f} %" if 0 < part < 0.1 else f"{100 * part:.0f} %"


def _time(milliseconds: int | None) -> str:
    return "" if milliseconds is None else duration_words(timedelta(milliseconds=milliseconds))
