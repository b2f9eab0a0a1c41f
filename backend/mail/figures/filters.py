"""The filters of a report in the reader's language: what its figures are of, as the report's page says it."""

from __future__ import annotations

from functools import partial

from backend.domain.analytics.filter_words import FilterWording, filter_words
from backend.domain.analytics.query import Field
from backend.domain.ids import OrgId
from backend.domain.mail.language import Language
from backend.domain.reports.views import ReportView
from backend.mail.figures.rows import name_of_field, name_of_value
from backend.mail.texts import sections_in
from backend.storage.driver.mongo import Database
from backend.storage.links.named_links import links_in_filter


async def mailed_filters(
    database: Database, org_id: OrgId, view: ReportView, language: Language
) -> list[tuple[str, str]]:
    """Pairs of what is filtered and what is left. Those of a list of links are as its page has them."""
    if view.links:
        return view.links.filter_words
    if not view.queries:
        return []
    filters = view.queries[-1].filters
    links = await links_in_filter(database, org_id, filters.get(Field.LINK))
    wording = FilterWording(**sections_in(language)["filters"])
    named = partial(name_of_value, links, kind=None, language=language)
    return [
        (name_of_field(by, language), filter_words(chosen, partial(named, by), wording))
        for by, chosen in filters.items()
    ]
