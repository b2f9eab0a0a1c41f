"""The period of a query whose single facts are looked for."""

from __future__ import annotations

from backend.domain.analytics.event_properties import check_marked
from backend.domain.analytics.query import Query
from backend.storage.analytics.conditions.queried_period import QueriedPeriod
from backend.storage.analytics.conditions.tags import choose_tags
from backend.storage.analytics.question import Facts


def period_of(facts: Facts, query: Query) -> QueriedPeriod:
    """The query's own period, without groups. Raises InvalidField for a property that is not marked."""
    check_marked(query.group_by, query.filters, facts.event_properties)
    return QueriedPeriod(
        query, query.period.spans(None), (), labels=[], tags=choose_tags(facts.connection, query)
    )
