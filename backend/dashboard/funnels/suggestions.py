"""What the form of a funnel suggests: the events and the values of fields that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from backend.dashboard.analytics.view import FILTERS
from backend.dashboard.frame.blueprint import org_id
from backend.domain.analytics.answer import AnalyticsAnswer
from backend.domain.analytics.event_properties import BEGIN, EventProperty
from backend.domain.analytics.input import UTC_ZONE
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.moving_period import MovingPeriod
from backend.domain.analytics.query import Field, Query, QueryField
from backend.domain.ids import LinkId
from backend.domain.mail.language import Language
from backend.domain.web.client import PLATFORM_NAMES
from backend.mail.numbers import country_in
from backend.storage.accounts.organizations import find_event_properties
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.analytics.question import FactsNotReady, NoAnswer
from backend.web.current import resources

# Of each field, the most frequent ones of so many days: more than a person looks through.
_MOST_VALUES = 100
_PERIOD = MovingPeriod.LAST_90_DAYS


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A value, and what people call it where that is something else."""

    value: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Suggestions:
    """The fields that steps can be filtered by, with their names; events; and the values of each field."""

    fields: Sequence[tuple[str, str]]
    events: Sequence[Suggestion] = ()
    values: Mapping[str, Sequence[Suggestion]] = field(default_factory=dict)


async def suggestions() -> Suggestions:
    """What the organization has. Without facts at hand there are no values, and they are typed."""
    marked = await find_event_properties(resources().database, org_id())
    properties = [EventProperty(f"{BEGIN}{name}") for name in marked]
    names = [(by.value, by.label) for by in (*FILTERS, Field.OUTCOME)]
    names += [(by.value, f"Event's {by.property_name}") for by in properties]
    queries = [_query(by, Measure.CLICKS) for by in (*FILTERS, Field.OUTCOME)]
    of_events: list[QueryField] = [Field.EVENT, *properties]
    queries += [_query(by, Measure.EVENTS) for by in of_events]
    try:
        answers = await resources().analytics.ask_all(org_id(), [AskQuery(query) for query in queries])
    except (FactsNotReady, NoAnswer):
        return Suggestions(names)
    by_field = {answer.query.group_by[0].value: _of(answer) for answer in answers}
    return Suggestions(names, by_field.pop(Field.EVENT.value), by_field)


def _query(by: QueryField, measure: Measure) -> Query:
    now = resources().clock()
    return Query(
        period=_PERIOD.at(now, UTC_ZONE), measures=(measure,), group_by=(by,), limit=_MOST_VALUES, now=now
    )


def _of(answer: AnalyticsAnswer) -> list[Suggestion]:
    (by,) = answer.query.group_by
    values = [row.group[0] for row in answer.rows if not row.kind]
    return [_suggestion(answer, by, value) for value in values if value]


def _suggestion(answer: AnalyticsAnswer, by: QueryField, value: str) -> Suggestion:
    match by:
        case Field.LINK if link := answer.links.get(LinkId(value)):
            return Suggestion(resources().short_url_form.write(link.domain, link.path), link.link_name)
        case Field.COUNTRY:
            return Suggestion(value, country_in(Language.EN, value))
        case Field.PLATFORM:
            return Suggestion(value, PLATFORM_NAMES.get(value, ""))
    return Suggestion(value)
