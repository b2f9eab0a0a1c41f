"""What a mail shows of a funnel: how many did each step, and how far each group got.

People who began on the last days may still go on, as those of the time before have had longer to. So only
the first step is compared with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from backend.domain.analytics.answer import NamedLink, Values
from backend.domain.analytics.funnels.answer import FunnelAnswer, FunnelGroup, StepTimes, share
from backend.domain.analytics.funnels.funnel import FunnelStep, FunnelStepKind
from backend.domain.analytics.measures import Measure
from backend.domain.ids import LinkId
from backend.domain.mail.language import Language
from backend.domain.sales.credit_rules import CreditTo
from backend.mail.figures.mailed import (
    MOST_MAILED_ROWS,
    MailedReport,
    MailFigure,
    MailRow,
    MailSection,
    compared_in,
)
from backend.mail.figures.rows import filters_in, name_of_field, name_of_value
from backend.mail.numbers import (
    NO_NUMBER,
    change_in_words,
    day_in,
    duration_in,
    percent_in,
    period_in,
    whole_number,
)
from backend.mail.texts import text_in


def mailed_funnel(
    answer: FunnelAnswer, before: FunnelAnswer, links: Mapping[LinkId, NamedLink], language: Language
) -> MailedReport:
    """What a mail shows of the answers about the last week or month, and about the one before.

    Filters of the steps may name these links.
    """
    period = answer.query.period
    return MailedReport(
        period=period_in(language, period),
        compared=compared_in(language, before.query.period),
        zone=str(period.zone),
        totals=[_began(answer, before, language), *_ends(answer.steps, language)],
        sections=[_steps(answer, links, language), *([_groups(answer, language)] if answer.groups else [])],
        notes=_notes(answer, language),
    )


def _began(answer: FunnelAnswer, before: FunnelAnswer, language: Language) -> MailFigure:
    """How many did the first step; the change is told as that of clicks, which are a count too."""
    now: Values = {Measure.CLICKS: answer.steps[0].count}
    was: Values = {Measure.CLICKS: before.steps[0].count}
    change = change_in_words(Measure.CLICKS, now, was, None, language)
    label = text_in(language, "funnels", "began")
    return MailFigure(label, [whole_number(answer.steps[0].count, language)], change)


def _ends(steps: Sequence[StepTimes], language: Language) -> list[MailFigure]:
    """How many went all the way."""
    first, last = steps[0].count, steps[-1].count
    ended = MailFigure(text_in(language, "funnels", "ended"), [whole_number(last, language)])
    return [ended, MailFigure(text_in(language, "funnels", "all_the_way"), [_share(last, first, language)])]


def _steps(answer: FunnelAnswer, links: Mapping[LinkId, NamedLink], language: Language) -> MailSection:
    people = text_in(language, "funnels", "devices" if _is_by_device(answer) else "customers")
    rows = []
    for number, (step, times) in enumerate(zip(answer.query.funnel.steps, answer.steps, strict=True)):
        figures = [MailFigure(people, [whole_number(times.count, language)])]
        if number:
            before = answer.steps[number - 1].count
            label = text_in(language, "funnels", "of_previous")
            figures.append(MailFigure(label, [_share(times.count, before, language)]))
        if times.median is not None:
            took = duration_in(language, timedelta(milliseconds=times.median))
            figures.append(MailFigure(text_in(language, "funnels", "median"), [took]))
        rows.append(MailRow(f"{number + 1}. {_step_name(step, links, language)}", figures))
    return MailSection(text_in(language, "funnels", "steps"), rows)


def _groups(answer: FunnelAnswer, language: Language) -> MailSection:
    by = answer.query.funnel.group_by
    assert by
    rows = [_group(answer, group, language) for group in answer.groups[:MOST_MAILED_ROWS]]
    return MailSection(name_of_field(by, language), rows, len(answer.groups) - len(rows))


def _group(answer: FunnelAnswer, group: FunnelGroup, language: Language) -> MailRow:
    by = answer.query.funnel.group_by
    assert by
    began = MailFigure(text_in(language, "funnels", "began"), [whole_number(group.steps[0].count, language)])
    name = name_of_value(answer.links, by, group.value, group.kind, language)
    return MailRow(name, [began, *_ends(group.steps, language)])


def _notes(answer: FunnelAnswer, language: Language) -> list[str]:
    """From when on nobody goes on any more, where that is to come."""
    query = answer.query
    over = query.period.end + timedelta(query.funnel.within_days)
    if over <= query.now:
        return []
    day = day_in(language, over.astimezone(query.period.zone))
    return [text_in(language, "funnels", "until", date=day)]


def _is_by_device(answer: FunnelAnswer) -> bool:
    return answer.query.funnel.by is CreditTo.DEVICE


def _step_name(step: FunnelStep, links: Mapping[LinkId, NamedLink], language: Language) -> str:
    """What is done in a step, and its filters in brackets, such as "Click (Country: Germany)"."""
    named = step.name if step.kind is FunnelStepKind.EVENT else None
    done = named or text_in(language, "funnels", step.kind.value)
    filters = [f"{label}: {left}" for label, left in filters_in(language).pairs(step.filters, links)]
    return f"{done} ({'; '.join(filters)})" if filters else done


def _share(count: int, of: int, language: Language) -> str:
    part = share(count, of)
    return NO_NUMBER if part is None else percent_in(language, part)
