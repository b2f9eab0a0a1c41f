"""The filters of a report in words: its readers have to know what its figures are of."""

from __future__ import annotations

from backend.domain.analytics.filter_words import FilterLanguage
from backend.domain.ids import OrgId
from backend.domain.reports.views import ReportView
from backend.storage.driver.mongo import Database
from backend.storage.links.named_links import links_in_filters


async def filters_of_view(
    database: Database, org_id: OrgId, view: ReportView, language: FilterLanguage
) -> list[tuple[str, str]]:
    """Pairs of what is filtered and what is left, such as ("Campaign", "spring or summer").

    Those of a funnel's steps are told with the steps, and those of a list of links are in English.
    """
    if view.links:
        return view.links.filter_words
    if not view.queries:
        return []
    filters = view.queries[-1].filters
    return language.pairs(filters, await links_in_filters(database, org_id, [filters]))
