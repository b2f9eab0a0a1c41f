"""The filters of a report in words: its readers have to know what its figures are of."""

from __future__ import annotations

from functools import partial

from backend.dashboard.analytics.tables import name_of
from backend.domain.analytics.filter_words import filter_words
from backend.domain.analytics.query import Field, field_label
from backend.domain.ids import OrgId
from backend.domain.reports.views import ReportView
from backend.storage.driver.mongo import Database
from backend.storage.links.named_links import links_in_filter


async def filters_in_words(database: Database, org_id: OrgId, view: ReportView) -> list[tuple[str, str]]:
    """Pairs of what is filtered and what is left, such as ("Campaign", "spring or summer").

    Those of a funnel's steps are told with the steps.
    """
    if view.links:
        return view.links.filter_words
    if not view.queries:
        return []
    query = view.queries[-1]
    links = await links_in_filter(database, org_id, query.filters.get(Field.LINK))
    return [
        (field_label(by), filter_words(chosen, partial(name_of, by, links=links)))
        for by, chosen in query.filters.items()
    ]
